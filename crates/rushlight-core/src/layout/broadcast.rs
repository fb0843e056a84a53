//! Joint shapes and stretched layouts: sizes are aligned at the right, and a size 1 stretches.

use super::{Layout, Shape, Strides, checked_numel};
use crate::{Result, bail, ensure};
use smallvec::smallvec;

/// The shape that all of `shapes` broadcast to; no shape at all gives rank 0.
///
/// # Errors
/// Runtime when two sizes differ and neither is 1, or when the result is too large to count.
pub fn broadcast_shapes(op: &'static str, shapes: &[&[usize]]) -> Result<Shape> {
    let mut out = match shapes {
        [] => return Ok(Shape::new()),
        [first, rest @ ..] if rest.iter().all(|s| s == first) => return Ok(Shape::from_slice(first)),
        _ => Shape::from_elem(1, shapes.iter().map(|s| s.len()).max().unwrap_or(0)),
    };
    for shape in shapes {
        let pad = out.len() - shape.len();
        for (k, &size) in shape.iter().enumerate() {
            let joint = out[pad + k];
            if joint == 1 {
                out[pad + k] = size;
            } else if size != joint && size != 1 {
                return mismatch(op, shapes, shape, pad + k, out.len());
            }
        }
    }
    checked_numel(op, &out)?;
    Ok(out)
}

/// Names the two shapes that disagree in dimension `dim` of `rank`.
#[cold]
fn mismatch(
    op: &'static str,
    shapes: &[&[usize]],
    shape: &[usize],
    dim: usize,
    rank: usize,
) -> Result<Shape> {
    let from_end = rank - dim;
    let size_of = |s: &[usize]| s.len().checked_sub(from_end).map_or(1, |k| s[k]);
    let size = size_of(shape);
    let other = shapes.iter().find(|s| !matches!(size_of(s), 1) && size_of(s) != size);
    let other: &[usize] = other.copied().unwrap_or(&[]);
    bail!(
        Runtime,
        op,
        "shapes {other:?} and {shape:?} do not broadcast: dimension -{from_end} has sizes {} and {size}; \
         sizes must be equal or 1",
        size_of(other)
    )
}

impl Layout {
    /// This layout stretched to `shape`, read-only for the user: stretched dims get stride 0.
    ///
    /// # Errors
    /// Runtime when `shape` has fewer dims, or a size that is neither equal nor stretched from 1.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Layout> {
        if self.shape() == shape && !shape.is_empty() {
            return Ok(self.clone());
        }
        self.stretch("broadcast_to", shape)
    }

    /// Stretches dims of size 1 to `sizes`, with stride 0; -1 keeps a size, and new dims come first.
    ///
    /// # Errors
    /// Runtime when `sizes` has fewer dims than the layout, a negative size that keeps nothing, or a
    /// size that is neither equal nor stretched from 1.
    pub fn expand(&self, sizes: &[isize]) -> Result<Layout> {
        let mut shape = Shape::with_capacity(sizes.len());
        let pad = sizes.len().saturating_sub(self.rank());
        for (k, &size) in sizes.iter().enumerate() {
            let kept = if size == -1 && k >= pad { self.shape.get(k - pad) } else { None };
            match kept {
                Some(&kept) => shape.push(kept),
                None => {
                    ensure!(
                        size >= 0,
                        Runtime,
                        "expand",
                        "size {size} in {sizes:?} is not allowed in dimension {k}; \
                         -1 keeps a size of shape {:?} and cannot stand for a new dim",
                        self.shape()
                    );
                    shape.push(size as usize);
                }
            }
        }
        self.stretch("expand", &shape)
    }

    /// The body of expand and broadcast_to; a leading new dim of size 1 gets the stride that
    /// unsqueeze would give it.
    fn stretch(&self, op: &'static str, sizes: &[usize]) -> Result<Layout> {
        let rank = self.rank();
        ensure!(
            sizes.len() >= rank,
            Runtime,
            op,
            "shape {:?} has more dims than {sizes:?}; expanding adds dims and removes none",
            self.shape()
        );
        checked_numel(op, sizes)?;
        let mut strides: Strides = smallvec![0; sizes.len()];
        let pad = sizes.len() - rank;
        for k in (0..sizes.len()).rev() {
            let (size, stride) = if k >= pad {
                (self.shape[k - pad], self.strides[k - pad])
            } else if rank == 0 {
                (1, 0)
            } else {
                (1, strides[k + 1].saturating_mul(sizes[k + 1] as isize))
            };
            if size == sizes[k] {
                strides[k] = stride;
            } else {
                ensure!(
                    size == 1,
                    Runtime,
                    op,
                    "shape {:?} does not expand to {sizes:?}: dimension {k} has size {size}, \
                     and only size 1 stretches",
                    self.shape()
                );
            }
        }
        Ok(Layout { shape: Shape::from_slice(sizes), strides, offset: self.offset })
    }
}
