//! The hot f32 functions, within about two units in the last place.

use super::poly32;
use crate::isa::Isa;
use std::f32::consts::LOG2_E;

/// Adding it leaves the nearest integer in the low bits of the sum: 1.5 * 2^23.
const MAGIC: f32 = 12_582_912.0;
/// ln 2 in two parts; products of the first with small integers are exact.
const LN2: (f32, f32) = (0.693_359_375, -2.121_944_4e-4);
/// (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2; error 1.4e-8 of r.
const EXP: [f32; 5] = [0.001_394_684_6, 0.008_366_696, 0.041_666_276, 0.166_665_42, 0.5];

/// Below or above, by comparisons that let NaN through.
#[inline(always)]
fn fence(x: f32, low: f32, high: f32) -> f32 {
    let x = if x > high { high } else { x };
    if x < low { low } else { x }
}

/// 2^k for k in -126..=127.
#[inline(always)]
fn pow2(k: i32) -> f32 {
    f32::from_bits((k.wrapping_add(127) as u32) << 23)
}

/// x = k ln 2 + r: the integer k, and e^r - 1.
#[inline(always)]
fn split_exp<I: Isa>(x: f32) -> (i32, f32) {
    let t = I::fma32(x, LOG2_E, MAGIC);
    let k = t - MAGIC;
    let r = I::fma32(k, -LN2.0, x);
    let r = I::fma32(k, -LN2.1, r);
    let k = t.to_bits().wrapping_sub(MAGIC.to_bits()) as i32;
    (k, I::fma32(r * r, poly32::<I, 5>(r, EXP), r))
}

#[inline(always)]
pub(crate) fn exp<I: Isa>(x: f32) -> f32 {
    let (k, p) = split_exp::<I>(fence(x, -104.0, 89.0));
    // Two factors, so that neither leaves the exponents a normal number has.
    let half = k >> 1;
    (1.0 + p) * pow2(half) * pow2(k.wrapping_sub(half))
}

#[inline(always)]
pub(crate) fn expm1<I: Isa>(x: f32) -> f32 {
    let (k, p) = split_exp::<I>(fence(x, -20.0, 89.0));
    // 2^k (p + 1) - 1 at half its size, as 2^128 is too large.
    let half = pow2(k.wrapping_sub(1));
    let y = 2.0 * I::fma32(half, p, half - 0.5);
    if x.abs() < 1e-8 { x } else { y }
}

/// e / (1 + e) with e = e^-|x|: no overflow on either side.
#[inline(always)]
pub(crate) fn sigmoid<I: Isa>(x: f32) -> f32 {
    let e = exp::<I>(-x.abs());
    let top = if x < 0.0 { e } else { 1.0 };
    top / (1.0 + e)
}

/// t / (t + 2) with t = e^2|x| - 1.
#[inline(always)]
pub(crate) fn tanh<I: Isa>(x: f32) -> f32 {
    let a = fence(x.abs(), 0.0, 10.0);
    let t = expm1::<I>(2.0 * a);
    (t / (t + 2.0)).copysign(x)
}

#[inline(always)]
pub(crate) fn log<I: Isa>(x: f32) -> f32 {
    let tiny = x < f32::MIN_POSITIVE;
    let y = if tiny { x * 8_388_608.0 } else { x };
    // Bits of sqrt(1/2): makes the mantissa lie in [sqrt(1/2), sqrt(2)).
    let e = (y.to_bits().wrapping_sub(0x3f35_04f3) as i32) >> 23;
    let f = f32::from_bits(y.to_bits().wrapping_sub((e as u32) << 23)) - 1.0;
    let k = e as f32 - if tiny { 23.0 } else { 0.0 };
    // log(1 + f) = f - f^2/2 + f^3 P(f); error 7e-10.
    let p = poly32::<I, 9>(
        f,
        [
            0.069_155_41,
            -0.117_898_67,
            0.118_729_26,
            -0.123_843_346,
            0.142_186_64,
            -0.166_692_52,
            0.200_022_26,
            -0.249_999_87,
            0.333_333_1,
        ],
    );
    let z = f * f;
    let y = I::fma32(k, LN2.1, f * z * p);
    let y = f + I::fma32(z, -0.5, y);
    let y = I::fma32(k, LN2.0, y);
    let y = if x == f32::INFINITY { x } else { y };
    let y = if x == 0.0 { f32::NEG_INFINITY } else { y };
    if (x < 0.0) | x.is_nan() { f32::NAN } else { y }
}

/// x P(x^2) near 0, else 1 - e^-L(|x|) with L fitted to -log(erfc); errors 3e-10 and 8e-11.
#[inline(always)]
pub(crate) fn erf<I: Isa>(x: f32) -> f32 {
    let a = fence(x.abs(), 0.0, 4.0);
    let s = a * a;
    // The first coefficient is 1.128..; its whole part is added last, which rounds less.
    let p = poly32::<I, 7>(
        s,
        [
            8.538_84e-5,
            -8.181_93e-4,
            0.005_204_436_5,
            -0.026_860_753,
            0.112_837_2,
            -0.376_126_35,
            0.128_379_167,
        ],
    );
    let near = I::fma32(a, p, a);
    let l = poly32::<I, 8>(
        a,
        [
            2.053_101_7e-5,
            -4.279_896_7e-4,
            0.004_139_961_7,
            -0.025_038_29,
            0.108_155_904,
            0.633_458_5,
            1.129_460_4,
            -1.634_878_5e-4,
        ],
    );
    let (k, p) = split_exp::<I>(-l);
    let far = 1.0 - (1.0 + p) * pow2(k);
    (if a < 0.9 { near } else { far }).copysign(x)
}
