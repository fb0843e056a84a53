//! Along one dimension: running extrema and logarithms of sums, differences, integrals, slopes.

use super::view::one;
use crate::backend::{ReduceOp, Scan};
use crate::exec;
use crate::grad::{GradCx, Grads};
use crate::layout::dim_index;
use crate::op::{Dims, Sample, Value, compute_type, samples};
use crate::program::{Program, Sort, trace};
use crate::{DType, Layout, Number, Result, Tensor, ensure};
use smallvec::smallvec;
use std::sync::LazyLock;

ops! { RUNNING;
    /// The largest element so far along `dim`, and where the last of its kind is. NaN wins.
    fn cummax [out] (input: Tensor, dim: Int) -> (Tensor, Tensor) {
        run: extreme("cummax", ReduceOp::Max, input, *dim),
        grad: [reads inputs; outputs 1] |cx| extreme_grad(cx),
        samples: line_samples,
    }
    /// The smallest element so far along `dim`, and where the last of its kind is. NaN wins.
    fn cummin [out] (input: Tensor, dim: Int) -> (Tensor, Tensor) {
        run: extreme("cummin", ReduceOp::Min, input, *dim),
        grad: [reads inputs; outputs 1] |cx| extreme_grad(cx),
        samples: line_samples,
    }
    /// Logarithm of the running sum of exponentials along `dim`. Floats and complex numbers only.
    fn logcumsumexp [out] (input: Tensor, dim: Int) -> Tensor {
        run: super::logcumsumexp(input, *dim),
        grad: [reads inputs 0; outputs 0] |cx| logcumsumexp_grad(cx),
        samples: line_samples,
    }
    /// `n` times the differences of neighbours along `dim`, of what `prepend` and `append` make
    /// longer. For bool whether neighbours differ.
    fn diff [out] (input: Tensor, n: Int = 1, dim: Int = -1, prepend: OptTensor = None, append: OptTensor = None) -> Tensor {
        run: super::diff(input, *n, *dim, prepend.as_ref(), append.as_ref()),
        samples: diff_samples,
    }
    /// The area under `y` along `dim` by the trapezoidal rule, at the places `x` (a vector, or one
    /// for each element of `y`).
    fn trapezoid_at as trapezoid | trapz (y: Tensor, x: Tensor; dim: Int = -1) -> Tensor {
        run: area_at("trapezoid", y, x, *dim, false),
        samples: area_at_samples,
    }
    /// The area under `y` along `dim` by the trapezoidal rule, for places `dx` apart.
    fn trapezoid as trapezoid | trapz / trapezoid_with (y: Tensor; dx: Number = 1, dim: Int = -1) -> Tensor {
        run: area("trapezoid", y, *dx, *dim, false),
        samples: area_samples,
    }
    /// The running area under `y`: as `trapezoid`, one place shorter than `y` along `dim`.
    fn cumulative_trapezoid_at as cumulative_trapezoid (y: Tensor, x: Tensor; dim: Int = -1) -> Tensor {
        run: area_at("cumulative_trapezoid", y, x, *dim, true),
        samples: area_at_samples,
    }
    /// The running area under `y`: as `trapezoid`, one place shorter than `y` along `dim`.
    fn cumulative_trapezoid / cumulative_trapezoid_with (y: Tensor; dx: Number = 1, dim: Int = -1) -> Tensor {
        run: area("cumulative_trapezoid", y, *dx, *dim, true),
        samples: area_samples,
    }
    /// The slope along each of `dim` (all by default) of values that are `spacing` apart: central
    /// differences, and at the edges one-sided ones of order `edge_order`, 1 or 2.
    fn gradient as _gradient (input: Tensor, spacing: Number = 1, dim: Dims = (), edge_order: Int = 1) -> Vec<Tensor> {
        run: super::gradient(input, Spacing::Even(*spacing), dim, *edge_order),
        samples: gradient_samples,
    }
    /// As `gradient`, of values at the places `coordinates`: a vector for each of `dim`. Exact for
    /// parabolas (Fornberg, Generation of finite difference formulas, 1988).
    fn gradient_at as _gradient_at (input: Tensor, coordinates: Tensors, dim: Dims = (), edge_order: Int = 1) -> Vec<Tensor> {
        run: super::gradient(input, Spacing::At(coordinates), dim, *edge_order),
        samples: gradient_at_samples,
    }
}

