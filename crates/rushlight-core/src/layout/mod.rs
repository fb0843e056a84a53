//! The addressing formula and the algebra of views.
//!
//! ```text
//! element index = offset + sum(i_k * stride_k)
//! ```
//!
//! A [`Layout`] says where the elements of a tensor lie, counted in elements of its dtype; it owns no
//! data, knows no dtype and checks no storage: whoever joins it with a storage compares
//! [`Layout::storage_elements`] with what the storage holds. The files:
//!
//! - `views`: some of the elements: select, slice, diagonal, unfold ..;
//! - `dims`: the same elements under other dims: squeeze, permute ..;
//! - `reshape`: view, flatten, dtype views: possible for some strides only;
//! - `split`: the ranges of split, chunk and tensor_split;
//! - `broadcast`: joint shapes, expand;
//! - `strides`: contiguity, and which strides a fresh result takes;
//! - `overlap`: does one memory cell serve two elements;
//! - `nest`: the joint loop of a kernel over several operands.

mod broadcast;
mod dims;
mod nest;
mod overlap;
mod reshape;
mod split;
mod strides;
mod views;

#[cfg(test)]
mod tests;

use crate::{Result, bail, ensure, err};
use smallvec::SmallVec;

pub use broadcast::broadcast_shapes;
pub use nest::{Nest, Rows};
pub use overlap::{InternalOverlap, Overlap, exact_overlap, pair_overlap};
pub use reshape::infer_shape;
pub use split::{
    chunk_ranges, split_ranges, split_with_sizes_ranges, tensor_split_at_ranges, tensor_split_ranges,
};
pub use strides::{channels_last_strides, contiguous_strides, elementwise_strides};

/// Sizes, outermost first; inline up to rank 6.
pub type Shape = SmallVec<[usize; 6]>;
/// Steps in elements, one per dimension; inline up to rank 6.
pub type Strides = SmallVec<[isize; 6]>;

/// Where the elements of a tensor lie: shape, strides and offset, all counted in elements.
///
/// Every constructor keeps two promises: the product of all sizes (a size 0 counted as 1) fits in
/// an `isize`, and so does every index an element can have, from 0 up.
/// A dimension of at most one element may carry any stride: its stride is never walked. The view
/// methods rely on that and let such a stride saturate instead of reporting an overflow.
#[derive(PartialEq, Eq, Debug)]
pub struct Layout {
    shape: Shape,
    strides: Strides,
    offset: usize,
}

// By hand, because a copy of a slice is one move of memory and a clone of its items is a loop.
impl Clone for Layout {
    #[inline]
    fn clone(&self) -> Layout {
        Layout {
            shape: Shape::from_slice(&self.shape),
            strides: Strides::from_slice(&self.strides),
            offset: self.offset,
        }
    }
}

impl Layout {
    /// C-ordered elements from index 0 on.
    ///
    /// # Errors
    /// Runtime when the number of elements does not fit in an `isize`.
    pub fn contiguous(shape: impl Into<Shape>) -> Result<Layout> {
        let shape = shape.into();
        checked_numel("empty", &shape)?;
        let strides = contiguous_strides(&shape);
        Ok(Layout { shape, strides, offset: 0 })
    }

    /// The layout of a rank-0 tensor: one element, at index 0.
    pub fn scalar() -> Layout {
        Layout { shape: Shape::new(), strides: Strides::new(), offset: 0 }
    }

    /// Exactly this shape, these strides (negative ones too) and this offset.
    ///
    /// # Errors
    /// Runtime when ranks differ, when the number of elements does not fit in an `isize`, or when an
    /// element would lie below index 0 or beyond `isize::MAX`.
    pub fn new(shape: impl Into<Shape>, strides: impl Into<Strides>, offset: usize) -> Result<Layout> {
        let layout = Layout { shape: shape.into(), strides: strides.into(), offset };
        layout.check("layout")?;
        Ok(layout)
    }

