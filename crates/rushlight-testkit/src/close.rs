//! When two results count as equal.

use crate::values::{Limits, pow2};
use rushlight_core::{Category, DType, Number};

/// How far two values may lie apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Units in the last place of the expected value; of its modulus where it is complex.
    pub ulps: f64,
    /// Or an absolute distance.
    pub absolute: f64,
    /// Whether 0.0 and -0.0 differ.
    pub signed_zero: bool,
}

impl Tolerance {
    /// The same values; NaN equals NaN.
    pub const EXACT: Tolerance = Tolerance { ulps: 0.0, absolute: 0.0, signed_zero: true };

    /// Up to so many units in the last place, zeros of either sign.
    pub const fn ulps(ulps: f64) -> Tolerance {
        Tolerance { ulps, absolute: 0.0, signed_zero: false }
    }

    /// The same with zeros of either sign.
    #[must_use]
    pub const fn any_zero(self) -> Tolerance {
        Tolerance { signed_zero: false, ..self }
    }

    /// Compares a value of `dtype` with the expected one.
    ///
    /// # Errors
    /// Both values and their distance, when it is too large.
    pub fn check(&self, got: Number, expected: Number, dtype: DType) -> Result<(), String> {
        let near = match dtype.category() {
            Category::Bool | Category::Int => got.cast(dtype) == expected.cast(dtype),
            Category::Float => self.floats(got.to_f64(), expected.to_f64(), dtype),
            Category::Complex => self.complexes(got, expected, dtype),
        };
        if near {
            return Ok(());
        }
        Err(match dtype.is_float() {
            true => format!(
                "{:e} instead of {:e} ({dtype}, {} ulps)",
                got.to_f64(),
                expected.to_f64(),
                ulps(got.to_f64(), expected.to_f64(), dtype)
            ),
            false => format!("{got:?} instead of {expected:?} ({dtype})"),
        })
    }

    fn floats(&self, got: f64, expected: f64, dtype: DType) -> bool {
        if got.is_nan() || expected.is_nan() {
            return got.is_nan() && expected.is_nan();
        }
        if got == 0.0 && expected == 0.0 {
            return !self.signed_zero || got.is_sign_negative() == expected.is_sign_negative();
        }
        got == expected || ulps(got, expected, dtype) <= self.ulps || (got - expected).abs() <= self.absolute
    }

    /// By the distance in the plane, because parts cancel independently of each other. Where the
    /// result is not finite, conventions differ in the parts: both must be so.
    fn complexes(&self, got: Number, expected: Number, dtype: DType) -> bool {
        let (a, b) = (got.to_complex(), expected.to_complex());
        if [b.re, b.im].iter().any(|x| !x.is_finite()) {
            return [a.re, a.im].iter().any(|x| !x.is_finite());
        }
        if self.ulps == 0.0 && self.absolute == 0.0 {
            return self.floats(a.re, b.re, dtype) && self.floats(a.im, b.im, dtype);
        }
        let distance = (a - b).norm();
        distance <= self.absolute || distance <= self.ulps * ulp(b.norm(), dtype)
    }
}

/// The tolerance of results that are computed once and rounded once: none for integers and bool,
/// one unit for halves (which may be rounded twice), four for singles and doubles.
pub fn tolerance(dtype: DType) -> Tolerance {
    match dtype {
        DType::F16 | DType::BF16 => Tolerance::ulps(1.0),
        DType::F32 | DType::F64 => Tolerance::ulps(4.0),
        DType::C64 | DType::C128 => Tolerance::ulps(8.0),
        _ => Tolerance::EXACT,
    }
}

/// Compares two values of `dtype` within [`tolerance`].
///
/// # Errors
/// Both values and their distance, when it is too large.
pub fn close(got: Number, expected: Number, dtype: DType) -> Result<(), String> {
    tolerance(dtype).check(got, expected, dtype)
}

/// The distance of two floats in units in the last place of `expected`, as `dtype` has them.
/// Infinity counts as the number after the largest one.
pub fn ulps(got: f64, expected: f64, dtype: DType) -> f64 {
    if got == expected {
        return 0.0;
    }
    let unit = ulp(expected, dtype);
    if got.is_infinite() || expected.is_infinite() {
        // Half the size, so that the number after the largest double exists.
        let half =
            |x: f64| if x.is_infinite() { pow2(Limits::of(dtype).highest).copysign(x) } else { x / 2.0 };
        return (half(got) - half(expected)).abs() / (unit / 2.0);
    }
    (got - expected).abs() / unit
}

/// The distance from |x| to the next larger float of `dtype`.
fn ulp(x: f64, dtype: DType) -> f64 {
    let limits = Limits::of(dtype);
    let exponent = match x.abs() {
        x if x.is_infinite() => limits.highest,
        x => ((x.to_bits() >> 52) as i32 - 1023).clamp(limits.lowest, limits.highest),
    };
    pow2(exponent - limits.digits + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        let next = f32::from_bits(1f32.to_bits() + 3);
        assert_eq!(ulps(next.into(), 1.0, DType::F32), 3.0);
        assert_eq!(ulps(f64::from_bits(5), 0.0, DType::F64), 5.0);
        assert_eq!(ulps(f64::INFINITY, f32::MAX.into(), DType::F32), 1.0);
        assert_eq!(ulps(f64::MAX, f64::INFINITY, DType::F64), 1.0);
        assert_eq!(ulps(2f64.powi(-24), 0.0, DType::F16), 1.0);
        assert!(ulps(f64::NEG_INFINITY, f64::MAX, DType::F64) > 1e9);
        assert!(ulps(f64::NAN, 1.0, DType::F64).is_nan());
    }

    #[test]
    fn what_is_close() {
        let check =
            |t: Tolerance, a: f64, b: f64| t.check(Number::Float(a), Number::Float(b), DType::F32).is_ok();
        assert!(check(Tolerance::EXACT, f64::NAN, f64::NAN) && !check(tolerance(DType::F32), f64::NAN, 1.0));
        assert!(!check(Tolerance::EXACT, 0.0, -0.0) && check(Tolerance::EXACT.any_zero(), 0.0, -0.0));
        assert!(check(tolerance(DType::F32), 1.0 + 2f64.powi(-22), 1.0));
        assert!(!check(tolerance(DType::F32), 1.0 + 2f64.powi(-20), 1.0));
        assert!(!check(tolerance(DType::F32), 1e-30, 0.0));
        assert!(close(Number::Int(-1), Number::Int(255), DType::U8).is_ok());
        assert!(close(Number::Int(1), Number::Int(2), DType::I64).is_err());
    }

    #[test]
    fn complex_numbers_are_compared_in_the_plane() {
        let (a, b) = (Number::Complex(1e6, 1e-3), Number::Complex(1e6, 0.0));
        assert!(close(a, b, DType::C64).is_ok());
        assert!(close(a, b, DType::C128).is_err());
        assert!(
            close(Number::Complex(f64::NAN, 0.0), Number::Complex(0.0, f64::INFINITY), DType::C64).is_ok()
        );
        assert!(close(Number::Complex(f64::NAN, 0.0), b, DType::C64).is_err());
    }
}