/// Where an element is the extreme so far, its place: `x`, the extreme, and the place.
static HIT: LazyLock<Program> =
    LazyLock::new(|| exec::fixed(trace(&[Sort::Num, Sort::Num], 0, |x| vec![x[0].eq(x[1]) | x[0].isnan()])));

fn scan(op: &'static str, kind: ReduceOp, x: &Tensor, axis: usize) -> Result<Tensor> {
    let out = Tensor::alloc(Layout::contiguous(x.shape())?, x.dtype(), x.device())?;
    if out.numel() > 0 {
        exec::call(op, &[&out], &[x.place()], |backend, outs, ins| {
            let ctype = compute_type(x.dtype());
            backend.scan(&Scan { op: kind, ctype, out: outs[0], input: ins[0], axis })
        })?;
    }
    Ok(out)
}

fn extreme(op: &'static str, kind: ReduceOp, x: &Tensor, dim: i64) -> Result<(Tensor, Tensor)> {
    ensure!(!x.dtype().is_complex(), NotImplemented, op, "complex numbers have no order");
    let axis = dim_index(op, dim as isize, x.dim())?;
    let x = x.detach()?;
    let values = scan(op, kind, &x, axis)?;
    let at = Tensor::zeros_with(x.shape(), Some(DType::I64), Some(x.device()))?;
    if x.dim() == 0 || x.numel() == 0 {
        return Ok((values, at));
    }
    // Each element that is the extreme so far was reached at its own place: the latest place counts.
    let hit = Tensor::alloc(values.layout().clone(), DType::Bool, x.device())?;
    exec::map(op, &HIT, &[], compute_type(x.dtype()), &[&hit], &[&x, &values])?;
    let mut shape = vec![1i64; x.dim()];
    shape[axis] = x.shape()[axis] as i64;
    let place = Tensor::arange_with(0, x.shape()[axis] as i64, 1, None, Some(x.device()))?.view(shape)?;
    let places = Tensor::where_cond(&hit, &place, 0)?;
    Ok((values, scan(op, ReduceOp::Max, &places, axis)?))
}

fn extreme_grad(cx: &GradCx<'_>) -> Result<Grads> {
    let (g, at, dim) = (cx.grad(0)?, cx.output(1)?.detach()?, *cx.arg::<i64>(1)?);
    if g.numel() == 0 || g.dim() == 0 {
        return Ok(smallvec![Some(g)]);
    }
    Ok(smallvec![Some(cx.info(0)?.zeros()?.scatter_add(dim, &at, &g)?)])
}

/// `log(exp(a) + exp(b))` without overflow; two equal infinities give themselves.
static LOG_ADD: LazyLock<Program> = LazyLock::new(|| {
    exec::fixed(trace(&[Sort::Num, Sort::Num], 0, |x| {
        let (high, low) = (x[0].maximum(x[1]), x[0].minimum(x[1]));
        let same = high.isinf() & low.eq(high);
        vec![same.select(high, high + (low - high).exp().log1p())]
    }))
});

fn logcumsumexp(x: &Tensor, dim: i64) -> Result<Tensor> {
    let op = "logcumsumexp";
    ensure!(
        x.dtype().is_differentiable(),
        NotImplemented,
        op,
        "is not defined for {}; it takes floats and complex numbers; convert with to_dtype",
        x.dtype()
    );
    let axis = dim_index(op, dim as isize, x.dim())?;
    let x = x.detach()?;
    // Halves round once.
    let wide = if x.dtype().is_half() { x.to_dtype(DType::F32)? } else { x.clone() };
    let out = Tensor::alloc(Layout::contiguous(x.shape())?, wide.dtype(), x.device())?;
    exec::copy(&out, &wide)?;
    if x.dim() > 0 {
        log_sums(&out, axis)?;
    }
    out.to_dtype(x.dtype())
}

