//! Singular values and eigenvalues.

use super::samples::{definites, rectangles, squares};
use super::{
    Parts, adjoint, batch, check, columns, complex_dtype, compute, decomposable, list, matrix, own,
    real_dtype, square, tracked, unit,
};
use crate::backend::AlgebraTask;
use crate::grad::{GradCx, Grads};
use crate::op::{Sample, Value};
use crate::{Device, Kind, Result, Tensor, ensure};
use smallvec::smallvec;

ops! { SPECTRUM;
    /// `input = U diag(S) Vh` with orthonormal columns in `U`, rows in `Vh`, and falling `S`. `U` and `Vh` are square with
    /// `full_matrices`, else have `min(m, n)` columns and rows. No `driver` can be chosen.
    ///
    /// # Errors
    /// `LinAlg` for numbers that are not finite, or where iterations do not converge.
    fn linalg_svd / linalg_svd_with [out] (input: Tensor, full_matrices: Bool = true; driver: OptText = None) -> (Tensor, Tensor, Tensor) [U S Vh] {
        run: super::svd("linalg_svd", input, *full_matrices, driver.as_deref()),
        grad: [reads inputs; outputs 0 1 2] |cx| svd_grad(cx),
        samples: svd_samples,
    }
    /// The singular values, falling.
    fn linalg_svdvals / linalg_svdvals_with [out] (input: Tensor; driver: OptText = None) -> Tensor {
        run: svdvals(input, driver.as_deref()),
        samples: svdvals_samples,
    }
    /// `input = U diag(S) V^H`; with `some`, `min(m, n)` columns in `U` and `V`; without `compute_uv` these are zeros.
    fn svd [out] (input: Tensor, some: Bool = true, compute_uv: Bool = true) -> (Tensor, Tensor, Tensor) [U S V] {
        run: old_svd(input, *some, *compute_uv),
        samples: old_svd_samples,
    }
    /// Rising eigenvalues and orthonormal eigenvectors (columns) of Hermitian matrices, of which one triangle is
    /// read: the lower for `UPLO` "L", the upper for "U".
    fn linalg_eigh [out] (input: Tensor, UPLO: Text = "L") -> (Tensor, Tensor) [eigenvalues eigenvectors] {
        run: eigh("linalg_eigh", input, UPLO, true),
        grad: [reads inputs; outputs 0 1] |cx| eigh_grad(cx),
        samples: eigh_samples,
    }
    /// Rising eigenvalues of Hermitian matrices; `UPLO` as in `linalg_eigh`.
    fn linalg_eigvalsh [out] (input: Tensor, UPLO: Text = "L") -> Tensor {
        run: if tracked(input) {
            Ok(input.linalg_eigh(UPLO)?.0)
        } else {
            Ok(eigh("linalg_eigvalsh", input, UPLO, false)?.0)
        },
        samples: eigh_samples,
    }
    /// Eigenvalues and eigenvectors (columns of length 1) of square matrices, both complex, in no order.
    fn linalg_eig [out] (input: Tensor) -> (Tensor, Tensor) [eigenvalues eigenvectors] {
        run: eig("linalg_eig", input, true),
        grad: [reads inputs; outputs 0 1] |cx| eig_grad(cx),
        samples: || squares(&[], false),
    }
    /// Eigenvalues of square matrices: complex, in no order.
    fn linalg_eigvals [out] (input: Tensor) -> Tensor {
        run: if tracked(input) { Ok(input.linalg_eig()?.0) } else { Ok(eig("linalg_eigvals", input, false)?.0) },
        samples: || squares(&[], false),
    }
}

const NO_END: &str = "the iteration did not converge";

fn no_driver(op: &'static str, driver: Option<&str>) -> Result<()> {
    match driver {
        None => Ok(()),
        Some(name) => crate::bail!(Runtime, op, "driver={name:?} can be chosen on CUDA only; leave it out"),
    }
}

