//! Reductions made of others: counts, sums without NaN, several at once, covariances.

use super::reduce::reduction_samples;
use super::view::one;
use crate::op::{Dims, Sample, Value, samples};
use crate::{DType, Device, Number, Result, Tensor, ensure};

ops! { MOMENTS;
    /// How many elements over `dim` (all by default) are not zero: int64. NaN is not zero.
    fn count_nonzero [out] (input: Tensor, dim: Dims = ()) -> Tensor {
        run: input.detach()?.ne(0)?.sum(dim.clone(), false).map_err(|e| e.in_op("count_nonzero")),
        samples: count_samples,
    }
    /// As `sum`, with NaN as 0.
    fn nansum / nansum_with [out] (input: Tensor, dim: Dims = (), keepdim: Bool = false; dtype: OptDType = None) -> Tensor {
        run: super::nansum(input, dim, *keepdim, *dtype),
        samples: reduction_samples,
    }
    /// The mean over `dim` of the elements that are not NaN; NaN where there are none.
    fn nanmean / nanmean_with [out] (input: Tensor, dim: Dims = (), keepdim: Bool = false; dtype: OptDType = None) -> Tensor {
        run: super::nanmean(input, dim, *keepdim, *dtype),
        samples: reduction_samples,
    }
    /// The smallest and the largest element along `dim`, or of all; ties share the gradient, NaN wins.
    fn aminmax / aminmax_with [out] (input: Tensor; dim: OptInt = None, keepdim: Bool = false) -> (Tensor, Tensor) [min max] {
        run: super::aminmax(input, *dim, *keepdim),
        samples: aminmax_samples,
    }
    /// The variance, as `var`, and the mean over `dim`.
    fn var_mean as _var_mean / var_mean_with (input: Tensor, dim: Dims = (); correction: Float = 1.0, keepdim: Bool = false) -> (Tensor, Tensor) [var mean] {
        run: Ok((input.var_with(dim.clone(), *correction, *keepdim)?, input.mean(dim.clone(), *keepdim)?)),
        samples: spread_samples,
    }
    /// The standard deviation, as `std`, and the mean over `dim`.
    fn std_mean as _std_mean / std_mean_with (input: Tensor, dim: Dims = (); correction: Float = 1.0, keepdim: Bool = false) -> (Tensor, Tensor) [std mean] {
        run: Ok((input.std_with(dim.clone(), *correction, *keepdim)?, input.mean(dim.clone(), *keepdim)?)),
        samples: spread_samples,
    }
    /// The covariances of variables (rows) over observations (columns); one row gives its variance.
    /// `fweights` says how often each observation was made, `aweights` how much it counts. Sums are
    /// divided by the weight of all less `correction`.
    fn cov / cov_with (input: Tensor; correction: Int = 1, fweights: OptTensor = None, aweights: OptTensor = None) -> Tensor {
        run: super::cov(input, *correction, fweights.as_ref(), aweights.as_ref()),
        samples: cov_samples,
    }
    /// The correlations of variables (rows) over observations (columns), between -1 and 1.
    fn corrcoef (input: Tensor) -> Tensor {
        run: super::corrcoef(input),
        samples: corr_samples,
    }
}

fn nansum(x: &Tensor, dim: &Dims, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    let op = "nansum";
    ensure!(!x.dtype().is_complex(), NotImplemented, op, "is not defined for {}", x.dtype());
    let x = if x.dtype().is_float() { Tensor::where_cond(&x.isnan()?, 0, x)? } else { x.clone() };
    x.sum_with(dim.clone(), keepdim, dtype).map_err(|e| e.in_op(op))
}

fn nanmean(x: &Tensor, dim: &Dims, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    let op = "nanmean";
    ensure!(
        x.dtype().is_differentiable(),
        Runtime,
        op,
        "takes floats or complex numbers, not {}; convert with to_dtype",
        x.dtype()
    );
    let is_number = x.detach()?.eq(&x.detach()?)?;
    let count = is_number.sum(dim.clone(), keepdim)?;
    let sum =
        Tensor::where_cond(&is_number, x, 0)?.to_dtype(x.dtype())?.sum_with(dim.clone(), keepdim, dtype);
    sum.map_err(|e| e.in_op(op))?.div(&count)
}

