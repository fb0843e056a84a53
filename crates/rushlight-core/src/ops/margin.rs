//! Losses of margins, of rankings and of distributions given by their parameters. `reduction` is
//! "mean", "sum" or "none", as in torch.

use super::loss::reduced;
use crate::op::{Sample, Value, samples};
use crate::{DType, Result, Tensor, ensure};
use std::f64::consts::PI;

ops! { MARGIN;
    /// `1 - cos` of the rows of both inputs where the target is 1, `max(0, cos - margin)` where it is -1.
    fn cosine_embedding_loss / cosine_embedding_loss_with (input1: Tensor, input2: Tensor, target: Tensor; margin: Float = 0.0, reduction: Text = "mean") -> Tensor {
        run: cosine_embedding(input1, input2, target, *margin, reduction),
        samples: cosine_samples,
    }
    /// `input` where the target is 1, `max(0, margin - input)` where it is -1.
    fn hinge_embedding_loss / hinge_embedding_loss_with (input: Tensor, target: Tensor; margin: Float = 1.0, reduction: Text = "mean") -> Tensor {
        run: hinge(input, target, *margin, reduction),
        samples: sign_samples,
    }
    /// `max(0, margin - target * (input1 - input2))`.
    fn margin_ranking_loss / margin_ranking_loss_with (input1: Tensor, input2: Tensor, target: Tensor; margin: Float = 0.0, reduction: Text = "mean") -> Tensor {
        run: ranking(input1, input2, target, *margin, reduction),
        samples: ranking_samples,
    }
    /// `log(1 + exp(-target * input))`.
    fn soft_margin_loss / soft_margin_loss_with (input: Tensor, target: Tensor; reduction: Text = "mean") -> Tensor {
        run: reduced("soft_margin_loss", input.mul(target)?.neg()?.softplus(1.0, 50.0)?, reduction),
        samples: soft_samples,
    }
    /// The sum over wrong classes of `max(0, margin - input[target] + input[class])^p`, over the number
    /// of classes. `input` is [N, C] or [C].
    fn multi_margin_loss / multi_margin_loss_with (input: Tensor, target: Tensor; p: Int = 1, margin: Float = 1.0, weight: OptTensor = None, reduction: Text = "mean") -> Tensor {
        run: multi_margin(input, target, *p, *margin, weight.as_ref(), reduction),
        samples: multi_samples,
    }
    /// The sum over pairs of a target class and one that is none of `max(0, 1 - input[target] + input[other])`,
    /// over the number of classes. A row of targets ends at its first negative number.
    fn multilabel_margin_loss / multilabel_margin_loss_with (input: Tensor, target: Tensor; reduction: Text = "mean") -> Tensor {
        run: multilabel(input, target, reduction),
        samples: multilabel_samples,
    }
    /// The mean over classes of the cross entropy of `sigmoid(input)`.
    fn multilabel_soft_margin_loss / multilabel_soft_margin_loss_with (input: Tensor, target: Tensor; weight: OptTensor = None, reduction: Text = "mean") -> Tensor {
        run: multilabel_soft(input, target, weight.as_ref(), reduction),
        samples: multilabel_soft_samples,
    }
    /// `max(0, |anchor - positive|_p - |anchor - negative|_p + margin)`; with `swap` the distance of
    /// positive and negative counts where it is smaller.
    fn triplet_margin_loss / triplet_margin_loss_with (anchor: Tensor, positive: Tensor, negative: Tensor; margin: Float = 1.0, p: Float = 2.0, eps: Float = 1e-6, swap: Bool = false, reduction: Text = "mean") -> Tensor {
        run: triplet([anchor, positive, negative], *margin, *p, *eps, *swap, reduction),
        samples: triplet_samples,
    }
    /// Minus the log-likelihood of `target` under normal distributions of mean `input` and variance `var`.
    fn gaussian_nll_loss / gaussian_nll_loss_with (input: Tensor, target: Tensor, var: Tensor; full: Bool = false, eps: Float = 1e-6, reduction: Text = "mean") -> Tensor {
        run: gaussian(input, target, var, *full, *eps, reduction),
        samples: gaussian_samples,
    }
    /// Minus the log-likelihood of `target` under Poisson distributions of rate `exp(input)`, or `input`.
    fn poisson_nll_loss / poisson_nll_loss_with (input: Tensor, target: Tensor; log_input: Bool = true, full: Bool = false, eps: Float = 1e-8, reduction: Text = "mean") -> Tensor {
        run: poisson(input, target, *log_input, *full, *eps, reduction),
        samples: poisson_samples,
    }
    /// The cosine of the angle between two tensors along `dim`; norms below `eps` count as `eps`.
    fn cosine_similarity (x1: Tensor, x2: Tensor, dim: Int = 1, eps: Float = 1e-8) -> Tensor {
        run: cosine(x1, x2, *dim, *eps),
        samples: similarity_samples,
    }
    /// The `p`-norm of `x1 - x2 + eps` along the last dimension.
    fn pairwise_distance (x1: Tensor, x2: Tensor, p: Float = 2.0, eps: Float = 1e-6, keepdim: Bool = false) -> Tensor {
        run: x1.sub(x2)?.add(*eps)?.norm(*p, -1, *keepdim),
        samples: distance_samples,
    }
    /// `x1 @ weight[k] @ x2 + bias[k]` for each `k`, over the last dimensions.
    fn bilinear (input1: Tensor, input2: Tensor, weight: Tensor, bias: OptTensor = None) -> Tensor {
        run: super::bilinear(input1, input2, weight, bias.as_ref()),
        samples: bilinear_samples,
    }
}