fn svd(op: &'static str, a: &Tensor, full: bool, driver: Option<&str>) -> Result<(Tensor, Tensor, Tensor)> {
    let [m, n] = matrix(op, a)?;
    decomposable(op, a)?;
    no_driver(op, driver)?;
    let k = m.min(n);
    let work = own(op, a)?;
    let (left, right) = if full { (m, n) } else { (k, k) };
    let u = columns(batch(a), [m, left], a.dtype(), a.device())?;
    let v = columns(batch(a), [n, right], a.dtype(), a.device())?;
    let s = list(batch(a), k, real_dtype(a.dtype()), a.device())?;
    let parts = Parts { b: Some(&u), c: Some(&v), values: Some(&s), ..Parts::default() };
    check(op, &compute(op, AlgebraTask::Svd, &work, parts)?, NO_END)?;
    Ok((u, s, adjoint(&v)?.detach()?))
}

fn svdvals(a: &Tensor, driver: Option<&str>) -> Result<Tensor> {
    let op = "linalg_svdvals";
    let [m, n] = matrix(op, a)?;
    decomposable(op, a)?;
    no_driver(op, driver)?;
    if tracked(a) {
        return Ok(a.linalg_svd_with(false, None)?.1);
    }
    let (work, s) = (own(op, a)?, list(batch(a), m.min(n), real_dtype(a.dtype()), a.device())?);
    check(
        op,
        &compute(op, AlgebraTask::Svd, &work, Parts { values: Some(&s), ..Parts::default() })?,
        NO_END,
    )?;
    Ok(s)
}

fn old_svd(a: &Tensor, some: bool, vectors: bool) -> Result<(Tensor, Tensor, Tensor)> {
    let [m, n] = matrix("svd", a)?;
    if vectors {
        let (u, s, vh) = a.linalg_svd_with(!some, None).map_err(|e| e.in_op("svd"))?;
        return Ok((u, s, adjoint(&vh)?));
    }
    let zeros = |n: usize| {
        let shape: Vec<usize> = batch(a).iter().copied().chain([n, n]).collect();
        Tensor::zeros_with(shape, Some(a.dtype()), Some(a.device()))
    };
    Ok((zeros(m)?, a.linalg_svdvals().map_err(|e| e.in_op("svd"))?, zeros(n)?))
}

/// `X - X^H`.
fn skew(x: &Tensor) -> Result<Tensor> {
    x.sub(&adjoint(x)?)
}

/// Eigen- and singular vectors are fixed up to a factor of size 1; a gradient that moves along it
/// means that the function depends on which one was found.
fn check_phase(op: &'static str, diagonal: &Tensor) -> Result<()> {
    if !diagonal.dtype().is_complex() || diagonal.device() == Device::META || diagonal.numel() == 0 {
        return Ok(());
    }
    let largest = diagonal.detach()?.imag()?.abs()?.amax((), false)?.item()?.to_f64();
    ensure!(
        !(largest > 1e-2),
        Runtime,
        op,
        "the function depends on the phase of the vectors, which is arbitrary; its gradient is not defined"
    );
    Ok(())
}

