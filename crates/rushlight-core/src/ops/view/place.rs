//! A copy of a tensor in which one of its views holds other values.
//!
//! The copy is written through that view, so that the rules of in-place writes to views give the
//! gradients.

use super::one;
use crate::op::{Sample, Size, Value, samples};
use crate::{Result, Tensor, ensure};

ops! { PLACE;
    /// A copy of the tensor with `src` at place `index` of dimension `dim`.
    fn select_scatter (input: Tensor, src: Tensor, dim: Int, index: Int) -> Tensor {
        run: placed("select_scatter", input, src, |x| x.select(*dim, *index)),
        samples: select_samples,
    }
    /// A copy of the tensor with `src` at every `step`-th place of `start..end` of dimension `dim`.
    fn slice_scatter [out] (input: Tensor, src: Tensor, dim: Int = 0, start: OptInt = None, end: OptInt = None, step: Int = 1) -> Tensor {
        run: placed("slice_scatter", input, src, |x| x.slice(*dim, *start, *end, *step)),
        samples: slice_samples,
    }
    /// A copy of the tensor with `src` on a diagonal of two dimensions.
    fn diagonal_scatter (input: Tensor, src: Tensor, offset: Int = 0, dim1: Int = 0, dim2: Int = 1) -> Tensor {
        run: placed("diagonal_scatter", input, src, |x| x.diagonal(*offset, *dim1, *dim2)),
        samples: diagonal_samples,
    }
    /// A copy of the tensor's memory with `src` at the places that `as_strided` would show.
    fn as_strided_scatter (input: Tensor, src: Tensor, size: Size, stride: Size, storage_offset: OptInt = None) -> Tensor {
        run: placed("as_strided_scatter", input, src, |x| x.as_strided(size.clone(), stride.clone(), *storage_offset)),
        samples: strided_samples,
    }
}

fn placed(
    op: &'static str,
    x: &Tensor,
    src: &Tensor,
    part: impl Fn(&Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    let copy = x.copy()?;
    let view = part(&copy).map_err(|e| e.in_op(op))?;
    ensure!(
        view.shape() == src.shape(),
        Runtime,
        op,
        "a source of shape {:?} does not fill the part of shape {:?}; they must be equal",
        src.shape(),
        view.shape()
    );
    view.copy_(src).map_err(|e| e.in_op(op))?;
    Ok(copy)
}

fn sample(shape: &[usize], src: &[usize], rest: impl IntoIterator<Item = Value>) -> Option<Sample> {
    let src = Value::Tensor(samples::values(src, 29).ok()?);
    one(shape, std::iter::once(src).chain(rest))
}

fn select_samples() -> Vec<Sample> {
    [(&[3, 4][..], &[4][..], 0, -1), (&[3, 4], &[3], 1, 2), (&[2], &[], 0, 0), (&[2, 0], &[0], 0, 1)]
        .into_iter()
        .filter_map(|(s, src, d, i)| sample(s, src, [Value::Int(d), Value::Int(i)]))
        .collect()
}

fn slice_samples() -> Vec<Sample> {
    [
        (&[3, 5][..], &[3, 2][..], 1, Some(1), None, 2),
        (&[4], &[2], 0, Some(-2), None, 1),
        (&[4, 2], &[0, 2], 0, Some(3), Some(1), 1),
    ]
    .into_iter()
    .filter_map(|(s, src, d, a, b, n)| {
        sample(s, src, [Value::Int(d), Value::OptInt(a), Value::OptInt(b), Value::Int(n)])
    })
    .collect()
}

fn diagonal_samples() -> Vec<Sample> {
    [(&[3, 4][..], &[3][..], 0, 0, 1), (&[2, 3, 4], &[3, 2], -1, 2, 0), (&[2, 2], &[0], 5, 0, 1)]
        .into_iter()
        .filter_map(|(s, src, k, a, b)| sample(s, src, [Value::Int(k), Value::Int(a), Value::Int(b)]))
        .collect()
}

fn strided_samples() -> Vec<Sample> {
    let rest = |size: Size, stride: Size| [Value::Size(size), Value::Size(stride), Value::OptInt(None)];
    [
        sample(&[3, 3], &[2, 2], rest([2, 2].into(), [3, 1].into())),
        sample(&[6], &[3], rest([3].into(), [2].into())),
    ]
    .into_iter()
    .flatten()
    .collect()
}
