//! Floats and complex numbers through `gemm`; halves by way of f32.

use super::Product;
use crate::access::Ptr;
use crate::load_store::Cast;
use half::{bf16, f16};
use num_complex::Complex;
use rushlight_core::{DType, Number};

/// Runs `gemm` on one product. The crate computes `alpha * dst + beta * lhs @ rhs`: the reverse of
/// BLAS's names.
fn gemm_run<T: 'static + Copy>(p: &Product, keep: Option<T>, scale: T, zero: T) {
    // SAFETY: sizes and strides come from layouts that were checked against their storages, and
    // the output overlaps no operand. Foreign memory may be unaligned: `aligned` was checked.
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

fn real(n: Number) -> f64 {
    n.to_f64()
}

pub(super) fn run(p: &Product) {
    let kept = p.beta.to_bool();
    match p.out.dtype {
        DType::F32 => gemm_run::<f32>(p, kept.then(|| real(p.beta) as f32), real(p.alpha) as f32, 0.0),
        DType::F64 => gemm_run::<f64>(p, kept.then(|| real(p.beta)), real(p.alpha), 0.0),
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

/// A matrix of halves as f32, row-major.
fn widen<T: Copy + Cast<f32>>(from: Ptr, rows: usize, columns: usize, strides: [isize; 2]) -> Vec<f32> {
    let mut all = Vec::with_capacity(rows * columns);
    for r in 0..rows as isize {
        all.extend((0..columns as isize).map(|c| -> f32 {
            // SAFETY: the layout was checked against its storage.
            unsafe { from.offset(r * strides[0] + c * strides[1]).cast::<T>().read_unaligned() }.cast()
        }));
    }
    all
}

fn half_product<T: Copy + Cast<f32>>(p: &Product)
where
    f32: Cast<T>,
{
    let mut a = widen::<T>(p.a, p.m, p.k, p.a_strides);
    let mut b = widen::<T>(p.b, p.k, p.n, p.b_strides);
    let mut out =
        if p.beta.to_bool() { widen::<T>(p.out, p.m, p.n, p.out_strides) } else { vec![0.0; p.m * p.n] };
    let ptr = |v: &mut Vec<f32>| Ptr { at: v.as_mut_ptr().cast(), dtype: DType::F32 };
    let (k, n) = (p.k as isize, p.n as isize);
    let wide = Product {
        a: ptr(&mut a),
        b: ptr(&mut b),
        out: ptr(&mut out),
        a_strides: [k, 1],
        b_strides: [n, 1],
        out_strides: [n, 1],
        ..*p
    };
    run(&wide);
    for (at, v) in out.iter().enumerate() {
        let (r, c) = ((at / p.n) as isize, (at % p.n) as isize);
        // SAFETY: the layout was checked against its storage.
        unsafe {
            p.out.offset(r * p.out_strides[0] + c * p.out_strides[1]).cast::<T>().write_unaligned((*v).cast())
        };
    }
}

pub(super) fn run_half(p: &Product) {
    if p.out.dtype == DType::F16 { half_product::<f16>(p) } else { half_product::<bf16>(p) }
}
