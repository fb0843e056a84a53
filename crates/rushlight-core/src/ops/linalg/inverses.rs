//! What singular values give: pseudoinverses, ranks, least squares, polar factors, square roots.

use super::samples::{definites, rectangles, regular, with};
use super::{adjoint, batch, broadcast_batches, decomposable, matrix, real_dtype, same_dtype, square};
use crate::grad::{GradCx, Grads};
use crate::op::{Operand, OptOperand, Sample, Value, samples};
use crate::{DType, Number, Result, Tensor, ensure};
use smallvec::smallvec;

ops! { INVERSES;
    /// The pseudoinverse: singular values up to the larger of `atol` and `rtol` times the largest count as 0. By default
    /// `atol` is 0 and `rtol` the larger size times the precision of the dtype; `rcond` is another name of `rtol`.
    fn linalg_pinv / linalg_pinv_with [out] (input: Tensor, rcond: OptOperand = (), hermitian: Bool = false; atol: OptOperand = (), rtol: OptOperand = ()) -> Tensor {
        run: pinv("linalg_pinv", input, rcond, *hermitian, atol, rtol),
        grad: [reads inputs 0; outputs 0] |cx| {
            let ga = pinv_grad(&cx.input(0)?, &cx.output(0)?, &cx.grad(0)?)?;
            Ok(smallvec![Some(ga), None, None, None])
        },
        samples: pinv_samples,
    }
    /// The pseudoinverse, as `linalg_pinv`.
    fn pinverse (input: Tensor, rcond: Float = 1e-15) -> Tensor {
        run: input.linalg_pinv(*rcond, false).map_err(|e| e.in_op("pinverse")),
        samples: pinverse_samples,
    }
    /// How many singular values (of Hermitian matrices: `|eigenvalues|`) are above the larger of `atol` and `rtol` times
    /// the largest; `tol` is `atol` without `rtol`. int64, without gradient.
    fn linalg_matrix_rank / linalg_matrix_rank_with [out casts] (input: Tensor, tol: OptOperand = (), hermitian: Bool = false; atol: OptOperand = (), rtol: OptOperand = ()) -> Tensor {
        run: matrix_rank(input, tol, *hermitian, atol, rtol),
        samples: pinv_samples,
    }
    /// The `X` of least length for which `|input X - b|` is least; the sums of squares of what is left, where the driver
    /// gives them and all ranks are full; ranks and singular values likewise. Drivers are "gelsy" (the default),
    /// "gelsd" and "gelss", by singular values, of which those up to `rcond` times the largest count as 0,
    /// and "gels", by QR, for matrices of full rank. `b` may hold vectors; batches broadcast.
    fn linalg_lstsq / linalg_lstsq_with [out] (input: Tensor, b: Tensor, rcond: OptFloat = None; driver: OptText = None) -> (Tensor, Tensor, Tensor, Tensor) [solution residuals rank singular_values] {
        run: {
            let (x, left, rank, values) = input.lstsq_parts(b, *rcond, driver.as_deref()).map_err(|e| e.in_op("linalg_lstsq"))?;
            Ok((x, left, rank, values.detach()?))
        },
        samples: lstsq_samples,
    }
    /// What `linalg_lstsq` gives, with the gradients of the solution and of what is left.
    fn lstsq_parts as internal (input: Tensor, b: Tensor, rcond: OptFloat, driver: OptText) -> (Tensor, Tensor, Tensor, Tensor) [solution residuals rank singular_values] {
        run: lstsq(input, b, *rcond, driver.as_deref()),
        grad: [reads inputs 0 1; outputs 0] |cx| lstsq_grad(cx),
        samples: || lstsq_samples().into_iter().map(|s| Sample { grad: false, ..s }).collect(),
    }
    /// `input = U H` for matrices with as many rows as columns at least: orthonormal columns in `U`, a Hermitian `H` without
    /// negative eigenvalues. The gradient asks for full rank.
    fn linalg_polar [out] (input: Tensor) -> (Tensor, Tensor) [U H] {
        run: polar_factors(input),
        grad: [reads inputs; outputs 0 1] |cx| polar_grad(cx),
        samples: polar_samples,
    }
    /// The Hermitian, positive definite square root of matrices of that kind, of which the lower triangle is read.
    fn linalg_matrix_sqrth (input: Tensor) -> Tensor {
        run: {
            let (l, v) = input.linalg_eigh("L").map_err(|e| e.in_op("linalg_matrix_sqrth"))?;
            v.mul(&l.sqrt()?.unsqueeze(-2)?)?.matmul(&adjoint(&v)?)
        },
        grad: [reads inputs; outputs 0] |cx| sqrth_grad(cx),
        samples: || definites(&[], false),
    }
}

