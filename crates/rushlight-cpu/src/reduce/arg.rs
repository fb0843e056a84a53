//! Positions of extrema.

use super::split;
use crate::access::Ptr;
use crate::load_store::Truth;
use crate::load_store::with_stored;
use crate::pool;
use half::{bf16, f16};
use num_complex::Complex;
use rushlight_core::backend::{Reduce, ReduceOp};
use rushlight_core::layout::Nest;
use rushlight_core::{DType, Result};

/// An order in which NaN comes before everything, so that it wins.
trait Beats: Copy {
    /// Whether `self` replaces `other` as the extremum (not on a tie: the first stays).
    fn beats(self, other: Self, largest: bool) -> bool;
}
macro_rules! beats {
    (ints $($t:ty)*) => { $( impl Beats for $t {
        #[inline(always)]
        fn beats(self, other: Self, largest: bool) -> bool { if largest { self > other } else { self < other } }
    } )* };
    (floats $($t:ty)*) => { $( impl Beats for $t {
        #[inline(always)]
        fn beats(self, other: Self, largest: bool) -> bool {
            !other.is_nan() && (self.is_nan() || if largest { self > other } else { self < other })
        }
    } )* };
}
beats!(ints u8 u16 u32 u64 i8 i16 i32 i64);
beats!(floats f32 f64 f16 bf16);
impl Beats for Truth {
    fn beats(self, other: Self, largest: bool) -> bool {
        ((self.0 != 0) as u8).beats((other.0 != 0) as u8, largest)
    }
}
// Complex numbers have no order; the ops refuse them.
impl<T: Copy> Beats for Complex<T> {
    fn beats(self, _: Self, _: bool) -> bool {
        false
    }
}

pub(super) fn run(call: &Reduce<'_>) -> Result<()> {
    let input = &call.ins[0];
    let (kept, reduced) = split(input.layout().shape(), input.layout().strides(), call.axes);
    let out_strides: Vec<isize> = call
        .out
        .layout()
        .strides()
        .iter()
        .enumerate()
        .filter(|(d, _)| call.axes >> d & 1 == 0)
        .map(|(_, s)| *s)
        .collect();
    let (src, out) = (Ptr::read(input), Ptr::write(&call.out));
    let outs = Nest::in_order(kept.shape(), &[&out_strides, kept.strides()]);
    let inner = Nest::in_order(reduced.shape(), &[reduced.strides()]);
    let largest = call.op == ReduceOp::ArgMax;
    let count = reduced.numel();
    let step = inner.inner_strides()[0];
    with_stored!(src.dtype, |T| {
        pool::parallel_for(kept.numel(), (pool::GRAIN / count.max(1)).max(1), |range| {
            outs.for_each_run(range, |offsets, len| {
                let strides = outs.inner_strides();
                for i in 0..len as isize {
                    let start = offsets[1] + i * strides[1];
                    let mut best: Option<T> = None;
                    let (mut place, mut at) = (0i64, 0i64);
                    inner.for_each_run(0..count, |o, n| {
                        for j in 0..n as isize {
                            // SAFETY: both nests walk the operand's own shape.
                            let v =
                                unsafe { src.offset(start + o[0] + j * step).cast::<T>().read_unaligned() };
                            if best.is_none_or(|b| v.beats(b, largest)) {
                                (best, place) = (Some(v), at + j as i64);
                            }
                        }
                        at += n as i64;
                    });
                    // SAFETY: the nest walks the output's own shape; its dtype is int64.
                    unsafe { out.offset(offsets[0] + i * strides[0]).cast::<i64>().write_unaligned(place) };
                }
            });
        });
    });
    Ok(())
}
