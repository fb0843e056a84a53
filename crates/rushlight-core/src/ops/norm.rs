//! Normalisation, dropout and embeddings.

use crate::op::{Dims, Sample, Size, Value, samples};
use crate::random::Generator;
use crate::{DType, Result, Tensor, ensure};
use smallvec::smallvec;

ops! { NORM;
    /// `(input - mean) / sqrt(var + eps) * weight + bias` over the last dimensions, those of `normalized_shape`.
    fn layer_norm (input: Tensor, normalized_shape: Size, weight: OptTensor = None, bias: OptTensor = None, eps: Float = 1e-5) -> Tensor {
        run: super::layer_norm(input, normalized_shape, weight.as_ref(), bias.as_ref(), *eps),
        samples: layer_samples,
    }
    /// `input / sqrt(mean(input^2) + eps) * weight` over the last dimensions.
    fn rms_norm (input: Tensor, normalized_shape: Size, weight: OptTensor = None, eps: OptFloat = None) -> Tensor {
        run: super::rms_norm(input, normalized_shape, weight.as_ref(), *eps),
        samples: rms_samples,
    }
    /// Normalises each channel (dimension 1) over all others: by the batch's own mean and variance
    /// in training, which also move the running ones by `momentum`, else by the running ones.
    fn batch_norm (input: Tensor, running_mean: OptTensor, running_var: OptTensor, weight: OptTensor = None, bias: OptTensor = None,
                   training: Bool = false, momentum: Float = 0.1, eps: Float = 1e-5) -> Tensor {
        run: super::batch_norm(input, [running_mean, running_var, weight, bias], *training, *momentum, *eps),
        samples: batch_samples,
    }
    /// Normalises groups of channels of each element of the batch.
    fn group_norm (input: Tensor, num_groups: Int, weight: OptTensor = None, bias: OptTensor = None, eps: Float = 1e-5) -> Tensor {
        run: super::group_norm(input, *num_groups, weight.as_ref(), bias.as_ref(), *eps),
        samples: group_samples,
    }
    /// Zeroes elements with probability `p` and scales the others by `1 / (1 - p)`, in training only.
    fn dropout / dropout_with (input: Tensor, p: Float = 0.5, training: Bool = true; generator: OptGenerator = None) -> Tensor {
        run: super::dropout(input, *p, *training, generator.as_ref()),
        samples: no_samples,
    }
    /// Rows of `weight` picked by `indices`, which may have any shape. Rows equal to `padding_idx` get no gradient.
    fn embedding (indices: Tensor, weight: Tensor, padding_idx: OptInt = None) -> Tensor {
        run: super::embedding(indices, weight, *padding_idx),
        samples: embedding_samples,
    }
    /// For each class number a row of zeros with a 1 at its place; int64.
    fn one_hot (input: Tensor, num_classes: Int = -1) -> Tensor {
        run: super::one_hot(input, *num_classes),
        samples: one_hot_samples,
    }
}

/// The last dimensions that a shape names.
fn last_dims(op: &'static str, x: &Tensor, shape: &Size) -> Result<Dims> {
    let want = shape.checked(op)?;
    let fits = !want.is_empty() && x.shape().ends_with(&want);
    ensure!(
        fits,
        Runtime,
        op,
        "normalized_shape {:?} is not the end of the input's shape {:?}",
        want.as_slice(),
        x.shape()
    );
    Ok(Dims::from((1..=want.len() as isize).map(|d| -d).collect::<Vec<_>>()))
}

/// Halves compute in f32 and round once at the end.
fn widened(x: &Tensor) -> Result<Tensor> {
    if x.dtype().is_half() { x.to_dtype(DType::F32) } else { Ok(x.clone()) }
}

fn affine(y: Tensor, weight: Option<&Tensor>, bias: Option<&Tensor>) -> Result<Tensor> {
    let y = match weight {
        Some(w) => y.mul(w)?,
        None => y,
    };
    match bias {
        Some(b) => y.add(b),
        None => Ok(y),
    }
}

fn layer_norm(
    x: &Tensor,
    shape: &Size,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    eps: f64,
) -> Result<Tensor> {
    ensure!(x.dtype().is_float(), NotImplemented, "layer_norm", "is not defined for {}", x.dtype());
    let dims = last_dims("layer_norm", x, shape)?;
    let wide = widened(x)?;
    let away = wide.sub(&wide.mean(dims.clone(), true)?)?;
    let scale = away.square()?.mean(dims, true)?.add(eps)?.rsqrt()?;
    affine(away.mul(&scale)?, weight, bias)?.to_dtype(x.dtype())
}

