//! Adam (Kingma and Ba 2015) and AdamW (Loshchilov and Hutter 2019).

use super::{Optimizer, check, share};
use rushlight_core::op::Update;
use rushlight_core::{Result, Scalar, Tensor, ensure, no_grad};

/// Settings of [`Adam`] and [`AdamW`] besides the learning rate.
#[derive(Clone, Copy, Debug)]
pub struct AdamOptions {
    /// Shares of the running mean of gradients and of their squares that are kept.
    pub betas: (f64, f64),
    /// Added to the root of the mean square.
    pub eps: f64,
    /// Pull towards zero: in `Adam` added to the gradient, in `AdamW` a share of the parameter.
    pub weight_decay: f64,
    /// Divides by the largest mean square so far (Reddi et al. 2018).
    pub amsgrad: bool,
    /// Climbs instead.
    pub maximize: bool,
}

impl Default for AdamOptions {
    fn default() -> Self {
        AdamOptions { betas: (0.9, 0.999), eps: 1e-8, weight_decay: 0.0, amsgrad: false, maximize: false }
    }
}

/// Numbers of a step: share of the parameter kept, decay, sign, `1 - beta1`, `beta2`, `1 - beta2`,
/// step size, root of the second correction, eps.
const NUMBERS: usize = 9;

struct Moments {
    mean: Tensor,
    square: Tensor,
    largest: Option<Tensor>,
    steps: i32,
}

/// The common part of both.
struct Core {
    parameters: Vec<Tensor>,
    moments: Vec<Option<Moments>>,
    lr: f64,
    options: AdamOptions,
    decoupled: bool,
    /// Parameter, mean, square, gradient.
    plain: Update<4, NUMBERS>,
    /// Parameter, mean, square, largest square, gradient.
    largest: Update<5, NUMBERS>,
}

/// New parameter (before the division by the root), mean and square.
fn moments(p: Scalar, m: Scalar, v: Scalar, g: Scalar, n: &[Scalar; NUMBERS]) -> (Scalar, Scalar, Scalar) {
    let kept = p * n[0];
    let g = g * n[2] + p * n[1];
    (kept, m + (g - m) * n[3], v * n[4] + g * g * n[5])
}

impl Core {
    fn new(
        op: &'static str,
        parameters: Vec<Tensor>,
        lr: f64,
        options: AdamOptions,
        decoupled: bool,
    ) -> Result<Core> {
        check(op, &parameters, lr)?;
        share(op, "the first beta", options.betas.0)?;
        share(op, "the second beta", options.betas.1)?;
        ensure!(
            options.eps >= 0.0 && options.weight_decay >= 0.0,
            Value,
            op,
            "eps {} and weight_decay {} must not be negative",
            options.eps,
            options.weight_decay
        );
        let plain = Update::new(|[p, m, v, g], n| {
            let (p, m, v) = moments(p, m, v, g, &n);
            [p - m * n[6] / (v.sqrt() / n[7] + n[8]), m, v]
        })?;
        let largest = Update::new(|[p, m, v, high, g], n| {
            let (p, m, v) = moments(p, m, v, g, &n);
            let high = high.maximum(v);
            [p - m * n[6] / (high.sqrt() / n[7] + n[8]), m, v, high]
        })?;
        let moments = parameters.iter().map(|_| None).collect();
        Ok(Core { parameters, moments, lr, options, decoupled, plain, largest })
    }

    fn step(&mut self) -> Result<()> {
        let o = self.options;
        for (p, slot) in self.parameters.iter().zip(&mut self.moments) {
            let Some(g) = p.grad() else { continue };
            let zeros = || no_grad(|| p.zeros_like());
            let state = match slot {
                Some(s) => s,
                None => {
                    let largest = if o.amsgrad { Some(zeros()?) } else { None };
                    slot.insert(Moments { mean: zeros()?, square: zeros()?, largest, steps: 0 })
                }
            };
            state.steps += 1;
            let first = 1.0 - o.betas.0.powi(state.steps);
            let second = 1.0 - o.betas.1.powi(state.steps);
            let numbers = [
                if self.decoupled { 1.0 - self.lr * o.weight_decay } else { 1.0 },
                if self.decoupled { 0.0 } else { o.weight_decay },
                if o.maximize { -1.0 } else { 1.0 },
                1.0 - o.betas.0,
                o.betas.1,
                1.0 - o.betas.1,
                self.lr / first,
                second.sqrt(),
                o.eps,
            ];
            let (m, v) = (&state.mean, &state.square);
            no_grad(|| match &state.largest {
                Some(high) => self.largest.apply([p, m, v, high, &g], numbers),
                None => self.plain.apply([p, m, v, &g], numbers),
            })?;
        }
        Ok(())
    }
}

macro_rules! adams {
    ($($(#[doc = $doc:literal])* $name:ident $text:literal $decoupled:literal $decay:literal;)*) => { $(
        $(#[doc = $doc])*
        pub struct $name(Core);

        impl $name {
            /// With torch's default settings.
            ///
            /// # Errors
            /// As `with`.
            pub fn new(parameters: Vec<Tensor>, lr: f64) -> Result<$name> {
                $name::with(parameters, lr, AdamOptions { weight_decay: $decay, ..Default::default() })
            }
            /// With all settings.
            ///
            /// # Errors
            /// `Value` for no parameters, parameters that are no float leaves, and numbers out of range.
            pub fn with(parameters: Vec<Tensor>, lr: f64, options: AdamOptions) -> Result<$name> {
                Core::new($text, parameters, lr, options, $decoupled).map($name)
            }
        }

        impl Optimizer for $name {
            fn parameters(&self) -> &[Tensor] {
                &self.0.parameters
            }
            fn step(&mut self) -> Result<()> {
                self.0.step()
            }
            fn lr(&self) -> f64 {
                self.0.lr
            }
            fn set_lr(&mut self, lr: f64) {
                self.0.lr = lr;
            }
        }
    )* };
}

adams! {
    /// Steps of the learning rate's size along the mean gradient over its root mean square, both
    /// corrected for their start at zero.
    Adam "Adam" false 0.0;
    /// [`Adam`] whose decay acts on the parameter alone; 0.01 unless given.
    AdamW "AdamW" true 0.01;
}
