//! Bessel functions of integer order, modified ones, and the Airy function.
//!
//! The K functions are integrals of e^(-x cosh t) cosh(nu t) (DLMF 10.32.9), for which the trapezoidal
//! rule gains digits exponentially; the I functions are power series, then asymptotic ones.

use std::f64::consts::{FRAC_PI_4, PI};

/// J0.
pub fn bessel_j0(x: f64) -> f64 {
    libm::j0(x)
}
/// J1.
pub fn bessel_j1(x: f64) -> f64 {
    libm::j1(x)
}
/// Y0; -inf at 0, NaN below.
pub fn bessel_y0(x: f64) -> f64 {
    libm::y0(x)
}
/// Y1; -inf at 0, NaN below.
pub fn bessel_y1(x: f64) -> f64 {
    libm::y1(x)
}

/// The spherical j0, `sin(x) / x`.
pub fn spherical_j0(x: f64) -> f64 {
    if x.is_infinite() {
        0.0
    } else if x.abs() < 1e-4 {
        1.0 - x * x / 6.0
    } else {
        x.sin() / x
    }
}

/// From here on the asymptotic series of the I functions is exact.
const FAR: f64 = 30.0;

/// I0 and I1 at `x >= 0`, scaled by e^-x.
fn scaled_i(order: u32, x: f64) -> f64 {
    if x < FAR {
        near_i(order, x)
    } else if x.is_infinite() {
        0.0
    } else {
        far_i(order, x)
    }
}

/// DLMF 10.25.2.
fn near_i(order: u32, x: f64) -> f64 {
    let nu = f64::from(order);
    let quarter = x * x / 4.0;
    let mut term = if order == 0 { 1.0 } else { x / 2.0 };
    let mut sum = term;
    for k in 1..200 {
        let k = f64::from(k);
        term *= quarter / (k * (k + nu));
        sum += term;
        if term <= sum * 1e-17 {
            break;
        }
    }
    sum * (-x).exp()
}

/// DLMF 10.40.1.
fn far_i(order: u32, x: f64) -> f64 {
    let nu = f64::from(order);
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..60 {
        let k = f64::from(k);
        let odd = 2.0 * k - 1.0;
        let next = -term * (4.0 * nu * nu - odd * odd) / (8.0 * k * x);
        if next.abs() >= f64::abs(term) || next.abs() <= 1e-17 {
            break;
        }
        term = next;
        sum += term;
    }
    sum / (2.0 * PI * x).sqrt()
}

fn unscaled(scaled: f64, x: f64) -> f64 {
    // Two factors, as one may overflow where the product does not.
    let half = (x / 2.0).exp();
    if half.is_infinite() { f64::INFINITY } else { scaled * half * half }
}

/// I0.
pub fn bessel_i0(x: f64) -> f64 {
    unscaled(bessel_i0e(x), x.abs())
}
/// e^-|x| I0.
pub fn bessel_i0e(x: f64) -> f64 {
    if x.is_nan() { x } else { scaled_i(0, x.abs()) }
}
/// I1.
pub fn bessel_i1(x: f64) -> f64 {
    unscaled(bessel_i1e(x.abs()), x.abs()).copysign(x)
}
/// e^-|x| I1.
pub fn bessel_i1e(x: f64) -> f64 {
    if x.is_nan() { x } else { scaled_i(1, x.abs()).copysign(x) }
}

/// e^x K of order `nu` at `x > 0`.
fn scaled_k(nu: f64, x: f64) -> f64 {
    let step = 1.0 / 16.0;
    // Half the first point, then until the integrand is gone.
    let mut sum = 0.5;
    for k in 1..2000 {
        let t = step * f64::from(k);
        // cosh(t) - 1 without cancellation.
        let rise = 2.0 * (t / 2.0).sinh().powi(2);
        let term = (-x * rise).exp() * (nu * t).cosh();
        sum += term;
        if term <= sum * 1e-18 {
            break;
        }
    }
    sum * step
}

macro_rules! second_kind {
    ($name:ident, $scaled:ident, $order:literal, $text:literal) => {
        #[doc = concat!("K", $text, "; infinite at 0, NaN below.")]
        pub fn $name(x: f64) -> f64 {
            $scaled(x) * (-x).exp()
        }
        #[doc = concat!("e^x K", $text, "; infinite at 0, NaN below.")]
        pub fn $scaled(x: f64) -> f64 {
            if x.is_nan() || x < 0.0 {
                f64::NAN
            } else if x == 0.0 {
                f64::INFINITY
            } else if x.is_infinite() {
                0.0
            } else if x < 1e-3 {
                small_k($order, x) * x.exp()
            } else if x > FAR {
                large_k(f64::from($order), x)
            } else {
                scaled_k(f64::from($order), x)
            }
        }
    };
}
second_kind!(bessel_k0, bessel_k0e, 0, "0");
second_kind!(bessel_k1, bessel_k1e, 1, "1");

