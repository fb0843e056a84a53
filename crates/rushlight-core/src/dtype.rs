//! The one dtype table: name, size, kind, compute type, promotion, limits, foreign names.
//!
//! A new dtype is one row of `dtypes!` here plus its load and store in the backends.

use crate::{Number, Result, bail};
use half::{bf16, f16};
use num_complex::Complex;
use std::fmt;

/// What sort of number a dtype holds, in torch's order of promotion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// `bool`
    Bool,
    /// integers of any width, signed or not
    Int,
    /// floating point numbers of any width
    Float,
    /// pairs of floats
    Complex,
}

/// The few types kernels compute in.
///
/// Storage dtypes are converted on load and on store, so halves round once per op and promotion
/// costs no pass of its own. Small integers compute in `i32` and wrap when stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum CType {
    Bool,
    I32,
    I64,
    U64,
    F32,
    F64,
    C64,
    C128,
}

mod sealed {
    pub trait Sealed {}
}

/// A Rust type whose values can be elements of a tensor.
///
/// Sealed: implementors are `Copy`, have no padding, and every bit pattern is valid (`bool` is
/// handled as a byte wherever memory is read).
pub trait Element: sealed::Sealed + Copy + Send + Sync + PartialEq + fmt::Debug + Default + 'static {
    /// The dtype this type stands for.
    const DTYPE: DType;
    /// This value as a number.
    fn number(self) -> Number;
}

