//! The error function's inverse and scaled forms, and the normal distribution.

use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

/// `e^(x^2) erfc(x)`: the definition below 2, from there the continued fraction A&S 7.1.14.
pub fn erfcx(x: f64) -> f64 {
    if x < 2.0 {
        // The rounding of the square would grow with it; below -26.7 the result is infinite.
        let square = x * x;
        let rest = x.mul_add(x, -square);
        return square.exp() * (1.0 + rest) * libm::erfc(x);
    }
    if x > 1e8 {
        return 1.0 / (PI.sqrt() * x);
    }
    let terms = if x < 4.0 { 150 } else { 50 };
    let tail = (1..terms).rev().fold(x, |tail, n| x + f64::from(n) / 2.0 / tail);
    1.0 / PI.sqrt() / tail
}

/// The number whose error function is `x`; infinite at -1 and 1, NaN beyond.
pub fn erfinv(x: f64) -> f64 {
    let a = x.abs();
    if a.is_nan() || a > 1.0 {
        return f64::NAN;
    }
    if a == 1.0 {
        return f64::INFINITY.copysign(x);
    }
    if a < 0.75 {
        // Winitzki's estimate (2008), then two steps of Halley's iteration.
        let (k, l) = (0.147, (-a * a).ln_1p());
        let half = 2.0 / (PI * k) + l / 2.0;
        let mut y = ((half * half - l / k).sqrt() - half).max(0.0).sqrt();
        for _ in 0..3 {
            let step = (libm::erf(y) - a) * PI.sqrt() / 2.0 * (y * y).exp();
            y -= step / (1.0 + y * step);
        }
        // Near 0 the iteration has nothing to improve, but the estimate is rough.
        if a < 1e-8 { x * PI.sqrt() / 2.0 } else { y.copysign(x) }
    } else {
        complement_inverse(1.0 - a).copysign(x)
    }
}

/// The positive number whose complementary error function is `q`, for `0 < q < 0.5`: Newton's
/// iteration on the logarithm, which is nearly a parabola.
fn complement_inverse(q: f64) -> f64 {
    let target = q.ln();
    let mut y = (-target - 0.5 * (PI * -target.min(-0.5)).ln()).max(0.2).sqrt();
    for _ in 0..30 {
        let scaled = erfcx(y);
        let f = -y * y + scaled.ln() - target;
        let step = f / (-2.0 / (PI.sqrt() * scaled));
        y = (y - step).max(1e-3);
        if step.abs() <= 1e-16 * y {
            break;
        }
    }
    y
}

/// The probability that a standard normal number is at most `x`.
pub fn ndtr(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// The logarithm of [`ndtr`], exact far below 0.
pub fn log_ndtr(x: f64) -> f64 {
    if x < -1.0 {
        (erfcx(-x * FRAC_1_SQRT_2) / 2.0).ln() - x * x / 2.0
    } else {
        (-libm::erfc(x * FRAC_1_SQRT_2) / 2.0).ln_1p()
    }
}

/// The number that a standard normal number is at most with probability `p`.
pub fn ndtri(p: f64) -> f64 {
    if p.is_nan() || !(0.0..=1.0).contains(&p) {
        f64::NAN
    } else if p == 0.0 {
        f64::NEG_INFINITY
    } else if p < 0.125 {
        -SQRT_2 * complement_inverse(2.0 * p)
    } else {
        SQRT_2 * erfinv(2.0 * p - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses() {
        for k in 1..2000 {
            let x = f64::from(k) / 2000.0;
            for x in [x, -x, x * 1e-5, 1.0 - x * 1e-9] {
                let back = libm::erf(erfinv(x));
                assert!((back - x).abs() <= 4e-16 * x.abs().max(1e-300) + 2e-16, "erfinv({x}): {back}");
            }
            let p = (-700.0 * x).exp();
            let back = log_ndtr(ndtri(p));
            assert!((back - p.ln()).abs() <= 1e-12 * p.ln().abs().max(1e-2), "ndtri({p}): {back}");
        }
        assert_eq!(erfinv(0.0), 0.0);
        assert!(erfinv(1.0).is_infinite() && erfinv(1.1).is_nan() && ndtri(-0.1).is_nan());
        assert_eq!((ndtri(0.5), ndtri(1.0)), (0.0, f64::INFINITY));
    }

    #[test]
    fn scaled_complements() {
        for (x, want) in [
            (0.5, 0.6156903441929259),
            (2.0, 0.25539567631050574),
            (5.0, 0.1107046377330686),
            (1e3, 5.641893014533872e-4),
            (-2.0, 108.9409043899779),
        ] {
            assert!((erfcx(x) - want).abs() <= 1e-14 * want, "erfcx({x}) is {}", erfcx(x));
        }
        assert!(erfcx(-30.0).is_infinite() && erfcx(f64::INFINITY) == 0.0 && erfcx(f64::NAN).is_nan());
    }
}