fn hinge(x: &Tensor, target: &Tensor, margin: f64, reduction: &str) -> Result<Tensor> {
    let zero = Tensor::zeros_like(x)?;
    let apart = Tensor::where_cond(&target.ne(1)?, &x.neg()?.add(margin)?.clamp_min(0)?, &zero)?;
    let near = Tensor::where_cond(&target.ne(-1)?, x, &zero)?;
    reduced("hinge_embedding_loss", apart.add(&near)?, reduction)
}

fn cosine_embedding(a: &Tensor, b: &Tensor, target: &Tensor, margin: f64, reduction: &str) -> Result<Tensor> {
    let op = "cosine_embedding_loss";
    ensure!(
        target.dim() <= 1 && a.dim() == target.dim() + 1 && b.dim() == a.dim(),
        Runtime,
        op,
        "inputs of shapes {:?} and {:?} do not go with a target of shape {:?}; they are [N, D], [N, D] and [N]",
        a.shape(),
        b.shape(),
        target.shape()
    );
    let dim = -1i64;
    let eps = 1e-12;
    let dot = a.mul(b)?.sum(dim, false)?;
    let (aa, bb) = (a.mul(a)?.sum(dim, false)?.add(eps)?, b.mul(b)?.sum(dim, false)?.add(eps)?);
    let cos = dot.div(&aa.mul(&bb)?.sqrt()?)?;
    let zero = Tensor::zeros_like(&cos)?;
    let near = Tensor::where_cond(&target.eq(1)?, &cos.neg()?.add(1)?, &zero)?;
    let apart = Tensor::where_cond(&target.eq(-1)?, &cos.sub(margin)?.clamp_min(0)?, &zero)?;
    reduced(op, near.add(&apart)?, reduction)
}

fn ranking(a: &Tensor, b: &Tensor, target: &Tensor, margin: f64, reduction: &str) -> Result<Tensor> {
    let op = "margin_ranking_loss";
    ensure!(
        a.dim() == b.dim() && a.dim() == target.dim(),
        Runtime,
        op,
        "the inputs have shapes {:?} and {:?}, the target {:?}; they must have as many dimensions",
        a.shape(),
        b.shape(),
        target.shape()
    );
    let loss = target.neg()?.mul(&a.sub(b)?)?.add(margin)?.clamp_min(0)?;
    reduced(op, loss, reduction)
}

/// Classes as [N, C] and targets as [N].
fn rows(op: &'static str, x: &Tensor, target: &Tensor, labels: bool) -> Result<(Tensor, Tensor)> {
    let fits = match (x.dim(), labels) {
        (0 | 1, false) => target.numel() == 1,
        (0 | 1, true) => target.dim() <= 1 && target.numel() == x.numel(),
        (2, false) => target.dim() == 1 && target.shape()[0] == x.shape()[0],
        (2, true) => target.shape() == x.shape(),
        _ => false,
    };
    let classes = x.shape().last().copied().unwrap_or(1);
    ensure!(
        fits && classes > 0,
        Runtime,
        op,
        "an input of shape {:?} does not go with a target of shape {:?}",
        x.shape(),
        target.shape()
    );
    ensure!(target.dtype() == DType::I64, Runtime, op, "the target holds {}, not int64", target.dtype());
    let x2 = if x.dim() < 2 { x.reshape([1, -1])? } else { x.clone() };
    let target = match (target.dim() < 2, labels) {
        (true, true) => target.reshape([1, -1])?,
        (true, false) => target.reshape([-1])?,
        (false, _) => target.clone(),
    };
    Ok((x2, target))
}

