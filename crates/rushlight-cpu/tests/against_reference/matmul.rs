//! Matrix products: dtypes, sizes, layouts, batches and factors.

use crate::operand::{Operand, agree, contiguous, exact, layouts};
use rushlight_core::backend::Matmul;
use rushlight_core::{DType, Layout, Number};

fn check(a: &Operand, b: &Operand, out: Layout, alpha: i64, beta: i64) {
    let (dtype, nan) = (a.dtype, beta == 0 && a.dtype.is_float());
    // What is not asked for must not be read.
    let values = exact(dtype, 5);
    let out = Operand::new(out, dtype, |i| if nan { Number::Float(f64::NAN) } else { values(i) });
    agree(&format!("{dtype} product, {alpha} and {beta}"), &[out], &[a, b], &|backend, outs, ins| {
        let (alpha, beta) = (Number::Int(alpha), Number::Int(beta));
        backend.matmul(&Matmul { out: outs[0], a: ins[0], b: ins[1], alpha, beta })
    });
}

#[test]
fn every_dtype_and_layout() {
    for dtype in DType::ALL.iter().filter(|d| **d != DType::Bool) {
        for [m, k, n] in [[3, 4, 5], [1, 6, 7], [7, 6, 1], [1, 9, 1], [17, 1, 19], [4, 0, 3], [0, 3, 2]] {
            let (a, b) = (layouts(&[m, k], true), layouts(&[k, n], true));
            for i in 0..a.len().max(b.len()) {
                let a = Operand::new(a[i % a.len()].clone(), *dtype, exact(*dtype, 1));
                let b = Operand::new(b[(i * 5 + 1) % b.len()].clone(), *dtype, exact(*dtype, 2));
                let out = layouts(&[m, n], false)[i % 3].clone();
                check(&a, &b, out, 1, 0);
            }
        }
    }
}

#[test]
fn factors() {
    for dtype in [DType::F32, DType::F64, DType::F16, DType::C64, DType::I8, DType::I64] {
        let a = Operand::new(contiguous(&[4, 6]), dtype, exact(dtype, 1));
        let b = Operand::new(contiguous(&[6, 3]), dtype, exact(dtype, 2));
        for (alpha, beta) in [(1, 1), (2, -1), (0, 1), (-3, 0), (0, 0)] {
            for out in layouts(&[4, 3], false) {
                check(&a, &b, out, alpha, beta);
            }
        }
    }
}

#[test]
fn batches_are_broadcast() {
    for dtype in [DType::F32, DType::BF16, DType::C128, DType::I32] {
        let b = Operand::new(contiguous(&[3, 2, 4, 5]), dtype, exact(dtype, 2));
        for strides in [[0isize, 12, 4, 1], [12, 0, 4, 1], [0, 0, 1, 3], [24, 12, 4, 1], [-24, 12, -4, 1]] {
            let back: isize = [3, 2, 3, 4].iter().zip(strides).map(|(n, s)| (n - 1) * -s.min(0)).sum();
            let layout = Layout::new(&[3, 2, 3, 4][..], &strides[..], back as usize).unwrap();
            let a = Operand::new(layout, dtype, exact(dtype, 1));
            for out in layouts(&[3, 2, 3, 5], false) {
                check(&a, &b, out, 1, 1);
            }
        }
    }
}

#[test]
fn large_products_are_cut_into_bands() {
    for [m, k, n] in [[130, 70, 90], [90, 70, 130], [1, 900, 700], [700, 900, 1], [260, 3, 1100]] {
        let dtypes = [DType::F32, DType::F64, DType::F16, DType::C64, DType::I32];
        for dtype in dtypes.into_iter().take(if m * k * n > 800_000 { 1 } else { 5 }) {
            let small = |seed| move |i: usize| Number::Int((crate::operand::noise(i + seed) % 5) as i64 - 2);
            let a = Operand::new(layouts(&[m, k], true)[m % 2].clone(), dtype, small(0));
            let b = Operand::new(layouts(&[k, n], true)[n % 2].clone(), dtype, small(7));
            check(&a, &b, contiguous(&[m, n]), 1, 0);
        }
    }
}
