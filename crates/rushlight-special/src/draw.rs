//! How a number of the gamma distribution moves with its shape.

use crate::gamma::digamma;

/// Shapes from which the expansion around the normal distribution is exact to rounding of f32.
const LARGE: f64 = 1e5;

/// `dx / da` of a draw `x` of the gamma distribution of shape `a` and rate 1, its place in the
/// distribution kept: minus the derivative of `P(a, x)` by `a`, over the density (Figurnov et al.
/// 2018).
///
/// Below `a + 1` the series of `P` (DLMF 8.7.1) is differentiated term by term, above it the continued
/// fraction of `Q` (DLMF 8.9.2); for large shapes the expansion of Cornish and Fisher.
pub fn standard_gamma_grad(a: f64, x: f64) -> f64 {
    if a.is_nan() || x.is_nan() || a <= 0.0 || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 {
        return 0.0;
    }
    if a > LARGE {
        return expanded(a, x);
    }
    if x < a + 1.0 { series(a, x) } else { fraction(a, x) }
}

/// `x sum_n c_n (psi(a + n + 1) - ln x)` with `c_n = x^n / (a (a + 1) .. (a + n))`.
fn series(a: f64, x: f64) -> f64 {
    let (mut c, mut psi, mut k) = (1.0 / a, digamma(a) + 1.0 / a, a);
    let (log, mut sum, mut size) = (x.ln(), 0.0, 0.0);
    // c falls off like a normal density of standard deviation sqrt(a): this bound is never met.
    for _ in 0..100_000 {
        let term = c * (psi - log);
        sum += term;
        size += term.abs();
        if term.abs() <= size * 1e-17 && k > x {
            break;
        }
        k += 1.0;
        c *= x / k;
        psi += 1.0 / k;
    }
    x * sum
}

/// `x ((ln x - psi(a)) h + dh / da)`, where `Q = e^-x x^a / Gamma(a) h`; Lentz's method on pairs of a
/// number and its derivative.
fn fraction(a: f64, x: f64) -> f64 {
    let (mut b, mut db) = (x + 1.0 - a, -1.0);
    let (mut c, mut dc) = (1e300, 0.0);
    let (mut d, mut dd) = (1.0 / b, -db / (b * b));
    let (mut h, mut dh) = (d, dd);
    for i in 1..100_000 {
        let i = f64::from(i);
        let (an, dan) = (-i * (i - a), i);
        b += 2.0;
        db = -1.0;
        let (below, dbelow) = (an * d + b, dan * d + an * dd + db);
        let (next, dnext) = (b + an / c, db + dan / c - an * dc / (c * c));
        (c, dc) = (next, dnext);
        (d, dd) = (1.0 / below, -dbelow / (below * below));
        let (ratio, dratio) = (c * d, dc * d + c * dd);
        (h, dh) = (h * ratio, dh * ratio + h * dratio);
        if (ratio - 1.0).abs() < 1e-16 && dratio.abs() < 1e-16 * (1.0 + (dh / h).abs()) {
            break;
        }
    }
    x * ((x.ln() - digamma(a)) * h + dh)
}

/// `x = a + z sqrt(a) + (z^2 - 1) / 3 + (z^3 - 7 z) / (36 sqrt(a))` for a normal `z`.
fn expanded(a: f64, x: f64) -> f64 {
    let root = a.sqrt();
    let first = (x - a) / root;
    let z = first - (first * first - 1.0) / (3.0 * root);
    1.0 + z / (2.0 * root) - (z * z * z - 7.0 * z) / (72.0 * a * root)
}

#[cfg(test)]
mod tests {
    use super::{expanded, standard_gamma_grad};
    use crate::incomplete::{igamma, igammac};

    /// `P(a, x)` kept while `a` moves: the same by differences.
    #[test]
    fn as_differences_of_the_distribution() {
        for a in [0.05, 0.3, 1.0, 2.5, 11.0, 80.0, 900.0] {
            for ratio in [0.2, 0.8, 1.0, 1.1, 1.9] {
                let x = a * ratio;
                let (e, f) = (1e-5 * a, 1e-5 * x);
                // Far out only the other tail has digits to take differences of.
                let tail = |a: f64, x: f64| if ratio < 1.0 { igamma(a, x) } else { -igammac(a, x) };
                let by_shape = (tail(a + e, x) - tail(a - e, x)) / (2.0 * e);
                let by_place = (tail(a, x + f) - tail(a, x - f)) / (2.0 * f);
                if by_place * x < 1e-200 {
                    continue;
                }
                let (want, got) = (-by_shape / by_place, standard_gamma_grad(a, x));
                assert!((got - want).abs() <= 1e-4 * want.abs(), "a {a} x {x}: {got} is not {want}");
            }
        }
    }

    #[test]
    fn the_ways_meet() {
        let a = 99_999.0f64;
        for z in [-3.0, -0.5, 0.0, 2.0, 4.0] {
            let x = a + z * a.sqrt();
            assert!((standard_gamma_grad(a, x) - expanded(a, x)).abs() < 1e-6, "z {z}");
        }
        let (below, above) = (standard_gamma_grad(3.0, 3.999_999), standard_gamma_grad(3.0, 4.000_001));
        assert!((below - above).abs() < 1e-6);
    }
}
