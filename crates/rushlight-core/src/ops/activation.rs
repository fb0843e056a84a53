//! Activation functions.
//!
//! Where a derived gradient would overflow in the branch not taken, the row gives its own.

use crate::Tensor;
use crate::program::Scalar;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

pointwise! { ACTIVATION;
    /// `max(input, 0)`; the gradient at 0 is 0.
    fn relu, inplace relu_ (input) Promote except bool complex = |x| x[0].relu();
    /// `1 / (1 + exp(-input))`.
    fn sigmoid, inplace sigmoid_ (input) Float except complex = |x| x[0].sigmoid();
    /// `input * sigmoid(input)`.
    fn silu, inplace silu_ (input) Float except bool int complex = |x| x[0] * x[0].sigmoid(),
        grad |x, _y, g| vec![{ let s = x[0].sigmoid(); g * s * (1.0 + x[0] * (1.0 - s)) }];
    /// `input * P(X <= input)` for a standard normal X, by the error function.
    fn gelu (input) Float except bool int complex = |x| x[0] * (x[0] * FRAC_1_SQRT_2).erf().mul_add_half(),
        grad |x, _y, g| vec![{
            let cdf = (x[0] * FRAC_1_SQRT_2).erf().mul_add_half();
            g * (cdf + x[0] * (x[0] * x[0] * -0.5).exp() * (1.0 / (2.0 * PI).sqrt()))
        }];
    /// `gelu` by the hyperbolic tangent instead of the error function.
    fn gelu_tanh as internal (input) Float except bool int complex = |x| {
        let inner = (x[0] + x[0] * x[0] * x[0] * 0.044_715) * (2.0 / PI).sqrt();
        x[0] * 0.5 * (1.0 + inner.tanh())
    };
    /// `input` where positive, `negative_slope * input` elsewhere.
    fn leaky_relu, inplace leaky_relu_ (input; negative_slope = 0.01) Promote except bool int complex = |x| x[0].gt(0.0).select(x[0], x[0] * x[1]);
    /// `input` where positive, `alpha * (exp(input) - 1)` elsewhere.
    fn elu, inplace elu_ (input; alpha = 1.0) Float except bool int complex = |x| x[0].gt(0.0).select(x[0], x[0].expm1() * x[1]),
        grad |x, _y, g| vec![x[0].gt(0.0).select(g, g * x[1] * x[0].minimum(0.0).exp())];
    /// `log(1 + exp(beta * input)) / beta`; the input itself where `beta * input > threshold`.
    fn softplus (input; beta = 1.0, threshold = 20.0) Float except bool int complex = |x| {
        let z = x[0] * x[1];
        z.gt(x[2]).select(x[0], z.minimum(x[2]).exp().log1p() / x[1])
    }, grad |x, _y, g| vec![{ let z = x[0] * x[1]; z.gt(x[2]).select(g, g * z.sigmoid()) }];
    /// `log(sigmoid(input))`, exact for large negative inputs.
    fn logsigmoid (input) Float except bool int complex = |x| x[0].minimum(0.0) - (-x[0].abs()).exp().log1p(),
        grad |x, _y, g| vec![g * (-x[0]).sigmoid()];
    /// `input * tanh(softplus(input))`.
    fn mish (input) Float except bool int complex = |x| x[0] * x[0].gt(20.0).select(x[0], x[0].minimum(20.0).exp().log1p()).tanh(),
        grad |x, _y, g| vec![{
            let t = x[0].gt(20.0).select(x[0], x[0].minimum(20.0).exp().log1p()).tanh();
            g * (t + x[0] * (1.0 - t * t) * x[0].sigmoid())
        }];
    /// `input` clipped to `[min_val, max_val]`; the gradient at a bound is 0.
    fn hardtanh, inplace hardtanh_ (input; min_val = -1.0, max_val = 1.0) Promote except bool complex = |x| x[0].maximum(x[1]).minimum(x[2]),
        grad |x, _y, g| vec![(x[0].le(x[1]) | x[0].ge(x[2])).select(0.0, g)];
    /// `relu` that stops at 6.
    fn relu6 (input) Promote except bool complex = |x| x[0].maximum(0.0).minimum(6.0),
        grad |x, _y, g| vec![(x[0].le(0.0) | x[0].ge(6.0)).select(0.0, g)];
    /// `relu6(input + 3) / 6`.
    fn hardsigmoid (input) Promote except bool int complex = |x| (x[0] + 3.0).maximum(0.0).minimum(6.0) / 6.0,
        grad |x, _y, g| vec![(x[0].le(-3.0) | x[0].ge(3.0)).select(0.0, g / 6.0)];
    /// `input / (1 + |input|)`.
    fn softsign (input) Float except bool int complex = |x| x[0] / (1.0 + x[0].abs());
    /// `input - tanh(input)`.
    fn tanhshrink (input) Float except bool int complex = |x| x[0] - x[0].tanh();
}

impl Scalar {
    /// `0.5 * (1 + self)`: half of both activation formulas above.
    fn mul_add_half(self) -> Scalar {
        self * 0.5 + 0.5
    }
}
