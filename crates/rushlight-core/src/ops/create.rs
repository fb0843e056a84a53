//! New tensors: constant, counted and random.

use super::copy::unary_samples_flat as like_samples;
use crate::exec;
use crate::op::{Sample, Size, Value};
use crate::program::{Program, Sort, trace};
use crate::random::{Generator, default_generator};
use crate::{DType, Device, Layout, Number, Result, Tensor, bail, ensure};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_distr::{Distribution, StandardNormal};
use smallvec::smallvec;
use std::sync::LazyLock;

ops! { CREATE;
    /// A tensor of that shape with arbitrary contents.
    fn empty / empty_with [out] (size: Size; dtype: OptDType = None, device: OptDevice = None) -> Tensor {
        run: blank(size, *dtype, *device),
        samples: no_samples,
    }
    /// A tensor of zeros.
    fn zeros / zeros_with [out] (size: Size; dtype: OptDType = None, device: OptDevice = None) -> Tensor {
        run: filled(size, Number::Int(0), Some(dtype.unwrap_or(crate::default_dtype())), *device),
        samples: size_samples,
    }
    /// A tensor of ones.
    fn ones / ones_with [out] (size: Size; dtype: OptDType = None, device: OptDevice = None) -> Tensor {
        run: filled(size, Number::Int(1), Some(dtype.unwrap_or(crate::default_dtype())), *device),
        samples: size_samples,
    }
    /// A tensor full of one number, of the dtype the number suggests unless one is given.
    fn full / full_with [out] (size: Size, fill_value: Number; dtype: OptDType = None, device: OptDevice = None) -> Tensor {
        run: filled(size, *fill_value, *dtype, *device),
        samples: full_samples,
    }
    /// Numbers from `start` (inclusive) to `end` (exclusive) by `step`; int64 when all are integers.
    ///
    /// ```
    /// # use rushlight::Tensor;
    /// assert_eq!(Tensor::arange(0, 5, 2)?.to_vec::<i64>()?, [0, 2, 4]);
    /// assert_eq!(Tensor::arange(0.0, 1.0, 0.1)?.shape(), [10]);
    /// # Ok::<(), rushlight::Error>(())
    /// ```
    fn arange / arange_with [out] (start: Number, end: Number, step: Number = 1; dtype: OptDType = None, device: OptDevice = None) -> Tensor {
        run: super::arange(*start, *end, *step, *dtype, *device),
        samples: arange_samples,
    }
    /// Numbers from 0 to `end` (exclusive) by 1.
    fn arange_to as arange (end: Number; dtype: OptDType = None, device: OptDevice = None) -> Tensor {
        run: super::arange(Number::Int(0), *end, Number::Int(1), *dtype, *device),
        samples: no_samples,
    }
    /// `steps` numbers at equal distances from `start` to `end`, both included.
    fn linspace / linspace_with [out] (start: Number, end: Number, steps: Int; dtype: OptDType = None, device: OptDevice = None) -> Tensor {
        run: super::linspace(*start, *end, *steps, *dtype, *device),
        samples: linspace_samples,
    }
    /// Ones on the diagonal of an `n` by `m` matrix of zeros.
    fn eye / eye_with [out] (n: Int, m: OptInt = None; dtype: OptDType = None, device: OptDevice = None) -> Tensor {
        run: super::eye(*n, *m, *dtype, *device),
        samples: eye_samples,
    }
    /// A tensor like `input`, of zeros, in the same order of dimensions.
    fn zeros_like / zeros_like_with (input: Tensor; dtype: OptDType = None, device: OptDevice = None) -> Tensor {
        run: like(input, *dtype, *device, Number::Int(0)),
        samples: like_samples,
    }
    /// A tensor like `input`, of ones, in the same order of dimensions.
    fn ones_like / ones_like_with (input: Tensor; dtype: OptDType = None, device: OptDevice = None) -> Tensor {
        run: like(input, *dtype, *device, Number::Int(1)),
        samples: like_samples,
    }
    /// A tensor like `input`, full of one number.
    fn full_like / full_like_with (input: Tensor, fill_value: Number; dtype: OptDType = None, device: OptDevice = None) -> Tensor {
        run: like(input, *dtype, *device, *fill_value),
        samples: no_samples,
    }
    /// Uniform numbers in [0, 1).
    fn rand / rand_with [out] (size: Size; dtype: OptDType = None, device: OptDevice = None, generator: OptGenerator = None) -> Tensor {
        run: random("rand", size, *dtype, *device, generator, |rng| rng.random::<f64>()),
        samples: no_samples,
    }
    /// Normally distributed numbers of mean 0 and variance 1.
    fn randn / randn_with [out] (size: Size; dtype: OptDType = None, device: OptDevice = None, generator: OptGenerator = None) -> Tensor {
        run: random("randn", size, *dtype, *device, generator, |rng| StandardNormal.sample(rng)),
        samples: no_samples,
    }
    /// Uniform integers from `low` (inclusive) to `high` (exclusive).
    fn randint / randint_with [out] (low: Int, high: Int, size: Size; dtype: OptDType = None, device: OptDevice = None, generator: OptGenerator = None) -> Tensor {
        run: super::randint(*low, *high, size, *dtype, *device, generator),
        samples: no_samples,
    }
    /// Uniform integers from 0 to `high` (exclusive).
    fn randint_to as randint (high: Int, size: Size; dtype: OptDType = None, device: OptDevice = None, generator: OptGenerator = None) -> Tensor {
        run: super::randint(0, *high, size, *dtype, *device, generator),
        samples: no_samples,
    }
    /// The numbers 0 to `n - 1` in random order.
    fn randperm / randperm_with [out] (n: Int; dtype: OptDType = None, device: OptDevice = None, generator: OptGenerator = None) -> Tensor {
        run: super::randperm(*n, *dtype, *device, generator),
        samples: no_samples,
    }
    /// For each probability in `input`, 1 with that probability, else 0; same dtype.
    fn bernoulli / bernoulli_with [out] (input: Tensor; generator: OptGenerator = None) -> Tensor {
        run: super::bernoulli(input, generator),
        samples: no_samples,
    }
    /// Draws `num_samples` positions per row of weights (not negative, not all zero); int64.
    fn multinomial / multinomial_with [out] (input: Tensor, num_samples: Int, replacement: Bool = false; generator: OptGenerator = None) -> Tensor {
        run: super::multinomial(input, *num_samples, *replacement, generator),
        samples: no_samples,
    }
    /// Overwrites the tensor with uniform numbers in [`from`, `to`).
    fn uniform_ / uniform_with_ (input: Tensor, from: Float = 0.0, to: Float = 1.0; generator: OptGenerator = None) -> Tensor {
        mutates: uniform(input, *from, *to, generator),
        samples: no_samples,
    }
    /// Overwrites the tensor with normally distributed numbers.
    fn normal_ / normal_with_ (input: Tensor, mean: Float = 0.0, std: Float = 1.0; generator: OptGenerator = None) -> Tensor {
        mutates: normal(input, *mean, *std, generator),
        samples: no_samples,
    }
}

