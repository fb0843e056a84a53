//! Views as copies: each gives the elements of its view in new, row-major memory.

use super::{each, one, plain_samples};
use crate::op::{Dims, Sample, Size, Value};
use crate::{Result, Tensor};

ops! { COPIES;
    /// A row-major copy.
    fn alias_copy (input: Tensor) -> Tensor {
        run: input.writable(),
        samples: plain_samples,
    }
    /// A row-major copy outside of any graph.
    fn detach_copy (input: Tensor) -> Tensor {
        run: input.detach()?.writable(),
        samples: detached_samples,
    }
    /// As `as_strided`, in new memory.
    fn as_strided_copy (input: Tensor, size: Size, stride: Size, storage_offset: OptInt = None) -> Tensor {
        run: input.as_strided(size.clone(), stride.clone(), *storage_offset)?.writable(),
        samples: strided_samples,
    }
    /// As `diagonal`, in new memory.
    fn diagonal_copy (input: Tensor, offset: Int = 0, dim1: Int = 0, dim2: Int = 1) -> Tensor {
        run: input.diagonal(*offset, *dim1, *dim2)?.writable(),
        samples: diagonal_samples,
    }
    /// As `expand`, in new memory. `implicit` changes nothing.
    fn expand_copy / expand_copy_with (input: Tensor, size: Size; implicit: Bool = false) -> Tensor {
        run: input.expand(size.clone())?.writable(),
        samples: expand_samples,
    }
    /// As `narrow`, in new memory.
    fn narrow_copy (input: Tensor, dim: Int, start: Int, length: Int) -> Tensor {
        run: input.narrow(*dim, *start, *length)?.writable(),
        samples: narrow_samples,
    }
    /// As `permute`, in new memory.
    fn permute_copy (input: Tensor, dims: Dims) -> Tensor {
        run: input.permute(dims.clone())?.writable(),
        samples: permute_samples,
    }
    /// As `select`, in new memory.
    fn select_copy (input: Tensor, dim: Int, index: Int) -> Tensor {
        run: input.select(*dim, *index)?.writable(),
        samples: two_samples,
    }
    /// As `slice`, in new memory.
    fn slice_copy (input: Tensor, dim: Int = 0, start: OptInt = None, end: OptInt = None, step: Int = 1) -> Tensor {
        run: input.slice(*dim, *start, *end, *step)?.writable(),
        samples: slice_samples,
    }
    /// As `split`, in new memory.
    fn split_copy (input: Tensor, split_size: Int, dim: Int = 0) -> Vec<Tensor> {
        run: input.split(*split_size, *dim)?.iter().map(Tensor::writable).collect::<Result<Vec<_>>>(),
        samples: split_samples,
    }
    /// As `split_with_sizes`, in new memory.
    fn split_with_sizes_copy (input: Tensor, split_sizes: Size, dim: Int = 0) -> Vec<Tensor> {
        run: input.split_with_sizes(split_sizes.clone(), *dim)?.iter().map(Tensor::writable).collect::<Result<Vec<_>>>(),
        samples: sizes_samples,
    }
    /// As `squeeze`, in new memory.
    fn squeeze_copy (input: Tensor, dim: Dims = ()) -> Tensor {
        run: input.squeeze(dim.clone())?.writable(),
        samples: squeeze_samples,
    }
    /// As `t`, in new memory.
    fn t_copy (input: Tensor) -> Tensor {
        run: input.t()?.writable(),
        samples: matrix_samples,
    }
    /// As `transpose`, in new memory.
    fn transpose_copy (input: Tensor, dim0: Int, dim1: Int) -> Tensor {
        run: input.transpose(*dim0, *dim1)?.writable(),
        samples: two_samples,
    }
    /// As `unbind`, in new memory.
    fn unbind_copy (input: Tensor, dim: Int = 0) -> Vec<Tensor> {
        run: input.unbind(*dim)?.iter().map(Tensor::writable).collect::<Result<Vec<_>>>(),
        samples: unbind_samples,
    }
    /// As `unfold`, in new memory.
    fn unfold_copy (input: Tensor, dimension: Int, size: Int, step: Int) -> Tensor {
        run: input.unfold(*dimension, *size, *step)?.writable(),
        samples: unfold_samples,
    }
    /// As `unsqueeze`, in new memory.
    fn unsqueeze_copy (input: Tensor, dim: Int) -> Tensor {
        run: input.unsqueeze(*dim)?.writable(),
        samples: unbind_samples,
    }
    /// As `reshape`, always in new memory.
    fn view_copy (input: Tensor, size: Size) -> Tensor {
        run: input.view(size.clone()).and_then(|v| v.writable()).or_else(|_| input.reshape(size.clone())),
        samples: view_samples,
    }
    /// As `view_as_real`, in new memory.
    fn view_as_real_copy (input: Tensor) -> Tensor {
        run: input.view_as_real()?.writable(),
        samples: complex_samples,
    }
    /// As `view_as_complex`, in new memory.
    fn view_as_complex_copy (input: Tensor) -> Tensor {
        run: input.view_as_complex()?.writable(),
        samples: pair_samples,
    }
}

