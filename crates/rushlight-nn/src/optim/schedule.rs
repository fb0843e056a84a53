//! Learning rates that change with time. Call `step` once an epoch, after the optimiser.

use super::Optimizer;
use rushlight_core::{Result, ensure};

/// Multiplies the learning rate by `gamma` every `step_size` epochs.
#[derive(Clone, Debug)]
pub struct StepLR {
    base: f64,
    step_size: u32,
    gamma: f64,
    epoch: u32,
}

impl StepLR {
    /// From the optimiser's present learning rate.
    ///
    /// # Errors
    /// `Value` when `step_size` is 0.
    pub fn new(optimizer: &impl Optimizer, step_size: u32, gamma: f64) -> Result<StepLR> {
        ensure!(step_size > 0, Value, "StepLR", "step_size must be positive");
        Ok(StepLR { base: optimizer.lr(), step_size, gamma, epoch: 0 })
    }
    /// One epoch on.
    pub fn step(&mut self, optimizer: &mut impl Optimizer) {
        self.epoch += 1;
        optimizer.set_lr(self.base * self.gamma.powf(f64::from(self.epoch / self.step_size)));
    }
}

/// Half a cosine from the first learning rate down to `eta_min` in `t_max` epochs, and back up.
#[derive(Clone, Debug)]
pub struct CosineAnnealingLR {
    base: f64,
    t_max: u32,
    eta_min: f64,
    epoch: u32,
}

impl CosineAnnealingLR {
    /// From the optimiser's present learning rate.
    ///
    /// # Errors
    /// `Value` when `t_max` is 0.
    pub fn new(optimizer: &impl Optimizer, t_max: u32, eta_min: f64) -> Result<CosineAnnealingLR> {
        ensure!(t_max > 0, Value, "CosineAnnealingLR", "t_max must be positive");
        Ok(CosineAnnealingLR { base: optimizer.lr(), t_max, eta_min, epoch: 0 })
    }
    /// One epoch on.
    pub fn step(&mut self, optimizer: &mut impl Optimizer) {
        self.epoch += 1;
        let turn = std::f64::consts::PI * f64::from(self.epoch) / f64::from(self.t_max);
        optimizer.set_lr(self.eta_min + (self.base - self.eta_min) * (1.0 + turn.cos()) / 2.0);
    }
}
