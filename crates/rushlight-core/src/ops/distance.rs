//! Distances between tensors and between rows of matrices, and what is limited or made by them.

use super::reduce::{Plan, reduce};
use super::view::one;
use crate::backend::{ReduceOp, Stage};
use crate::exec;
use crate::grad::{GradCx, Grads};
use crate::layout::broadcast_shapes;
use crate::op::{Sample, Value, samples};
use crate::program::{Program, Scalar, Sort, trace};
use crate::{DType, Number, Result, Shape, Tensor, bail, ensure};
use smallvec::smallvec;

ops! { DISTANCE;
    /// The `p`-norm of `input - other`.
    fn dist (input: Tensor, other: Tensor, p: Float = 2.0) -> Tensor {
        run: super::dist(input, other, *p),
        samples: dist_samples,
    }
    /// Each slice along `dim` whose `p`-norm is above `maxnorm` made shorter, to `maxnorm`.
    fn renorm, inplace renorm_ [out] (input: Tensor, p: Float, dim: Int, maxnorm: Float) -> Tensor {
        run: super::renorm(input, *p, *dim, *maxnorm),
        samples: renorm_samples,
    }
    /// The `p`-norm distance of each row of `x1` (shape `[.., P, M]`) from each of `x2` (`[.., R, M]`):
    /// `[.., P, R]`. Euclidean ones of more than 25 rows come from a matrix product, which is fast and
    /// less exact for rows that are close; `compute_mode` "donot_use_mm_for_euclid_dist" forbids it,
    /// "use_mm_for_euclid_dist" asks for it always.
    fn cdist (x1: Tensor, x2: Tensor, p: Float = 2.0, compute_mode: Text = "use_mm_for_euclid_dist_if_necessary") -> Tensor {
        run: super::cdist(x1, x2, *p, compute_mode),
        grad: [reads inputs 0 1; outputs 0] |cx| cdist_grad(cx),
        samples: cdist_samples,
    }
    /// The `p`-norm distances of the rows of a matrix, each pair once: those of row 0 from all later
    /// ones, then of row 1 and so on.
    fn pdist (input: Tensor, p: Float = 2.0) -> Tensor {
        run: super::pdist(input, *p),
        samples: pdist_samples,
    }
    /// The cross product of vectors of 3 along `dim`, without one along the first dimension of size 3.
    fn cross [out] (input: Tensor, other: Tensor, dim: OptInt = None) -> Tensor {
        run: super::cross(input, other, *dim),
        samples: cross_samples,
    }
}

fn dist(a: &Tensor, b: &Tensor, p: f64) -> Result<Tensor> {
    let away = a.sub(b)?;
    let away = if away.dtype().is_complex() { away.abs()? } else { away };
    // Powers of halves do not fit into halves.
    let wide = if away.dtype().is_half() { away.to_dtype(DType::F32)? } else { away.clone() };
    wide.norm(p, (), false).map_err(|e| e.in_op("dist"))?.to_dtype(away.dtype())
}

fn renorm(x: &Tensor, p: f64, dim: i64, limit: f64) -> Result<Tensor> {
    let op = "renorm";
    ensure!(p > 0.0, Runtime, op, "p = {p} must be positive");
    ensure!(limit >= 0.0, Runtime, op, "maxnorm = {limit} must not be negative");
    ensure!(x.dim() > 1, Runtime, op, "takes at least 2 dimensions, not shape {:?}", x.shape());
    let d = crate::layout::existing_dim(op, dim as isize, x.dim())?;
    let others: Vec<usize> = (0..x.dim()).filter(|k| *k != d).collect();
    let parts = if x.dtype().is_complex() { x.abs()? } else { x.clone() };
    let wide = if parts.dtype().is_half() { parts.to_dtype(DType::F32)? } else { parts };
    let norm = wide.norm(p, others, true).map_err(|e| e.in_op(op))?;
    // The small addend is torch's.
    let factor = norm.add(1e-7)?.reciprocal()?.mul(limit)?;
    let factor = Tensor::where_cond(&norm.detach()?.gt(limit)?, &factor, 1.0)?;
    let x = x.contiguous()?;
    if x.dtype().is_half() {
        x.to_dtype(DType::F32)?.mul(&factor)?.to_dtype(x.dtype())
    } else {
        x.mul(&factor)
    }
}

/// What one pair of coordinates adds to a distance, before the root.
fn term(p: f64, a: Scalar, b: Scalar) -> Scalar {
    let away = (a - b).abs();
    match p {
        0.0 => away.ne(0.0).from_truth(),
        2.0 => away * away,
        p if p == 1.0 || p.is_infinite() => away,
        p => away.pow(p),
    }
}

