//! Rows of tables by their numbers, one by one or in bags.

use crate::op::{Sample, Value, samples};
use crate::{DType, Kind, Result, Tensor, bail, ensure};
use smallvec::smallvec;

ops! { EMBEDDING;
    /// Rows of `weight` picked by `indices`, which may have any shape. Rows equal to `padding_idx` get
    /// no gradient; with `scale_grad_by_freq` a row's gradient is divided by how often it was picked. The
    /// gradient is dense, also with `sparse`.
    fn embedding_rows as embedding (weight: Tensor, indices: Tensor, padding_idx: Int = -1, scale_grad_by_freq: Bool = false, sparse: Bool = false) -> Tensor {
        run: rows(weight, indices),
        grad: [reads inputs 1; outputs] |cx| {
            let picked = cx.input(1)?.reshape(-1)?.to_dtype(DType::I64)?;
            let (weight, padding) = (cx.info(0)?, *cx.arg::<i64>(2)?);
            let g = cx.grad(0)?;
            let mut g = g.reshape([picked.numel(), weight.shape[1]])?;
            if padding >= 0 {
                g = Tensor::where_cond(&picked.eq(padding)?.unsqueeze(1)?, 0, &g)?;
            }
            if *cx.arg::<bool>(3)? {
                let often = picked.bincount(None, weight.shape[0] as i64)?.index_select(0, &picked)?;
                g = g.div(&often.to_dtype(g.dtype())?.unsqueeze(1)?)?;
            }
            let zeros = Tensor::zeros_with(weight.shape.as_slice(), Some(weight.dtype), Some(weight.device))?;
            Ok(smallvec![Some(zeros.index_add(0, &picked, &g)?), None])
        },
        samples: row_samples,
    }
    /// As `embedding` in `torch.nn.functional`: indices first.
    fn embedding as internal (indices: Tensor, weight: Tensor, padding_idx: OptInt = None) -> Tensor {
        run: padded(indices, weight, *padding_idx),
        samples: embedding_samples,
    }
    /// Scales the picked rows of `weight` whose `norm_type`-norm is above `max_norm` down to it.
    fn embedding_renorm_ (weight: Tensor, indices: Tensor, max_norm: Float, norm_type: Float) -> Tensor {
        run: renorm(weight, indices, *max_norm, *norm_type),
        samples: renorm_samples,
    }
    /// Sums, means or maxima of bags of rows. `indices` are the bags one after the other and `offsets`
    /// where each begins; `mode` is 0 for sums, 1 for means, 2 for maxima. Empty bags give zeros.
    fn embedding_bags as _embedding_bags (weight: Tensor, indices: Tensor, offsets: Tensor, scale_grad_by_freq: Bool = false, mode: Int = 0, per_sample_weights: OptTensor = None, padding_idx: Int = -1) -> Tensor {
        run: bags(weight, indices, offsets, *scale_grad_by_freq, *mode, per_sample_weights.as_ref(), *padding_idx),
        samples: bag_samples,
    }
    /// For each class number a row of zeros with a 1 at its place; int64.
    fn one_hot (input: Tensor, num_classes: Int = -1) -> Tensor {
        run: super::one_hot(input, *num_classes),
        samples: one_hot_samples,
    }
}

fn check(op: &'static str, weight: &Tensor, indices: &Tensor) -> Result<()> {
    let whole = matches!(indices.dtype(), DType::I64 | DType::I32);
    ensure!(whole, Runtime, op, "indices must be int64 or int32, not {}", indices.dtype());
    ensure!(weight.dim() == 2, Runtime, op, "the weight has shape {:?}; it must be a matrix", weight.shape());
    Ok(())
}

fn rows(weight: &Tensor, indices: &Tensor) -> Result<Tensor> {
    let op = "embedding";
    check(op, weight, indices)?;
    let shape: Vec<i64> = indices.shape().iter().chain(&weight.shape()[1..]).map(|n| *n as i64).collect();
    weight
        .index_select(0, &indices.reshape(-1)?.to_dtype(DType::I64)?)
        .map_err(|e| e.in_op(op))?
        .reshape(shape)
}

