//! Normalisation.

use crate::op::{Dims, Sample, Size, Value, samples};
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
    /// Normalises each channel of each element of the batch; `use_input_stats` off takes the running
    /// mean and variance instead, which else move by `momentum` towards those of the batch.
    fn instance_norm (input: Tensor, weight: OptTensor = None, bias: OptTensor = None, running_mean: OptTensor = None, running_var: OptTensor = None,
                      use_input_stats: Bool = true, momentum: Float = 0.1, eps: Float = 1e-5) -> Tensor {
        run: super::instance_norm(input, [running_mean, running_var, weight, bias], *use_input_stats, *momentum, *eps),
        samples: instance_samples,
    }
    /// Divides by `(k + alpha * mean(input^2))^beta`, the mean over `size` channels around each
    /// (Krizhevsky et al. 2012).
    fn local_response_norm (input: Tensor, size: Int, alpha: Float = 1e-4, beta: Float = 0.75, k: Float = 1.0) -> Tensor {
        run: response(input, *size, *alpha, *beta, *k),
        samples: response_samples,
    }
}

/// Rows that give what backward would need as well, under torch's names for them.
pub mod native {
    use super::*;

    ops! { NATIVE;
        /// `layer_norm`, with the mean and the reciprocal deviation it divided by.
        fn native_layer_norm (input: Tensor, normalized_shape: Size, weight: OptTensor, bias: OptTensor, eps: Float) -> (Tensor, Tensor, Tensor) {
            run: {
                let dims = last_dims("native_layer_norm", input, normalized_shape)?;
                let wide = widened(input)?;
                let mean = wide.mean(dims.clone(), true)?;
                let scale = wide.var_with(dims, 0.0, true)?.add(*eps)?.rsqrt()?;
                let y = layer_norm(input, normalized_shape, weight.as_ref(), bias.as_ref(), *eps)?;
                let stat = |t: Tensor| t.detach()?.to_dtype(input.dtype());
                Ok((y, stat(mean)?, stat(scale)?))
            },
            samples: none,
        }
        /// `group_norm` of [N, C, *], with the mean and the reciprocal deviation of each group.
        fn native_group_norm (input: Tensor, weight: OptTensor, bias: OptTensor, n: Int, c: Int, hxw: Int, group: Int, eps: Float) -> (Tensor, Tensor, Tensor) {
            run: {
                let y = group_norm(input, *group, weight.as_ref(), bias.as_ref(), *eps)?;
                let sizes = [*n, *c, *hxw].map(i128::from);
                ensure!(
                    sizes == [input.shape()[0] as i128, input.shape()[1] as i128, sizes[2]]
                        && sizes.iter().product::<i128>() == input.numel() as i128,
                    Runtime,
                    "native_group_norm",
                    "N, C and HxW of {n}, {c} and {hxw} for an input of shape {:?}",
                    input.shape()
                );
                let wide = widened(input)?.reshape([*n, *group, c / group * hxw])?;
                let mean = wide.mean(2, false)?;
                let scale = wide.var_with(2, 0.0, false)?.add(*eps)?.rsqrt()?;
                Ok((y, mean.to_dtype(input.dtype())?, scale.to_dtype(input.dtype())?))
            },
            samples: none,
        }
        /// `batch_norm`, with the batch's mean and reciprocal deviation in training, else nothing.
        fn native_batch_norm (input: Tensor, weight: OptTensor, bias: OptTensor, running_mean: OptTensor, running_var: OptTensor, training: Bool, momentum: Float, eps: Float) -> (Tensor, Tensor, Tensor) {
            run: {
                let y = batch_norm(input, [running_mean, running_var, weight, bias], *training, *momentum, *eps)?;
                let wide = widened(input)?;
                // Halves with single-precision parameters keep single-precision statistics.
                let kept = [weight, running_mean].into_iter().flatten().map(|t| t.dtype()).next();
                let kept = kept.unwrap_or(input.dtype());
                let nothing = || Tensor::zeros_with([0], Some(kept), Some(input.device()));
                let dims: Vec<usize> = (0..input.dim()).filter(|d| *d != 1).collect();
                match *training {
                    false => Ok((y, nothing()?, nothing()?)),
                    true => {
                        let scale = wide.var_with(dims.clone(), 0.0, false)?.add(*eps)?.rsqrt()?;
                        let stat = |t: Tensor| t.detach()?.to_dtype(kept);
                        Ok((y, stat(wide.mean(dims, false)?)?, stat(scale)?))
                    }
                }
            },
            samples: none,
        }
    }

