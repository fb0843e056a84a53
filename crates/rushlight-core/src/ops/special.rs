//! The functions of `torch.special`, element by element. What they compute is in the crate
//! `rushlight-special`; the table that names them is `program/special.rs`.

use crate::Tensor;
use crate::program::Special as S;
use std::f64::consts::{LN_2, LOG2_E, PI};

pointwise! { SPECIAL;
    /// The logarithm of the absolute value of the gamma function; infinite at its poles.
    fn lgamma as lgamma | special_gammaln, inplace lgamma_ (input) Float except complex = |x| S::Lgamma.of(x[0]);
    /// The logarithmic derivative of the gamma function; NaN at its poles, infinite at 0.
    fn digamma as digamma | special_digamma | special_psi, inplace digamma_ (input) Float except complex = |x| S::Digamma.of(x[0]);
    /// The derivative of order `n` of `digamma`.
    fn derived_digamma as internal (n, input) Float except complex = |x| S::Polygamma.of2(x[0], x[1]);
    /// The Hurwitz zeta function: the sum of `(other + k)^-input` over `k >= 0`.
    fn zeta as special_zeta (input, other) Float except complex = |x| S::Zeta.of2(x[0], x[1]);
    /// The regularised lower incomplete gamma function of parameter `input`, up to `other`.
    fn igamma as igamma | special_gammainc, inplace igamma_ (input, other) Promote except number bool int complex = |x| S::Igamma.of2(x[0], x[1]);
    /// The regularised upper incomplete gamma function of parameter `input`, from `other` on.
    fn igammac as igammac | special_gammaincc, inplace igammac_ (input, other) Promote except number bool int complex = |x| S::Igammac.of2(x[0], x[1]);
    /// How a draw `output` of the gamma distribution of shape `input` and rate 1 moves with the shape
    /// (Figurnov et al. 2018).
    fn standard_gamma_grad as _standard_gamma_grad (input, output) Promote except number bool int complex = |x| S::StandardGammaGrad.of2(x[0], x[1]);
    /// The inverse of the error function; infinite at -1 and 1, NaN beyond.
    fn erfinv as erfinv | special_erfinv, inplace erfinv_ (input) Float except complex = |x| S::Erfinv.of(x[0]);
    /// `e^(input^2)` times the complementary error function, exact far out.
    fn erfcx as special_erfcx (input) Float except complex = |x| S::Erfcx.of(x[0]);
    /// The probability that a standard normal number is at most `input`.
    fn ndtr as special_ndtr (input) Float except complex = |x| S::Ndtr.of(x[0]);
    /// The logarithm of `ndtr`, exact far below 0.
    fn log_ndtr as special_log_ndtr (input) Float except complex = |x| S::LogNdtr.of(x[0]);
    /// The number that a standard normal number is at most with probability `input`.
    fn ndtri as special_ndtri (input) Float except complex = |x| S::Ndtri.of(x[0]);
    /// `-input * log(input)`; 0 at 0, -inf below.
    fn entr as special_entr (input) Float except complex = |x| {
        let inside = x[0].gt(0.0).select(-x[0] * x[0].log(), x[0].eq(0.0).select(0.0, f64::NEG_INFINITY));
        x[0].isnan().select(x[0], inside)
    }, grad |x, _y, g| vec![{
        let inside = x[0].gt(0.0).select(-x[0].log() - 1.0, x[0].eq(0.0).select(f64::INFINITY, f64::NAN));
        g * inside
    }];
    /// `input * log(other)`; 0 where `input` is 0 and `other` a number.
    fn xlogy as xlogy | special_xlogy, inplace xlogy_ (input, other) Float except complex = |x| {
        x[1].isnan().select(x[1], x[0].eq(0.0).select(0.0, x[0] * x[1].log()))
    }, grad |x, _y, g| vec![
        (x[0].eq(0.0) & x[1].le(0.0)).select(0.0, g * x[1].log()),
        g * x[0] / x[1],
    ];
    /// `input * log(1 + other)`; 0 where `input` is 0 and `other` a number.
    fn xlog1py as special_xlog1py (input, other) Float except complex = |x| {
        x[1].isnan().select(x[1], x[0].eq(0.0).select(0.0, x[0] * x[1].log1p()))
    }, grad |x, _y, g| vec![
        (x[0].eq(0.0) & x[1].le(-1.0)).select(0.0, g * x[1].log1p()),
        g * x[0] / (x[1] + 1.0),
    ];
    /// `log(exp(input) + exp(other))` without overflow.
    fn logaddexp (input, other) Promote except number bool int complex = |x| {
        let far = x[0].maximum(x[1]) + (-(x[0] - x[1]).abs()).exp().log1p();
        x[0].eq(x[1]).select(x[0] + LN_2, far)
    }, grad |x, _y, g| vec![g * (x[0] - x[1]).sigmoid(), g * (x[1] - x[0]).sigmoid()];
    /// `log2(2^input + 2^other)` without overflow.
    fn logaddexp2 (input, other) Promote except number bool int complex = |x| {
        let far = x[0].maximum(x[1]) + (-(x[0] - x[1]).abs()).exp2().log1p() * LOG2_E;
        x[0].eq(x[1]).select(x[0] + 1.0, far)
    }, grad |x, _y, g| vec![g * ((x[0] - x[1]) * LN_2).sigmoid(), g * ((x[1] - x[0]) * LN_2).sigmoid()];
    /// `sin(pi input) / (pi input)`; 1 at 0.
    fn sinc as sinc | special_sinc, inplace sinc_ (input) Float = |x| {
        let z = x[0] * PI;
        x[0].eq(0.0).select(1.0, z.sin() / z)
    }, grad |x, _y, g| vec![{
        let z = x[0] * PI;
        x[0].eq(0.0).select(0.0, g * ((z * z.cos() - z.sin()) / (x[0] * z)))
    }];
    /// `log(input / (1 - input))`.
    fn log_odds as internal (input) Float except complex = |x| (x[0] / (1.0 - x[0])).log(), grad |x, _y, g| vec![
        (x[0].lt(0.0) | x[0].gt(1.0)).select(f64::NAN, g / (x[0] * (1.0 - x[0])))
    ];
    /// `log_odds` of `input` moved into `[eps, 1 - eps]`.
    fn log_odds_within as internal (input; eps = 0.0) Float except complex = |x| {
        let z = x[0].lt(x[1]).select(x[1], x[0].gt(1.0 - x[1]).select(1.0 - x[1], x[0]));
        (z / (1.0 - z)).log()
    }, grad |x, _y, g| vec![
        (x[0].lt(x[1]) | x[0].gt(1.0 - x[1])).select(0.0, g / (x[0] * (1.0 - x[0])))
    ];
    /// The modified Bessel function of the first kind of order 0.
    fn i0 as i0 | special_i0, inplace i0_ (input) Float except complex = |x| S::I0.of(x[0]);
    /// `i0` times `exp(-|input|)`.
    fn i0e as special_i0e (input) Float except complex = |x| S::I0e.of(x[0]);
    /// The modified Bessel function of the first kind of order 1.
    fn i1 as special_i1 (input) Float except complex = |x| S::I1.of(x[0]);
    /// `i1` times `exp(-|input|)`.
    fn i1e as special_i1e (input) Float except complex = |x| S::I1e.of(x[0]);
    /// The Bessel function of the first kind of order 0.
    fn bessel_j0 as special_bessel_j0 (input) Float except complex = |x| S::J0.of(x[0]);
    /// The Bessel function of the first kind of order 1.
    fn bessel_j1 as special_bessel_j1 (input) Float except complex = |x| S::J1.of(x[0]);
    /// The Bessel function of the second kind of order 0; -inf at 0, NaN below.
    fn bessel_y0 as special_bessel_y0 (input) Float except complex = |x| S::Y0.of(x[0]);
    /// The Bessel function of the second kind of order 1; -inf at 0, NaN below.
    fn bessel_y1 as special_bessel_y1 (input) Float except complex = |x| S::Y1.of(x[0]);
    /// As `i0`.
    fn modified_bessel_i0 as special_modified_bessel_i0 (input) Float except complex = |x| S::I0.of(x[0]);
    /// As `i1`.
    fn modified_bessel_i1 as special_modified_bessel_i1 (input) Float except complex = |x| S::I1.of(x[0]);
    /// The modified Bessel function of the second kind of order 0; infinite at 0, NaN below.
    fn modified_bessel_k0 as special_modified_bessel_k0 (input) Float except complex = |x| S::K0.of(x[0]);
    /// The modified Bessel function of the second kind of order 1; infinite at 0, NaN below.
    fn modified_bessel_k1 as special_modified_bessel_k1 (input) Float except complex = |x| S::K1.of(x[0]);
    /// `modified_bessel_k0` times `exp(input)`.
    fn scaled_modified_bessel_k0 as special_scaled_modified_bessel_k0 (input) Float except complex = |x| S::K0e.of(x[0]);
    /// `modified_bessel_k1` times `exp(input)`.
    fn scaled_modified_bessel_k1 as special_scaled_modified_bessel_k1 (input) Float except complex = |x| S::K1e.of(x[0]);
    /// The spherical Bessel function of order 0, `sin(input) / input`.
    fn spherical_bessel_j0 as special_spherical_bessel_j0 (input) Float except complex = |x| S::SphericalJ0.of(x[0]);
    /// The Airy function Ai.
    fn airy_ai as special_airy_ai (input) Float except complex = |x| S::AiryAi.of(x[0]);
    /// The Chebyshev polynomial of the first kind of degree `n`; 0 for a negative degree.
    fn chebyshev_polynomial_t as special_chebyshev_polynomial_t (input, n) Float except complex = |x| S::ChebyshevT.of2(x[0], x[1]);
    /// The Chebyshev polynomial of the second kind.
    fn chebyshev_polynomial_u as special_chebyshev_polynomial_u (input, n) Float except complex = |x| S::ChebyshevU.of2(x[0], x[1]);
    /// The Chebyshev polynomial of the third kind.
    fn chebyshev_polynomial_v as special_chebyshev_polynomial_v (input, n) Float except complex = |x| S::ChebyshevV.of2(x[0], x[1]);
    /// The Chebyshev polynomial of the fourth kind.
    fn chebyshev_polynomial_w as special_chebyshev_polynomial_w (input, n) Float except complex = |x| S::ChebyshevW.of2(x[0], x[1]);
    /// The Chebyshev polynomial of the first kind at `2 input - 1`.
    fn shifted_chebyshev_polynomial_t as special_shifted_chebyshev_polynomial_t (input, n) Float except complex = |x| S::ShiftedChebyshevT.of2(x[0], x[1]);
    /// The Chebyshev polynomial of the second kind at `2 input - 1`.
    fn shifted_chebyshev_polynomial_u as special_shifted_chebyshev_polynomial_u (input, n) Float except complex = |x| S::ShiftedChebyshevU.of2(x[0], x[1]);
    /// The Chebyshev polynomial of the third kind at `2 input - 1`.
    fn shifted_chebyshev_polynomial_v as special_shifted_chebyshev_polynomial_v (input, n) Float except complex = |x| S::ShiftedChebyshevV.of2(x[0], x[1]);
    /// The Chebyshev polynomial of the fourth kind at `2 input - 1`.
    fn shifted_chebyshev_polynomial_w as special_shifted_chebyshev_polynomial_w (input, n) Float except complex = |x| S::ShiftedChebyshevW.of2(x[0], x[1]);
    /// The physicists' Hermite polynomial of degree `n`.
    fn hermite_polynomial_h as special_hermite_polynomial_h (input, n) Float except complex = |x| S::HermiteH.of2(x[0], x[1]);
    /// The probabilists' Hermite polynomial of degree `n`.
    fn hermite_polynomial_he as special_hermite_polynomial_he (input, n) Float except complex = |x| S::HermiteHe.of2(x[0], x[1]);
    /// The Laguerre polynomial of degree `n`.
    fn laguerre_polynomial_l as special_laguerre_polynomial_l (input, n) Float except complex = |x| S::Laguerre.of2(x[0], x[1]);
    /// The Legendre polynomial of degree `n`.
    fn legendre_polynomial_p as special_legendre_polynomial_p (input, n) Float except complex = |x| S::Legendre.of2(x[0], x[1]);
}

