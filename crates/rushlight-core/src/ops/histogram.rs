//! Counts of values by bins.

use super::view::one;
use crate::op::{Sample, Size, Value, samples};
use crate::{DType, Device, Number, Result, Tensor, bail, ensure};
use smallvec::smallvec;

ops! { HISTOGRAM;
    /// How often each whole number from 0 on occurs in a vector of them; or with `weights`, the sum
    /// of the weights where it does. As long as the largest asks for, at least `minlength`. int64,
    /// or with weights their dtype (float64 unless they are float32).
    fn bincount (input: Tensor, weights: OptTensor = None, minlength: Int = 0) -> Tensor {
        run: super::bincount(input, weights.as_ref(), *minlength),
        samples: bincount_samples,
    }
    /// How many elements lie in each of `bins` bins of equal width from `min` to `max`, both
    /// inside; the range of the elements themselves when the two are equal.
    fn histc [out] (input: Tensor, bins: Int = 100, min: Number = 0, max: Number = 0) -> Tensor {
        run: super::histc(input, *bins, min.to_f64(), max.to_f64()),
        samples: histc_samples,
    }
    /// The edges of `bins[d]` bins of equal width for each column d of points (the last dimension
    /// holds their coordinates): from `range[2d]` to `range[2d + 1]`, or over the points' own range.
    fn histogram_edges as _histogram_edges (input: Tensor, bins: Size, range: OptTensor = None) -> Vec<Tensor> {
        run: super::histogram_edges(input, bins, range.as_ref()),
        samples: edges_samples,
    }
    /// How many points (the last dimension of `input` holds their coordinates) lie in each bin
    /// between the `edges`, a rising vector for each coordinate; or the sum of their `weight`. A bin
    /// holds its left edge, the last one its right edge too. With `density` the sum over the bins,
    /// times their sizes, is 1.
    fn histogram_in as _histogramdd (input: Tensor, edges: Tensors; weight: OptTensor = None, density: Bool = false) -> Tensor {
        run: super::histogram_in(input, edges, weight.as_ref(), *density),
        samples: in_samples,
    }
}

fn bincount(x: &Tensor, weights: Option<&Tensor>, least: i64) -> Result<Tensor> {
    let op = "bincount";
    let plain = x.dtype().is_integral() && x.dtype() != DType::Bool;
    ensure!(plain, NotImplemented, op, "takes integers, not {}; convert with to_dtype", x.dtype());
    ensure!(
        x.dim() == 1 || x.numel() == 0,
        Runtime,
        op,
        "takes a vector of integers that are not negative, not shape {:?}",
        x.shape()
    );
    ensure!(least >= 0, Runtime, op, "minlength {least} is negative");
    if x.device() == Device::META {
        bail!(Runtime, op, "the values decide the shape of the result, and a meta tensor has none")
    }
    if let Some(w) = weights {
        ensure!(
            w.dim() == 1 && w.numel() == x.numel(),
            Runtime,
            op,
            "weights of shape {:?} must be a vector of one for each of the {} elements",
            w.shape(),
            x.numel()
        );
        ensure!(!w.dtype().is_complex(), NotImplemented, op, "is not defined for weights of {}", w.dtype());
    }
    let x = x.detach()?;
    let mut n = least;
    if x.numel() > 0 {
        let low = x.amin((), false)?.item()?;
        ensure!(low.to_f64() >= 0.0, Runtime, op, "the element {} is negative", low.to_i64());
        let high = x.amax((), false)?.item()?;
        let high = if let Number::UInt(u) = high { i64::try_from(u).ok() } else { Some(high.to_i64()) };
        let Some(need) = high.and_then(|h| h.checked_add(1)) else {
            bail!(Runtime, op, "the largest element asks for more counts than memory holds")
        };
        n = n.max(need);
    }
    let dtype = match weights.map(Tensor::dtype) {
        None => DType::I64,
        Some(DType::F32) => DType::F32,
        Some(_) => DType::F64,
    };
    let values = match weights {
        Some(w) => w.detach()?.to_dtype(dtype)?,
        None => Tensor::scalar_of(Number::Int(1), dtype, x.device())?.expand([x.numel()])?,
    };
    let counts = Tensor::zeros_with([n], Some(dtype), Some(x.device())).map_err(|e| e.in_op(op))?;
    if x.numel() == 0 {
        return Ok(counts);
    }
    counts.index_add_(0, &x.to_dtype(DType::I64)?, &values)
}

/// Smallest and largest element as numbers.
fn range_of(x: &Tensor) -> Result<(f64, f64)> {
    Ok((x.amin((), false)?.item()?.to_f64(), x.amax((), false)?.item()?.to_f64()))
}

