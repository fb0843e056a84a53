//! Orthogonal polynomials of degree `n` (A&S 22). The degree is cut to an integer; negative degrees
//! give 0, as in torch. Degrees beyond a million use the asymptotic forms: no loop is longer.

use crate::bessel::{bessel_i0, bessel_j0};
use std::f64::consts::{FRAC_PI_4, PI};

/// The longest recurrence.
const LONGEST: f64 = 1e6;

/// `p_(k + 1) = step(k, p_k, p_(k - 1))` from degrees 0 and 1 on.
fn recurrence(n: f64, p0: f64, p1: f64, step: impl Fn(f64, f64, f64) -> f64) -> f64 {
    if n < 0.0 {
        return 0.0;
    }
    if n < 1.0 {
        return p0;
    }
    let (mut low, mut high, mut k) = (p0, p1, 1.0);
    while k + 1.0 <= n && k <= LONGEST {
        (low, high) = (high, step(k, high, low));
        if !high.is_finite() {
            break;
        }
        k += 1.0;
    }
    high
}

/// The four kinds share one recurrence and differ in the polynomial of degree 1, which each is given
/// by cos or sin of multiples of an angle inside of [-1, 1].
fn chebyshev(
    x: f64,
    n: f64,
    first: f64,
    at_one: f64,
    at_minus_one: f64,
    by_angle: fn(f64, f64) -> f64,
) -> f64 {
    let n = n.trunc();
    if n < 0.0 {
        return 0.0;
    }
    if n.is_nan() {
        return f64::NAN;
    }
    if x == 1.0 {
        return at_one;
    }
    if x == -1.0 {
        return if n % 2.0 == 0.0 { at_minus_one } else { -at_minus_one };
    }
    if n > 6.0 && x.abs() < 1.0 {
        return by_angle(x.acos(), n);
    }
    recurrence(n, 1.0, first, |_, p, q| 2.0 * x * p - q)
}

/// First kind.
pub fn chebyshev_t(x: f64, n: f64) -> f64 {
    chebyshev(x, n, x, 1.0, 1.0, |t, n| (n * t).cos())
}
/// Second kind.
pub fn chebyshev_u(x: f64, n: f64) -> f64 {
    let m = n.trunc() + 1.0;
    chebyshev(
        x,
        n,
        2.0 * x,
        m,
        m,
        |t, n| if t.sin() == 0.0 { n + 1.0 } else { ((n + 1.0) * t).sin() / t.sin() },
    )
}
/// Third kind.
pub fn chebyshev_v(x: f64, n: f64) -> f64 {
    let m = 2.0 * n.trunc() + 1.0;
    chebyshev(x, n, 2.0 * x - 1.0, 1.0, m, |t, n| ((n + 0.5) * t).cos() / (t / 2.0).cos())
}
/// Fourth kind.
pub fn chebyshev_w(x: f64, n: f64) -> f64 {
    let m = 2.0 * n.trunc() + 1.0;
    chebyshev(x, n, 2.0 * x + 1.0, m, 1.0, |t, n| ((n + 0.5) * t).sin() / (t / 2.0).sin())
}

macro_rules! shifted {
    ($($name:ident $of:ident $kind:literal;)*) => { $(
        #[doc = concat!($kind, " kind on [0, 1].")]
        pub fn $name(x: f64, n: f64) -> f64 { $of(2.0 * x - 1.0, n) }
    )* };
}
shifted! {
    shifted_chebyshev_t chebyshev_t "First";
    shifted_chebyshev_u chebyshev_u "Second";
    shifted_chebyshev_v chebyshev_v "Third";
    shifted_chebyshev_w chebyshev_w "Fourth";
}

/// The largest degrees of Hermite polynomials that torch computes in each precision; NaN beyond.
const HERMITE: f64 = 512.0;
const HERMITE_SINGLE: f32 = 128.0;

/// [`hermite_h`] in single precision.
pub fn hermite_h_single(x: f32, n: f32) -> f32 {
    if n.trunc() > HERMITE_SINGLE { f32::NAN } else { hermite_h(x.into(), n.into()) as f32 }
}
/// [`hermite_he`] in single precision.
pub fn hermite_he_single(x: f32, n: f32) -> f32 {
    if n.trunc() > HERMITE_SINGLE { f32::NAN } else { hermite_he(x.into(), n.into()) as f32 }
}

