//! Steps of optimisers over lists of parameters: every element of a parameter and of its state is
//! read and written once.

use crate::op::{Sample, Update};
use crate::{Result, Scalar, Tensor, ensure};
use std::sync::OnceLock;

ops! { OPTIMIZER;
    /// A step of Adam (Kingma and Ba 2015), in place. `state_steps` count the steps, this one
    /// included. With `amsgrad` the largest mean square so far divides (Reddi et al. 2018); without it
    /// `max_exp_avg_sqs` is empty. `weight_decay` enters the gradient. Gives the parameters back.
    ///
    /// Raises an error when the lists differ in length, or a parameter cannot be written to.
    fn fused_adam as _fused_adam_ (params: Tensors, grads: Tensors, exp_avgs: Tensors, exp_avg_sqs: Tensors, max_exp_avg_sqs: Tensors, state_steps: Tensors; lr: Float = 0.001, beta1: Float = 0.9, beta2: Float = 0.999, weight_decay: Float = 0.0, eps: Float = 1e-8, amsgrad: Bool = false, maximize: Bool = false) -> Vec<Tensor> {
        run: adam("_fused_adam_", false, &Moments { params, grads, means: exp_avgs, squares: exp_avg_sqs, largest: max_exp_avg_sqs, steps: state_steps },
            &Rates { lr: *lr, beta1: *beta1, beta2: *beta2, decay: *weight_decay, eps: *eps, amsgrad: *amsgrad, maximize: *maximize }),
        samples: no_samples,
    }
    /// As `_fused_adam_`, but `weight_decay` takes its share of the parameter alone (Loshchilov and
    /// Hutter 2019).
    fn fused_adamw as _fused_adamw_ (params: Tensors, grads: Tensors, exp_avgs: Tensors, exp_avg_sqs: Tensors, max_exp_avg_sqs: Tensors, state_steps: Tensors; lr: Float = 0.001, beta1: Float = 0.9, beta2: Float = 0.999, weight_decay: Float = 0.01, eps: Float = 1e-8, amsgrad: Bool = false, maximize: Bool = false) -> Vec<Tensor> {
        run: adam("_fused_adamw_", true, &Moments { params, grads, means: exp_avgs, squares: exp_avg_sqs, largest: max_exp_avg_sqs, steps: state_steps },
            &Rates { lr: *lr, beta1: *beta1, beta2: *beta2, decay: *weight_decay, eps: *eps, amsgrad: *amsgrad, maximize: *maximize }),
        samples: no_samples,
    }
    /// A step of gradient descent, in place. Without momentum `momentum_buffer_list` is empty; in the
    /// first step the buffers become the gradients. Gives the parameters back.
    ///
    /// Raises an error when the lists differ in length, or a parameter cannot be written to.
    fn fused_sgd as _fused_sgd_ (params: Tensors, grads: Tensors, momentum_buffer_list: Tensors; weight_decay: Float = 0.0, momentum: Float = 0.0, lr: Float = 0.001, dampening: Float = 0.0, nesterov: Bool = false, maximize: Bool = false, is_first_step: Bool = false) -> Vec<Tensor> {
        run: sgd(params, grads, momentum_buffer_list, &Descent { lr: *lr, decay: *weight_decay, momentum: *momentum, dampening: *dampening, nesterov: *nesterov, maximize: *maximize, first: *is_first_step }),
        samples: no_samples,
    }
    /// A step of Adagrad (Duchi et al. 2011), in place: `state_sums` are the sums of squared gradients.
    /// `state_steps` count the steps, this one included. Gives the parameters back.
    ///
    /// Raises an error when the lists differ in length, or a parameter cannot be written to.
    fn fused_adagrad as _fused_adagrad_ (params: Tensors, grads: Tensors, state_sums: Tensors, state_steps: Tensors; lr: Float = 0.01, lr_decay: Float = 0.0, weight_decay: Float = 0.0, eps: Float = 1e-10, maximize: Bool = false) -> Vec<Tensor> {
        run: adagrad([params, grads, state_sums, state_steps], [*lr, *lr_decay, *weight_decay, *eps], *maximize),
        samples: no_samples,
    }
}

/// The lists of Adam, one entry a parameter.
struct Moments<'a> {
    params: &'a [Tensor],
    grads: &'a [Tensor],
    means: &'a [Tensor],
    squares: &'a [Tensor],
    largest: &'a [Tensor],
    steps: &'a [Tensor],
}

/// The numbers of Adam.
struct Rates {
    lr: f64,
    beta1: f64,
    beta2: f64,
    decay: f64,
    eps: f64,
    amsgrad: bool,
    maximize: bool,
}

/// Numbers of a step: share of the parameter kept, decay, `1 - beta1`, `beta2`, `1 - beta2`, step
/// size, root of the second correction, eps.
const NUMBERS: usize = 8;

