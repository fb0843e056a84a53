//! Every conversion between two element types.

use crate::halves;
use half::{bf16, f16};
use num_complex::Complex;

/// A conversion with torch's results: integers wrap, floats are cut (INT_MIN where they do not fit).
pub(crate) trait Cast<T>: Copy {
    fn cast(self) -> T;
}

/// A bool as stored: any byte but 0 is true.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Truth(pub u8);

macro_rules! cast {
    ($($from:ty => $($to:ty),* = |$x:ident| $e:expr;)*) => { $($(
        impl Cast<$to> for $from { #[inline(always)] fn cast(self) -> $to { let $x = self; ($e) as $to } }
    )*)* };
}
macro_rules! cast_into {
    ($($from:ty => $to:ty = |$x:ident| $e:expr;)*) => { $(
        impl Cast<$to> for $from { #[inline(always)] fn cast(self) -> $to { let $x = self; $e } }
    )* };
}

/// x86's conversion: what does not fit gives the lowest integer.
#[inline(always)]
fn f64_i32(x: f64) -> i32 {
    if x > -2_147_483_649.0 && x < 2_147_483_648.0 { x as i32 } else { i32::MIN }
}
#[inline(always)]
fn f64_i64(x: f64) -> i64 {
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&x) { x as i64 } else { i64::MIN }
}
#[inline(always)]
fn f64_u64(x: f64) -> u64 {
    if x >= 9_223_372_036_854_775_808.0 { x as u64 } else { f64_i64(x) as u64 }
}

macro_rules! ints {
    ($($t:ty)*) => { $(
        cast! { $t => u8, u16, u32, u64, i8, i16, i32, i64, f32, f64 = |x| x; }
        cast_into! {
            $t => Truth = |x| Truth(u8::from(x != 0));
            $t => f16 = |x| halves::to_f16(halves::odd_single(x as f64));
            $t => bf16 = |x| halves::to_bf16(halves::odd_single(x as f64));
            $t => Complex<f32> = |x| Complex::new(x as f32, 0.0);
            $t => Complex<f64> = |x| Complex::new(x as f64, 0.0);
            Truth => $t = |x| (x.0 != 0) as $t;
        }
    )* };
}
ints!(u8 u16 u32 u64 i8 i16 i32 i64);

macro_rules! floats {
    ($($t:ty)*) => { $(
        cast! {
            $t => u8, u16, i8, i16, i32 = |x| f64_i32(x as f64);
            $t => u32, i64 = |x| f64_i64(x as f64);
            $t => u64 = |x| f64_u64(x as f64);
            $t => f32, f64 = |x| x;
        }
        cast_into! {
            $t => Truth = |x| Truth(u8::from(x != 0.0));
            $t => Complex<f32> = |x| Complex::new(x as f32, 0.0);
            $t => Complex<f64> = |x| Complex::new(x as f64, 0.0);
            Truth => $t = |x| f32::from(u8::from(x.0 != 0)) as $t;
            Complex<$t> => Truth = |z| Truth(u8::from(z.re != 0.0 || z.im != 0.0));
            Complex<$t> => Complex<f32> = |z| Complex::new(z.re as f32, z.im as f32);
            Complex<$t> => Complex<f64> = |z| Complex::new(z.re as f64, z.im as f64);
        }
        via!(Complex<$t>, |z| z.re => u8 u16 u32 u64 i8 i16 i32 i64 f16 bf16 f32 f64);
    )* };
}
macro_rules! via {
    ($from:ty, |$x:ident| $e:expr => $($to:ty)*) => { $(
        impl Cast<$to> for $from { #[inline(always)] fn cast(self) -> $to { let $x = self; ($e).cast() } }
    )* };
}
floats!(f32 f64);
cast_into! {
    f32 => f16 = |x| halves::to_f16(x);
    f64 => f16 = |x| halves::to_f16(halves::odd_single(x));
    f32 => bf16 = |x| halves::to_bf16(x);
    f64 => bf16 = |x| halves::to_bf16(halves::odd_single(x));
    Truth => Truth = |x| Truth(u8::from(x.0 != 0));
    Truth => Complex<f32> = |x| Complex::new(f32::from(u8::from(x.0 != 0)), 0.0);
    Truth => Complex<f64> = |x| Complex::new(f64::from(u8::from(x.0 != 0)), 0.0);
    Truth => f16 = |x| if x.0 != 0 { f16::ONE } else { f16::ZERO };
    Truth => bf16 = |x| if x.0 != 0 { bf16::ONE } else { bf16::ZERO };
    bf16 => f32 = |x| f32::from_bits(u32::from(x.to_bits()) << 16);
    f16 => f32 = |x| halves::from_f16(x);
}
via!(f16, |x| { let y: f32 = x.cast(); y } => u8 u16 u32 u64 i8 i16 i32 i64 f64);
via!(bf16, |x| { let y: f32 = x.cast(); y } => u8 u16 u32 u64 i8 i16 i32 i64 f64);
via!(f16, |x| { let y: f32 = x.cast(); y } => Truth Complex<f32> Complex<f64>);
via!(bf16, |x| { let y: f32 = x.cast(); y } => Truth Complex<f32> Complex<f64>);
