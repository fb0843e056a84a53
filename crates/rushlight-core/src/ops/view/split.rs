//! Many views at once. Autograd records them as one step, whose backward joins what arrives.
//!
//! The pieces of `split`, `chunk` and `unbind` may not be written in place in a graph, as in torch;
//! those of `tensor_split` and its kin are plain views.

use super::one;
use crate::grad::{GradCx, view::attach_several};
use crate::layout::{
    chunk_ranges, existing_dim, split_ranges, split_with_sizes_ranges, tensor_split_at_ranges,
    tensor_split_ranges,
};
use crate::op::{Sample, Size, Value};
use crate::{Layout, Result, Tensor, ensure};
use smallvec::smallvec;
use std::ops::Range;

ops! { SPLIT;
    /// Pieces of `split_size` places along `dim`; the last one may be shorter.
    fn split (input: Tensor, split_size: Int, dim: Int = 0) -> Vec<Tensor> {
        run: pieces("split", input, *dim, |n| split_ranges(n, *split_size as isize)),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(joined(cx, *cx.arg::<i64>(2)?)?)]),
        samples: split_samples,
    }
    /// Pieces of these sizes along `dim`; they sum to its size.
    fn split_with_sizes as split_with_sizes | split (input: Tensor, split_sizes: Size, dim: Int = 0) -> Vec<Tensor> {
        run: pieces("split_with_sizes", input, *dim, |n| split_with_sizes_ranges(n, &split_sizes.0)),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(joined(cx, *cx.arg::<i64>(2)?)?)]),
        samples: sizes_samples,
    }
    /// At most `chunks` pieces along `dim`, of equal size but for the last.
    fn chunk (input: Tensor, chunks: Int, dim: Int = 0) -> Vec<Tensor> {
        run: pieces("chunk", input, *dim, |n| chunk_ranges(n, *chunks as isize)),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(joined(cx, *cx.arg::<i64>(2)?)?)]),
        samples: split_samples,
    }
    /// One view for each place of `dim`, which disappears.
    fn unbind (input: Tensor, dim: Int = 0) -> Vec<Tensor> {
        run: super::unbind(input, *dim),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(stacked(cx, *cx.arg::<i64>(1)?)?)]),
        samples: unbind_samples,
    }
    /// Exactly `sections` pieces along `dim`; the first ones are one longer where it does not divide.
    fn tensor_split (input: Tensor, sections: Int, dim: Int = 0) -> Vec<Tensor> {
        run: narrows("tensor_split", input, *dim, |n| tensor_split_ranges(n, *sections as isize)),
        samples: split_samples,
    }
    /// The pieces of `dim` between these places, read as slice bounds.
    fn tensor_split_at as tensor_split (input: Tensor, indices: Size, dim: Int = 0) -> Vec<Tensor> {
        run: narrows("tensor_split", input, *dim, |n| tensor_split_at_ranges(n, &indices.0)),
        samples: at_samples,
    }
    /// As `split`; its pieces may be written in place in a graph.
    fn unsafe_split (input: Tensor, split_size: Int, dim: Int = 0) -> Vec<Tensor> {
        run: narrows("unsafe_split", input, *dim, |n| split_ranges(n, *split_size as isize)),
        samples: split_samples,
    }
    /// As `split_with_sizes`; its pieces may be written in place in a graph.
    fn unsafe_split_with_sizes (input: Tensor, split_sizes: Size, dim: Int = 0) -> Vec<Tensor> {
        run: narrows("unsafe_split_with_sizes", input, *dim, |n| split_with_sizes_ranges(n, &split_sizes.0)),
        samples: sizes_samples,
    }
    /// As `chunk`; its pieces may be written in place in a graph.
    fn unsafe_chunk (input: Tensor, chunks: Int, dim: Int = 0) -> Vec<Tensor> {
        run: narrows("unsafe_chunk", input, *dim, |n| chunk_ranges(n, *chunks as isize)),
        samples: split_samples,
    }
    /// `sections` equal pieces side by side: along dimension 1, or 0 of a vector.
    fn hsplit (input: Tensor, sections: Int) -> Vec<Tensor> {
        run: evenly("hsplit", input, 1, horizontal(input), *sections),
        samples: hsplit_samples,
    }
    /// The pieces side by side between these places.
    fn hsplit_at as hsplit (input: Tensor, indices: Size) -> Vec<Tensor> {
        run: between("hsplit", input, 1, horizontal(input), indices),
        samples: between_samples,
    }
    /// `sections` equal pieces along dimension 0 of a tensor of two or more.
    fn vsplit (input: Tensor, sections: Int) -> Vec<Tensor> {
        run: evenly("vsplit", input, 2, 0, *sections),
        samples: vsplit_samples,
    }
    /// The pieces of dimension 0 between these places.
    fn vsplit_at as vsplit (input: Tensor, indices: Size) -> Vec<Tensor> {
        run: between("vsplit", input, 2, 0, indices),
        samples: between_samples,
    }
    /// `sections` equal pieces along dimension 2 of a tensor of three or more.
    fn dsplit (input: Tensor, sections: Int) -> Vec<Tensor> {
        run: evenly("dsplit", input, 3, 2, *sections),
        samples: dsplit_samples,
    }
    /// The pieces of dimension 2 between these places.
    fn dsplit_at as dsplit (input: Tensor, indices: Size) -> Vec<Tensor> {
        run: between("dsplit", input, 3, 2, indices),
        samples: between_samples,
    }
}

type Ranges = Result<Vec<Range<usize>>>;