/// What a formula does besides the usual; each choice is a program of its own, so that nothing is
/// computed that changes nothing.
#[derive(Clone, Copy)]
struct Choice {
    /// The gradient changes its sign.
    maximize: bool,
    /// The parameter pulls towards zero.
    decay: bool,
    /// That pull does not enter the gradient.
    decoupled: bool,
}

impl Choice {
    const COUNT: usize = 8;

    fn place(self) -> usize {
        usize::from(self.maximize) + 2 * usize::from(self.decay) + 4 * usize::from(self.decoupled)
    }
    /// The gradient that counts.
    fn gradient(self, p: Scalar, g: Scalar, decay: Scalar) -> Scalar {
        let g = if self.maximize { g * -1.0 } else { g };
        if self.decay && !self.decoupled { g + p * decay } else { g }
    }
    /// What is left of the parameter before the step.
    fn kept(self, p: Scalar, share: Scalar) -> Scalar {
        if self.decay && self.decoupled { p * share } else { p }
    }
}

/// A formula's programs, each traced when first asked for.
struct Choices<const N: usize, const P: usize>([OnceLock<Result<Update<N, P>>>; Choice::COUNT]);

impl<const N: usize, const P: usize> Choices<N, P> {
    const fn new() -> Self {
        Choices([const { OnceLock::new() }; Choice::COUNT])
    }
    fn get<const M: usize>(
        &'static self,
        choice: Choice,
        formula: impl FnOnce(Choice, [Scalar; N], [Scalar; P]) -> [Scalar; M],
    ) -> Result<&'static Update<N, P>> {
        let slot = &self.0[choice.place()];
        slot.get_or_init(|| Update::new(|x, n| formula(choice, x, n))).as_ref().map_err(Clone::clone)
    }
}

/// New parameter (before the division by the root), mean and square.
fn moments(choice: Choice, [p, m, v, g]: [Scalar; 4], n: &[Scalar; NUMBERS]) -> (Scalar, Scalar, Scalar) {
    let g = choice.gradient(p, g, n[1]);
    (choice.kept(p, n[0]), m + (g - m) * n[2], v * n[3] + g * g * n[4])
}

/// Parameter, mean, square, gradient.
static ADAM: Choices<4, NUMBERS> = Choices::new();

fn plain_adam(choice: Choice, x: [Scalar; 4], n: [Scalar; NUMBERS]) -> [Scalar; 3] {
    let (p, m, v) = moments(choice, x, &n);
    [p - m * n[5] / (v.sqrt() / n[6] + n[7]), m, v]
}

/// Parameter, mean, square, largest square, gradient.
static AMSGRAD: Choices<5, NUMBERS> = Choices::new();

fn amsgrad(choice: Choice, [p, m, v, high, g]: [Scalar; 5], n: [Scalar; NUMBERS]) -> [Scalar; 4] {
    let (p, m, v) = moments(choice, [p, m, v, g], &n);
    let high = high.maximum(v);
    [p - m * n[5] / (high.sqrt() / n[6] + n[7]), m, v, high]
}

/// Parameter, gradient; rate, decay.
static SGD: Choices<2, 2> = Choices::new();

fn descent(choice: Choice, [p, g]: [Scalar; 2], [lr, decay]: [Scalar; 2]) -> [Scalar; 1] {
    [p - choice.gradient(p, g, decay) * lr]
}

/// Parameter, direction, gradient; rate, decay, share kept, share taken.
static MOMENTUM: Choices<3, 4> = Choices::new();

fn momentum(choice: Choice, [p, d, g]: [Scalar; 3], [lr, decay, keep, take]: [Scalar; 4]) -> [Scalar; 2] {
    let d = d * keep + choice.gradient(p, g, decay) * take;
    [p - d * lr, d]
}

/// As [`MOMENTUM`], looking ahead by a last number.
static NESTEROV: Choices<3, 5> = Choices::new();

fn nesterov(
    choice: Choice,
    [p, d, g]: [Scalar; 3],
    [lr, decay, keep, take, ahead]: [Scalar; 5],
) -> [Scalar; 2] {
    let g = choice.gradient(p, g, decay);
    let d = d * keep + g * take;
    [p - (g + d * ahead) * lr, d]
}

/// Parameter, sum of squares, gradient; rate, decay, eps.
static ADAGRAD: Choices<3, 3> = Choices::new();

fn sum_of_squares(choice: Choice, [p, sum, g]: [Scalar; 3], [lr, decay, eps]: [Scalar; 3]) -> [Scalar; 2] {
    let g = choice.gradient(p, g, decay);
    let sum = sum + g * g;
    [p - g * lr / (sum.sqrt() + eps), sum]
}

fn same_length(op: &'static str, params: &[Tensor], lists: &[(&str, &[Tensor])]) -> Result<()> {
    for (name, list) in lists {
        ensure!(
            list.len() == params.len(),
            Runtime,
            op,
            "{} parameters need as many {name}, not {}",
            params.len(),
            list.len()
        );
    }
    Ok(())
}