/// Joins neighbours, scans the half as many sums, and fills in the places between them: linear work
/// in a logarithmic number of steps (Blelloch, Prefix sums and their applications, 1990).
fn log_sums(x: &Tensor, axis: usize) -> Result<()> {
    let n = x.shape()[axis] as isize;
    if n < 2 || x.numel() == 0 {
        return Ok(());
    }
    let part = |start: isize| -> Result<Tensor> {
        Ok(super::arrange::through(x, x.layout().slice(axis as isize, Some(start), None, 2)?))
    };
    let (odd, pairs) = (part(1)?, n / 2);
    let first = |t: Tensor, count: isize| -> Result<Tensor> {
        Ok(super::arrange::through(&t, t.layout().narrow(axis as isize, 0, count)?))
    };
    log_add(&odd, &first(part(0)?, pairs)?)?;
    log_sums(&odd, axis)?;
    let even = part(2)?;
    let rest = even.shape()[axis] as isize;
    log_add(&even, &first(odd, rest)?)
}

/// `to` becomes `log(exp(to) + exp(other))`; of complex numbers that with the larger real part leads.
fn log_add(to: &Tensor, other: &Tensor) -> Result<()> {
    if to.dtype().is_complex() && to.device() != crate::Device::META {
        let leads = to.real()?.ge(&other.real()?)?;
        let (high, low) = (Tensor::where_cond(&leads, to, other)?, Tensor::where_cond(&leads, other, to)?);
        let sum = high.add(&low.sub(&high)?.exp()?.add(1.0)?.log()?)?;
        let nothing = high.real()?.eq(f64::NEG_INFINITY)?;
        return exec::copy(to, &Tensor::where_cond(&nothing, &high, &sum)?);
    }
    exec::map("logcumsumexp", &LOG_ADD, &[], compute_type(to.dtype()), &[to], &[to, other])
}

/// `exp(x) * reverse cumsum(g / exp(y))`, in logarithms, apart for positive and negative `g`.
fn logcumsumexp_grad(cx: &GradCx<'_>) -> Result<Grads> {
    let (g, x, y, dim) = (cx.grad(0)?, cx.input(0)?, cx.output(0)?, *cx.arg::<i64>(1)?);
    if g.numel() == 0 || g.dim() == 0 {
        return Ok(smallvec![Some(g)]);
    }
    if g.dtype().is_complex() {
        let back = g.conj_physical()?.log()?.sub(&y)?.flip(dim)?.logcumsumexp(dim)?.flip(dim)?;
        return Ok(smallvec![Some(back.add(&x)?.exp()?.conj_physical()?)]);
    }
    let low = f64::NEG_INFINITY;
    let part = |g: &Tensor| -> Result<Tensor> {
        let positive = g.detach()?.gt(0.0)?;
        let logs = Tensor::where_cond(&positive, g, 1.0)?.log()?;
        let back = logs.sub(&y)?;
        let back = Tensor::where_cond(&positive, &back, low)?.to_dtype(g.dtype())?;
        back.flip(dim)?.logcumsumexp(dim)?.flip(dim)?.add(&x)?.exp()
    };
    Ok(smallvec![Some(part(&g)?.sub(&part(&g.neg()?)?)?)])
}

