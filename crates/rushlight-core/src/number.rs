//! Plain numbers: the values of Python scalars, fill values and single elements.

use crate::{Category, DType, Result, ensure};
use num_complex::Complex;

/// One number of any dtype, kept exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A truth value.
    Bool(bool),
    /// An integer that fits `i64`.
    Int(i64),
    /// An integer of a `uint64` tensor.
    UInt(u64),
    /// A float.
    Float(f64),
    /// Real and imaginary part.
    Complex(f64, f64),
}

impl Number {
    /// Its category of promotion.
    pub fn category(self) -> Category {
        match self {
            Number::Bool(_) => Category::Bool,
            Number::Int(_) | Number::UInt(_) => Category::Int,
            Number::Float(_) => Category::Float,
            Number::Complex(..) => Category::Complex,
        }
    }

    /// The dtype a tensor made of this number alone gets, floats as `default_float`.
    pub fn default_dtype(self, default_float: DType) -> DType {
        match self {
            Number::Bool(_) => DType::Bool,
            Number::Int(_) => DType::I64,
            Number::UInt(_) => DType::U64,
            Number::Float(_) => default_float,
            Number::Complex(..) => default_float.complex(),
        }
    }

    /// As a float; a complex number gives its real part.
    pub fn to_f64(self) -> f64 {
        match self {
            Number::Bool(b) => f64::from(u8::from(b)),
            Number::Int(i) => i as f64,
            Number::UInt(u) => u as f64,
            Number::Float(x) | Number::Complex(x, _) => x,
        }
    }

    /// As an integer: floats are cut towards zero; what does not fit becomes `i64::MIN`, as on x86.
    pub fn to_i64(self) -> i64 {
        match self {
            Number::Bool(b) => i64::from(b),
            Number::Int(i) => i,
            Number::UInt(u) => u as i64,
            Number::Float(x) | Number::Complex(x, _) => float_to_i64(x),
        }
    }

    /// As a 32-bit integer: integers wrap, floats are cut towards zero, and floats that do not fit
    /// become `i32::MIN`, as on x86. The way to all integers up to 32 bits, but for `u32`.
    pub fn to_i32(self) -> i32 {
        match self {
            Number::Float(x) | Number::Complex(x, _) => float_to_i32(x),
            other => other.to_i64() as i32,
        }
    }

    /// As a single, rounded once: an integer does not pass through a double.
    pub fn to_f32(self) -> f32 {
        match self {
            Number::Int(i) => i as f32,
            Number::UInt(u) => u as f32,
            other => other.to_f64() as f32,
        }
    }

    /// As an unsigned integer, wrapping negative values.
    pub fn to_u64(self) -> u64 {
        match self {
            Number::UInt(u) => u,
            Number::Float(x) | Number::Complex(x, _) if x >= 9.223_372_036_854_776e18 => x as u64,
            other => other.to_i64() as u64,
        }
    }

    /// Whether it differs from zero; NaN does.
    pub fn to_bool(self) -> bool {
        match self {
            Number::Bool(b) => b,
            Number::Int(i) => i != 0,
            Number::UInt(u) => u != 0,
            Number::Float(x) => x != 0.0,
            Number::Complex(re, im) => re != 0.0 || im != 0.0,
        }
    }

    /// As a complex number.
    pub fn to_complex(self) -> Complex<f64> {
        match self {
            Number::Complex(re, im) => Complex::new(re, im),
            other => Complex::new(other.to_f64(), 0.0),
        }
    }

    /// The value an element of `dtype` has after this number is stored in it: wrapped, rounded or cut.
    #[must_use]
    pub fn cast(self, dtype: DType) -> Number {
        match dtype {
            DType::Bool => Number::Bool(self.to_bool()),
            DType::U8 => Number::Int(self.to_i32() as u8 as i64),
            DType::U16 => Number::Int(self.to_i32() as u16 as i64),
            DType::U32 => Number::Int(self.to_i64() as u32 as i64),
            DType::U64 => Number::UInt(self.to_u64()),
            DType::I8 => Number::Int(self.to_i32() as i8 as i64),
            DType::I16 => Number::Int(self.to_i32() as i16 as i64),
            DType::I32 => Number::Int(self.to_i32().into()),
            DType::I64 => Number::Int(self.to_i64()),
            DType::F16 => Number::Float(half::f16::from_f32(odd_single(self.to_f64())).into()),
            DType::BF16 => Number::Float(half::bf16::from_f32(odd_single(self.to_f64())).into()),
            DType::F32 => Number::Float(self.to_f32().into()),
            DType::F64 => Number::Float(self.to_f64()),
            DType::C64 => {
                let im = self.to_complex().im as f32;
                Number::Complex(self.to_f32().into(), im.into())
            }
            DType::C128 => {
                let z = self.to_complex();
                Number::Complex(z.re, z.im)
            }
        }
    }
}

/// A float cut towards zero; NaN and what does not fit give `i64::MIN`, as x86's instruction does.
pub fn float_to_i64(x: f64) -> i64 {
    if x.is_nan() || !(-9.223_372_036_854_776e18..9.223_372_036_854_776e18).contains(&x) {
        i64::MIN
    } else {
        x as i64
    }
}

/// A float cut towards zero; NaN and what does not fit give `i32::MIN`, as x86's instruction does.
pub fn float_to_i32(x: f64) -> i32 {
    let cut = x.trunc();
    if (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&cut) { cut as i32 } else { i32::MIN }
}

