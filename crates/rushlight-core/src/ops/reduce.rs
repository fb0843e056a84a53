//! Reductions over any dimensions.

use crate::backend::{Reduce, ReduceOp, Stage};
use crate::exec;
use crate::grad::GradCx;
use crate::op::{Args, Sample, Value};
use crate::op::{Dims, compute_type, samples};
use crate::program::{Program, Sort, trace};
use crate::{DType, Layout, Number, Result, Shape, Tensor, ensure};
use smallvec::smallvec;
use std::sync::LazyLock;

ops! { REDUCE;
    /// Sum over `dim` (all dimensions by default). Bool and integers sum to int64.
    ///
    /// ```
    /// # use rushlight::Tensor;
    /// let x = Tensor::from_vec(vec![1f32, 2., 3., 4.], [2, 2])?;
    /// assert_eq!(x.sum(0, false)?.to_vec::<f32>()?, [4., 6.]);
    /// # Ok::<(), rushlight::Error>(())
    /// ```
    fn sum / sum_with [out] (input: Tensor, dim: Dims = (), keepdim: Bool = false; dtype: OptDType = None) -> Tensor {
        run: accumulated("sum", ReduceOp::Sum, input, dim, *keepdim, *dtype),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(spread(&cx.grad(0)?, &cx.info(0)?.shape, cx.arg::<Dims>(1)?, *cx.arg::<bool>(2)?)?)]),
        samples: reduction_samples,
    }
    /// Mean over `dim` (all dimensions by default). Floats and complex numbers only; `dtype` casts first.
    fn mean / mean_with [out] (input: Tensor, dim: Dims = (), keepdim: Bool = false; dtype: OptDType = None) -> Tensor {
        run: super::mean(input, dim, *keepdim, *dtype),
        grad: [reads inputs; outputs] |cx| {
            let (g, info) = (cx.grad(0)?, cx.info(0)?);
            let count = info.shape.iter().product::<usize>() / cx.result(0).shape.iter().product::<usize>().max(1);
            Ok(smallvec![Some(spread(&g.div(count as f64)?, &info.shape, cx.arg::<Dims>(1)?, *cx.arg::<bool>(2)?)?)])
        },
        samples: reduction_samples,
    }
    /// Product over `dim`; all dimensions by default. Bool and integers give int64.
    fn prod / prod_with [out] (input: Tensor, dim: Dims = (), keepdim: Bool = false; dtype: OptDType = None) -> Tensor {
        run: accumulated("prod", ReduceOp::Prod, input, dim, *keepdim, *dtype),
        grad: [reads inputs 0; outputs] |cx| Ok(smallvec![Some(prod_grad(cx)?)]),
        samples: reduction_samples,
    }
    /// Largest element over `dim`; ties share the gradient, NaN wins.
    fn amax [out] (input: Tensor, dim: Dims = (), keepdim: Bool = false) -> Tensor {
        run: extremum("amax", ReduceOp::Max, input, dim, *keepdim),
        grad: [reads inputs 0; outputs 0] |cx| Ok(smallvec![Some(extremum_grad(cx)?)]),
        samples: reduction_samples_short,
    }
    /// Smallest element over `dim`; ties share the gradient, NaN wins.
    fn amin [out] (input: Tensor, dim: Dims = (), keepdim: Bool = false) -> Tensor {
        run: extremum("amin", ReduceOp::Min, input, dim, *keepdim),
        grad: [reads inputs 0; outputs 0] |cx| Ok(smallvec![Some(extremum_grad(cx)?)]),
        samples: reduction_samples_short,
    }
    /// Largest element of all, as `amax` without dimensions; an error when there is none.
    fn max_all as max [out] (input: Tensor) -> Tensor {
        run: input.amax((), false).map_err(|e| e.in_op("max")),
        samples: whole_samples,
    }
    /// Smallest element of all, as `amin` without dimensions; an error when there is none.
    fn min_all as min [out] (input: Tensor) -> Tensor {
        run: input.amin((), false).map_err(|e| e.in_op("min")),
        samples: whole_samples,
    }
    /// Position of the first largest element along `dim` (of the flattened tensor without one); NaN wins.
    fn argmax [out] (input: Tensor, dim: OptInt = None, keepdim: Bool = false) -> Tensor {
        run: position("argmax", ReduceOp::ArgMax, input, *dim, *keepdim),
        samples: position_samples,
    }
    /// Position of the first smallest element along `dim` (of the flattened tensor without one); NaN wins.
    fn argmin [out] (input: Tensor, dim: OptInt = None, keepdim: Bool = false) -> Tensor {
        run: position("argmin", ReduceOp::ArgMin, input, *dim, *keepdim),
        samples: position_samples,
    }
    /// Whether all elements are true (not zero). `uint8` gives `uint8`, all else bool.
    fn all [out] (input: Tensor, dim: Dims = (), keepdim: Bool = false) -> Tensor {
        run: truth(ReduceOp::All, input, dim, *keepdim),
        samples: reduction_samples_short,
    }
    /// Whether any element is true (not zero). `uint8` gives `uint8`, all else bool.
    fn any [out] (input: Tensor, dim: Dims = (), keepdim: Bool = false) -> Tensor {
        run: truth(ReduceOp::Any, input, dim, *keepdim),
        samples: reduction_samples_short,
    }
}

