//! Floats. Functions of a single are computed as doubles and rounded once.

use super::error_function::{erf, erfc};
use crate::value::Val;
use rushlight_core::program::Opcode;

macro_rules! float {
    ($name:ident, $t:ty, $v:ident) => {
        /// `None` where floats have no such operation.
        pub(super) fn $name(op: Opcode, x: $t, y: $t) -> Option<Val> {
            use Opcode as O;
            let number = match op {
                O::Neg => -x,
                O::Abs => x.abs(),
                O::Sign if x.is_nan() => x,
                O::Sign => <$t>::from(i8::from(x > 0.0) - i8::from(x < 0.0)),
                O::Recip => 1.0 / x,
                O::Sqrt => x.sqrt(),
                O::Floor => x.floor(),
                O::Ceil => x.ceil(),
                O::Round => x.round_ties_even(),
                O::Trunc => x.trunc(),
                O::Relu => {
                    if x.is_nan() || x > 0.0 {
                        x
                    } else {
                        0.0
                    }
                }
                O::Add => x + y,
                O::Sub => x - y,
                O::Mul => x * y,
                O::Div => x / y,
                O::Fmod => x % y,
                O::Rem => match x % y {
                    // Also a zero takes the divisor's sign.
                    0.0 => (0.0 as $t).copysign(y),
                    r if (r < 0.0) != (y < 0.0) => r + y,
                    r => r,
                },
                O::FloorDiv if y == 0.0 => x / y,
                O::FloorDiv => {
                    // The quotient of what divides evenly is near an integer; then only rounding
                    // is left to mend. A quotient of 0 keeps its sign.
                    let r = x % y;
                    let even = (x - r) / y - if r != 0.0 && (r < 0.0) != (y < 0.0) { 1.0 } else { 0.0 };
                    let floor = even.floor();
                    if even == 0.0 {
                        (0.0 as $t).copysign(x / y)
                    } else if even - floor > 0.5 {
                        floor + 1.0
                    } else {
                        floor
                    }
                }
                O::Max => {
                    if x.is_nan() || x >= y {
                        x
                    } else {
                        y
                    }
                }
                O::Min => {
                    if x.is_nan() || x <= y {
                        x
                    } else {
                        y
                    }
                }
                O::Copysign => x.copysign(y),
                O::Eq => return Some(Val::Bool(x == y)),
                O::Ne => return Some(Val::Bool(x != y)),
                O::Lt => return Some(Val::Bool(x < y)),
                O::Le => return Some(Val::Bool(x <= y)),
                O::Gt => return Some(Val::Bool(x > y)),
                O::Ge => return Some(Val::Bool(x >= y)),
                O::IsNan => return Some(Val::Bool(x.is_nan())),
                O::IsInf => return Some(Val::Bool(x.is_infinite())),
                _ => function(op, x.into(), y.into())? as $t,
            };
            Some(Val::$v(number))
        }
    };
}

float!(float32, f32, F32);
float!(float64, f64, F64);

/// The functions that are not exact.
fn function(op: Opcode, x: f64, y: f64) -> Option<f64> {
    use Opcode as O;
    Some(match op {
        O::Rsqrt => 1.0 / x.sqrt(),
        O::Exp => x.exp(),
        O::Exp2 => x.exp2(),
        O::Expm1 => x.exp_m1(),
        O::Log => x.ln(),
        O::Log2 => x.log2(),
        O::Log10 => x.log10(),
        O::Log1p => x.ln_1p(),
        O::Sin => x.sin(),
        O::Cos => x.cos(),
        O::Tan => x.tan(),
        O::Asin => x.asin(),
        O::Acos => x.acos(),
        O::Atan => x.atan(),
        O::Sinh => x.sinh(),
        O::Cosh => x.cosh(),
        O::Tanh => x.tanh(),
        O::Asinh => asinh(x),
        O::Acosh => acosh(x),
        O::Atanh => x.atanh(),
        // Either form overflows on the other side.
        O::Sigmoid if x < 0.0 => x.exp() / (1.0 + x.exp()),
        O::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        O::Erf => erf(x),
        O::Erfc => erfc(x),
        O::Pow => x.powf(y),
        O::Atan2 => x.atan2(y),
        _ => return None,
    })
}

/// The square in the logarithm's argument would overflow.
fn asinh(x: f64) -> f64 {
    if x.abs() > 1e8 { (x.abs().ln() + std::f64::consts::LN_2).copysign(x) } else { x.asinh() }
}