fn histc(x: &Tensor, bins: i64, low: f64, high: f64) -> Result<Tensor> {
    let op = "histc";
    ensure!(
        x.dtype().is_float(),
        NotImplemented,
        op,
        "takes floats, not {}; convert with to_dtype",
        x.dtype()
    );
    ensure!(bins > 0, Runtime, op, "{bins} bins; there must be at least one");
    let x = x.detach()?;
    if x.device() == Device::META {
        return Tensor::empty_with([bins], Some(x.dtype()), Some(Device::META));
    }
    let (mut low, mut high) = (low, high);
    if low == high && x.numel() > 0 {
        (low, high) = range_of(&x)?;
    }
    if low == high {
        (low, high) = (low - 1.0, high + 1.0);
    }
    ensure!(low.is_finite() && high.is_finite(), Runtime, op, "the range from {low} to {high} is not finite");
    ensure!(low < high, Runtime, op, "max = {high} must be above min = {low}");
    let counts = Tensor::zeros_with([bins], Some(DType::I64), Some(x.device())).map_err(|e| e.in_op(op))?;
    let inside = x.ge(low)?.logical_and(&x.le(high)?)?;
    // In the dtype itself, halves too, as bins of torch are.
    let kept = x.masked_select(&inside)?;
    let scale = |n: f64| Tensor::scalar_of(Number::Float(n), kept.dtype(), kept.device());
    let width = scale(high)?.sub(&scale(low)?)?;
    let bin = kept.sub(&scale(low)?)?.mul(&scale(bins as f64)?)?.div(&width)?;
    let bin = bin.to_dtype(DType::I64)?.clamp_max(bins - 1)?;
    count(&counts, &bin)?.to_dtype(x.dtype())
}

/// Counts how often each place occurs.
fn count(counts: &Tensor, places: &Tensor) -> Result<Tensor> {
    let one = Tensor::scalar_of(Number::Int(1), counts.dtype(), counts.device())?;
    counts.index_add_(0, places, &one.expand(places.shape())?)
}

fn points(op: &'static str, x: &Tensor) -> Result<Tensor> {
    ensure!(
        matches!(x.dtype(), DType::F32 | DType::F64),
        NotImplemented,
        op,
        "takes float32 or float64, not {}; convert with to_dtype",
        x.dtype()
    );
    ensure!(x.dim() >= 2, Runtime, op, "points need at least 2 dimensions, not shape {:?}", x.shape());
    let rank = *x.shape().last().unwrap_or(&0);
    let count: usize = x.shape()[..x.dim() - 1].iter().product();
    x.detach()?.reshape([count, rank])
}

fn histogram_edges(x: &Tensor, bins: &Size, range: Option<&Tensor>) -> Result<Vec<Tensor>> {
    let op = "histogram";
    let x = points(op, x)?;
    let rank = x.shape()[1];
    ensure!(
        bins.0.len() == rank,
        Runtime,
        op,
        "{} numbers of bins for points of {rank} coordinates",
        bins.0.len()
    );
    for n in &bins.0 {
        ensure!(*n > 0, Runtime, op, "{n} bins; there must be at least one");
    }
    let given = match range {
        Some(t) => {
            ensure!(
                t.numel() == 2 * rank,
                Runtime,
                op,
                "the range needs {} numbers, not {}",
                2 * rank,
                t.numel()
            );
            t.detach()?.to_dtype(DType::F64)?.to_vec::<f64>()?
        }
        None if x.shape()[0] == 0 => [0.0, 1.0].repeat(rank),
        None => {
            let (low, high) =
                (x.amin(0, false)?.to_dtype(DType::F64)?, x.amax(0, false)?.to_dtype(DType::F64)?);
            low.to_vec::<f64>()?.into_iter().zip(high.to_vec::<f64>()?).flat_map(|(a, b)| [a, b]).collect()
        }
    };
    let edges = |(pair, n): (&[f64], &isize)| -> Result<Tensor> {
        let (mut low, mut high) = (pair[0], pair[1]);
        ensure!(
            low.is_finite() && high.is_finite(),
            Runtime,
            op,
            "the range from {low} to {high} is not finite"
        );
        ensure!(low <= high, Runtime, op, "min = {low} is above max = {high}");
        if low == high {
            (low, high) = (low - 0.5, high + 0.5);
        }
        let steps = (*n as i64).saturating_add(1);
        Tensor::linspace_with(low, high, steps, Some(x.dtype()), Some(x.device())).map_err(|e| e.in_op(op))
    };
    given.chunks(2).zip(&bins.0).map(edges).collect()
}