fn diff(x: &Tensor, n: i64, dim: i64, prepend: Option<&Tensor>, append: Option<&Tensor>) -> Result<Tensor> {
    let op = "diff";
    ensure!(x.dim() > 0, Runtime, op, "a 0-d tensor has no neighbours");
    let axis = dim_index(op, dim as isize, x.dim())? as i64;
    ensure!(n >= 0, Runtime, op, "n = {n} is negative");
    for (name, t) in [("prepend", prepend), ("append", append)] {
        let Some(t) = t else { continue };
        let fits =
            t.dim() == x.dim() && (0..x.dim()).all(|d| d == axis as usize || t.shape()[d] == x.shape()[d]);
        ensure!(
            fits,
            Runtime,
            op,
            "{name} of shape {:?} does not fit shape {:?} outside of dimension {axis}",
            t.shape(),
            x.shape()
        );
    }
    if n == 0 {
        return x.copy();
    }
    let parts: Vec<&Tensor> = prepend.into_iter().chain([x]).chain(append).collect();
    let mut all = if parts.len() > 1 { Tensor::cat(&parts, axis)? } else { x.clone() };
    // After as many rounds nothing is left.
    for _ in 0..n.min(all.shape()[axis as usize] as i64) {
        let len = all.shape()[axis as usize] as i64;
        let (right, left) =
            (all.narrow(axis, len.min(1), (len - 1).max(0))?, all.narrow(axis, 0, (len - 1).max(0))?);
        all = if all.dtype() == DType::Bool { right.logical_xor(&left)? } else { right.sub(&left)? };
    }
    Ok(all)
}

/// A tensor without its first, and without its last place along `dim`.
fn sides(x: &Tensor, dim: i64) -> Result<(Tensor, Tensor)> {
    Ok((x.slice(dim, Some(1), None, 1)?, x.slice(dim, None, Some(-1), 1)?))
}

fn area_at(op: &'static str, y: &Tensor, x: &Tensor, dim: i64, running: bool) -> Result<Tensor> {
    let d = existing(op, y, dim)?;
    if y.shape()[d] == 0 && !running {
        return y.sum(dim, false);
    }
    ensure!(
        y.dtype() != DType::Bool && x.dtype() != DType::Bool,
        Runtime,
        op,
        "is not defined for bool; convert with to_dtype"
    );
    let x = if x.dim() == 1 {
        ensure!(
            x.shape()[0] == y.shape()[d],
            Runtime,
            op,
            "there must be one x for each of the {} samples, not {}",
            y.shape()[d],
            x.shape()[0]
        );
        let mut shape = vec![1i64; y.dim()];
        shape[d] = -1;
        x.reshape(shape)?
    } else if x.dim() < y.dim() {
        let lead = vec![1usize; y.dim() - x.dim()];
        x.reshape([lead.as_slice(), x.shape()].concat())?
    } else {
        x.clone()
    };
    // Counted from the end: x may have more dimensions.
    let back = d as i64 - y.dim() as i64;
    let at = if x.dim() > y.dim() { d as i64 } else { back };
    let (x_right, x_left) = sides(&x, at)?;
    let (right, left) = sides(y, d as i64)?;
    let twice = right.add(&left)?.mul(&x_right.sub(&x_left)?)?;
    if running { twice.div(2.0)?.cumsum(at) } else { twice.sum(at, false)?.div(2.0) }
}

fn existing(op: &'static str, y: &Tensor, dim: i64) -> Result<usize> {
    ensure!(y.dim() > 0, Index, op, "a 0-d tensor has no dimension {dim}");
    dim_index(op, dim as isize, y.dim())
}

fn area(op: &'static str, y: &Tensor, dx: Number, dim: i64, running: bool) -> Result<Tensor> {
    let d = existing(op, y, dim)? as i64;
    if y.shape()[d as usize] == 0 && !running {
        return y.sum(dim, false);
    }
    ensure!(y.dtype() != DType::Bool, Runtime, op, "is not defined for bool; convert with to_dtype");
    if running {
        let (right, left) = sides(y, d)?;
        return right.add(&left)?.mul(dx)?.div(2.0)?.cumsum(d);
    }
    let ends = y.select(d, 0)?.add(&y.select(d, -1)?)?.mul(0.5)?;
    y.sum(d, false)?.sub(&ends)?.mul(dx)
}

#[derive(Clone, Copy)]
enum Spacing<'a> {
    Even(Number),
    At(&'a [Tensor]),
}