fn blank(size: &Size, dtype: Option<DType>, device: Option<Device>) -> Result<Tensor> {
    let layout = Layout::contiguous(size.checked("empty")?)?;
    Tensor::alloc(layout, dtype.unwrap_or(crate::default_dtype()), device.unwrap_or(Device::CPU))
}

fn filled(size: &Size, value: Number, dtype: Option<DType>, device: Option<Device>) -> Result<Tensor> {
    let t = blank(size, Some(dtype.unwrap_or(value.default_dtype(crate::default_dtype()))), device)?;
    exec::fill(&t, value.checked_cast("full", t.dtype())?)?;
    Ok(t)
}

fn like(x: &Tensor, dtype: Option<DType>, device: Option<Device>, value: Number) -> Result<Tensor> {
    let t = Tensor::alloc(x.like_layout()?, dtype.unwrap_or(x.dtype()), device.unwrap_or(x.device()))?;
    exec::fill(&t, value)?;
    Ok(t)
}

/// Values in a host vector; more than memory holds is an error, where `collect` would abort.
fn listed<T>(op: &'static str, n: usize, values: impl Iterator<Item = T>) -> Result<Vec<T>> {
    let mut list = Vec::new();
    crate::mem::reserve(op, &mut list, n)?;
    list.extend(values.take(n));
    Ok(list)
}

/// The first `n` values, made on the host, as a tensor of the dtype and device asked for. A tensor
/// without memory needs none of them.
fn place<T: crate::Element>(
    op: &'static str,
    size: &Size,
    dtype: DType,
    device: Option<Device>,
    values: impl Iterator<Item = T>,
) -> Result<Tensor> {
    let device = device.unwrap_or(Device::CPU);
    if device == Device::META {
        return blank(size, Some(dtype), Some(device)).map_err(|e| e.in_op(op));
    }
    let n = crate::layout::checked_numel(op, &size.checked(op)?)?;
    Tensor::from_vec(listed(op, n, values)?, size.clone())?.to_dtype(dtype)?.to_device(device)
}