/// One reduction of `pre(ins)`: the result has size 1 (or no) dimension for each one in `axes`.
pub(crate) struct Plan<'a> {
    pub op: &'static str,
    pub kind: ReduceOp,
    /// The dtype to compute in.
    pub common: DType,
    pub result: DType,
    pub axes: u64,
    pub keepdim: bool,
    pub pre: Option<Stage<'a>>,
    pub post: Option<Stage<'a>>,
}

pub(crate) fn reduce(plan: &Plan<'_>, ins: &[&Tensor]) -> Result<Tensor> {
    let first = ins[0];
    let kept: Shape =
        first.shape().iter().enumerate().map(|(d, n)| if plan.axes >> d & 1 == 1 { 1 } else { *n }).collect();
    let out = Tensor::alloc(Layout::contiguous(kept)?, plan.result, first.device())?;
    let wide: Result<Vec<Layout>> = ins.iter().map(|t| t.layout().broadcast_to(first.shape())).collect();
    let wide = wide?;
    let places: Vec<_> =
        ins.iter().zip(&wide).map(|(t, l)| crate::mem::Place { layout: l, ..t.place() }).collect();
    if out.numel() > 0 {
        exec::call(plan.op, &[&out], &places, |backend, outs, ins| {
            backend.reduce(&Reduce {
                op: plan.kind,
                ctype: compute_type(plan.common),
                pre: plan.pre,
                post: plan.post,
                out: outs[0],
                ins,
                axes: plan.axes,
            })
        })?;
    }
    if plan.keepdim {
        return Ok(out);
    }
    let shape: Shape =
        first.shape().iter().enumerate().filter(|(d, _)| plan.axes >> d & 1 == 0).map(|(_, n)| *n).collect();
    let layout = Layout::contiguous(shape)?;
    Ok(Tensor::assemble(out.storage().clone(), layout, plan.result, None, None))
}

/// The dimensions to reduce; an empty list means all, as in torch's sum, mean, amax ...
pub(crate) fn axes(op: &'static str, rank: usize, dim: &Dims) -> Result<u64> {
    match dim {
        Dims::List(list) if list.is_empty() => Dims::All.mask(op, rank),
        other => other.mask(op, rank),
    }
}

/// One reduction over whole elements, computed in the dtype of the result or of the operand,
/// whichever the numbers are of.
fn simple(
    op: &'static str,
    kind: ReduceOp,
    x: &Tensor,
    common: DType,
    result: DType,
    axes: u64,
    keepdim: bool,
) -> Result<Tensor> {
    reduce(&Plan { op, kind, common, result, axes, keepdim, pre: None, post: None }, &[x])
}

