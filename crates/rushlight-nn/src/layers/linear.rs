//! Affine maps.

use crate::init::{default_bound, uniform};
use crate::{Module, Visitor};
use rushlight_core::{Result, Tensor};

/// `input @ weight.t() + bias`: [.., in] to [.., out].
pub struct Linear {
    /// [out, in].
    pub weight: Tensor,
    /// [out].
    pub bias: Option<Tensor>,
}

impl Linear {
    /// With a bias, at torch's default first values.
    ///
    /// # Errors
    /// `Runtime` for impossible sizes.
    pub fn new(inputs: usize, outputs: usize) -> Result<Linear> {
        let bound = default_bound(inputs);
        Ok(Linear { weight: uniform([outputs, inputs], bound)?, bias: Some(uniform(outputs, bound)?) })
    }
    /// Without a bias.
    ///
    /// # Errors
    /// `Runtime` for impossible sizes.
    pub fn without_bias(inputs: usize, outputs: usize) -> Result<Linear> {
        Ok(Linear { weight: uniform([outputs, inputs], default_bound(inputs))?, bias: None })
    }
}

impl Module for Linear {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.linear(&self.weight, self.bias.as_ref())
    }
    fn visit(&self, v: &mut dyn Visitor) {
        v.parameter("weight", &self.weight);
        if let Some(b) = &self.bias {
            v.parameter("bias", b);
        }
    }
}
