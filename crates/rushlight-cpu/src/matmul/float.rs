//! Floats and complex numbers through `gemm`.

use super::Product;
use crate::access::Ptr;
use crate::copy;
use crate::isa::{Level, level};
use num_complex::Complex;
use rushlight_core::{DType, Number};
use std::cell::RefCell;

/// Elements that are turned at once: they stay in the cache until they are packed.
const TURNED: usize = 1 << 15;

thread_local! {
    /// Room for those, aligned for all of them.
    static ROOM: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

/// As [`gemm_run`], for real numbers. `gemm` packs a left side with dense rows (a layer's weight) one element after
/// another, which takes longer than a product with few columns; turned here first, it is packed by columns.
fn real_run<T: 'static + Copy>(p: &Product, keep: Option<T>, scale: T, zero: T) {
    let flat = p.out_strides[1].abs() < p.out_strides[0].abs();
    let p = if flat { p.transposed() } else { *p };
    let fits =
        p.a_strides[1] == 1 && p.a_strides[0] > 1 && p.n > 1 && p.m >= 8 && (8..=TURNED / 8).contains(&p.k);
    let room = ROOM.try_with(|room| room.try_borrow_mut().map(|mut room| std::mem::take(&mut *room)));
    let (true, Ok(Ok(mut room))) = (fits, room) else {
        return gemm_run(&p, keep, scale, zero);
    };
    room.reserve(TURNED.saturating_sub(room.len()));
    let rows = TURNED / p.k / 8 * 8;
    for i in (0..p.m).step_by(rows) {
        let part = p.part(i, rows.min(p.m - i));
        let at = room.as_mut_ptr().cast::<u8>();
        // SAFETY: there is room for `TURNED` elements of at most eight bytes, and `rows * k` are no more; the left side has
        // `m` rows of `k` elements by the layouts that were checked.
        unsafe { copy::turn(at, part.a.at, [part.m, part.k], part.a_strides[0], size_of::<T>()) };
        let a = Ptr { at, ..part.a };
        gemm_run(&Product { a, a_strides: [1, part.m as isize], ..part }, keep, scale, zero);
    }
    let _ = ROOM.try_with(|kept| kept.replace(room));
}

/// Runs `gemm` on one product. The crate computes `alpha * dst + beta * lhs @ rhs`: the reverse of
/// BLAS's names.
fn gemm_run<T: 'static + Copy>(p: &Product, keep: Option<T>, scale: T, zero: T) {
    // SAFETY: sizes and strides come from layouts that were checked against their storages, the
    // output overlaps no operand, and `suits` checked that elements are aligned.
    unsafe {
        gemm::gemm(
            p.m,
            p.n,
            p.k,
            p.out.at.cast::<T>(),
            p.out_strides[1],
            p.out_strides[0],
            keep.is_some(),
            p.a.at.cast::<T>(),
            p.a_strides[1],
            p.a_strides[0],
            p.b.at.cast::<T>(),
            p.b_strides[1],
            p.b_strides[0],
            keep.unwrap_or(zero),
            scale,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

/// Whether `gemm` may have it: elements are aligned (foreign memory may not be), and the cap on
/// instructions, which `gemm` does not know, is not at the lowest.
pub(super) fn suits(p: &Product) -> bool {
    let align = p.out.dtype.real().size();
    let aligned = |p: Ptr| p.at.addr().is_multiple_of(align);
    level() > Level::Scalar && aligned(p.out) && aligned(p.a) && aligned(p.b)
}

pub(super) fn run(p: &Product) {
    let kept = p.beta.to_bool();
    match p.out.dtype {
        DType::F32 => {
            let f = |n: Number| n.to_f64() as f32;
            real_run::<f32>(p, kept.then(|| f(p.beta)), f(p.alpha), 0.0);
        }
        DType::F64 => real_run::<f64>(p, kept.then(|| p.beta.to_f64()), p.alpha.to_f64(), 0.0),
        DType::C64 => {
            let c = |n: Number| Complex::new(n.to_complex().re as f32, n.to_complex().im as f32);
            gemm_run::<Complex<f32>>(p, kept.then(|| c(p.beta)), c(p.alpha), Complex::new(0.0, 0.0));
        }
        _ => gemm_run::<Complex<f64>>(
            p,
            kept.then(|| p.beta.to_complex()),
            p.alpha.to_complex(),
            Complex::new(0.0, 0.0),
        ),
    }
}