/// A sum or product: in `dtype`, else in what sums of the operand's dtype are held in.
fn accumulated(
    op: &'static str,
    kind: ReduceOp,
    x: &Tensor,
    dim: &Dims,
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Tensor> {
    let result = dtype.unwrap_or(x.dtype().accumulated());
    // Integers widen while they are summed; another dtype asked for counts before.
    let x = if dtype.is_some_and(|d| d != x.dtype()) { x.to_dtype(result)? } else { x.clone() };
    simple(op, kind, &x, result, result, axes(op, x.dim(), dim)?, keepdim)
}

fn truth(kind: ReduceOp, x: &Tensor, dim: &Dims, keepdim: bool) -> Result<Tensor> {
    let op = if kind == ReduceOp::All { "all" } else { "any" };
    let result = if x.dtype() == DType::U8 { DType::U8 } else { DType::Bool };
    simple(op, kind, x, x.dtype(), result, dim.mask(op, x.dim())?, keepdim)
}

fn mean(x: &Tensor, dim: &Dims, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    let result = dtype.unwrap_or(x.dtype());
    ensure!(
        result.is_differentiable(),
        NotImplemented,
        "mean",
        "is not defined for {result}; give dtype: Some(DType::F32), or convert with to_dtype"
    );
    let x = if result == x.dtype() { x.clone() } else { x.to_dtype(result)? };
    let axes = axes("mean", x.dim(), dim)?;
    let count: usize =
        x.shape().iter().enumerate().filter(|(d, _)| axes >> d & 1 == 1).map(|(_, n)| *n).product();
    let post = Stage { program: &SCALE, params: &[Number::Float(count as f64)] };
    reduce(
        &Plan {
            op: "mean",
            kind: ReduceOp::Sum,
            common: result,
            result,
            axes,
            keepdim,
            pre: None,
            post: Some(post),
        },
        &[&x],
    )
}

/// Divides a sum by a count, in the same pass.
static SCALE: LazyLock<Program> =
    LazyLock::new(|| exec::fixed(trace(&[Sort::Num], 1, |x| vec![x[0] / x[1]])));

/// The product of all others, without dividing: right also where elements are zero.
fn prod_grad(cx: &GradCx<'_>) -> Result<Tensor> {
    let (g, x) = (cx.grad(0)?, cx.input(0)?);
    let (dim, keepdim) = (cx.arg::<Dims>(1)?, *cx.arg::<bool>(2)?);
    let g = spread(&g.to_dtype(x.dtype())?, x.shape(), dim, keepdim)?;
    let mask = axes("prod", x.dim(), dim)?;
    // The reduced dimensions last and as one, then products of what lies before and after.
    let kept: Vec<i64> = (0..x.dim() as i64).filter(|d| mask >> d & 1 == 0).collect();
    let reduced: Vec<i64> = (0..x.dim() as i64).filter(|d| mask >> d & 1 == 1).collect();
    if reduced.is_empty() {
        return Ok(g);
    }
    let order: Vec<i64> = kept.iter().chain(&reduced).copied().collect();
    let moved = x.permute(order.as_slice())?;
    let lines: Vec<i64> = kept.iter().map(|d| x.shape()[*d as usize] as i64).chain([-1]).collect();
    if x.numel() == 0 {
        return x.mul(&g);
    }
    let flat = moved.reshape(lines.as_slice())?;
    let (last, n) = (flat.dim() as i64 - 1, flat.shape()[flat.dim() - 1] as i64);
    let one = Tensor::full_as(&flat.narrow(last, 0, 1)?.detach()?, Number::Int(1))?;
    let before = Tensor::cat(&[&one, &flat.narrow(last, 0, n - 1)?], last)?.cumprod(last)?;
    let back = flat.flip(last)?;
    let after = Tensor::cat(&[&one, &back.narrow(last, 0, n - 1)?], last)?.cumprod(last)?.flip(last)?;
    let others = before.mul(&after)?.reshape(moved.shape())?;
    let mut inverse = vec![0i64; order.len()];
    order.iter().enumerate().for_each(|(at, d)| inverse[*d as usize] = at as i64);
    others.permute(inverse.as_slice())?.conj_physical()?.mul(&g)
}

/// Refuses an extremum over nothing.
fn check_not_empty(op: &'static str, x: &Tensor, axes: u64, named: bool) -> Result<()> {
    let empty = x.shape().iter().enumerate().any(|(d, n)| *n == 0 && axes >> d & 1 == 1);
    // As torch: no dimension named is another mistake than a dimension without elements.
    let kind = if named || op.starts_with("arg") { crate::Kind::Index } else { crate::Kind::Runtime };
    if empty {
        let text = format!("shape {:?} has no element to choose along the reduced dimensions", x.shape());
        return Err(crate::Error::new(kind, op, text));
    }
    ensure!(!x.dtype().is_complex(), NotImplemented, op, "complex numbers have no order");
    Ok(())
}

fn extremum(op: &'static str, kind: ReduceOp, x: &Tensor, dim: &Dims, keepdim: bool) -> Result<Tensor> {
    let named = matches!(dim, Dims::List(list) if !list.is_empty());
    let axes = axes(op, x.dim(), dim)?;
    check_not_empty(op, x, axes, named)?;
    simple(op, kind, x, x.dtype(), x.dtype(), axes, keepdim)
}

/// The gradient goes to every element that equals the extremum, in equal shares.
fn extremum_grad(cx: &GradCx<'_>) -> Result<Tensor> {
    let (x, y) = (cx.input(0)?, cx.output(0)?);
    let (dim, keepdim) = (cx.arg::<Dims>(1)?, *cx.arg::<bool>(2)?);
    let wide = |t: &Tensor| spread(t, x.shape(), dim, keepdim);
    let hit = x.eq(&wide(&y)?)?.detach()?.to_dtype(x.dtype())?;
    let share = hit.sum(dim.clone(), keepdim)?;
    wide(&cx.grad(0)?.div(&share)?)?.mul(&hit)
}

fn position(op: &'static str, kind: ReduceOp, x: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
    ensure!(x.dtype() != DType::Bool, NotImplemented, op, "is not defined for bool; convert with to_dtype");
    let axes = dim.map_or(Dims::All, Dims::from).mask(op, x.dim())?;
    check_not_empty(op, x, axes, dim.is_some())?;
    simple(op, kind, x, x.dtype(), DType::I64, axes, keepdim)
}

fn position_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    let cases: [(&[usize], Option<i64>); 5] =
        [(&[3, 4], None), (&[3, 4], Some(0)), (&[2, 3, 4], Some(-1)), (&[], None), (&[5], Some(0))];
    for (salt, (shape, dim)) in cases.into_iter().enumerate() {
        let Ok(x) = samples::values(shape, salt) else { continue };
        for keepdim in [false, true] {
            all.push(Sample {
                args: smallvec![Value::Tensor(x.clone()), Value::OptInt(dim), Value::Bool(keepdim)],
                grad: false,
            });
        }
    }
    all
}

