//! Functions of one number, element by element.

use crate::Tensor;

pointwise! { UNARY;
    /// `|input|`.
    fn abs as abs | absolute, inplace abs_ (input) Promote except bool complex = |x| x[0].abs();
    /// -1, 0 or 1 by the sign; NaN stays NaN.
    fn sign, inplace sign_ (input) Promote except complex = |x| x[0].sign();
    /// `input * input`.
    fn square, inplace square_ (input) Promote = |x| x[0] * x[0];
    /// `1 / input`.
    fn reciprocal, inplace reciprocal_ (input) Float = |x| x[0].reciprocal();
    /// Square root.
    fn sqrt, inplace sqrt_ (input) Float = |x| x[0].sqrt();
    /// `1 / sqrt(input)`.
    fn rsqrt, inplace rsqrt_ (input) Float = |x| x[0].rsqrt();
    /// `e` to the power `input`.
    fn exp, inplace exp_ (input) Float = |x| x[0].exp();
    /// 2 to the power `input`.
    fn exp2, inplace exp2_ (input) Float = |x| x[0].exp2();
    /// `exp(input) - 1`, exact near 0.
    fn expm1, inplace expm1_ (input) Float = |x| x[0].expm1();
    /// Natural logarithm.
    fn log, inplace log_ (input) Float = |x| x[0].log();
    /// Logarithm to base 2.
    fn log2, inplace log2_ (input) Float = |x| x[0].log2();
    /// Logarithm to base 10.
    fn log10, inplace log10_ (input) Float = |x| x[0].log10();
    /// `log(1 + input)`, exact near 0.
    fn log1p, inplace log1p_ (input) Float = |x| x[0].log1p();
    /// Sine of radians.
    fn sin, inplace sin_ (input) Float = |x| x[0].sin();
    /// Cosine of radians.
    fn cos, inplace cos_ (input) Float = |x| x[0].cos();
    /// Tangent of radians.
    fn tan, inplace tan_ (input) Float = |x| x[0].tan();
    /// Inverse sine, in radians.
    fn asin as asin | arcsin, inplace asin_ (input) Float = |x| x[0].asin();
    /// Inverse cosine, in radians.
    fn acos as acos | arccos, inplace acos_ (input) Float = |x| x[0].acos();
    /// Inverse tangent, in radians.
    fn atan as atan | arctan, inplace atan_ (input) Float = |x| x[0].atan();
    /// Hyperbolic sine.
    fn sinh, inplace sinh_ (input) Float = |x| x[0].sinh();
    /// Hyperbolic cosine.
    fn cosh, inplace cosh_ (input) Float = |x| x[0].cosh();
    /// Hyperbolic tangent.
    fn tanh, inplace tanh_ (input) Float = |x| x[0].tanh();
    /// Inverse hyperbolic sine.
    fn asinh as asinh | arcsinh, inplace asinh_ (input) Float = |x| x[0].asinh();
    /// Inverse hyperbolic cosine.
    fn acosh as acosh | arccosh, inplace acosh_ (input) Float = |x| x[0].acosh();
    /// Inverse hyperbolic tangent.
    fn atanh as atanh | arctanh, inplace atanh_ (input) Float = |x| x[0].atanh();
    /// Error function.
    fn erf, inplace erf_ (input) Float except complex = |x| x[0].erf();
    /// `1 - erf(input)`, exact for large inputs.
    fn erfc, inplace erfc_ (input) Float except complex = |x| x[0].erfc();
    /// The largest integer not above.
    fn floor, inplace floor_ (input) Promote except bool complex = |x| x[0].floor();
    /// The smallest integer not below.
    fn ceil, inplace ceil_ (input) Promote except bool complex = |x| x[0].ceil();
    /// The nearest integer, ties to even.
    fn round_whole as internal (input) Promote except bool complex = |x| x[0].round();
    /// The number without its fraction.
    fn trunc as trunc | fix, inplace trunc_ (input) Promote except bool complex = |x| x[0].trunc();
    /// What `trunc` cuts off.
    fn frac, inplace frac_ (input) Promote except bool int complex = |x| x[0] - x[0].trunc();
    /// Whether NaN, in either part.
    fn isnan (input) Truth = |x| x[0].isnan();
    /// Whether infinite, in either part.
    fn isinf (input) Truth = |x| x[0].isinf();
    /// Whether neither infinite nor NaN.
    fn isfinite (input) Truth = |x| !(x[0].isnan() | x[0].isinf());
    /// Whether zero (or false).
    fn logical_not (input) Truth = |x| !x[0].to_truth();
}
