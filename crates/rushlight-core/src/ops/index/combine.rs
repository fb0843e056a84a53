//! Values that meet at one place combined there: `scatter_reduce`, `index_reduce`.

use super::super::view::one;
use super::{Rules, pick, same_dtype};
use crate::backend::ScatterOp;
use crate::exec;
use crate::grad::{GradCx, Grads};
use crate::layout::dim_index;
use crate::op::{Sample, Value, samples};
use crate::{DType, Device, Kind, Number, Result, Shape, Tensor, bail, ensure};
use smallvec::smallvec;

ops! { COMBINE;
    /// `src[i][j][k]` combined with `input[index[i][j][k]][j][k]` for `dim` 0, and so on. `reduce` is
    /// "sum", "prod", "mean", "amax" or "amin". Without `include_self` places that are written
    /// start from nothing instead of from the tensor's own value. Integer means are rounded down.
    ///
    /// ```
    /// # use rushlight::Tensor;
    /// let x = Tensor::from_vec(vec![1f32, 2., 3.], [3])?;
    /// let (index, src) = (Tensor::from_vec(vec![0i64, 0, 2], [3])?, Tensor::from_vec(vec![5f32, 6., 1.], [3])?);
    /// assert_eq!(x.scatter_reduce(0, &index, &src, "mean")?.to_vec::<f32>()?, [4., 2., 2.]);
    /// assert_eq!(x.scatter_reduce(0, &index, &src, "amax")?.to_vec::<f32>()?, [6., 2., 3.]);
    /// # Ok::<(), rushlight::Error>(())
    /// ```
    fn scatter_reduce / scatter_reduce_with, inplace scatter_reduce_ [out] (input: Tensor, dim: Int, index: Tensor, src: Tensor, reduce: Text; include_self: Bool = true) -> Tensor {
        run: combine(pick::rules("scatter_reduce"), input, *dim, index, src, How::of("scatter_reduce", reduce)?, *include_self),
        grad: [reads inputs 0 2 3; outputs 0] |cx| combine_grad(cx, &cx.input(2)?, &cx.input(3)?),
        samples: scatter_samples,
    }
    /// As `scatter_reduce`, with places along one dimension that all others share: `index` is a
    /// vector with one position for each place of `source`. `reduce` is "prod", "mean", "amax" or "amin".
    fn index_reduce / index_reduce_with, inplace index_reduce_ [out] (input: Tensor, dim: Int, index: Tensor, source: Tensor, reduce: Text; include_self: Bool = true) -> Tensor {
        run: super::index_reduce(input, *dim, index, source, reduce, *include_self),
        grad: [reads inputs 0 2 3; outputs 0] |cx| {
            let (index, source) = placed(&cx.info(0)?.shape, *cx.arg::<i64>(1)?, &cx.input(2)?, &cx.input(3)?)?;
            combine_grad(cx, &index, &source)
        },
        samples: index_samples,
    }
}

/// How values are combined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Sum,
    Prod,
    Mean,
    Max,
    Min,
}

impl How {
    fn of(op: &'static str, name: &str) -> Result<How> {
        Ok(match name {
            "sum" if op == "scatter_reduce" => How::Sum,
            "prod" => How::Prod,
            "mean" => How::Mean,
            "amax" => How::Max,
            "amin" => How::Min,
            _ => {
                let sum = if op == "scatter_reduce" { "\"sum\", " } else { "" };
                bail!(Runtime, op, "reduce is {sum}\"prod\", \"mean\", \"amax\" or \"amin\", not {name:?}")
            }
        })
    }
}

