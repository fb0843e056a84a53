//! Hyperbolic and circular functions: one is the other of `iz`.

use super::{C, INF, LARGE, NAN, polar_exp};

/// `iz`.
pub(super) fn turned(z: C) -> C {
    C::new(-z.im, z.re)
}

/// `-iz`.
pub(super) fn turned_back(z: C) -> C {
    C::new(z.im, -z.re)
}

/// The hyperbolic sine.
pub fn sinh(z: C) -> C {
    let (x, y) = (z.re, z.im);
    if y == 0.0 {
        return C::new(x.sinh(), y);
    }
    if !y.is_finite() {
        return if x == 0.0 || x.is_infinite() { C::new(x, f64::NAN) } else { NAN };
    }
    if x.abs() >= LARGE {
        let far = polar_exp(x.abs(), y, 0.5);
        return C::new(far.re * 1f64.copysign(x), far.im);
    }
    C::new(x.sinh() * y.cos(), x.cosh() * y.sin())
}

/// The hyperbolic cosine.
pub fn cosh(z: C) -> C {
    let (x, y) = (z.re, z.im);
    if y == 0.0 {
        return C::new(x.cosh(), if x.is_nan() { y } else { y * 1f64.copysign(x) });
    }
    if !y.is_finite() {
        return match x {
            0.0 => C::new(f64::NAN, 0.0),
            _ if x.is_infinite() => C::new(INF, f64::NAN),
            _ => NAN,
        };
    }
    if x.abs() >= LARGE {
        let far = polar_exp(x.abs(), y, 0.5);
        return C::new(far.re, far.im * 1f64.copysign(x));
    }
    C::new(x.cosh() * y.cos(), x.sinh() * y.sin())
}

/// The hyperbolic tangent.
pub fn tanh(z: C) -> C {
    let (x, y) = (z.re, z.im);
    if x.is_infinite() {
        let turn = if y.is_finite() { (2.0 * y).sin() } else { y };
        return C::new(1f64.copysign(x), if turn.is_nan() { 0.0 } else { 0f64.copysign(turn) });
    }
    if !y.is_finite() {
        return if x == 0.0 { C::new(x, f64::NAN) } else { NAN };
    }
    if x.is_nan() {
        return C::new(x, if y == 0.0 { y } else { x });
    }
    if x.abs() > 20.0 {
        // Only the leading exponentials are left, and their quotient would overflow.
        let (sin, cos) = y.sin_cos();
        return C::new(1f64.copysign(x), 4.0 * sin * cos * (-2.0 * x.abs()).exp());
    }
    // With t = tan y and s = sinh x: (s cosh x (1 + t^2) + i t) / (1 + s^2 (1 + t^2)).
    let (t, s) = (y.tan(), x.sinh());
    let (beta, rho) = (1.0 + t * t, (1.0 + s * s).sqrt());
    if t.abs() > 1e150 {
        return C::new(rho / s, 1.0 / t);
    }
    let below = 1.0 + beta * s * s;
    C::new(beta * rho * s / below, t / below)
}

/// The sine.
pub fn sin(z: C) -> C {
    turned_back(sinh(turned(z)))
}

/// The cosine.
pub fn cos(z: C) -> C {
    cosh(turned(z))
}

/// The tangent.
pub fn tan(z: C) -> C {
    turned_back(tanh(turned(z)))
}
