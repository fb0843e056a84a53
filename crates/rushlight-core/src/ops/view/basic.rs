//! The same elements under other dimensions.

use super::{each, named, one, plain_samples};
use crate::op::{Dims, Sample, Size, Value};
use crate::{Layout, Result, Tensor};
use smallvec::{SmallVec, smallvec};

ops! { BASIC;
    /// The tensor's elements in a new shape, without a copy; one size may be -1. Refused where
    /// strides cannot express it: `reshape` copies then.
    fn view (input: Tensor, shape: Size) -> Tensor {
        view: input.view(&shape.0),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.grad(0)?.reshape(&cx.info(0)?.shape)?)]),
        samples: view_samples,
    }
    /// Dimension `dim` split into `sizes`, of which one may be -1.
    fn unflatten (input: Tensor, dim: Int, sizes: Size) -> Tensor {
        view: input.unflatten(*dim as isize, &sizes.0),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.grad(0)?.reshape(&cx.info(0)?.shape)?)]),
        samples: unflatten_samples,
    }
    /// Size-1 dimensions stretched to `size`, with stride 0; -1 keeps a size, new dimensions go in front.
    fn expand (input: Tensor, size: Size) -> Tensor {
        view: input.expand(&size.0),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(crate::grad::sum_to(&cx.grad(0)?, &cx.info(0)?.shape)?)]),
        samples: expand_samples,
    }
    /// A dimension of size 1 inserted before `dim`.
    fn unsqueeze (input: Tensor, dim: Int) -> Tensor {
        view: input.unsqueeze(*dim as isize),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.grad(0)?.reshape(&cx.info(0)?.shape)?)]),
        samples: dim_samples,
    }
    /// Without those of `dim` (by default: all) that have size 1.
    fn squeeze (input: Tensor, dim: Dims = ()) -> Tensor {
        view: super::squeeze(input, dim),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.grad(0)?.reshape(&cx.info(0)?.shape)?)]),
        samples: squeeze_samples,
    }
    /// Two dimensions swapped.
    fn transpose (input: Tensor, dim0: Int, dim1: Int) -> Tensor {
        view: input.transpose(*dim0 as isize, *dim1 as isize),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.grad(0)?.transpose(*cx.arg::<i64>(1)?, *cx.arg::<i64>(2)?)?)]),
        samples: two_dims_samples,
    }
    /// A matrix with its two dimensions swapped; vectors and numbers as they are.
    fn t (input: Tensor) -> Tensor {
        view: input.t(),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.grad(0)?.t()?)]),
        samples: t_samples,
    }
    /// Dimension k of the result is dimension `dims[k]` of the tensor; each is named once.
    fn permute (input: Tensor, dims: Dims) -> Tensor {
        view: input.permute(named("permute", dims)?),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.grad(0)?.permute(inverse(named("permute", cx.arg(1)?)?))?)]),
        samples: permute_samples,
    }
    /// As `permute`: NumPy's `transpose`, which libraries for arrays of any kind call.
    fn transpose_axes as transpose (input: Tensor, axes: Dims) -> Tensor {
        view: input.permute(named("transpose", axes)?),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.grad(0)?.permute(inverse(named("transpose", cx.arg(1)?)?))?)]),
        samples: permute_samples,
    }
    /// Dimension `source[k]` moved to place `destination[k]`; the others keep their order.
    fn movedim (input: Tensor, source: Dims, destination: Dims) -> Tensor {
        view: input.movedim(named("movedim", source)?, named("movedim", destination)?),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.grad(0)?.movedim(cx.arg::<Dims>(2)?.clone(), cx.arg::<Dims>(1)?.clone())?)]),
        samples: movedim_samples,
    }
}

fn squeeze(layout: &Layout, dims: &Dims) -> Result<Layout> {
    match dims {
        Dims::All => Ok(layout.squeeze_all()),
        Dims::List(list) => layout.squeeze(list),
    }
}

/// The permutation that undoes `dims`, which is known to be one.
fn inverse(dims: &[isize]) -> Dims {
    let rank = dims.len();
    let mut back: SmallVec<[isize; 6]> = SmallVec::from_elem(0, rank);
    for (k, d) in dims.iter().enumerate() {
        back[d.rem_euclid(rank.max(1) as isize) as usize] = k as isize;
    }
    Dims::List(back)
}

fn view_samples() -> Vec<Sample> {
    each([
        (&[2, 6], Value::Size([3, 4].into())),
        (&[2, 6], Value::Size([-1].into())),
        (&[4], Value::Size([2, 1, 2].into())),
        (&[], Value::Size([1, 1].into())),
        (&[0, 3], Value::Size([3, 0].into())),
    ])
}

fn unflatten_samples() -> Vec<Sample> {
    [(&[2, 6][..], 1, Size::from([3, -1])), (&[4], -1, [1, 4].into()), (&[0, 2], 0, [0, 3].into())]
        .into_iter()
        .filter_map(|(s, d, n)| one(s, [Value::Int(d), Value::Size(n)]))
        .collect()
}

fn expand_samples() -> Vec<Sample> {
    each([
        (&[3, 1], Value::Size([2, 3, 4].into())),
        (&[1], Value::Size([5].into())),
        (&[], Value::Size([2, 2].into())),
        (&[2, 3], Value::Size([-1, 3].into())),
    ])
}

fn dim_samples() -> Vec<Sample> {
    each([(&[2, 3], Value::Int(1)), (&[2, 3], Value::Int(-1)), (&[], Value::Int(0))])
}

fn squeeze_samples() -> Vec<Sample> {
    each([
        (&[2, 1, 3, 1], Value::Dims(Dims::All)),
        (&[2, 1, 3, 1], Value::Dims(1.into())),
        (&[2, 1, 3, 1], Value::Dims([0, -1].into())),
        (&[1], Value::Dims(0.into())),
        (&[], Value::Dims((-1).into())),
    ])
}

pub(super) fn two_dims_samples() -> Vec<Sample> {
    [(&[2, 3][..], 0, 1), (&[2, 3, 4], -1, 0), (&[], 0, -1), (&[3], 0, 0), (&[0, 2], 0, 1)]
        .into_iter()
        .filter_map(|(s, a, b)| one(s, [Value::Int(a), Value::Int(b)]))
        .collect()
}

fn t_samples() -> Vec<Sample> {
    plain_samples().into_iter().filter(|s| s.args[0].tensors().iter().all(|t| t.dim() < 3)).collect()
}

fn permute_samples() -> Vec<Sample> {
    each([
        (&[2, 3, 4], Value::Dims([2, 0, 1].into())),
        (&[2, 3, 4], Value::Dims([-1, 0, -2].into())),
        (&[2, 0], Value::Dims([1, 0].into())),
        (&[], Value::Dims(Dims::List(smallvec![]))),
    ])
}

pub(super) fn movedim_samples() -> Vec<Sample> {
    [
        (&[2, 3, 4][..], Dims::from(0), Dims::from(2)),
        (&[2, 3, 4, 1], [0, 1].into(), [-1, 0].into()),
        (&[2, 3], Dims::List(smallvec![]), Dims::List(smallvec![])),
    ]
    .into_iter()
    .filter_map(|(s, a, b)| one(s, [Value::Dims(a), Value::Dims(b)]))
    .collect()
}
