//! The gamma function's logarithm, its derivatives, and the Hurwitz zeta function.

use std::f64::consts::PI;

/// The logarithm of the absolute value of the gamma function.
pub fn lgamma(x: f64) -> f64 {
    if x.is_infinite() { f64::INFINITY } else { libm::lgamma(x) }
}

/// Bernoulli numbers `B_2, B_4 ..` (A&S 23.1).
const BERNOULLI: [f64; 13] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
    43867.0 / 798.0,
    -174611.0 / 330.0,
    854513.0 / 138.0,
    -236364091.0 / 2730.0,
    8553103.0 / 6.0,
];

/// The logarithmic derivative of the gamma function: the reflection A&S 6.3.7, the recurrence 6.3.6
/// up to 10, then the asymptotic series 6.3.18. Poles give NaN, zeros of either sign infinities.
pub fn digamma(x: f64) -> f64 {
    if x == 0.0 {
        return f64::INFINITY.copysign(-x);
    }
    if x == f64::NEG_INFINITY || x < 0.0 && x == x.trunc() {
        return f64::NAN;
    }
    if x < 0.0 {
        return digamma(1.0 - x) - PI / (PI * x.fract()).tan();
    }
    let (mut x, mut below) = (x, 0.0);
    while x < 10.0 {
        below += 1.0 / x;
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let mut tail = 0.0;
    for k in (0..7).rev() {
        tail = (tail + BERNOULLI[k] / (2.0 * k as f64 + 2.0)) * inverse;
    }
    let log = if x.is_infinite() { x } else { x.ln() };
    log - 0.5 / x - tail - below
}

/// The `n`-th derivative of [`digamma`], `(-1)^(n + 1) n! zeta(n + 1, x)` (DLMF 5.15.1).
pub fn polygamma(n: f64, x: f64) -> f64 {
    if n == 0.0 {
        return digamma(x);
    }
    let sign = if n % 2.0 == 0.0 { -1.0 } else { 1.0 };
    sign * (lgamma(n + 1.0)).exp() * zeta(n + 1.0, x)
}

/// The Hurwitz zeta function, the sum of `(q + k)^-s` over `k >= 0` (DLMF 25.11). NaN for `s < 1` and
/// for a `q` below 0 whose powers are no real numbers.
pub fn zeta(s: f64, q: f64) -> f64 {
    if s == 1.0 {
        return f64::INFINITY;
    }
    if s < 1.0 || s.is_nan() || q.is_nan() {
        return f64::NAN;
    }
    if q > 0.0 {
        return positive(s, q);
    }
    if q == q.floor() {
        return f64::INFINITY;
    }
    if s != s.floor() {
        return f64::NAN;
    }
    // The terms below 0 are those of two sums over positive numbers.
    let (fraction, count) = (q - q.floor(), -q.floor());
    let sign = if s % 2.0 == 0.0 { 1.0 } else { -1.0 };
    positive(s, fraction) + sign * (positive(s, 1.0 - fraction) - positive(s, 1.0 - fraction + count))
}

/// Terms up to 10, and while they fall fast, then the sum of Euler and Maclaurin (DLMF 25.11.28).
fn positive(s: f64, q: f64) -> f64 {
    let (mut q, mut sum) = (q, 0.0);
    while q < s.max(10.0) {
        let term = q.powf(-s);
        sum += term;
        if term <= sum * 1e-17 || sum.is_infinite() {
            return sum;
        }
        q += 1.0;
    }
    let power = q.powf(-s);
    sum += q * power / (s - 1.0) + 0.5 * power;
    let (mut factor, mut falling) = (s, power / q);
    let mut divisor = 2.0;
    for (k, b) in BERNOULLI.iter().enumerate() {
        let term = b * factor * falling / divisor;
        if !term.is_finite() {
            break;
        }
        sum += term;
        if term.abs() < sum.abs() * 1e-17 {
            break;
        }
        let at = 2.0 * k as f64;
        factor *= (s + at + 1.0) * (s + at + 2.0);
        divisor *= (at + 3.0) * (at + 4.0);
        falling /= q * q;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, want: f64) {
        assert!((got - want).abs() <= 1e-13 * want.abs().max(1e-3), "{got} is not {want}");
    }

    #[test]
    fn known_values() {
        near(digamma(1.0), -0.5772156649015329);
        near(digamma(0.5), -1.9635100260214235);
        near(digamma(-0.5), 0.03648997397857652);
        near(digamma(1e10), 23.025850929890456);
        near(polygamma(1.0, 1.0), PI * PI / 6.0);
        near(polygamma(1.0, -0.5), 8.934802200544679);
        near(polygamma(2.0, 0.25), -129.32773993753688);
        near(zeta(4.0, 2.5), 0.037317641469542015);
        // Reflected: zeta(4, -1.75) is that of 0.25 and two terms below 0.
        near(zeta(4.0, -1.75), zeta(4.0, 0.25) + 0.75f64.powi(-4) + 1.75f64.powi(-4));
        near(zeta(2.0, 1.0), PI * PI / 6.0);
        near(zeta(1.5, 0.125), 25.01730935051015);
        assert!(zeta(1.0, 2.0).is_infinite() && zeta(0.5, 2.0).is_nan() && zeta(2.0, -3.0).is_infinite());
        assert!(
            digamma(-3.0).is_nan() && digamma(-0.0) == f64::INFINITY && digamma(0.0) == f64::NEG_INFINITY
        );
        // No loop as long as its argument is large.
        assert!(zeta(3.0, -1e15 + 0.5).is_finite() && digamma(-1e15 + 0.5).is_finite());
    }
}
