//! Bounds on gradients.

use rushlight_core::{Result, Tensor, ensure, no_grad};

/// Scales all gradients by one number so that their common `p`-norm is at most `max_norm`; gives the
/// norm before. A gradient of norm `n` becomes `max_norm / (n + 1e-6)` times itself.
///
/// # Errors
/// `Value` when `max_norm` is negative.
pub fn clip_grad_norm(parameters: &[Tensor], max_norm: f64, p: f64) -> Result<f64> {
    ensure!(max_norm >= 0.0, Value, "clip_grad_norm", "max_norm {max_norm} must not be negative");
    no_grad(|| {
        let grads: Vec<Tensor> = parameters.iter().filter_map(Tensor::grad).collect();
        let mut norms = Vec::with_capacity(grads.len());
        for g in &grads {
            norms.push(g.norm(p, (), false)?.item()?.to_f64());
        }
        let total = total_norm(&norms, p);
        let scale = max_norm / (total + 1e-6);
        // NaN must reach the gradients, so that the caller sees it: `!(scale >= 1)`, not `scale < 1`.
        if scale.is_nan() || scale < 1.0 {
            for g in &grads {
                g.mul_(scale)?;
            }
        }
        Ok(total)
    })
}

/// The norm of a vector of norms.
fn total_norm(norms: &[f64], p: f64) -> f64 {
    let worst = |a: f64, b: f64| if a.is_nan() || a > b { a } else { b };
    if p.is_infinite() {
        return norms.iter().copied().fold(0.0, worst);
    }
    norms.iter().map(|n| n.powf(p)).sum::<f64>().powf(1.0 / p)
}

/// Cuts every element of all gradients to `[-bound, bound]`.
///
/// # Errors
/// `Value` when the bound is negative.
pub fn clip_grad_value(parameters: &[Tensor], bound: f64) -> Result<()> {
    ensure!(bound >= 0.0, Value, "clip_grad_value", "the bound {bound} must not be negative");
    no_grad(|| {
        for g in parameters.iter().filter_map(Tensor::grad) {
            g.clamp_(-bound, bound)?;
        }
        Ok(())
    })
}
