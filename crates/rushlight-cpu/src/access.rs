//! Pointers of spans in a form that may cross threads.

use rushlight_core::DType;
use rushlight_core::mem::{Span, SpanMut};

/// Start and dtype of an operand. Kernels add element offsets to it.
#[derive(Clone, Copy)]
pub(crate) struct Ptr {
    pub at: *mut u8,
    pub dtype: DType,
}

// SAFETY: a `Ptr` lives inside one backend call, whose lock plan keeps the memory and keeps other
// threads out; tasks of one call write disjoint elements.
unsafe impl Send for Ptr {}
// SAFETY: as above.
unsafe impl Sync for Ptr {}

impl Ptr {
    pub(crate) fn read(span: &Span<'_>) -> Ptr {
        Ptr { at: span.ptr().cast_mut(), dtype: span.dtype() }
    }
    pub(crate) fn write(span: &SpanMut<'_>) -> Ptr {
        Ptr { at: span.ptr(), dtype: span.dtype() }
    }
    /// The address `elements` further on.
    #[inline(always)]
    pub(crate) fn offset(self, elements: isize) -> *mut u8 {
        self.at.wrapping_offset(elements * self.dtype.size() as isize)
    }
}
