//! Elements by their place in the order: medians, the k-th value, quantiles, the commonest value.
//!
//! A place is found by selection, in linear time; quantiles sort, as several are asked for at once.

use super::super::view::{one, plain_samples};
use super::{axis_len, lines, place_back, ranked};
use crate::grad::{GradCx, Grads};
use crate::op::{Operand, Sample, Value, samples};
use crate::{DType, Number, Result, Tensor, bail, ensure};
use smallvec::smallvec;

ops! { SELECT;
    /// The middle element of all, the lower of two; NaN where one is. Ties share the gradient.
    /// Of no elements it is NaN.
    fn median_all as median (input: Tensor) -> Tensor {
        run: middle_of_all("median", input, false),
        grad: [reads inputs 0; outputs 0] |cx| shared(cx),
        samples: plain_samples,
    }
    /// The middle element along `dim`, the lower of two, and where it is; NaN where one is.
    fn median_dim as median [out] (input: Tensor, dim: Int, keepdim: Bool = false) -> (Tensor, Tensor) {
        run: middle("median", input, *dim, *keepdim, false),
        grad: [reads inputs; outputs 1] |cx| chosen_back(cx, 1, 2),
        samples: dim_samples,
    }
    /// As `median`, over the elements that are not NaN.
    fn nanmedian_all as nanmedian (input: Tensor) -> Tensor {
        run: middle_of_all("nanmedian", input, true),
        grad: [reads inputs 0; outputs 0] |cx| shared(cx),
        samples: plain_samples,
    }
    /// As `median` along `dim`, over the elements that are not NaN; NaN where there are no others.
    fn nanmedian_dim as nanmedian [out] (input: Tensor, dim: Int, keepdim: Bool = false) -> (Tensor, Tensor) {
        run: middle("nanmedian", input, *dim, *keepdim, true),
        grad: [reads inputs; outputs 1] |cx| chosen_back(cx, 1, 2),
        samples: dim_samples,
    }
    /// The `k`-th smallest element along `dim`, counted from 1, and where it is. NaN is the largest.
    ///
    /// ```
    /// # use rushlight::Tensor;
    /// let x = Tensor::from_vec(vec![3f32, 1., 2.], [3])?;
    /// assert_eq!(x.kthvalue(2, 0, false)?.1.to_vec::<i64>()?, [2]);
    /// # Ok::<(), rushlight::Error>(())
    /// ```
    fn kthvalue [out] (input: Tensor, k: Int, dim: Int = -1, keepdim: Bool = false) -> (Tensor, Tensor) {
        run: super::kthvalue(input, *k, *dim, *keepdim),
        grad: [reads inputs; outputs 1] |cx| chosen_back(cx, 2, 3),
        samples: kth_samples,
    }
    /// The commonest element along `dim`, the smallest of several, and where it is last.
    fn mode [out] (input: Tensor, dim: Int = -1, keepdim: Bool = false) -> (Tensor, Tensor) {
        run: super::mode(input, *dim, *keepdim),
        grad: [reads inputs; outputs 1] |cx| chosen_back(cx, 1, 2),
        samples: dim_samples,
    }
    /// The values below which a part `q` (from 0 to 1; a number, or a vector of several, which
    /// become the first dimension) of the elements along `dim` lies. Between two elements
    /// `interpolation` decides: "linear", "lower", "higher", "midpoint" or "nearest". NaN where one is.
    fn quantile / quantile_with [out] (input: Tensor, q: Operand, dim: OptInt = None, keepdim: Bool = false; interpolation: Text = "linear") -> Tensor {
        run: super::quantile("quantile", input, q, *dim, *keepdim, interpolation, false),
        samples: quantile_samples,
    }
    /// As `quantile`, over the elements that are not NaN.
    fn nanquantile / nanquantile_with [out] (input: Tensor, q: Operand, dim: OptInt = None, keepdim: Bool = false; interpolation: Text = "linear") -> Tensor {
        run: super::quantile("nanquantile", input, q, *dim, *keepdim, interpolation, true),
        samples: quantile_samples,
    }
}

fn check_ordered(op: &'static str, x: &Tensor) -> Result<()> {
    ensure!(
        !x.dtype().is_complex() && x.dtype() != DType::Bool,
        NotImplemented,
        op,
        "is not defined for {}; convert with to_dtype",
        x.dtype()
    );
    Ok(())
}

/// The place of the middle along `axis`, one for each line, as an int64 tensor of size 1 there.
/// NaN are the last in order: the first of them is at the count of the others.
fn middle_places(x: &Tensor, axis: i64, skip_nan: bool) -> Result<Tensor> {
    let n = axis_len(x, axis as usize) as i64;
    if !x.dtype().is_float() {
        let mut shape = x.shape().to_vec();
        shape[axis as usize] = 1;
        return Tensor::full_with(shape, (n - 1) / 2, Some(DType::I64), Some(x.device()));
    }
    let nans = x.isnan()?.sum(axis, true)?;
    let others = nans.neg()?.add(n)?;
    if skip_nan {
        return others.sub(1)?.clamp_min(0)?.bitwise_right_shift(1);
    }
    Tensor::where_cond(&nans.gt(0)?, &others, (n - 1) / 2)
}

