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

/// Checks the gradients of `f` at `inputs` (those that require grad; float64 or complex128) against
/// central differences, one random projection of the outputs per input element. The gradient of a
/// complex number is `dL/d re + i dL/d im`; both parts are checked.
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
            exact(t),
            Type,
            "gradcheck",
            "input {k} holds {}; finite differences need float64 or complex128",
            t.dtype()
        );
    }
    let outputs: Vec<Tensor> = f(inputs)?.into_iter().filter(exact).collect();
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
        let values = parts(&inputs[k])?;
        let found = match analytic {
            Some(g) => parts(&g)?,
            None => vec![0.0; values.len()],
        };
        for i in 0..values.len() {
            let at = |x: f64| -> Result<f64> {
                let mut moved = values.clone();
                moved[i] = x;
                let mut args = inputs.to_vec();
                args[k] = from_parts(moved, &inputs[k])?;
                let outs: Vec<Tensor> = no_grad(|| f(&args))?.into_iter().filter(exact).collect();
                let mut sum = 0.0;
                for (o, w) in outs.iter().zip(&weights) {
                    sum += parts(o)?.iter().zip(parts(w)?).map(|(a, b)| a * b).sum::<f64>();
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
            let outs: Vec<Tensor> = f(&args)?.into_iter().filter(|o| exact(o) && o.requires_grad()).collect();
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

/// Whether differences of its values can be told from rounding.
fn exact(t: &Tensor) -> bool {
    matches!(t.dtype(), DType::F64 | DType::C128)
}

/// The values as real numbers: of a complex number both parts.
fn parts(t: &Tensor) -> Result<Vec<f64>> {
    let t = t.detach()?;
    if t.dtype().is_complex() { t.view_as_real()?.to_vec() } else { t.to_vec() }
}

/// The other way round, in the shape and dtype of `like`.
fn from_parts(values: Vec<f64>, like: &Tensor) -> Result<Tensor> {
    if !like.dtype().is_complex() {
        return Tensor::from_vec(values, like.shape());
    }
    let pairs: Vec<usize> = like.shape().iter().copied().chain([2]).collect();
    Tensor::from_vec(values, pairs)?.view_as_complex()
}

/// Fixed, unequal weights that turn an output into a number.
fn projection(t: &Tensor, salt: usize) -> Result<Tensor> {
    let weight = |i: usize| 0.5 + ((i * 7919 + salt * 104_729 + 13) % 1009) as f64 / 1009.0;
    let count = if t.dtype().is_complex() { 2 * t.numel() } else { t.numel() };
    from_parts((0..count).map(weight).collect(), t)
}