/// The gradient of a distance `d` that receives `g`, by one coordinate of the first row.
fn slope(p: f64, [a, b, g, d]: [Scalar; 4]) -> Scalar {
    let away = a - b;
    let none = Scalar::number(0.0);
    match p {
        0.0 => away * 0.0,
        1.0 => away.sign() * g,
        // Equal rows have no direction. What is not chosen must be finite, for gradients of this.
        2.0 => d.eq(0.0).select(none, away * g / d.eq(0.0).select(1.0, d)),
        p if p.is_infinite() => away.sign() * g * away.abs().eq(d).from_truth(),
        p => {
            let dead = away.eq(0.0) | d.eq(0.0);
            let (away, d) = (dead.select(1.0, away), dead.select(1.0, d));
            dead.select(none, away.sign() * away.abs().pow(p - 1.0) * g / d.pow(p - 1.0))
        }
    }
}

fn built(inputs: usize, f: impl FnOnce(&[Scalar]) -> Scalar) -> Result<Program> {
    trace(&vec![Sort::Num; inputs], 0, |x| vec![f(x)])
}

/// Both with one batch shape; the rows of the first against those of the second, broadcast.
fn paired(x1: &Tensor, x2: &Tensor) -> Result<(Tensor, Tensor)> {
    let op = "cdist";
    let batch = |t: &Tensor| -> Shape { t.shape()[..t.dim() - 2].into() };
    let joint = broadcast_shapes(op, &[&batch(x1), &batch(x2)])?;
    let with = |t: &Tensor| {
        let mut shape = joint.clone();
        shape.extend_from_slice(&t.shape()[t.dim() - 2..]);
        t.expand(shape)
    };
    Ok((with(x1)?, with(x2)?))
}

fn by_product(p: f64, mode: &str, rows: [usize; 2]) -> Result<bool> {
    let many = rows.iter().any(|n| *n > 25);
    Ok(match mode {
        "use_mm_for_euclid_dist_if_necessary" => p == 2.0 && many,
        "use_mm_for_euclid_dist" => p == 2.0,
        "donot_use_mm_for_euclid_dist" => false,
        _ => bail!(
            Value,
            "cdist",
            "compute_mode is \"use_mm_for_euclid_dist_if_necessary\", \"use_mm_for_euclid_dist\" or \"donot_use_mm_for_euclid_dist\", not {mode:?}"
        ),
    })
}

fn cdist(x1: &Tensor, x2: &Tensor, p: f64, mode: &str) -> Result<Tensor> {
    let op = "cdist";
    for (name, x) in [("x1", x1), ("x2", x2)] {
        ensure!(x.dtype().is_float(), Runtime, op, "{name} must hold floats, not {}", x.dtype());
        ensure!(x.dim() >= 2, Runtime, op, "{name} needs at least 2 dimensions, not shape {:?}", x.shape());
    }
    ensure!(
        x1.shape()[x1.dim() - 1] == x2.shape()[x2.dim() - 1],
        Runtime,
        op,
        "rows of shapes {:?} and {:?} must have one length",
        x1.shape(),
        x2.shape()
    );
    ensure!(p >= 0.0, Runtime, op, "p = {p} must not be negative");
    ensure!(
        x1.dtype() == x2.dtype(),
        Runtime,
        op,
        "x1 holds {}, x2 {}; they must be equal",
        x1.dtype(),
        x2.dtype()
    );
    exec::common_device(op, [x1, x2])?;
    let (a, b) = paired(&x1.detach()?, &x2.detach()?)?;
    let rows = [a.shape()[a.dim() - 2], b.shape()[b.dim() - 2]];
    let width = a.shape()[a.dim() - 1];
    if by_product(p, mode, rows)? && width > 0 {
        return euclidean(&a, &b);
    }
    let (a, b) = (a.unsqueeze(-2)?, b.unsqueeze(-3)?);
    let wide = broadcast_shapes(op, &[a.shape(), b.shape()])?;
    if width == 0 {
        return Tensor::zeros_with(&wide[..wide.len() - 1], Some(x1.dtype()), Some(x1.device()));
    }
    let pre = built(2, |x| term(p, x[0], x[1]))?;
    let post = match p {
        p if p == 0.0 || p == 1.0 || p.is_infinite() => None,
        2.0 => Some(built(1, |x| x[0].sqrt())?),
        p => Some(built(1, |x| x[0].pow(1.0 / p))?),
    };
    let plan = Plan {
        op,
        kind: if p.is_infinite() { ReduceOp::Max } else { ReduceOp::Sum },
        common: x1.dtype(),
        result: x1.dtype(),
        axes: 1 << (wide.len() - 1),
        keepdim: false,
        pre: Some(Stage { program: &pre, params: &[] }),
        post: post.as_ref().map(|program| Stage { program, params: &[] }),
    };
    reduce(&plan, &[&a.expand(&wide)?, &b])
}

