//! Which numbers the elements of a test are.

use crate::Rng;
use rushlight_core::{Category, DType, Number};

/// A way to draw elements of any dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Everything: NaN, infinities, -0.0, subnormals, limits, all magnitudes, and ordinary numbers.
    Any,
    /// Floats from -3 to 3, integers from -100 to 100: no special case of any function.
    Moderate,
    /// Whole numbers from -4 to 4: floats add and multiply them exactly, in any order.
    Small,
    /// As `Small`, with an occasional NaN or infinity.
    Spiked,
    /// 0.5 to 1.5, or 1 to 4: sums and products without cancellation.
    Positive,
    /// Mostly 1 and -1, some 2 and 0.5: floats multiply them exactly.
    Powers,
}

/// 2 to a power that a double has, subnormal ones included.
pub(crate) fn pow2(exponent: i32) -> f64 {
    match exponent {
        -1074..-1022 => f64::from_bits(1 << (exponent + 1074)),
        _ => f64::from_bits(((exponent + 1023) as u64) << 52),
    }
}

/// The corners of a float dtype.
pub(crate) struct Limits {
    /// Bits of the fraction, the leading one included.
    pub(crate) digits: i32,
    /// Exponent of the smallest normal number.
    pub(crate) lowest: i32,
    /// Exponent of the largest number.
    pub(crate) highest: i32,
}

impl Limits {
    /// Of the dtype, or of a complex dtype's parts.
    pub(crate) fn of(dtype: DType) -> Limits {
        let (digits, lowest, highest) = match dtype.real() {
            DType::F16 => (11, -14, 15),
            DType::BF16 => (8, -126, 127),
            DType::F64 => (53, -1022, 1023),
            _ => (24, -126, 127),
        };
        Limits { digits, lowest, highest }
    }
    /// The largest number.
    pub(crate) fn max(&self) -> f64 {
        (2.0 - pow2(1 - self.digits)) * pow2(self.highest)
    }
}

impl Values {
    /// One element. Storing it in a tensor of `dtype` rounds or wraps it to that dtype.
    pub fn draw(self, rng: &mut Rng, dtype: DType) -> Number {
        match dtype.category() {
            Category::Bool => Number::Bool(rng.one_in(2)),
            Category::Int => self.integer(rng, dtype),
            Category::Float => Number::Float(self.float(rng, dtype)),
            Category::Complex => Number::Complex(self.float(rng, dtype), self.float(rng, dtype)),
        }
    }

    fn integer(self, rng: &mut Rng, dtype: DType) -> Number {
        let bits = 8 * dtype.size() as u32;
        let corner = |rng: &mut Rng| match rng.below(3) {
            0 => rng.bits(),
            1 => (1u64 << (bits - 1)).wrapping_add_signed(rng.between(-1, 1)),
            _ => (1u64 << rng.below(bits as usize)).wrapping_add_signed(rng.between(-1, 1)),
        };
        let number = match self {
            Values::Any if rng.one_in(2) => return Number::UInt(corner(rng)).cast(dtype),
            Values::Any | Values::Small | Values::Spiked => rng.between(-4, 4),
            Values::Moderate => rng.between(-100, 100),
            Values::Positive => rng.between(1, 4),
            Values::Powers => *rng.pick(&[1, 1, -1, 2, 3]),
        };
        let unsigned = matches!(dtype, DType::U8 | DType::U16 | DType::U32 | DType::U64);
        Number::Int(if unsigned { number.abs() } else { number })
    }

    fn float(self, rng: &mut Rng, dtype: DType) -> f64 {
        match self {
            Values::Any => any_float(rng, dtype),
            Values::Moderate => rng.unit() * 6.0 - 3.0,
            Values::Spiked if rng.one_in(40) => *rng.pick(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]),
            Values::Small | Values::Spiked => rng.between(-4, 4) as f64,
            Values::Positive => rng.unit() + 0.5,
            Values::Powers => *rng.pick(&[1.0, 1.0, -1.0, 2.0, 0.5]),
        }
    }
}

fn any_float(rng: &mut Rng, dtype: DType) -> f64 {
    let limits = Limits::of(dtype);
    let sign = if rng.one_in(2) { -1.0 } else { 1.0 };
    let smallest = limits.lowest - limits.digits + 1;
    match rng.below(8) {
        0 => {
            let special = [
                0.0,
                f64::NAN,
                f64::INFINITY,
                limits.max(),
                pow2(limits.lowest),
                pow2(smallest.max(-1074)),
                pow2(1 - limits.digits),
            ];
            sign * rng.pick(&special)
        }
        1 => sign * (1.0 + rng.unit()) * pow2(rng.between(smallest.into(), limits.highest.into()) as i32),
        2 => rng.between(-9, 9) as f64 / 2.0,
        3 => rng.between(-20, 20) as f64,
        4 => sign * rng.unit(),
        5 => sign * (1.0 + rng.unit() * 100.0),
        _ => rng.unit() * 6.0 - 3.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(values: Values, dtype: DType) -> Vec<Number> {
        let mut rng = Rng::new(3);
        (0..4000).map(|_| values.draw(&mut rng, dtype).cast(dtype)).collect()
    }

    #[test]
    fn any_float_meets_every_corner() {
        for &dtype in DType::ALL.iter().filter(|d| d.is_float()) {
            let all: Vec<f64> = drawn(Values::Any, dtype).iter().map(|n| n.to_f64()).collect();
            let some = |what: &str, f: &dyn Fn(f64) -> bool| {
                assert!(all.iter().any(|x| f(*x)), "{dtype}: no {what}")
            };
            let limits = Limits::of(dtype);
            some("NaN", &f64::is_nan);
            some("infinity", &|x| x == f64::INFINITY);
            some("-0.0", &|x| x == 0.0 && x.is_sign_negative());
            some("subnormal", &|x| x != 0.0 && x.abs() < pow2(limits.lowest));
            some("maximum", &|x| x == limits.max());
        }
    }

    #[test]
    fn any_integer_meets_its_limits() {
        for (dtype, low, high) in [
            (DType::I8, -128, 127),
            (DType::I32, i32::MIN.into(), i32::MAX.into()),
            (DType::I64, i64::MIN, i64::MAX),
        ] {
            let all = drawn(Values::Any, dtype);
            assert!(all.contains(&Number::Int(low)) && all.contains(&Number::Int(high)), "{dtype}");
        }
        assert!(drawn(Values::Any, DType::U64).contains(&Number::UInt(1 << 63)));
    }

    #[test]
    fn small_ones_are_small() {
        assert!(drawn(Values::Small, DType::F16).iter().all(|n| n.to_f64().abs() <= 4.0));
        assert!(drawn(Values::Small, DType::U8).iter().all(|n| n.to_i64() <= 4));
    }
}