/// The physicists' Hermite polynomial.
pub fn hermite_h(x: f64, n: f64) -> f64 {
    let n = n.trunc();
    if n > HERMITE || n.is_nan() {
        f64::NAN
    } else {
        recurrence(n, 1.0, 2.0 * x, |k, p, q| 2.0 * x * p - 2.0 * k * q)
    }
}
/// The probabilists' Hermite polynomial.
pub fn hermite_he(x: f64, n: f64) -> f64 {
    let n = n.trunc();
    if n > HERMITE || n.is_nan() { f64::NAN } else { recurrence(n, 1.0, x, |k, p, q| x * p - k * q) }
}

/// The Laguerre polynomial; Hilb's form (Szego 8.22.4) for huge degrees.
pub fn laguerre(x: f64, n: f64) -> f64 {
    let n = n.trunc();
    if n < 0.0 {
        return 0.0;
    }
    if x == 0.0 {
        return if n.is_nan() { n } else { 1.0 };
    }
    if n > LONGEST {
        let root = 2.0 * (x.abs() * (n + 0.5)).sqrt();
        return (x / 2.0).exp() * if x > 0.0 { bessel_j0(root) } else { bessel_i0(root) };
    }
    recurrence(n, 1.0, 1.0 - x, |k, p, q| ((2.0 * k + 1.0 - x) * p - k * q) / (k + 1.0))
}

/// The Legendre polynomial; the form of Laplace and Heine (Szego 8.21.2) for huge degrees.
pub fn legendre(x: f64, n: f64) -> f64 {
    let n = n.trunc();
    if n < 0.0 {
        return 0.0;
    }
    if n.is_nan() {
        return n;
    }
    if x.abs() == 1.0 {
        return if x > 0.0 || n % 2.0 == 0.0 { 1.0 } else { -1.0 };
    }
    if n > LONGEST && x.abs() < 1.0 {
        let t = x.acos();
        return (2.0 / (PI * n * t.sin())).sqrt() * ((n + 0.5) * t - FRAC_PI_4).cos();
    }
    recurrence(n, 1.0, x, |k, p, q| ((2.0 * k + 1.0) * x * p - k * q) / (k + 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_forms() {
        for k in -8..=8 {
            let x = f64::from(k) / 8.0;
            let near = |got: f64, want: f64, what: &str| {
                assert!((got - want).abs() < 1e-12, "{what}({x}): {got} {want}")
            };
            near(chebyshev_t(x, 3.0), 4.0 * x.powi(3) - 3.0 * x, "t3");
            near(
                chebyshev_t(x, 8.0),
                128.0 * x.powi(8) - 256.0 * x.powi(6) + 160.0 * x.powi(4) - 32.0 * x * x + 1.0,
                "t8",
            );
            near(chebyshev_u(x, 2.0), 4.0 * x * x - 1.0, "u2");
            near(chebyshev_v(x, 2.0), 4.0 * x * x - 2.0 * x - 1.0, "v2");
            near(chebyshev_w(x, 2.0), 4.0 * x * x + 2.0 * x - 1.0, "w2");
            near(hermite_h(x, 3.0), 8.0 * x.powi(3) - 12.0 * x, "h3");
            near(hermite_he(x, 3.0), x.powi(3) - 3.0 * x, "he3");
            near(laguerre(x, 2.0), 0.5 * (x * x - 4.0 * x + 2.0), "l2");
            near(legendre(x, 2.0), 0.5 * (3.0 * x * x - 1.0), "p2");
            near(legendre(x, -1.0), 0.0, "p-1");
        }
        assert!(chebyshev_t(2.0, 1e30).is_infinite() && legendre(0.3, 1e30).is_finite());
        assert!(hermite_h(1.0, 600.0).is_nan());
    }

    #[test]
    fn huge_degrees_join_on() {
        for x in [0.3, -0.6] {
            let (a, b) = (legendre(x, LONGEST), legendre(x, LONGEST + 1.0));
            assert!(a.abs() < 2e-3 && b.abs() < 2e-3);
        }
        let (n, x) = (LONGEST, 1e-3);
        let root = 2.0 * (x * (n + 0.5)).sqrt();
        assert!((laguerre(x, n) - (x / 2.0).exp() * bessel_j0(root)).abs() < 1e-4);
    }
}
