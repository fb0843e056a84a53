//! Where elements are not zero.

use crate::access::Ptr;
use crate::load_store::{Cast, Truth, with_stored};
use rushlight_core::layout::Nest;
use rushlight_core::mem::Span;
use rushlight_core::{DType, Result};

/// Positions, all of axis 0 first. A 0-d tensor has no axis: its count is lost, callers look at it.
pub(crate) fn run(input: &Span<'_>) -> Result<Vec<i64>> {
    let (shape, src) = (input.layout().shape(), Ptr::read(input));
    let mut found: Vec<usize> = Vec::new();
    let nest = Nest::in_order(shape, &[input.layout().strides()]);
    let stride = nest.inner_strides()[0];
    let mut at = 0;
    with_stored!(input.dtype(), |T| {
        nest.for_each_run(0..nest.numel(), |offsets, len| {
            for i in 0..len {
                let p = src.offset(offsets[0] + i as isize * stride).cast::<T>();
                // SAFETY: the nest walks the operand's own shape, so this element lies inside it.
                let t: Truth = unsafe { p.read_unaligned() }.cast();
                if t.0 != 0 {
                    found.push(at + i);
                }
            }
            at += len;
        });
    });
    let mut result = Vec::with_capacity(found.len() * shape.len());
    let mut inner: usize = shape.iter().product();
    for n in shape {
        inner = inner.checked_div(*n).unwrap_or(0).max(1);
        result.extend(found.iter().map(|f| (f / inner % n) as i64));
    }
    Ok(result)
}
