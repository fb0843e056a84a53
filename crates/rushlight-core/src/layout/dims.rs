//! Views of all elements under other dims: unsqueeze, squeeze, transpose, permute, movedim.

use super::{Layout, Shape, Strides, dim_index, dims_mask};
use crate::{Result, bail, ensure};
use smallvec::smallvec;

impl Layout {
    /// A new dimension of size 1 in front of dimension `dim`; -1 appends.
    ///
    /// # Errors
    /// Index when `dim` is outside `-rank - 1..=rank`.
    pub fn unsqueeze(&self, dim: isize) -> Result<Layout> {
        let d = dim_index("unsqueeze", dim, self.rank() + 1)?;
        let mut out = self.clone();
        out.strides.insert(d, if d < self.rank() { self.span(d) } else { 1 });
        out.shape.insert(d, 1);
        Ok(out)
    }

    /// Drops every dimension of size 1.
    pub fn squeeze_all(&self) -> Layout {
        self.keep_dims(|d| self.shape[d] != 1)
    }

    /// Drops those of `dims` that have size 1 and leaves the others.
    ///
    /// # Errors
    /// Index for a dim out of range, Runtime for one given twice.
    pub fn squeeze(&self, dims: &[isize]) -> Result<Layout> {
        let mask = dims_mask("squeeze", dims, self.rank())?;
        Ok(self.keep_dims(|d| self.shape[d] != 1 || mask >> d & 1 == 0))
    }

    /// Swaps two dimensions.
    ///
    /// # Errors
    /// Index when one is out of range.
    pub fn transpose(&self, dim0: isize, dim1: isize) -> Result<Layout> {
        let a = dim_index("transpose", dim0, self.rank())?;
        let b = dim_index("transpose", dim1, self.rank())?;
        let mut out = self.clone();
        if self.rank() > 0 {
            out.shape.swap(a, b);
            out.strides.swap(a, b);
        }
        Ok(out)
    }

    /// The transposed matrix; ranks 0 and 1 stay as they are.
    ///
    /// # Errors
    /// Runtime above rank 2.
    pub fn t(&self) -> Result<Layout> {
        match self.rank() {
            0 | 1 => Ok(self.clone()),
            2 => Ok(Layout {
                shape: Shape::from_slice(&[self.shape[1], self.shape[0]]),
                strides: Strides::from_slice(&[self.strides[1], self.strides[0]]),
                offset: self.offset,
            }),
            n => bail!(Runtime, "t", "rank {n} is above 2; use transpose or mT to name the dims"),
        }
    }

    /// Swaps the last two dimensions (`.mT`); rank 0 stays as it is.
    ///
    /// # Errors
    /// Runtime for rank 1.
    pub fn matrix_transpose(&self) -> Result<Layout> {
        match self.rank() {
            0 => Ok(self.clone()),
            1 => bail!(Runtime, "mT", "shape {:?} is no matrix; unsqueeze it first", self.shape()),
            _ => self.transpose(-2, -1),
        }
    }

    /// All dimensions in reverse order (`.T`).
    pub fn reverse_dims(&self) -> Layout {
        let mut out = self.clone();
        out.shape.reverse();
        out.strides.reverse();
        out
    }

    /// Dimension k of the result is dimension `dims[k]` of this layout.
    ///
    /// # Errors
    /// Runtime when `dims` does not list every dimension once, Index for one out of range.
    pub fn permute(&self, dims: &[isize]) -> Result<Layout> {
        ensure!(
            dims.len() == self.rank(),
            Runtime,
            "permute",
            "{dims:?} lists {} dims, but shape {:?} has rank {}",
            dims.len(),
            self.shape(),
            self.rank()
        );
        dims_mask("permute", dims, self.rank())?;
        let mut out = self.clone();
        for (k, &dim) in dims.iter().enumerate() {
            let d = dim_index("permute", dim, self.rank())?;
            out.shape[k] = self.shape[d];
            out.strides[k] = self.strides[d];
        }
        Ok(out)
    }

    /// Moves dimension `source[k]` to position `destination[k]`; the others keep their order.
    ///
    /// # Errors
    /// Runtime when the lists differ in length or name a dim twice, Index for one out of range.
    pub fn movedim(&self, source: &[isize], destination: &[isize]) -> Result<Layout> {
        ensure!(
            source.len() == destination.len(),
            Runtime,
            "movedim",
            "source {source:?} and destination {destination:?} must have the same length"
        );
        let rank = self.rank();
        let moved = dims_mask("movedim", source, rank)?;
        let taken = dims_mask("movedim", destination, rank)?;
        let mut order: Shape = smallvec![0; rank];
        let mut others = (0..rank).filter(|d| moved >> d & 1 == 0);
        for (k, slot) in order.iter_mut().enumerate() {
            if taken >> k & 1 == 0 {
                *slot = others.next().unwrap_or(0);
            }
        }
        for (&s, &d) in source.iter().zip(destination) {
            if rank > 0 {
                order[dim_index("movedim", d, rank)?] = dim_index("movedim", s, rank)?;
            }
        }
        let mut out = self.clone();
        for (k, &d) in order.iter().enumerate() {
            out.shape[k] = self.shape[d];
            out.strides[k] = self.strides[d];
        }
        Ok(out)
    }

    /// size * stride of dimension `d`: the stride of a dimension of size 1 in front of it.
    fn span(&self, d: usize) -> isize {
        self.strides[d].saturating_mul(self.shape[d] as isize)
    }

    /// The layout without the dims that `keep` refuses.
    pub(super) fn keep_dims(&self, keep: impl Fn(usize) -> bool) -> Layout {
        let mut out = Layout { shape: Shape::new(), strides: Strides::new(), offset: self.offset };
        for d in (0..self.rank()).filter(|&d| keep(d)) {
            out.shape.push(self.shape[d]);
            out.strides.push(self.strides[d]);
        }
        out
    }
}
