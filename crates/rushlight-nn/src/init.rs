//! First values of parameters, with torch's default distributions.

use rushlight_core::{Result, Size, Tensor, ensure};

/// A new parameter: uniform in `[-bound, bound)`.
///
/// # Errors
/// `Runtime` for an impossible size.
pub fn uniform(size: impl Into<Size>, bound: f64) -> Result<Tensor> {
    Tensor::empty(size)?.uniform_(-bound, bound)?.requires_grad_(true)
}

/// A new parameter: normally distributed around 0.
///
/// # Errors
/// `Runtime` for an impossible size.
pub fn normal(size: impl Into<Size>, std: f64) -> Result<Tensor> {
    Tensor::empty(size)?.normal_(0.0, std)?.requires_grad_(true)
}

/// A new parameter full of one number.
///
/// # Errors
/// `Runtime` for an impossible size.
pub fn constant(size: impl Into<Size>, value: f64) -> Result<Tensor> {
    Tensor::full_with(size, value, Some(rushlight_core::default_dtype()), None)?.requires_grad_(true)
}

/// How many inputs each output of a weight [out, in, *kernel] sums, and how many outputs each input
/// takes part in.
///
/// # Errors
/// `Value` for a tensor of fewer than two dimensions.
pub fn fans(weight: &Tensor) -> Result<(usize, usize)> {
    ensure!(
        weight.dim() >= 2,
        Value,
        "fans",
        "a weight of shape {:?} has no inputs and outputs; it needs two dimensions",
        weight.shape()
    );
    let field: usize = weight.shape()[2..].iter().product();
    Ok((weight.shape()[1] * field, weight.shape()[0] * field))
}

/// Overwrites a weight uniformly so that `relu` networks keep the variance of what goes through
/// (He et al. 2015): bound `gain * sqrt(3 / fan_in)`, where the gain of relu is `sqrt(2)`.
///
/// # Errors
/// `Value` for a tensor of fewer than two dimensions.
pub fn kaiming_uniform_(weight: &Tensor, gain: f64) -> Result<Tensor> {
    let bound = gain * (3.0 / fans(weight)?.0.max(1) as f64).sqrt();
    rushlight_core::no_grad(|| weight.uniform_(-bound, bound))
}

/// Overwrites a weight uniformly so that variances stay equal in both directions (Glorot and Bengio
/// 2010): bound `gain * sqrt(6 / (fan_in + fan_out))`.
///
/// # Errors
/// `Value` for a tensor of fewer than two dimensions.
pub fn xavier_uniform_(weight: &Tensor, gain: f64) -> Result<Tensor> {
    let (inputs, outputs) = fans(weight)?;
    let bound = gain * (6.0 / (inputs + outputs).max(1) as f64).sqrt();
    rushlight_core::no_grad(|| weight.uniform_(-bound, bound))
}

/// torch's default for linear layers and convolutions: uniform in `1 / sqrt(fan_in)`, weights and
/// biases alike.
pub(crate) fn default_bound(fan_in: usize) -> f64 {
    1.0 / (fan_in.max(1) as f64).sqrt()
}