/// As [`place`], drawn from the generator.
fn drawn<T: crate::Element>(
    op: &'static str,
    size: &Size,
    dtype: DType,
    device: Option<Device>,
    generator: &Option<Generator>,
    draw: impl Fn(&mut rand_chacha::ChaCha8Rng) -> T,
) -> Result<Tensor> {
    let generator = generator.as_ref().unwrap_or(default_generator());
    generator.with(|rng| place(op, size, dtype, device, std::iter::repeat_with(|| draw(rng))))
}

fn arange(
    start: Number,
    end: Number,
    step: Number,
    dtype: Option<DType>,
    device: Option<Device>,
) -> Result<Tensor> {
    let whole = [start, end, step].iter().all(|n| n.category() <= crate::Category::Int);
    let dtype = dtype.unwrap_or(if whole { DType::I64 } else { crate::default_dtype() });
    let (a, b, s) = (start.to_f64(), end.to_f64(), step.to_f64());
    ensure!(
        s != 0.0 && s.is_finite() && a.is_finite() && b.is_finite(),
        Runtime,
        "arange",
        "bounds {a} and {b} must be finite and the step {s} finite and not zero"
    );
    ensure!(
        (b - a) * s >= 0.0,
        Runtime,
        "arange",
        "a step of {s} does not lead from {a} to {b}; change its sign"
    );
    if whole {
        // Exact, as float64 would miss steps beyond 2^53.
        let (a, b, s) = (start.to_i64(), end.to_i64(), step.to_i64());
        let (distance, stride) = (i128::from(b) - i128::from(a), i128::from(s));
        let n = i64::try_from((distance + stride - stride.signum()) / stride)
            .map_err(|_| crate::err!(Runtime, "arange", "from {a} to {b} there are too many elements"))?;
        let values = (0..n).map(|i| a.wrapping_add(i.wrapping_mul(s)));
        return place("arange", &Size::from(n), dtype, device, values);
    }
    let n = ((b - a) / s).ceil();
    ensure!(n < 9e15, Runtime, "arange", "{n} elements are too many");
    let n = n as usize;
    // torch counts integers in whole steps, though it counts how many there are in given ones.
    let (a, s) = if dtype.is_integral() { (a.trunc(), s.trunc()) } else { (a, s) };
    place("arange", &Size::from(n), dtype, device, (0..n).map(|i| a + i as f64 * s))
}

fn linspace(
    start: Number,
    end: Number,
    steps: i64,
    dtype: Option<DType>,
    device: Option<Device>,
) -> Result<Tensor> {
    ensure!(steps >= 0, Runtime, "linspace", "{steps} steps; a count cannot be negative");
    let dtype = dtype.unwrap_or(crate::default_dtype());
    // Whole numbers go from the whole part of the start to that of the end.
    let bound = |n: Number| if dtype.is_integral() { n.cast(dtype).to_f64() } else { n.to_f64() };
    let (a, b, n) = (bound(start), bound(end), steps as usize);
    let step = if n > 1 { (b - a) / (n - 1) as f64 } else { 0.0 };
    // From both ends, so that both are exact.
    let value =
        |i: usize| if i < n / 2 || n == 1 { a + step * i as f64 } else { b - step * (n - 1 - i) as f64 };
    place("linspace", &Size::from(n), dtype, device, (0..n).map(value))
}

/// Refuses a list of numbers that memory cannot hold: building it would end the process.
pub(super) fn room(op: &'static str, count: usize) -> Result<()> {
    crate::mem::reserve::<u64>(op, &mut Vec::new(), count)
}

static SAME: LazyLock<Program> =
    LazyLock::new(|| exec::fixed(trace(&[Sort::Num, Sort::Num], 0, |x| vec![x[0].eq(x[1])])));

fn eye(n: i64, m: Option<i64>, dtype: Option<DType>, device: Option<Device>) -> Result<Tensor> {
    let m = m.unwrap_or(n);
    ensure!(n >= 0 && m >= 0, Runtime, "eye", "{n} by {m}; sizes cannot be negative");
    let out = blank(&Size::from([n, m]), dtype, device)?;
    let rows = Tensor::arange_with(0, n, 1, None, device)?.unsqueeze(1)?;
    let columns = Tensor::arange_with(0, m, 1, None, device)?;
    exec::map("eye", &SAME, &[], crate::CType::I64, &[&out], &[&rows, &columns])?;
    Ok(out)
}