fn aminmax(x: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<(Tensor, Tensor)> {
    let op = "aminmax";
    ensure!(!x.dtype().is_complex(), Type, op, "complex numbers have no order");
    let dims = dim.map_or(Dims::All, Dims::from);
    let low = x.amin(dims.clone(), keepdim).map_err(|e| e.in_op(op))?;
    Ok((low, x.amax(dims, keepdim).map_err(|e| e.in_op(op))?))
}

/// A tensor without elements that decide anything, or on the meta device.
fn unknown(t: &Tensor) -> bool {
    t.numel() == 0 || t.device() == Device::META
}

fn check_weights(name: &str, w: &Tensor, fits: bool, n: usize) -> Result<()> {
    let op = "cov";
    ensure!(w.dim() <= 1, Runtime, op, "{name} must be a vector, not of shape {:?}", w.shape());
    let kind = if name == "fweights" { "integers" } else { "floats" };
    ensure!(fits, Runtime, op, "{name} must be {kind}, not {}", w.dtype());
    ensure!(w.numel() == n, Runtime, op, "{name} has {} elements for {n} observations", w.numel());
    if !unknown(w) {
        let low = w.detach()?.amin((), false)?.item()?.to_f64();
        ensure!(low >= 0.0, Runtime, op, "{name} must not be negative, found {low}");
    }
    Ok(())
}

fn cov(x: &Tensor, correction: i64, times: Option<&Tensor>, worth: Option<&Tensor>) -> Result<Tensor> {
    let op = "cov";
    ensure!(x.dim() <= 2, Runtime, op, "takes at most 2 dimensions, not shape {:?}", x.shape());
    ensure!(x.dtype() != DType::Bool, Runtime, op, "is not defined for bool; convert with to_dtype");
    let rows = if x.dim() < 2 { x.reshape([1, -1])? } else { x.clone() };
    let n = rows.shape()[1];
    if let Some(w) = times {
        check_weights("fweights", w, w.dtype().is_integral() && w.dtype() != DType::Bool, n)?;
    }
    if let Some(w) = worth {
        check_weights("aweights", w, w.dtype().is_float(), n)?;
    }
    let weights = match (times, worth) {
        (Some(a), Some(b)) => Some(a.mul(b)?),
        (one, other) => one.or(other).cloned(),
    };
    let total = match &weights {
        Some(w) => {
            let sum = w.sum((), false)?;
            let zero = !unknown(&sum) && sum.detach()?.item()?.to_f64() == 0.0;
            ensure!(!zero, Runtime, op, "the weights sum to 0");
            sum
        }
        None => Tensor::scalar_of(Number::Int(n as i64), DType::I64, x.device())?,
    };
    let weighted = |t: &Tensor| weights.as_ref().map_or(Ok(t.clone()), |w| t.mul(w));
    let mean = weighted(&rows)?.sum(1, false)?.div(&total)?;
    let divisor = match (&weights, worth) {
        (Some(w), Some(worth)) if correction != 0 => {
            total.sub(&w.mul(worth)?.sum((), false)?.mul(correction)?.div(&total)?)?
        }
        _ => total.sub(correction)?,
    };
    // No freedom left: everything is infinite or NaN.
    let divisor = divisor.clamp_min(0)?;
    let away = rows.sub(&mean.unsqueeze(1)?)?;
    let products = away.matmul(&weighted(&away)?.transpose(0, 1)?.conj_physical()?)?;
    products.div(&divisor)?.squeeze(())
}

fn corrcoef(x: &Tensor) -> Result<Tensor> {
    let op = "corrcoef";
    ensure!(x.dim() <= 2, Runtime, op, "takes at most 2 dimensions, not shape {:?}", x.shape());
    let c = cov(x, 1, None, None).map_err(|e| e.in_op(op))?;
    if c.dim() == 0 {
        return c.div(&c);
    }
    let spread = c.diagonal(0, 0, 1)?;
    let spread = if c.dtype().is_complex() { spread.real()?.sqrt()? } else { spread.sqrt()? };
    let c = c.div(&spread.unsqueeze(1)?)?.div(&spread.unsqueeze(0)?)?;
    // Rounding may lead a little outside.
    if c.dtype().is_complex() {
        let part = |t: Tensor| t.clamp_min(-1.0)?.clamp_max(1.0);
        let parts = [part(c.real()?)?, part(c.imag()?)?];
        return Tensor::stack(&[&parts[0], &parts[1]], -1)?.view_as_complex();
    }
    c.clamp_min(-1.0)?.clamp_max(1.0)
}

fn count_samples() -> Vec<Sample> {
    let cases: [(&[usize], Dims); 5] = [
        (&[3, 4], Dims::All),
        (&[3, 4], 0.into()),
        (&[2, 3, 4], [0, -1].into()),
        (&[], Dims::All),
        (&[0, 2], 0.into()),
    ];
    let zeros = |shape: &[usize]| samples::indices(shape, 3, 1).and_then(|t| t.to_dtype(DType::F64));
    let sample = |(shape, dim): (&[usize], Dims)| {
        Some(samples::sample([Value::Tensor(zeros(shape).ok()?), Value::Dims(dim)], false))
    };
    cases.into_iter().filter_map(sample).collect()
}

fn aminmax_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for (shape, dim) in
        [(&[3, 4][..], None), (&[3, 4], Some(0)), (&[2, 3, 4], Some(-2)), (&[], None), (&[], Some(0))]
    {
        for keepdim in [false, true] {
            all.extend(one(shape, [Value::OptInt(dim), Value::Bool(keepdim)]));
        }
    }
    all
}

fn spread_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for (shape, dim) in [(&[3, 4][..], Dims::All), (&[3, 4], 0.into()), (&[2, 3, 4], [0, 2].into())] {
        for (correction, keepdim) in [(1.0, false), (0.0, true)] {
            let rest = [Value::Dims(dim.clone()), Value::Float(correction), Value::Bool(keepdim)];
            all.extend(one(shape, rest));
        }
    }
    all
}

fn cov_samples() -> Vec<Sample> {
    let times = |n: usize| samples::indices(&[n], 3, 1).and_then(|t| t.add(1)).ok();
    let worth = |n: usize| samples::positive(&[n], 2).ok();
    let mut all = Vec::new();
    for (shape, n) in [(&[3, 5][..], 5), (&[6], 6), (&[1, 4], 4)] {
        for (t, w) in [(None, None), (times(n), None), (None, worth(n)), (times(n), worth(n))] {
            for correction in [0, 1] {
                let rest = [Value::Int(correction), Value::OptTensor(t.clone()), Value::OptTensor(w.clone())];
                all.extend(one(shape, rest));
            }
        }
    }
    all
}

fn corr_samples() -> Vec<Sample> {
    // Values at the limits are kinks.
    [&[3, 5][..], &[2, 4], &[4]]
        .into_iter()
        .filter_map(|s| one(s, []))
        .map(|s| Sample { grad: false, ..s })
        .collect()
}