fn gradient(x: &Tensor, spacing: Spacing<'_>, dim: &Dims, order: i64) -> Result<Vec<Tensor>> {
    let op = "gradient";
    ensure!(x.dtype() != DType::U8, Runtime, op, "is not defined for uint8; convert with to_dtype");
    ensure!(matches!(order, 1 | 2), Runtime, op, "edge_order is 1 or 2, not {order}");
    let dims: Vec<i64> = match dim {
        Dims::All => (0..x.dim() as i64).collect(),
        Dims::List(list) => list
            .iter()
            .map(|d| Ok(crate::layout::existing_dim(op, *d, x.dim())? as i64))
            .collect::<Result<_>>()?,
    };
    dim.mask(op, x.dim())?;
    for d in &dims {
        let n = x.shape()[*d as usize];
        ensure!(
            n as i64 > order,
            Runtime,
            op,
            "dimension {d} of size {n} is too short for edge_order {order}; it needs {} places",
            order + 1
        );
    }
    if let Spacing::At(places) = spacing {
        ensure!(
            places.len() == dims.len(),
            Runtime,
            op,
            "there are {} vectors of places for {} dimensions",
            places.len(),
            dims.len()
        );
    }
    dims.iter()
        .enumerate()
        .map(|(k, d)| match spacing {
            Spacing::Even(step) => slope(x, step, *d, order),
            Spacing::At(places) => slope_at(x, &places[k], *d, order),
        })
        .collect()
}

fn slope(x: &Tensor, step: Number, d: i64, order: i64) -> Result<Tensor> {
    let at = |i: i64| x.slice(d, Some(i), if i == -1 { None } else { Some(i + 1) }, 1);
    let centre = x.slice(d, Some(2), None, 1)?.sub(&x.slice(d, None, Some(-2), 1)?)?.mul(0.5)?;
    let edge = |a: i64, b: i64, c: i64| -> Result<Tensor> {
        at(a)?.mul(-1.5)?.add(&at(b)?.mul(2.0)?)?.sub(&at(c)?.mul(0.5)?)
    };
    let (first, last) = if order == 1 {
        (at(1)?.sub(&at(0)?)?.mul(1.0)?, at(-1)?.sub(&at(-2)?)?.mul(1.0)?)
    } else {
        (edge(0, 1, 2)?, edge(-1, -2, -3)?.neg()?)
    };
    Tensor::cat(&[&first, &centre, &last], d)?.div(step)
}

/// With distances h to the left and k to the right of a place, the parabola through the three values
/// has the slope `-k / (h (h + k)) f0 + (k - h) / (h k) f1 + h / (k (h + k)) f2` there.
fn slope_at(x: &Tensor, places: &Tensor, d: i64, order: i64) -> Result<Tensor> {
    let op = "gradient";
    let n = x.shape()[d as usize] as i64;
    ensure!(places.dim() == 1, Runtime, op, "places must be a vector, not of shape {:?}", places.shape());
    ensure!(
        places.shape()[0] as i64 == n,
        Runtime,
        op,
        "{} places for dimension {d} of size {n}; there must be one each",
        places.shape()[0]
    );
    let mut shape = vec![1i64; x.dim()];
    shape[d as usize] = -1;
    let step = places.diff(1, 0, None, None)?.reshape(shape)?;
    let dx = |i: i64| step.select(d, i)?.unsqueeze(d);
    let at = |i: i64| x.slice(d, Some(i), if i == -1 { None } else { Some(i + 1) }, 1);
    let (h, k) = (step.slice(d, None, Some(-1), 1)?, step.slice(d, Some(1), None, 1)?);
    let both = h.add(&k)?;
    let a = k.neg()?.div(&h.mul(&both)?)?.mul(&x.slice(d, None, Some(-2), 1)?)?;
    let b = k.sub(&h)?.div(&h.mul(&k)?)?.mul(&x.slice(d, Some(1), Some(-1), 1)?)?;
    let c = h.div(&k.mul(&both)?)?.mul(&x.slice(d, Some(2), None, 1)?)?;
    let centre = a.add(&b)?.add(&c)?;
    // The slope of that parabola at its first place, of steps h and k away from it.
    let edge = |h: Tensor, k: Tensor, f: [i64; 3]| -> Result<Tensor> {
        let both = h.add(&k)?;
        let a = h.mul(2.0)?.add(&k)?.neg()?.div(&h.mul(&both)?)?.mul(&at(f[0])?)?;
        let b = both.div(&h.mul(&k)?)?.mul(&at(f[1])?)?;
        let c = h.neg()?.div(&k.mul(&both)?)?.mul(&at(f[2])?)?;
        a.add(&b)?.add(&c)
    };
    let (first, last) = if order == 1 {
        (at(1)?.sub(&at(0)?)?.div(&dx(0)?)?, at(-1)?.sub(&at(-2)?)?.div(&dx(-1)?)?)
    } else {
        (edge(dx(0)?, dx(1)?, [0, 1, 2])?, edge(dx(-1)?, dx(-2)?, [-1, -2, -3])?.neg()?)
    };
    Tensor::cat(&[&first, &centre, &last], d)
}

