//! Writes at computed places, in row-major order.

use crate::access::Ptr;
use crate::gather::{check, copy_one, step};
use crate::load_store::{Cast, Truth, with_stored};
use half::{bf16, f16};
use num_complex::Complex;
use rushlight_core::backend::{Scatter, ScatterOp};
use rushlight_core::layout::Nest;
use rushlight_core::{DType, Result, ensure};
use smallvec::SmallVec;

/// How a stored type combines; halves by way of f32, rounded each time as torch does.
trait Combine: Copy {
    fn combine(self, other: Self, op: ScatterOp) -> Self;
}

macro_rules! combine {
    (ints $($t:ty)*) => { $( impl Combine for $t {
        fn combine(self, b: Self, op: ScatterOp) -> Self {
            match op {
                ScatterOp::Set => b,
                ScatterOp::Add => self.wrapping_add(b),
                ScatterOp::Mul => self.wrapping_mul(b),
                ScatterOp::Max => self.max(b),
                ScatterOp::Min => self.min(b),
            }
        }
    } )* };
    (floats $($t:ty)*) => { $( impl Combine for $t {
        fn combine(self, b: Self, op: ScatterOp) -> Self {
            match op {
                ScatterOp::Set => b,
                ScatterOp::Add => self + b,
                ScatterOp::Mul => self * b,
                ScatterOp::Max => if self > b || self.is_nan() { self } else { b },
                ScatterOp::Min => if self < b || self.is_nan() { self } else { b },
            }
        }
    } )* };
    (halves $($t:ty)*) => { $( impl Combine for $t {
        fn combine(self, b: Self, op: ScatterOp) -> Self {
            if op == ScatterOp::Set { return b; }
            let (x, y): (f32, f32) = (self.cast(), b.cast());
            x.combine(y, op).cast()
        }
    } )* };
    // Extrema of complex numbers are refused before they get here.
    (complex $($t:ty)*) => { $( impl Combine for $t {
        fn combine(self, b: Self, op: ScatterOp) -> Self {
            match op {
                ScatterOp::Add => self + b,
                ScatterOp::Mul => self * b,
                _ => b,
            }
        }
    } )* };
}
combine!(ints u8 u16 u32 u64 i8 i16 i32 i64);
combine!(floats f32 f64);
combine!(halves f16 bf16);
combine!(complex Complex<f32> Complex<f64>);
impl Combine for Truth {
    fn combine(self, b: Self, op: ScatterOp) -> Self {
        match op {
            ScatterOp::Set => b,
            ScatterOp::Add | ScatterOp::Max => Truth(u8::from(self.0 != 0 || b.0 != 0)),
            ScatterOp::Mul | ScatterOp::Min => Truth(u8::from(self.0 != 0 && b.0 != 0)),
        }
    }
}

pub(crate) fn run(call: &Scatter<'_>) -> Result<()> {
    if call.src.numel() == 0 {
        return Ok(());
    }
    let extrema = matches!(call.op, ScatterOp::Max | ScatterOp::Min);
    ensure!(
        !(extrema && call.dst.dtype().is_complex()),
        NotImplemented,
        "scatter",
        "complex numbers have no order"
    );
    check(call.indices, call.wrap)?;
    let (dst, src) = (Ptr::write(&call.dst), Ptr::read(&call.src));
    let ptrs: SmallVec<[Ptr; 4]> = call.indices.iter().map(|i| Ptr::read(&i.index)).collect();
    let mut strides: SmallVec<[&[isize]; 6]> = SmallVec::new();
    strides.push(call.dst.layout().strides());
    strides.push(call.src.layout().strides());
    strides.extend(call.indices.iter().map(|i| i.index.layout().strides()));
    let nest = Nest::in_order(call.src.layout().shape(), &strides);
    let inner: SmallVec<[isize; 6]> = nest.inner_strides().into();
    let size = dst.dtype.size();
    // A row whose positions do not change moves as a whole.
    let whole = inner[2..].iter().all(|s| *s == 0);
    with_stored!(dst.dtype, |T| {
        nest.for_each_run(0..nest.numel(), |offsets, len| {
            let shift = |i: isize| -> isize {
                let all = call.indices.iter().zip(&ptrs).enumerate();
                all.map(|(k, (ix, p))| step(*p, offsets[k + 2] + i * inner[k + 2], ix.stride, ix.size)).sum()
            };
            let fixed = if whole { Some(shift(0)) } else { None };
            if let (Some(shift), 1, 1) = (fixed, inner[0], inner[1]) {
                let (to, from) = (dst.offset(offsets[0] + shift), src.offset(offsets[1]));
                // SAFETY: positions were checked, so the row lies inside the target; the nest walks
                // the source's own shape; source and target are apart, or one element is both.
                unsafe { whole_row::<T>(call.op, to.cast(), from.cast(), len) };
                return;
            }
            for i in 0..len as isize {
                let to = dst.offset(offsets[0] + i * inner[0] + fixed.unwrap_or_else(|| shift(i)));
                let from = src.offset(offsets[1] + i * inner[1]);
                // SAFETY: positions were checked against the axis, so `to` lies inside the target;
                // the nest walks the source's own shape.
                unsafe {
                    if call.op == ScatterOp::Set {
                        copy_one(from, to, size);
                    } else {
                        let (a, b) = (to.cast::<T>().read_unaligned(), from.cast::<T>().read_unaligned());
                        to.cast::<T>().write_unaligned(a.combine(b, call.op));
                    }
                }
            }
        });
    });
    Ok(())
}

/// Combines `n` dense elements into as many others.
///
/// # Safety
/// Both rows have n elements, perhaps unaligned, and do not overlap unless they are the same.
unsafe fn whole_row<T: Combine>(op: ScatterOp, to: *mut T, from: *const T, n: usize) {
    if op == ScatterOp::Set {
        // SAFETY: the caller's promise.
        return unsafe { std::ptr::copy(from.cast::<u8>(), to.cast(), n * size_of::<T>()) };
    }
    for i in 0..n {
        let (to, from) = (to.wrapping_add(i), from.wrapping_add(i));
        // SAFETY: the caller's promise.
        unsafe { to.write_unaligned(to.read_unaligned().combine(from.read_unaligned(), op)) };
    }
}