    fn none() -> Vec<Sample> {
        Vec::new()
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
    if x.shape() == [0] {
        return x.copy();
    }
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
            ensure!(
                t.dtype().is_float() && t.device() == x.device(),
                Runtime,
                "batch_norm",
                "{name} holds {} on {}; the input holds {} on {}",
                t.dtype(),
                t.device(),
                x.dtype(),
                x.device()
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

/// Each element of the batch as channels of its own.
fn instance_norm(
    x: &Tensor,
    [mean, var, weight, bias]: [&Option<Tensor>; 4],
    own: bool,
    momentum: f64,
    eps: f64,
) -> Result<Tensor> {
    let op = "instance_norm";
    ensure!(x.dim() >= 2, Runtime, op, "the input has shape {:?}; it needs a batch and channels", x.shape());
    let (n, c) = (x.shape()[0] as i64, x.shape()[1] as i64);
    let each: usize = x.shape()[2..].iter().product();
    ensure!(
        !own || each > 1,
        Value,
        op,
        "shape {:?} has one value for each channel; more are needed",
        x.shape()
    );
    let mut shape: Vec<i64> = vec![1, n * c];
    shape.extend(x.shape()[2..].iter().map(|s| *s as i64));
    let spread = |t: &Option<Tensor>| t.as_ref().map(|t| t.repeat([n])).transpose();
    let (m, v) = (spread(mean)?, spread(var)?);
    let y =
        x.reshape(shape)?.batch_norm_of([&m, &v, &spread(weight)?, &spread(bias)?], own, momentum, eps)?;
    if own {
        crate::no_grad(|| {
            for (running, moved) in [(mean, &m), (var, &v)] {
                if let (Some(r), Some(t)) = (running, moved) {
                    r.copy_(&t.reshape([n, c])?.mean(0, false)?)?;
                }
            }
            Ok::<_, crate::Error>(())
        })?;
    }
    y.reshape(x.shape())
}

impl Tensor {
    fn batch_norm_of(
        &self,
        tensors: [&Option<Tensor>; 4],
        training: bool,
        momentum: f64,
        eps: f64,
    ) -> Result<Tensor> {
        batch_norm(self, tensors, training, momentum, eps).map_err(|e| e.in_op("instance_norm"))
    }
}

fn response(x: &Tensor, size: i64, alpha: f64, beta: f64, k: f64) -> Result<Tensor> {
    let op = "local_response_norm";
    ensure!(
        x.dim() >= 3,
        Value,
        op,
        "the input has shape {:?}; it needs a batch, channels and space",
        x.shape()
    );
    ensure!(size > 0, Value, op, "the size {size} must be positive");
    if x.numel() == 0 {
        return Ok(x.clone());
    }
    let mut room = vec![0i64; 2 * (x.dim() - 2)];
    room.extend([size / 2, (size - 1) / 2]);
    let squares = x.square()?.pad(room, "constant", 0)?;
    let sums = squares.unfold(1, size, 1)?.sum(-1, false)?;
    x.div(&sums.mul(alpha / size as f64)?.add(k)?.pow(beta)?)
}

fn instance_samples() -> Vec<Sample> {
    let make = |shape: &[usize], affine: bool| {
        let extra = |k| if affine { optional(&shape[1..2], k) } else { Value::OptTensor(None) };
        let none = || Value::OptTensor(None);
        Some(Sample {
            args: smallvec![
                tensor(shape, 1)?,
                extra(2),
                extra(3),
                none(),
                none(),
                Value::Bool(true),
                Value::Float(0.1),
                Value::Float(1e-5)
            ],
            grad: true,
        })
    };
    [make(&[2, 3, 4], true), make(&[1, 2, 3, 2], false)].into_iter().flatten().collect()
}

fn response_samples() -> Vec<Sample> {
    [&[2, 5, 3][..], &[1, 4, 2, 2]]
        .into_iter()
        .filter_map(|s| {
            let rest = [Value::Int(3), Value::Float(0.1), Value::Float(0.75), Value::Float(1.0)];
            let mut args: crate::op::Args = smallvec![tensor(s, 1)?];
            args.extend(rest);
            Some(Sample { args, grad: true })
        })
        .collect()
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
