//! Reductions over any dimensions.

use crate::backend::{Reduce, ReduceOp, Stage};
use crate::exec;
use crate::op::{Args, Sample, Value};
use crate::op::{Dims, compute_type, samples};
use crate::{DType, Layout, Result, Shape, Tensor, ensure};
use smallvec::smallvec;

ops! { REDUCE;
    /// Sum over `dim` (all dimensions by default). Bool and integers sum to int64.
    ///
    /// ```
    /// # use rushlight::Tensor;
    /// let x = Tensor::from_vec(vec![1f32, 2., 3., 4.], [2, 2])?;
    /// assert_eq!(x.sum(0, false)?.to_vec::<f32>()?, [4., 6.]);
    /// # Ok::<(), rushlight::Error>(())
    /// ```
    fn sum / sum_with (input: Tensor, dim: Dims = (), keepdim: Bool = false; dtype: OptDType = None) -> Tensor {
        run: super::sum(input, dim, *keepdim, *dtype),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(spread(&cx.grad(0)?, &cx.info(0)?.shape, cx.arg::<Dims>(1)?, *cx.arg::<bool>(2)?)?)]),
        samples: reduction_samples,
    }
    /// Whether all elements are true (not zero). `uint8` gives `uint8`, all else bool.
    fn all (input: Tensor, dim: Dims = (), keepdim: Bool = false) -> Tensor {
        run: truth(ReduceOp::All, input, dim, *keepdim),
        samples: reduction_samples_short,
    }
    /// Whether any element is true (not zero). `uint8` gives `uint8`, all else bool.
    fn any (input: Tensor, dim: Dims = (), keepdim: Bool = false) -> Tensor {
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
    Ok(Tensor::assemble(out.0.storage.clone(), layout, plan.result, None, None))
}

/// The dimensions to reduce; an empty list means all, as in torch's sum, mean, amax ...
pub(crate) fn axes(op: &'static str, x: &Tensor, dim: &Dims) -> Result<u64> {
    match dim {
        Dims::List(list) if list.is_empty() => Dims::All.mask(op, x.dim()),
        other => other.mask(op, x.dim()),
    }
}

fn sum(x: &Tensor, dim: &Dims, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    let result = dtype.unwrap_or(x.dtype().accumulated());
    let x = if dtype.is_some_and(|d| d != x.dtype()) { x.to_dtype(result)? } else { x.clone() };
    let axes = axes("sum", &x, dim)?;
    reduce(
        &Plan {
            op: "sum",
            kind: ReduceOp::Sum,
            common: result,
            result,
            axes,
            keepdim,
            pre: None,
            post: None,
        },
        &[&x],
    )
}

fn truth(kind: ReduceOp, x: &Tensor, dim: &Dims, keepdim: bool) -> Result<Tensor> {
    let op = if kind == ReduceOp::All { "all" } else { "any" };
    let result = if x.dtype() == DType::U8 { DType::U8 } else { DType::Bool };
    let axes = dim.mask(op, x.dim())?;
    reduce(&Plan { op, kind, common: x.dtype(), result, axes, keepdim, pre: None, post: None }, &[x])
}

/// A reduced tensor stretched back over the reduced dimensions: the backward of a sum, as a view.
pub(crate) fn spread(g: &Tensor, shape: &[usize], dim: &Dims, keepdim: bool) -> Result<Tensor> {
    let mask = match dim {
        Dims::List(list) if list.is_empty() => Dims::All.mask("sum", shape.len())?,
        other => other.mask("sum", shape.len())?,
    };
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
pub(crate) fn reduction_samples_short() -> Vec<Sample> {
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
