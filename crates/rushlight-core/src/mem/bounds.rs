//! Whether a layout stays inside a storage: the check behind every access to memory.

use crate::layout::Layout;
use crate::{DType, Error, err};

/// Whether every element `layout` reaches lies within the first `have` bytes. An empty one reaches
/// none. Strides may be negative; whatever overflows does not fit.
#[inline]
pub(super) fn fits(layout: &Layout, dtype: DType, have: usize) -> bool {
    layout.shape().contains(&0) || end(layout, dtype).is_some_and(|end| end <= have)
}

/// One past the last byte reached; none when something lies before byte zero or overflows.
#[inline]
fn end(layout: &Layout, dtype: DType) -> Option<usize> {
    let (mut low, mut high) = (0isize, 0isize);
    for (&n, &stride) in layout.shape().iter().zip(layout.strides()) {
        let reach = isize::try_from(n - 1).ok()?.checked_mul(stride)?;
        if reach < 0 {
            low = low.checked_add(reach)?;
        } else {
            high = high.checked_add(reach)?;
        }
    }
    layout.offset().checked_add_signed(low)?;
    layout.offset().checked_add_signed(high)?.checked_add(1)?.checked_mul(dtype.size())
}

/// The error for a layout that does not fit.
#[cold]
pub(super) fn error(op: &'static str, layout: &Layout, dtype: DType, have: usize) -> Error {
    let (shape, strides, offset) = (layout.shape(), layout.strides(), layout.offset());
    match end(layout, dtype) {
        Some(need) => err!(
            Runtime,
            op,
            "a {dtype} tensor of shape {shape:?}, strides {strides:?} and offset {offset} needs {need} bytes of \
             its storage, which has {have}; if the storage was shrunk, resize it back or make a new tensor"
        ),
        None => err!(
            Runtime,
            op,
            "a {dtype} tensor of shape {shape:?}, strides {strides:?} and offset {offset} reaches outside \
             its storage of {have} bytes"
        ),
    }
}