macro_rules! dtypes {
    (($d:tt) $( $(#[$doc:meta])* $variant:ident($ty:ty) $name:literal, $cat:ident, $ctype:ident, $safetensors:expr, $npy:expr, $number:expr; )*) => {
        /// The type of a tensor's elements.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum DType { $( $(#[$doc])* $variant, )* }

        impl DType {
            /// All dtypes, in table order.
            pub const ALL: &'static [DType] = &[ $( DType::$variant, )* ];
            /// torch's name.
            pub const fn name(self) -> &'static str { match self { $( DType::$variant => $name, )* } }
            /// Bytes an element takes.
            pub const fn size(self) -> usize { match self { $( DType::$variant => size_of::<$ty>(), )* } }
            /// Its category of promotion.
            pub const fn category(self) -> Category { match self { $( DType::$variant => Category::$cat, )* } }
            /// The type kernels compute it in.
            pub const fn ctype(self) -> CType { match self { $( DType::$variant => CType::$ctype, )* } }
            /// Its name in safetensors files, if it has one.
            pub const fn safetensors_name(self) -> Option<&'static str> { match self { $( DType::$variant => $safetensors, )* } }
            /// Its little-endian descriptor in npy files, if it has one.
            pub const fn npy_name(self) -> Option<&'static str> { match self { $( DType::$variant => $npy, )* } }
        }

        $(
            impl sealed::Sealed for $ty {}
            impl Element for $ty {
                const DTYPE: DType = DType::$variant;
                fn number(self) -> Number { let f: fn($ty) -> Number = $number; f(self) }
            }
        )*

        /// `with_dtype!(dtype, |T| body)` runs `body` with `T` bound to the Rust type of a dtype.
        ///
        /// The one switch over dtypes; an arm is compiled for each row of the table.
        #[macro_export]
        macro_rules! with_dtype {
            ($d dtype:expr, |$d T:ident| $d body:expr) => {
                match $d dtype { $( $crate::DType::$variant => {
                    #[allow(dead_code)]
                    type $d T = <$crate::dtype::Of<{ $crate::DType::$variant as u8 }> as $crate::dtype::Typed>::Type;
                    $d body
                } )* }
            };
        }
        $( impl Typed for Of<{ DType::$variant as u8 }> { type Type = $ty; } )*
    };
}

/// Names a dtype as a type, by its number in the table; [`with_dtype!`](crate::with_dtype) uses it.
pub struct Of<const N: u8>;
/// The Rust type that [`Of`] names.
pub trait Typed {
    /// That type.
    type Type: Element;
}

dtypes! { ($)
    /// Truth values, one byte each.
    Bool(bool) "bool", Bool, Bool, Some("BOOL"), Some("|b1"), Number::Bool;
    /// Unsigned 8-bit integers.
    U8(u8) "uint8", Int, I32, Some("U8"), Some("|u1"), |x| Number::Int(x.into());
    /// Unsigned 16-bit integers.
    U16(u16) "uint16", Int, I32, Some("U16"), Some("<u2"), |x| Number::Int(x.into());
    /// Unsigned 32-bit integers.
    U32(u32) "uint32", Int, I64, Some("U32"), Some("<u4"), |x| Number::Int(x.into());
    /// Unsigned 64-bit integers.
    U64(u64) "uint64", Int, U64, Some("U64"), Some("<u8"), Number::UInt;
    /// Signed 8-bit integers.
    I8(i8) "int8", Int, I32, Some("I8"), Some("|i1"), |x| Number::Int(x.into());
    /// Signed 16-bit integers.
    I16(i16) "int16", Int, I32, Some("I16"), Some("<i2"), |x| Number::Int(x.into());
    /// Signed 32-bit integers.
    I32(i32) "int32", Int, I32, Some("I32"), Some("<i4"), |x| Number::Int(x.into());
    /// Signed 64-bit integers.
    I64(i64) "int64", Int, I64, Some("I64"), Some("<i8"), Number::Int;
    /// IEEE half precision: 5 bits of exponent, 10 of fraction.
    F16(f16) "float16", Float, F32, Some("F16"), Some("<f2"), |x| Number::Float(x.into());
    /// The upper half of a single: 8 bits of exponent, 7 of fraction.
    BF16(bf16) "bfloat16", Float, F32, Some("BF16"), None, |x| Number::Float(x.into());
    /// IEEE single precision.
    F32(f32) "float32", Float, F32, Some("F32"), Some("<f4"), |x| Number::Float(x.into());
    /// IEEE double precision.
    F64(f64) "float64", Float, F64, Some("F64"), Some("<f8"), Number::Float;
    /// Two singles.
    C64(Complex<f32>) "complex64", Complex, C64, Some("C64"), Some("<c8"), |x| Number::Complex(x.re.into(), x.im.into());
    /// Two doubles.
    C128(Complex<f64>) "complex128", Complex, C128, None, Some("<c16"), |x| Number::Complex(x.re, x.im);
}

impl DType {
    /// The largest finite number of a float dtype.
    pub const fn largest_float(self) -> Option<f64> {
        Some(match self {
            DType::F16 => 65504.0,
            // 2^128 - 2^120
            DType::BF16 => 3.389_531_389_251_535_5e38,
            DType::F32 => f32::MAX as f64,
            DType::F64 => f64::MAX,
            _ => return None,
        })
    }
    /// Whether it is a floating point dtype (complex ones are not).
    pub const fn is_float(self) -> bool {
        matches!(self.category(), Category::Float)
    }
    /// Whether it is a complex dtype.
    pub const fn is_complex(self) -> bool {
        matches!(self.category(), Category::Complex)
    }
    /// Whether gradients can flow through it: floats and complex numbers.
    pub const fn is_differentiable(self) -> bool {
        self.is_float() || self.is_complex()
    }
    /// Whether it is `bool` or an integer dtype.
    pub const fn is_integral(self) -> bool {
        !self.is_differentiable()
    }
    /// Whether it is `f16` or `bf16`.
    pub const fn is_half(self) -> bool {
        matches!(self, DType::F16 | DType::BF16)
    }
    /// Whether it is an integer dtype without negative numbers.
    pub const fn is_unsigned(self) -> bool {
        matches!(self, DType::U8 | DType::U16 | DType::U32 | DType::U64)
    }
    /// The real dtype whose pairs make up this one; itself when it is real.
    pub const fn real(self) -> DType {
        match self {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            other => other,
        }
    }
    /// The complex dtype that holds this one without loss of precision (`f16` has none here and widens).
    pub const fn complex(self) -> DType {
        match self {
            DType::F64 | DType::C128 => DType::C128,
            _ => DType::C64,
        }
    }
    /// The dtype sums and products of this one accumulate to: `i64` for bool and integers.
    pub const fn accumulated(self) -> DType {
        match self.category() {
            Category::Bool | Category::Int => DType::I64,
            _ => self,
        }
    }
    /// The least and greatest value of an integer dtype; none for bool, floats and complex numbers.
    pub const fn integer_range(self) -> Option<(i128, i128)> {
        Some(match self {
            DType::U8 => (0, u8::MAX as i128),
            DType::U16 => (0, u16::MAX as i128),
            DType::U32 => (0, u32::MAX as i128),
            DType::U64 => (0, u64::MAX as i128),
            DType::I8 => (i8::MIN as i128, i8::MAX as i128),
            DType::I16 => (i16::MIN as i128, i16::MAX as i128),
            DType::I32 => (i32::MIN as i128, i32::MAX as i128),
            DType::I64 => (i64::MIN as i128, i64::MAX as i128),
            _ => return None,
        })
    }
    /// The dtype called `name`, by torch's names and aliases (`float`, `long`, `half` ...).
    ///
    /// # Errors
    /// `Type` for a name that no dtype has.
    pub fn parse(name: &str) -> Result<DType> {
        let full = match name {
            "float" => "float32",
            "double" => "float64",
            "half" => "float16",
            "int" => "int32",
            "long" => "int64",
            "short" => "int16",
            "cfloat" => "complex64",
            "cdouble" => "complex128",
            other => other,
        };
        match DType::ALL.iter().find(|d| d.name() == full) {
            Some(d) => Ok(*d),
            None => bail!(
                Type,
                "dtype",
                "no dtype is called {name:?}; torch's names work: float32, int64, bool ..."
            ),
        }
    }

    /// The dtype two tensors of equal standing compute in: torch's table, and where torch refuses
    /// (`u16`, `u32`, `u64` with another integer) that of the Python array API standard: the
    /// smallest integer dtype that holds both.
    ///
    /// # Errors
    /// `Runtime` for `u64` with a signed integer: no integer dtype holds both.
    pub fn promote(self, other: DType) -> Result<DType> {
        use Category::{Complex, Float, Int};
        let (low, high) = if self.category() <= other.category() { (self, other) } else { (other, self) };
        if low == high {
            return Ok(low);
        }
        if low.category() < high.category() {
            // A complex result is as wide as the wider of its parts.
            return Ok(if high == DType::C64 && low == DType::F64 { DType::C128 } else { high });
        }
        match low.category() {
            Int if low.is_unsigned() != high.is_unsigned() => {
                let (unsigned, signed) = if low.is_unsigned() { (low, high) } else { (high, low) };
                let next = match unsigned {
                    DType::U8 => DType::I16,
                    DType::U16 => DType::I32,
                    DType::U32 => DType::I64,
                    _ => bail!(
                        Runtime,
                        "promote",
                        "{low} and {high} have no common dtype; convert one of them with to_dtype"
                    ),
                };
                Ok(if signed.size() > next.size() { signed } else { next })
            }
            Float if low.size() == high.size() => Ok(DType::F32), // float16 and bfloat16
            Int | Float | Complex => Ok(if low.size() > high.size() { low } else { high }),
            Category::Bool => Ok(low),
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
