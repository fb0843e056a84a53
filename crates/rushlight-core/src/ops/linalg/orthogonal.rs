//! `Q R`, and products of reflections `I - tau v v^H`.

use super::samples::{rectangles, with};
use super::{Parts, adjoint, batch, columns, compute, decomposable, matrix, own, same_dtype, unit};
use crate::backend::AlgebraTask;
use crate::grad::{GradCx, Grads};
use crate::op::{Sample, Value, samples};
use crate::{Result, Tensor, bail, ensure};
use smallvec::smallvec;

ops! { ORTHOGONAL;
    /// `input = Q R` with orthonormal columns in `Q` and an upper triangle `R`. Mode "reduced" gives `min(m, n)`
    /// columns, "complete" a square `Q`, "r" an empty `Q`.
    fn linalg_qr [out] (input: Tensor, mode: Text = "reduced") -> (Tensor, Tensor) [Q R] {
        run: qr(input, mode),
        grad: [reads inputs; outputs 0 1] |cx| qr_grad(cx),
        samples: qr_samples,
    }
    /// `R` of `input = Q R` and, below its diagonal, the tails of the reflections whose product is `Q`; their `tau`.
    fn geqrf [out] (input: Tensor) -> (Tensor, Tensor) [a tau] {
        run: super::geqrf("geqrf", input),
        samples: || rectangles(&[], false),
    }
    /// The first columns of the product of reflections `I - tau_i v_i v_i^H`: `v_i` is column `i` of `input` below
    /// its diagonal, with a 1 on it and zeros above.
    fn householder_product as linalg_householder_product [out] (input: Tensor, tau: Tensor) -> Tensor {
        run: {
            let [_, n, k] = checked("linalg_householder_product", input, tau)?;
            if k == 0 {
                return Ok(smallvec![input.no_reflections()?]);
            }
            first_columns(&input.narrow(-1, 0, k as i64)?, tau, n)
        },
        samples: reflection_samples,
    }
    /// The product of no reflections: columns of the unit matrix, on which no gradient depends.
    fn no_reflections as internal (input: Tensor) -> Tensor {
        run: {
            let [m, n] = matrix("linalg_householder_product", input)?;
            unit(m, n, input)?.expand(input.shape())?.copy()
        },
        grad: [reads inputs; outputs] |cx| Ok(smallvec![None]),
        samples: || rectangles(&[], false),
    }
    /// As `householder_product`.
    fn orgqr [out] (input: Tensor, input2: Tensor) -> Tensor {
        run: input.householder_product(input2).map_err(|e| e.in_op("orgqr")),
        samples: reflection_samples,
    }
    /// The product of reflections (or its conjugate transpose) times `other`; with `left = false` the other way round.
    fn ormqr [out] (input: Tensor, tau: Tensor, other: Tensor, left: Bool = true, transpose: Bool = false) -> Tensor {
        run: super::ormqr(input, tau, other, *left, *transpose),
        samples: ormqr_samples,
    }
}

fn geqrf(op: &'static str, a: &Tensor) -> Result<(Tensor, Tensor)> {
    let [m, n] = matrix(op, a)?;
    decomposable(op, a)?;
    let r = own(op, a)?;
    let tau = columns(batch(a), [m.min(n), 1], a.dtype(), a.device())?;
    compute(op, AlgebraTask::Qr, &r, Parts { b: Some(&tau), ..Parts::default() })?;
    let tau = tau.squeeze(-1)?.detach()?;
    Ok((r, tau))
}

fn qr(a: &Tensor, mode: &str) -> Result<(Tensor, Tensor)> {
    let op = "linalg_qr";
    ensure!(
        matches!(mode, "reduced" | "complete" | "r"),
        Runtime,
        op,
        "mode is \"reduced\", \"complete\" or \"r\", not {mode:?}"
    );
    let [m, n] = matrix(op, a)?;
    let (packed, tau) = geqrf(op, a)?;
    let k = m.min(n);
    let keep = if mode == "complete" { m } else { k };
    let r = packed.narrow(-2, 0, k as i64)?.triu(0)?;
    let r = match keep > k {
        true => {
            let shape: Vec<usize> = batch(a).iter().copied().chain([keep - k, n]).collect();
            Tensor::cat(&[&r, &Tensor::zeros_with(shape, Some(a.dtype()), Some(a.device()))?], -2)?
        }
        false => r,
    };
    if mode == "r" {
        return Ok((Tensor::empty_with(0, Some(a.dtype()), Some(a.device()))?, r));
    }
    Ok((first_columns(&packed.narrow(-1, 0, k as i64)?, &tau, keep)?, r))
}

