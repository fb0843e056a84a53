//! Views that exist for every layout: nothing here ever needs a copy.

use super::{Layout, Shape, Strides, checked_numel, checked_shape, dim_index, dims_mask, existing_dim};
use crate::{Result, bail, ensure};
use smallvec::smallvec;

impl Layout {
    /// Drops dimension `dim` by fixing its coordinate at `index`; negative counts from the end.
    ///
    /// # Errors
    /// Index when `dim` or `index` is out of range, and for a rank-0 tensor.
    pub fn select(&self, dim: isize, index: isize) -> Result<Layout> {
        let d = existing_dim("select", dim, self.rank())?;
        let size = self.shape[d] as isize;
        let at = if index < 0 { index.wrapping_add(size) } else { index };
        ensure!(
            (0..size).contains(&at),
            Index,
            "select",
            "index {index} is out of range for dimension {d} with size {size}"
        );
        let mut out = self.clone();
        out.offset = self.moved(d, at as usize);
        out.shape.remove(d);
        out.strides.remove(d);
        Ok(out)
    }

    /// Keeps `len` coordinates of `dim` from `start` on; a negative `start` counts from the end.
    ///
    /// # Errors
    /// Index when `dim` or `start` is out of range; Runtime for rank 0, a negative `len`, or a range
    /// that passes the end.
    pub fn narrow(&self, dim: isize, start: isize, len: isize) -> Result<Layout> {
        ensure!(self.rank() > 0, Runtime, "narrow", "a 0-d tensor has no dimension to narrow");
        let d = dim_index("narrow", dim, self.rank())?;
        let size = self.shape[d] as isize;
        ensure!(len >= 0, Runtime, "narrow", "length {len} is negative");
        let from = if start < 0 { start.wrapping_add(size) } else { start };
        ensure!(
            (0..=size).contains(&from),
            Index,
            "narrow",
            "start {start} is out of range; dimension {d} has size {size} and takes {} to {size}",
            -size
        );
        ensure!(
            len <= size - from,
            Runtime,
            "narrow",
            "start {start} with length {len} passes the end of dimension {d}, which has size {size}"
        );
        Ok(self.part(d, from as usize, len as usize))
    }