/// `|a|^2 - 2 ab + |b|^2` as one product.
fn euclidean(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let square = |t: &Tensor| t.square()?.sum(-1, true);
    let ones = |t: &Tensor| Tensor::full_as(&t.narrow(-1, 0, 1)?.detach()?, Number::Int(1));
    let left = Tensor::cat(&[&a.mul(-2.0)?, &square(a)?, &ones(a)?.contiguous()?], -1)?;
    let right = Tensor::cat(&[b, &ones(b)?.contiguous()?, &square(b)?], -1)?;
    left.matmul(&right.transpose(-2, -1)?)?.clamp_min(0.0)?.sqrt()
}

fn cdist_grad(cx: &GradCx<'_>) -> Result<Grads> {
    let (g, a, b, d) = (cx.grad(0)?, cx.input(0)?, cx.input(1)?, cx.output(0)?);
    let p = *cx.arg::<f64>(2)?;
    let (wide_a, wide_b) = paired(&a, &b)?;
    let rows = [wide_a.shape()[wide_a.dim() - 2], wide_b.shape()[wide_b.dim() - 2]];
    let product = by_product(p, cx.arg::<String>(3)?, rows)?;
    let side = |wanted: bool,
                own: &Tensor,
                x: &Tensor,
                y: &Tensor,
                g: &Tensor,
                d: &Tensor|
     -> Result<Option<Tensor>> {
        if !wanted {
            return Ok(None);
        }
        if g.numel() == 0 || own.numel() == 0 {
            return Ok(Some(x.mul(0.0)?))
                .and_then(|t| t.map(|t| crate::grad::sum_to(&t, own.shape())).transpose());
        }
        let full = if product { pull(x, y, g, d)? } else { pulls(p, x, y, g, d)? };
        Ok(Some(crate::grad::sum_to(&full, own.shape())?))
    };
    let turned = |t: &Tensor| t.transpose(-2, -1);
    Ok(smallvec![
        side(cx.needs(0), &a, &wide_a, &wide_b, &g, &d)?,
        side(cx.needs(1), &b, &wide_b, &wide_a, &turned(&g)?, &turned(&d)?)?,
    ])
}

/// Euclidean gradients by the rows of `x`, by a matrix product.
fn pull(x: &Tensor, y: &Tensor, g: &Tensor, d: &Tensor) -> Result<Tensor> {
    let zero = d.detach()?.eq(0.0)?;
    let ratio = g.div(&Tensor::where_cond(&zero, 1.0, d)?)?.masked_fill(&zero, 0)?;
    x.mul(&ratio.sum(-1, true)?)?.sub(&ratio.matmul(y)?)
}

/// Gradients by the rows of `x`, without a matrix for each pair where nobody differentiates them.
fn pulls(p: f64, x: &Tensor, y: &Tensor, g: &Tensor, d: &Tensor) -> Result<Tensor> {
    let (x, y, g, d) = (x.unsqueeze(-2)?, y.unsqueeze(-3)?, g.unsqueeze(-1)?, d.unsqueeze(-1)?);
    if crate::grad::is_grad_enabled() {
        return Tensor::pointwise([&x, &y, &g, &d], |x| slope(p, x))?.sum(-2, false);
    }
    let wide = broadcast_shapes("cdist", &[x.shape(), y.shape()])?;
    let pre = built(4, |x| slope(p, [x[0], x[1], x[2], x[3]]))?;
    let plan = Plan {
        op: "cdist",
        kind: ReduceOp::Sum,
        common: x.dtype(),
        result: x.dtype(),
        axes: 1 << (wide.len() - 2),
        keepdim: false,
        pre: Some(Stage { program: &pre, params: &[] }),
        post: None,
    };
    reduce(&plan, &[&x.expand(&wide)?, &y, &g, &d])
}

fn pdist(x: &Tensor, p: f64) -> Result<Tensor> {
    let op = "pdist";
    ensure!(x.dim() == 2, Runtime, op, "takes a matrix, not shape {:?}", x.shape());
    ensure!(x.dtype().is_float(), Runtime, op, "takes floats, not {}; convert with to_dtype", x.dtype());
    ensure!(p >= 0.0, Runtime, op, "p = {p} must not be negative");
    let n = x.shape()[0] as i64;
    if n < 2 {
        return x.narrow(0, 0, 0)?.sum(1, false);
    }
    let all = Tensor::cdist(x, x, p, "donot_use_mm_for_euclid_dist").map_err(|e| e.in_op(op))?;
    // Row i of a square without its first i + 1 places.
    let place = Tensor::arange_with(0, n, 1, None, Some(x.device()))?;
    let counts = place.flip(0)?;
    let first = counts.cumsum(0)?.sub(&counts)?;
    let total = n * (n - 1) / 2;
    let row = Tensor::zeros_with([total], Some(DType::I64), Some(x.device()))?;
    let starts = first.narrow(0, 1, n - 2)?;
    let row = row
        .index_add_(0, &starts, &Tensor::ones_with([n - 2], Some(DType::I64), Some(x.device()))?)?
        .cumsum(0)?;
    let column = Tensor::arange_with(0, total, 1, None, Some(x.device()))?
        .sub(&first.gather(0, &row)?)?
        .add(&row)?
        .add(1)?;
    all.reshape(-1)?.index_select(0, &row.mul(n)?.add(&column)?)
}

