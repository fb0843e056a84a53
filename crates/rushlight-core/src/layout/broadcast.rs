//! Joint shapes: sizes are aligned at the right, and a size 1 stretches.

use super::{Layout, Shape, checked_numel};
use crate::{Result, bail};

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
}
