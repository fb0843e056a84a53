//! Compares derived gradients with finite differences.

use super::{GradOptions, grad, no_grad};
use crate::{DType, Result, Tensor, bail, ensure};

/// Tolerances of [`gradcheck`].
#[derive(Clone, Copy, Debug)]
pub struct GradCheck {
    /// Step of the central difference.
    pub eps: f64,
    /// Absolute tolerance.
    pub atol: f64,
    /// Relative tolerance.
    pub rtol: f64,
}

impl Default for GradCheck {
    fn default() -> Self {
        GradCheck { eps: 1e-6, atol: 1e-5, rtol: 1e-3 }
    }
}

/// Checks the gradients of `f` at `inputs` (those that require grad; float64) against central
/// differences, one random projection of the outputs per input element.
///
/// # Errors
/// `Runtime` naming the input, the element and both values where they differ; `f`'s own.
pub fn gradcheck(
    f: impl Fn(&[Tensor]) -> Result<Vec<Tensor>>,
    inputs: &[Tensor],
    check: GradCheck,
) -> Result<()> {
    for (k, t) in inputs.iter().enumerate().filter(|(_, t)| t.requires_grad()) {
        ensure!(
            t.dtype() == DType::F64,
            Type,
            "gradcheck",
            "input {k} holds {}; finite differences need float64",
            t.dtype()
        );
    }
    let outputs: Vec<Tensor> = f(inputs)?.into_iter().filter(|o| o.dtype() == DType::F64).collect();
    let weights: Result<Vec<Tensor>> = outputs.iter().enumerate().map(|(k, o)| projection(o, k)).collect();
    let weights = weights?;
    let tracked: Vec<usize> = (0..outputs.len()).filter(|k| outputs[*k].requires_grad()).collect();
    let wanted: Vec<usize> = (0..inputs.len()).filter(|k| inputs[*k].requires_grad()).collect();
    let analytic = if tracked.is_empty() {
        vec![None; wanted.len()]
    } else {
        let outs: Vec<&Tensor> = tracked.iter().map(|k| &outputs[*k]).collect();
        let seeds: Vec<Option<Tensor>> = tracked.iter().map(|k| Some(weights[*k].clone())).collect();
        let ins: Vec<&Tensor> = wanted.iter().map(|k| &inputs[*k]).collect();
        grad(&outs, &ins, &seeds, GradOptions { allow_unused: true, ..Default::default() })?
    };
    for (k, analytic) in wanted.into_iter().zip(analytic) {
        let values = inputs[k].detach()?.to_vec::<f64>()?;
        let found = match analytic {
            Some(g) => g.detach()?.to_vec::<f64>()?,
            None => vec![0.0; values.len()],
        };
        for i in 0..values.len() {
            let at = |x: f64| -> Result<f64> {
                let mut moved = values.clone();
                moved[i] = x;
                let mut args = inputs.to_vec();
                args[k] = Tensor::from_vec(moved, inputs[k].shape())?;
                let outs: Vec<Tensor> =
                    no_grad(|| f(&args))?.into_iter().filter(|o| o.dtype() == DType::F64).collect();
                let mut sum = 0.0;
                for (o, w) in outs.iter().zip(&weights) {
                    sum += o.to_vec::<f64>()?.iter().zip(w.to_vec::<f64>()?).map(|(a, b)| a * b).sum::<f64>();
                }
                Ok(sum)
            };
            let numeric = (at(values[i] + check.eps)? - at(values[i] - check.eps)?) / (2.0 * check.eps);
            let difference = (numeric - found[i]).abs();
            if !(difference <= check.atol + check.rtol * numeric.abs()) {
                bail!(
                    Runtime,
                    "gradcheck",
                    "input {k}, element {i}: backward gives {}, finite differences {numeric}",
                    found[i]
                )
            }
        }
    }
    Ok(())
}

/// Checks the gradients of the gradients of `f` in the same way.
///
/// # Errors
/// As [`gradcheck`].
pub fn gradgradcheck(
    f: impl Fn(&[Tensor]) -> Result<Vec<Tensor>>,
    inputs: &[Tensor],
    check: GradCheck,
) -> Result<()> {
    let wanted: Vec<usize> = (0..inputs.len()).filter(|k| inputs[*k].requires_grad()).collect();
    let first = |args: &[Tensor]| -> Result<Vec<Tensor>> {
        super::enable_grad(|| {
            let args: Result<Vec<Tensor>> = args
                .iter()
                .enumerate()
                .map(|(k, t)| {
                    if wanted.contains(&k) && !t.requires_grad() {
                        t.detach()?.requires_grad_(true)
                    } else {
                        Ok(t.clone())
                    }
                })
                .collect();
            let args = args?;
            let outs: Vec<Tensor> =
                f(&args)?.into_iter().filter(|o| o.dtype() == DType::F64 && o.requires_grad()).collect();
            if outs.is_empty() {
                return Ok(Vec::new());
            }
            let seeds: Result<Vec<Option<Tensor>>> =
                outs.iter().enumerate().map(|(k, o)| projection(o, k + 7).map(Some)).collect();
            let ins: Vec<&Tensor> = wanted.iter().map(|k| &args[*k]).collect();
            let options = GradOptions { create_graph: true, materialize_grads: true, ..Default::default() };
            let grads = grad(&outs.iter().collect::<Vec<_>>(), &ins, &seeds?, options)?;
            Ok(grads.into_iter().flatten().collect())
        })
    };
    gradcheck(first, inputs, check)
}

/// Fixed, unequal weights that turn an output into a number.
fn projection(t: &Tensor, salt: usize) -> Result<Tensor> {
    let weight = |i: usize| 0.5 + ((i * 7919 + salt * 104_729 + 13) % 1009) as f64 / 1009.0;
    Tensor::from_vec((0..t.numel()).map(weight).collect(), t.shape())
}