fn rms_norm(x: &Tensor, shape: &Size, weight: Option<&Tensor>, eps: Option<f64>) -> Result<Tensor> {
    ensure!(x.dtype().is_float(), NotImplemented, "rms_norm", "is not defined for {}", x.dtype());
    let dims = last_dims("rms_norm", x, shape)?;
    let wide = widened(x)?;
    let eps = eps.unwrap_or(match x.dtype() {
        DType::F64 => f64::EPSILON,
        DType::F16 => 9.765_625e-4,
        DType::BF16 => 7.812_5e-3,
        _ => f64::from(f32::EPSILON),
    });
    let scale = wide.square()?.mean(dims, true)?.add(eps)?.rsqrt()?;
    affine(wide.mul(&scale)?, weight, None)?.to_dtype(x.dtype())
}

fn batch_norm(
    x: &Tensor,
    [mean, var, weight, bias]: [&Option<Tensor>; 4],
    training: bool,
    momentum: f64,
    eps: f64,
) -> Result<Tensor> {
    ensure!(
        x.dim() >= 2,
        Runtime,
        "batch_norm",
        "the input has shape {:?}; it needs a batch and a channel dimension",
        x.shape()
    );
    ensure!(x.dtype().is_float(), NotImplemented, "batch_norm", "is not defined for {}", x.dtype());
    let channels = x.shape()[1];
    for (name, t) in [("running_mean", mean), ("running_var", var), ("weight", weight), ("bias", bias)] {
        if let Some(t) = t {
            ensure!(
                t.shape() == [channels],
                Runtime,
                "batch_norm",
                "{name} has shape {:?}; the input of shape {:?} has {channels} channels",
                t.shape(),
                x.shape()
            );
        }
    }
    let mut shape = vec![1i64; x.dim()];
    shape[1] = channels as i64;
    let column = |t: &Option<Tensor>| t.as_ref().map(|t| t.reshape(shape.as_slice())).transpose();
    let wide = widened(x)?;
    let (centre, spread) = if training {
        let n = x.numel() / channels.max(1);
        ensure!(
            n > 1,
            Value,
            "batch_norm",
            "training needs more than one value per channel; the input has shape {:?}",
            x.shape()
        );
        let dims: Vec<usize> = (0..x.dim()).filter(|d| *d != 1).collect();
        let (m, v) = (wide.mean(dims.clone(), true)?, wide.var_with(dims, 0.0, true)?);
        crate::no_grad(|| {
            if let Some(r) = mean {
                r.mul_(1.0 - momentum)?.add_(&m.detach()?.reshape([channels])?.mul(momentum)?)?;
            }
            if let Some(r) = var {
                let unbiased = v.detach()?.reshape([channels])?.mul(momentum * n as f64 / (n - 1) as f64)?;
                r.mul_(1.0 - momentum)?.add_(&unbiased)?;
            }
            Ok::<_, crate::Error>(())
        })?;
        (m, v)
    } else {
        let both = column(mean)?.zip(column(var)?);
        let Some(both) = both else {
            crate::bail!(Runtime, "batch_norm", "outside training it needs running_mean and running_var")
        };
        both
    };
    let y = wide.sub(&centre)?.mul(&spread.add(eps)?.rsqrt()?)?;
    affine(y, column(weight)?.as_ref(), column(bias)?.as_ref())?.to_dtype(x.dtype())
}

fn group_norm(
    x: &Tensor,
    groups: i64,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    eps: f64,
) -> Result<Tensor> {
    ensure!(
        x.dim() >= 2,
        Runtime,
        "group_norm",
        "the input has shape {:?}; it needs a batch and a channel dimension",
        x.shape()
    );
    ensure!(x.dtype().is_float(), NotImplemented, "group_norm", "is not defined for {}", x.dtype());
    let channels = x.shape()[1] as i64;
    ensure!(
        groups > 0 && channels % groups == 0,
        Runtime,
        "group_norm",
        "{groups} groups do not divide {channels} channels"
    );
    // Said in full, as -1 has no answer for a batch of none.
    let each = x.shape()[2..].iter().fold(channels / groups, |n, size| n.saturating_mul(*size as i64));
    let wide = widened(x)?.reshape([x.shape()[0] as i64, groups, each])?;
    let away = wide.sub(&wide.mean(2, true)?)?;
    let scale = away.square()?.mean(2, true)?.add(eps)?.rsqrt()?;
    let y = away.mul(&scale)?.reshape(x.shape())?;
    let mut shape = vec![1i64; x.dim()];
    shape[1] = channels;
    let column = |t: Option<&Tensor>| t.map(|t| t.reshape(shape.as_slice())).transpose();
    affine(y, column(weight)?.as_ref(), column(bias)?.as_ref())?.to_dtype(x.dtype())
}

fn dropout(x: &Tensor, p: f64, training: bool, generator: Option<&Generator>) -> Result<Tensor> {
    ensure!((0.0..=1.0).contains(&p), Value, "dropout", "the probability {p} is not between 0 and 1");
    if !training || p == 0.0 {
        return Ok(x.clone());
    }
    let keep = Tensor::rand_with(x.shape(), Some(DType::F32), Some(x.device()), generator)?.ge(p)?;
    let scale = if p == 1.0 { 0.0 } else { 1.0 / (1.0 - p) };
    let mask = keep.to_dtype(x.dtype())?.mul(scale)?;
    x.mul(&mask)
}

