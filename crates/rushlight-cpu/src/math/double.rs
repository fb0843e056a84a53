//! f64 functions, within about two units in the last place.

use super::poly;
use crate::isa::Isa;
use std::f64::consts::{FRAC_2_PI, LOG2_E};

/// Adding it leaves the nearest integer in the low bits of the sum: 1.5 * 2^52.
const MAGIC: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts; products of the first with integers below 2^12 are exact.
const LN2: (f64, f64) = (0.693_147_180_559_208_2, 7.371_002_565_167_799e-13);

/// 2^k for k in -1022..=1023, as the low bits of a word.
#[inline(always)]
fn pow2(k: i64) -> f64 {
    f64::from_bits((k.wrapping_add(1023) as u64) << 52)
}

/// k >> 1 without a 64-bit arithmetic shift, which AVX2 lacks; for |k| < 2048.
#[inline(always)]
fn half_of(k: i64) -> i64 {
    ((k.wrapping_add(4096) as u64 >> 1) as i64).wrapping_sub(2048)
}

/// x = k ln 2 + r: the integer k, and e^r - 1.
#[inline(always)]
fn split_exp<I: Isa>(x: f64) -> (i64, f64) {
    let t = I::fma(x, LOG2_E, MAGIC);
    let k = t - MAGIC;
    let r = I::fma(k, -LN2.0, x);
    let r = I::fma(k, -LN2.1, r);
    let q = poly::<I, 12>(
        r,
        [
            1.0 / 6_227_020_800.0,
            1.0 / 479_001_600.0,
            1.0 / 39_916_800.0,
            1.0 / 3_628_800.0,
            1.0 / 362_880.0,
            1.0 / 40_320.0,
            1.0 / 5_040.0,
            1.0 / 720.0,
            1.0 / 120.0,
            1.0 / 24.0,
            1.0 / 6.0,
            0.5,
        ],
    );
    (t.to_bits().wrapping_sub(MAGIC.to_bits()) as i64, I::fma(r * r, q, r))
}

#[inline(always)]
fn fence(x: f64, low: f64, high: f64) -> f64 {
    let x = if x > high { high } else { x };
    if x < low { low } else { x }
}

#[inline(always)]
pub(crate) fn exp<I: Isa>(x: f64) -> f64 {
    let (k, p) = split_exp::<I>(fence(x, -746.0, 710.0));
    let half = half_of(k);
    (1.0 + p) * pow2(half) * pow2(k.wrapping_sub(half))
}

#[inline(always)]
pub(crate) fn expm1<I: Isa>(x: f64) -> f64 {
    let (k, p) = split_exp::<I>(fence(x, -40.0, 710.0));
    // 2^k (p + 1) - 1 at half its size, as 2^1024 is too large.
    let half = pow2(k.wrapping_sub(1));
    let y = 2.0 * I::fma(half, p, half - 0.5);
    if x.abs() < 1e-17 { x } else { y }
}

/// e / (1 + e) with e = e^-|x|: no overflow on either side.
#[inline(always)]
pub(crate) fn sigmoid<I: Isa>(x: f64) -> f64 {
    let e = exp::<I>(-x.abs());
    let top = if x < 0.0 { e } else { 1.0 };
    top / (1.0 + e)
}

/// t / (t + 2) with t = e^2|x| - 1.
#[inline(always)]
pub(crate) fn tanh<I: Isa>(x: f64) -> f64 {
    let t = expm1::<I>(2.0 * fence(x.abs(), 0.0, 20.0));
    (t / (t + 2.0)).copysign(x)
}