fn combine(
    rules: Rules,
    x: &Tensor,
    dim: i64,
    index: &Tensor,
    src: &Tensor,
    how: How,
    include: bool,
) -> Result<Tensor> {
    let op = rules.op;
    same_dtype(op, x, src)?;
    let dtype = x.dtype();
    ensure!(
        !(matches!(how, How::Max | How::Min) && dtype.is_complex()),
        NotImplemented,
        op,
        "complex numbers have no order"
    );
    ensure!(
        how != How::Mean || dtype != DType::Bool,
        NotImplemented,
        op,
        "the mean is not defined for bool; convert with to_dtype"
    );
    // Sums of many halves would stop growing.
    let halves = matches!(dtype, DType::F16 | DType::BF16) && !matches!(how, How::Max | How::Min);
    let (x, src) =
        if halves { (x.to_dtype(DType::F32)?, src.to_dtype(DType::F32)?) } else { (x.clone(), src.clone()) };
    let out = x.detach()?.writable()?;
    let put = |how: ScatterOp, value: &Tensor| pick::place(rules, how, &out, dim, index, value);
    if !include {
        match how {
            How::Sum | How::Mean => put(ScatterOp::Set, &constant(&src, 0)?)?,
            How::Prod => put(ScatterOp::Set, &constant(&src, 1)?)?,
            // Any of the values may stand in for the place's own.
            How::Max | How::Min => put(ScatterOp::Set, &src)?,
        };
    }
    match how {
        How::Sum => put(ScatterOp::Add, &src)?,
        How::Prod => put(ScatterOp::Mul, &src)?,
        How::Max => put(ScatterOp::Max, &src)?,
        How::Min => put(ScatterOp::Min, &src)?,
        How::Mean => {
            put(ScatterOp::Add, &src)?;
            let n = counts(rules, &x, dim, index, include)?;
            if dtype.is_integral() { out.floor_divide(&n.to_dtype(dtype)?)? } else { out.div(&n)? }
        }
    }
    .to_dtype(dtype)
}

/// As many copies of a number, in one cell.
fn constant(like: &Tensor, value: i64) -> Result<Tensor> {
    Tensor::scalar_of(Number::Int(value), like.dtype(), like.device())?.expand(like.shape())
}

/// How many values each place combines, at least 1: int64, shaped like the tensor.
fn counts(rules: Rules, x: &Tensor, dim: i64, index: &Tensor, include: bool) -> Result<Tensor> {
    let start = Number::Int(i64::from(include));
    let n = Tensor::full_with(x.shape(), start, Some(DType::I64), Some(x.device()))?;
    let ones = Tensor::ones_with(index.shape(), Some(DType::I64), Some(x.device()))?;
    pick::place(rules, ScatterOp::Add, &n, dim, index, &ones)?.clamp_min(1)
}

/// The part of `src` that the index reaches.
fn reached(src: &Tensor, index: &Tensor) -> Result<Tensor> {
    if src.dim() != index.dim() {
        return src.reshape(index.shape());
    }
    let mut part = src.clone();
    for (d, n) in index.shape().iter().enumerate() {
        part = part.narrow(d as i64, 0, *n as i64)?;
    }
    Ok(part)
}

fn combine_grad(cx: &GradCx<'_>, index: &Tensor, src: &Tensor) -> Result<Grads> {
    let (g, x, y) = (cx.grad(0)?, cx.input(0)?, cx.output(0)?);
    let (dim, include) = (*cx.arg::<i64>(1)?, *cx.arg::<bool>(5)?);
    let (how, rules) = (How::of("scatter_reduce", cx.arg::<String>(4)?)?, pick::rules("scatter_reduce"));
    if index.numel() == 0 {
        return Ok(smallvec![Some(g), None, Some(cx.info(3)?.zeros()?)]);
    }
    let part = reached(src, index)?;
    let at = |t: &Tensor| t.gather(dim, index);
    let (own, values) = match how {
        How::Sum => (g.clone(), at(&g)?),
        How::Mean => {
            let shared = g.div(&counts(rules, &x, dim, index, include)?)?;
            (shared.clone(), at(&shared)?)
        }
        How::Max | How::Min => {
            let hit = |t: &Tensor, y: &Tensor| t.eq(y)?.to_dtype(g.dtype());
            let (mine, theirs) = (hit(&x, &y)?, hit(&part, &at(&y)?)?);
            let mine = if include { mine } else { mine.scatter(dim, index, 0)? };
            let shared = g.div(&mine.scatter_add(dim, index, &theirs)?)?;
            (shared.mul(&mine)?, at(&shared)?.mul(&theirs)?)
        }
        How::Prod => prod_grad(&g, &x, dim, index, &part, &y, include)?,
    };
    // A place that starts from nothing owes nothing to the tensor.
    let own = if include { own } else { own.scatter(dim, index, 0)? };
    let values = if src.shape() == cx.info(3)?.shape.as_slice() {
        pick::spread(&values, src.shape())?
    } else {
        values.reshape(&cx.info(3)?.shape)?
    };
    Ok(smallvec![Some(own), None, Some(values)])
}

