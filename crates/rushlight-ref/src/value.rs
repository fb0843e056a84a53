//! A number in one of the types that kernels compute in.

use num_complex::Complex;
use rushlight_core::{CType, DType, Number};

/// One value inside a kernel; a truth value is `Bool` whatever the compute type is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Val {
    Bool(bool),
    I32(i32),
    I64(i64),
    U64(u64),
    F32(f32),
    F64(f64),
    C64(Complex<f32>),
    C128(Complex<f64>),
}

impl Val {
    /// A number as `ctype` has it: wrapped, rounded or cut.
    pub(crate) fn of(number: Number, ctype: CType) -> Val {
        match ctype {
            CType::Bool => Val::Bool(number.to_bool()),
            CType::I32 => Val::I32(number.to_i32()),
            CType::I64 => Val::I64(number.to_i64()),
            CType::U64 => Val::U64(number.to_u64()),
            CType::F32 => Val::F32(number.to_f32()),
            CType::F64 => Val::F64(number.to_f64()),
            CType::C64 => Val::C64(Complex::new(number.to_f32(), number.to_complex().im as f32)),
            CType::C128 => Val::C128(number.to_complex()),
        }
    }

    /// The same number without its type.
    pub(crate) fn number(self) -> Number {
        match self {
            Val::Bool(x) => Number::Bool(x),
            Val::I32(x) => Number::Int(x.into()),
            Val::I64(x) => Number::Int(x),
            Val::U64(x) => Number::UInt(x),
            Val::F32(x) => Number::Float(x.into()),
            Val::F64(x) => Number::Float(x),
            Val::C64(z) => Number::Complex(z.re.into(), z.im.into()),
            Val::C128(z) => Number::Complex(z.re, z.im),
        }
    }

    /// The same number as `ctype` has it.
    pub(crate) fn to(self, ctype: CType) -> Val {
        Val::of(self.number(), ctype)
    }

    /// Whether it is true, or not zero.
    pub(crate) fn truth(self) -> bool {
        self.number().to_bool()
    }
}

/// The type that sums and products of `ctype` are kept in until they are rounded once.
pub(crate) fn wide(ctype: CType) -> CType {
    match ctype {
        CType::F32 => CType::F64,
        CType::C64 => CType::C128,
        other => other,
    }
}

/// A compute type as users know it.
pub(crate) fn dtype(ctype: CType) -> DType {
    match ctype {
        CType::Bool => DType::Bool,
        CType::I32 => DType::I32,
        CType::I64 => DType::I64,
        CType::U64 => DType::U64,
        CType::F32 => DType::F32,
        CType::F64 => DType::F64,
        CType::C64 => DType::C64,
        CType::C128 => DType::C128,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_change_type_as_stores_do() {
        assert_eq!(Val::F64(3e9).to(CType::I32), Val::I32(i32::MIN));
        assert_eq!(Val::I64(-1).to(CType::U64), Val::U64(u64::MAX));
        assert_eq!(Val::C128(Complex::new(1.5, 2.0)).to(CType::F32), Val::F32(1.5));
        assert_eq!(Val::C64(Complex::new(0.0, 2.0)).to(CType::Bool), Val::Bool(true));
        assert_eq!(Val::F32(f32::NAN).to(CType::Bool), Val::Bool(true));
    }
}
