//! Optimisers: torch's formulas, each step one pass over a parameter and its state.

mod adam;
mod clip;
mod schedule;
mod sgd;

pub use adam::{Adam, AdamOptions, AdamW};
pub use clip::{clip_grad_norm, clip_grad_value};
pub use schedule::{CosineAnnealingLR, StepLR};
pub use sgd::{Sgd, SgdOptions};

use rushlight_core::{Result, Tensor, ensure};

/// Changes parameters by their gradients.
pub trait Optimizer {
    /// The parameters it changes.
    fn parameters(&self) -> &[Tensor];

    /// One step; parameters without a gradient stay as they are, and so does their state.
    ///
    /// # Errors
    /// `Runtime` when a parameter cannot be written to.
    fn step(&mut self) -> Result<()>;

    /// The learning rate.
    fn lr(&self) -> f64;

    /// Changes the learning rate.
    fn set_lr(&mut self, lr: f64);

    /// Drops all gradients, as torch does by default.
    ///
    /// # Errors
    /// None today.
    fn zero_grad(&self) -> Result<()> {
        self.parameters().iter().try_for_each(|p| p.set_grad(None))
    }
}

/// What every optimiser asks of its parameters.
fn check(op: &'static str, parameters: &[Tensor], lr: f64) -> Result<()> {
    ensure!(!parameters.is_empty(), Value, op, "got no parameters");
    ensure!(lr >= 0.0, Value, op, "the learning rate {lr} must not be negative");
    for p in parameters {
        ensure!(
            p.is_leaf() && p.dtype().is_float(),
            Value,
            op,
            "a tensor of shape {:?} ({}) is no leaf of floats and cannot be optimised",
            p.shape(),
            p.dtype()
        );
    }
    Ok(())
}

/// A number that must be in `[0, 1)`.
fn share(op: &'static str, name: &str, value: f64) -> Result<()> {
    ensure!((0.0..1.0).contains(&value), Value, op, "{name} is {value}; it must be at least 0 and below 1");
    Ok(())
}