fn multi_margin(
    x: &Tensor,
    target: &Tensor,
    p: i64,
    margin: f64,
    weight: Option<&Tensor>,
    reduction: &str,
) -> Result<Tensor> {
    let op = "multi_margin_loss";
    ensure!(p == 1 || p == 2, Runtime, op, "p must be 1 or 2, not {p}");
    let (wide, at) = rows(op, x, target, false)?;
    let classes = wide.shape()[1];
    if let Some(w) = weight {
        ensure!(
            w.shape() == [classes],
            Runtime,
            op,
            "the weight has shape {:?}; there are {classes} classes",
            w.shape()
        );
    }
    let at = at.unsqueeze(1)?;
    let own = wide.gather(1, &at).map_err(|e| e.in_op(op).with_kind(crate::Kind::Runtime))?;
    let mut terms = wide.sub(&own)?.add(margin)?.clamp_min(0)?;
    if p == 2 {
        terms = terms.square()?;
    }
    if let Some(w) = weight {
        terms = terms.mul(&w.index_select(0, &at.squeeze(1)?)?.unsqueeze(1)?)?;
    }
    let other = Tensor::arange_with(0, classes as i64, 1, None, Some(x.device()))?.ne(&at)?;
    let loss = Tensor::where_cond(&other, &terms, 0)?.sum(1, false)?.div(classes as f64)?;
    let loss = if x.dim() < 2 { loss.squeeze(0)? } else { loss };
    reduced(op, loss, reduction)
}

fn multilabel(x: &Tensor, target: &Tensor, reduction: &str) -> Result<Tensor> {
    let op = "multilabel_margin_loss";
    let (wide, labels) = rows(op, x, target, true)?;
    let classes = wide.shape()[1] as i64;
    let bad = labels.ge(classes)?.any((), false)?.item()?.to_bool();
    ensure!(!bad, Runtime, op, "a target is not below the number of classes, {classes}");
    // What comes after the first negative number counts for nothing.
    let live = labels.lt(0)?.to_dtype(DType::I64)?.cumsum(1)?.eq(0)?;
    let at = labels.clamp_min(0)?;
    let marks = Tensor::zeros_with(wide.shape(), Some(DType::I64), Some(x.device()))?;
    marks.scatter_add_(1, &at, &live.to_dtype(DType::I64)?)?;
    let other = marks.eq(0)?;
    let own = wide.gather(1, &at)?;
    // [N, target, class]
    let terms = wide.unsqueeze(1)?.sub(&own.unsqueeze(2)?)?.add(1)?.clamp_min(0)?;
    let counted = live.unsqueeze(2)?.logical_and(&other.unsqueeze(1)?)?;
    let loss =
        Tensor::where_cond(&counted, &terms, 0)?.sum([1i64, 2].as_slice(), false)?.div(classes as f64)?;
    let loss = if x.dim() < 2 { loss.squeeze(0)? } else { loss };
    reduced(op, loss, reduction)
}

fn multilabel_soft(x: &Tensor, target: &Tensor, weight: Option<&Tensor>, reduction: &str) -> Result<Tensor> {
    let op = "multilabel_soft_margin_loss";
    let loss =
        x.neg()?.logsigmoid()?.mul(&target.neg()?.add(1)?)?.add(&x.logsigmoid()?.mul(target)?)?.neg()?;
    let loss = match weight {
        Some(w) => loss.mul(w)?,
        None => loss,
    };
    ensure!(loss.dim() > 0, Index, op, "a 0-d input has no dimension of classes");
    let classes = x.shape().last().copied().unwrap_or(1);
    reduced(op, loss.sum(-1, false)?.div(classes as f64)?, reduction)
}

fn triplet(
    [anchor, positive, negative]: [&Tensor; 3],
    margin: f64,
    p: f64,
    eps: f64,
    swap: bool,
    reduction: &str,
) -> Result<Tensor> {
    let op = "triplet_margin_loss";
    ensure!(
        anchor.dim() == positive.dim() && anchor.dim() == negative.dim(),
        Runtime,
        op,
        "anchor, positive and negative have shapes {:?}, {:?} and {:?}; they must have as many dimensions",
        anchor.shape(),
        positive.shape(),
        negative.shape()
    );
    ensure!(margin > 0.0, Value, op, "the margin {margin} must be positive");
    let near = Tensor::pairwise_distance(anchor, positive, p, eps, false)?;
    let mut far = Tensor::pairwise_distance(anchor, negative, p, eps, false)?;
    if swap {
        far = far.minimum(&Tensor::pairwise_distance(positive, negative, p, eps, false)?)?;
    }
    reduced(op, near.sub(&far)?.add(margin)?.clamp_min(0)?, reduction)
}