    /// Sizes, outermost first.
    #[inline]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Steps in elements, one per dimension.
    #[inline]
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// Index of the element whose coordinates are all 0.
    #[inline]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Number of dimensions.
    #[inline]
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Number of elements.
    #[inline]
    pub fn numel(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there is no element at all.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Size of dimension `dim`; negative `dim` counts from the end.
    ///
    /// # Errors
    /// Index when `dim` is out of range; a rank-0 layout has no dimension.
    pub fn size(&self, dim: isize) -> Result<usize> {
        Ok(self.shape[existing_dim("size", dim, self.rank())?])
    }

    /// Shape and strides, the form in which [`elementwise_strides`] takes an operand.
    #[inline]
    pub fn parts(&self) -> (&[usize], &[isize]) {
        (&self.shape, &self.strides)
    }

    /// The same shape and strides from element 0 on; a row-major layout stays within its promises.
    #[inline]
    pub(crate) fn plain_at_origin(&self) -> Layout {
        debug_assert!(self.is_plain());
        Layout { offset: 0, ..self.clone() }
    }

    /// The same shape and strides from another first element.
    ///
    /// # Errors
    /// Runtime when an element would lie below index 0 or beyond `isize::MAX`.
    pub fn with_offset(mut self, offset: usize) -> Result<Layout> {
        self.offset = offset;
        self.check("layout")?;
        Ok(self)
    }

    /// Lowest index touched and one past the highest; `None` when there is no element.
    pub fn extent(&self) -> Option<(usize, usize)> {
        if self.is_empty() {
            return None;
        }
        let (mut low, mut high) = (self.offset, self.offset);
        for (&size, &stride) in self.shape.iter().zip(&self.strides) {
            // A single element walks nothing, whatever its stride.
            let reach = (size - 1) * if size > 1 { stride.unsigned_abs() } else { 0 };
            if stride < 0 { low -= reach } else { high += reach }
        }
        Some((low, high + 1))
    }

    /// How many elements a storage must hold so that every element of this layout lies inside.
    pub fn storage_elements(&self) -> usize {
        self.extent().map_or(0, |(_, high)| high)
    }

    /// Both promises of the type, or an error in the name of `op`.
    fn check(&self, op: &'static str) -> Result<()> {
        let (shape, strides) = self.parts();
        ensure!(
            shape.len() == strides.len(),
            Runtime,
            op,
            "shape {shape:?} and strides {strides:?} differ in rank; give one stride a dimension"
        );
        checked_numel(op, shape)?;
        if self.is_empty() {
            return Ok(());
        }
        let (mut low, mut high) = (self.offset as i128, self.offset as i128);
        for (&size, &stride) in shape.iter().zip(strides) {
            let reach = (size as i128 - 1) * stride as i128;
            if reach < 0 { low += reach } else { high += reach }
        }
        ensure!(
            low >= 0 && high < isize::MAX as i128,
            Runtime,
            op,
            "shape {shape:?} with strides {strides:?} and offset {} reaches elements {low} to {high}; \
             they must lie within 0 and {}",
            self.offset,
            isize::MAX - 1
        );
        Ok(())
    }
}

/// Number of elements of `shape`, in the name of `op`.
///
/// # Errors
/// Runtime when the product of the sizes does not fit in an `isize`. A size 0 counts as 1 here, so
/// that contiguous strides exist for every shape that passes.
pub fn checked_numel(op: &'static str, shape: &[usize]) -> Result<usize> {
    let mut product = 1usize;
    let mut empty = false;
    for &size in shape {
        empty |= size == 0;
        match product.checked_mul(size.max(1)) {
            Some(p) if p <= isize::MAX as usize => product = p,
            _ => bail!(Runtime, op, "shape {shape:?} has more than {} elements", isize::MAX),
        }
    }
    Ok(if empty { 0 } else { product })
}

/// Number of bytes that `shape` takes with elements of `item_size` bytes, in the name of `op`.
///
/// # Errors
/// Runtime when that number does not fit in an `isize`.
pub fn checked_bytes(op: &'static str, shape: &[usize], item_size: usize) -> Result<usize> {
    let numel = checked_numel(op, shape)?;
    numel.checked_mul(item_size).filter(|&bytes| bytes <= isize::MAX as usize).ok_or_else(|| {
        err!(Runtime, op, "shape {shape:?} of {item_size} byte elements takes more than {} bytes", isize::MAX)
    })
}

/// Turns sizes given by a user into a [`Shape`], in the name of `op`.
///
/// # Errors
/// Runtime for a negative size, and when the number of elements does not fit in an `isize`.
pub fn checked_shape(op: &'static str, sizes: &[isize]) -> Result<Shape> {
    let mut shape = Shape::with_capacity(sizes.len());
    for &size in sizes {
        ensure!(size >= 0, Runtime, op, "shape {sizes:?} has a negative size {size}");
        shape.push(size as usize);
    }
    checked_numel(op, &shape)?;
    Ok(shape)
}

/// `dim` as an index from the front; negative counts from the end. A rank-0 tensor is treated as
/// if it had one dimension: 0 and -1 give 0, so check the rank before indexing a shape with it.
///
/// # Errors
/// Index when `dim` is outside `-rank..rank`.
#[inline]
pub fn dim_index(op: &'static str, dim: isize, rank: usize) -> Result<usize> {
    let count = rank.max(1) as isize;
    let index = if dim < 0 { dim.wrapping_add(count) } else { dim };
    if (0..count).contains(&index) {
        return Ok(index as usize);
    }
    bail!(Index, op, "dim {dim} is out of range; rank {rank} takes {} to {}", -count, count - 1)
}

/// [`dim_index`] for ops that need a dimension to exist: the result always indexes the shape.
///
/// # Errors
/// Index when `dim` is outside `-rank..rank`, and for every `dim` of a rank-0 tensor.
#[inline]
pub fn existing_dim(op: &'static str, dim: isize, rank: usize) -> Result<usize> {
    ensure!(rank > 0, Index, op, "dim {dim} of a 0-d tensor does not exist; unsqueeze it first");
    dim_index(op, dim, rank)
}

/// A set of dimensions as bits, bit k for dimension k; rank 0 counts as one dimension.
///
/// # Errors
/// Index for a dim out of range, Runtime for one given twice and for ranks above 64.
pub fn dims_mask(op: &'static str, dims: &[isize], rank: usize) -> Result<u64> {
    ensure!(rank <= 64, Runtime, op, "rank {rank} is too large; a list of dims takes ranks up to 64");
    let mut mask = 0u64;
    for &dim in dims {
        let bit = 1u64 << dim_index(op, dim, rank)?;
        ensure!(mask & bit == 0, Runtime, op, "dim {dim} appears twice in {dims:?}");
        mask |= bit;
    }
    Ok(mask)
}
