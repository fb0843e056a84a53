//! Sorting along one axis, NaN as the largest; selection where only the first few are wanted.

use crate::access::Ptr;
use crate::load_store::{Truth, with_stored};
use crate::pool;
use half::{bf16, f16};
use num_complex::Complex;
use rushlight_core::backend::Sort;
use rushlight_core::layout::{Layout, Nest};
use rushlight_core::{DType, Result};
use std::cmp::Ordering;

/// A total order: NaN last, -0.0 equal to 0.0.
trait Order: Copy + Send + Sync {
    fn order(&self, other: &Self) -> Ordering;
}
macro_rules! order {
    (ints $($t:ty)*) => { $( impl Order for $t { #[inline(always)] fn order(&self, b: &Self) -> Ordering { self.cmp(b) } } )* };
    (floats $($t:ty)*) => { $( impl Order for $t {
        #[inline(always)]
        fn order(&self, b: &Self) -> Ordering {
            self.partial_cmp(b).unwrap_or_else(|| self.is_nan().cmp(&b.is_nan()))
        }
    } )* };
}
order!(ints u8 u16 u32 u64 i8 i16 i32 i64);
order!(floats f32 f64 f16 bf16);
impl Order for Truth {
    fn order(&self, b: &Self) -> Ordering {
        (self.0 != 0).cmp(&(b.0 != 0))
    }
}
// Refused by the ops: complex numbers have no order.
impl<T: Copy + Send + Sync> Order for Complex<T> {
    fn order(&self, _: &Self) -> Ordering {
        Ordering::Equal
    }
}

pub(crate) fn run(call: &Sort<'_>) -> Result<()> {
    if call.values.numel() == 0 {
        return Ok(());
    }
    let (values, indices, input) =
        (Ptr::write(&call.values), Ptr::write(&call.indices), Ptr::read(&call.input));
    let descending = call.descending;
    let scalar = call.input.layout().rank() == 0;
    let axis_of = |l: &Layout| -> Result<(Layout, isize, usize)> {
        if scalar {
            return Ok((l.clone(), 0, 1));
        }
        Ok((l.narrow(call.axis as isize, 0, 1)?, l.strides()[call.axis], l.shape()[call.axis]))
    };
    let (vl, vs, k) = axis_of(call.values.layout())?;
    let (il, is, _) = axis_of(call.indices.layout())?;
    let (sl, ss, n) = axis_of(call.input.layout())?;
    let nest = Nest::new(sl.shape(), &[vl.strides(), il.strides(), sl.strides()]);
    with_stored!(input.dtype, |T| {
        pool::parallel_for(nest.numel(), (pool::GRAIN / (8 * n)).max(1), |range| {
            let mut row: Vec<(T, i64)> = Vec::with_capacity(n);
            nest.for_each_run(range, |offsets, len| {
                let inner = nest.inner_strides();
                for r in 0..len as isize {
                    row.clear();
                    let start = offsets[2] + r * inner[2];
                    // SAFETY: the axis has n elements, and the nest walks the other axes.
                    row.extend((0..n as isize).map(|i| unsafe {
                        (input.offset(start + i * ss).cast::<T>().read_unaligned(), i as i64)
                    }));
                    sort_row(&mut row, k, descending);
                    for (i, (v, place)) in row.iter().take(k).enumerate() {
                        let i = i as isize;
                        // SAFETY: the outputs have k places along the axis.
                        unsafe {
                            values.offset(offsets[0] + r * inner[0] + i * vs).cast::<T>().write_unaligned(*v);
                            indices
                                .offset(offsets[1] + r * inner[1] + i * is)
                                .cast::<i64>()
                                .write_unaligned(*place);
                        }
                    }
                }
            });
        });
    });
    Ok(())
}

fn sort_row<T: Order>(row: &mut [(T, i64)], k: usize, descending: bool) {
    // Positions break ties, so that equal values keep their order whichever algorithm runs.
    let compare = |a: &(T, i64), b: &(T, i64)| {
        let by_value = if descending { b.0.order(&a.0) } else { a.0.order(&b.0) };
        by_value.then(a.1.cmp(&b.1))
    };
    if k < row.len() {
        if k == 0 {
            return;
        }
        row.select_nth_unstable_by(k - 1, compare);
        row[..k].sort_unstable_by(compare);
    } else {
        row.sort_unstable_by(compare);
    }
}