/// What counts as 0, beside singular values `s` that fall or not: shaped to be compared with them.
fn threshold(
    op: &'static str,
    s: &Tensor,
    size: usize,
    [atol, rtol]: [&OptOperand; 2],
    default_rtol: bool,
) -> Result<Tensor> {
    let eps = if s.dtype() == DType::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON };
    let usual = if default_rtol { eps * size as f64 } else { 0.0 };
    let real = |t: &Tensor| {
        ensure!(!t.dtype().is_complex(), Runtime, op, "tolerances must be real, not {}", t.dtype());
        t.detach()?.to_dtype(s.dtype())?.unsqueeze(-1)
    };
    let number = |x: f64| Tensor::full_with(1, x, Some(s.dtype()), Some(s.device()));
    let given = |o: &OptOperand| -> Result<Option<Tensor>> {
        Ok(match &o.0 {
            None => None,
            Some(Operand::Tensor(t)) => Some(real(t)?),
            Some(Operand::Number(n)) => {
                ensure!(!matches!(n, Number::Complex(..)), Runtime, op, "tolerances must be real");
                Some(number(n.to_f64())?)
            }
        })
    };
    let atol_given = given(atol)?;
    let rtol = match (given(rtol)?, &atol_given) {
        (Some(t), _) => t,
        // An absolute tolerance does without the relative one.
        (None, Some(a)) => Tensor::where_cond(&a.gt(0.0)?, 0.0, usual)?.to_dtype(s.dtype())?,
        (None, None) => number(usual)?,
    };
    let largest = if s.shape()[s.dim() - 1] == 0 { s.sum(-1, true)? } else { s.detach()?.amax(-1, true)? };
    let relative = rtol.mul(&largest)?;
    match atol_given {
        Some(a) => relative.maximum(&a),
        None => Ok(relative),
    }
}

fn pinv(
    op: &'static str,
    a: &Tensor,
    rcond: &OptOperand,
    hermitian: bool,
    atol: &OptOperand,
    rtol: &OptOperand,
) -> Result<Tensor> {
    let [m, n] = matrix(op, a)?;
    decomposable(op, a)?;
    let none = OptOperand(None);
    let tolerances = if rcond.0.is_some() { [&none, rcond] } else { [atol, rtol] };
    if m.min(n) == 0 {
        let shape: Vec<usize> = batch(a).iter().copied().chain([n, m]).collect();
        return Tensor::zeros_with(shape, Some(a.dtype()), Some(a.device()));
    }
    let inverted = |s: &Tensor, size: &Tensor| -> Result<Tensor> {
        let keep = size.gt(&threshold(op, size, m.max(n), tolerances, true)?)?;
        Tensor::where_cond(&keep, &s.reciprocal()?, 0.0)?.to_dtype(s.dtype())
    };
    if hermitian {
        square(op, a)?;
        let (l, v) = a.linalg_eigh("L").map_err(|e| e.in_op(op))?;
        return v.mul(&inverted(&l, &l.abs()?)?.unsqueeze(-2)?)?.matmul(&adjoint(&v)?);
    }
    let (u, s, vh) = a.linalg_svd_with(false, None).map_err(|e| e.in_op(op))?;
    adjoint(&vh)?.mul(&inverted(&s, &s)?.unsqueeze(-2)?)?.matmul(&adjoint(&u)?)
}

