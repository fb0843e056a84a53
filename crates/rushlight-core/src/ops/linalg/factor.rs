//! Factorizations by elimination: Cholesky, `P L U`, `L D L^H`.

use super::samples::{definites, rectangles};
use super::{Parts, adjoint, batch, check, compute, decomposable, list, matrix, own, square, unit};
use crate::backend::AlgebraTask;
use crate::grad::{GradCx, Grads};
use crate::op::{Sample, Value};
use crate::{DType, Device, Result, Tensor, ensure};
use smallvec::smallvec;

ops! { FACTOR;
    /// The factor `L` of `input = L L^H` (with `upper`, `U` of `U^H U`) and an int32 that is not 0 where a
    /// matrix is not positive definite; only the triangle that the result keeps is read.
    fn linalg_cholesky_ex / linalg_cholesky_ex_with [out] (input: Tensor; upper: Bool = false, check_errors: Bool = false) -> (Tensor, Tensor) [L info] {
        run: cholesky_ex(input, *upper, *check_errors),
        grad: [reads inputs; outputs 0] |cx| cholesky_grad(cx),
        samples: cholesky_ex_samples,
    }
    /// The factor `L` of `input = L L^H` for Hermitian, positive definite matrices; with `upper`, `U` of `U^H U`.
    ///
    /// # Errors
    /// `LinAlg` for a matrix that is not positive definite.
    fn linalg_cholesky / linalg_cholesky_with [out] (input: Tensor; upper: Bool = false) -> Tensor {
        run: {
            let (l, info) = input.linalg_cholesky_ex_with(*upper, false).map_err(|e| e.in_op("linalg_cholesky"))?;
            check("linalg_cholesky", &info, INDEFINITE)?;
            Ok(l)
        },
        samples: cholesky_samples,
    }
    /// `input = P L U` in one matrix: `L` below the diagonal of ones, `U` above; the row exchanges
    /// (int32, counted from 1); and an int32 that is not 0 where `U` has a zero on its diagonal.
    fn linalg_lu_factor_ex / linalg_lu_factor_ex_with [out] (input: Tensor; pivot: Bool = true, check_errors: Bool = false) -> (Tensor, Tensor, Tensor) [LU pivots info] {
        run: lu_factor_ex(input, *pivot, *check_errors),
        grad: [reads inputs; outputs 0 1] |cx| lu_grad(cx),
        samples: lu_ex_samples,
    }
    /// `input = P L U` in one matrix, and the row exchanges: as `linalg_lu_factor_ex`, with an error for a singular matrix.
    fn linalg_lu_factor / linalg_lu_factor_with [out] (input: Tensor; pivot: Bool = true) -> (Tensor, Tensor) [LU pivots] {
        run: {
            let (lu, pivots, info) =
                input.linalg_lu_factor_ex_with(*pivot, false).map_err(|e| e.in_op("linalg_lu_factor"))?;
            check("linalg_lu_factor", &info, SINGULAR).map_err(|e| e.with_kind(crate::Kind::Runtime))?;
            Ok((lu, pivots))
        },
        samples: lu_samples,
    }
    /// `input = P L U`: a permutation, a lower triangle with ones on its diagonal, an upper triangle.
    fn linalg_lu / linalg_lu_with [out] (input: Tensor; pivot: Bool = true) -> (Tensor, Tensor, Tensor) [P L U] {
        run: {
            let (lu, pivots, _) = input.linalg_lu_factor_ex_with(*pivot, false).map_err(|e| e.in_op("linalg_lu"))?;
            lu.lu_unpack(&pivots, true, true)
        },
        samples: lu_samples,
    }
    /// `P`, `L` and `U` from the matrix and row exchanges of `linalg_lu_factor`; what is not asked for is empty.
    fn lu_unpack [out] (input: Tensor, LU_pivots: Tensor, unpack_data: Bool = true, unpack_pivots: Bool = true) -> (Tensor, Tensor, Tensor) [P L U] {
        run: unpack(input, LU_pivots, *unpack_data, *unpack_pivots),
        samples: unpack_samples,
    }
    /// `input = P L D L^H P^T` for Hermitian matrices (with `L^T` for symmetric ones, `hermitian = false`), of which
    /// the lower triangle is read, in LAPACK's layout; the row exchanges, and an int32 that is not 0 where `D` is singular.
    fn linalg_ldl_factor_ex / linalg_ldl_factor_ex_with [out] (input: Tensor; hermitian: Bool = false, check_errors: Bool = false) -> (Tensor, Tensor, Tensor) [LD pivots info] {
        run: ldl_factor_ex("linalg_ldl_factor_ex", input, *hermitian, *check_errors),
        samples: ldl_ex_samples,
    }
    /// `input = P L D L^H P^T`, as `linalg_ldl_factor_ex`, with an error where `D` is singular.
    fn linalg_ldl_factor / linalg_ldl_factor_with [out] (input: Tensor; hermitian: Bool = false) -> (Tensor, Tensor) [LD pivots] {
        run: {
            let (ld, pivots, _) = ldl_factor_ex("linalg_ldl_factor", input, *hermitian, true)
                .map_err(|e| e.with_kind(crate::Kind::Runtime))?;
            Ok((ld, pivots))
        },
        samples: ldl_samples,
    }
}

