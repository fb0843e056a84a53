//! f32 functions by way of f64 polynomials: half a unit in the last place, and a little.
//!
//! Errors stated are of the f64 value, before the one rounding to f32 (6e-8 relative).

use super::poly;
use crate::isa::Isa;
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, FRAC_PI_4, LN_2, LOG2_E, LOG10_E, PI};

/// Adding it leaves the nearest integer in the low bits of the sum: 1.5 * 2^52.
const MAGIC: f64 = 6_755_399_441_055_744.0;

/// x = k ln 2 + r: 2^k and e^r - 1, for x in [-700, 700]; relative error 2e-14 of e^r.
#[inline(always)]
fn split_exp<I: Isa>(x: f64) -> (f64, f64) {
    let t = I::fma(x, LOG2_E, MAGIC);
    let r = I::fma(t - MAGIC, -LN_2, x);
    let p = poly::<I, 10>(
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
        ],
    );
    (f64::from_bits(t.to_bits().wrapping_add(1023) << 52), r * p)
}

/// e^x where the result, rounded to f32, saturates outside [-110, 95]. NaN stays.
#[inline(always)]
fn exp<I: Isa>(x: f64) -> f64 {
    let x = if x > 95.0 { 95.0 } else { x };
    let x = if x < -110.0 { -110.0 } else { x };
    let (scale, p) = split_exp::<I>(x);
    I::fma(scale, p, scale)
}

/// Natural logarithm for x >= 0 that is 0 or normal in f64; relative error 1e-12.
/// It is 2 artanh of (m-1)/(m+1), with m between sqrt(1/2) and sqrt(2).
#[inline(always)]
fn log<I: Isa>(x: f64) -> f64 {
    let shifted = x.to_bits().wrapping_sub(0x3fe6_a09e_667f_3bcd);
    let e = ((shifted as i64) >> 52) as u64;
    let m = f64::from_bits(x.to_bits().wrapping_sub(e << 52));
    let s = (m - 1.0) / (m + 1.0);
    let p = poly::<I, 8>(
        s * s,
        [2.0 / 15.0, 2.0 / 13.0, 2.0 / 11.0, 2.0 / 9.0, 2.0 / 7.0, 2.0 / 5.0, 2.0 / 3.0, 2.0],
    );
    // The exponent as a float without an integer conversion, which AVX2 lacks for 64 bits.
    let k = f64::from_bits(e.wrapping_add(MAGIC.to_bits())) - MAGIC;
    let y = I::fma(k, LN_2, s * p);
    let y = if x == f64::INFINITY { x } else { y };
    let y = if x == 0.0 { f64::NEG_INFINITY } else { y };
    if (x < 0.0) | x.is_nan() { f64::NAN } else { y }
}

/// log(1 + u), by its series where the sum loses u.
#[inline(always)]
fn log_1p<I: Isa>(u: f64) -> f64 {
    let far = log::<I>(1.0 + u);
    let near = u * poly::<I, 4>(u, [-0.25, 1.0 / 3.0, -0.5, 1.0]);
    if u.abs() < 1e-4 { near } else { far }
}