fn int(n: i64) -> Value {
    Value::Int(n)
}
fn detached_samples() -> Vec<Sample> {
    plain_samples().into_iter().map(|s| Sample { grad: false, ..s }).collect()
}
fn strided_samples() -> Vec<Sample> {
    let strided = |size: Size, stride: Size, at| [Value::Size(size), Value::Size(stride), Value::OptInt(at)];
    let cases = [
        one(&[3, 3], strided([2, 2].into(), [1, 2].into(), Some(1))),
        one(&[6], strided([2, 3].into(), [0, 1].into(), None)),
    ];
    cases.into_iter().flatten().collect()
}
fn diagonal_samples() -> Vec<Sample> {
    [one(&[3, 4], [int(1), int(0), int(1)]), one(&[2, 3, 4], [int(-1), int(2), int(0)])]
        .into_iter()
        .flatten()
        .collect()
}
fn expand_samples() -> Vec<Sample> {
    let size = |s: Size| [Value::Size(s), Value::Bool(false)];
    [one(&[3, 1], size([2, 3, 4].into())), one(&[], size([2].into()))].into_iter().flatten().collect()
}
fn narrow_samples() -> Vec<Sample> {
    [one(&[3, 4], [int(1), int(1), int(2)]), one(&[3], [int(0), int(-1), int(0)])]
        .into_iter()
        .flatten()
        .collect()
}
fn permute_samples() -> Vec<Sample> {
    each([(&[2, 3, 4], Value::Dims([2, 0, 1].into())), (&[2, 3], Value::Dims([-1, 0].into()))])
}
fn two_samples() -> Vec<Sample> {
    [one(&[2, 3], [int(0), int(1)]), one(&[2, 1, 3], [int(-1), int(0)])].into_iter().flatten().collect()
}
fn slice_samples() -> Vec<Sample> {
    let part = |d, a, b, n| [int(d), Value::OptInt(a), Value::OptInt(b), int(n)];
    [one(&[5, 2], part(0, Some(1), None, 2)), one(&[2, 4], part(-1, None, Some(-1), 1))]
        .into_iter()
        .flatten()
        .collect()
}
fn split_samples() -> Vec<Sample> {
    [one(&[5, 2], [int(2), int(0)]), one(&[2, 4], [int(3), int(-1)])].into_iter().flatten().collect()
}
fn sizes_samples() -> Vec<Sample> {
    let sizes = |s: Size, d| [Value::Size(s), int(d)];
    [one(&[5, 2], sizes([2, 3].into(), 0)), one(&[2, 4], sizes([0, 4].into(), 1))]
        .into_iter()
        .flatten()
        .collect()
}
fn squeeze_samples() -> Vec<Sample> {
    each([(&[2, 1, 3], Value::Dims(Dims::All)), (&[1, 2, 1], Value::Dims([0].into()))])
}
fn matrix_samples() -> Vec<Sample> {
    [&[2, 3][..], &[4], &[]].into_iter().filter_map(|s| one(s, [])).collect()
}
fn unbind_samples() -> Vec<Sample> {
    each([(&[2, 3], int(0)), (&[2, 3], int(-1)), (&[4], int(0))])
}
fn unfold_samples() -> Vec<Sample> {
    [one(&[6], [int(0), int(3), int(1)]), one(&[2, 5], [int(1), int(2), int(2)])]
        .into_iter()
        .flatten()
        .collect()
}
fn view_samples() -> Vec<Sample> {
    each([(&[2, 6], Value::Size([3, -1].into())), (&[], Value::Size([1, 1].into()))])
}
fn pair_samples() -> Vec<Sample> {
    [&[3, 2][..], &[2, 1, 2]]
        .into_iter()
        .filter_map(|s| one(s, []))
        .map(|s| Sample { grad: false, ..s })
        .collect()
}
fn complex_samples() -> Vec<Sample> {
    let complex = |s: Sample| {
        let z = s.args[0].tensors().first()?.view_as_complex().ok()?.copy().ok()?;
        Some(crate::op::samples::sample([Value::Tensor(z)], false))
    };
    pair_samples().into_iter().filter_map(complex).collect()
}