pub(super) const INDEFINITE: &str = "it is not positive definite; the leading minor of this order is not";
pub(super) const SINGULAR: &str = "it is singular; this pivot, counted from 1, is 0";

fn cholesky_ex(a: &Tensor, upper: bool, check_errors: bool) -> Result<(Tensor, Tensor)> {
    let op = "linalg_cholesky_ex";
    square(op, a)?;
    let l = own(op, &if upper { adjoint(&a.detach()?)? } else { a.clone() })?;
    let info = compute(op, AlgebraTask::Cholesky, &l, Parts::default())?;
    if check_errors {
        check(op, &info, INDEFINITE)?;
    }
    Ok((if upper { adjoint(&l)?.detach()? } else { l }, info))
}

/// With `Phi` the lower triangle, its diagonal halved: `L^-H Phi(L^H g) L^-1`, made Hermitian.
fn cholesky_grad(cx: &GradCx<'_>) -> Result<Grads> {
    let (g, l, upper) = (cx.grad(0)?, cx.output(0)?, *cx.arg::<bool>(1)?);
    let (g, l) = if upper { (adjoint(&g)?, adjoint(&l)?) } else { (g, l) };
    let phi = halved(&adjoint(&l)?.matmul(&g)?.tril(0)?)?;
    let left = l.solve_triangular_by(&phi, false, false, true)?;
    let both = adjoint(&l.solve_triangular_by(&adjoint(&left)?, false, false, true)?)?;
    Ok(smallvec![Some(both.add(&adjoint(&both)?)?.mul(0.5)?)])
}

/// The matrix with half its diagonal.
fn halved(t: &Tensor) -> Result<Tensor> {
    t.sub(&t.diagonal(0, -2, -1)?.mul(0.5)?.diag_embed(0, -2, -1)?)
}

pub(super) fn lu_factor_ex(a: &Tensor, pivot: bool, check_errors: bool) -> Result<(Tensor, Tensor, Tensor)> {
    let op = "linalg_lu_factor_ex";
    let [m, n] = matrix(op, a)?;
    decomposable(op, a)?;
    ensure!(pivot, Runtime, op, "needs row exchanges; pivot=False is not supported");
    let lu = own(op, a)?;
    let pivots = list(batch(a), m.min(n), DType::I32, a.device())?;
    let info = compute(op, AlgebraTask::Lu, &lu, Parts { pivots: Some(&pivots), ..Parts::default() })?;
    if check_errors {
        check(op, &info, SINGULAR)?;
    }
    Ok((lu, pivots, info))
}

