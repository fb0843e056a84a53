//! Losses. `reduction` is "mean", "sum" or "none", as in torch.

use crate::op::{Sample, Value, samples};
use crate::{DType, Result, Tensor, bail, ensure};
use smallvec::smallvec;

ops! { LOSS;
    /// Minus the log-probability of each target class. `input` holds log-probabilities [N, C, ..] or [C],
    /// `target` class numbers [N, ..]; those equal to `ignore_index` count for nothing.
    fn nll_loss / nll_loss_with (input: Tensor, target: Tensor; weight: OptTensor = None, ignore_index: Int = -100, reduction: Text = "mean") -> Tensor {
        run: super::nll_loss(input, target, weight.as_ref(), *ignore_index, reduction),
        samples: class_samples,
    }
    /// [`Tensor::nll_loss`] of the log-softmax over classes; targets may also be probabilities of
    /// the input's shape. Exact for large inputs.
    fn cross_entropy / cross_entropy_with (input: Tensor, target: Tensor; weight: OptTensor = None, ignore_index: Int = -100, reduction: Text = "mean", label_smoothing: Float = 0.0) -> Tensor {
        run: super::cross_entropy(input, target, weight.as_ref(), *ignore_index, reduction, *label_smoothing),
        samples: cross_samples,
    }
    /// Squared differences.
    fn mse_loss / mse_loss_with (input: Tensor, target: Tensor; reduction: Text = "mean") -> Tensor {
        run: reduced("mse_loss", Tensor::pointwise([input, target], |[x, y]| (x - y).square())?, reduction),
        samples: pair_samples,
    }
    /// Absolute differences.
    fn l1_loss / l1_loss_with (input: Tensor, target: Tensor; reduction: Text = "mean") -> Tensor {
        run: reduced("l1_loss", input.sub(target)?.abs()?, reduction),
        samples: pair_samples,
    }
    /// Squared below `beta`, absolute above, joined smoothly.
    fn smooth_l1_loss / smooth_l1_loss_with (input: Tensor, target: Tensor; reduction: Text = "mean", beta: Float = 1.0) -> Tensor {
        run: smooth_l1(input, target, reduction, *beta),
        samples: smooth_samples,
    }
    /// `delta` times [`Tensor::smooth_l1_loss`].
    fn huber_loss / huber_loss_with (input: Tensor, target: Tensor; reduction: Text = "mean", delta: Float = 1.0) -> Tensor {
        run: { ensure!(*delta > 0.0, Value, "huber_loss", "delta {delta} must be positive"); smooth_l1(input, target, reduction, *delta)?.mul(*delta) },
        samples: smooth_samples,
    }
    /// Cross entropy of probabilities with targets between 0 and 1; logarithms are cut at -100.
    fn binary_cross_entropy / binary_cross_entropy_with (input: Tensor, target: Tensor; weight: OptTensor = None, reduction: Text = "mean") -> Tensor {
        run: bce(input, target, weight.as_ref(), reduction),
        samples: bce_samples,
    }
    /// Cross entropy of the sigmoid of `input` with targets between 0 and 1; exact for large inputs.
    fn binary_cross_entropy_with_logits / binary_cross_entropy_with_logits_with (input: Tensor, target: Tensor; weight: OptTensor = None, reduction: Text = "mean", pos_weight: OptTensor = None) -> Tensor {
        run: bce_logits(input, target, weight.as_ref(), reduction, pos_weight.as_ref()),
        samples: bce_logit_samples,
    }
    /// `target * (log(target) - input)` for log-probabilities `input`; 0 where the target is 0.
    fn kl_div / kl_div_with (input: Tensor, target: Tensor; reduction: Text = "mean") -> Tensor {
        run: super::kl_div(input, target, reduction),
        samples: kl_samples,
    }
}

pub(super) fn reduced(op: &'static str, loss: Tensor, reduction: &str) -> Result<Tensor> {
    match reduction {
        "mean" => loss.mean((), false),
        "sum" => loss.sum((), false),
        "none" => Ok(loss),
        other => bail!(Value, op, "reduction {other:?} is not one of mean, sum, none"),
    }
}