/// From `dP = -P dA P + P P^H dA^H (I - A P) + (I - P A) dA^H P^H P`.
fn pinv_grad(a: &Tensor, p: &Tensor, g: &Tensor) -> Result<Tensor> {
    let (ph, gh) = (adjoint(p)?, adjoint(g)?);
    // (I - A P) g^H and g^H (I - P A)
    let left = gh.sub(&a.matmul(&p.matmul(&gh)?)?)?;
    let right = gh.sub(&gh.matmul(p)?.matmul(a)?)?;
    let inner = ph.matmul(g)?.matmul(&ph)?.neg()?;
    inner.add(&left.matmul(p)?.matmul(&ph)?)?.add(&ph.matmul(p)?.matmul(&right)?)
}

fn matrix_rank(
    a: &Tensor,
    tol: &OptOperand,
    hermitian: bool,
    atol: &OptOperand,
    rtol: &OptOperand,
) -> Result<Tensor> {
    let op = "linalg_matrix_rank";
    let [m, n] = matrix(op, a)?;
    decomposable(op, a)?;
    if m.min(n) == 0 {
        return Tensor::zeros_with(batch(a), Some(DType::I64), Some(a.device()));
    }
    let zero = OptOperand(Some(Operand::Number(Number::Int(0))));
    let tolerances = if tol.0.is_some() { [tol, &zero] } else { [atol, rtol] };
    let a = a.detach()?;
    let s = match hermitian {
        true => a.linalg_eigvalsh("L").map_err(|e| e.in_op(op))?.abs()?,
        false => a.linalg_svdvals().map_err(|e| e.in_op(op))?,
    };
    s.gt(&threshold(op, &s, m.max(n), tolerances, true)?)?.sum(-1, false)
}

fn lstsq(
    a: &Tensor,
    b: &Tensor,
    rcond: Option<f64>,
    driver: Option<&str>,
) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
    let op = "linalg_lstsq";
    let [m, n] = matrix(op, a)?;
    decomposable(op, a)?;
    same_dtype(op, a, b)?;
    ensure!(b.dim() > 0, Runtime, op, "the right-hand side is a number; give it rows");
    let driver = driver.unwrap_or("gelsy");
    ensure!(
        matches!(driver, "gels" | "gelsy" | "gelsd" | "gelss"),
        Runtime,
        op,
        "driver is \"gels\", \"gelsy\", \"gelsd\" or \"gelss\", not {driver:?}"
    );
    let vector = b.dim() == 1 || (b.dim() + 1 == a.dim() && b.shape() == &a.shape()[..a.dim() - 1]);
    let rhs = if vector { b.unsqueeze(-1)? } else { b.clone() };
    let [rows, _] = matrix(op, &rhs)?;
    ensure!(
        rows == m,
        Runtime,
        op,
        "matrices of shape {:?} and right-hand sides of shape {:?} do not fit",
        a.shape(),
        b.shape()
    );
    let (wide, rhs) = broadcast_batches(op, a, &rhs)?;
    let nothing = |dtype| Tensor::empty_with(0, Some(dtype), Some(a.device()));
    let real = real_dtype(a.dtype());
    let (mut rank, mut values) = (nothing(DType::I64)?, nothing(real)?);
    let x = if driver == "gels" {
        by_qr(&wide, &rhs)?
    } else {
        let (u, s, vh) = wide.linalg_svd_with(false, None).map_err(|e| e.in_op(op))?;
        let cut = OptOperand(rcond.map(|r| Operand::Number(Number::Float(r))));
        let keep = s.gt(&threshold(op, &s, m.max(n), [&OptOperand(None), &cut], true)?)?;
        rank = keep.sum(-1, false)?;
        let inverted = Tensor::where_cond(&keep, &s.reciprocal()?, 0.0)?.to_dtype(real)?;
        values = s;
        adjoint(&vh)?.matmul(&adjoint(&u)?.matmul(&rhs)?.mul(&inverted.unsqueeze(-1)?)?)?
    };
    let meta = a.device() == crate::Device::META;
    let full = driver == "gels" || (!meta && rank.eq(n as i64)?.all((), false)?.item()?.to_bool());
    let residuals = match m > n && driver != "gelsy" && (full || meta) {
        true => {
            let away = wide.matmul(&x)?.sub(&rhs)?;
            away.vector_norm_of(2.0, -2, false)?.square()?
        }
        false => nothing(real)?,
    };
    if driver == "gelsy" {
        values = nothing(real)?;
    }
    Ok((if vector { x.squeeze(-1)?.detach()? } else { x }, residuals, rank, values))
}