/// f - f^2/2 + s (f^2/2 + s^2 R(s^2)) with s = f / (2 + f) for log(1 + f); error of R 2.6e-18.
#[inline(always)]
pub(crate) fn log<I: Isa>(x: f64) -> f64 {
    let tiny = x < f64::MIN_POSITIVE;
    let y = if tiny { x * 4_503_599_627_370_496.0 } else { x };
    // Bits of sqrt(1/2): makes the mantissa lie in [sqrt(1/2), sqrt(2)).
    let shifted = y.to_bits().wrapping_sub(0x3fe6_a09e_667f_3bcd);
    let e = ((shifted as i64) >> 52) as u64;
    let f = f64::from_bits(y.to_bits().wrapping_sub(e << 52)) - 1.0;
    // The exponent as a float without an integer conversion, which AVX2 lacks for 64 bits.
    let k = f64::from_bits(e.wrapping_add(MAGIC.to_bits())) - MAGIC - if tiny { 52.0 } else { 0.0 };
    let s = f / (2.0 + f);
    let z = s * s;
    let r = z * poly::<I, 7>(
        z,
        [
            0.147_925_589_401_648_53,
            0.153_144_222_944_014_06,
            0.181_835_482_139_431_4,
            0.222_221_989_222_124_3,
            0.285_714_287_384_716,
            0.399_999_999_994_356_96,
            0.666_666_666_666_673,
        ],
    );
    let h = 0.5 * f * f;
    let low = I::fma(k, LN2.1, s * (h + r));
    let y = I::fma(k, LN2.0, f - (h - low));
    let y = if x == f64::INFINITY { x } else { y };
    let y = if x == 0.0 { f64::NEG_INFINITY } else { y };
    if (x < 0.0) | x.is_nan() { f64::NAN } else { y }
}

/// pi/2 in three parts; products of the first two with integers below 2^20 are exact.
const HALF_PI: (f64, f64, f64) =
    (1.570_796_326_734_125_6, 6.077_100_506_303_966e-11, 2.022_266_248_795_950_6e-21);

/// Largest |x| for which sine and cosine below hold.
pub(crate) const TRIG_LIMIT: f64 = 1e5;

#[inline(always)]
fn quadrant<I: Isa>(x: f64, shift: u64) -> f64 {
    let t = I::fma(x, FRAC_2_PI, MAGIC);
    let k = t - MAGIC;
    // x - k pi/2 as r + low: the second product can lose bits that matter when r is small.
    let a = I::fma(k, -HALF_PI.0, x);
    let b = k * HALF_PI.1;
    let r = a - b;
    let low = ((a - r) - b) - k * HALF_PI.2;
    let whole = r + low;
    let low = (r - whole) + low;
    let r = whole;
    let z = r * r;
    let s = poly::<I, 8>(
        z,
        [
            1.0 / 355_687_428_096_000.0,
            -1.0 / 1_307_674_368_000.0,
            1.0 / 6_227_020_800.0,
            -1.0 / 39_916_800.0,
            1.0 / 362_880.0,
            -1.0 / 5_040.0,
            1.0 / 120.0,
            -1.0 / 6.0,
        ],
    );
    let s = r + I::fma(r * z, s, low * (1.0 - 0.5 * z));
    let c = poly::<I, 7>(
        z,
        [
            1.0 / 20_922_789_888_000.0,
            -1.0 / 87_178_291_200.0,
            1.0 / 479_001_600.0,
            -1.0 / 3_628_800.0,
            1.0 / 40_320.0,
            -1.0 / 720.0,
            1.0 / 24.0,
        ],
    );
    let h = 0.5 * z;
    let one = 1.0 - h;
    let c = one + (((1.0 - one) - h) + I::fma(z * z, c, -(r * low)));
    let k = t.to_bits().wrapping_add(shift);
    let y = if k & 1 == 0 { s } else { c };
    if k & 2 == 0 { y } else { -y }
}

/// For |x| up to [`TRIG_LIMIT`]; infinities and NaN give NaN.
#[inline(always)]
pub(crate) fn sin<I: Isa>(x: f64) -> f64 {
    let y = quadrant::<I>(x, 0);
    // The reduction turns -0.0 into 0.0.
    if x == 0.0 { x } else { y }
}
/// As [`sin`].
#[inline(always)]
pub(crate) fn cos<I: Isa>(x: f64) -> f64 {
    quadrant::<I>(x, 1)
}
