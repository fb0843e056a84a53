//! Complex numbers, always computed as pairs of doubles.

use crate::value::Val;
use num_complex::Complex;
use rushlight_core::program::Opcode;
use rushlight_special::complex;
use std::f64::consts::LN_2;

type C = Complex<f64>;

/// `None` where complex numbers have no such operation: they have no order and no rounding.
pub(super) fn apply(op: Opcode, x: C, y: C) -> Option<Val> {
    use Opcode as O;
    let number = match op {
        O::Neg => -x,
        O::Abs => C::new(x.re.hypot(x.im), 0.0),
        O::Sign => complex::sign(x),
        O::Recip => C::ONE / x,
        O::Sqrt => complex::sqrt(x),
        O::Rsqrt => C::ONE / complex::sqrt(x),
        O::Exp => complex::exp(x),
        O::Exp2 => complex::exp(x * LN_2),
        O::Expm1 => complex::expm1(x),
        O::Log => complex::log(x),
        O::Log2 => complex::log2(x),
        O::Log10 => complex::log10(x),
        O::Log1p => complex::log1p(x),
        O::Sin => complex::sin(x),
        O::Cos => complex::cos(x),
        O::Tan => complex::tan(x),
        O::Asin => complex::asin(x),
        O::Acos => complex::acos(x),
        O::Atan => complex::atan(x),
        O::Sinh => complex::sinh(x),
        O::Cosh => complex::cosh(x),
        O::Tanh => complex::tanh(x),
        O::Asinh => complex::asinh(x),
        O::Acosh => complex::acosh(x),
        O::Atanh => complex::atanh(x),
        O::Sigmoid => C::ONE / (C::ONE + complex::exp(-x)),
        O::Add => x + y,
        O::Sub => x - y,
        O::Mul => x * y,
        O::Div => x / y,
        O::Pow => complex::pow(x, y),
        O::Eq => return Some(Val::Bool(x == y)),
        O::Ne => return Some(Val::Bool(x != y)),
        O::IsNan => return Some(Val::Bool(x.re.is_nan() || x.im.is_nan())),
        O::IsInf => return Some(Val::Bool(x.re.is_infinite() || x.im.is_infinite())),
        _ => return None,
    };
    Some(Val::C128(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities() {
        let near = |a: Option<Val>, b: C| match a {
            Some(Val::C128(a)) => assert!((a - b).norm() < 1e-12, "{a} is not {b}"),
            other => panic!("{other:?}"),
        };
        let (x, y) = (C::new(1.5, -0.5), C::new(0.25, 2.0));
        near(apply(Opcode::Mul, x, y), C::new(1.375, 2.875));
        near(apply(Opcode::Abs, C::new(3.0, 4.0), y), C::new(5.0, 0.0));
        near(apply(Opcode::Pow, x, C::new(2.0, 0.0)), x * x);
        near(apply(Opcode::Pow, C::ZERO, x), C::ZERO);
        near(
            apply(Opcode::Exp2, x, x),
            apply(Opcode::Pow, C::new(2.0, 0.0), x).map(|v| v.number().to_complex()).unwrap(),
        );
        near(apply(Opcode::Sqrt, C::new(-4.0, 0.0), y), C::new(0.0, 2.0));
        near(apply(Opcode::Tan, x, x), x.tan());
        near(apply(Opcode::Tanh, C::new(-800.0, 1.0), y), C::new(-1.0, 0.0));
        near(apply(Opcode::Tanh, C::new(20.1, 1.0), y), C::new(20.1, 1.0).tanh());
        assert_eq!(apply(Opcode::Lt, x, y), None);
        assert_eq!(apply(Opcode::Eq, x, x), Some(Val::Bool(true)));
    }
}
