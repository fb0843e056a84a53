//! Modules that change shapes.

use crate::Module;
use rushlight_core::{Result, Tensor};

/// All dimensions but the first as one: [N, *] to [N, product].
#[derive(Clone, Copy, Debug, Default)]
pub struct Flatten;

impl Module for Flatten {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.flatten(1, -1)
    }
}

/// Largest element of each window; windows lie side by side.
#[derive(Clone, Copy, Debug)]
pub struct MaxPool2d(pub usize);

impl Module for MaxPool2d {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.max_pool2d(self.0, ())
    }
}

/// Mean of each window; windows lie side by side.
#[derive(Clone, Copy, Debug)]
pub struct AvgPool2d(pub usize);

impl Module for AvgPool2d {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.avg_pool2d(self.0, ())
    }
}
