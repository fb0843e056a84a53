//! Shapes made of views, and of one copy where strides leave no other way.

#![allow(non_snake_case, reason = "`mT` and `T` are names of torch")]

use super::basic::{movedim_samples, two_dims_samples};
use super::{each, one, plain_samples};
use crate::layout::broadcast_shapes;
use crate::op::{Sample, Value, samples};
use crate::{Result, Tensor, ensure};
use smallvec::{SmallVec, smallvec};

ops! { SHAPE;
    /// The elements in a new shape: a view where strides allow, else a copy. One size may be -1.
    fn reshape (input: Tensor, shape: Size) -> Tensor {
        view_or_copy: input.viewed("reshape", &shape.0),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.grad(0)?.reshape(&cx.info(0)?.shape)?)]),
        samples: reshape_samples,
    }
    /// As `reshape`, to the shape of `other`.
    fn reshape_as (input: Tensor, other: Tensor) -> Tensor {
        run: input.reshape(other.shape()),
        samples: like_samples,
    }
    /// As `view`, to the shape of `other`.
    fn view_as (input: Tensor, other: Tensor) -> Tensor {
        run: input.view(other.shape()),
        samples: like_samples,
    }
    /// Dimensions `start_dim` to `end_dim`, both included, as one. A range of one dimension gives
    /// the tensor itself; else a view where strides allow, and a copy where not.
    fn flatten (input: Tensor, start_dim: Int = 0, end_dim: Int = -1) -> Tensor {
        run: super::flatten(input, *start_dim, *end_dim),
        samples: flatten_samples,
    }
    /// All elements in one dimension: a view of a contiguous tensor, a copy of any other.
    fn ravel (input: Tensor) -> Tensor {
        run: input.contiguous()?.view(-1),
        samples: plain_samples,
    }
    /// As `expand`, to the shape of `other`.
    fn expand_as (input: Tensor, other: Tensor) -> Tensor {
        run: input.expand(other.shape()),
        samples: expand_as_samples,
    }
    /// Size-1 dimensions stretched to `size`, as in arithmetic.
    fn broadcast_to (input: Tensor, size: Size) -> Tensor {
        run: input.expand(size.clone()),
        samples: broadcast_samples,
    }
    /// All tensors stretched to their joint shape; those that have it are given back as they are.
    fn broadcast_tensors (tensors: Tensors) -> Vec<Tensor> {
        run: super::broadcast_tensors(tensors),
        samples: list_samples,
    }
    /// Two dimensions swapped: another name of `transpose`.
    fn swapaxes (input: Tensor, axis0: Int, axis1: Int) -> Tensor {
        run: input.transpose(*axis0, *axis1),
        samples: two_dims_samples,
    }
    /// Two dimensions swapped: another name of `transpose`.
    fn swapdims (input: Tensor, dim0: Int, dim1: Int) -> Tensor {
        run: input.transpose(*dim0, *dim1),
        samples: two_dims_samples,
    }
    /// Dimensions moved: another name of `movedim`.
    fn moveaxis (input: Tensor, source: Dims, destination: Dims) -> Tensor {
        run: input.movedim(source.clone(), destination.clone()),
        samples: movedim_samples,
    }
    /// The last two dimensions swapped. Numbers stay as they are; a vector is refused.
    fn mT (input: Tensor) -> Tensor {
        run: matrix_transpose(input),
        samples: matrix_samples,
    }
    /// All dimensions in reverse order.
    fn T (input: Tensor) -> Tensor {
        run: input.permute((0..input.dim()).rev().collect::<Vec<usize>>()),
        samples: plain_samples,
    }
    /// At least one dimension: a number becomes a vector of one.
    fn atleast_1d (input: Tensor) -> Tensor {
        run: if input.dim() == 0 { input.view(1) } else { Ok(input.clone()) },
        samples: plain_samples,
    }
    /// At least two dimensions: a vector becomes a row.
    fn atleast_2d (input: Tensor) -> Tensor {
        run: match input.dim() { 0 => input.view([1, 1]), 1 => input.unsqueeze(0), _ => Ok(input.clone()) },
        samples: plain_samples,
    }
    /// At least three dimensions: a vector gets one on each side, a matrix one at the end.
    fn atleast_3d (input: Tensor) -> Tensor {
        run: match input.dim() {
            0 => input.view([1, 1, 1]),
            1 => input.unsqueeze(0)?.unsqueeze(-1),
            2 => input.unsqueeze(-1),
            _ => Ok(input.clone()),
        },
        samples: plain_samples,
    }
}