/// Columns of `I - V T V^H`, where `T^-1 = D^-1 + U`: `D` has the `tau`, `U` is `V^H V` above its
/// diagonal. No division by a `tau` of 0, and products of matrices only.
fn first_columns(v: &Tensor, tau: &Tensor, keep: usize) -> Result<Tensor> {
    let [m, k] = matrix("linalg_householder_product", v)?;
    let v = v.tril(-1)?.add(&unit(m, k, v)?)?;
    let start = adjoint(&v.narrow(-2, 0, keep as i64)?)?;
    let middle =
        weights(&v, tau)?.solve_triangular_by(&start.mul(&tau.unsqueeze(-1)?)?, true, true, false)?;
    unit(m, keep, &v)?.sub(&v.matmul(&middle)?)
}

/// `I + D U`.
fn weights(v: &Tensor, tau: &Tensor) -> Result<Tensor> {
    let k = v.shape()[v.dim() - 1];
    adjoint(v)?.matmul(v)?.triu(1)?.mul(&tau.unsqueeze(-1)?)?.add(&unit(k, k, v)?)
}

/// Checks reflections and gives the shape of their matrix and their number.
fn checked(op: &'static str, v: &Tensor, tau: &Tensor) -> Result<[usize; 3]> {
    let [m, n] = matrix(op, v)?;
    decomposable(op, v)?;
    same_dtype(op, v, tau)?;
    let k = tau.shape().last().copied().unwrap_or(0);
    let fits = tau.dim() + 1 == v.dim() && batch(v) == &tau.shape()[..tau.dim().saturating_sub(1)];
    ensure!(
        fits && m >= n && n >= k,
        Runtime,
        op,
        "reflections of shape {:?} and tau of shape {:?}: there must be as many rows as columns at least, a tau to a column at most, and equal batches",
        v.shape(),
        tau.shape()
    );
    Ok([m, n, k])
}

fn ormqr(v: &Tensor, tau: &Tensor, other: &Tensor, left: bool, transpose: bool) -> Result<Tensor> {
    let op = "ormqr";
    let [m, _] = matrix(op, v)?;
    decomposable(op, v)?;
    same_dtype(op, v, tau)?;
    same_dtype(op, v, other)?;
    let [rows, cols] = matrix(op, other)?;
    let k = tau.shape().last().copied().unwrap_or(0);
    let fits = tau.dim() + 1 == v.dim() && batch(v) == &tau.shape()[..tau.dim().saturating_sub(1)];
    ensure!(
        fits && batch(v) == batch(other)
            && k <= v.shape()[v.dim() - 1].min(m)
            && m == if left { rows } else { cols },
        Runtime,
        op,
        "reflections of shape {:?}, tau of shape {:?} and a matrix of shape {:?} do not fit",
        v.shape(),
        tau.shape(),
        other.shape()
    );
    if !left {
        return adjoint(&ormqr(v, tau, &adjoint(other)?, true, !transpose)?);
    }
    // What is not there has no gradient.
    let (v, tau) = if v.numel() == 0 || k == 0 { (&v.detach()?, &tau.detach()?) } else { (v, tau) };
    let head = v.narrow(-1, 0, k as i64)?;
    let v = head.tril(-1)?.add(&unit(m, k, v)?)?;
    let inner = adjoint(&v)?.matmul(other)?;
    let w = weights(&v, tau)?;
    let middle = match transpose {
        false => w.solve_triangular_by(&inner.mul(&tau.unsqueeze(-1)?)?, true, true, false)?,
        true => w.solve_triangular_by(&inner, true, true, true)?.mul(&tau.conj()?.unsqueeze(-1)?)?,
    };
    other.sub(&v.matmul(&middle)?)
}

