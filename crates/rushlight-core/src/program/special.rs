//! The special functions of [`Opcode::Special`]: one table of names, functions and derivatives. All
//! backends evaluate the same functions, so adding one is a row here and a row among the ops.

use super::{Opcode, Scalar};
use rushlight_special as sf;
use std::f64::consts::PI;

/// How a special function is computed.
#[derive(Clone, Copy, Debug)]
pub enum Function {
    /// Of one number, in double precision.
    One(fn(f64) -> f64),
    /// Of two.
    Two(fn(f64, f64) -> f64),
    /// Of two, with a result that depends on the precision.
    Each(fn(f32, f32) -> f32, fn(f64, f64) -> f64),
    /// Of two integers, signed or unsigned.
    Whole(fn(i64, i64) -> i64, fn(u64, u64) -> u64),
}

/// The gradients of both operands, from the operands, the result and its gradient.
type Rule = fn(Scalar, Scalar, Scalar, Scalar) -> [Option<Scalar>; 2];

macro_rules! special {
    ($( $(#[$doc:meta])* $name:ident $text:literal = $function:expr $(, |$a:ident, $b:ident, $y:ident, $g:ident| $rule:expr)?; )*) => {
        /// A special function.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Special { $( $(#[$doc])* $name, )* }

        impl Special {
            /// Every function, in table order.
            pub const ALL: &'static [Special] = &[ $( Special::$name, )* ];
            /// The name shown when a program is printed.
            pub const fn name(self) -> &'static str { match self { $( Special::$name => $text, )* } }
            /// How it is computed.
            pub const fn function(self) -> Function {
                use Function::*;
                match self { $( Special::$name => $function, )* }
            }
            /// Its derivative; `None` where there is no formula, as in torch.
            pub(super) fn rule(self) -> Option<Rule> {
                match self { $( Special::$name => special!(@rule $(|$a, $b, $y, $g| $rule)?), )* }
            }
        }
    };
    (@rule) => { None };
    (@rule |$a:ident, $b:ident, $y:ident, $g:ident| $rule:expr) => { Some(|$a, $b, $y, $g| $rule) };
}

fn one(g: Scalar) -> [Option<Scalar>; 2] {
    [Some(g), None]
}
/// Where only the second operand has one.
fn second(g: Scalar) -> [Option<Scalar>; 2] {
    [None, Some(g)]
}

special! {
    /// logarithm of the absolute gamma function
    Lgamma "lgamma" = One(sf::lgamma), |a, _b, _y, g| one(g * Special::Digamma.of(a));
    /// derivative of lgamma
    Digamma "digamma" = One(sf::digamma), |a, _b, _y, g| one(g * Special::Polygamma.of2(1.0, a));
    /// derivatives of digamma: of order a, at b
    Polygamma "polygamma" = Two(sf::polygamma), |a, b, _y, g| second(g * Special::Polygamma.of2(a + 1.0, b));
    /// Hurwitz zeta function of exponent a, from b on
    Zeta "zeta" = Two(sf::zeta), |a, b, _y, g| second(-g * a * Special::Zeta.of2(a + 1.0, b));
    /// regularised lower incomplete gamma function of parameter a, up to b
    Igamma "igamma" = Two(sf::igamma), |a, b, _y, g| second(g * gamma_density(a, b));
    /// regularised upper incomplete gamma function
    Igammac "igammac" = Two(sf::igammac), |a, b, _y, g| second(-g * gamma_density(a, b));
    /// how a gamma-distributed b moves with its shape a
    StandardGammaGrad "standard_gamma_grad" = Two(sf::standard_gamma_grad);
    /// inverse error function
    Erfinv "erfinv" = One(sf::erfinv), |_a, _b, y, g| one(g * (PI.sqrt() / 2.0) * (y * y).exp());
    /// scaled complementary error function
    Erfcx "erfcx" = One(sf::erfcx), |a, _b, y, g| one(g * (2.0 * a * y - 2.0 / PI.sqrt()));
    /// normal distribution
    Ndtr "ndtr" = One(sf::ndtr), |a, _b, _y, g| one(g * (-0.5 * a * a).exp() / (2.0 * PI).sqrt());
    /// its logarithm
    LogNdtr "log_ndtr" = One(sf::log_ndtr), |a, _b, _y, g| one(g / Special::Erfcx.of(a * -0.5f64.sqrt()) * (2.0 / PI).sqrt());
    /// its inverse
    Ndtri "ndtri" = One(sf::ndtri), |_a, _b, y, g| one(g * (2.0 * PI).sqrt() * (0.5 * y * y).exp());
    /// Bessel function of the first kind, order 0
    J0 "bessel_j0" = One(sf::bessel_j0), |a, _b, _y, g| one(-g * Special::J1.of(a));
    /// order 1
    J1 "bessel_j1" = One(sf::bessel_j1), |a, _b, y, g| one(g * (Special::J0.of(a) - a.eq(0.0).select(0.5, y / a)));
    /// Bessel function of the second kind, order 0
    Y0 "bessel_y0" = One(sf::bessel_y0), |a, _b, _y, g| one(-g * Special::Y1.of(a));
    /// order 1
    Y1 "bessel_y1" = One(sf::bessel_y1), |a, _b, y, g| one(g * (Special::Y0.of(a) - y / a));
    /// modified Bessel function of the first kind, order 0
    I0 "i0" = One(sf::bessel_i0), |a, _b, _y, g| one(g * Special::I1.of(a));
    /// times e^-|x|
    I0e "i0e" = One(sf::bessel_i0e), |a, _b, y, g| one(g * (Special::I1e.of(a) - a.sign() * y));
    /// order 1
    I1 "i1" = One(sf::bessel_i1), |a, _b, y, g| one(g * a.eq(0.0).select(0.5, Special::I0.of(a) - y / a));
    /// times e^-|x|
    I1e "i1e" = One(sf::bessel_i1e), |a, _b, y, g| one(g * a.eq(0.0).select(0.5, Special::I0e.of(a) - y * (a.sign() + 1.0 / a)));
    /// modified Bessel function of the second kind, order 0
    K0 "modified_bessel_k0" = One(sf::bessel_k0), |a, _b, _y, g| one(-g * Special::K1.of(a));
    /// order 1
    K1 "modified_bessel_k1" = One(sf::bessel_k1), |a, _b, y, g| one(-g * (Special::K0.of(a) + y / a));
    /// order 0, times e^x
    K0e "scaled_modified_bessel_k0" = One(sf::bessel_k0e), |a, _b, y, g| one(g * (y - Special::K1e.of(a)));
    /// order 1, times e^x
    K1e "scaled_modified_bessel_k1" = One(sf::bessel_k1e), |a, _b, y, g| one(g * (y - y / a - Special::K0e.of(a)));
    /// spherical Bessel function of order 0
    SphericalJ0 "spherical_bessel_j0" = One(sf::spherical_j0), |a, _b, y, g| one(g * a.eq(0.0).select(0.0, (a.cos() - y) / a));
    /// Airy function
    AiryAi "airy_ai" = One(sf::airy_ai);
    /// Chebyshev polynomial of the first kind: at a, of degree b
    ChebyshevT "chebyshev_polynomial_t" = Two(sf::chebyshev_t);
    /// second kind
    ChebyshevU "chebyshev_polynomial_u" = Two(sf::chebyshev_u);
    /// third kind
    ChebyshevV "chebyshev_polynomial_v" = Two(sf::chebyshev_v);
    /// fourth kind
    ChebyshevW "chebyshev_polynomial_w" = Two(sf::chebyshev_w);
    /// first kind on [0, 1]
    ShiftedChebyshevT "shifted_chebyshev_polynomial_t" = Two(sf::shifted_chebyshev_t);
    /// second kind on [0, 1]
    ShiftedChebyshevU "shifted_chebyshev_polynomial_u" = Two(sf::shifted_chebyshev_u);
    /// third kind on [0, 1]
    ShiftedChebyshevV "shifted_chebyshev_polynomial_v" = Two(sf::shifted_chebyshev_v);
    /// fourth kind on [0, 1]
    ShiftedChebyshevW "shifted_chebyshev_polynomial_w" = Two(sf::shifted_chebyshev_w);
    /// the physicists' Hermite polynomial
    HermiteH "hermite_polynomial_h" = Each(sf::hermite_h_single, sf::hermite_h);
    /// the probabilists' Hermite polynomial
    HermiteHe "hermite_polynomial_he" = Each(sf::hermite_he_single, sf::hermite_he);
    /// Laguerre polynomial
    Laguerre "laguerre_polynomial_l" = Two(sf::laguerre);
    /// Legendre polynomial
    Legendre "legendre_polynomial_p" = Two(sf::legendre);
    /// the part in [1/2, 1)
    Mantissa "mantissa" = One(sf::mantissa), |a, _b, _y, g| one(g / Special::Exponent.of(a).exp2());
    /// the power of 2 that belongs to it
    Exponent "exponent" = One(sf::exponent), |_a, _b, _y, _g| one(Scalar::number(0.0));
    /// neighbour of a on the way to b
    NextAfter "nextafter" = Each(sf::next_after_single, sf::next_after);
    /// the same among bfloat16
    NextAfterShort "nextafter_bfloat16" = Each(sf::next_after_short, sf::next_after);
    /// the same among float16
    NextAfterHalf "nextafter_float16" = Each(sf::next_after_half, sf::next_after);
    /// greatest common divisor
    Gcd "gcd" = Whole(sf::gcd, sf::gcd_unsigned);
    /// least common multiple
    Lcm "lcm" = Whole(sf::lcm, sf::lcm_unsigned);
}

impl Special {
    /// The function of one formula.
    #[must_use]
    pub fn of(self, x: impl Into<Scalar>) -> Scalar {
        Scalar::of(Opcode::Special(self), &[x.into()])
    }
    /// The function of two.
    #[must_use]
    pub fn of2(self, a: impl Into<Scalar>, b: impl Into<Scalar>) -> Scalar {
        Scalar::of(Opcode::Special(self), &[a.into(), b.into()])
    }
    /// Whether operand `k` has no derivative, as in torch.
    pub(super) fn lacks(self, k: usize) -> bool {
        match self {
            Special::Polygamma | Special::Zeta | Special::Igamma | Special::Igammac => k == 0,
            other => other.rule().is_none(),
        }
    }
    /// How many operands it takes.
    pub const fn arity(self) -> usize {
        if matches!(self.function(), Function::One(_)) { 1 } else { 2 }
    }
}

/// `x^(a - 1) e^-x / Gamma(a)`.
fn gamma_density(a: Scalar, x: Scalar) -> Scalar {
    ((a - 1.0) * x.log() - x - Special::Lgamma.of(a)).exp()
}