/// Where each row comes from: row `i` of `P^T A` is row `out[i]` of `A`; and the inverse of that.
pub(super) fn permutations(pivots: &Tensor, rows: usize) -> Result<[Tensor; 2]> {
    let k = pivots.shape().last().copied().unwrap_or(0);
    let lists = &pivots.shape()[..pivots.dim().saturating_sub(1)];
    let count: usize = lists.iter().product();
    let (mut from, mut to) = (vec![0i64; count * rows], vec![0i64; count * rows]);
    if pivots.device() != Device::META && count > 0 {
        let all = pivots.detach()?.to_vec::<i32>()?;
        for b in 0..count {
            let order = &mut from[b * rows..(b + 1) * rows];
            order.iter_mut().enumerate().for_each(|(i, row)| *row = i as i64);
            for (i, pivot) in all[b * k..(b + 1) * k].iter().enumerate() {
                let p = usize::try_from(*pivot).ok().and_then(|p| p.checked_sub(1)).filter(|p| *p < rows);
                let Some(p) = p.filter(|_| i < rows) else {
                    crate::bail!(Runtime, "lu_unpack", "pivot {pivot} is none of {rows} rows, counted from 1")
                };
                order.swap(i, p);
            }
            order.iter().enumerate().for_each(|(i, row)| to[b * rows + *row as usize] = i as i64);
        }
    }
    let shape: Vec<usize> = lists.iter().copied().chain([rows]).collect();
    let made = |list: &[i64]| crate::ops::arrange::host_list(list, &shape, pivots);
    Ok([made(&from)?, made(&to)?])
}

/// The rows of `x` in the order of `index`.
fn take_rows(x: &Tensor, index: &Tensor) -> Result<Tensor> {
    x.gather(-2, &index.unsqueeze(-1)?.expand(x.shape())?)
}

/// Three matrices, from `P L U` and the gradients of `L` and `U`: what is not square is made of the
/// square part and systems beside it.
fn lu_grad(cx: &GradCx<'_>) -> Result<Grads> {
    let (g, lu, pivots) = (cx.grad(0)?, cx.output(0)?, cx.output(1)?);
    let [m, n] = matrix("linalg_lu_factor_ex", &lu)?;
    let k = m.min(n) as i64;
    let (head, side) = (lu.narrow(-2, 0, k)?.narrow(-1, 0, k)?, g.narrow(-2, 0, k)?.narrow(-1, 0, k)?);
    let (lower, upper) = (head.tril(-1)?.add(&unit(k as usize, k as usize, &lu)?)?, head.triu(0)?);
    let (mut gl, mut gu) = (side.tril(-1)?, side.triu(0)?);
    // For X L = B and X U = B with the conjugate transposes.
    let from_u = |x: &Tensor| adjoint(&upper.solve_triangular_by(&adjoint(x)?, true, false, false)?);
    let from_l = |x: &Tensor| lower.solve_triangular_by(x, false, true, true);
    let mut beside = None;
    if n > m {
        let g2 = from_l(&g.narrow(-1, k, n as i64 - k)?)?;
        gl = gl.sub(&g2.matmul(&adjoint(&lu.narrow(-1, k, n as i64 - k)?)?)?.tril(-1)?)?;
        beside = Some(g2);
    } else if m > n {
        let g2 = from_u(&g.narrow(-2, k, m as i64 - k)?)?;
        gu = gu.sub(&adjoint(&lu.narrow(-2, k, m as i64 - k)?)?.matmul(&g2)?.triu(0)?)?;
        beside = Some(g2);
    }
    let inner = adjoint(&lower)?.matmul(&gl)?.tril(-1)?.add(&gu.matmul(&adjoint(&upper)?)?.triu(0)?)?;
    let core = from_u(&from_l(&inner)?)?;
    let whole = match beside {
        Some(g2) => Tensor::cat(&[&core, &g2], if n > m { -1 } else { -2 })?,
        None => core,
    };
    Ok(smallvec![Some(take_rows(&whole, &permutations(&pivots, m)?[1])?)])
}

