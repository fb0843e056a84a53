//! Fourier transforms of lines, several at once on the pool. Plans are kept for the process: a size
//! that came once comes again.

use crate::access::Ptr;
use crate::pool;
use num_complex::Complex;
use rushlight_core::backend::Fft;
use rushlight_core::{DType, Result, bail, ensure};
use rustfft::{FftNum, FftPlanner};
use std::sync::{LazyLock, Mutex, PoisonError};

static SINGLE: LazyLock<Mutex<FftPlanner<f32>>> = LazyLock::new(|| Mutex::new(FftPlanner::new()));
static DOUBLE: LazyLock<Mutex<FftPlanner<f64>>> = LazyLock::new(|| Mutex::new(FftPlanner::new()));

pub(crate) fn run(call: &Fft<'_>) -> Result<()> {
    match call.input.dtype() {
        DType::C64 => lines(call, &SINGLE, call.scale as f32),
        DType::C128 => lines(call, &DOUBLE, call.scale),
        dtype => bail!(NotImplemented, "fft", "there is no transform of {dtype}; convert to a complex dtype"),
    }
}

fn lines<T: FftNum>(call: &Fft<'_>, planner: &Mutex<FftPlanner<T>>, scale: T) -> Result<()> {
    let n = call.input.layout().shape().last().copied().unwrap_or(1);
    let count = call.input.numel();
    if count == 0 {
        return Ok(());
    }
    let dense = call.input.layout().is_contiguous() && call.out.layout().is_contiguous();
    let alike = call.out.dtype() == call.input.dtype() && call.out.numel() == count;
    ensure!(dense && alike, Runtime, "fft", "the operands of a transform must be row-major and alike");
    let plan = {
        let mut planner = planner.lock().unwrap_or_else(PoisonError::into_inner);
        if call.inverse { planner.plan_fft_inverse(n) } else { planner.plan_fft_forward(n) }
    };
    let (from, to) = (Ptr::read(&call.input), Ptr::write(&call.out));
    // A transform costs about its length times the logarithm of it.
    let cost = n * (usize::BITS - n.leading_zeros()) as usize;
    pool::parallel_for(count / n, (pool::GRAIN / cost).max(1), |range| {
        let (start, len) = (range.start * n, range.len() * n);
        // SAFETY: both operands are row-major with `count` elements of this type, checked above; ranges
        // of lines are disjoint, and the plan of the call keeps other threads out.
        let (src, dst) = unsafe {
            (
                std::slice::from_raw_parts(from.offset(start as isize).cast::<Complex<T>>(), len),
                std::slice::from_raw_parts_mut(to.offset(start as isize).cast::<Complex<T>>(), len),
            )
        };
        dst.copy_from_slice(src);
        let mut scratch = vec![Complex::new(T::zero(), T::zero()); plan.get_inplace_scratch_len()];
        plan.process_with_scratch(dst, &mut scratch);
        if scale != T::one() {
            dst.iter_mut().for_each(|z| *z = *z * scale);
        }
    });
    Ok(())
}
