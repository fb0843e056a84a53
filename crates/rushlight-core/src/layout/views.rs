//! Views of some of the elements: select, narrow, slice, diagonal, unfold, as_strided, flip.

use super::{Layout, Strides, checked_numel, checked_shape, dim_index, dims_mask, existing_dim};
use crate::{Result, bail, ensure};

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
}

/// A slice bound as Python reads it: negative from the end, clamped to `0..=size`.
pub(super) fn clamp_bound(bound: isize, size: usize) -> usize {
    let size = size as isize;
    let from_front = if bound < 0 { bound.saturating_add(size) } else { bound };
    from_front.clamp(0, size) as usize
}