fn padded(indices: &Tensor, weight: &Tensor, padding: Option<i64>) -> Result<Tensor> {
    let op = "embedding";
    check(op, weight, indices)?;
    let n = weight.shape()[0] as i64;
    let padding = match padding {
        None => -1,
        Some(p) if (-n..n).contains(&p) => (p + n) % n,
        Some(p) => bail!(Index, op, "padding_idx {p} is out of range for {n} rows"),
    };
    Tensor::embedding_rows(weight, indices, padding, false, false)
}

fn renorm(weight: &Tensor, indices: &Tensor, limit: f64, p: f64) -> Result<Tensor> {
    check("embedding_renorm_", weight, indices)?;
    if indices.numel() == 0 {
        return Ok(weight.clone());
    }
    crate::no_grad(|| {
        let picked = indices.reshape(-1)?.to_dtype(DType::I64)?;
        let rows = weight.detach()?.index_select(0, &picked).map_err(|e| e.in_op("embedding_renorm_"))?;
        let norms = rows.norm(p, 1, true)?;
        let scale = Tensor::where_cond(&norms.gt(limit)?, &norms.add(1e-7)?.reciprocal()?.mul(limit)?, 1)?;
        // Rows picked twice get the same values twice.
        weight.index_copy_(0, &picked, &rows.mul(&scale)?)
    })?;
    Ok(weight.clone())
}

#[allow(clippy::too_many_arguments, reason = "torch's arguments")]
fn bags(
    weight: &Tensor,
    indices: &Tensor,
    offsets: &Tensor,
    by_frequency: bool,
    mode: i64,
    factors: Option<&Tensor>,
    padding: i64,
) -> Result<Tensor> {
    let op = "embedding_bag";
    check(op, weight, indices)?;
    ensure!(
        indices.dim() == 1 && offsets.dim() == 1,
        Runtime,
        op,
        "indices and offsets have shapes {:?} and {:?}; both must be vectors",
        indices.shape(),
        offsets.shape()
    );
    ensure!((0..3).contains(&mode), Value, op, "mode {mode} is none of 0, 1 and 2");
    if let Some(f) = factors {
        ensure!(mode == 0, NotImplemented, op, "per_sample_weights go with sums only");
        ensure!(
            f.shape() == indices.shape() && f.dtype() == weight.dtype(),
            Runtime,
            op,
            "per_sample_weights of shape {:?} and {} do not go with indices of shape {:?} and a weight of {}",
            f.shape(),
            f.dtype(),
            indices.shape(),
            weight.dtype()
        );
    }
    let (count, n) = (offsets.numel() as i64, indices.numel() as i64);
    let starts = offsets.to_dtype(DType::I64)?;
    if count > 0 {
        let (first, last) = (starts.select(0, 0)?.item()?.to_i64(), starts.select(0, -1)?.item()?.to_i64());
        ensure!(first == 0, Runtime, op, "the first offset is {first}; it must be 0");
        ensure!(last <= n, Runtime, op, "the last offset {last} is beyond the {n} indices");
    }
    let picked = indices.to_dtype(DType::I64)?;
    let bag = Tensor::bucketize_with(
        &Tensor::arange_with(0, n, 1, None, Some(indices.device()))?,
        &starts,
        false,
        true,
    )?
    .sub(1)?;
    // Padding counts for nothing: it goes to a bag behind the others.
    let bag = if padding >= 0 { Tensor::where_cond(&picked.eq(padding)?, count, &bag)? } else { bag };
    let wide = if weight.dtype().is_half() { DType::F32 } else { weight.dtype() };
    let mut rows = Tensor::embedding_rows(weight, indices, padding, by_frequency, false)
        .map_err(|e| e.in_op(op).with_kind(Kind::Runtime))?
        .to_dtype(wide)?;
    if let Some(f) = factors {
        rows = rows.mul(&f.to_dtype(wide)?.unsqueeze(1)?)?;
    }
    let zeros = Tensor::zeros_with([count + 1, weight.shape()[1] as i64], Some(wide), Some(weight.device()))?;
    let out = match mode {
        2 => zeros.index_reduce_with(0, &bag, &rows, "amax", false)?,
        _ => zeros.index_add(0, &bag, &rows)?,
    };
    let out = if mode == 1 {
        let often = bag.bincount(None, count + 1)?.clamp_min(1)?.to_dtype(wide)?;
        out.div(&often.unsqueeze(1)?)?
    } else {
        out
    };
    out.narrow(0, 0, count)?.contiguous()?.to_dtype(weight.dtype())
}

