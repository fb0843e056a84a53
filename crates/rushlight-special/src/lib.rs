//! Special functions of real numbers, and elementary ones of complex numbers, in double precision.
//!
//! `libm` has the error function, the logarithm of the gamma function and the Bessel functions of
//! orders 0 and 1; what it lacks is here, from published formulas (DLMF is the NIST Digital Library
//! of Mathematical Functions, dlmf.nist.gov; A&S is Abramowitz and Stegun). Results at poles, at
//! infinities and outside of domains are torch's. All loops are bounded.
//!
//! - `gamma`: digamma, polygamma, the Hurwitz zeta function;
//! - `incomplete`: the regularised incomplete gamma functions;
//! - `normal`: inverse error functions, scaled ones, the normal distribution;
//! - `bessel`: modified Bessel functions and the Airy function;
//! - `polynomial`: orthogonal polynomials;
//! - `draw`: how random numbers move with their parameters;
//! - `exact`: neighbours of floats, common divisors;
//! - `complex`: functions of complex numbers.

#![forbid(unsafe_code)]

mod bessel;
pub mod complex;
mod draw;
mod exact;
mod gamma;
mod incomplete;
mod normal;
mod polynomial;

pub use bessel::{airy_ai, bessel_i0, bessel_i0e, bessel_i1, bessel_i1e, bessel_j0, bessel_j1, bessel_k0};
pub use bessel::{bessel_k0e, bessel_k1, bessel_k1e, bessel_y0, bessel_y1, spherical_j0};
pub use draw::standard_gamma_grad;
pub use exact::{
    exponent, gcd, gcd_unsigned, lcm, lcm_unsigned, mantissa, next_after, next_after_half, next_after_short,
    next_after_single,
};
pub use gamma::{digamma, lgamma, polygamma, zeta};
pub use incomplete::{igamma, igammac};
pub use normal::{erfcx, erfinv, log_ndtr, ndtr, ndtri};
pub use polynomial::{
    chebyshev_t, chebyshev_u, chebyshev_v, chebyshev_w, hermite_h, hermite_h_single, hermite_he,
    hermite_he_single, laguerre, legendre,
};
pub use polynomial::{shifted_chebyshev_t, shifted_chebyshev_u, shifted_chebyshev_v, shifted_chebyshev_w};