/// A reduced tensor stretched back over the reduced dimensions: the backward of a sum, as a view.
pub(crate) fn spread(g: &Tensor, shape: &[usize], dim: &Dims, keepdim: bool) -> Result<Tensor> {
    let mask = axes("sum", shape.len(), dim)?;
    let mut g = g.clone();
    if !keepdim {
        for d in (0..shape.len()).filter(|d| mask >> d & 1 == 1) {
            g = g.unsqueeze(d as i64)?;
        }
    }
    ensure!(
        g.dim() == shape.len(),
        Runtime,
        "sum",
        "a gradient of shape {:?} does not fit {shape:?}",
        g.shape()
    );
    g.expand(shape)
}

pub(crate) fn reduction_samples() -> Vec<Sample> {
    with_options(&[Value::OptDType(None)])
}
pub(crate) fn whole_samples() -> Vec<Sample> {
    let whole = |shape: &[usize]| {
        Some(Sample { args: smallvec![Value::Tensor(samples::values(shape, 1).ok()?)], grad: true })
    };
    [&[3, 4][..], &[], &[2, 1, 3]].into_iter().filter_map(whole).collect()
}

fn reduction_samples_short() -> Vec<Sample> {
    with_options(&[])
}

fn with_options(rest: &[Value]) -> Vec<Sample> {
    let cases: [(&[usize], Dims); 7] = [
        (&[3, 4], Dims::All),
        (&[3, 4], 0.into()),
        (&[2, 3, 4], [0, 2].into()),
        (&[2, 3, 4], (-2).into()),
        (&[], Dims::All),
        (&[2, 1, 3], 1.into()),
        (&[5], 0.into()),
    ];
    let mut all = Vec::new();
    for (salt, (shape, dim)) in cases.into_iter().enumerate() {
        let Ok(x) = samples::values(shape, salt) else { continue };
        for keepdim in [false, true] {
            let mut args: Args =
                smallvec![Value::Tensor(x.clone()), Value::Dims(dim.clone()), Value::Bool(keepdim)];
            args.extend(rest.iter().cloned());
            all.push(Sample { args, grad: true });
        }
    }
    all
}