fn one_hot(x: &Tensor, classes: i64) -> Result<Tensor> {
    ensure!(x.dtype() == DType::I64, Runtime, "one_hot", "class numbers must be int64, not {}", x.dtype());
    let range = if x.numel() == 0 {
        None
    } else {
        Some((x.amin((), false)?.item()?.to_i64(), x.amax((), false)?.item()?.to_i64()))
    };
    ensure!(range.is_none_or(|(low, _)| low >= 0), Runtime, "one_hot", "class numbers must not be negative");
    let n = match (classes, range) {
        (-1, Some((_, high))) => high + 1,
        (n, _) if n > 0 => n,
        _ => bail!(
            Runtime,
            "one_hot",
            "num_classes {classes} must be positive, or -1 to take it from the classes"
        ),
    };
    ensure!(
        range.is_none_or(|(_, high)| high < n),
        Runtime,
        "one_hot",
        "a class is not below num_classes {n}"
    );
    x.unsqueeze(-1)?.eq(&Tensor::arange_with(0, n, 1, None, Some(x.device()))?)?.to_dtype(DType::I64)
}

fn table() -> Option<Value> {
    samples::values(&[5, 3], 1).ok().map(Value::Tensor)
}

fn row_samples() -> Vec<Sample> {
    let make = |shape: &[usize], frequent: bool| {
        let at = Value::Tensor(samples::indices(shape, 5, 2).ok()?);
        let args = smallvec![table()?, at, Value::Int(-1), Value::Bool(frequent), Value::Bool(false)];
        Some(Sample { args, grad: !frequent })
    };
    [make(&[2, 3], false), make(&[], false), make(&[0], false), make(&[7], true)]
        .into_iter()
        .flatten()
        .collect()
}
fn embedding_samples() -> Vec<Sample> {
    [(&[2, 3][..], None), (&[], None), (&[4], Some(1))]
        .into_iter()
        .filter_map(|(shape, padding)| {
            let at = Value::Tensor(samples::indices(shape, 5, 2).ok()?);
            Some(Sample { args: smallvec![at, table()?, Value::OptInt(padding)], grad: padding.is_none() })
        })
        .collect()
}
fn renorm_samples() -> Vec<Sample> {
    let make = || {
        let at = Value::Tensor(samples::indices(&[4], 5, 2).ok()?);
        Some(Sample { args: smallvec![table()?, at, Value::Float(0.5), Value::Float(2.0)], grad: false })
    };
    make().into_iter().collect()
}
fn bag_samples() -> Vec<Sample> {
    let make = |mode: i64, padding: i64| {
        let at = Value::Tensor(samples::indices(&[6], 5, 2).ok()?);
        let starts = Value::Tensor(Tensor::from_vec(vec![0i64, 2, 2], [3]).ok()?);
        let rest = [Value::Bool(false), Value::Int(mode), Value::OptTensor(None), Value::Int(padding)];
        let mut args: crate::op::Args = smallvec![table()?, at, starts];
        args.extend(rest);
        Some(Sample { args, grad: padding < 0 })
    };
    [make(0, -1), make(1, -1), make(2, -1), make(1, 3)].into_iter().flatten().collect()
}
fn one_hot_samples() -> Vec<Sample> {
    [(&[2, 3][..], 6), (&[], 5)]
        .into_iter()
        .filter_map(|(s, n)| {
            let args = smallvec![Value::Tensor(samples::indices(s, 5, 1).ok()?), Value::Int(n)];
            Some(Sample { args, grad: false })
        })
        .collect()
}