fn flatten(x: &Tensor, start: i64, end: i64) -> Result<Tensor> {
    let shape = x.layout().flatten_shape(start as isize, end as isize)?;
    if shape.as_slice() == x.shape() { Ok(x.clone()) } else { x.reshape(shape) }
}

fn broadcast_tensors(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    let shapes: SmallVec<[&[usize]; 4]> = tensors.iter().map(Tensor::shape).collect();
    let joint = broadcast_shapes("broadcast_tensors", &shapes)?;
    tensors
        .iter()
        .map(|t| if t.shape() == joint.as_slice() { Ok(t.clone()) } else { t.expand(&joint) })
        .collect()
}

fn matrix_transpose(x: &Tensor) -> Result<Tensor> {
    ensure!(x.dim() != 1, Runtime, "mT", "shape {:?} is no matrix; unsqueeze it first", x.shape());
    if x.dim() == 0 { x.view(()) } else { x.transpose(-2, -1) }
}

fn reshape_samples() -> Vec<Sample> {
    each([
        (&[2, 6], Value::Size([3, 4].into())),
        (&[2, 6], Value::Size([-1].into())),
        (&[], Value::Size([1, 1].into())),
        (&[0, 3], Value::Size([3, 0].into())),
    ])
}

fn flatten_samples() -> Vec<Sample> {
    [(&[2, 3, 4][..], 0, -1), (&[2, 3, 4], 1, 2), (&[5], 0, -1), (&[], 0, -1), (&[2, 0, 3], 0, 1)]
        .into_iter()
        .filter_map(|(s, a, b)| one(s, [Value::Int(a), Value::Int(b)]))
        .collect()
}

fn like_samples() -> Vec<Sample> {
    let pairs: [(&[usize], &[usize]); 3] = [(&[2, 6], &[3, 4]), (&[4], &[2, 2]), (&[], &[1])];
    pairs.into_iter().filter_map(|(a, b)| one(a, [Value::Tensor(samples::values(b, 9).ok()?)])).collect()
}

fn expand_as_samples() -> Vec<Sample> {
    let pairs: [(&[usize], &[usize]); 3] = [(&[3, 1], &[2, 3, 4]), (&[1], &[5]), (&[], &[2, 2])];
    pairs.into_iter().filter_map(|(a, b)| one(a, [Value::Tensor(samples::values(b, 9).ok()?)])).collect()
}

fn broadcast_samples() -> Vec<Sample> {
    each([(&[3, 1], Value::Size([2, 3, 4].into())), (&[], Value::Size([2, 2].into()))])
}

fn matrix_samples() -> Vec<Sample> {
    plain_samples().into_iter().filter(|s| s.args[0].tensors().iter().all(|t| t.dim() != 1)).collect()
}

fn list_samples() -> Vec<Sample> {
    let lists: [&[&[usize]]; 3] = [&[&[3, 1], &[4], &[3, 4]], &[&[2]], &[&[], &[2, 2]]];
    lists
        .iter()
        .filter_map(|shapes| {
            let tensors: Result<Vec<Tensor>> =
                shapes.iter().enumerate().map(|(k, s)| samples::values(s, k)).collect();
            Some(Sample { args: smallvec![Value::Tensors(tensors.ok()?)], grad: true })
        })
        .collect()
}
