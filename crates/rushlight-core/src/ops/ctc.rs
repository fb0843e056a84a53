//! Connectionist temporal classification (Graves et al. 2006): the forward recursion over the states
//! of all sequences of a batch at once, one step a frame.

use super::loss::reduced;
use crate::op::{Sample, Size, Value, samples};
use crate::{DType, Result, Tensor, bail, ensure};
use smallvec::smallvec;

ops! { CTC;
    /// Minus the log-probability of target sequences, summed over all their alignments.
    ///
    /// `log_probs` [T, N, C] (or [T, C]) are log-probabilities; `targets` [N, S], or all of them one after
    /// the other; lengths are counted per sequence. "mean" divides each loss by its target's length.
    /// The gradient is that of the log-softmax which gave `log_probs`, as torch's.
    fn ctc_loss (log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor, blank: Int = 0, reduction: Text = "mean", zero_infinity: Bool = false) -> Tensor {
        run: {
            let lengths = |t: &Tensor| t.to_dtype(DType::I64)?.reshape([-1])?.to_vec::<i64>();
            ctc(log_probs, targets, (lengths(input_lengths)?, lengths(target_lengths)?), *blank, reduction, *zero_infinity)
        },
        samples: ctc_samples,
    }
    /// As `ctc_loss`, with lists of lengths.
    fn ctc_loss_listed as ctc_loss (log_probs: Tensor, targets: Tensor, input_lengths: Size, target_lengths: Size, blank: Int = 0, reduction: Text = "mean", zero_infinity: Bool = false) -> Tensor {
        run: ctc(log_probs, targets, (counts(input_lengths), counts(target_lengths)), *blank, reduction, *zero_infinity),
        samples: no_samples,
    }
}

fn counts(list: &Size) -> Vec<i64> {
    list.0.iter().map(|n| *n as i64).collect()
}

fn ctc(
    log_probs: &Tensor,
    targets: &Tensor,
    (frames, labels): (Vec<i64>, Vec<i64>),
    blank: i64,
    reduction: &str,
    zero_infinity: bool,
) -> Result<Tensor> {
    let op = "ctc_loss";
    ensure!(
        log_probs.dtype().is_float(),
        Runtime,
        op,
        "log_probs hold {}; they must be floats",
        log_probs.dtype()
    );
    ensure!(
        matches!(targets.dtype(), DType::I64 | DType::I32),
        Runtime,
        op,
        "targets hold {}; they must be int64 or int32",
        targets.dtype()
    );
    let device = log_probs.device();
    let one = log_probs.dim() == 2;
    let lp = if one { log_probs.unsqueeze(1)? } else { log_probs.clone() };
    let [t, n, c] = *lp.shape() else {
        bail!(Runtime, op, "log_probs have shape {:?}; they must be [T, N, C] or [T, C]", log_probs.shape())
    };
    ensure!((0..c as i64).contains(&blank), Runtime, op, "blank {blank} is none of the {c} classes");
    ensure!(
        frames.len() == n && labels.len() == n,
        Runtime,
        op,
        "{} input and {} target lengths for a batch of {n}",
        frames.len(),
        labels.len()
    );
    if let Some(bad) = frames.iter().find(|f| !(0..=t as i64).contains(*f)) {
        bail!(Runtime, op, "an input length of {bad} does not lie between 0 and {t}");
    }
    let states = extended(targets, &labels, n, blank, one)?;
    let alpha = recursion(&lp, &states, &frames)?;
    // The last label and the blank behind it.
    let ends: Vec<i64> = labels.iter().flat_map(|l| [(2 * l - 1).max(0), 2 * l]).collect();
    let ends = Tensor::from_vec(ends, [n, 2])?.to_device(device)?;
    let last = alpha.gather(1, &ends)?;
    let single: Vec<bool> = labels.iter().flat_map(|l| [*l == 0, false]).collect();
    let last =
        Tensor::where_cond(&Tensor::from_vec(single, [n, 2])?.to_device(device)?, f64::NEG_INFINITY, &last)?;
    let mut loss = log_sum(&[last.select(1, 0)?, last.select(1, 1)?])?.neg()?;
    // Worth 0; its gradient makes that of the logarithms one through their softmax.
    if lp.requires_grad() {
        let live = Tensor::arange_with(0, t as i64, 1, None, Some(device))?
            .unsqueeze(1)?
            .lt(&Tensor::from_vec(frames.clone(), [n])?.to_device(device)?)?;
        let p = Tensor::where_cond(&live.unsqueeze(2)?, &lp, f64::NEG_INFINITY)?.exp()?;
        loss = loss.add(&p.sub(&p.detach()?)?.sum([0i64, 2].as_slice(), false)?)?;
    }
    if zero_infinity {
        loss = Tensor::where_cond(&loss.eq(f64::INFINITY)?, 0.0, &loss)?;
    }
    let loss = loss.to_dtype(log_probs.dtype())?;
    if reduction == "mean" {
        let lengths =
            Tensor::from_vec(labels.iter().map(|l| (*l).max(1)).collect(), [n])?.to_device(device)?;
        return loss.div(&lengths.to_dtype(loss.dtype())?)?.mean((), false);
    }
    reduced(op, if one { loss.squeeze(0)? } else { loss }, reduction)
}

/// Labels with blanks between and around them, [N, 2 S + 1]; `skips` says where a state may be entered
/// from two states before.
struct States {
    labels: Tensor,
    skips: Tensor,
    width: usize,
}