#[inline(always)]
pub(crate) fn log1p<I: Isa>(x: f32) -> f32 {
    log_1p::<I>(x.into()) as f32
}
#[inline(always)]
pub(crate) fn log2<I: Isa>(x: f32) -> f32 {
    (log::<I>(x.into()) * LOG2_E) as f32
}
#[inline(always)]
pub(crate) fn log10<I: Isa>(x: f32) -> f32 {
    (log::<I>(x.into()) * LOG10_E) as f32
}
#[inline(always)]
pub(crate) fn exp2<I: Isa>(x: f32) -> f32 {
    exp::<I>(f64::from(x) * LN_2) as f32
}
#[inline(always)]
pub(crate) fn cosh<I: Isa>(x: f32) -> f32 {
    let e = exp::<I>(f64::from(x).abs());
    (0.5 * (e + 1.0 / e)) as f32
}
#[inline(always)]
pub(crate) fn sinh<I: Isa>(x: f32) -> f32 {
    let a = f64::from(x).abs();
    let e = exp::<I>(a);
    let s = a * a;
    let near = a * poly::<I, 5>(s, [1.0 / 362_880.0, 1.0 / 5_040.0, 1.0 / 120.0, 1.0 / 6.0, 1.0]);
    let far = 0.5 * (e - 1.0 / e);
    ((if a < 0.3 { near } else { far }) as f32).copysign(x)
}
#[inline(always)]
pub(crate) fn asinh<I: Isa>(x: f32) -> f32 {
    let a = f64::from(x).abs();
    let s = a * a;
    let y = log_1p::<I>(a + s / (1.0 + (1.0 + s).sqrt()));
    (if a == f64::INFINITY { a } else { y } as f32).copysign(x)
}
#[inline(always)]
pub(crate) fn acosh<I: Isa>(x: f32) -> f32 {
    let u = f64::from(x) - 1.0;
    let y = log_1p::<I>(u + (u * (u + 2.0)).sqrt());
    if u < 0.0 { f32::NAN } else { y as f32 }
}
#[inline(always)]
pub(crate) fn atanh<I: Isa>(x: f32) -> f32 {
    let a = f64::from(x).abs();
    ((0.5 * log_1p::<I>(2.0 * a / (1.0 - a))) as f32).copysign(x)
}

/// pi/2 in three parts; products of the first two with integers below 2^20 are exact.
const HALF_PI: (f64, f64, f64) =
    (1.570_796_326_734_125_6, 6.077_100_506_303_966e-11, 2.022_266_248_795_950_6e-21);

/// Largest |x| for which sine, cosine and tangent below hold.
pub(crate) const TRIG_LIMIT: f32 = 1e6;

/// The quadrant of x (its number in the low bits), and sine and cosine within it; error 1e-11.
#[inline(always)]
fn sin_cos<I: Isa>(x: f64) -> (u64, f64, f64) {
    let t = I::fma(x, FRAC_2_PI, MAGIC);
    let k = t - MAGIC;
    let r = I::fma(k, -HALF_PI.0, x);
    let r = I::fma(k, -HALF_PI.1, r);
    let r = I::fma(k, -HALF_PI.2, r);
    let z = r * r;
    let s =
        poly::<I, 6>(z, [-1.0 / 39_916_800.0, 1.0 / 362_880.0, -1.0 / 5_040.0, 1.0 / 120.0, -1.0 / 6.0, 1.0]);
    let c = poly::<I, 7>(
        z,
        [1.0 / 479_001_600.0, -1.0 / 3_628_800.0, 1.0 / 40_320.0, -1.0 / 720.0, 1.0 / 24.0, -0.5, 1.0],
    );
    (t.to_bits(), r * s, c)
}

#[inline(always)]
fn pick(quadrant: u64, s: f64, c: f64) -> f64 {
    let y = if quadrant & 1 == 0 { s } else { c };
    if quadrant & 2 == 0 { y } else { -y }
}

/// For |x| up to [`TRIG_LIMIT`]; infinities and NaN give NaN.
#[inline(always)]
pub(crate) fn sin<I: Isa>(x: f32) -> f32 {
    let (k, s, c) = sin_cos::<I>(x.into());
    // The reduction turns -0.0 into 0.0.
    if x == 0.0 { x } else { pick(k, s, c) as f32 }
}
/// As [`sin`].
#[inline(always)]
pub(crate) fn cos<I: Isa>(x: f32) -> f32 {
    let (k, s, c) = sin_cos::<I>(x.into());
    pick(k.wrapping_add(1), s, c) as f32
}
/// As [`sin`].
#[inline(always)]
pub(crate) fn tan<I: Isa>(x: f32) -> f32 {
    let (k, s, c) = sin_cos::<I>(x.into());
    let odd = k & 1 == 1;
    let y = if odd { -c } else { s } / if odd { s } else { c };
    if x == 0.0 { x } else { y as f32 }
}