/// A single that rounds to the same half as `x`: what does not fit is cut and the last bit set, so
/// that no tie arises and none is lost. The crate `half` itself cuts off the low bits of a double.
fn odd_single(x: f64) -> f32 {
    let near = x as f32;
    let wide = f64::from(near);
    if wide == x || x.is_nan() {
        return near;
    }
    let cut = near.to_bits() - u32::from(wide.abs() > x.abs());
    f32::from_bits(cut | 1)
}

impl Number {
    /// As [`Number::cast`], but an integer dtype must be able to hold it. Unsigned dtypes take negative
    /// numbers down to the opposite of their greatest, which wrap: torch's rule.
    ///
    /// # Errors
    /// `Runtime` for a number that does not fit.
    pub fn checked_cast(self, op: &'static str, dtype: DType) -> Result<Number> {
        if let Some((least, greatest)) = dtype.integer_range() {
            let wide = match self {
                Number::Int(i) => i128::from(i),
                Number::UInt(u) => i128::from(u),
                other => other.to_f64() as i128,
            };
            let low = if least == 0 { -greatest } else { least };
            ensure!((low..=greatest).contains(&wide), Runtime, op, "{wide} does not fit into {dtype}");
        }
        Ok(self.cast(dtype))
    }
}

macro_rules! number_from {
    ($($ty:ty => $variant:ident),*) => { $(
        impl From<$ty> for Number { fn from(x: $ty) -> Self { Number::$variant(x.into()) } }
    )* };
}
number_from!(bool => Bool, u8 => Int, u16 => Int, u32 => Int, u64 => UInt, i8 => Int, i16 => Int, i32 => Int, i64 => Int, f32 => Float, f64 => Float);

impl From<usize> for Number {
    fn from(x: usize) -> Self {
        i64::try_from(x).map_or(Number::UInt(x as u64), Number::Int)
    }
}

impl From<Complex<f64>> for Number {
    fn from(z: Complex<f64>) -> Self {
        Number::Complex(z.re, z.im)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_that_do_not_fit_give_the_lowest_integer() {
        for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 3e9, -3e9, 2_147_483_648.0, 1e300] {
            let n = Number::Float(x);
            assert_eq!(n.cast(DType::I32), Number::Int(i32::MIN.into()), "{x}");
            assert_eq!(n.cast(DType::U8), Number::Int(0), "{x}");
        }
        assert_eq!(Number::Float(-2_147_483_648.9).cast(DType::I32), Number::Int(i32::MIN.into()));
        assert_eq!(Number::Float(2_147_483_647.9).cast(DType::I32), Number::Int(i32::MAX.into()));
        assert_eq!(Number::Float(300.7).cast(DType::U8), Number::Int(44));
        assert_eq!(Number::Float(-1.5).cast(DType::U8), Number::Int(255));
        assert_eq!(Number::Float(3e9).cast(DType::U32), Number::Int(3_000_000_000));
    }

    #[test]
    fn halves_are_rounded_once() {
        let half = |x: f64, dtype| Number::Float(x).cast(dtype).to_f64();
        for (dtype, unit) in [(DType::BF16, 2f64.powi(-7)), (DType::F16, 2f64.powi(-10))] {
            let tie = 1.0 + unit / 2.0;
            assert_eq!(half(tie, dtype), 1.0);
            for above in [2f64.powi(-23), 2f64.powi(-40), 2f64.powi(-52)] {
                assert_eq!(half(tie + above, dtype), 1.0 + unit, "{dtype} {above:e}");
                assert_eq!(half(-tie - above, dtype), -1.0 - unit, "{dtype} {above:e}");
                assert_eq!(half(tie + unit - above, dtype), 1.0 + unit, "{dtype} {above:e}");
            }
            assert_eq!(half(1e300, dtype), f64::INFINITY);
            assert!(half(-1e-300, dtype) == 0.0 && half(-1e-300, dtype).is_sign_negative());
            assert!(half(f64::NAN, dtype).is_nan());
        }
        assert_eq!(half(65519.99, DType::F16), 65504.0);
        assert_eq!(half(65520.0, DType::F16), f64::INFINITY);
    }

    #[test]
    fn integers_wrap() {
        assert_eq!(Number::Int(1 << 32 | 5).cast(DType::I32), Number::Int(5));
        assert_eq!(Number::UInt(u64::MAX).cast(DType::I8), Number::Int(-1));
        assert_eq!(Number::Int(-1).cast(DType::U64), Number::UInt(u64::MAX));
    }

    #[test]
    fn large_floats_fit_unsigned_integers_whatever_their_imaginary_part() {
        let x = 2f64.powi(63) * 1.5;
        for n in [Number::Float(x), Number::Complex(x, 1.0)] {
            assert_eq!(n.cast(DType::U64), Number::UInt(3 << 62));
        }
    }

    #[test]
    fn integers_round_once_to_singles() {
        // Through a double this would be a tie, and fall to the even neighbour below.
        let i = (1i64 << 60) + (1 << 36) + 1;
        assert_eq!(Number::Int(i).cast(DType::F32), Number::Float(((1i64 << 60) + (1 << 37)) as f64));
        assert_eq!(Number::Int(i).cast(DType::C64), Number::Complex(((1i64 << 60) + (1 << 37)) as f64, 0.0));
    }
}
