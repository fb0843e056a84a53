//! Sorting and selection along a dimension, NaN as the largest.
//!
//! - here: `sort`, `topk` and their kin;
//! - `select`: elements by their place in the order, without sorting;
//! - `distinct`: each value once, and which values are among others;
//! - `search`: where values belong in sorted ones.

pub mod distinct;
pub mod search;
pub mod select;

use crate::backend::Sort as SortCall;
use crate::exec;
use crate::grad::GradCx;
use crate::layout::dim_index;
use crate::op::{Sample, Value, samples};
use crate::{DType, Layout, Number, Result, Tensor, ensure};
use smallvec::smallvec;

ops! { ORDER;
    /// Sorted values along `dim` and the positions they came from; equal values keep their order.
    fn sort [out] (input: Tensor, dim: Int = -1, descending: Bool = false) -> (Tensor, Tensor) {
        run: sorted("sort", input, *dim, None, *descending),
        grad: [reads inputs; outputs 1] |cx| scatter_back(cx),
        samples: sort_samples,
    }
    /// Positions that would sort along `dim`.
    fn argsort (input: Tensor, dim: Int = -1, descending: Bool = false) -> Tensor {
        run: sorted("argsort", input, *dim, None, *descending).map(|(_, at)| at),
        samples: sort_samples,
    }
    /// Sorted values along the first dimension.
    fn msort [out] (input: Tensor) -> Tensor {
        run: input.sort(0, false).map(|(values, _)| values).map_err(|e| e.in_op("msort")),
        samples: super::super::view::plain_samples,
    }
    /// The `k` largest (or smallest) values along `dim`, in order, and their positions.
    fn topk [out] (input: Tensor, k: Int, dim: Int = -1, largest: Bool = true) -> (Tensor, Tensor) {
        run: super::topk(input, *k, *dim, *largest),
        grad: [reads inputs; outputs 1] |cx| scatter_back_topk(cx),
        samples: topk_samples,
    }
}

fn sorted(
    op: &'static str,
    x: &Tensor,
    dim: i64,
    k: Option<usize>,
    descending: bool,
) -> Result<(Tensor, Tensor)> {
    ensure!(!x.dtype().is_complex(), Type, op, "complex numbers have no order");
    let axis = dim_index(op, dim as isize, x.dim())?;
    let layout = match (k, x.dim()) {
        (Some(k), d) if d > 0 => {
            let mut shape: crate::Shape = x.shape().into();
            shape[axis] = k;
            Layout::contiguous(shape)?
        }
        (None, _) => x.like_layout()?,
        _ => Layout::scalar(),
    };
    let values = Tensor::alloc(layout.clone(), x.dtype(), x.device())?;
    let indices = Tensor::alloc(layout, DType::I64, x.device())?;
    if values.numel() > 0 {
        exec::call(op, &[&values, &indices], &[x.place()], |backend, outs, ins| {
            backend.sort(&SortCall {
                values: outs[0],
                indices: outs[1],
                input: ins[0],
                axis,
                descending,
                stable: true,
                from: None,
            })
        })?;
    }
    Ok((values, indices))
}

fn topk(x: &Tensor, k: i64, dim: i64, largest: bool) -> Result<(Tensor, Tensor)> {
    let axis = dim_index("topk", dim as isize, x.dim())?;
    let n = if x.dim() == 0 { 1 } else { x.shape()[axis] };
    ensure!(
        k >= 0 && k as usize <= n,
        Runtime,
        "topk",
        "k = {k} is not between 0 and {n}, the size of dimension {dim}"
    );
    sorted("topk", x, dim, Some(k as usize), largest)
}

/// A tensor of at least one dimension, and the axis to choose along, which must have elements.
fn lines(op: &'static str, x: &Tensor, dim: i64) -> Result<(Tensor, i64)> {
    let axis = dim_index(op, dim as isize, x.dim())?;
    let line = if x.dim() == 0 { x.reshape(1)? } else { x.clone() };
    ensure!(
        line.shape()[axis] > 0,
        Index,
        op,
        "dimension {dim} of shape {:?} has no element to choose",
        x.shape()
    );
    Ok((line, axis as i64))
}

