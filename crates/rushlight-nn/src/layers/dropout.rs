//! Dropout.

use crate::{Mode, Module, Visitor};
use rushlight_core::{Result, Tensor, ensure};

/// In training, zeroes elements with a probability and scales the others so that the mean stays.
pub struct Dropout {
    /// The probability.
    pub p: f64,
    mode: Mode,
}

impl Dropout {
    /// With this probability of a zero.
    ///
    /// # Errors
    /// `Value` for a probability outside [0, 1].
    pub fn new(p: f64) -> Result<Dropout> {
        ensure!((0.0..=1.0).contains(&p), Value, "Dropout", "the probability {p} is not between 0 and 1");
        Ok(Dropout { p, mode: Mode::default() })
    }
}

impl Module for Dropout {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.dropout(self.p, self.mode.training())
    }
    fn visit(&self, v: &mut dyn Visitor) {
        v.mode(&self.mode);
    }
}