/// `U (F_U S + S F_V + diag(gS)) V^H` plus what leaves the spaces of `U` and `V`, where `F` is the skew part
/// of `U^H gU` or `V^H gV` over `S_j^2 - S_i^2`.
fn svd_grad(cx: &GradCx<'_>) -> Result<Grads> {
    let s = cx.output(1)?;
    let k = s.shape()[s.dim() - 1];
    let cut = |t: Tensor, d: i64| t.narrow(d, 0, k as i64);
    let (u, vh) = (cut(cx.output(0)?, -1)?, cut(cx.output(2)?, -2)?);
    let gu = cx.grad_opt(0).map(|g| cut(g.clone(), -1)).transpose()?;
    let gvh = cx.grad_opt(2).map(|g| cut(g.clone(), -2)).transpose()?;
    let gs = cx.grad_opt(1).cloned();
    if gu.is_none() && gvh.is_none() {
        let Some(gs) = gs else { return Ok(smallvec![None]) };
        return Ok(smallvec![Some(u.mul(&gs.unsqueeze(-2)?)?.matmul(&vh)?)]);
    }
    let (m, n) = (u.shape()[u.dim() - 2], vh.shape()[vh.dim() - 1]);
    let (across, down) = (s.unsqueeze(-2)?, s.unsqueeze(-1)?);
    let gaps = across.square()?.sub(&down.square()?)?.add(&unit(k, k, &s)?)?;
    let left = gu.as_ref().map(|g| skew(&adjoint(&u)?.matmul(g)?)).transpose()?;
    let right = gvh.as_ref().map(|g| skew(&vh.matmul(&adjoint(g)?)?)).transpose()?;
    let phases = match (&left, &right) {
        (Some(a), Some(b)) => a.add(b)?,
        (Some(a), None) | (None, Some(a)) => a.clone(),
        (None, None) => gaps.clone(),
    };
    check_phase("linalg_svd", &phases.diagonal(0, -2, -1)?)?;
    let mut inner = match &gs {
        Some(gs) => gs.diag_embed(0, -2, -1)?.to_dtype(u.dtype())?,
        None => Tensor::zeros_like(&phases)?,
    };
    if let Some(x) = &left {
        inner = inner.add(&x.div(&gaps)?.mul(&across)?)?;
        if u.dtype().is_complex() {
            let turn = x.diagonal(0, -2, -1)?.div(&s.mul(2.0)?)?;
            inner = inner.add(&turn.diag_embed(0, -2, -1)?)?;
            // What the line above added on the diagonal: numbers without a real part over 1.
            inner = inner.sub(&x.diagonal(0, -2, -1)?.mul(&s)?.diag_embed(0, -2, -1)?)?;
        }
    }
    if let Some(x) = &right {
        inner = inner.add(&x.div(&gaps)?.mul(&down)?)?;
        if u.dtype().is_complex() {
            inner = inner.sub(&x.diagonal(0, -2, -1)?.mul(&s)?.diag_embed(0, -2, -1)?)?;
        }
    }
    let mut ga = u.matmul(&inner)?.matmul(&vh)?;
    if let Some(g) = gu.as_ref().filter(|_| m > k) {
        let out = g.sub(&u.matmul(&adjoint(&u)?.matmul(g)?)?)?.div(&across)?;
        ga = ga.add(&out.matmul(&vh)?)?;
    }
    if let Some(g) = gvh.as_ref().filter(|_| n > k) {
        let out = g.sub(&g.matmul(&adjoint(&vh)?)?.matmul(&vh)?)?.div(&down)?;
        ga = ga.add(&u.matmul(&out)?)?;
    }
    Ok(smallvec![Some(ga)])
}

fn eigh(op: &'static str, a: &Tensor, uplo: &str, vectors: bool) -> Result<(Tensor, Tensor)> {
    let n = square(op, a)?;
    let upper = match uplo {
        "L" | "l" => false,
        "U" | "u" => true,
        _ => crate::bail!(Runtime, op, "UPLO is \"L\" or \"U\", not {uplo:?}"),
    };
    let v = own(op, &if upper { adjoint(&a.detach()?)? } else { a.clone() })?;
    let values = list(batch(a), n, real_dtype(a.dtype()), a.device())?;
    let task = AlgebraTask::Eigh { vectors };
    check(op, &compute(op, task, &v, Parts { values: Some(&values), ..Parts::default() })?, NO_END)?;
    Ok((values, v))
}

