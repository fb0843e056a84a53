//! Products in plain loops: integers, which wrap as their additions and multiplications do, and
//! floats that are not aligned or must not use wide instructions.

use super::Product;
use crate::isa::{Isa, Kernel, dispatch};
use num_complex::Complex;
use rushlight_core::{DType, Number};
use std::marker::PhantomData;

/// What a product needs of its elements.
trait Ring: Copy {
    const ZERO: Self;
    fn of(n: Number) -> Self;
    /// `self + a * b`
    fn add_product(self, a: Self, b: Self) -> Self;
}
macro_rules! ring {
    (ints $($t:ty)*) => { $( impl Ring for $t {
        const ZERO: Self = 0;
        fn of(n: Number) -> Self { if let Number::UInt(x) = n { x as Self } else { n.to_i64() as Self } }
        // Wrapping at the end or at each step gives the same low bits.
        #[inline(always)]
        fn add_product(self, a: Self, b: Self) -> Self { self.wrapping_add(a.wrapping_mul(b)) }
    } )* };
    (floats $($t:ty, $n:ident => $of:expr;)*) => { $( impl Ring for $t {
        const ZERO: Self = 0.0;
        fn of($n: Number) -> Self { $of }
        #[inline(always)]
        fn add_product(self, a: Self, b: Self) -> Self { self + a * b }
    } )* };
    (complex $($t:ty)*) => { $( impl Ring for Complex<$t> {
        const ZERO: Self = Complex { re: 0.0, im: 0.0 };
        fn of(n: Number) -> Self { let z = n.to_complex(); Complex::new(z.re as $t, z.im as $t) }
        #[inline(always)]
        fn add_product(self, a: Self, b: Self) -> Self { self + a * b }
    } )* };
}
ring!(ints u8 u16 u32 u64); // the low bits of signed products are the same
ring!(floats f32, n => n.to_f64() as f32; f64, n => n.to_f64(););
ring!(complex f32 f64);

/// Columns of the result that are worked on at a time: their sums stay in L1.
const COLUMNS: usize = 512;

struct Loops<T>(PhantomData<T>);

impl<T: Ring> Kernel<&Product> for Loops<T> {
    #[inline(always)]
    unsafe fn run<I: Isa>(p: &Product) {
        let (alpha, beta) = (T::of(p.alpha), p.beta.to_bool().then(|| T::of(p.beta)));
        // Rows of `b` that are not dense are packed, once for all rows of the result.
        let packed = p.b_strides[1] != 1 || !p.b.at.addr().is_multiple_of(align_of::<T>());
        let (mut band, mut sums) = (Vec::new(), [T::ZERO; COLUMNS]);
        for first in (0..p.n).step_by(COLUMNS) {
            let n = (p.n - first).min(COLUMNS);
            let b = p.b.at.cast::<T>().wrapping_offset(first as isize * p.b_strides[1]);
            if packed {
                band.clear();
                for l in 0..p.k as isize {
                    let row = b.wrapping_offset(l * p.b_strides[0]);
                    band.extend((0..n as isize).map(|j| {
                        // SAFETY: the layout of b was checked against its storage.
                        unsafe { row.wrapping_offset(j * p.b_strides[1]).read_unaligned() }
                    }));
                }
            }
            for i in 0..p.m as isize {
                let sums = &mut sums[..n];
                sums.fill(T::ZERO);
                for l in 0..p.k {
                    let row = if packed {
                        band.as_ptr().wrapping_add(l * n)
                    } else {
                        b.wrapping_offset(l as isize * p.b_strides[0]).cast_const()
                    };
                    let a =
                        p.a.at.cast::<T>().wrapping_offset(i * p.a_strides[0] + l as isize * p.a_strides[1]);
                    // SAFETY: layouts were checked against their storages; a dense, aligned row of
                    // b or of the band has n elements, which nobody writes.
                    let (a, row) = unsafe { (a.read_unaligned(), std::slice::from_raw_parts(row, n)) };
                    sums.iter_mut().zip(row).for_each(|(s, b)| *s = s.add_product(a, *b));
                }
                let out = p.out.at.cast::<T>().wrapping_offset(i * p.out_strides[0]);
                for (j, sum) in sums.iter().enumerate() {
                    let to = out.wrapping_offset((first + j) as isize * p.out_strides[1]);
                    // SAFETY: the layout of the output was checked against its storage. What is not
                    // asked for is not read: it may be NaN.
                    unsafe {
                        let old = beta.map_or(T::ZERO, |b| T::ZERO.add_product(b, to.read_unaligned()));
                        to.write_unaligned(old.add_product(alpha, *sum));
                    }
                }
            }
        }
    }
}

pub(super) fn run(p: &Product) {
    // SAFETY (all): the loops walk the sizes of the product, whose layouts were checked.
    macro_rules! go {
        ($t:ty) => {
            // SAFETY: as above.
            unsafe { dispatch::<Loops<$t>, _>(p) }
        };
    }
    match p.out.dtype {
        DType::U8 | DType::I8 => go!(u8),
        DType::U16 | DType::I16 => go!(u16),
        DType::U32 | DType::I32 => go!(u32),
        DType::U64 | DType::I64 => go!(u64),
        DType::F32 => go!(f32),
        DType::F64 => go!(f64),
        DType::C64 => go!(Complex<f32>),
        DType::C128 => go!(Complex<f64>),
        // Halves were widened, and bool refused.
        DType::Bool | DType::F16 | DType::BF16 => {}
    }
}