fn unpack(lu: &Tensor, pivots: &Tensor, data: bool, order: bool) -> Result<(Tensor, Tensor, Tensor)> {
    let op = "lu_unpack";
    let [m, n] = matrix(op, lu)?;
    let k = m.min(n) as i64;
    let nothing = || Tensor::empty_with(0, Some(lu.dtype()), Some(lu.device()));
    let p = if order {
        ensure!(
            pivots.dtype() == DType::I32,
            Runtime,
            op,
            "the pivots must be int32, not {}",
            pivots.dtype()
        );
        ensure!(
            pivots.shape().last().copied() == Some(k as usize) && pivots.dim() + 1 == lu.dim(),
            Runtime,
            op,
            "pivots of shape {:?} do not belong to matrices of shape {:?}",
            pivots.shape(),
            lu.shape()
        );
        let [from, _] = permutations(pivots, m)?;
        let shape: Vec<usize> = batch(lu).iter().copied().chain([m, m]).collect();
        let zeros = Tensor::zeros_with(shape.as_slice(), Some(lu.dtype()), Some(lu.device()))?;
        zeros.scatter(-2, &from.unsqueeze(-2)?, 1.0)?
    } else {
        nothing()?
    };
    if !data {
        return Ok((p, nothing()?, nothing()?));
    }
    let l = lu.narrow(-1, 0, k)?.tril(-1)?.add(&unit(m, k as usize, lu)?)?;
    Ok((p, l, lu.narrow(-2, 0, k)?.triu(0)?))
}

fn ldl_factor_ex(
    op: &'static str,
    a: &Tensor,
    hermitian: bool,
    check_errors: bool,
) -> Result<(Tensor, Tensor, Tensor)> {
    let n = square(op, a)?;
    let ld = own(op, a)?;
    let pivots = list(batch(a), n, DType::I32, a.device())?;
    let info = compute(
        op,
        AlgebraTask::Ldl { hermitian },
        &ld,
        Parts { pivots: Some(&pivots), ..Parts::default() },
    )?;
    if check_errors {
        check(op, &info, SINGULAR)?;
    }
    Ok((ld, pivots, info))
}

fn flags(a: bool, b: bool) -> [Value; 2] {
    [Value::Bool(a), Value::Bool(b)]
}
/// Finite differences move one triangle alone, which these read alone: values only.
fn cholesky_ex_samples() -> Vec<Sample> {
    [definites(&flags(false, false), false), definites(&flags(true, false), false)].concat()
}
fn cholesky_samples() -> Vec<Sample> {
    [definites(&[Value::Bool(false)], false), definites(&[Value::Bool(true)], false)].concat()
}
fn lu_ex_samples() -> Vec<Sample> {
    rectangles(&flags(true, false), false)
}
fn lu_samples() -> Vec<Sample> {
    rectangles(&[Value::Bool(true)], false)
}
fn ldl_ex_samples() -> Vec<Sample> {
    [definites(&flags(true, false), false), definites(&flags(false, false), false)].concat()
}
fn ldl_samples() -> Vec<Sample> {
    definites(&[Value::Bool(true)], false)
}
fn unpack_samples() -> Vec<Sample> {
    let each = |s: Sample| -> Option<Sample> {
        let lu = crate::op::arg::<Tensor>("lu_unpack", &s.args, 0).ok()?.clone();
        let (lu, pivots, _) = lu_factor_ex(&lu, true, false).ok()?;
        let args =
            smallvec![Value::Tensor(lu.clone()), Value::Tensor(pivots), Value::Bool(true), Value::Bool(true)];
        Some(Sample { args, grad: lu.numel() > 0 })
    };
    rectangles(&[], false).into_iter().filter_map(each).collect()
}