fn gaussian(
    x: &Tensor,
    target: &Tensor,
    var: &Tensor,
    full: bool,
    eps: f64,
    reduction: &str,
) -> Result<Tensor> {
    let op = "gaussian_nll_loss";
    ensure!(!var.lt(0)?.any((), false)?.item()?.to_bool(), Value, op, "a variance is negative");
    let var = if var.shape() == x.shape() {
        var.clone()
    } else if x.dim() > 0 && var.shape() == &x.shape()[..x.dim() - 1] {
        var.unsqueeze(-1)?
    } else {
        let same = var.dim() == x.dim() && var.shape().iter().zip(x.shape()).all(|(v, n)| v == n || *v == 1);
        ensure!(
            same,
            Value,
            op,
            "a variance of shape {:?} does not fit an input of shape {:?}",
            var.shape(),
            x.shape()
        );
        var.clone()
    };
    // The bound has no gradient, as in torch: values move, the graph does not.
    let held = var.add(&var.detach()?.clamp_min(eps)?.sub(&var.detach()?)?)?;
    let mut loss = held.log()?.add(&x.sub(target)?.square()?.div(&held)?)?.mul(0.5)?;
    if full {
        loss = loss.add(0.5 * (2.0 * PI).ln())?;
    }
    reduced(op, loss, reduction)
}

fn poisson(x: &Tensor, target: &Tensor, log: bool, full: bool, eps: f64, reduction: &str) -> Result<Tensor> {
    let mut loss =
        if log { x.exp()?.sub(&target.mul(x)?)? } else { x.sub(&target.mul(&x.add(eps)?.log()?)?)? };
    if full {
        // Stirling's approximation of log(target!), for targets above 1.
        let stirling =
            target.mul(&target.log()?)?.sub(target)?.add(&target.mul(2.0 * PI)?.log()?.mul(0.5)?)?;
        loss = loss.add(&Tensor::where_cond(&target.gt(1)?, &stirling, 0)?)?;
    }
    reduced("poisson_nll_loss", loss, reduction)
}

fn cosine(a: &Tensor, b: &Tensor, dim: i64, eps: f64) -> Result<Tensor> {
    let op = "cosine_similarity";
    let common =
        crate::op::result_type(&[crate::op::OperandRef::Tensor(a), crate::op::OperandRef::Tensor(b)])?;
    ensure!(common.is_float(), Runtime, op, "takes floats, not {common}");
    let shape = crate::layout::broadcast_shapes(op, &[a.shape(), b.shape()])?;
    let unit = |x: &Tensor| -> Result<Tensor> {
        let x = x.to_dtype(common)?.expand(&*shape)?;
        let norm = x.norm(2.0, dim, true)?;
        // A norm below the bound counts as the bound, but keeps its gradient, as in torch.
        let held = norm.add(&norm.detach()?.clamp_min(eps)?.sub(&norm.detach()?)?)?;
        x.div(&held)
    };
    unit(a)?.mul(&unit(b)?)?.sum(dim, false)
}

fn bilinear(a: &Tensor, b: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
    let op = "bilinear";
    let fits = a.dim() > 0
        && a.dim() == b.dim()
        && a.shape()[..a.dim() - 1] == b.shape()[..b.dim() - 1]
        && weight.dim() == 3
        && weight.shape()[1] == a.shape()[a.dim() - 1]
        && weight.shape()[2] == b.shape()[b.dim() - 1];
    ensure!(
        fits,
        Runtime,
        op,
        "inputs of shapes {:?} and {:?} do not go with a weight of shape {:?}; they are [.., I], [.., J] and [K, I, J]",
        a.shape(),
        b.shape(),
        weight.shape()
    );
    let out = Tensor::einsum("...i,kij,...j->...k", &[a, weight, b])?;
    match bias {
        Some(bias) => out.add(bias),
        None => Ok(out),
    }
}

fn text() -> [Value; 1] {
    [Value::Text("mean".into())]
}

fn sample(tensors: Vec<Result<Tensor>>, rest: Vec<Value>) -> Option<Sample> {
    let mut args = crate::op::Args::new();
    for t in tensors {
        args.push(Value::Tensor(t.ok()?));
    }
    args.extend(rest);
    Some(Sample { args, grad: true })
}

fn values(shape: &[usize], salt: usize) -> Result<Tensor> {
    samples::values(shape, salt)
}
/// 1 and -1 by turns.
fn signs(shape: &[usize]) -> Result<Tensor> {
    Tensor::where_cond(&values(shape, 4)?.gt(0)?, &Tensor::ones_like(&values(shape, 4)?)?, -1.0)
}
fn classes(n: usize, of: usize) -> Result<Tensor> {
    samples::indices(&[n], of, 2)
}