fn size_along(op: &'static str, x: &Tensor, dim: i64) -> Result<usize> {
    ensure!(x.dim() > 0, Runtime, op, "a 0-d tensor has no dimension to split");
    Ok(x.shape()[existing_dim(op, dim as isize, x.dim())?])
}

fn layouts(x: &Tensor, dim: i64, ranges: Vec<Range<usize>>) -> Result<Vec<Layout>> {
    let piece =
        |r: Range<usize>| x.layout().narrow(dim as isize, r.start as isize, (r.end - r.start) as isize);
    ranges.into_iter().map(piece).collect()
}

fn pieces(
    op: &'static str,
    x: &Tensor,
    dim: i64,
    ranges: impl FnOnce(usize) -> Ranges,
) -> Result<Vec<Tensor>> {
    let ranges = ranges(size_along(op, x, dim)?)?;
    Ok(attach_several(op, x, layouts(x, dim, ranges)?))
}

fn unbind(x: &Tensor, dim: i64) -> Result<Vec<Tensor>> {
    let n = x.shape()[existing_dim("unbind", dim as isize, x.dim())?];
    let rows: Result<Vec<Layout>> = (0..n).map(|i| x.layout().select(dim as isize, i as isize)).collect();
    Ok(attach_several("unbind", x, rows?))
}

fn narrows(
    op: &'static str,
    x: &Tensor,
    dim: i64,
    ranges: impl FnOnce(usize) -> Ranges,
) -> Result<Vec<Tensor>> {
    let ranges = ranges(size_along(op, x, dim)?)?;
    ranges.into_iter().map(|r| x.narrow(dim, r.start as i64, (r.end - r.start) as i64)).collect()
}

fn at_least(op: &'static str, x: &Tensor, rank: usize) -> Result<()> {
    ensure!(x.dim() >= rank, Runtime, op, "shape {:?} has fewer than {rank} dimensions", x.shape());
    Ok(())
}

fn between(op: &'static str, x: &Tensor, rank: usize, dim: i64, places: &Size) -> Result<Vec<Tensor>> {
    at_least(op, x, rank)?;
    x.tensor_split_at(places.clone(), dim)
}

fn horizontal(x: &Tensor) -> i64 {
    i64::from(x.dim() > 1)
}

fn evenly(op: &'static str, x: &Tensor, rank: usize, dim: i64, sections: i64) -> Result<Vec<Tensor>> {
    at_least(op, x, rank)?;
    let n = size_along(op, x, dim)? as i64;
    ensure!(
        sections > 0 && n % sections == 0,
        Runtime,
        op,
        "dimension {dim} of size {n} does not divide into {sections} equal pieces; tensor_split makes unequal ones"
    );
    x.tensor_split(sections, dim)
}

/// The gradients of all pieces, zeros where none arrived.
fn arrived(cx: &GradCx<'_>) -> Result<Vec<Tensor>> {
    (0..cx.results()).map(|k| cx.grad(k)).collect()
}

fn joined(cx: &GradCx<'_>, dim: i64) -> Result<Tensor> {
    let grads = arrived(cx)?;
    Tensor::cat(&grads.iter().collect::<Vec<_>>(), dim)
}

fn stacked(cx: &GradCx<'_>, dim: i64) -> Result<Tensor> {
    let grads = arrived(cx)?;
    Tensor::stack(&grads.iter().collect::<Vec<_>>(), dim)
}

fn numbered(cases: &[(&[usize], i64, i64)]) -> Vec<Sample> {
    cases.iter().filter_map(|(s, n, d)| one(s, [Value::Int(*n), Value::Int(*d)])).collect()
}

fn listed(cases: &[(&[usize], &[i64], i64)]) -> Vec<Sample> {
    cases.iter().filter_map(|(s, n, d)| one(s, [Value::Size(Size::from(*n)), Value::Int(*d)])).collect()
}

fn split_samples() -> Vec<Sample> {
    numbered(&[(&[5, 3], 2, 0), (&[2, 7], 3, -1), (&[4], 4, 0), (&[0, 2], 3, 0)])
}

fn sizes_samples() -> Vec<Sample> {
    listed(&[(&[5, 3], &[1, 0, 4], 0), (&[2, 3], &[2, 1], -1), (&[4], &[4], 0)])
}

fn at_samples() -> Vec<Sample> {
    listed(&[(&[5, 3], &[1, 3], 0), (&[2, 3], &[-1], -1), (&[4], &[2, 1, 9], 0)])
}

fn unbind_samples() -> Vec<Sample> {
    [(&[3, 2][..], 0), (&[2, 4], -1), (&[3], 0), (&[2, 0], 0)]
        .into_iter()
        .filter_map(|(s, d)| one(s, [Value::Int(d)]))
        .collect()
}

fn sections(cases: &[(&[usize], i64)]) -> Vec<Sample> {
    cases.iter().filter_map(|(s, n)| one(s, [Value::Int(*n)])).collect()
}
fn hsplit_samples() -> Vec<Sample> {
    sections(&[(&[4], 2), (&[2, 6], 3)])
}
fn vsplit_samples() -> Vec<Sample> {
    sections(&[(&[4, 2], 2), (&[6, 1, 2], 3)])
}
fn dsplit_samples() -> Vec<Sample> {
    sections(&[(&[1, 2, 4], 2), (&[2, 1, 6], 3)])
}
/// A tensor with room for the places 1 and 3 in every dimension.
fn between_samples() -> Vec<Sample> {
    one(&[4, 5, 4], [Value::Size([1, 3].into())]).into_iter().collect()
}