/// DLMF 10.40.2.
fn large_k(nu: f64, x: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..30 {
        let k = f64::from(k);
        let odd = 2.0 * k - 1.0;
        term *= (4.0 * nu * nu - odd * odd) / (8.0 * k * x);
        sum += term;
        if f64::abs(term) <= 1e-17 {
            break;
        }
    }
    (PI / (2.0 * x)).sqrt() * sum
}

/// K near 0: the first terms of DLMF 10.31.
fn small_k(order: u32, x: f64) -> f64 {
    let (log, square) = ((x / 2.0).ln() + 0.577_215_664_901_532_9, x * x / 4.0);
    match order {
        0 => -log * (1.0 + square) + square + square * square * 0.25 * (1.5 - log),
        _ => 1.0 / x + x / 2.0 * (log - 0.5) + x * square / 4.0 * (log - 1.25),
    }
}

/// Airy's Ai: from K of order 1/3 where `x` is large (DLMF 9.6.2), by its power series (9.4.1) around
/// 0, and by the asymptotic series 9.7.9 far below.
pub fn airy_ai(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x.is_infinite() {
        return f64::NAN;
    }
    if x > 1.0 {
        let zeta = 2.0 / 3.0 * x * x.sqrt();
        return (x / 3.0).sqrt() / PI * scaled_k(1.0 / 3.0, zeta) * (-zeta).exp();
    }
    if x < -7.5 {
        return airy_far_below(-x);
    }
    let cube = x * x * x;
    let (mut f, mut g) = (1.0, x);
    let (mut f_sum, mut g_sum) = (f, g);
    for k in 1..60 {
        let n = 3.0 * f64::from(k);
        f *= cube / (n * (n - 1.0));
        g *= cube / (n * (n + 1.0));
        f_sum += f;
        g_sum += g;
    }
    // Ai(0) and -Ai'(0), DLMF 9.2.3 and 9.2.4.
    0.355_028_053_887_817_2 * f_sum - 0.258_819_403_792_806_8 * g_sum
}

fn airy_far_below(x: f64) -> f64 {
    let zeta = 2.0 / 3.0 * x * x.sqrt();
    // u_k = (6k - 5)(6k - 3)(6k - 1) / (216 k (2k - 1)) u_(k - 1)
    let (mut u, mut even, mut odd) = (1.0, 1.0, 0.0);
    for k in 1..40 {
        let n = f64::from(k);
        let next =
            u * (6.0 * n - 5.0) * (6.0 * n - 3.0) * (6.0 * n - 1.0) / (216.0 * n * (2.0 * n - 1.0)) / zeta;
        if next > u {
            break;
        }
        u = next;
        let signed = if k / 2 % 2 == 0 { u } else { -u };
        if k % 2 == 0 { even += signed } else { odd += signed }
    }
    let (sin, cos) = (zeta - FRAC_PI_4).sin_cos();
    (cos * even + sin * odd) / (PI.sqrt() * x.sqrt().sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, want: f64, what: &str) {
        assert!((got - want).abs() <= 1e-12 * want.abs(), "{what}: {got} is not {want}");
    }

    #[test]
    fn known_values() {
        near(bessel_i0(1.0), 1.2660658777520084, "i0");
        near(bessel_i0e(40.0), 0.06327827987523532, "i0e");
        near(bessel_i1(-2.5), -2.516716245288698, "i1");
        near(bessel_i1e(100.0), 0.03974415302513025, "i1e");
        near(bessel_k0(0.5), 0.9244190712276659, "k0");
        near(bessel_k0(1e-4), 9.32627191345027, "k0 small");
        near(bessel_k1(2.0), 0.13986588181652243, "k1");
        near(bessel_k1(1e-4), 9999.999508686406, "k1 small");
        near(bessel_k1e(1000.0), 0.03964813081296021, "k1e");
        near(airy_ai(0.5), 0.23169360648083349, "ai");
        near(airy_ai(4.0), 0.0009515638512048024, "ai far");
        assert!((airy_ai(-5.0) - 0.35076100902411433).abs() < 1e-12);
        assert!((airy_ai(-9.0) - -0.022133721547341163).abs() < 1e-11);
        assert!(bessel_k0(-1.0).is_nan() && bessel_k0(0.0).is_infinite() && bessel_i0(800.0).is_infinite());
        assert_eq!(bessel_i1(-0.0), 0.0);
    }

    #[test]
    fn the_ways_agree_where_they_meet() {
        for x in [0.999e-3, 1.001e-3] {
            near(small_k(0, x), scaled_k(0.0, x) * (-x).exp(), "k0");
            near(small_k(1, x), scaled_k(1.0, x) * (-x).exp(), "k1");
        }
        near(large_k(0.0, FAR), scaled_k(0.0, FAR), "k0 far");
        near(large_k(1.0, FAR), scaled_k(1.0, FAR), "k1 far");
        near(near_i(0, FAR), far_i(0, FAR), "i0");
        near(near_i(1, FAR), far_i(1, FAR), "i1");
    }
}