fn line_samples() -> Vec<Sample> {
    let cases: [(&[usize], i64); 7] =
        [(&[3, 4], 1), (&[3, 5], 0), (&[2, 7, 2], -2), (&[9], 0), (&[], 0), (&[0, 3], 0), (&[1], -1)];
    cases.into_iter().filter_map(|(s, d)| one(s, [Value::Int(d)])).collect()
}

fn optional(shape: &[usize]) -> Value {
    Value::OptTensor(samples::values(shape, 9).ok())
}

fn diff_samples() -> Vec<Sample> {
    let none = || Value::OptTensor(None);
    [
        one(&[3, 5], [Value::Int(1), Value::Int(-1), none(), none()]),
        one(&[3, 5], [Value::Int(2), Value::Int(0), none(), none()]),
        one(&[3, 5], [Value::Int(1), Value::Int(1), optional(&[3, 2]), optional(&[3, 1])]),
        one(&[4], [Value::Int(0), Value::Int(0), none(), optional(&[2])]),
        one(&[2], [Value::Int(5), Value::Int(0), none(), none()]),
        one(&[0, 2], [Value::Int(1), Value::Int(0), none(), none()]),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn area_samples() -> Vec<Sample> {
    let cases: [(&[usize], i64); 4] = [(&[3, 5], -1), (&[4, 2], 0), (&[1], 0), (&[0, 3], 0)];
    let mut all = Vec::new();
    for (shape, d) in cases {
        all.extend(one(shape, [Value::Number(Number::Float(0.5)), Value::Int(d)]));
    }
    all.retain(|s| s.args[0].tensors().iter().all(|t| t.numel() > 0));
    all
}

fn area_at_samples() -> Vec<Sample> {
    let cases: [(&[usize], &[usize], i64); 4] =
        [(&[3, 5], &[5], -1), (&[4, 2], &[4, 2], 0), (&[3, 4], &[4], 1), (&[2, 3, 4], &[3, 1], 1)];
    let sample = |(y, x, d): (&[usize], &[usize], i64)| {
        one(y, [Value::Tensor(samples::values(x, 3).ok()?), Value::Int(d)])
    };
    cases.into_iter().filter_map(sample).collect()
}

fn gradient_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for order in [1, 2] {
        for (shape, dim) in [(&[3, 5][..], Dims::All), (&[3, 4], Dims::from(-1)), (&[6], Dims::from(0))] {
            all.extend(one(shape, [Value::Number(Number::Float(0.5)), Value::Dims(dim), Value::Int(order)]));
        }
    }
    all
}

fn gradient_at_samples() -> Vec<Sample> {
    let places =
        |n: i64| Tensor::arange(0, n, 1).and_then(|t| t.to_dtype(DType::F64)?.square()?.add(1.0)).ok();
    let mut all = Vec::new();
    for order in [1, 2] {
        for (shape, dim) in [(&[3, 5][..], Dims::All), (&[3, 4], Dims::from(-1)), (&[6], Dims::from(0))] {
            let sizes: Vec<i64> = match dim {
                Dims::All => shape.iter().map(|n| *n as i64).collect(),
                _ => vec![shape[shape.len() - 1] as i64],
            };
            let list = sizes.into_iter().filter_map(places).collect();
            all.extend(one(shape, [Value::Tensors(list), Value::Dims(dim), Value::Int(order)]));
        }
    }
    all
}