    /// Every `step`-th coordinate of `dim` in `start..end`. As in Python both ends default to the
    /// whole range, count from the end when negative and are clamped; an end before the start gives
    /// size 0.
    ///
    /// # Errors
    /// Index when `dim` is out of range and for rank 0; Value unless `step` is positive.
    pub fn slice(&self, dim: isize, start: Option<isize>, end: Option<isize>, step: isize) -> Result<Layout> {
        let d = existing_dim("slice", dim, self.rank())?;
        ensure!(step > 0, Value, "slice", "step {step} must be positive; flip reverses a dimension");
        let size = self.shape[d];
        let from = clamp_bound(start.unwrap_or(0), size);
        let to = clamp_bound(end.unwrap_or(isize::MAX), size).max(from);
        let mut out = self.part(d, from, (to - from).div_ceil(step as usize));
        out.strides[d] = self.strides[d].saturating_mul(step);
        Ok(out)
    }

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
            2 => self.transpose(0, 1),
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
    pub(super) fn stretch(&self, op: &'static str, sizes: &[usize]) -> Result<Layout> {
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

    /// The diagonal of dims `dim1` and `dim2`, `diagonal` steps above the main one (below when
    /// negative), as a new last dimension.
    ///
    /// # Errors
    /// Index when a dim is out of range, Runtime when both are the same.
    pub fn diagonal(&self, diagonal: isize, dim1: isize, dim2: isize) -> Result<Layout> {
        let a = dim_index("diagonal", dim1, self.rank())?;
        let b = dim_index("diagonal", dim2, self.rank())?;
        ensure!(a != b, Runtime, "diagonal", "dims {dim1} and {dim2} are the same dimension");
        let skip = diagonal.unsigned_abs();
        let (rows, cols) = (self.shape[a], self.shape[b]);
        let (moving, len) = if diagonal >= 0 {
            (b, rows.min(cols.saturating_sub(skip)))
        } else {
            (a, rows.saturating_sub(skip).min(cols))
        };
        let mut out = self.keep_dims(|d| d != a && d != b);
        out.shape.push(len);
        out.strides.push(self.strides[a].saturating_add(self.strides[b]));
        if len > 0 {
            out.offset = self.moved(moving, skip);
        }
        Ok(out)
    }

    /// Every window of `size` coordinates along `dim`, `step` apart; the window becomes a new last
    /// dimension. A rank-0 tensor counts as one dimension of size 1.
    ///
    /// # Errors
    /// Index when `dim` is out of range; Runtime for a negative `size`, a `size` above that of the
    /// dimension, and a `step` below 1.
    pub fn unfold(&self, dim: isize, size: isize, step: isize) -> Result<Layout> {
        let d = dim_index("unfold", dim, self.rank())?;
        let whole = self.shape.get(d).copied().unwrap_or(1);
        ensure!(size >= 0, Runtime, "unfold", "size {size} is negative");
        ensure!(
            size as usize <= whole,
            Runtime,
            "unfold",
            "windows of size {size} do not fit in dimension {d}, which has size {whole}"
        );
        ensure!(step > 0, Runtime, "unfold", "step {step} must be positive");
        let mut out = self.clone();
        if self.rank() > 0 {
            out.shape[d] = (whole - size as usize) / step as usize + 1;
            out.strides[d] = self.strides[d].saturating_mul(step);
        }
        out.shape.push(size as usize);
        out.strides.push(self.strides.get(d).copied().unwrap_or(1));
        checked_numel("unfold", &out.shape)?;
        Ok(out)
    }

    /// Exactly these sizes and strides over the same storage; `offset` is absolute and defaults to
    /// this layout's. The caller compares [`Layout::storage_elements`] with the storage.
    ///
    /// # Errors
    /// Runtime when the lists differ in length, for a negative number, and when an index would
    /// overflow.
    pub fn as_strided(&self, sizes: &[isize], strides: &[isize], offset: Option<isize>) -> Result<Layout> {
        let shape = checked_shape("as_strided", sizes)?;
        ensure!(
            strides.iter().all(|&s| s >= 0),
            Runtime,
            "as_strided",
            "strides {strides:?} hold a negative one; flip reverses a dimension"
        );
        let offset = match offset {
            None => self.offset,
            Some(o) if o >= 0 => o as usize,
            Some(o) => bail!(Runtime, "as_strided", "storage offset {o} is negative"),
        };
        let out = Layout { shape, strides: Strides::from_slice(strides), offset };
        out.check("as_strided")?;
        Ok(out)
    }

    /// Reverses the listed dims with negative strides. Kernels read such a layout; it never becomes
    /// a tensor of the user's, for torch knows no negative strides.
    ///
    /// # Errors
    /// Index for a dim out of range, Runtime for one given twice.
    pub fn flip(&self, dims: &[isize]) -> Result<Layout> {
        let mask = dims_mask("flip", dims, self.rank())?;
        let mut out = self.clone();
        for d in (0..self.rank()).filter(|d| mask >> d & 1 == 1 && self.shape[*d] > 0) {
            out.offset = out.moved(d, self.shape[d] - 1);
            out.strides[d] = self.strides[d].saturating_neg();
        }
        Ok(out)
    }

    /// `len` coordinates of dimension `d` from `start` on; both are within the size.
    pub(super) fn part(&self, d: usize, start: usize, len: usize) -> Layout {
        let mut out = self.clone();
        out.offset = self.moved(d, start);
        out.shape[d] = len;
        out
    }

    /// The offset `count` steps along dimension `d`. It only saturates where no element is left.
    fn moved(&self, d: usize, count: usize) -> usize {
        let target = self.offset as i128 + count as i128 * self.strides[d] as i128;
        target.clamp(0, usize::MAX as i128) as usize
    }

    /// size * stride of dimension `d`: the stride of a dimension of size 1 in front of it.
    fn span(&self, d: usize) -> isize {
        self.strides[d].saturating_mul(self.shape[d] as isize)
    }

    /// The layout without the dims that `keep` refuses.
    fn keep_dims(&self, keep: impl Fn(usize) -> bool) -> Layout {
        let mut out = Layout { shape: Shape::new(), strides: Strides::new(), offset: self.offset };
        for d in (0..self.rank()).filter(|&d| keep(d)) {
            out.shape.push(self.shape[d]);
            out.strides.push(self.strides[d]);
        }
        out
    }
}

/// A slice bound as Python reads it: negative from the end, clamped to `0..=size`.
pub(super) fn clamp_bound(bound: isize, size: usize) -> usize {
    let size = size as isize;
    let from_front = if bound < 0 { bound.saturating_add(size) } else { bound };
    from_front.clamp(0, size) as usize
}