fn cross(a: &Tensor, b: &Tensor, dim: Option<i64>) -> Result<Tensor> {
    let op = "cross";
    ensure!(
        a.dim() == b.dim(),
        Runtime,
        op,
        "shapes {:?} and {:?} must have the same number of dimensions",
        a.shape(),
        b.shape()
    );
    let joint = broadcast_shapes(op, &[a.shape(), b.shape()])?;
    let d = match dim {
        Some(d) => crate::layout::existing_dim(op, d as isize, a.dim())?,
        None => match a.shape().iter().position(|n| *n == 3) {
            Some(d) => d,
            None => bail!(Runtime, op, "no dimension of shape {:?} has size 3", a.shape()),
        },
    };
    ensure!(
        a.shape()[d] == 3 && b.shape()[d] == 3,
        Runtime,
        op,
        "dimension {d} of shapes {:?} and {:?} must have size 3",
        a.shape(),
        b.shape()
    );
    let (a, b, d) = (a.expand(&joint)?, b.expand(&joint)?, d as i64);
    let part = |t: &Tensor, i: i64| t.select(d, i);
    let coordinate = |i: i64, j: i64| part(&a, i)?.mul(&part(&b, j)?)?.sub(&part(&a, j)?.mul(&part(&b, i)?)?);
    Tensor::stack(&[&coordinate(1, 2)?, &coordinate(2, 0)?, &coordinate(0, 1)?], d)
}

fn two(a: &[usize], b: &[usize], rest: impl IntoIterator<Item = Value>) -> Option<Sample> {
    let other = Value::Tensor(samples::values(b, 8).ok()?);
    one(a, std::iter::once(other).chain(rest))
}

/// Differences of the samples tie, so their largest is at a kink.
fn smooth(p: f64, sample: Option<Sample>) -> Option<Sample> {
    sample.map(|s| Sample { grad: !p.is_infinite(), ..s })
}

fn dist_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for p in [2.0, 1.0, 3.0, f64::INFINITY] {
        all.extend(smooth(p, two(&[3, 4], &[3, 4], [Value::Float(p)])));
        all.extend(smooth(p, two(&[3, 4], &[4], [Value::Float(p)])));
    }
    all
}

fn renorm_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for (p, dim, limit) in [(2.0, 0, 1.0), (1.0, -1, 3.0), (f64::INFINITY, 1, 0.5), (2.5, 0, 100.0)] {
        all.extend(one(&[3, 4], [Value::Float(p), Value::Int(dim), Value::Float(limit)]));
        all.extend(one(&[2, 3, 2], [Value::Float(p), Value::Int(dim), Value::Float(limit)]));
    }
    all
}

fn cdist_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    let modes =
        ["use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"];
    for (k, p) in [2.0, 2.0, 2.0, 0.0, 1.0, 1.5, 3.0, f64::INFINITY].into_iter().enumerate() {
        for (a, b) in
            [(&[3, 4][..], &[5, 4][..]), (&[2, 1, 3, 2], &[2, 4, 2]), (&[0, 3], &[2, 3]), (&[2, 0], &[3, 0])]
        {
            let mode = Value::Text(modes[k.min(2)].into());
            all.extend(smooth(p, two(a, b, [Value::Float(p), mode])));
        }
    }
    all
}

fn pdist_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for p in [2.0, 1.0, 3.0, f64::INFINITY] {
        for shape in [&[4, 3][..], &[2, 2], &[1, 3], &[0, 2]] {
            all.extend(smooth(p, one(shape, [Value::Float(p)])));
        }
    }
    all
}

fn cross_samples() -> Vec<Sample> {
    [
        two(&[3, 4], &[3, 4], [Value::OptInt(None)]),
        two(&[4, 3], &[1, 3], [Value::OptInt(Some(-1))]),
        two(&[2, 3, 2], &[2, 3, 2], [Value::OptInt(Some(1))]),
        two(&[3], &[3], [Value::OptInt(None)]),
        two(&[0, 3], &[0, 3], [Value::OptInt(Some(1))]),
    ]
    .into_iter()
    .flatten()
    .collect()
}