fn nll_loss(
    x: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    ignore: i64,
    reduction: &str,
) -> Result<Tensor> {
    let op = "nll_loss";
    ensure!(x.dim() >= 1, Runtime, op, "the input is a number; it needs a class dimension");
    ensure!(
        target.dtype() == DType::I64,
        Runtime,
        op,
        "targets must be int64 class numbers, not {}",
        target.dtype()
    );
    let axis = usize::from(x.dim() > 1);
    let classes = x.shape()[axis];
    let expected: Vec<usize> =
        x.shape().iter().enumerate().filter(|(d, _)| *d != axis).map(|(_, n)| *n).collect();
    ensure!(
        target.shape() == expected,
        Runtime,
        op,
        "targets of shape {:?} do not fit an input of shape {:?}; {expected:?} would",
        target.shape(),
        x.shape()
    );
    if let Some(w) = weight {
        ensure!(
            w.shape() == [classes],
            Runtime,
            op,
            "weights of shape {:?} for {classes} classes",
            w.shape()
        );
    }
    let target = target.detach()?;
    let kept = target.ne(ignore)?;
    let safe = Tensor::where_cond(&kept, &target, 0)?;
    let inside = safe.ge(0)?.logical_and(&safe.lt(classes as i64)?)?;
    if target.device() != crate::Device::META && target.numel() > 0 {
        let fine = inside.all((), false)?.item()?.to_bool();
        ensure!(
            fine,
            Index,
            op,
            "a target is not between 0 and {classes} (the number of classes) and not ignore_index {ignore}"
        );
    }
    let picked = x.gather(axis as i64, &safe.unsqueeze(axis as i64)?)?.squeeze(axis as i64)?;
    let share = match weight {
        Some(w) => w.index_select(0, &safe.reshape(-1)?)?.reshape(safe.shape())?,
        None => Tensor::ones_with(safe.shape(), Some(x.dtype()), Some(x.device()))?,
    };
    let share = Tensor::where_cond(&kept, &share, 0)?.to_dtype(x.dtype())?;
    // Ignored places give exactly 0, also where the input there is infinite.
    let loss = Tensor::where_cond(&kept, &picked.neg()?.mul(&share)?, 0)?.to_dtype(x.dtype())?;
    match reduction {
        "mean" => loss.sum((), false)?.div(&share.sum((), false)?),
        other => reduced(op, loss, other),
    }
}

fn cross_entropy(
    x: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    ignore: i64,
    reduction: &str,
    smoothing: f64,
) -> Result<Tensor> {
    let op = "cross_entropy";
    ensure!(x.dim() >= 1, Runtime, op, "the input is a number; it needs a class dimension");
    ensure!(
        (0.0..=1.0).contains(&smoothing),
        Runtime,
        op,
        "label_smoothing {smoothing} is not between 0 and 1"
    );
    let axis = i64::from(x.dim() > 1);
    let logs = x.log_softmax(axis)?;
    let classes = x.shape()[axis as usize];
    if target.dtype().is_float() {
        return soft(&logs, target, weight, reduction, smoothing, axis);
    }
    let hard = logs.nll_loss_with(target, weight, ignore, reduction).map_err(|e| e.in_op(op))?;
    if smoothing == 0.0 {
        return Ok(hard);
    }
    // The rest of the weight is spread evenly over all classes.
    let target = target.detach()?;
    let kept = target.ne(ignore)?;
    let column = |w: &Tensor| {
        let mut shape = vec![1i64; x.dim()];
        shape[axis as usize] = classes as i64;
        w.reshape(shape)
    };
    let spread = match weight {
        Some(w) => logs.mul(&column(w)?)?,
        None => logs.clone(),
    };
    let even = Tensor::where_cond(&kept, &spread.sum(axis, false)?.neg()?, 0)?.to_dtype(x.dtype())?;
    let even = match reduction {
        "mean" => {
            let share = match weight {
                Some(w) => {
                    let safe = Tensor::where_cond(&kept, &target, 0)?;
                    let all = w.index_select(0, &safe.reshape(-1)?)?.reshape(safe.shape())?;
                    Tensor::where_cond(&kept, &all, 0)?.sum((), false)?
                }
                None => kept.to_dtype(x.dtype())?.sum((), false)?,
            };
            even.sum((), false)?.div(&share)?
        }
        other => reduced(op, even, other)?,
    };
    hard.mul(1.0 - smoothing)?.add(&even.mul(smoothing / classes as f64)?)
}

