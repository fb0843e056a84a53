//! Running sums, products and extrema along one axis, in linear time.

use crate::access::Ptr;
use crate::load_store::{Cast, Truth, with_compute, with_stored};
use crate::pool;
use num_complex::Complex;
use rushlight_core::backend::{ReduceOp, Scan};
use rushlight_core::layout::{Layout, Nest};
use rushlight_core::{CType, DType, Result};

/// A type that can be carried along.
trait Carry: Copy {
    fn join(self, other: Self, op: ReduceOp) -> Self;
}
macro_rules! carry {
    (ints $($t:ty)*) => { $( impl Carry for $t {
        #[inline(always)]
        fn join(self, b: Self, op: ReduceOp) -> Self {
            match op {
                ReduceOp::Prod => self.wrapping_mul(b),
                ReduceOp::Max => self.max(b),
                ReduceOp::Min => self.min(b),
                _ => self.wrapping_add(b),
            }
        }
    } )* };
    (floats $($t:ty)*) => { $( impl Carry for $t {
        #[inline(always)]
        fn join(self, b: Self, op: ReduceOp) -> Self {
            match op {
                ReduceOp::Prod => self * b,
                ReduceOp::Max => if self > b || self.is_nan() { self } else { b },
                ReduceOp::Min => if self < b || self.is_nan() { self } else { b },
                _ => self + b,
            }
        }
    } )* };
    (complex $($t:ty)*) => { $( impl Carry for $t {
        #[inline(always)]
        fn join(self, b: Self, op: ReduceOp) -> Self { if op == ReduceOp::Prod { self * b } else { self + b } }
    } )* };
}
carry!(ints i32 i64 u64);
carry!(floats f32 f64);
carry!(complex Complex<f32> Complex<f64>);
impl Carry for Truth {
    fn join(self, b: Self, op: ReduceOp) -> Self {
        Truth(if matches!(op, ReduceOp::Prod | ReduceOp::Min) { self.0 & b.0 } else { self.0 | b.0 })
    }
}

pub(crate) fn run(call: &Scan<'_>) -> Result<()> {
    let shape = call.out.layout().shape();
    if call.out.numel() == 0 {
        return Ok(());
    }
    let (dst, src) = (Ptr::write(&call.out), Ptr::read(&call.input));
    if shape.is_empty() {
        line(call.op, call.ctype, dst, src, 1, [0, 0]);
        return Ok(());
    }
    let (n, op, ctype) = (shape[call.axis], call.op, call.ctype);
    let steps = [call.out.layout().strides()[call.axis], call.input.layout().strides()[call.axis]];
    let rest = |l: &Layout| l.narrow(call.axis as isize, 0, 1);
    let (out, input) = (rest(call.out.layout())?, rest(call.input.layout())?);
    let nest = Nest::new(out.shape(), &[out.strides(), input.strides()]);
    pool::parallel_for(nest.numel(), (pool::GRAIN / n).max(1), |range| {
        nest.for_each_run(range, |offsets, len| {
            let inner = nest.inner_strides();
            for i in 0..len as isize {
                let at = |p: Ptr, k: usize| Ptr { at: p.offset(offsets[k] + i * inner[k]), ..p };
                line(op, ctype, at(dst, 0), at(src, 1), n, steps);
            }
        });
    });
    Ok(())
}

/// One line of `n` elements; the carry stays in the compute type, so halves round on store only.
fn line(op: ReduceOp, ctype: CType, dst: Ptr, src: Ptr, n: usize, steps: [isize; 2]) {
    with_compute!(ctype, |C| with_stored!(src.dtype, |S| with_stored!(dst.dtype, |D| {
        let mut total: Option<C> = None;
        for i in 0..n as isize {
            // SAFETY: the line lies inside both operands: the axis has n elements.
            unsafe {
                let v: C = src.offset(i * steps[1]).cast::<S>().read_unaligned().cast();
                let t = total.map_or(v, |t| t.join(v, op));
                total = Some(t);
                dst.offset(i * steps[0]).cast::<D>().write_unaligned(t.cast());
            }
        }
    })));
}