fn embedding(indices: &Tensor, weight: &Tensor, padding: Option<i64>) -> Result<Tensor> {
    ensure!(
        weight.dim() == 2,
        Runtime,
        "embedding",
        "the weight has shape {:?}; it must be a matrix",
        weight.shape()
    );
    let whole = matches!(indices.dtype(), DType::I64 | DType::I32);
    ensure!(whole, Runtime, "embedding", "indices must be int64 or int32, not {}", indices.dtype());
    let weight = match padding {
        // The padding row takes part without a gradient: its copy is cut from the graph.
        Some(p) if weight.requires_grad() => {
            let n = weight.shape()[0] as i64;
            ensure!((-n..n).contains(&p), Index, "embedding", "padding_idx {p} is out of range for {n} rows");
            let rows = Tensor::arange_with(0, n, 1, None, Some(weight.device()))?.unsqueeze(1)?;
            Tensor::where_cond(&rows.eq((p + n) % n)?, &weight.detach()?, weight)?
        }
        _ => weight.clone(),
    };
    let shape: Vec<i64> = indices.shape().iter().chain(&weight.shape()[1..]).map(|n| *n as i64).collect();
    weight
        .index_select(0, &indices.reshape(-1)?.to_dtype(DType::I64)?)
        .map_err(|e| e.in_op("embedding"))?
        .reshape(shape)
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
        _ => crate::bail!(
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

fn no_samples() -> Vec<Sample> {
    Vec::new()
}
fn tensor(shape: &[usize], salt: usize) -> Option<Value> {
    samples::values(shape, salt).ok().map(Value::Tensor)
}
fn optional(shape: &[usize], salt: usize) -> Value {
    Value::OptTensor(samples::values(shape, salt).ok())
}
fn layer_samples() -> Vec<Sample> {
    [(&[3, 4][..], &[4][..], true), (&[2, 3, 4], &[3, 4], true), (&[5], &[5], false)]
        .into_iter()
        .filter_map(|(x, n, w)| {
            let extra = |k| if w { optional(n, k) } else { Value::OptTensor(None) };
            Some(Sample {
                args: smallvec![tensor(x, 1)?, Value::Size(n.into()), extra(2), extra(3), Value::Float(1e-5)],
                grad: true,
            })
        })
        .collect()
}
fn rms_samples() -> Vec<Sample> {
    [(&[3, 4][..], &[4][..]), (&[2, 3, 4], &[3, 4])]
        .into_iter()
        .filter_map(|(x, n)| {
            Some(Sample {
                args: smallvec![
                    tensor(x, 1)?,
                    Value::Size(n.into()),
                    optional(n, 2),
                    Value::OptFloat(Some(1e-5))
                ],
                grad: true,
            })
        })
        .collect()
}
fn batch_samples() -> Vec<Sample> {
    [(&[4, 3][..], true), (&[2, 3, 4], true), (&[2, 3, 2, 2], false)]
        .into_iter()
        .filter_map(|(x, training)| {
            let running = |t: Result<Tensor>| {
                Value::OptTensor(if training { None } else { t.and_then(|t| t.to_dtype(DType::F64)).ok() })
            };
            let args = smallvec![
                tensor(x, 1)?,
                running(samples::values(&[3], 4)),
                running(samples::positive(&[3], 5)),
                optional(&[3], 2),
                optional(&[3], 3),
                Value::Bool(training),
                Value::Float(0.1),
                Value::Float(1e-5)
            ];
            Some(Sample { args, grad: true })
        })
        .collect()
}
fn group_samples() -> Vec<Sample> {
    [(&[2, 4, 3][..], 2), (&[2, 4], 4), (&[1, 4, 2, 2], 1)]
        .into_iter()
        .filter_map(|(x, g)| {
            Some(Sample {
                args: smallvec![
                    tensor(x, 1)?,
                    Value::Int(g),
                    optional(&[4], 2),
                    optional(&[4], 3),
                    Value::Float(1e-5)
                ],
                grad: true,
            })
        })
        .collect()
}
fn embedding_samples() -> Vec<Sample> {
    [(&[2, 3][..], None), (&[], None), (&[4], Some(1))]
        .into_iter()
        .filter_map(|(shape, padding)| {
            let at = Value::Tensor(samples::indices(shape, 5, 2).ok()?);
            Some(Sample {
                args: smallvec![at, tensor(&[5, 3], 1)?, Value::OptInt(padding)],
                grad: padding.is_none(),
            })
        })
        .collect()
}
fn one_hot_samples() -> Vec<Sample> {
    [(&[2, 3][..], 6), (&[], 5)]
        .into_iter()
        .filter_map(|(s, n)| {
            Some(Sample {
                args: smallvec![Value::Tensor(samples::indices(s, 5, 1).ok()?), Value::Int(n)],
                grad: false,
            })
        })
        .collect()
}