/// Targets that are probabilities of every class.
fn soft(
    logs: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: &str,
    smoothing: f64,
    axis: i64,
) -> Result<Tensor> {
    ensure!(
        target.shape() == logs.shape(),
        Runtime,
        "cross_entropy",
        "probabilities of shape {:?} for an input of shape {:?}",
        target.shape(),
        logs.shape()
    );
    let classes = logs.shape()[axis as usize];
    let target = if smoothing > 0.0 {
        target.mul(1.0 - smoothing)?.add(smoothing / classes as f64)?
    } else {
        target.clone()
    };
    let mut loss = logs.mul(&target)?.neg()?;
    if let Some(w) = weight {
        let mut shape = vec![1i64; logs.dim()];
        shape[axis as usize] = classes as i64;
        loss = loss.mul(&w.reshape(shape)?)?;
    }
    let loss = loss.sum(axis, false)?;
    match reduction {
        "mean" => loss.sum((), false)?.div((logs.numel() / classes.max(1)) as f64),
        other => reduced("cross_entropy", loss, other),
    }
}

fn smooth_l1(x: &Tensor, y: &Tensor, reduction: &str, beta: f64) -> Result<Tensor> {
    ensure!(beta >= 0.0, Value, "smooth_l1_loss", "beta {beta} must not be negative");
    let loss = Tensor::pointwise([x, y], |[x, y]| {
        let d = (x - y).abs();
        if beta == 0.0 { d } else { d.lt(beta).select(d * d * (0.5 / beta), d - 0.5 * beta) }
    })?;
    reduced("smooth_l1_loss", loss, reduction)
}

fn weighted(op: &'static str, loss: Tensor, weight: Option<&Tensor>, reduction: &str) -> Result<Tensor> {
    reduced(op, if let Some(w) = weight { loss.mul(w)? } else { loss }, reduction)
}

fn same_shape(op: &'static str, x: &Tensor, y: &Tensor) -> Result<()> {
    ensure!(
        x.shape() == y.shape(),
        Value,
        op,
        "a target of shape {:?} for an input of shape {:?}; they must be equal",
        y.shape(),
        x.shape()
    );
    Ok(())
}

fn bce(x: &Tensor, y: &Tensor, weight: Option<&Tensor>, reduction: &str) -> Result<Tensor> {
    let op = "binary_cross_entropy";
    same_shape(op, x, y)?;
    if x.device() != crate::Device::META && x.numel() > 0 {
        let p = x.detach()?;
        let fine = p.ge(0.0)?.logical_and(&p.le(1.0)?)?.all((), false)?.item()?.to_bool();
        ensure!(
            fine,
            Runtime,
            op,
            "probabilities must lie between 0 and 1; for raw scores there is binary_cross_entropy_with_logits"
        );
    }
    let loss = Tensor::pointwise([x, y], |[x, y]| {
        let (yes, no) = (x.log().maximum(-100.0), (1.0 - x).log().maximum(-100.0));
        -(y * yes + (1.0 - y) * no)
    })?;
    weighted(op, loss, weight, reduction)
}

fn bce_logits(
    x: &Tensor,
    y: &Tensor,
    weight: Option<&Tensor>,
    reduction: &str,
    pos: Option<&Tensor>,
) -> Result<Tensor> {
    let op = "binary_cross_entropy_with_logits";
    same_shape(op, x, y)?;
    // (1 - y) x + (1 + (pos - 1) y) softplus(-x)
    let tail = x.logsigmoid()?.neg()?;
    let loss = match pos {
        Some(p) => {
            let factor = Tensor::pointwise([y, p], |[y, p]| 1.0 + (p - 1.0) * y)?;
            Tensor::pointwise([x, y, &tail, &factor], |[x, y, t, f]| (1.0 - y) * x + f * t)?
        }
        None => Tensor::pointwise([x, y, &tail], |[x, y, t]| (1.0 - y) * x + t)?,
    };
    weighted(op, loss, weight, reduction)
}

