//! Elementary functions of complex numbers in double precision.
//!
//! Branch cuts, signs of zeros and results at infinities and NaN are those of C (ISO C, annex G),
//! which the Python array API standard took over. Where C leaves a sign open it is the argument's.
//!
//! - here: exponentials, logarithms, roots;
//! - `hyperbolic`: sinh, cosh, tanh, and sin, cos, tan by way of them;
//! - `inverse`: their inverses.

mod hyperbolic;
mod inverse;

pub use hyperbolic::{cos, cosh, sin, sinh, tan, tanh};
pub use inverse::{acos, acosh, asin, asinh, atan, atanh};

use num_complex::Complex;
use std::f64::consts::LN_2;

type C = Complex<f64>;

const INF: f64 = f64::INFINITY;
const NAN: C = C::new(f64::NAN, f64::NAN);

/// Beyond this the exponential of a real number may overflow where a part of the result does not.
const LARGE: f64 = 709.0;

/// `scale * e^x * (cos y + i sin y)` for finite `y`, of which each part overflows only by itself.
fn polar_exp(x: f64, y: f64, scale: f64) -> C {
    let (sin, cos) = y.sin_cos();
    if x.abs() < LARGE {
        let e = x.exp() * scale;
        return C::new(e * cos, e * sin);
    }
    let half = (x / 2.0).exp();
    C::new(half * cos * scale * half, half * sin * scale * half)
}

/// `e^z`.
pub fn exp(z: C) -> C {
    let (x, y) = (z.re, z.im);
    if y == 0.0 {
        return C::new(x.exp(), y);
    }
    if y.is_finite() {
        return polar_exp(x, y, 1.0);
    }
    match x {
        INF => C::new(INF, f64::NAN),
        f64::NEG_INFINITY => C::new(0.0, 0.0),
        _ => NAN,
    }
}

/// `e^z - 1`, exact near 0.
pub fn expm1(z: C) -> C {
    let (x, y) = (z.re, z.im);
    if y == 0.0 {
        return C::new(x.exp_m1(), y);
    }
    if x == f64::NEG_INFINITY {
        return C::new(-1.0, if y.is_finite() { 0f64.copysign(y.sin()) } else { 0.0 });
    }
    if !y.is_finite() || x >= LARGE {
        return exp(z);
    }
    // e^x cos y - 1 = (e^x - 1) cos y - 2 sin^2(y / 2)
    let half = (y / 2.0).sin();
    let (sin, cos) = y.sin_cos();
    C::new(x.exp_m1() * cos - 2.0 * half * half, x.exp() * sin)
}

/// The exact sum of two numbers, in two parts.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let b_part = s - a;
    (s, (a - (s - b_part)) + (b - b_part))
}

/// The exact square of a number, in two parts.
fn square(a: f64) -> (f64, f64) {
    let s = a * a;
    (s, a.mul_add(a, -s))
}

/// `|1 + x + iy|^2 - 1`, which may be tiny where its terms are not.
fn square_excess(x: f64, y: f64) -> f64 {
    let ((p, dp), (q, dq)) = (square(x), square(y));
    let (s, ds) = two_sum(2.0 * x, p);
    let (t, dt) = two_sum(s, q);
    t + (ds + dt + dp + dq)
}

/// `log |z|`.
fn log_abs(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        return if x.is_infinite() || y.is_infinite() { INF } else { f64::NAN };
    }
    let (x, y) = (x.abs(), y.abs());
    let (low, high) = (x.min(y), x.max(y));
    if (0.5..2.0).contains(&high) && low < 2.0 {
        return 0.5 * square_excess(high - 1.0, low).ln_1p();
    }
    if high > 1e300 && high.is_finite() {
        return (x / 4.0).hypot(y / 4.0).ln() + 2.0 * LN_2;
    }
    x.hypot(y).ln()
}

/// The natural logarithm; cut along the negative real numbers.
pub fn log(z: C) -> C {
    C::new(log_abs(z.re, z.im), z.im.atan2(z.re))
}

/// The logarithm to base 2.
pub fn log2(z: C) -> C {
    let l = log(z);
    C::new(l.re / LN_2, l.im / LN_2)
}

/// The logarithm to base 10.
pub fn log10(z: C) -> C {
    let l = log(z);
    C::new(l.re / std::f64::consts::LN_10, l.im / std::f64::consts::LN_10)
}

/// `log(1 + z)`, exact near 0.
pub fn log1p(z: C) -> C {
    let (x, y) = (z.re, z.im);
    let angle = y.atan2(x + 1.0);
    if x.abs() < 2.0 && y.abs() < 2.0 {
        let excess = square_excess(x, y);
        if excess > -0.5 {
            return C::new(0.5 * excess.ln_1p(), angle);
        }
    }
    C::new(log_abs(x + 1.0, y), angle)
}

/// The square root whose real part is not negative; cut along the negative real numbers.
pub fn sqrt(z: C) -> C {
    let (x, y) = (z.re, z.im);
    if y.is_infinite() {
        return C::new(INF, y);
    }
    if x == INF {
        return C::new(INF, if y.is_nan() { y } else { 0f64.copysign(y) });
    }
    if x == f64::NEG_INFINITY {
        return C::new(if y.is_nan() { y } else { 0.0 }, INF.copysign(y));
    }
    if x.is_nan() || y.is_nan() {
        return NAN;
    }
    if x == 0.0 && y == 0.0 {
        return C::new(0.0, y);
    }
    // Scaled by an even power of 2, so that the sum neither overflows nor loses digits.
    let high = x.abs().max(y.abs());
    let (up, down) = match high {
        h if h > 1e300 => (2f64.powi(-4), 4.0),
        h if h < 1e-290 => (2f64.powi(108), 2f64.powi(-54)),
        _ => (1.0, 1.0),
    };
    let (x, y) = (x * up, y * up);
    let t = ((x.abs() + x.hypot(y)) / 2.0).sqrt();
    let (t, rest) = (t * down, y / (2.0 * t) * down);
    if x >= 0.0 { C::new(t, rest) } else { C::new(rest.abs(), t.copysign(y)) }
}

/// `x` to the power `y`; 1 for a power of 0, and 0 of 0 for other powers with a positive real part.
pub fn pow(x: C, y: C) -> C {
    if y.re == 0.0 && y.im == 0.0 {
        C::new(1.0, 0.0)
    } else if x.re == 0.0 && x.im == 0.0 && y.re > 0.0 {
        // The logarithm of 0 would make NaN of it.
        C::new(0.0, 0.0)
    } else {
        exp(log(x) * y)
    }
}

/// `z / |z|`; 0 of 0.
pub fn sign(z: C) -> C {
    if z.re == 0.0 && z.im == 0.0 { C::new(0.0, 0.0) } else { z / z.re.hypot(z.im) }
}

#[cfg(test)]
mod tests;
