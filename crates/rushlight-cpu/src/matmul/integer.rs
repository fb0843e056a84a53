//! Integers: exact, wrapping as their additions and multiplications do.

use super::Product;
use crate::load_store::{Cast, with_stored};
use rushlight_core::DType;

pub(super) fn run(p: &Product) {
    let (alpha, beta) = (p.alpha.to_i64(), p.beta.to_i64());
    let mut row = vec![0i64; p.n];
    with_stored!(p.out.dtype, |T| {
        for i in 0..p.m as isize {
            row.fill(0);
            for l in 0..p.k as isize {
                // SAFETY: layouts were checked against their storages.
                let a: i64 = unsafe {
                    p.a.offset(i * p.a_strides[0] + l * p.a_strides[1]).cast::<T>().read_unaligned()
                }
                .cast();
                let start = p.b.offset(l * p.b_strides[0]).cast::<T>();
                for (j, sum) in row.iter_mut().enumerate() {
                    // SAFETY: as above.
                    let b: i64 =
                        unsafe { start.wrapping_offset(j as isize * p.b_strides[1]).read_unaligned() }.cast();
                    *sum = sum.wrapping_add(a.wrapping_mul(b));
                }
            }
            for (j, sum) in row.iter().enumerate() {
                let to = p.out.offset(i * p.out_strides[0] + j as isize * p.out_strides[1]).cast::<T>();
                // SAFETY: as above.
                let old: i64 = if beta == 0 { 0 } else { unsafe { to.read_unaligned() }.cast() };
                let new = sum.wrapping_mul(alpha).wrapping_add(old.wrapping_mul(beta));
                // SAFETY: as above.
                unsafe { to.write_unaligned(new.cast()) };
            }
        }
    });
}