fn axis_len(x: &Tensor, axis: usize) -> usize {
    x.shape().get(axis).copied().unwrap_or(1)
}

/// The elements at `places` (int64, size 1 along `axis`) of the order along `axis`, and where they are.
fn ranked(
    op: &'static str,
    x: &Tensor,
    axis: usize,
    places: &Tensor,
    keepdim: bool,
) -> Result<(Tensor, Tensor)> {
    let layout = Layout::contiguous(places.shape())?;
    let values = Tensor::alloc(layout.clone(), x.dtype(), x.device())?;
    let indices = Tensor::alloc(layout, DType::I64, x.device())?;
    if values.numel() > 0 {
        exec::call(op, &[&values, &indices], &[x.place(), places.place()], |backend, outs, ins| {
            backend.sort(&SortCall {
                values: outs[0],
                indices: outs[1],
                input: ins[0],
                axis,
                descending: false,
                stable: true,
                from: Some(ins[1]),
            })
        })?;
    }
    if keepdim {
        return Ok((values, indices));
    }
    let mut shape: crate::Shape = places.shape().into();
    shape.remove(axis);
    let layout = Layout::contiguous(shape)?;
    let flat = |t: &Tensor| super::arrange::through(t, layout.clone());
    Ok((flat(&values), flat(&indices)))
}

/// Gradients go back to where the values came from.
fn scatter_back(cx: &GradCx<'_>) -> Result<crate::grad::Grads> {
    place_back(cx, *cx.arg::<i64>(1)?, true)
}
fn scatter_back_topk(cx: &GradCx<'_>) -> Result<crate::grad::Grads> {
    place_back(cx, *cx.arg::<i64>(2)?, true)
}

/// As `scatter_back`, along `dim`, which the result has lost without `keepdim`.
fn place_back(cx: &GradCx<'_>, dim: i64, keepdim: bool) -> Result<crate::grad::Grads> {
    let (g, at, info) = (cx.grad(0)?, cx.output(1)?.detach()?, cx.info(0)?);
    if info.shape.is_empty() {
        return Ok(smallvec![Some(g)]);
    }
    let (g, at) = if keepdim {
        (g, at)
    } else {
        (g.unsqueeze(dim_of(dim, &info.shape))?, at.unsqueeze(dim_of(dim, &info.shape))?)
    };
    let zeros = Tensor::alloc(Layout::contiguous(info.shape.clone())?, info.dtype, info.device)?;
    exec::fill(&zeros, Number::Int(0))?;
    Ok(smallvec![Some(zeros.scatter_add(dim, &at, &g)?)])
}

/// A dimension counted from the front.
fn dim_of(dim: i64, shape: &[usize]) -> i64 {
    if dim < 0 { dim + shape.len() as i64 } else { dim }
}

fn sort_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for (salt, (shape, dim)) in
        [(&[3, 4][..], 1), (&[3, 4], 0), (&[2, 3, 2], -2), (&[6], 0), (&[], 0)].into_iter().enumerate()
    {
        let Ok(x) = samples::values(shape, salt) else { continue };
        for descending in [false, true] {
            all.push(Sample {
                args: smallvec![Value::Tensor(x.clone()), Value::Int(dim), Value::Bool(descending)],
                grad: true,
            });
        }
    }
    all
}

fn topk_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for (salt, (shape, k, dim)) in
        [(&[3, 4][..], 2, 1), (&[3, 4], 3, 0), (&[6], 0, 0), (&[], 1, 0)].into_iter().enumerate()
    {
        let Ok(x) = samples::values(shape, salt) else { continue };
        for largest in [false, true] {
            all.push(Sample {
                args: smallvec![
                    Value::Tensor(x.clone()),
                    Value::Int(k),
                    Value::Int(dim),
                    Value::Bool(largest)
                ],
                grad: true,
            });
        }
    }
    all
}