/// `V (diag(gL) + V^H gV / (L_j - L_i)) V^H`, made Hermitian as the matrices are.
fn eigh_grad(cx: &GradCx<'_>) -> Result<Grads> {
    let (l, v) = (cx.output(0)?, cx.output(1)?);
    let n = l.shape()[l.dim() - 1];
    let Some(gv) = cx.grad_opt(1) else {
        let Some(gl) = cx.grad_opt(0) else { return Ok(smallvec![None]) };
        return Ok(smallvec![Some(v.mul(&gl.unsqueeze(-2)?)?.matmul(&adjoint(&v)?)?)]);
    };
    let inner = adjoint(&v)?.matmul(gv)?;
    check_phase("linalg_eigh", &inner.diagonal(0, -2, -1)?)?;
    let eye = unit(n, n, &l)?;
    let gaps = l.unsqueeze(-2)?.sub(&l.unsqueeze(-1)?)?.add(&eye)?;
    let mut middle = inner.div(&gaps)?.mul(&eye.neg()?.add(1.0)?)?;
    if let Some(gl) = cx.grad_opt(0) {
        middle = middle.add(&gl.diag_embed(0, -2, -1)?)?;
    }
    let ga = v.matmul(&middle)?.matmul(&adjoint(&v)?)?;
    Ok(smallvec![Some(ga.add(&adjoint(&ga)?)?.mul(0.5)?)])
}

fn eig(op: &'static str, a: &Tensor, vectors: bool) -> Result<(Tensor, Tensor)> {
    let n = square(op, a)?;
    let dtype = complex_dtype(a.dtype());
    let (work, values) = (own(op, a)?, list(batch(a), n, dtype, a.device())?);
    let v = columns(batch(a), [n, if vectors { n } else { 0 }], dtype, a.device())?;
    let parts = Parts { values: Some(&values), vectors: Some(&v), ..Parts::default() };
    let info = compute(op, AlgebraTask::Eig, &work, parts)?;
    check(op, &info, NO_END)
        .map_err(|e| if e.text().contains("NaN") { e.with_kind(Kind::Runtime) } else { e })?;
    Ok((values, v))
}

/// `V^-H (diag(gL) + (V^H gV - V^H V Re diag(V^H gV)) / conj(L_j - L_i)) V^H`: the vectors keep their length.
fn eig_grad(cx: &GradCx<'_>) -> Result<Grads> {
    let (l, v) = (cx.output(0)?, cx.output(1)?);
    let n = l.shape()[l.dim() - 1];
    let eye = unit(n, n, &l)?;
    let vh = adjoint(&v)?;
    let mut middle = match cx.grad_opt(0) {
        Some(gl) => gl.diag_embed(0, -2, -1)?,
        None => Tensor::zeros_like(&v)?,
    };
    if let Some(gv) = cx.grad_opt(1) {
        let inner = vh.matmul(gv)?;
        check_phase("linalg_eig", &inner.diagonal(0, -2, -1)?)?;
        let along = inner.diagonal(0, -2, -1)?.real()?.unsqueeze(-2)?;
        let gaps = l.unsqueeze(-2)?.sub(&l.unsqueeze(-1)?)?.conj()?.add(&eye)?;
        let off = inner.sub(&vh.matmul(&v)?.mul(&along)?)?.div(&gaps)?;
        middle = middle.add(&off.mul(&eye.neg()?.add(1.0)?)?)?;
    }
    let ga = vh.solve_parts(&middle.matmul(&vh)?)?.0;
    Ok(smallvec![Some(if cx.info(0)?.dtype.is_complex() { ga } else { ga.real()? })])
}

fn svd_samples() -> Vec<Sample> {
    let args = |full| [Value::Bool(full), Value::OptText(None)];
    // Signs of vectors are arbitrary and jump: their gradients are checked by functions that do not see them.
    [rectangles(&args(false), false), rectangles(&args(true), false)].concat()
}
fn svdvals_samples() -> Vec<Sample> {
    rectangles(&[Value::OptText(None)], true)
}
fn old_svd_samples() -> Vec<Sample> {
    let args = |some, vectors| [Value::Bool(some), Value::Bool(vectors)];
    [rectangles(&args(true, true), false), rectangles(&args(true, false), true)].concat()
}
/// Only one triangle is read: finite differences of the other see nothing.
fn eigh_samples() -> Vec<Sample> {
    [definites(&[Value::Text("L".into())], false), definites(&[Value::Text("U".into())], false)].concat()
}
