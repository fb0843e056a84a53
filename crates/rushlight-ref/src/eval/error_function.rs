//! The error function from its two classical expansions (Abramowitz and Stegun 7.1.6 and 7.1.14).

use std::f64::consts::PI;

/// Below it 1 - erf(x) keeps its digits, from it on the continued fraction converges.
const SPLIT: f64 = 0.5;

/// `2 / sqrt(pi)` times the integral of `e^(-t^2)` from 0 to x.
pub(super) fn erf(x: f64) -> f64 {
    match x.abs() {
        a if a < 2.0 => series(x),
        a if a >= 2.0 => (1.0 - fraction(a)).copysign(x),
        _ => x,
    }
}

/// `1 - erf(x)`, exact for large x.
pub(super) fn erfc(x: f64) -> f64 {
    match x {
        x if x >= SPLIT => fraction(x),
        x if x <= -2.0 => 2.0 - fraction(-x),
        _ => 1.0 - series(x),
    }
}

/// `erf(x) = 2 / sqrt(pi) e^(-x^2) sum (2 x^2)^n x / (1 3 5 .. (2n + 1))`; all terms have one sign.
fn series(x: f64) -> f64 {
    let (mut term, mut sum, mut n) = (x, x, 0.0);
    while term.abs() > sum.abs() * 1e-18 {
        n += 1.0;
        term *= 2.0 * x * x / (2.0 * n + 1.0);
        sum += term;
    }
    2.0 / PI.sqrt() * gauss(x) * sum
}

/// `erfc(x) = e^(-x^2) / sqrt(pi) / (x + (1/2) / (x + (2/2) / (x + (3/2) / (x + ..))))`
fn fraction(x: f64) -> f64 {
    if x > 30.0 {
        return 0.0;
    }
    let tail = (1..1000).rev().fold(x, |tail, n| x + f64::from(n) / 2.0 / tail);
    gauss(x) / PI.sqrt() / tail
}

/// `e^(-x^2)` without the rounding of the square, which large exponents would blow up.
fn gauss(x: f64) -> f64 {
    let square = x * x;
    (-square).exp() * (1.0 - x.mul_add(x, -square))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        for (x, erf_x, erfc_x) in [
            (0.0, 0.0, 1.0),
            (1e-10, 1.1283791670955126e-10, 0.9999999998871621),
            (0.25, 0.2763263901682369, 0.7236736098317631),
            (0.5, 0.5204998778130465, 0.4795001221869535),
            (1.0, 0.8427007929497149, 0.15729920705028513),
            (-1.0, -0.8427007929497149, 1.8427007929497148),
            (2.0, 0.9953222650189527, 0.004677734981047266),
            (-2.5, -0.999593047982555, 1.999593047982555),
            (5.0, 0.9999999999984626, 1.537_459_794_428_035e-12),
            (10.0, 1.0, 2.088487583762545e-45),
            (26.0, 1.0, 5.663192408856143e-296),
            (f64::INFINITY, 1.0, 0.0),
            (f64::NEG_INFINITY, -1.0, 2.0),
        ] {
            let near = |got: f64, want: f64| (got - want).abs() <= want.abs() * 5e-15;
            assert!(near(erf(x), erf_x), "erf({x}) is {} instead of {erf_x}", erf(x));
            assert!(near(erfc(x), erfc_x), "erfc({x}) is {} instead of {erfc_x}", erfc(x));
        }
        assert!(erf(f64::NAN).is_nan() && erfc(f64::NAN).is_nan());
        assert!(erf(-0.0).is_sign_negative());
    }

    #[test]
    fn both_expansions_agree_where_they_meet() {
        for k in 0..40 {
            let x = 0.5 + f64::from(k) / 25.0;
            assert!((1.0 - series(x) - fraction(x)).abs() < 1e-15, "{x}");
        }
    }
}
