//! Complex numbers, always computed as pairs of doubles.

use crate::value::Val;
use num_complex::Complex;
use rushlight_core::program::Opcode;
use std::f64::consts::LN_2;

type C = Complex<f64>;

/// `None` where complex numbers have no such operation: they have no order and no rounding.
pub(super) fn apply(op: Opcode, x: C, y: C) -> Option<Val> {
    use Opcode as O;
    let number = match op {
        O::Neg => -x,
        O::Abs => C::new(x.re.hypot(x.im), 0.0),
        O::Sign if x == C::ZERO => C::ZERO,
        O::Sign => x / x.re.hypot(x.im),
        O::Recip => C::ONE / x,
        O::Sqrt => x.sqrt(),
        O::Rsqrt => C::ONE / x.sqrt(),
        O::Exp => x.exp(),
        O::Exp2 => (x * LN_2).exp(),
        O::Expm1 => x.exp() - C::ONE,
        O::Log => x.ln(),
        O::Log2 => x.ln() / LN_2,
        O::Log10 => x.ln() / std::f64::consts::LN_10,
        O::Log1p => (x + C::ONE).ln(),
        O::Sin => x.sin(),
        O::Cos => x.cos(),
        O::Tan => -C::I * tanh(C::I * x),
        O::Asin => x.asin(),
        O::Acos => x.acos(),
        O::Atan => x.atan(),
        O::Sinh => x.sinh(),
        O::Cosh => x.cosh(),
        O::Tanh => tanh(x),
        O::Asinh => x.asinh(),
        O::Acosh => x.acosh(),
        O::Atanh => x.atanh(),
        O::Sigmoid => C::ONE / (C::ONE + (-x).exp()),
        O::Add => x + y,
        O::Sub => x - y,
        O::Mul => x * y,
        O::Div => x / y,
        O::Pow => power(x, y),
        O::Eq => return Some(Val::Bool(x == y)),
        O::Ne => return Some(Val::Bool(x != y)),
        O::IsNan => return Some(Val::Bool(x.re.is_nan() || x.im.is_nan())),
        O::IsInf => return Some(Val::Bool(x.re.is_infinite() || x.im.is_infinite())),
        _ => return None,
    };
    Some(Val::C128(number))
}

/// Far out only the leading exponentials are left, and their quotient would overflow.
fn tanh(x: C) -> C {
    if x.re.abs() > 20.0 {
        C::new(1f64.copysign(x.re), 4.0 * x.im.sin() * x.im.cos() * (-2.0 * x.re.abs()).exp())
    } else {
        x.tanh()
    }
}

fn power(x: C, y: C) -> C {
    if y == C::ZERO {
        C::ONE
    } else if x == C::ZERO && y.re > 0.0 {
        // The logarithm of 0 would make NaN of it.
        C::ZERO
    } else {
        (x.ln() * y).exp()
    }
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