fn all(list: impl IntoIterator<Item = Option<Sample>>) -> Vec<Sample> {
    list.into_iter().flatten().collect()
}
fn cosine_samples() -> Vec<Sample> {
    let rest = || [vec![Value::Float(0.2)], text().to_vec()].concat();
    all([sample(vec![values(&[4, 3], 1), values(&[4, 3], 2), signs(&[4])], rest())])
}
fn sign_samples() -> Vec<Sample> {
    let rest = || [vec![Value::Float(0.7)], text().to_vec()].concat();
    all([&[3, 4][..], &[], &[5]].map(|s| sample(vec![values(s, 1), signs(s)], rest())))
}
fn ranking_samples() -> Vec<Sample> {
    let rest = || [vec![Value::Float(0.3)], text().to_vec()].concat();
    all([&[3, 4][..], &[5]].map(|s| sample(vec![values(s, 1), values(s, 6), signs(s)], rest())))
}
fn soft_samples() -> Vec<Sample> {
    all([&[3, 4][..], &[5]].map(|s| sample(vec![values(s, 1), samples::share(s, 2)], text().to_vec())))
}
fn multilabel_soft_samples() -> Vec<Sample> {
    let rest = || [vec![Value::OptTensor(None)], text().to_vec()].concat();
    all([&[3, 4][..], &[5]].map(|s| sample(vec![values(s, 1), samples::share(s, 2)], rest())))
}
fn multi_samples() -> Vec<Sample> {
    [1, 2]
        .into_iter()
        .filter_map(|p| {
            let rest =
                vec![Value::Int(p), Value::Float(0.9), Value::OptTensor(None), Value::Text("sum".into())];
            sample(vec![values(&[4, 5], 1), classes(4, 5)], rest)
        })
        .collect()
}
fn multilabel_samples() -> Vec<Sample> {
    let labels = Tensor::from_vec(vec![2i64, 0, -1, 1, 1, -1, 0, 2], [2, 4]);
    // Off the kinks, where values are 1 apart.
    let x = values(&[2, 4], 1).and_then(|x| x.mul(0.93));
    all([sample(vec![x, labels], text().to_vec())])
}
fn triplet_samples() -> Vec<Sample> {
    let rest = |swap: bool| {
        let head = vec![Value::Float(1.0), Value::Float(2.0), Value::Float(1e-6), Value::Bool(swap)];
        [head, text().to_vec()].concat()
    };
    let three = || vec![values(&[4, 3], 1), values(&[4, 3], 2), values(&[4, 3], 8)];
    all([sample(three(), rest(false)), sample(three(), rest(true))])
}
fn gaussian_samples() -> Vec<Sample> {
    let rest = |full: bool| [vec![Value::Bool(full), Value::Float(1e-6)], text().to_vec()].concat();
    all([&[4, 3][..], &[4, 1]]
        .map(|s| sample(vec![values(&[4, 3], 1), values(&[4, 3], 2), samples::positive(s, 3)], rest(true))))
}
fn poisson_samples() -> Vec<Sample> {
    let rest = |log: bool, full: bool| {
        [vec![Value::Bool(log), Value::Bool(full), Value::Float(1e-8)], text().to_vec()].concat()
    };
    all([(true, false), (false, true)].map(|(log, full)| {
        sample(vec![samples::positive(&[3, 4], 1), samples::positive(&[3, 4], 5)], rest(log, full))
    }))
}
fn similarity_samples() -> Vec<Sample> {
    let rest = |d| vec![Value::Int(d), Value::Float(1e-8)];
    all([
        sample(vec![values(&[3, 4], 1), values(&[3, 4], 2)], rest(1)),
        sample(vec![values(&[3, 1, 2], 1), values(&[4, 2], 2)], rest(-1)),
    ])
}
fn distance_samples() -> Vec<Sample> {
    let rest = |keep| vec![Value::Float(2.0), Value::Float(1e-6), Value::Bool(keep)];
    all([
        sample(vec![values(&[3, 4], 1), values(&[3, 4], 2)], rest(false)),
        sample(vec![values(&[3, 4], 1), values(&[4], 2)], rest(true)),
    ])
}
fn bilinear_samples() -> Vec<Sample> {
    let make = |bias: bool| {
        let tensors = vec![values(&[2, 3], 1), values(&[2, 4], 2), values(&[5, 3, 4], 3)];
        let bias = bias.then(|| values(&[5], 4).ok()).flatten();
        sample(tensors, vec![Value::OptTensor(bias)])
    };
    all([make(false), make(true)])
}