fn extended(targets: &Tensor, lengths: &[i64], n: usize, blank: i64, one: bool) -> Result<States> {
    let op = "ctc_loss";
    let list = targets.detach()?.to_dtype(DType::I64)?.contiguous()?.reshape([-1])?.to_vec::<i64>()?;
    let device = targets.device();
    let rows = targets.dim() == 2 || one;
    let stride = if targets.dim() == 2 { targets.shape()[1] } else { list.len() };
    ensure!(
        targets.dim() == 2 && targets.shape()[0] == n || targets.dim() == 1,
        Runtime,
        op,
        "targets of shape {:?} do not go with a batch of {n}",
        targets.shape()
    );
    let longest = lengths.iter().copied().max().unwrap_or(0);
    let (mut start, mut all) = (0usize, Vec::with_capacity(n));
    for (k, len) in lengths.iter().enumerate() {
        let from = if rows { k * stride } else { start };
        let room = if rows { stride } else { list.len().saturating_sub(start) };
        ensure!(
            (0..=room as i64).contains(len),
            Runtime,
            op,
            "a target length of {len} where there are {room} labels"
        );
        all.push(&list[from..from + *len as usize]);
        start += *len as usize;
    }
    let width = 2 * longest as usize + 1;
    let (mut labels, mut skips) = (vec![blank; n * width], vec![false; n * width]);
    for (row, own) in all.iter().enumerate() {
        for (s, label) in own.iter().enumerate() {
            let at = row * width + 2 * s + 1;
            labels[at] = *label;
            skips[at] = s == 0 || own[s - 1] != *label;
        }
    }
    Ok(States {
        labels: Tensor::from_vec(labels, [n, width])?.to_device(device)?,
        skips: Tensor::from_vec(skips, [n, width])?.to_device(device)?,
        width,
    })
}

/// `log(sum(exp(..)))` of a few tensors. Where all are -inf so is the result, and its gradient is 0 instead of
/// the 0/0 of the formula: states that cannot be reached pass nothing on.
fn log_sum(terms: &[Tensor]) -> Result<Tensor> {
    let refs: Vec<&Tensor> = terms.iter().collect();
    let all = Tensor::stack(&refs, 0)?;
    let dead = all.detach()?.amax([0i64].as_slice(), false)?.eq(f64::NEG_INFINITY)?;
    let some = Tensor::where_cond(&dead, 0.0, &all)?.logsumexp(0, false)?;
    Tensor::where_cond(&dead, f64::NEG_INFINITY, &some)
}

/// The log-probability of being in each state [N, W] after each sequence's last frame.
fn recursion(lp: &Tensor, states: &States, frames: &[i64]) -> Result<Tensor> {
    let wide = if lp.dtype().is_half() { lp.to_dtype(DType::F32)? } else { lp.clone() };
    let device = lp.device();
    let (t, n, w) = (lp.shape()[0], lp.shape()[1], states.width);
    let at = states.labels.unsqueeze(0)?.expand([t as i64, n as i64, w as i64])?;
    let emitted = wide.gather(2, &at).map_err(|e| e.in_op("ctc_loss").with_kind(crate::Kind::Runtime))?;
    // Before the first frame: the first blank's place, as if entered from outside.
    let mut first = vec![f64::NEG_INFINITY; n * (w + 2)];
    (0..n).for_each(|k| first[k * (w + 2) + 1] = 0.0);
    let start = Tensor::from_vec(first, [n, w + 2])?.to_device(device)?.to_dtype(wide.dtype())?;
    let never = f64::NEG_INFINITY;
    let lengths = Tensor::from_vec(frames.to_vec(), [n])?.to_device(device)?.unsqueeze(1)?;
    let mut alpha = Tensor::full_as(&start.narrow(1, 2, w as i64)?, crate::Number::Float(never))?;
    let mut before = start;
    for k in 0..t {
        // Columns 0 and 1 stand before the first state.
        let (two, prior) = (before.narrow(1, 0, w as i64)?, before.narrow(1, 1, w as i64)?);
        let two = Tensor::where_cond(&states.skips, &two, never)?;
        let stay = if k == 0 { Tensor::full_as(&two, crate::Number::Float(never))? } else { alpha.clone() };
        let next = log_sum(&[stay, prior, two])?.add(&emitted.select(0, k as i64)?)?;
        alpha = if frames.iter().all(|f| *f > k as i64) {
            next
        } else {
            Tensor::where_cond(&lengths.gt(k as i64)?, &next, &alpha)?
        };
        before = alpha.pad([2, 0], "constant", never)?;
    }
    // A sequence without frames has been nowhere but before its first state.
    if frames.contains(&0) {
        let mut empty = vec![never; n * w];
        (0..n).for_each(|k| empty[k * w] = 0.0);
        let empty = Tensor::from_vec(empty, [n, w])?.to_device(device)?.to_dtype(wide.dtype())?;
        alpha = Tensor::where_cond(&lengths.eq(0)?, &empty, &alpha)?;
    }
    Ok(alpha)
}

fn ctc_samples() -> Vec<Sample> {
    let make = || -> Result<Sample> {
        let lp = samples::values(&[5, 2, 4], 3)?.log_softmax(-1)?;
        let targets = Tensor::from_vec(vec![1i64, 2, 2, 3, 1, 0], [2, 3])?;
        let (frames, lengths) =
            (Tensor::from_vec(vec![5i64, 4], [2])?, Tensor::from_vec(vec![3i64, 2], [2])?);
        let tail = [Value::Int(0), Value::Text("sum".into()), Value::Bool(false)];
        let mut args: crate::op::Args = smallvec![
            Value::Tensor(lp),
            Value::Tensor(targets),
            Value::Tensor(frames),
            Value::Tensor(lengths)
        ];
        args.extend(tail);
        // Its gradient is one through a softmax, not the plain derivative.
        Ok(Sample { args, grad: false })
    };
    make().into_iter().collect()
}

fn no_samples() -> Vec<Sample> {
    Vec::new()
}
