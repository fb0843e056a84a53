//! f32 functions by way of f64 polynomials.
//!
//! Errors stated are of the f64 value, before the one rounding to f32 (6e-8 relative).

use crate::isa::Isa;
use std::f64::consts::{LN_2, LOG2_E};

/// Adding it leaves the nearest integer in the low bits of the sum.
const MAGIC: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52

/// Horner's rule, highest coefficient first.
#[inline(always)]
fn poly<I: Isa, const N: usize>(x: f64, c: [f64; N]) -> f64 {
    let mut sum = c[0];
    let mut k = 1;
    while k < N {
        sum = I::fma(sum, x, c[k]);
        k += 1;
    }
    sum
}

/// e^x for x in [-700, 700], relative error 2e-14: x = k ln 2 + r, then e^r by its series.
#[inline(always)]
fn exp_f64<I: Isa>(x: f64) -> f64 {
    let t = I::fma(x, LOG2_E, MAGIC);
    let k = t - MAGIC;
    let r = I::fma(k, -LN_2, x);
    let p = poly::<I, 11>(
        r,
        [
            1.0 / 3_628_800.0,
            1.0 / 362_880.0,
            1.0 / 40_320.0,
            1.0 / 5_040.0,
            1.0 / 720.0,
            1.0 / 120.0,
            1.0 / 24.0,
            1.0 / 6.0,
            0.5,
            1.0,
            1.0,
        ],
    );
    let scale = f64::from_bits(t.to_bits().wrapping_add(1023) << 52);
    p * scale
}

/// Into the range where e^x is neither 0 nor infinite in f32, with room; NaN stays.
#[inline(always)]
fn fence(x: f64) -> f64 {
    let x = if x > 95.0 { 95.0 } else { x };
    if x < -110.0 { -110.0 } else { x }
}

#[inline(always)]
pub(crate) fn exp<I: Isa>(x: f32) -> f32 {
    exp_f64::<I>(fence(f64::from(x))) as f32
}

/// The series of e^x - 1 where the difference would cancel.
#[inline(always)]
pub(crate) fn expm1<I: Isa>(x: f32) -> f32 {
    let x = f64::from(x);
    let far = exp_f64::<I>(fence(x)) - 1.0;
    let near = poly::<I, 9>(
        x,
        [
            1.0 / 362_880.0,
            1.0 / 40_320.0,
            1.0 / 5_040.0,
            1.0 / 720.0,
            1.0 / 120.0,
            1.0 / 24.0,
            1.0 / 6.0,
            0.5,
            1.0,
        ],
    );
    // x * p keeps the sign of zero.
    (if x.abs() < 0.25 { x * near } else { far }) as f32
}

#[inline(always)]
pub(crate) fn sigmoid<I: Isa>(x: f32) -> f32 {
    (1.0 / (1.0 + exp_f64::<I>(fence(-f64::from(x))))) as f32
}

/// 1 - 2 / (e^2x + 1), and the series near 0 where that cancels.
#[inline(always)]
pub(crate) fn tanh<I: Isa>(x: f32) -> f32 {
    let x = f64::from(x);
    let far = 1.0 - 2.0 / (1.0 + exp_f64::<I>(fence(2.0 * x)));
    let s = x * x;
    let near = poly::<I, 7>(
        s,
        [
            21_844.0 / 6_081_075.0,
            -1_382.0 / 155_925.0,
            62.0 / 2_835.0,
            -17.0 / 315.0,
            2.0 / 15.0,
            -1.0 / 3.0,
            1.0,
        ],
    );
    (if x.abs() < 0.25 { x * near } else { far }) as f32
}

/// Natural logarithm of a positive normal f64, relative error 1e-12: 2 artanh of (m-1)/(m+1).
#[inline(always)]
fn log_f64<I: Isa>(x: f64) -> f64 {
    // Bits of sqrt(1/2): makes the mantissa lie in [sqrt(1/2), sqrt(2)).
    let shifted = x.to_bits().wrapping_sub(0x3fe6_a09e_667f_3bcd);
    let e = (shifted as i64) >> 52;
    let m = f64::from_bits(x.to_bits().wrapping_sub((e as u64) << 52));
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let p = poly::<I, 8>(
        z,
        [2.0 / 15.0, 2.0 / 13.0, 2.0 / 11.0, 2.0 / 9.0, 2.0 / 7.0, 2.0 / 5.0, 2.0 / 3.0, 2.0],
    );
    // The exponent as a float without an integer conversion, which AVX2 lacks for 64 bits.
    let k = f64::from_bits((e as u64).wrapping_add(MAGIC.to_bits())) - MAGIC;
    I::fma(k, LN_2, s * p)
}

#[inline(always)]
fn log_special(x: f64, y: f64) -> f64 {
    let y = if x == f64::INFINITY { x } else { y };
    let y = if x == 0.0 { f64::NEG_INFINITY } else { y };
    if x < 0.0 || x.is_nan() { f64::NAN } else { y }
}

#[inline(always)]
pub(crate) fn log<I: Isa>(x: f32) -> f32 {
    let x = f64::from(x);
    log_special(x, log_f64::<I>(x)) as f32
}

#[inline(always)]
pub(crate) fn log1p<I: Isa>(x: f32) -> f32 {
    let x = f64::from(x);
    let far = log_special(1.0 + x, log_f64::<I>(1.0 + x));
    let near = x * poly::<I, 4>(x, [-0.25, 1.0 / 3.0, -0.5, 1.0]);
    (if x.abs() < 1e-4 { near } else { far }) as f32
}

/// pi/2 in two parts.
const HALF_PI: (f64, f64) = (std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17);

/// Largest |x| for which the reduction below keeps its accuracy also without fused multiply-add.
pub(crate) const TRIG_LIMIT: f32 = 8192.0;

/// Quadrant and remainder of x by pi/2.
#[inline(always)]
fn reduce<I: Isa>(x: f64) -> (u64, f64) {
    let t = I::fma(x, std::f64::consts::FRAC_2_PI, MAGIC);
    let k = t - MAGIC;
    let r = I::fma(k, -HALF_PI.0, x);
    (t.to_bits(), I::fma(k, -HALF_PI.1, r))
}

#[inline(always)]
fn sin_cos<I: Isa>(r: f64) -> (f64, f64) {
    let z = r * r;
    let s =
        poly::<I, 6>(z, [-1.0 / 39_916_800.0, 1.0 / 362_880.0, -1.0 / 5_040.0, 1.0 / 120.0, -1.0 / 6.0, 1.0]);
    let c = poly::<I, 7>(
        z,
        [1.0 / 479_001_600.0, -1.0 / 3_628_800.0, 1.0 / 40_320.0, -1.0 / 720.0, 1.0 / 24.0, -0.5, 1.0],
    );
    (r * s, c)
}

#[inline(always)]
fn quadrant<I: Isa>(x: f32, shift: u64) -> f32 {
    let (k, r) = reduce::<I>(f64::from(x));
    let (s, c) = sin_cos::<I>(r);
    let k = k.wrapping_add(shift);
    let y = if k & 1 == 0 { s } else { c };
    (if k & 2 == 0 { y } else { -y }) as f32
}

/// For |x| up to [`TRIG_LIMIT`]; infinities and NaN give NaN.
#[inline(always)]
pub(crate) fn sin<I: Isa>(x: f32) -> f32 {
    quadrant::<I>(x, 0)
}

/// As [`sin`].
#[inline(always)]
pub(crate) fn cos<I: Isa>(x: f32) -> f32 {
    quadrant::<I>(x, 1)
}