/// The same functions of a number and a tensor.
pub mod of_numbers {
    use super::*;

    pointwise! { OF_NUMBERS;
        /// As `zeta`.
        fn zeta_of as special_zeta (number, other) Float except complex = |x| S::Zeta.of2(x[0], x[1]);
        /// As `xlogy`.
        fn xlogy_of as xlogy | special_xlogy (number, other) Float except complex = |x| {
            x[1].isnan().select(x[1], x[0].eq(0.0).select(0.0, x[0] * x[1].log()))
        }, grad |x, _y, g| vec![
            (x[0].eq(0.0) & x[1].le(0.0)).select(0.0, g * x[1].log()),
            g * x[0] / x[1],
        ];
        /// As `xlog1py`.
        fn xlog1py_of as special_xlog1py (number, other) Float except complex = |x| {
            x[1].isnan().select(x[1], x[0].eq(0.0).select(0.0, x[0] * x[1].log1p()))
        }, grad |x, _y, g| vec![
            (x[0].eq(0.0) & x[1].le(-1.0)).select(0.0, g * x[1].log1p()),
            g * x[0] / (x[1] + 1.0),
        ];
        /// As `chebyshev_polynomial_t`.
        fn chebyshev_polynomial_t_of as special_chebyshev_polynomial_t (number, n) Float except complex = |x| S::ChebyshevT.of2(x[0], x[1]);
        /// As `chebyshev_polynomial_u`.
        fn chebyshev_polynomial_u_of as special_chebyshev_polynomial_u (number, n) Float except complex = |x| S::ChebyshevU.of2(x[0], x[1]);
        /// As `chebyshev_polynomial_v`.
        fn chebyshev_polynomial_v_of as special_chebyshev_polynomial_v (number, n) Float except complex = |x| S::ChebyshevV.of2(x[0], x[1]);
        /// As `chebyshev_polynomial_w`.
        fn chebyshev_polynomial_w_of as special_chebyshev_polynomial_w (number, n) Float except complex = |x| S::ChebyshevW.of2(x[0], x[1]);
        /// As `shifted_chebyshev_polynomial_t`.
        fn shifted_chebyshev_polynomial_t_of as special_shifted_chebyshev_polynomial_t (number, n) Float except complex = |x| S::ShiftedChebyshevT.of2(x[0], x[1]);
        /// As `shifted_chebyshev_polynomial_u`.
        fn shifted_chebyshev_polynomial_u_of as special_shifted_chebyshev_polynomial_u (number, n) Float except complex = |x| S::ShiftedChebyshevU.of2(x[0], x[1]);
        /// As `shifted_chebyshev_polynomial_v`.
        fn shifted_chebyshev_polynomial_v_of as special_shifted_chebyshev_polynomial_v (number, n) Float except complex = |x| S::ShiftedChebyshevV.of2(x[0], x[1]);
        /// As `shifted_chebyshev_polynomial_w`.
        fn shifted_chebyshev_polynomial_w_of as special_shifted_chebyshev_polynomial_w (number, n) Float except complex = |x| S::ShiftedChebyshevW.of2(x[0], x[1]);
        /// As `hermite_polynomial_h`.
        fn hermite_polynomial_h_of as special_hermite_polynomial_h (number, n) Float except complex = |x| S::HermiteH.of2(x[0], x[1]);
        /// As `hermite_polynomial_he`.
        fn hermite_polynomial_he_of as special_hermite_polynomial_he (number, n) Float except complex = |x| S::HermiteHe.of2(x[0], x[1]);
        /// As `laguerre_polynomial_l`.
        fn laguerre_polynomial_l_of as special_laguerre_polynomial_l (number, n) Float except complex = |x| S::Laguerre.of2(x[0], x[1]);
        /// As `legendre_polynomial_p`.
        fn legendre_polynomial_p_of as special_legendre_polynomial_p (number, n) Float except complex = |x| S::Legendre.of2(x[0], x[1]);
    }
}