fn middle(op: &'static str, x: &Tensor, dim: i64, keepdim: bool, skip_nan: bool) -> Result<(Tensor, Tensor)> {
    check_ordered(op, x)?;
    let (line, axis) = lines(op, x, dim)?;
    let places = middle_places(&line, axis, skip_nan)?;
    ranked(op, &line, axis as usize, &places, keepdim && x.dim() > 0)
}

fn middle_of_all(op: &'static str, x: &Tensor, skip_nan: bool) -> Result<Tensor> {
    check_ordered(op, x)?;
    if x.numel() == 0 {
        return Tensor::scalar_of(Number::Float(f64::NAN).cast(x.dtype()), x.dtype(), x.device());
    }
    Ok(middle(op, &x.reshape(-1)?, 0, false, skip_nan)?.0)
}

/// The gradient goes in equal shares to all elements that equal the result.
fn shared(cx: &GradCx<'_>) -> Result<Grads> {
    let (x, y) = (cx.input(0)?, cx.output(0)?.detach()?);
    let equal = x.detach()?.eq(&y)?.logical_or(&x.detach()?.isnan()?.logical_and(&y.isnan()?)?)?;
    let hit = equal.to_dtype(x.dtype())?;
    let count = hit.sum((), false)?;
    Ok(smallvec![Some(cx.grad(0)?.div(&count)?.mul(&hit)?)])
}

/// The gradient goes to the elements that were chosen. Arguments `dim` and `keepdim` of the row have
/// those positions.
fn chosen_back(cx: &GradCx<'_>, dim: usize, keepdim: usize) -> Result<Grads> {
    place_back(cx, *cx.arg::<i64>(dim)?, *cx.arg::<bool>(keepdim)?)
}

fn kthvalue(x: &Tensor, k: i64, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    let op = "kthvalue";
    check_ordered(op, x)?;
    let (line, axis) = lines(op, x, dim)?;
    let n = axis_len(&line, axis as usize) as i64;
    ensure!(
        (1..=n).contains(&k),
        Runtime,
        op,
        "k = {k} is not between 1 and {n}, the size of dimension {dim}"
    );
    let mut shape = line.shape().to_vec();
    shape[axis as usize] = 1;
    let places = Tensor::scalar_of(Number::Int(k - 1), DType::I64, x.device())?.expand(shape)?;
    ranked(op, &line, axis as usize, &places, keepdim && x.dim() > 0)
}

/// The end of the first of the longest runs of equal values in order.
fn mode(x: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    let op = "mode";
    ensure!(!x.dtype().is_complex(), NotImplemented, op, "complex numbers have no order");
    let (line, axis) = lines(op, x, dim)?;
    let n = axis_len(&line, axis as usize) as i64;
    let (sorted, at) = line.detach()?.sort(axis, false)?;
    let mut shape = vec![1i64; line.dim()];
    shape[axis as usize] = n;
    let place = Tensor::arange_with(0, n, 1, None, Some(x.device()))?.view(shape)?;
    // Where each run starts, then how far every element is into its own.
    let other = sorted.narrow(axis, 1, n - 1)?.ne(&sorted.narrow(axis, 0, n - 1)?)?;
    let starts = Tensor::where_cond(&other, &place.narrow(axis, 1, n - 1)?, 0)?;
    let starts = starts.constant_pad_nd(front_margin(line.dim(), axis), 0)?.cummax(axis)?.0;
    let longest = place.sub(&starts)?.argmax(Some(axis), true)?;
    let (values, at) = (sorted.gather(axis, &longest)?, at.gather(axis, &longest)?);
    if keepdim && x.dim() > 0 { Ok((values, at)) } else { Ok((values.squeeze(axis)?, at.squeeze(axis)?)) }
}

/// Margins that add one place in front of dimension `axis`.
fn front_margin(rank: usize, axis: i64) -> Vec<i64> {
    let mut margins = vec![0; 2 * rank];
    margins[2 * (rank - 1 - axis as usize)] = 1;
    margins
}

