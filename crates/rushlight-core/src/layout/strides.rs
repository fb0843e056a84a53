//! Contiguity, and the strides that a fresh result takes from its inputs.

use super::{Layout, Shape, Strides};
use smallvec::{SmallVec, smallvec};
use std::cmp::Ordering;

impl Layout {
    /// Whether walking the shape in C order walks memory one element at a time. Sizes 1 do not
    /// matter; no element at all counts as contiguous.
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        is_contiguous(&self.shape, &self.strides)
    }

    /// Whether this is a batch of images (rank 4) or volumes (rank 5), NCHW or NCDHW, whose channels
    /// lie side by side. Any other rank: false.
    pub fn is_channels_last(&self) -> bool {
        is_channels_last(&self.shape, &self.strides)
    }

    /// Whether every cell between the lowest and the highest belongs to exactly one element, in some
    /// order of the dims.
    pub fn is_dense(&self) -> bool {
        is_dense(&self.shape, &self.strides)
    }

    /// The strides of a copy that keeps the memory order (clone, empty_like, `to` of a dtype):
    /// the same strides when dense, else the same order of dims without holes.
    pub fn preserve_strides(&self) -> Strides {
        if self.is_dense() {
            return self.strides.clone();
        }
        let order = fastest_first(&self.shape, 1, |_, d| self.strides[d]);
        pack(&self.shape, &order, |size| size.max(1))
    }
}

/// C-ordered strides; a size 0 counts as 1. `shape` has passed
/// [`checked_numel`](super::checked_numel), else strides saturate.
pub fn contiguous_strides(shape: &[usize]) -> Strides {
    let mut strides: Strides = smallvec![1; shape.len()];
    let mut run = 1isize;
    for (stride, &size) in strides.iter_mut().zip(shape).rev() {
        *stride = run;
        run = run.saturating_mul(size.max(1) as isize);
    }
    strides
}

/// Strides with the channels side by side, for rank 4 (NCHW) and 5 (NCDHW); `None` otherwise.
pub fn channels_last_strides(shape: &[usize]) -> Option<Strides> {
    Some(pack(shape, channels_last_order(shape.len())?, |size| size.max(1)))
}

/// The strides of a fresh element-wise result of shape `out`, which is the broadcast shape of the
/// operands. `operands` are (shape, strides) of each input in argument order; a number counts as a
/// rank-0 operand, `(&[], &[])`.
pub fn elementwise_strides(operands: &[(&[usize], &[isize])], out: &[usize]) -> Strides {
    if operands.iter().all(|(shape, _)| *shape == out) {
        if operands.iter().all(|(shape, strides)| is_contiguous(shape, strides)) {
            return contiguous_strides(out);
        }
        // Only in rank 4, as in torch; in rank 5 the strides themselves are kept.
        if out.len() == 4 && operands.iter().all(|(shape, strides)| is_channels_last(shape, strides)) {
            return channels_last_strides(out).unwrap_or_else(|| contiguous_strides(out));
        }
        let first = operands[0].1;
        if operands.iter().all(|(shape, strides)| *strides == first && is_dense(shape, strides)) {
            return Strides::from_slice(first);
        }
    }
    let stretched: SmallVec<[Strides; 4]> =
        operands.iter().map(|(shape, strides)| stretch(shape, strides, out)).collect();
    let order = fastest_first(out, stretched.len(), |k, d| stretched[k][d]);
    if order.iter().rev().copied().eq(0..out.len()) {
        return contiguous_strides(out);
    }
    // A size 0 stays 0 here: torch shows strides of 0 for such empty results.
    pack(out, &order, |size| size)
}

/// Strides of an operand in the joint shape: 0 for missing dims and for stretched ones.
fn stretch(shape: &[usize], strides: &[isize], out: &[usize]) -> Strides {
    let mut joint: Strides = smallvec![0; out.len()];
    let pad = out.len() - shape.len();
    for (k, (&size, &stride)) in shape.iter().zip(strides).enumerate() {
        if size != 1 || out[pad + k] == 1 {
            joint[pad + k] = stride;
        }
    }
    joint
}

/// The dims of `shape`, fastest first; `stride(k, d)` is that of operand k in dim d. The first operand that steps in both of two dims orders
/// them; among equal strides the larger size goes outwards.
///
/// An insertion sort, because this comparison is not transitive: a library sort may refuse it, and
/// the result would not be torch's.
#[inline]
pub(super) fn fastest_first(
    shape: &[usize],
    operands: usize,
    stride: impl Fn(usize, usize) -> isize,
) -> Shape {
    let mut order: Shape = (0..shape.len()).rev().collect();
    for i in 1..order.len() {
        let mut moving = i;
        for k in (0..i).rev() {
            match compare(shape, operands, &stride, order[k], order[moving]) {
                Ordering::Greater => {
                    order.swap(k, moving);
                    moving = k;
                }
                Ordering::Less => break,
                Ordering::Equal => {}
            }
        }
    }
    order
}

/// Greater when dim `a` is slower than dim `b`, Equal when no operand has an opinion.
#[inline]
fn compare(
    shape: &[usize],
    operands: usize,
    stride: &impl Fn(usize, usize) -> isize,
    a: usize,
    b: usize,
) -> Ordering {
    for k in 0..operands {
        let (x, y) = (stride(k, a).unsigned_abs(), stride(k, b).unsigned_abs());
        if x == 0 || y == 0 {
            continue;
        }
        if x != y {
            return x.cmp(&y);
        }
        if shape[a] > shape[b] {
            return Ordering::Greater;
        }
    }
    Ordering::Equal
}

/// Strides without holes for dims listed fastest first; `grow` maps a size to its factor.
fn pack(shape: &[usize], order: &[usize], grow: impl Fn(usize) -> usize) -> Strides {
    let mut strides: Strides = smallvec![0; shape.len()];
    let mut run = 1isize;
    for &d in order {
        strides[d] = run;
        run = run.saturating_mul(grow(shape[d]) as isize);
    }
    strides
}

pub(super) fn is_contiguous(shape: &[usize], strides: &[isize]) -> bool {
    steps_by_one(shape, strides, (0..shape.len()).rev()) || shape.contains(&0)
}

fn is_channels_last(shape: &[usize], strides: &[isize]) -> bool {
    channels_last_order(shape.len()).is_some_and(|order| steps_by_one(shape, strides, order.iter().copied()))
}

pub(super) fn is_dense(shape: &[usize], strides: &[isize]) -> bool {
    if is_contiguous(shape, strides) || is_channels_last(shape, strides) {
        return true;
    }
    let mut dims: Shape = (0..shape.len()).filter(|&d| shape[d] >= 2).collect();
    dims.sort_by_key(|&d| strides[d]);
    steps_by_one(shape, strides, dims.iter().copied())
}

/// Whether the dims, fastest first, fill memory without holes; sizes 1 are skipped.
#[inline]
fn steps_by_one(shape: &[usize], strides: &[isize], order: impl Iterator<Item = usize>) -> bool {
    let mut want = 1isize;
    for d in order {
        if shape[d] != 1 {
            if strides[d] != want {
                return false;
            }
            want = want.saturating_mul(shape[d] as isize);
        }
    }
    true
}

/// Dims fastest first.
fn channels_last_order(rank: usize) -> Option<&'static [usize]> {
    match rank {
        4 => Some(&[1, 3, 2, 0]),
        5 => Some(&[1, 4, 3, 2, 0]),
        _ => None,
    }
}
