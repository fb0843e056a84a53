//! The same elements in other places, always in new memory: rolled, flipped, cut to triangles.

use super::join::prefers_channels_last;
use super::view::{each, named, one};
use crate::exec;
use crate::layout::{channels_last_strides, contiguous_strides, dims_mask, existing_dim};
use crate::op::{Dims, Sample, Size, Value};
use crate::{DType, Layout, Number, Result, Tensor, ensure};
use smallvec::{SmallVec, smallvec};

ops! { ARRANGE;
    /// Elements moved by `shifts[k]` places along `dims[k]`; what passes the end enters at the
    /// start. Without dims the tensor counts as one row.
    fn roll (input: Tensor, shifts: Size, dims: Dims = ()) -> Tensor {
        run: super::roll(input, shifts, dims),
        grad: [reads inputs; outputs] |cx| {
            let back: SmallVec<[isize; 6]> = cx.arg::<Size>(1)?.0.iter().map(|n| n.wrapping_neg()).collect();
            Ok(smallvec![Some(cx.grad(0)?.roll(Size(back), cx.arg::<Dims>(2)?.clone())?)])
        },
        samples: roll_samples,
    }
    /// Elements in reverse order along `dims`: a copy, for no view has negative strides.
    fn flip (input: Tensor, dims: Dims) -> Tensor {
        run: super::flip(input, named("flip", dims)?),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.grad(0)?.flip(cx.arg::<Dims>(1)?.clone())?)]),
        samples: flip_samples,
    }
    /// Columns in reverse order.
    fn fliplr (input: Tensor) -> Tensor {
        run: flip_axis("fliplr", input, 1),
        samples: matrix_samples,
    }
    /// Rows in reverse order.
    fn flipud (input: Tensor) -> Tensor {
        run: flip_axis("flipud", input, 0),
        samples: matrix_samples,
    }
    /// Turned by `k` right angles in the plane of two dims, from the first to the second.
    fn rot90 (input: Tensor, k: Int = 1, dims: Dims = [0, 1]) -> Tensor {
        run: super::rot90(input, *k, named("rot90", dims)?),
        samples: rot90_samples,
    }
    /// The lower triangle of each matrix: what lies above diagonal number `diagonal` becomes 0.
    fn tril, inplace tril_ [out] (input: Tensor, diagonal: Int = 0) -> Tensor {
        run: triangle("tril", input, *diagonal, true),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.grad(0)?.tril(*cx.arg::<i64>(1)?)?)]),
        samples: triangle_samples,
    }
    /// The upper triangle of each matrix: what lies below diagonal number `diagonal` becomes 0.
    fn triu, inplace triu_ [out] (input: Tensor, diagonal: Int = 0) -> Tensor {
        run: triangle("triu", input, *diagonal, false),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.grad(0)?.triu(*cx.arg::<i64>(1)?)?)]),
        samples: triangle_samples,
    }
    /// A vector as the diagonal of a matrix of zeros, or the diagonal of a matrix as a new vector.
    fn diag [out] (input: Tensor, diagonal: Int = 0) -> Tensor {
        run: super::diag(input, *diagonal),
        samples: diag_samples,
    }
    /// Zeros with the last dimension of the tensor on diagonal `offset` of two new dimensions.
    fn diag_embed (input: Tensor, offset: Int = 0, dim1: Int = -2, dim2: Int = -1) -> Tensor {
        run: super::diag_embed(input, *offset, *dim1, *dim2),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.grad(0)?.diagonal(*cx.arg::<i64>(1)?, *cx.arg::<i64>(2)?, *cx.arg::<i64>(3)?)?)]),
        samples: embed_samples,
    }
}

/// New memory for a result that keeps the order of channels and no other.
pub(super) fn fresh(like: &Tensor, shape: &[usize]) -> Result<Tensor> {
    let strides = match prefers_channels_last(like.layout()) {
        true => channels_last_strides(shape).unwrap_or_else(|| contiguous_strides(shape)),
        false => contiguous_strides(shape),
    };
    Tensor::alloc(Layout::new(shape, strides, 0)?, like.dtype(), like.device())
}

/// The tensor's memory through another layout, outside any graph.
pub(super) fn through(t: &Tensor, layout: Layout) -> Tensor {
    Tensor::assemble(t.storage().clone(), layout, t.dtype(), None, None)
}

