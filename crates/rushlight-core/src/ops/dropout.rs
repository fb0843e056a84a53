//! Dropout: elements, or whole channels, zeroed at random while training.

use crate::op::Sample;
use crate::random::Generator;
use crate::{DType, Result, Tensor, ensure};

ops! { DROPOUT;
    /// Zeroes elements with probability `p` and scales the others by `1 / (1 - p)`, in training only.
    fn dropout / dropout_with, inplace dropout_ (input: Tensor, p: Float = 0.5, training: Bool = true; generator: OptGenerator = None) -> Tensor {
        run: drop("dropout", input, (*p, *training, false), generator.as_ref()),
        samples: no_samples,
    }
    /// Zeroes whole channels (the first two dimensions of the input name them).
    fn feature_dropout / feature_dropout_with, inplace feature_dropout_ (input: Tensor, p: Float = 0.5, training: Bool = true; generator: OptGenerator = None) -> Tensor {
        run: drop("feature_dropout", input, (*p, *training, true), generator.as_ref()),
        samples: no_samples,
    }
    /// As `dropout`, with elements set and all of them moved so that mean 0 and variance 1 stay under
    /// `selu` (Klambauer et al. 2017).
    fn alpha_dropout / alpha_dropout_with, inplace alpha_dropout_ (input: Tensor, p: Float = 0.5, training: Bool = false; generator: OptGenerator = None) -> Tensor {
        run: alpha("alpha_dropout", input, (*p, *training, false), generator.as_ref()),
        samples: no_samples,
    }
    /// `alpha_dropout` of whole channels.
    fn feature_alpha_dropout / feature_alpha_dropout_with, inplace feature_alpha_dropout_ (input: Tensor, p: Float = 0.5, training: Bool = false; generator: OptGenerator = None) -> Tensor {
        run: alpha("feature_alpha_dropout", input, (*p, *training, true), generator.as_ref()),
        samples: no_samples,
    }
}

/// Whether each element (or channel) stays; `None` where all do.
fn kept(
    op: &'static str,
    x: &Tensor,
    (p, training, channels): (f64, bool, bool),
    generator: Option<&Generator>,
) -> Result<Option<Tensor>> {
    ensure!((0.0..=1.0).contains(&p), Value, op, "the probability {p} is not between 0 and 1");
    if !training || p == 0.0 || x.numel() == 0 {
        return Ok(None);
    }
    let mut shape = x.shape().to_vec();
    if channels {
        ensure!(
            x.dim() >= 2,
            Runtime,
            op,
            "the input has shape {:?}; it needs a batch and channels",
            x.shape()
        );
        shape[2..].fill(1);
    }
    Tensor::rand_with(shape, Some(DType::F32), Some(x.device()), generator)?.ge(p).map(Some)
}

fn drop(
    op: &'static str,
    x: &Tensor,
    how: (f64, bool, bool),
    generator: Option<&Generator>,
) -> Result<Tensor> {
    let Some(keep) = kept(op, x, how, generator)? else { return Ok(x.clone()) };
    let scale = if how.0 == 1.0 { 0.0 } else { 1.0 / (1.0 - how.0) };
    x.mul(&keep.to_dtype(x.dtype())?.mul(scale)?)
}

/// What `selu` tends to far below: minus its scale times its alpha.
const FLOOR: f64 = -1.758_099_340_847_376_6;

fn alpha(
    op: &'static str,
    x: &Tensor,
    how: (f64, bool, bool),
    generator: Option<&Generator>,
) -> Result<Tensor> {
    let Some(keep) = kept(op, x, how, generator)? else { return Ok(x.clone()) };
    let p = how.0;
    if p == 1.0 {
        return x.mul(0.0);
    }
    let a = 1.0 / ((1.0 - p) * (1.0 + p * FLOOR * FLOOR)).sqrt();
    Tensor::where_cond(&keep, x, FLOOR)?.mul(a)?.sub(a * p * FLOOR)
}

fn no_samples() -> Vec<Sample> {
    Vec::new()
}
