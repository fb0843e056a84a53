//! Determinants, from `P L U`.

use super::factor::lu_factor_ex;
use super::samples::{definites, squares, with};
use super::{adjoint, real_dtype, square, unit};
use crate::grad::{GradCx, Grads};
use crate::op::Sample;
use crate::{DType, Device, Result, Tensor};
use smallvec::smallvec;

ops! { DETERMINANT;
    /// The determinant, with the factors that it comes from.
    fn det_parts as internal (input: Tensor) -> (Tensor, Tensor, Tensor) [result LU pivots] {
        run: super::det_parts(input),
        grad: [reads inputs 0; outputs 0 1 2] |cx| det_grad(cx),
        samples: || squares(&[], false),
    }
    /// The determinant of square matrices; 1 for those without elements.
    fn det as det | linalg_det [out] (input: Tensor) -> Tensor {
        run: Ok(input.det_parts().map_err(|e| e.in_op("det"))?.0),
        samples: det_samples,
    }
    /// Sign and logarithm of the determinant, with the factors that they come from.
    fn slogdet_parts as internal (input: Tensor) -> (Tensor, Tensor, Tensor, Tensor) [sign logabsdet LU pivots] {
        run: super::slogdet_parts(input),
        grad: [reads inputs 0; outputs 0 2 3] |cx| slogdet_grad(cx),
        samples: || squares(&[], false),
    }
    /// The determinant as its sign (for complex matrices a number of size 1) and the logarithm of its
    /// absolute value: 0 and -inf for a singular matrix.
    fn linalg_slogdet [out] (input: Tensor) -> (Tensor, Tensor) [sign logabsdet] {
        run: {
            let (sign, log, _, _) = input.slogdet_parts().map_err(|e| e.in_op("linalg_slogdet"))?;
            Ok((sign, log))
        },
        samples: || squares(&[], true),
    }
    /// As `linalg_slogdet`.
    fn slogdet [out] (input: Tensor) -> (Tensor, Tensor) [sign logabsdet] {
        run: input.linalg_slogdet().map_err(|e| e.in_op("slogdet")),
        samples: || squares(&[], true),
    }
    /// The logarithm of the determinant: NaN for a negative one.
    fn logdet (input: Tensor) -> Tensor {
        run: {
            let (sign, log) = input.linalg_slogdet().map_err(|e| e.in_op("logdet"))?;
            if sign.dtype().is_complex() {
                return Ok(smallvec![sign.log()?.add(&log)?]);
            }
            // A determinant of 0 has the logarithm -inf, which the sign does not say.
            Tensor::where_cond(&sign.detach()?.lt(0.0)?, f64::NAN, &log)?.to_dtype(log.dtype())
        },
        samples: || definites(&[], true),
    }
}

/// 1 or -1: whether an even number of rows changed places.
fn parity(pivots: &Tensor, dtype: DType) -> Result<Tensor> {
    let n = pivots.shape().last().copied().unwrap_or(0) as i64;
    let stay = Tensor::arange_with(1, n + 1, 1, Some(DType::I32), Some(pivots.device()))?;
    let odd = pivots.ne(&stay)?.sum(-1, false)?.bitwise_and(1)?;
    odd.mul(-2)?.add(1)?.to_dtype(dtype)
}

fn det_parts(a: &Tensor) -> Result<(Tensor, Tensor, Tensor)> {
    square("det", a)?;
    let (lu, pivots, _) = lu_factor_ex(a, true, false)?;
    let det = lu.diagonal(0, -2, -1)?.prod(-1, false)?.mul(&parity(&pivots, a.dtype())?)?;
    Ok((det, lu, pivots))
}