fn quantile(
    op: &'static str,
    x: &Tensor,
    q: &Operand,
    dim: Option<i64>,
    keepdim: bool,
    interpolation: &str,
    skip_nan: bool,
) -> Result<Tensor> {
    let dtype = x.dtype();
    ensure!(
        matches!(dtype, DType::F32 | DType::F64),
        Runtime,
        op,
        "takes float32 or float64, not {dtype}; convert with to_dtype"
    );
    ensure!(x.numel() > 0, Runtime, op, "shape {:?} has no elements", x.shape());
    let q = match q {
        Operand::Tensor(t) => t.clone(),
        Operand::Number(n) => {
            let q = n.to_f64();
            ensure!((0.0..=1.0).contains(&q), Runtime, op, "q = {q} is not between 0 and 1");
            Tensor::scalar_of(Number::Float(q), dtype, x.device())?
        }
    };
    ensure!(q.dim() <= 1, Runtime, op, "q must be a number or a vector, not of shape {:?}", q.shape());
    ensure!(q.dtype() == dtype, Runtime, op, "q holds {}, the tensor {dtype}; they must be equal", q.dtype());
    crate::exec::common_device(op, [x, &q])?;
    if x.device() != crate::Device::META {
        let inside = q.detach()?.ge(0.0)?.logical_and(&q.detach()?.le(1.0)?)?.all((), false)?;
        ensure!(inside.item()?.to_bool(), Runtime, op, "every q must lie between 0 and 1");
    }
    // Lines along the last dimension.
    let d = dim.map(|d| crate::layout::dim_index(op, d as isize, x.dim())).transpose()?;
    let line = match d {
        Some(d) if x.dim() > 0 => x.movedim(d, -1)?,
        _ => x.reshape(-1)?,
    };
    let last = line.dim() as i64 - 1;
    let n = line.size(-1)? as i64;
    let sorted = line.sort(-1, false)?.0;
    let nans = sorted.detach()?.isnan()?;
    let ranks = if skip_nan {
        let top = nans.logical_not()?.sum(last, true)?.sub(1)?.clamp_min(0)?;
        q.reshape(-1)?.mul(&top.to_dtype(dtype)?)?
    } else {
        let mut shape = vec![1i64; line.dim()];
        shape[last as usize] = -1;
        let ranks = q.reshape(shape)?.mul((n - 1) as f64)?;
        // The last in order is a NaN where there is one.
        let spoilt = nans.any(last, true)?;
        Tensor::where_cond(&spoilt, (n - 1) as f64, &ranks)?.to_dtype(dtype)?
    };
    let ranks = match interpolation {
        "lower" => ranks.floor()?,
        "higher" => ranks.ceil()?,
        "nearest" => ranks.round()?,
        "linear" | "midpoint" => ranks,
        _ => bail!(
            Runtime,
            op,
            "interpolation is \"linear\", \"lower\", \"higher\", \"midpoint\" or \"nearest\", not {interpolation:?}"
        ),
    };
    let below = ranks.detach()?.to_dtype(DType::I64)?;
    let low = sorted.gather(last, &below)?;
    let result = match interpolation {
        "linear" | "midpoint" => {
            let above = ranks.detach()?.ceil()?.to_dtype(DType::I64)?;
            let high = sorted.gather(last, &above)?;
            if interpolation == "midpoint" {
                low.lerp(&high, 0.5)?
            } else {
                low.lerp(&high, &ranks.sub(&below.to_dtype(dtype)?)?)?
            }
        }
        _ => low,
    };
    // The reduced dimension again, with one place, then the quantiles in front.
    let shaped = match d {
        _ if !keepdim => result,
        Some(d) if x.dim() > 0 => result.unsqueeze(d as i64)?,
        _ => result.reshape([vec![1; x.dim()], vec![-1]].concat())?,
    };
    if q.dim() == 0 { shaped.select(-1, 0) } else { shaped.movedim(-1, 0) }
}

fn ties(shape: &[usize], salt: usize) -> Option<Tensor> {
    samples::indices(shape, 3, salt).and_then(|t| t.to_dtype(DType::F64)).ok()
}

fn dim_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for (shape, dim) in [(&[3, 4][..], 1), (&[3, 4], 0), (&[2, 5, 3], -2), (&[6], 0), (&[], 0), (&[0, 3], 1)]
    {
        for keepdim in [false, true] {
            all.extend(one(shape, [Value::Int(dim), Value::Bool(keepdim)]));
        }
    }
    if let Some(x) = ties(&[4, 7], 2) {
        all.push(samples::sample([Value::Tensor(x), Value::Int(1), Value::Bool(false)], false));
    }
    all
}

fn kth_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for (shape, k, dim) in
        [(&[3, 4][..], 2, 1), (&[3, 4], 3, 0), (&[2, 5, 3], 1, -2), (&[6], 6, 0), (&[], 1, 0)]
    {
        for keepdim in [false, true] {
            all.extend(one(shape, [Value::Int(k), Value::Int(dim), Value::Bool(keepdim)]));
        }
    }
    all
}

fn quantile_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    let several = || Tensor::from_vec(vec![0.0, 0.3, 1.0], [3]).map(Operand::Tensor);
    for how in ["linear", "lower", "higher", "midpoint", "nearest"] {
        for (shape, dim, keepdim) in [
            (&[3, 4][..], None, false),
            (&[3, 4], Some(0), true),
            (&[2, 5, 3], Some(-2), false),
            (&[], None, true),
        ] {
            let q = [Ok(Operand::Number(Number::Float(0.37))), several()];
            for q in q.into_iter().flatten() {
                let how = Value::Text(how.into());
                let rest = [Value::Operand(q), Value::OptInt(dim), Value::Bool(keepdim), how];
                // q itself is checked apart: ranks at whole numbers are kinks.
                all.extend(
                    one(shape, rest).map(|s| Sample {
                        grad: matches!(s.args[1], Value::Operand(Operand::Number(_))),
                        ..s
                    }),
                );
            }
        }
    }
    all
}
