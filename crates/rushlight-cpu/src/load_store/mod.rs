//! Conversion between storage dtypes and compute types: the only place that knows both.
//!
//! Compute types are u8 (a truth value), i32, i64, u64, f32, f64 and the two complex ones.

mod alike;
mod cast;

pub(crate) use cast::{Cast, Truth};

use crate::isa::{Isa, Kernel};
use alike::{load, load_alike, store, store_alike};
use num_complex::Complex;
use rushlight_core::{CType, DType, Number};
use std::marker::PhantomData;

/// Runs a block with `$T` bound to the stored form of a dtype.
macro_rules! with_stored {
    ($dtype:expr, |$T:ident| $body:expr) => {
        match $dtype {
            DType::Bool => {
                type $T = $crate::load_store::Truth;
                $body
            }
            DType::U8 => {
                type $T = u8;
                $body
            }
            DType::U16 => {
                type $T = u16;
                $body
            }
            DType::U32 => {
                type $T = u32;
                $body
            }
            DType::U64 => {
                type $T = u64;
                $body
            }
            DType::I8 => {
                type $T = i8;
                $body
            }
            DType::I16 => {
                type $T = i16;
                $body
            }
            DType::I32 => {
                type $T = i32;
                $body
            }
            DType::I64 => {
                type $T = i64;
                $body
            }
            DType::F16 => {
                type $T = half::f16;
                $body
            }
            DType::BF16 => {
                type $T = half::bf16;
                $body
            }
            DType::F32 => {
                type $T = f32;
                $body
            }
            DType::F64 => {
                type $T = f64;
                $body
            }
            DType::C64 => {
                type $T = num_complex::Complex<f32>;
                $body
            }
            DType::C128 => {
                type $T = num_complex::Complex<f64>;
                $body
            }
        }
    };
}

/// Runs a block with `$T` bound to a compute type.
macro_rules! with_compute {
    ($ctype:expr, |$T:ident| $body:expr) => {
        match $ctype {
            CType::Bool => {
                type $T = $crate::load_store::Truth;
                $body
            }
            CType::I32 => {
                type $T = i32;
                $body
            }
            CType::I64 => {
                type $T = i64;
                $body
            }
            CType::U64 => {
                type $T = u64;
                $body
            }
            CType::F32 => {
                type $T = f32;
                $body
            }
            CType::F64 => {
                type $T = f64;
                $body
            }
            CType::C64 => {
                type $T = num_complex::Complex<f32>;
                $body
            }
            CType::C128 => {
                type $T = num_complex::Complex<f64>;
                $body
            }
        }
    };
}
pub(crate) use with_stored;

/// Bytes of one value of a compute type.
pub(crate) fn ctype_size(ctype: CType) -> usize {
    with_compute!(ctype, |T| size_of::<T>())
}

/// Whether a dtype is stored exactly as the compute type holds it.
pub(crate) fn is_native(dtype: DType, ctype: CType) -> bool {
    matches!(
        (dtype, ctype),
        (DType::I32, CType::I32)
            | (DType::I64, CType::I64)
            | (DType::U64, CType::U64)
            | (DType::F32, CType::F32)
            | (DType::F64, CType::F64)
            | (DType::C64, CType::C64)
            | (DType::C128, CType::C128)
    )
}

/// As [`is_native`], for what is written: truth values are stored as they are computed, while a
/// stored bool may be any byte.
pub(crate) fn stores_native(dtype: DType, ctype: CType) -> bool {
    is_native(dtype, ctype) || (dtype, ctype) == (DType::Bool, CType::Bool)
}

/// Moves `rows` times `n` values between memory and dense scratch.
#[derive(Clone, Copy)]
pub(crate) struct Move {
    /// Dense, aligned scratch of the compute type.
    pub scratch: *mut u8,
    /// The first element in memory, of the storage dtype, perhaps unaligned.
    pub memory: *mut u8,
    /// Elements from one to the next in memory.
    pub stride: isize,
    pub n: usize,
    /// Elements from one row to the next in memory; in scratch they follow each other.
    pub row_stride: isize,
    pub rows: usize,
}

impl Move {
    /// One row.
    pub(crate) fn row(scratch: *mut u8, memory: *mut u8, stride: isize, n: usize) -> Move {
        Move { scratch, memory, stride, n, row_stride: 0, rows: 1 }
    }
}