/// `conj(det) g A^-H`. A determinant of 0 has a gradient as well: where nothing more is derived, from
/// factors with a tiny number for each zero; else from singular values.
fn det_grad(cx: &GradCx<'_>) -> Result<Grads> {
    let (g, a, det) = (cx.grad(0)?, cx.input(0)?, cx.output(0)?);
    let n = square("det", &a)?;
    let scale = |g: &Tensor| g.unsqueeze(-1)?.unsqueeze(-1);
    let factor = scale(&g.mul(&det.conj()?)?)?;
    let eye = unit(n, n, &a)?;
    if !crate::grad::is_grad_enabled() {
        let lu = cx.output(1)?;
        let eps = if real_dtype(a.dtype()) == DType::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON };
        let hole = lu.diagonal(0, -2, -1)?.eq(0.0)?.to_dtype(lu.dtype())?.mul(eps)?;
        let whole = lu.add(&hole.diag_embed(0, -2, -1)?)?;
        // The determinant of the same matrix, so that what was added cancels.
        let (pivots, near) = (cx.output(2)?, whole.diagonal(0, -2, -1)?.prod(-1, false)?);
        let near = near.mul(&parity(&pivots, a.dtype())?)?;
        let rhs = eye.mul(&scale(&g.mul(&near.conj()?)?)?)?.expand(a.shape())?;
        return Ok(smallvec![Some(whole.lu_solve_by(&pivots, &rhs, true)?)]);
    }
    if a.device() != Device::META && det.detach()?.eq(0.0)?.any((), false)?.item()?.to_bool() {
        let (u, s, vh) = a.linalg_svd_with(false, None)?;
        // The derivative by each singular value is the product of all others.
        let others = products_of_others(&s)?;
        let turn = g.mul(&u.det()?.mul(&vh.det()?)?.conj()?)?;
        let middle = others.mul(&turn.unsqueeze(-1)?)?;
        return Ok(smallvec![Some(u.mul(&middle.unsqueeze(-2)?)?.matmul(&vh)?)]);
    }
    let rhs = eye.mul(&factor)?.expand(a.shape())?;
    Ok(smallvec![Some(adjoint(&a)?.solve_parts(&rhs)?.0)])
}

/// For each element of the last dimension the product of the others.
fn products_of_others(s: &Tensor) -> Result<Tensor> {
    let n = s.shape().last().copied().unwrap_or(0);
    let wide = s.unsqueeze(-2)?;
    let eye = unit(n, n, s)?;
    // Ones on the diagonal, so that row i has all but s_i.
    wide.mul(&eye.neg()?.add(1.0)?)?.add(&eye)?.prod(-1, false)
}

fn slogdet_parts(a: &Tensor) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
    square("linalg_slogdet", a)?;
    let (lu, pivots, _) = lu_factor_ex(a, true, false)?;
    let diagonal = lu.diagonal(0, -2, -1)?;
    let size = super::norms::modulus(&diagonal)?;
    let sign = super::norms::direction(&diagonal)?.prod(-1, false)?.mul(&parity(&pivots, a.dtype())?)?;
    Ok((sign, size.log()?.sum(-1, false)?, lu, pivots))
}

/// `(g_log + i c) A^-H`, where `c` is what the gradient of the sign says about its angle.
fn slogdet_grad(cx: &GradCx<'_>) -> Result<Grads> {
    let (a, sign) = (cx.input(0)?, cx.output(0)?);
    let n = square("linalg_slogdet", &a)?;
    let mut factor = cx.grad(1)?.to_dtype(a.dtype())?;
    if let Some(g) = cx.grad_opt(0).filter(|_| a.dtype().is_complex()) {
        let angle = g.conj()?.mul(&sign)?.imag()?.neg()?;
        let zero = Tensor::zeros_like(&angle)?;
        let parts = Tensor::stack(&[&zero, &angle], -1)?;
        factor = factor.add(&parts.view_as_complex()?)?;
    }
    let rhs = unit(n, n, &a)?.mul(&factor.unsqueeze(-1)?.unsqueeze(-1)?)?.expand(a.shape())?;
    let inverse = if crate::grad::is_grad_enabled() {
        adjoint(&a)?.solve_parts(&rhs)?.0
    } else {
        cx.output(2)?.lu_solve_by(&cx.output(3)?, &rhs, true)?
    };
    Ok(smallvec![Some(inverse)])
}

/// One that is singular among them: its determinant changes all the same.
fn det_samples() -> Vec<Sample> {
    let rows = Tensor::from_vec(vec![1.0f64, 2.0, 3.0, 2.0, 4.0, 6.0, 1.0, 0.0, 1.0], [3, 3]);
    squares(&[], true).into_iter().chain(with(rows, [], true)).collect()
}