fn roll(x: &Tensor, shifts: &Size, dims: &Dims) -> Result<Tensor> {
    let list: &[isize] = match dims {
        Dims::All => &[],
        Dims::List(list) => list,
    };
    ensure!(!shifts.0.is_empty(), Runtime, "roll", "takes at least one shift");
    if list.is_empty() {
        ensure!(shifts.0.len() == 1, Runtime, "roll", "without dims there is one shift, not {:?}", shifts.0);
        let flat = x.detach()?.reshape(-1)?;
        return roll(&flat, shifts, &0.into())?.view(x.shape())?.detach();
    }
    ensure!(
        shifts.0.len() == list.len(),
        Runtime,
        "roll",
        "shifts {:?} and dims {list:?} must have the same length",
        shifts.0
    );
    let out = fresh(x, x.shape())?;
    crate::trace::copying("roll", out.nbytes(), out.shape(), "elements move to other places")?;
    if out.numel() == 0 {
        return Ok(out);
    }
    // Shifts of one dim named twice add up.
    let mut by: SmallVec<[usize; 6]> = smallvec![0; x.dim()];
    for (shift, dim) in shifts.0.iter().zip(list) {
        let d = existing_dim("roll", *dim, x.dim())?;
        let n = x.shape()[d];
        by[d] = (by[d] + shift.rem_euclid(n as isize) as usize) % n;
    }
    roll_blocks(x, &out, &by, 0, x.layout().clone(), out.layout().clone())?;
    Ok(out)
}

/// Copies the two blocks that a shift cuts each dimension into.
fn roll_blocks(x: &Tensor, out: &Tensor, by: &[usize], d: usize, from: Layout, to: Layout) -> Result<()> {
    let Some(&shift) = by.get(d) else { return exec::copy(&through(out, to), &through(x, from)) };
    let (dim, n, shift) = (d as isize, x.shape()[d] as isize, shift as isize);
    if shift == 0 {
        return roll_blocks(x, out, by, d + 1, from, to);
    }
    let (head, tail) = (from.narrow(dim, 0, n - shift)?, from.narrow(dim, n - shift, shift)?);
    roll_blocks(x, out, by, d + 1, head, to.narrow(dim, shift, n - shift)?)?;
    roll_blocks(x, out, by, d + 1, tail, to.narrow(dim, 0, shift)?)
}

fn flip(x: &Tensor, dims: &[isize]) -> Result<Tensor> {
    dims_mask("flip", dims, x.dim())?;
    let reversed = if x.dim() == 0 { x.layout().clone() } else { x.layout().flip(dims)? };
    exec::copy_as("flip", &through(x, reversed), x.like_layout()?, x.dtype(), "no view has negative strides")
}

fn flip_axis(op: &'static str, x: &Tensor, dim: usize) -> Result<Tensor> {
    ensure!(x.dim() > dim, Runtime, op, "shape {:?} has no dimension {dim}", x.shape());
    x.flip(dim)
}

fn rot90(x: &Tensor, k: i64, dims: &[isize]) -> Result<Tensor> {
    ensure!(dims.len() == 2, Runtime, "rot90", "a plane has two dimensions, not {dims:?}");
    ensure!(x.dim() > 1, Runtime, "rot90", "shape {:?} has no plane to turn", x.shape());
    let a = existing_dim("rot90", dims[0], x.dim())? as i64;
    let b = existing_dim("rot90", dims[1], x.dim())? as i64;
    ensure!(a != b, Runtime, "rot90", "dims {dims:?} are the same dimension");
    let turned = |flipped: Tensor| {
        let mut y = flipped;
        y.transpose_(a, b)?;
        Ok(y)
    };
    match k.rem_euclid(4) {
        1 => turned(x.flip(b)?),
        2 => x.flip([a, b]),
        3 => turned(x.flip(a)?),
        _ => x.pack(),
    }
}

/// int64 values as a vector on a device.
pub(crate) fn host_list(values: &[i64], shape: &[usize], like: &Tensor) -> Result<Tensor> {
    let out = Tensor::alloc(Layout::contiguous(shape)?, DType::I64, like.device())?;
    if like.device() == crate::Device::META {
        return Ok(out);
    }
    if !like.device().is_host() {
        return exec::to_device(
            &Tensor::from_slice(values, shape)?,
            like.device(),
            "positions are made on the host",
        );
    }
    crate::mem::with_plan("arange", &[out.place()], &[], |outs, _| {
        values.iter().enumerate().for_each(|(i, v)| outs[0].set(i as isize, *v));
        Ok(())
    })?;
    Ok(out)
}