fn histogram_in(x: &Tensor, edges: &[Tensor], weight: Option<&Tensor>, density: bool) -> Result<Tensor> {
    let op = "histogram";
    let flat = points(op, x)?;
    let rank = flat.shape()[1];
    ensure!(
        edges.len() == rank,
        Runtime,
        op,
        "{} vectors of edges for points of {rank} coordinates",
        edges.len()
    );
    for e in edges {
        ensure!(
            e.dim() == 1 && e.numel() > 0 && e.dtype() == x.dtype(),
            Runtime,
            op,
            "edges must be a vector of {}, not of shape {:?} of {}",
            x.dtype(),
            e.shape(),
            e.dtype()
        );
    }
    if let Some(w) = weight {
        ensure!(
            w.shape() == &x.shape()[..x.dim() - 1] && w.dtype() == x.dtype(),
            Runtime,
            op,
            "a weight of shape {:?} of {} must have one {} for each point of shape {:?}",
            w.shape(),
            w.dtype(),
            x.dtype(),
            &x.shape()[..x.dim() - 1]
        );
    }
    let sizes: Vec<usize> = edges.iter().map(|e| e.numel() - 1).collect();
    let total = crate::layout::checked_numel(op, &sizes)?;
    // The place of each point among all bins, and whether it is in any.
    let mut place = Tensor::zeros_with([flat.shape()[0]], Some(DType::I64), Some(x.device()))?;
    let mut inside = Tensor::ones_with([flat.shape()[0]], Some(DType::Bool), Some(x.device()))?;
    for (d, (e, n)) in edges.iter().zip(&sizes).enumerate() {
        let (e, column) = (e.detach()?, flat.select(1, d as i64)?);
        let within = column.ge(&e.select(0, 0)?)?.logical_and(&column.le(&e.select(0, -1)?)?)?;
        inside = inside.logical_and(&within)?;
        let bin = Tensor::searchsorted_with(&e, &column, false, true, "", None)?.sub(1)?;
        place = place.mul(*n as i64)?.add(&bin.clamp_max(*n as i64 - 1)?)?;
    }
    let dtype = if weight.is_some() { x.dtype() } else { DType::I64 };
    let hist = Tensor::zeros_with([total], Some(dtype), Some(x.device())).map_err(|e| e.in_op(op))?;
    if total > 0 && x.device() != Device::META {
        let place = place.masked_select(&inside)?;
        match weight {
            Some(w) => hist.index_add_(0, &place, &w.detach()?.reshape(-1)?.masked_select(&inside)?)?,
            None => count(&hist, &place)?,
        };
    }
    let hist = hist.to_dtype(x.dtype())?.view(sizes)?;
    if !density {
        return Ok(hist);
    }
    let mut hist = hist.div(&hist.sum((), false)?)?;
    for (d, e) in edges.iter().enumerate() {
        let mut shape = vec![1i64; rank];
        shape[d] = -1;
        hist = hist.div(&e.detach()?.diff(1, 0, None, None)?.reshape(shape)?)?;
    }
    Ok(hist)
}

fn bincount_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for (n, least) in [(7usize, 0), (12, 9), (0, 3), (0, 0)] {
        let (Ok(x), Ok(w)) = (samples::indices(&[n], 5, 1), samples::values(&[n], 2)) else { continue };
        for weights in [None, Some(w)] {
            let args = smallvec![Value::Tensor(x.clone()), Value::OptTensor(weights), Value::Int(least)];
            all.push(Sample { args, grad: false });
        }
    }
    all
}

fn without_grad(sample: Option<Sample>) -> Option<Sample> {
    sample.map(|s| Sample { grad: false, ..s })
}

fn histc_samples() -> Vec<Sample> {
    let n = |x: f64| Value::Number(Number::Float(x));
    [
        one(&[3, 7], [Value::Int(5), n(-1.0), n(1.5)]),
        one(&[30], [Value::Int(4), n(0.0), n(0.0)]),
        one(&[0], [Value::Int(3), n(0.0), n(0.0)]),
        one(&[], [Value::Int(3), n(0.0), n(0.0)]),
    ]
    .into_iter()
    .filter_map(without_grad)
    .collect()
}

fn edges_samples() -> Vec<Sample> {
    let range = || Tensor::from_vec(vec![-1.0, 1.0, 0.0, 2.0], [4]).ok();
    [
        one(&[5, 2], [Value::Size([3, 2].into()), Value::OptTensor(range())]),
        one(&[0, 2], [Value::Size([3, 2].into()), Value::OptTensor(None)]),
    ]
    .into_iter()
    .filter_map(without_grad)
    .collect()
}

fn in_samples() -> Vec<Sample> {
    let edges = |n: usize| samples::values(&[n], 7).and_then(|t| t.sort(0, false)).map(|(t, _)| t);
    let mut all = Vec::new();
    for density in [false, true] {
        for (shape, bins) in [(&[9, 2][..], vec![4, 6]), (&[4, 3, 1], vec![8]), (&[5, 1], vec![1])] {
            let list: Vec<Tensor> = bins.into_iter().filter_map(|n| edges(n).ok()).collect();
            for weight in [None, samples::values(&shape[..shape.len() - 1], 3).ok()] {
                let rest = [Value::Tensors(list.clone()), Value::OptTensor(weight), Value::Bool(density)];
                all.extend(without_grad(one(shape, rest)));
            }
        }
    }
    all
}