pub(crate) type Mover = unsafe fn(Move);

struct Load<S, T>(PhantomData<(S, T)>);
struct Store<S, T>(PhantomData<(S, T)>);

impl<S: Cast<T>, T: Copy> Kernel<Move> for Load<S, T> {
    #[inline(always)]
    unsafe fn run<I: Isa>(m: Move) {
        let (mut dst, mut src) = (m.scratch.cast::<T>(), m.memory.cast_const().cast::<S>());
        for _ in 0..m.rows {
            // SAFETY: the caller promises that the rectangle is readable in memory, and its number
            // of elements writable in scratch.
            unsafe {
                if m.stride == 1 {
                    (0..m.n).for_each(|i| *dst.add(i) = src.add(i).read_unaligned().cast());
                } else if m.stride == 0 && m.n > 0 {
                    let value = src.read_unaligned().cast();
                    (0..m.n).for_each(|i| *dst.add(i) = value);
                } else {
                    (0..m.n).for_each(|i| {
                        *dst.add(i) = src.wrapping_offset(i as isize * m.stride).read_unaligned().cast()
                    });
                }
            }
            (dst, src) = (dst.wrapping_add(m.n), src.wrapping_offset(m.row_stride));
        }
    }
}

impl<S: Cast<T>, T: Copy> Kernel<Move> for Store<S, T> {
    #[inline(always)]
    unsafe fn run<I: Isa>(m: Move) {
        let (mut dst, mut src) = (m.memory.cast::<T>(), m.scratch.cast_const().cast::<S>());
        for _ in 0..m.rows {
            // SAFETY: the caller promises that the rectangle is writable in memory, and its number
            // of elements readable in scratch.
            unsafe {
                if m.stride == 1 {
                    (0..m.n).for_each(|i| dst.add(i).write_unaligned((*src.add(i)).cast()));
                } else {
                    (0..m.n).for_each(|i| {
                        dst.wrapping_offset(i as isize * m.stride).write_unaligned((*src.add(i)).cast())
                    });
                }
            }
            (dst, src) = (dst.wrapping_offset(m.row_stride), src.wrapping_add(m.n));
        }
    }
}

/// Reads a dtype into scratch of a compute type.
pub(crate) fn loader(dtype: DType, ctype: CType) -> Mover {
    let (dtype, ctype) = load_alike(dtype, ctype);
    with_stored!(dtype, |S| with_compute!(ctype, |T| load::<S, T>()))
}

/// Writes scratch of a compute type to a dtype.
pub(crate) fn storer(ctype: CType, dtype: DType) -> Mover {
    let (ctype, dtype) = store_alike(ctype, dtype);
    with_stored!(dtype, |T| with_compute!(ctype, |S| store::<S, T>()))
}

/// Fills scratch with one value of the compute type.
///
/// # Safety
/// `value` is one aligned value, `scratch` has room for `n` and is aligned for them.
pub(crate) unsafe fn repeat(ctype: CType, value: *const u8, scratch: *mut u8, n: usize) {
    with_compute!(ctype, |T| {
        // SAFETY: the caller promises one aligned value.
        let value = unsafe { *value.cast::<T>() };
        // SAFETY: and aligned room for n.
        let to = unsafe { std::slice::from_raw_parts_mut(scratch.cast::<T>(), n) };
        to.fill(value);
    });
}

fn fill<T: Copy>(scratch: &mut [T], value: T) {
    scratch.fill(value);
}

/// Fills scratch with one number.
pub(crate) fn splat(ctype: CType, value: Number, scratch: *mut u8, n: usize) {
    macro_rules! put {
        ($v:expr) => {{
            let (v, to) = ($v, scratch.cast());
            // SAFETY: scratch has room for n values of the compute type and is aligned for it.
            fill(unsafe { std::slice::from_raw_parts_mut(to, n) }, v)
        }};
    }
    match ctype {
        CType::Bool => put!(Truth(u8::from(value.to_bool()))),
        CType::I32 => put!(value.to_i64() as i32),
        CType::I64 => put!(value.to_i64()),
        CType::U64 => put!(value.to_u64()),
        CType::F32 => put!(value.to_f64() as f32),
        CType::F64 => put!(value.to_f64()),
        CType::C64 => put!({
            let z = value.to_complex();
            Complex::new(z.re as f32, z.im as f32)
        }),
        CType::C128 => put!(value.to_complex()),
    }
}