/// Angle of (x, y) from its octants; error 1e-12.
#[inline(always)]
fn angle<I: Isa>(y: f64, x: f64) -> f64 {
    let (a, b) = (y.abs(), x.abs());
    // Steeper than 3/8 pi, steeper than pi/8, or flat: arctangent of a small quotient each time.
    let (steep, middle) = (a > 2.414_213_562_373_095 * b, a > 0.414_213_562_373_095 * b);
    let top = if steep {
        -b
    } else if middle {
        a - b
    } else {
        a
    };
    let bottom = if steep {
        a
    } else if middle {
        a + b
    } else {
        b
    };
    let base = if steep {
        FRAC_PI_2
    } else if middle {
        FRAC_PI_4
    } else {
        0.0
    };
    let q = top / bottom;
    let q = if (a == b) & ((a == 0.0) | (a == f64::INFINITY)) { 0.0 } else { q };
    let base = if (a == b) & (a == f64::INFINITY) { FRAC_PI_4 } else { base };
    let p = poly::<I, 8>(
        q * q,
        [
            -0.037_728_187_647_837_224,
            0.069_786_897_511_686_94,
            -0.089_936_377_149_884_76,
            0.111_035_868_457_034_02,
            -0.142_853_945_468_647_99,
            0.199_999_932_878_894,
            -0.333_333_332_795_022_1,
            0.999_999_999_999_291_2,
        ],
    );
    let r = I::fma(q, p, base);
    let r = if x.is_sign_negative() { PI - r } else { r };
    r.copysign(y)
}

#[inline(always)]
pub(crate) fn atan2<I: Isa>(y: f32, x: f32) -> f32 {
    angle::<I>(y.into(), x.into()) as f32
}
#[inline(always)]
pub(crate) fn atan<I: Isa>(x: f32) -> f32 {
    angle::<I>(x.into(), 1.0) as f32
}
#[inline(always)]
pub(crate) fn asin<I: Isa>(x: f32) -> f32 {
    let x = f64::from(x);
    angle::<I>(x, ((1.0 - x) * (1.0 + x)).sqrt()) as f32
}
#[inline(always)]
pub(crate) fn acos<I: Isa>(x: f32) -> f32 {
    let x = f64::from(x);
    angle::<I>(((1.0 - x) * (1.0 + x)).sqrt(), x) as f32
}

/// 1 - erf(x): e^(-x^2) / (1 + 2|x|) times a fit in (|x|-3)/(|x|+3); error 3e-9.
#[inline(always)]
pub(crate) fn erfc<I: Isa>(x: f32) -> f32 {
    let a = f64::from(x).abs();
    let a = if a > 10.7 { 10.7 } else { a };
    let p = poly::<I, 11>(
        (a - 3.0) / (a + 3.0),
        [
            -0.000_262_283_422_047_904_4,
            -0.000_763_167_527_646_430_4,
            0.002_009_706_593_383_518_3,
            0.002_561_828_227_243_207,
            -0.023_803_052_263_079_438,
            0.068_296_001_426_074_9,
            -0.119_269_966_976_598_06,
            0.129_646_485_295_052_38,
            -0.047_562_456_330_769_96,
            -0.135_621_142_984_675_9,
            1.253_008_059_615_647_9,
        ],
    );
    let y = exp::<I>(-a * a) * p / (1.0 + 2.0 * a);
    (if x < 0.0 { 2.0 - y } else { y }) as f32
}

/// e^(y log|x|) with the signs and special values of C's pow. Conditions are joined with `&` and `|`:
/// a branch would keep the loop from becoming vector instructions.
#[inline(always)]
pub(crate) fn pow<I: Isa>(x: f32, y: f32) -> f32 {
    let (x, y) = (f64::from(x), f64::from(y));
    let l = log::<I>(x.abs());
    // (+-1)^inf is 1, and 0 * inf would be NaN.
    let p = if l == 0.0 { 0.0 } else { y * l };
    let r = exp::<I>(p);
    let whole = y.trunc() == y;
    let odd = whole & ((0.5 * y).trunc() != 0.5 * y);
    let r = if odd { r.copysign(x) } else { r };
    let r = if (x < 0.0) & (x != f64::NEG_INFINITY) & !whole { f64::NAN } else { r };
    let r = if y.is_nan() { y } else { r };
    let r = if (y == 0.0) | (x == 1.0) { 1.0 } else { r };
    r as f32
}