/// For a square `R`: `(gQ + Q S(R gR^H - gQ^H Q)) R^-H` with `S` the lower triangle made Hermitian; what
/// stands beside a square part in a wide matrix is `Q R2`, and adds to the gradient of `Q`.
fn qr_grad(cx: &GradCx<'_>) -> Result<Grads> {
    let op = "linalg_qr";
    let (q, r, mode) = (cx.output(0)?, cx.output(1)?, cx.arg::<String>(1)?);
    let shape = cx.info(0)?.shape;
    let (m, n) = (shape[shape.len() - 2], shape[shape.len() - 1]);
    if mode == "r" {
        bail!(Runtime, op, "mode \"r\" gives no Q, from which its gradient comes; use \"reduced\"");
    }
    if mode == "complete" && m > n {
        bail!(
            Runtime,
            op,
            "mode \"complete\" has no gradient for matrices with more rows than columns; use \"reduced\""
        );
    }
    let k = m.min(n) as i64;
    let mut gq = cx.grad_opt(0).cloned();
    let gr = cx.grad_opt(1).cloned();
    let (square, mut beside) = (r.narrow(-1, 0, k)?, None);
    if n > m {
        if let Some(gr) = &gr {
            let (r2, g2) = (r.narrow(-1, k, n as i64 - k)?, gr.narrow(-1, k, n as i64 - k)?);
            let more = q.matmul(&r2)?.matmul(&adjoint(&g2)?)?;
            gq = Some(match gq {
                Some(g) => g.add(&more)?,
                None => more,
            });
            beside = Some(q.matmul(&g2)?);
        } else {
            let shape: Vec<usize> = batch(&r).iter().copied().chain([m, n - m]).collect();
            beside = Some(Tensor::zeros_with(shape, Some(r.dtype()), Some(r.device()))?);
        }
    }
    let mut inner = None;
    if let Some(gr) = &gr {
        inner = Some(gr.narrow(-1, 0, k)?.matmul(&adjoint(&square)?)?);
    }
    if let Some(gq) = &gq {
        let part = adjoint(&q)?.matmul(gq)?;
        inner = Some(match inner {
            Some(x) => x.sub(&part)?,
            None => part.neg()?,
        });
    }
    let Some(inner) = inner else { return Ok(smallvec![None]) };
    // The upper triangle and its adjoint, with the diagonal's real part once.
    let upper = inner.triu(0)?;
    let diagonal = inner.diagonal(0, -2, -1)?.real()?.to_dtype(inner.dtype())?;
    let twice = upper.add(&adjoint(&upper)?)?;
    let mut core = q.matmul(&twice.sub(&diagonal.diag_embed(0, -2, -1)?)?)?;
    if let Some(gq) = &gq {
        core = core.add(gq)?;
    }
    let ga = adjoint(&square.solve_triangular_by(&adjoint(&core)?, true, false, false)?)?;
    Ok(smallvec![Some(match beside {
        Some(b) => Tensor::cat(&[&ga, &b], -1)?,
        None => ga,
    })])
}

fn qr_samples() -> Vec<Sample> {
    let text = |mode: &str| [Value::Text(mode.into())];
    let mut all = rectangles(&text("reduced"), true);
    all.extend(rectangles(&text("complete"), false));
    all.extend(rectangles(&text("r"), false));
    all
}
fn reflections(shape: &[usize], k: usize, salt: usize) -> Option<[Value; 2]> {
    let taus: Vec<usize> = shape[..shape.len() - 2].iter().copied().chain([k]).collect();
    Some([
        Value::Tensor(samples::values(shape, salt).ok()?),
        Value::Tensor(samples::values(&taus, salt + 1).ok()?),
    ])
}
fn reflection_samples() -> Vec<Sample> {
    [(&[4, 3][..], 3), (&[4, 3], 2), (&[2, 3, 3], 3), (&[1, 1], 1), (&[3, 0], 0), (&[0, 3, 2], 2)]
        .into_iter()
        .filter_map(|(s, k)| {
            Some(Sample { args: reflections(s, k, 2)?.into_iter().collect(), grad: s.iter().all(|n| *n > 0) })
        })
        .collect()
}
fn ormqr_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for (s, k, c) in [(&[4, 3][..], 3, &[4, 2][..]), (&[2, 3, 3], 2, &[2, 3, 3]), (&[3, 2], 2, &[3, 3])] {
        for (left, transpose) in [(true, false), (true, true), (false, false), (false, true)] {
            let other = if left {
                c.to_vec()
            } else {
                [&c[..c.len() - 2], &[c[c.len() - 1], c[c.len() - 2]]].concat()
            };
            let Some([v, tau]) = reflections(s, k, 4) else { continue };
            let Ok(other) = samples::values(&other, 3) else { continue };
            let rest = [tau, Value::Tensor(other), Value::Bool(left), Value::Bool(transpose)];
            let Value::Tensor(v) = v else { continue };
            all.extend(with(Ok(v), rest, true));
        }
    }
    all
}
