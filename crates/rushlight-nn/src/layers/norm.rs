//! Normalisation.

use crate::init::constant;
use crate::{Mode, Module, Visitor};
use rushlight_core::{Result, Size, Tensor};

/// Normalises over the last dimensions, then scales and shifts element by element.
pub struct LayerNorm {
    /// Scale, of the normalised shape.
    pub weight: Tensor,
    /// Shift, of the same shape.
    pub bias: Tensor,
    /// Added to the variance.
    pub eps: f64,
}

impl LayerNorm {
    /// Over the last dimensions, which have this shape.
    ///
    /// # Errors
    /// `Runtime` for an impossible size.
    pub fn new(normalized_shape: impl Into<Size>) -> Result<LayerNorm> {
        let shape = normalized_shape.into();
        Ok(LayerNorm { weight: constant(shape.clone(), 1.0)?, bias: constant(shape, 0.0)?, eps: 1e-5 })
    }
}

impl Module for LayerNorm {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.layer_norm(self.weight.shape(), Some(&self.weight), Some(&self.bias), self.eps)
    }
    fn visit(&self, v: &mut dyn Visitor) {
        v.parameter("weight", &self.weight);
        v.parameter("bias", &self.bias);
    }
}

/// Divides by the root of the mean square over the last dimensions, then scales.
pub struct RmsNorm {
    /// Scale, of the normalised shape.
    pub weight: Tensor,
    /// Added to the mean square; the dtype's epsilon if not given.
    pub eps: Option<f64>,
}

impl RmsNorm {
    /// Over the last dimensions, which have this shape.
    ///
    /// # Errors
    /// `Runtime` for an impossible size.
    pub fn new(normalized_shape: impl Into<Size>) -> Result<RmsNorm> {
        Ok(RmsNorm { weight: constant(normalized_shape, 1.0)?, eps: None })
    }
}

impl Module for RmsNorm {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.rms_norm(self.weight.shape(), Some(&self.weight), self.eps)
    }
    fn visit(&self, v: &mut dyn Visitor) {
        v.parameter("weight", &self.weight);
    }
}

/// Normalises groups of channels of each example, then scales and shifts channels.
pub struct GroupNorm {
    /// Scale per channel.
    pub weight: Tensor,
    /// Shift per channel.
    pub bias: Tensor,
    /// How many groups.
    pub groups: usize,
    /// Added to the variance.
    pub eps: f64,
}

impl GroupNorm {
    /// For inputs [N, channels, *].
    ///
    /// # Errors
    /// `Runtime` for an impossible size.
    pub fn new(groups: usize, channels: usize) -> Result<GroupNorm> {
        Ok(GroupNorm { weight: constant(channels, 1.0)?, bias: constant(channels, 0.0)?, groups, eps: 1e-5 })
    }
}

impl Module for GroupNorm {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.group_norm(self.groups as i64, Some(&self.weight), Some(&self.bias), self.eps)
    }
    fn visit(&self, v: &mut dyn Visitor) {
        v.parameter("weight", &self.weight);
        v.parameter("bias", &self.bias);
    }
}

/// Normalises channels (dimension 1) over all other dimensions: torch's `BatchNorm1d` to `3d`.
///
/// In training by the statistics of the batch, which also move the running ones; in evaluation by
/// the running ones.
pub struct BatchNorm {
    /// Scale per channel.
    pub weight: Tensor,
    /// Shift per channel.
    pub bias: Tensor,
    /// Mean per channel.
    pub running_mean: Tensor,
    /// Unbiased variance per channel.
    pub running_var: Tensor,
    /// How many batches moved the running statistics.
    pub num_batches_tracked: Tensor,
    /// Share of a batch in the running statistics.
    pub momentum: f64,
    /// Added to the variance.
    pub eps: f64,
    mode: Mode,
}

impl BatchNorm {
    /// For inputs [N, channels, *].
    ///
    /// # Errors
    /// `Runtime` for an impossible size.
    pub fn new(channels: usize) -> Result<BatchNorm> {
        Ok(BatchNorm {
            weight: constant(channels, 1.0)?,
            bias: constant(channels, 0.0)?,
            running_mean: Tensor::zeros(channels)?,
            running_var: Tensor::ones(channels)?,
            num_batches_tracked: Tensor::scalar(0i64)?,
            momentum: 0.1,
            eps: 1e-5,
            mode: Mode::default(),
        })
    }
}

impl Module for BatchNorm {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        let training = self.mode.training();
        let y = input.batch_norm(
            Some(&self.running_mean),
            Some(&self.running_var),
            Some(&self.weight),
            Some(&self.bias),
            training,
            self.momentum,
            self.eps,
        )?;
        if training {
            self.num_batches_tracked.add_(1)?;
        }
        Ok(y)
    }
    fn visit(&self, v: &mut dyn Visitor) {
        v.parameter("weight", &self.weight);
        v.parameter("bias", &self.bias);
        v.buffer("running_mean", &self.running_mean);
        v.buffer("running_var", &self.running_var);
        v.buffer("num_batches_tracked", &self.num_batches_tracked);
        v.mode(&self.mode);
    }
}