fn kl_div(x: &Tensor, y: &Tensor, reduction: &str) -> Result<Tensor> {
    let loss =
        Tensor::pointwise([x, y], |[x, y]| y.le(0.0).select(0.0, y * (y.le(0.0).select(1.0, y).log() - x)))?;
    match reduction {
        "batchmean" => loss.sum((), false)?.div(x.shape().first().copied().unwrap_or(1) as f64),
        other => reduced("kl_div", loss, other),
    }
}

const REDUCTIONS: [&str; 3] = ["mean", "sum", "none"];

fn text(s: &str) -> Value {
    Value::Text(s.to_string())
}

fn classes(rest: impl Fn(&str) -> Vec<Value>) -> Vec<Sample> {
    let mut all = Vec::new();
    let cases: [(&[usize], &[usize]); 3] = [(&[4, 3], &[4]), (&[3], &[]), (&[2, 3, 2], &[2, 2])];
    for (k, (x, t)) in cases.into_iter().enumerate() {
        let (Ok(x), Ok(t)) = (samples::values(x, k), samples::indices(t, 3, k)) else { continue };
        for (r, reduction) in REDUCTIONS.into_iter().enumerate() {
            let weight = if r == 1 { samples::positive(&[3], 2).ok() } else { None };
            let mut args: crate::op::Args = smallvec![
                Value::Tensor(x.clone()),
                Value::Tensor(t.clone()),
                Value::OptTensor(weight),
                Value::Int(if k == 0 { 1 } else { -100 })
            ];
            args.extend(rest(reduction));
            all.push(Sample { args, grad: true });
        }
    }
    all
}
fn class_samples() -> Vec<Sample> {
    classes(|r| vec![text(r)])
}
fn cross_samples() -> Vec<Sample> {
    let mut all = classes(|r| vec![text(r), Value::Float(0.0)]);
    all.extend(classes(|r| vec![text(r), Value::Float(0.1)]));
    all
}

fn pairs(
    target: fn(&[usize], usize) -> Result<Tensor>,
    input: fn(&[usize], usize) -> Result<Tensor>,
    rest: impl Fn(&str) -> Vec<Value>,
) -> Vec<Sample> {
    let mut all = Vec::new();
    for (k, shape) in [&[3, 4][..], &[], &[5]].into_iter().enumerate() {
        let (Ok(x), Ok(y)) = (input(shape, k), target(shape, k + 4)) else { continue };
        for reduction in REDUCTIONS {
            let mut args: crate::op::Args = smallvec![Value::Tensor(x.clone()), Value::Tensor(y.clone())];
            args.extend(rest(reduction));
            all.push(Sample { args, grad: true });
        }
    }
    all
}
/// Values strictly inside (0, 1).
fn probability(shape: &[usize], salt: usize) -> Result<Tensor> {
    samples::unit(shape, salt)?.mul(0.45)?.add(0.5)
}
fn pair_samples() -> Vec<Sample> {
    pairs(samples::values, samples::values, |r| vec![text(r)])
}
fn smooth_samples() -> Vec<Sample> {
    pairs(samples::values, samples::values, |r| vec![text(r), Value::Float(0.7)])
}
fn bce_samples() -> Vec<Sample> {
    pairs(probability, probability, |r| vec![Value::OptTensor(None), text(r)])
}
fn bce_logit_samples() -> Vec<Sample> {
    pairs(probability, samples::values, |r| {
        vec![Value::OptTensor(None), text(r), Value::OptTensor(samples::positive(&[], 3).ok())]
    })
}
fn kl_samples() -> Vec<Sample> {
    pairs(probability, samples::values, |r| vec![text(r)])
}