/// Exact near 1, where the logarithm of what is left of rounding would not be.
fn acosh(x: f64) -> f64 {
    let above = x - 1.0;
    match x {
        x if x < 1.0 => f64::NAN,
        x if x > 1e8 => x.ln() + std::f64::consts::LN_2,
        _ => (above + (above * (x + 1.0)).sqrt()).ln_1p(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INF: f32 = f32::INFINITY;

    fn f(op: Opcode, x: f32, y: f32) -> f32 {
        match float32(op, x, y) {
            Some(Val::F32(z)) => z,
            other => panic!("{op:?} gave {other:?}"),
        }
    }

    #[test]
    fn nan_goes_through() {
        for op in
            [Opcode::Sign, Opcode::Relu, Opcode::Abs, Opcode::Max, Opcode::Min, Opcode::Exp, Opcode::Rem]
        {
            assert!(f(op, f32::NAN, 1.0).is_nan(), "{op:?}");
        }
        assert!(f(Opcode::Max, 1.0, f32::NAN).is_nan() && f(Opcode::Min, 1.0, f32::NAN).is_nan());
        assert_eq!(float32(Opcode::Lt, f32::NAN, 1.0), Some(Val::Bool(false)));
    }

    #[test]
    fn rounding() {
        assert_eq!([0.5, 1.5, 2.5, -0.5].map(|x| f(Opcode::Round, x, x)), [0.0, 2.0, 2.0, -0.0]);
        assert_eq!(f(Opcode::Trunc, -1.7, 0.0), -1.0);
    }

    #[test]
    fn division_as_python_has_it() {
        for (x, y, quotient, rest) in [
            (7.0, 2.0, 3.0, 1.0),
            (-7.0, 2.0, -4.0, 1.0),
            (7.0, -2.0, -4.0, -1.0),
            (-7.0, -2.0, 3.0, -1.0),
            (1.0, INF, 0.0, 1.0),
            (-1.0, INF, -1.0, INF),
        ] {
            assert_eq!(f(Opcode::FloorDiv, x, y), quotient, "{x} // {y}");
            assert_eq!(f(Opcode::Rem, x, y), rest, "{x} % {y}");
        }
        // 1.0 / 0.1 rounds to 10, yet 0.1 fits only nine times.
        assert_eq!(float64(Opcode::FloorDiv, 1.0, 0.1), Some(Val::F64(9.0)));
        assert_eq!(f(Opcode::FloorDiv, 1.0, 0.0), INF);
        assert_eq!(f(Opcode::FloorDiv, 1.0, -0.0), -INF);
        assert!(f(Opcode::FloorDiv, 0.0, 0.0).is_nan() && f(Opcode::FloorDiv, INF, 2.0).is_nan());
        assert!(f(Opcode::FloorDiv, -0.0, 3.0).is_sign_negative());
        assert_eq!(f(Opcode::Fmod, -7.0, 2.0), -1.0);
    }

    #[test]
    fn inverse_hyperbolic_cosine() {
        for x in [1.0, 1.0 + 1e-9, 1.5, 20.0, 1e7, 1e9, 1e300] {
            let back = acosh(x).cosh();
            assert!(
                (back - x).abs() <= x * 1e-13 || back.is_infinite() && acosh(x) > 690.0,
                "{x} came back as {back}"
            );
        }
        // sqrt(2 t) (1 - t / 12) for x = 1 + t
        let t = 2f64.powi(-30);
        assert!((acosh(1.0 + t) / ((2.0 * t).sqrt() * (1.0 - t / 12.0)) - 1.0).abs() < 1e-15);
        assert!(acosh(0.5).is_nan() && acosh(-3.0).is_nan() && acosh(f64::NAN).is_nan());
        assert_eq!(acosh(f64::INFINITY), f64::INFINITY);
    }

    #[test]
    fn inverse_hyperbolic_sine() {
        assert!((asinh(-1e308) + 709.889_355_822_726).abs() < 1e-12);
        assert!((asinh(1e8) - asinh(1.000_000_01e8)).abs() < 2e-8);
        assert_eq!((asinh(f64::INFINITY), asinh(1e-300)), (f64::INFINITY, 1e-300));
        assert!(asinh(-0.0).is_sign_negative() && asinh(f64::NAN).is_nan());
    }

    #[test]
    fn functions_are_rounded_once() {
        assert_eq!(f(Opcode::Exp, 1.0, 1.0), std::f32::consts::E);
        assert_eq!(f(Opcode::Sigmoid, -INF, 0.0), 0.0);
        assert_eq!(f(Opcode::Sigmoid, INF, 0.0), 1.0);
        assert!(f(Opcode::Sigmoid, -100.0, 0.0) > 0.0);
        assert_eq!(f(Opcode::Erfc, 0.0, 0.0), 1.0);
        assert_eq!(f(Opcode::Pow, 1.0, f32::NAN), 1.0);
    }
}
