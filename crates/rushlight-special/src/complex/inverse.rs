//! Inverse hyperbolic and circular functions, by the formulas of W. Kahan, "Branch cuts for complex
//! elementary functions" (1987), which keep the signs of zeros.

use super::hyperbolic::{turned, turned_back};
use super::{C, INF, NAN, log_abs, sqrt};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, LN_2};

/// Beyond this 1 is nothing beside `z^2`, and the square may overflow.
const FAR: f64 = 1e100;

fn is_far(z: C) -> bool {
    z.re.abs() > FAR || z.im.abs() > FAR
}

/// The real inverse hyperbolic sine, exact near 0.
fn real_asinh(x: f64) -> f64 {
    libm::asinh(x)
}

/// The inverse hyperbolic sine; cut along the imaginary numbers beyond `i` and `-i`.
pub fn asinh(z: C) -> C {
    let (x, y) = (z.re, z.im);
    if x.is_nan() || y.is_nan() {
        return match (x, y) {
            _ if x.is_infinite() => C::new(x, y),
            _ if y == 0.0 => C::new(x, y),
            _ if y.is_infinite() => C::new(INF, f64::NAN),
            _ => NAN,
        };
    }
    if is_far(z) {
        return C::new((log_abs(x, y) + LN_2).copysign(x), y.atan2(x.abs()));
    }
    // sqrt(1 + iz) and sqrt(1 - iz)
    let (above, below) = (sqrt(C::new(1.0 - y, x)), sqrt(C::new(1.0 + y, -x)));
    let size = below.re * above.im - below.im * above.re;
    C::new(real_asinh(size), y.atan2(below.re * above.re - below.im * above.im))
}

/// The inverse sine; cut along the real numbers beyond 1 and -1.
pub fn asin(z: C) -> C {
    turned_back(asinh(turned(z)))
}

/// The inverse cosine; cut as the inverse sine.
pub fn acos(z: C) -> C {
    let (x, y) = (z.re, z.im);
    if x.is_nan() || y.is_nan() {
        return match (x, y) {
            _ if x.is_infinite() => C::new(f64::NAN, INF),
            _ if y.is_infinite() => C::new(f64::NAN, -y),
            (0.0, _) => C::new(FRAC_PI_2, f64::NAN),
            _ => NAN,
        };
    }
    if is_far(z) {
        return C::new(y.abs().atan2(x), -(log_abs(x, y) + LN_2).copysign(y));
    }
    let (less, more) = (sqrt(C::new(1.0 - x, -y)), sqrt(C::new(1.0 + x, y)));
    C::new(2.0 * less.re.atan2(more.re), real_asinh(more.re * less.im - more.im * less.re))
}

/// The inverse hyperbolic cosine; cut along the real numbers below 1.
pub fn acosh(z: C) -> C {
    let w = acos(z);
    C::new(w.im.abs(), w.re.copysign(z.im))
}

/// The inverse hyperbolic tangent; cut along the real numbers beyond 1 and -1.
pub fn atanh(z: C) -> C {
    let (x, y) = (z.re, z.im);
    if y.is_infinite() {
        return C::new(0f64.copysign(x), FRAC_PI_2.copysign(y));
    }
    if x.is_nan() || y.is_nan() {
        return match x {
            _ if x.is_infinite() || x == 0.0 => C::new(0f64.copysign(x), f64::NAN),
            _ => NAN,
        };
    }
    if is_far(z) {
        // 1 / z, in whose real part the square of |z| would overflow.
        let size = (x / 2.0).hypot(y / 2.0) * 2.0;
        let near = if x.is_infinite() { 0f64.copysign(x) } else { x / size / size };
        return C::new(near, FRAC_PI_2.copysign(y));
    }
    let a = x.abs();
    if a == 1.0 && y != 0.0 && y.abs() < 1e-100 {
        // The square of y would be 0, and the result infinite.
        return C::new((0.5 * (LN_2 - y.abs().ln())).copysign(x), FRAC_PI_4.copysign(y));
    }
    let re = 0.25 * (4.0 * a / ((1.0 - a) * (1.0 - a) + y * y)).ln_1p();
    C::new(re.copysign(x), 0.5 * (2.0 * y).atan2((1.0 - a) * (1.0 + a) - y * y))
}

/// The inverse tangent; cut along the imaginary numbers beyond `i` and `-i`.
pub fn atan(z: C) -> C {
    turned_back(atanh(turned(z)))
}