/// `R^-1 Q^H b`, or, where there are more columns than rows, the shortest solution from `A^H = Q R`.
fn by_qr(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let [m, n] = matrix("linalg_lstsq", a)?;
    if m >= n {
        let (q, r) = a.linalg_qr("reduced")?;
        return r.solve_triangular_by(&adjoint(&q)?.matmul(b)?, true, false, false);
    }
    let (q, r) = adjoint(a)?.linalg_qr("reduced")?;
    q.matmul(&r.solve_triangular_by(b, true, false, true)?)
}

/// The solution is `A^+ b`. What is left, `r = A X - b`, is orthogonal to `A`: a change of `X` does not matter to it.
fn lstsq_grad(cx: &GradCx<'_>) -> Result<Grads> {
    let (a, b) = (cx.input(0)?, cx.input(1)?);
    let none = smallvec![None, None];
    let vector = b.dim() == 1 || (b.dim() + 1 == a.dim() && b.shape() == &a.shape()[..a.dim() - 1]);
    let up = |t: &Tensor| if vector { t.unsqueeze(-1) } else { Ok(t.clone()) };
    let (g, rhs) = (up(&cx.grad(0)?)?, up(&b)?);
    // Twice what is left, times the gradient of its square.
    let pull = match cx.grad_opt(1).filter(|g| g.numel() > 0) {
        None => None,
        Some(gr) => {
            let x = up(&cx.output(0)?)?;
            Some((a.matmul(&x)?.sub(&rhs)?.mul(&gr.unsqueeze(-2)?.mul(2.0)?)?, x))
        }
    };
    let p = a.linalg_pinv((), false)?;
    let mut grads: Grads = none;
    if cx.needs(0) {
        let gp = g.matmul(&adjoint(&rhs)?)?;
        let (wide, pw) = (a.expand_batch(batch(&gp))?, p.expand_batch(batch(&gp))?);
        let mut ga = pinv_grad(&wide, &pw, &gp)?;
        if let Some((away, x)) = &pull {
            ga = ga.add(&away.matmul(&adjoint(x)?)?)?;
        }
        grads[0] = Some(crate::grad::sum_to(&ga, a.shape())?);
    }
    if cx.needs(1) {
        let mut gb = adjoint(&p)?.matmul(&g)?;
        if let Some((away, _)) = &pull {
            gb = gb.sub(away)?;
        }
        let gb = crate::grad::sum_to(&gb, rhs.shape())?;
        grads[1] = Some(if vector { gb.squeeze(-1)? } else { gb });
    }
    Ok(grads)
}

impl Tensor {
    /// The matrices repeated along new batch dimensions.
    fn expand_batch(&self, to: &[usize]) -> Result<Tensor> {
        let shape: Vec<usize> = to.iter().chain(&self.shape()[self.dim() - 2..]).copied().collect();
        self.expand(shape)
    }
}

fn polar_factors(a: &Tensor) -> Result<(Tensor, Tensor)> {
    let op = "linalg_polar";
    let [m, n] = matrix(op, a)?;
    ensure!(m >= n, Runtime, op, "takes as many rows as columns at least, not shape {:?}", a.shape());
    let (u, s, vh) = a.linalg_svd_with(false, None).map_err(|e| e.in_op(op))?;
    let v = adjoint(&vh)?;
    Ok((u.matmul(&vh)?, v.mul(&s.unsqueeze(-2)?)?.matmul(&vh)?))
}

