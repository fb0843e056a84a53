//! Floats and complex numbers through `gemm`.

use super::Product;
use crate::access::Ptr;
use crate::isa::{Level, level};
use num_complex::Complex;
use rushlight_core::{DType, Number};

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
            gemm_run::<f32>(p, kept.then(|| f(p.beta)), f(p.alpha), 0.0);
        }
        DType::F64 => gemm_run::<f64>(p, kept.then(|| p.beta.to_f64()), p.alpha.to_f64(), 0.0),
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
