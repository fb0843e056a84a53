//! Stochastic gradient descent.

use super::{Optimizer, check};
use rushlight_core::op::Update;
use rushlight_core::{Result, Tensor, ensure, no_grad};

/// Settings of [`Sgd`] besides the learning rate.
#[derive(Clone, Copy, Debug, Default)]
pub struct SgdOptions {
    /// Share of the last step's direction that is kept.
    pub momentum: f64,
    /// Share of the gradient that does not enter that direction.
    pub dampening: f64,
    /// Pull towards zero, added to the gradient.
    pub weight_decay: f64,
    /// Looks ahead along the direction.
    pub nesterov: bool,
    /// Climbs instead.
    pub maximize: bool,
}

/// `direction = momentum * direction + (1 - dampening) * g; p -= lr * direction`, where
/// `g = gradient + weight_decay * p` and the first direction is `g` itself.
pub struct Sgd {
    parameters: Vec<Tensor>,
    directions: Vec<Option<Tensor>>,
    lr: f64,
    options: SgdOptions,
    /// Parameter, gradient; rate, decay, sign.
    plain: Update<2, 3>,
    /// Parameter, direction, gradient; rate, decay, sign, share kept, share taken, look-ahead.
    moving: Update<3, 6>,
}

impl Sgd {
    /// Without momentum or decay.
    ///
    /// # Errors
    /// As [`Sgd::with`].
    pub fn new(parameters: Vec<Tensor>, lr: f64) -> Result<Sgd> {
        Sgd::with(parameters, lr, SgdOptions::default())
    }

    /// With all settings.
    ///
    /// # Errors
    /// `Value` for no parameters, parameters that are no float leaves, negative numbers, and
    /// nesterov without momentum or with dampening.
    pub fn with(parameters: Vec<Tensor>, lr: f64, options: SgdOptions) -> Result<Sgd> {
        check("Sgd", &parameters, lr)?;
        let o = options;
        ensure!(
            o.momentum >= 0.0 && o.weight_decay >= 0.0,
            Value,
            "Sgd",
            "momentum {} and weight_decay {} must not be negative",
            o.momentum,
            o.weight_decay
        );
        ensure!(
            !o.nesterov || (o.momentum > 0.0 && o.dampening == 0.0),
            Value,
            "Sgd",
            "nesterov needs momentum and no dampening"
        );
        let plain = Update::new(|[p, g], [lr, decay, sign]| [p - (g * sign + p * decay) * lr])?;
        let nesterov = o.nesterov;
        let moving = Update::new(|[p, direction, g], [lr, decay, sign, keep, take, ahead]| {
            let g = g * sign + p * decay;
            let d = direction * keep + g * take;
            [p - if nesterov { g + d * ahead } else { d } * lr, d]
        })?;
        Ok(Sgd { directions: vec![None; parameters.len()], parameters, lr, options, plain, moving })
    }
}

impl Optimizer for Sgd {
    fn parameters(&self) -> &[Tensor] {
        &self.parameters
    }
    fn step(&mut self) -> Result<()> {
        let o = self.options;
        let sign = if o.maximize { -1.0 } else { 1.0 };
        for (p, direction) in self.parameters.iter().zip(&mut self.directions) {
            let Some(g) = p.grad() else { continue };
            if o.momentum == 0.0 {
                no_grad(|| self.plain.apply([p, &g], [self.lr, o.weight_decay, sign]))?;
                continue;
            }
            let (keep, take, d) = match direction {
                Some(d) => (o.momentum, 1.0 - o.dampening, d.clone()),
                None => (0.0, 1.0, direction.insert(no_grad(|| p.zeros_like())?).clone()),
            };
            let params = [self.lr, o.weight_decay, sign, keep, take, o.momentum];
            no_grad(|| self.moving.apply([p, &d, &g], params))?;
        }
        Ok(())
    }
    fn lr(&self) -> f64 {
        self.lr
    }
    fn set_lr(&mut self, lr: f64) {
        self.lr = lr;
    }
}