/// In the basis `V` of `H = V S V^H`, with `K` the numbers `1 / (s_i + s_j)`: `dU` is the skew part of
/// `(U V)^H dA V`, times `K`, and what leaves the columns of `U`; `dH` solves `H dH + dH H = d(A^H A)`.
fn polar_grad(cx: &GradCx<'_>) -> Result<Grads> {
    let (u, h) = (cx.output(0)?, cx.output(1)?);
    let (s, v) = h.linalg_eigh("L")?;
    let (w, vh) = (u.matmul(&v)?, adjoint(&v)?);
    let weights = s.unsqueeze(-1)?.add(&s.unsqueeze(-2)?)?.reciprocal()?;
    let mut inner = Tensor::zeros_like(&h)?;
    if let Some(g) = cx.grad_opt(0) {
        let part = adjoint(&w)?.matmul(g)?.matmul(&v)?.mul(&weights)?;
        inner = inner.add(&part.sub(&adjoint(&part)?)?)?;
    }
    if let Some(g) = cx.grad_opt(1) {
        let part = vh.matmul(g)?.matmul(&v)?.mul(&weights)?;
        inner = inner.add(&part.add(&adjoint(&part)?)?.mul(&s.unsqueeze(-1)?)?)?;
    }
    let mut ga = w.matmul(&inner)?.matmul(&vh)?;
    let [m, n] = matrix("linalg_polar", &u)?;
    if let Some(g) = cx.grad_opt(0).filter(|_| m > n) {
        let out = g.sub(&u.matmul(&adjoint(&u)?.matmul(g)?)?)?;
        ga = ga.add(&out.matmul(&v)?.div(&s.unsqueeze(-2)?)?.matmul(&vh)?)?;
    }
    Ok(smallvec![Some(ga)])
}

/// `X dX + dX X = dA` in the basis of the root's eigenvectors.
fn sqrth_grad(cx: &GradCx<'_>) -> Result<Grads> {
    let (r, v) = cx.output(0)?.linalg_eigh("L")?;
    let sums = r.unsqueeze(-1)?.add(&r.unsqueeze(-2)?)?;
    let vh = adjoint(&v)?;
    let inner = vh.matmul(&cx.grad(0)?)?.matmul(&v)?.div(&sums)?;
    let ga = v.matmul(&inner)?.matmul(&vh)?;
    Ok(smallvec![Some(ga.add(&adjoint(&ga)?)?.mul(0.5)?)])
}

fn tolerance(x: Option<f64>) -> Value {
    Value::OptOperand(OptOperand(x.map(|x| Operand::Number(Number::Float(x)))))
}
fn pinv_samples() -> Vec<Sample> {
    let args = |rcond, atol, rtol| [tolerance(rcond), Value::Bool(false), tolerance(atol), tolerance(rtol)];
    let mut all = rectangles(&args(None, None, None), true);
    all.extend(rectangles(&args(Some(0.01), None, None), true));
    all.extend(rectangles(&args(None, Some(0.01), Some(0.02)), true));
    let hermitian = [tolerance(None), Value::Bool(true), tolerance(None), tolerance(None)];
    all.extend(definites(&hermitian, false));
    all
}
fn pinverse_samples() -> Vec<Sample> {
    rectangles(&[Value::Float(1e-10)], true)
}
fn lstsq_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for driver in [None, Some("gels"), Some("gelsd")] {
        for (a, b) in [(&[4, 3][..], &[4, 2][..]), (&[3, 4], &[3, 1]), (&[2, 3, 3], &[3, 2]), (&[4, 3], &[4])]
        {
            let rest = samples::values(b, 7)
                .map(|b| [Value::Tensor(b), Value::OptFloat(None), Value::OptText(driver.map(Into::into))]);
            // Only the solution has a gradient.
            all.extend(rest.ok().and_then(|rest| with(regular(a, 2), rest, driver.is_none())));
        }
    }
    all
}
fn polar_samples() -> Vec<Sample> {
    [&[4, 3][..], &[2, 3, 3], &[1, 1], &[2, 0]]
        .into_iter()
        .filter_map(|s| with(regular(s, 5), [], s.iter().all(|n| *n > 0)))
        .collect()
}