fn adam(op: &'static str, decoupled: bool, lists: &Moments<'_>, o: &Rates) -> Result<Vec<Tensor>> {
    let Moments { params, grads, means, squares, largest, steps } = *lists;
    same_length(
        op,
        params,
        &[("grads", grads), ("exp_avgs", means), ("exp_avg_sqs", squares), ("state_steps", steps)],
    )?;
    if o.amsgrad {
        same_length(op, params, &[("max_exp_avg_sqs", largest)])?;
    }
    let choice = Choice { maximize: o.maximize, decay: o.decay != 0.0, decoupled };
    let (plain, high) = (ADAM.get(choice, plain_adam)?, AMSGRAD.get(choice, amsgrad)?);
    let counts: Vec<f64> = steps.iter().map(|s| Ok(s.item()?.to_f64())).collect::<Result<_>>()?;
    // Nothing is written unless all can be.
    for (k, p) in params.iter().enumerate() {
        match o.amsgrad {
            true => high.check(op, &[p, &means[k], &squares[k], &largest[k], &grads[k]])?,
            false => plain.check(op, &[p, &means[k], &squares[k], &grads[k]])?,
        };
    }
    for (k, p) in params.iter().enumerate() {
        let count = counts[k];
        let (first, second) = (1.0 - o.beta1.powf(count), 1.0 - o.beta2.powf(count));
        let numbers = [
            1.0 - o.lr * o.decay,
            o.decay,
            1.0 - o.beta1,
            o.beta2,
            1.0 - o.beta2,
            o.lr / first,
            second.sqrt(),
            o.eps,
        ];
        match o.amsgrad {
            true => high.apply([p, &means[k], &squares[k], &largest[k], &grads[k]], numbers)?,
            false => plain.apply([p, &means[k], &squares[k], &grads[k]], numbers)?,
        }
    }
    Ok(params.to_vec())
}

/// The numbers of gradient descent.
struct Descent {
    lr: f64,
    decay: f64,
    momentum: f64,
    dampening: f64,
    nesterov: bool,
    maximize: bool,
    first: bool,
}

fn sgd(params: &[Tensor], grads: &[Tensor], buffers: &[Tensor], o: &Descent) -> Result<Vec<Tensor>> {
    let op = "_fused_sgd_";
    same_length(op, params, &[("grads", grads)])?;
    let moving = o.momentum != 0.0;
    if moving {
        same_length(op, params, &[("momentum buffers", buffers)])?;
    }
    let choice = Choice { maximize: o.maximize, decay: o.decay != 0.0, decoupled: false };
    let (keep, take) = if o.first { (0.0, 1.0) } else { (o.momentum, 1.0 - o.dampening) };
    let plain = SGD.get(choice, descent)?;
    for (k, (p, g)) in params.iter().zip(grads).enumerate() {
        match moving {
            true => MOMENTUM.get(choice, momentum)?.check(op, &[p, &buffers[k], g])?,
            false => plain.check(op, &[p, g])?,
        };
    }
    for (k, (p, g)) in params.iter().zip(grads).enumerate() {
        if !moving {
            plain.apply([p, g], [o.lr, o.decay])?;
            continue;
        }
        let direction = &buffers[k];
        if o.first {
            // What a fresh buffer holds does not count, NaN times 0 would.
            crate::exec::fill(direction, crate::Number::Int(0))?;
        }
        let numbers = [o.lr, o.decay, keep, take, o.momentum];
        match (o.nesterov, numbers) {
            (true, n) => NESTEROV.get(choice, nesterov)?.apply([p, direction, g], n)?,
            (false, [n @ .., _]) => MOMENTUM.get(choice, momentum)?.apply([p, direction, g], n)?,
        }
    }
    Ok(params.to_vec())
}

fn adagrad(
    [params, grads, sums, steps]: [&[Tensor]; 4],
    [lr, lr_decay, decay, eps]: [f64; 4],
    maximize: bool,
) -> Result<Vec<Tensor>> {
    let op = "_fused_adagrad_";
    same_length(op, params, &[("grads", grads), ("state_sums", sums), ("state_steps", steps)])?;
    let choice = Choice { maximize, decay: decay != 0.0, decoupled: false };
    let update = ADAGRAD.get(choice, sum_of_squares)?;
    let counts: Vec<f64> = steps.iter().map(|s| Ok(s.item()?.to_f64())).collect::<Result<_>>()?;
    for (k, (p, g)) in params.iter().zip(grads).enumerate() {
        update.check(op, &[p, &sums[k], g])?;
    }
    for (k, (p, g)) in params.iter().zip(grads).enumerate() {
        let rate = lr / (1.0 + (counts[k] - 1.0) * lr_decay);
        update.apply([p, &sums[k], g], [rate, decay, eps])?;
    }
    Ok(params.to_vec())
}

/// What they give is what they overwrite: tests of their own look at these.
fn no_samples() -> Vec<Sample> {
    Vec::new()
}