type Draw = fn(&mut rand_chacha::ChaCha8Rng) -> f64;

fn random(
    op: &'static str,
    size: &Size,
    dtype: Option<DType>,
    device: Option<Device>,
    generator: &Option<Generator>,
    draw: Draw,
) -> Result<Tensor> {
    let dtype = dtype.unwrap_or(crate::default_dtype());
    ensure!(dtype.is_float(), NotImplemented, op, "is not defined for {dtype}; use randint for integers");
    // Rounding up to 1 would leave the range that rand promises.
    let t = drawn(op, size, dtype, device, generator, draw)?;
    if op == "rand" && dtype != DType::F64 { t.clamp_max(largest_below_one(dtype)) } else { Ok(t) }
}

fn largest_below_one(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 1.0 - 2f64.powi(-11),
        DType::BF16 => 1.0 - 2f64.powi(-8),
        _ => 1.0 - 2f64.powi(-24),
    }
}

fn randint(
    low: i64,
    high: i64,
    size: &Size,
    dtype: Option<DType>,
    device: Option<Device>,
    generator: &Option<Generator>,
) -> Result<Tensor> {
    ensure!(low < high, Runtime, "randint", "there is no integer from {low} to below {high}");
    let dtype = dtype.unwrap_or(DType::I64);
    drawn("randint", size, dtype, device, generator, |rng| rng.random_range(low..high))
}

fn randperm(
    n: i64,
    dtype: Option<DType>,
    device: Option<Device>,
    generator: &Option<Generator>,
) -> Result<Tensor> {
    ensure!(n >= 0, Runtime, "randperm", "{n} is negative");
    let (size, dtype) = (Size::from(n), dtype.unwrap_or(DType::I64));
    if device == Some(Device::META) {
        return blank(&size, Some(dtype), device);
    }
    let mut values: Vec<i64> = listed("randperm", n as usize, 0..n)?;
    generator.as_ref().unwrap_or(default_generator()).with(|rng| values.shuffle(rng));
    place("randperm", &size, dtype, device, values.into_iter())
}

fn bernoulli(p: &Tensor, generator: &Option<Generator>) -> Result<Tensor> {
    let p = p.detach()?;
    ensure!(
        p.dtype().is_float(),
        NotImplemented,
        "bernoulli",
        "probabilities must be floats, not {}",
        p.dtype()
    );
    if p.device() == Device::META {
        return blank(&Size::from(p.shape()), Some(p.dtype()), Some(Device::META));
    }
    let inside = p.ge(0.0)?.logical_and(&p.le(1.0)?)?.all((), false)?.item()?.to_bool();
    ensure!(inside, Runtime, "bernoulli", "probabilities must lie between 0 and 1");
    let u = Tensor::rand_with(p.shape(), Some(DType::F64), Some(p.device()), generator.as_ref())?;
    u.lt(&p.to_dtype(DType::F64)?)?.to_dtype(p.dtype())
}

fn multinomial(
    weights: &Tensor,
    count: i64,
    replacement: bool,
    generator: &Option<Generator>,
) -> Result<Tensor> {
    let shape = weights.shape().to_vec();
    ensure!(
        matches!(shape.len(), 1 | 2),
        Runtime,
        "multinomial",
        "weights must have 1 or 2 dimensions, not shape {shape:?}"
    );
    ensure!(
        weights.dtype().is_float(),
        NotImplemented,
        "multinomial",
        "weights must be floats, not {}",
        weights.dtype()
    );
    let n = shape[shape.len() - 1];
    ensure!(count > 0, Runtime, "multinomial", "{count} samples; ask for at least one");
    ensure!(
        replacement || count as usize <= n,
        Runtime,
        "multinomial",
        "{count} samples without replacement from {n} categories; set replacement"
    );
    let size = if shape.len() == 1 { Size::from(count) } else { Size::from([shape[0] as i64, count]) };
    if weights.device() == Device::META {
        return blank(&size, Some(DType::I64), Some(Device::META)).map_err(|e| e.in_op("multinomial"));
    }
    // Room for every draw before the first one: a count beyond memory must not be found by filling it.
    let total = crate::layout::checked_numel("multinomial", &size.checked("multinomial")?)?;
    let mut picked: Vec<i64> = Vec::new();
    crate::mem::reserve("multinomial", &mut picked, total)?;
    let rows = weights.detach()?.to_dtype(DType::F64)?.to_vec::<f64>()?;
    for row in rows.chunks(n.max(1)) {
        ensure!(
            row.iter().all(|w| *w >= 0.0 && w.is_finite()) && row.iter().sum::<f64>() > 0.0,
            Runtime,
            "multinomial",
            "weights must be finite, not negative, and not all zero"
        );
        let mut left = row.to_vec();
        for _ in 0..count {
            let total: f64 = left.iter().sum();
            if total <= 0.0 {
                bail!(Runtime, "multinomial", "fewer than {count} categories have a weight; set replacement");
            }
            let mut u =
                generator.as_ref().unwrap_or(default_generator()).with(|rng| rng.random::<f64>()) * total;
            let mut k = left.iter().rposition(|w| *w > 0.0).unwrap_or(0);
            for (i, w) in left.iter().enumerate() {
                if u < *w {
                    k = i;
                    break;
                }
                u -= w;
            }
            picked.push(k as i64);
            if !replacement {
                left[k] = 0.0;
            }
        }
    }
    place("multinomial", &size, DType::I64, Some(weights.device()), picked.into_iter())
}

