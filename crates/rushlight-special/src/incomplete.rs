//! The regularised incomplete gamma functions P and Q (DLMF 8.2.4), by power series, continued
//! fraction, or, for large arguments near each other, Temme's uniform expansion (DLMF 8.12).

use crate::gamma::lgamma;
use std::f64::consts::PI;
use std::sync::LazyLock;

/// From here on the uniform expansion is used where `x` is within 30 % of `a`.
const LARGE: f64 = 20.0;

/// P(a, x): the share of the gamma function's integral up to `x`.
pub fn igamma(a: f64, x: f64) -> f64 {
    match limits(a, x) {
        Some(p) => p,
        None => pair(a, x).0,
    }
}

/// Q(a, x) = 1 - P(a, x), exact where it is small.
pub fn igammac(a: f64, x: f64) -> f64 {
    match limits(a, x) {
        Some(p) => 1.0 - p,
        None => pair(a, x).1,
    }
}

/// P where nothing is to be computed.
fn limits(a: f64, x: f64) -> Option<f64> {
    if a.is_nan() || x.is_nan() || a < 0.0 || x < 0.0 {
        Some(f64::NAN)
    } else if a == 0.0 {
        Some(if x > 0.0 { 1.0 } else { f64::NAN })
    } else if x == 0.0 {
        Some(0.0)
    } else if a.is_infinite() {
        Some(if x.is_infinite() { f64::NAN } else { 0.0 })
    } else if x.is_infinite() {
        Some(1.0)
    } else {
        None
    }
}

fn pair(a: f64, x: f64) -> (f64, f64) {
    let near = (x - a).abs() / a;
    if a > LARGE && near < 0.3 || a > 200.0 && near < 4.5 / a.sqrt() {
        let (p, q) = uniform(a, x);
        return (p, q);
    }
    if x < a + 1.0 {
        let p = series(a, x);
        (p, if a < 1.0 && x < 1.0 { complement_of_small(a, x, p) } else { 1.0 - p })
    } else {
        let q = fraction(a, x);
        (1.0 - q, q)
    }
}

/// `x^a e^-x / Gamma(a)`, with the two large terms taken together.
fn prefactor(a: f64, x: f64) -> f64 {
    if a > LARGE {
        let d = (x - a) / a;
        // Stirling's series for the gamma function (DLMF 5.11.1).
        let stirling = 1.0 / (12.0 * a) - 1.0 / (360.0 * a.powi(3)) + 1.0 / (1260.0 * a.powi(5));
        ((d.ln_1p() - d) * a - stirling).exp() * (a / (2.0 * PI)).sqrt()
    } else {
        (a * x.ln() - x - lgamma(a)).exp()
    }
}

/// DLMF 8.7.1: all terms positive.
fn series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut n) = (1.0, 1.0, a);
    for _ in 0..20_000 {
        n += 1.0;
        term *= x / n;
        sum += term;
        if term <= sum * 1e-17 {
            break;
        }
    }
    (prefactor(a, x) / a * sum).min(1.0)
}

/// Q where both arguments are small, without the cancellation of 1 - P: DLMF 8.7.3.
fn complement_of_small(a: f64, x: f64, p: f64) -> f64 {
    if p < 0.9 {
        return 1.0 - p;
    }
    let (mut term, mut sum) = (1.0, 0.0);
    for k in 1..60 {
        let k = f64::from(k);
        term *= -x / k;
        sum += term / (a + k);
    }
    // Q = 1 - x^a / Gamma(a + 1) - x^a / Gamma(a) sum
    let log_power = a * x.ln() - lgamma(a + 1.0);
    -log_power.exp_m1() - log_power.exp() * a * sum
}

/// DLMF 8.9.2 by Lentz's method (A. Thompson and A. Barnett, 1986).
fn fraction(a: f64, x: f64) -> f64 {
    let tiny = 1e-300;
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / tiny;
    let mut d = 1.0 / if b == 0.0 { tiny } else { b };
    let mut h = d;
    for n in 1..20_000 {
        let n = f64::from(n);
        let an = n * (a - n);
        b += 2.0;
        d = an * d + b;
        c = b + an / c;
        d = 1.0 / if d.abs() < tiny { tiny } else { d };
        c = if c.abs() < tiny { tiny } else { c };
        h *= d * c;
        if (d * c - 1.0).abs() < 1e-16 {
            break;
        }
    }
    (prefactor(a, x) * h).min(1.0)
}

const ORDERS: usize = 12;
const DEGREES: usize = 26;