fn triangle(op: &'static str, x: &Tensor, diagonal: i64, lower: bool) -> Result<Tensor> {
    ensure!(x.dim() > 1, Runtime, op, "shape {:?} is no matrix", x.shape());
    let (rows, cols) = (x.shape()[x.dim() - 2], x.shape()[x.dim() - 1]);
    let out = Tensor::alloc(Layout::contiguous(x.shape())?, x.dtype(), x.device())?;
    crate::trace::copying(op, out.nbytes(), out.shape(), "a triangle is kept in new memory")?;
    let last: Vec<i64> = (0..rows as i64).map(|r| r.saturating_add(diagonal)).collect();
    let row = host_list(&last, &[rows, 1], x)?;
    let col = host_list(&(0..cols as i64).collect::<Vec<_>>(), &[1, cols], x)?;
    let drop = if lower { col.gt(&row)? } else { col.lt(&row)? };
    exec::copy(&out, x)?;
    super::index::mask::fill_where(op, &out, &drop, Number::Int(0))?;
    Ok(out)
}

fn diag(x: &Tensor, diagonal: i64) -> Result<Tensor> {
    match x.dim() {
        1 => x.diag_embed(diagonal, -2, -1),
        2 => x.diagonal(diagonal, 0, 1)?.copy(),
        n => crate::bail!(
            Runtime,
            "diag",
            "takes a vector or a matrix, not rank {n}; see diagonal and diag_embed"
        ),
    }
}

fn diag_embed(x: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
    ensure!(x.dim() > 0, Index, "diag_embed", "a 0-d tensor has no dimension to put on a diagonal");
    let rank = x.dim() + 1;
    let a = existing_dim("diag_embed", dim1 as isize, rank)?;
    let b = existing_dim("diag_embed", dim2 as isize, rank)?;
    ensure!(a != b, Runtime, "diag_embed", "dims {dim1} and {dim2} are the same dimension");
    let n =
        x.shape()[x.dim() - 1].saturating_add(usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX));
    let mut shape: SmallVec<[isize; 6]> = x.shape()[..x.dim() - 1].iter().map(|n| *n as isize).collect();
    for d in [a.min(b), a.max(b)] {
        shape.insert(d, n.min(isize::MAX as usize) as isize);
    }
    let shape = Size(shape).checked("diag_embed")?;
    let out = Tensor::alloc(Layout::contiguous(shape)?, x.dtype(), x.device())?;
    exec::fill(&out, Number::Int(0))?;
    let line = out.layout().diagonal(offset as isize, a as isize, b as isize)?;
    crate::trace::copying("diag_embed", out.nbytes(), out.shape(), "a matrix is made around the diagonal")?;
    exec::copy(&through(&out, line), x)?;
    Ok(out)
}

fn roll_samples() -> Vec<Sample> {
    let cases: [(&[usize], Size, Dims); 6] = [
        (&[5], 2.into(), 0.into()),
        (&[3, 4], [1, -1].into(), [0, 1].into()),
        (&[3, 4], 5.into(), Dims::All),
        (&[2, 3], 0.into(), (-1).into()),
        (&[], 1.into(), Dims::All),
        (&[0, 2], 1.into(), 0.into()),
    ];
    cases.into_iter().filter_map(|(s, n, d)| one(s, [Value::Size(n), Value::Dims(d)])).collect()
}

fn flip_samples() -> Vec<Sample> {
    each([
        (&[5], Value::Dims(0.into())),
        (&[2, 3, 4], Value::Dims([0, -1].into())),
        (&[2, 3], Value::Dims(Dims::List(smallvec![]))),
        (&[0, 2], Value::Dims(1.into())),
        (&[], Value::Dims(0.into())),
    ])
}

fn matrix_samples() -> Vec<Sample> {
    [&[2, 3][..], &[2, 2, 2]].into_iter().filter_map(|s| one(s, [])).collect()
}

fn rot90_samples() -> Vec<Sample> {
    [(&[2, 3][..], 1, [0, 1]), (&[2, 3], 2, [0, 1]), (&[2, 3, 2], 3, [1, -1]), (&[2, 3], 4, [0, 1])]
        .into_iter()
        .filter_map(|(s, k, d)| one(s, [Value::Int(k), Value::Dims(d.into())]))
        .collect()
}

fn triangle_samples() -> Vec<Sample> {
    each([
        (&[3, 4], Value::Int(0)),
        (&[4, 3], Value::Int(1)),
        (&[2, 3, 3], Value::Int(-1)),
        (&[2, 0], Value::Int(0)),
    ])
}

fn diag_samples() -> Vec<Sample> {
    each([(&[3], Value::Int(0)), (&[2], Value::Int(-1)), (&[3, 4], Value::Int(1)), (&[2, 2], Value::Int(0))])
}

fn embed_samples() -> Vec<Sample> {
    [(&[3][..], 0, -2, -1), (&[2, 3], 1, 0, 2), (&[2, 2], -1, -1, 0)]
        .into_iter()
        .filter_map(|(s, k, a, b)| one(s, [Value::Int(k), Value::Int(a), Value::Int(b)]))
        .collect()
}