fn uniform(x: &Tensor, from: f64, to: f64, generator: &Option<Generator>) -> Result<Tensor> {
    let op = "uniform_";
    ensure!(from <= to, Runtime, op, "from = {from} must not be above to = {to}");
    ensure!((to - from).is_finite(), Runtime, op, "the range from {from} to {to} is not finite");
    overwrite(op, x, generator, |rng| from + (to - from) * rng.random::<f64>())
}

fn normal(x: &Tensor, mean: f64, std: f64, generator: &Option<Generator>) -> Result<Tensor> {
    let op = "normal_";
    ensure!(std >= 0.0, Runtime, op, "std = {std} must not be negative");
    overwrite(op, x, generator, |rng| {
        let z: f64 = StandardNormal.sample(rng);
        mean + std * z
    })
}

pub(super) fn overwrite(
    op: &'static str,
    x: &Tensor,
    generator: &Option<Generator>,
    draw: impl Fn(&mut rand_chacha::ChaCha8Rng) -> f64,
) -> Result<Tensor> {
    ensure!(x.dtype().is_float(), NotImplemented, op, "is not defined for {}; floats only", x.dtype());
    exec::check_self_overlap(op, x)?;
    if x.device() == Device::META {
        return Ok(x.clone());
    }
    let values = drawn(op, &Size::from(x.shape()), x.dtype(), Some(x.device()), generator, draw)?;
    exec::copy(x, &values)?;
    Ok(x.clone())
}

/// Contents depend on chance or on nothing: tests of their own look at these.
fn no_samples() -> Vec<Sample> {
    Vec::new()
}

fn sized(rest: &[Value]) -> Vec<Sample> {
    [Size::from([2, 3]), Size::from(()), Size::from([0, 2])]
        .into_iter()
        .map(|s| {
            let mut args: crate::op::Args = smallvec![Value::Size(s)];
            args.extend(rest.iter().cloned());
            args.extend([Value::OptDType(None), Value::OptDevice(None)]);
            Sample { args, grad: false }
        })
        .collect()
}
fn size_samples() -> Vec<Sample> {
    sized(&[])
}
fn full_samples() -> Vec<Sample> {
    sized(&[Value::Number(Number::Float(1.5))])
}

fn numbered(cases: &[[Value; 3]]) -> Vec<Sample> {
    cases
        .iter()
        .map(|c| {
            let mut args: crate::op::Args = c.iter().cloned().collect();
            args.extend([Value::OptDType(None), Value::OptDevice(None)]);
            Sample { args, grad: false }
        })
        .collect()
}
fn arange_samples() -> Vec<Sample> {
    let n = |x: f64| Value::Number(Number::Float(x));
    let i = |x: i64| Value::Number(Number::Int(x));
    numbered(&[[i(0), i(5), i(2)], [i(5), i(0), i(-1)], [n(0.0), n(1.0), n(0.1)], [i(2), i(2), i(1)]])
}
fn linspace_samples() -> Vec<Sample> {
    let n = |x: f64| Value::Number(Number::Float(x));
    numbered(&[
        [n(0.0), n(1.0), Value::Int(5)],
        [n(2.0), n(-2.0), Value::Int(1)],
        [n(0.0), n(1.0), Value::Int(0)],
    ])
}
fn eye_samples() -> Vec<Sample> {
    [(3, None), (2, Some(4)), (0, None)]
        .into_iter()
        .map(|(n, m)| Sample {
            args: smallvec![Value::Int(n), Value::OptInt(m), Value::OptDType(None), Value::OptDevice(None)],
            grad: false,
        })
        .collect()
}