/// `c_k(eta)` of DLMF 8.12.8 as power series, by the recurrence 8.12.10 worked out on coefficients.
static SERIES: LazyLock<[[f64; DEGREES]; ORDERS]> = LazyLock::new(|| {
    const N: usize = DEGREES + 2 * ORDERS + 4;
    // mu = lambda - 1 as a series in eta, from eta^2 / 2 = mu - ln(1 + mu): with mu' = eta (1 + mu) / mu,
    // mu mu' = eta (1 + mu).
    let mut mu = [0.0; N + 2];
    mu[1] = 1.0;
    for n in 2..=N {
        // Coefficient of eta^n on both sides: sum over i + j = n + 1 of j mu_i mu_j, against mu_(n - 1).
        let known: f64 = (2..n).map(|i| (n + 1 - i) as f64 * mu[i] * mu[n + 1 - i]).sum();
        mu[n] = (mu[n - 1] - known) / (n as f64 + 1.0);
    }
    // 1 / mu = (1 / eta) r(eta).
    let mut r = [0.0; N];
    r[0] = 1.0;
    for n in 1..N {
        r[n] = -(1..=n).map(|i| mu[i + 1] * r[n - i]).sum::<f64>();
    }
    // Stirling's coefficients g_k (DLMF 5.11.4) as those of the gamma function's series.
    let g = [
        1.0,
        1.0 / 12.0,
        1.0 / 288.0,
        -139.0 / 51840.0,
        -571.0 / 2488320.0,
        163879.0 / 209018880.0,
        5246819.0 / 75246796800.0,
        -534703531.0 / 902961561600.0,
        -4483131259.0 / 86684309913600.0,
        432261921612371.0 / 514904800886784000.0,
        6232523202521089.0 / 86504006548979712000.0,
        -25834629665134204969.0 / 13494625021640835072000.0,
    ];
    let mut table = [[0.0; DEGREES]; ORDERS];
    // c_0 = 1/mu - 1/eta; c_k = (1/eta) c_(k-1)' + (-1)^k g_k / mu. Poles at 0 cancel.
    let mut c = [0.0; N];
    c[..N - 1].copy_from_slice(&r[1..]);
    let mut length = N - 1;
    for (k, row) in table.iter_mut().enumerate() {
        if k > 0 {
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            let mut next = [0.0; N];
            for n in 0..length - 2 {
                // (1/eta) c' has n-th coefficient (n + 2) c_(n + 2); the term of 1/eta cancels.
                next[n] = (n as f64 + 2.0) * c[n + 2] + sign * g[k] * r[n + 1];
            }
            c = next;
            length -= 2;
        }
        row.copy_from_slice(&c[..DEGREES]);
    }
    table
});

/// DLMF 8.12.3 and 8.12.4.
fn uniform(a: f64, x: f64) -> (f64, f64) {
    let mu = (x - a) / a;
    let half_square = mu - mu.ln_1p();
    let eta = (2.0 * half_square.max(0.0)).sqrt().copysign(mu);
    let mut sum = 0.0;
    for row in SERIES.iter().rev() {
        let c = row.iter().rev().fold(0.0, |c, t| c * eta + t);
        sum = sum / a + c;
    }
    let rest = (-a * half_square).exp() / (2.0 * PI * a).sqrt() * sum;
    let half = |x: f64| 0.5 * libm::erfc(x);
    let root = eta * (a / 2.0).sqrt();
    (half(-root) - rest, half(root) + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        for (a, x, p, q) in [
            (0.5, 0.25, 0.5204998778130465, 0.4795001221869535),
            (1.0, 2.0, 0.8646647167633873, 0.1353352832366127),
            (3.0, 10.0, 0.9972306042844884, 0.002769395715511576),
            (1e-3, 1e-3, 0.9936876467088603, 0.006312353291139709),
            (25.0, 24.0, 0.4459987769250043, 0.5540012230749957),
            (100.0, 110.0, 0.8417213299399129, 0.15827867006008708),
            (1e6, 1.001e6, 0.8413447863683402, 0.15865521363165971),
            (50.0, 20.0, 1.2458926079719434e-8, 0.9999999875410739),
        ] {
            let (got, rest) = (igamma(a, x), igammac(a, x));
            assert!((got - p).abs() <= 1e-10 * p, "P({a}, {x}) is {got}, not {p}");
            assert!((rest - q).abs() <= 1e-10 * q, "Q({a}, {x}) is {rest}, not {q}");
        }
        assert!(igamma(-1.0, 1.0).is_nan() && igamma(0.0, 0.0).is_nan() && igamma(0.0, 1.0) == 1.0);
    }

    #[test]
    fn the_ways_agree_where_they_meet() {
        for k in 0..200 {
            let a = 21.0 + f64::from(k);
            for x in [a * 0.75, a * 0.9, a, a * 1.1, a * 1.25] {
                let p = if x < a + 1.0 { series(a, x) } else { 1.0 - fraction(a, x) };
                assert!((uniform(a, x).0 - p).abs() < 2e-13, "{a}, {x}: {} {p}", uniform(a, x).0);
            }
        }
    }
}