/// The product of all other factors: the whole over one's own where that is not zero, else the
/// product with a 1 in its place.
fn prod_grad(
    g: &Tensor,
    x: &Tensor,
    dim: i64,
    index: &Tensor,
    src: &Tensor,
    y: &Tensor,
    include: bool,
) -> Result<(Tensor, Tensor)> {
    let product = |x: &Tensor, src: &Tensor| x.scatter_reduce_with(dim, index, src, "prod", include);
    let zero = |t: &Tensor| t.eq(0);
    let own_zero = zero(x)?;
    let whole = x.masked_fill(&own_zero, 1)?;
    let own = g.mul(&product(&whole, src)?.div(&whole)?.conj()?)?;
    let src_zero = zero(src)?;
    let ones = src_zero.to_dtype(DType::I64)?;
    let none = Tensor::full_with(x.shape(), 0, Some(DType::I64), Some(x.device()))?;
    let zeros = none.scatter_add(dim, index, &ones)?.gather(dim, index)?;
    let several = src_zero.logical_and(&zeros.gt(1)?)?;
    if crate::grad::is_grad_enabled()
        && x.device() != Device::META
        && several.any((), false)?.item()?.to_bool()
    {
        bail!(
            NotImplemented,
            "scatter_reduce",
            "the gradient of the gradient of a product is not known where several factors of one place are zero"
        )
    }
    let single = src_zero.logical_and(&zeros.eq(1)?)?;
    let without = product(x, &src.masked_fill(&single, 1)?)?.gather(dim, index)?;
    let divided = y.gather(dim, index)?.div(&src.masked_fill(&src_zero, 1)?)?;
    let others = Tensor::where_cond(&single, &without, &divided)?;
    Ok((own, g.gather(dim, index)?.mul(&others.conj()?)?))
}

/// The index and the source of `index_reduce` as those of `scatter_reduce`.
fn placed(shape: &[usize], dim: i64, index: &Tensor, source: &Tensor) -> Result<(Tensor, Tensor)> {
    let op = "index_reduce";
    let d = dim_index(op, dim as isize, shape.len())?;
    ensure!(index.dim() <= 1, Index, op, "the index must be a vector, not of shape {:?}", index.shape());
    let mut wide: Shape = if shape.is_empty() { smallvec![1] } else { shape.into() };
    wide[d] = index.numel();
    let given: Shape = if source.dim() == 0 { smallvec![1] } else { source.shape().into() };
    ensure!(
        given == wide,
        Runtime,
        op,
        "a source of shape {:?} does not fit {} places along dimension {d} of shape {shape:?}",
        source.shape(),
        index.numel()
    );
    let mut line: Shape = smallvec![1; wide.len()];
    line[d] = index.numel();
    Ok((index.reshape(line)?.expand(&wide)?, source.reshape(&wide)?))
}

fn index_reduce(
    x: &Tensor,
    dim: i64,
    index: &Tensor,
    source: &Tensor,
    reduce: &str,
    include: bool,
) -> Result<Tensor> {
    let op = "index_reduce";
    let how = How::of(op, reduce)?;
    exec::common_device(op, [x, index, source])?;
    let (index, source) = placed(x.shape(), dim, index, source)?;
    combine(Rules { op, kind: Kind::Index, wrap: false }, x, dim, &index, &source, how, include)
}

const REDUCES: [&str; 5] = ["sum", "prod", "mean", "amax", "amin"];

fn scatter_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for reduce in REDUCES {
        for include in [true, false] {
            for (shape, d, at, list) in pick::cases() {
                let make = || {
                    let (index, src) = (Tensor::from_vec(list, at).ok()?, samples::values(at, 17).ok()?);
                    let how = [Value::Text(reduce.into()), Value::Bool(include)];
                    one(
                        shape,
                        [Value::Int(d), Value::Tensor(index), Value::Tensor(src)].into_iter().chain(how),
                    )
                };
                all.extend(make());
            }
        }
    }
    all
}

fn index_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for reduce in &REDUCES[1..] {
        for include in [true, false] {
            let cases: [(&[usize], i64, Vec<i64>, &[usize]); 4] = [
                (&[4, 3], 0, vec![2, 0, 2], &[3, 3]),
                (&[2, 5], -1, vec![4, 1], &[2, 2]),
                (&[3], 0, vec![], &[0]),
                (&[], 0, vec![0], &[]),
            ];
            all.extend(cases.into_iter().filter_map(|(s, d, list, at)| {
                let n = list.len();
                let (index, src) = (Tensor::from_vec(list, [n]).ok()?, samples::values(at, 23).ok()?);
                let how = [Value::Text((*reduce).into()), Value::Bool(include)];
                one(s, [Value::Int(d), Value::Tensor(index), Value::Tensor(src)].into_iter().chain(how))
            }));
        }
    }
    all
}
