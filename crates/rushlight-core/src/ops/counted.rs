//! Tensors of counted numbers and positions: powers at equal steps, combinations, triangles, places.

use crate::op::{Operand, Sample, Size, Value, samples};
use crate::{DType, Device, Number, Result, Tensor, bail, ensure};

ops! { COUNTED;
    /// `base` to the powers `steps` numbers at equal distances from `start` to `end` are.
    fn logspace / logspace_with [out] (start: Number, end: Number, steps: Int, base: Number = 10.0; dtype: OptDType = None, device: OptDevice = None) -> Tensor {
        run: super::logspace(*start, *end, *steps, *base, *dtype, *device),
        samples: logspace_samples,
    }
    /// As `linspace`, between ends that 0-d tensors hold.
    fn linspace_between as linspace / linspace_between_with [out] (start: Operand, end: Operand, steps: Int; dtype: OptDType = None, device: OptDevice = None) -> Tensor {
        run: Tensor::linspace_with(end_of("linspace", start)?, end_of("linspace", end)?, *steps, *dtype, *device),
        samples: between_samples,
    }
    /// As `logspace`, between ends that 0-d tensors hold.
    fn logspace_between as logspace / logspace_between_with [out] (start: Operand, end: Operand, steps: Int, base: Number = 10.0; dtype: OptDType = None, device: OptDevice = None) -> Tensor {
        run: super::logspace(end_of("logspace", start)?, end_of("logspace", end)?, *steps, *base, *dtype, *device),
        samples: no_samples,
    }
    /// All combinations of `r` elements of a vector, in order, a row each; with
    /// `with_replacement` an element may occur again.
    fn combinations (input: Tensor, r: Int = 2, with_replacement: Bool = false) -> Tensor {
        run: super::combinations(input, *r, *with_replacement),
        samples: combination_samples,
    }
    /// All elements, in a row, on diagonal `offset` of a matrix of zeros.
    fn diagflat (input: Tensor, offset: Int = 0) -> Tensor {
        run: input.reshape(-1)?.diag_embed(*offset, -2, -1),
        samples: flat_samples,
    }
    /// Positions in a flattened tensor of that `shape` as positions along each dimension, which are
    /// the last dimension of the result. Nothing checks that they lie in it.
    fn unravel_index as _unravel_index (indices: Tensor, shape: Size) -> Tensor {
        run: super::unravel_index(indices, shape),
        samples: unravel_samples,
    }
    /// As `nonzero`, cut or filled with rows of `fill_value` to `size` rows.
    fn nonzero_static / nonzero_static_with [out] (input: Tensor; size: Int = 0, fill_value: Int = -1) -> Tensor {
        run: super::nonzero_static(input, *size, *fill_value),
        samples: static_samples,
    }
    /// A number that changes with the elements over `dim`: "xor" of their bits as int64 or float64.
    /// `mode` must be 0. uint64.
    fn hash_tensor / hash_tensor_with [out] (input: Tensor, dim: Dims = (); keepdim: Bool = false, mode: Int = 0) -> Tensor {
        run: super::hash_tensor(input, dim, *keepdim, *mode),
        samples: hash_samples,
    }
}

fn logspace(
    a: Number,
    b: Number,
    steps: i64,
    base: Number,
    dtype: Option<DType>,
    device: Option<Device>,
) -> Result<Tensor> {
    let op = "logspace";
    ensure!(steps >= 0, Runtime, op, "{steps} steps; a count cannot be negative");
    let complex = [a, b, base].iter().any(|n| matches!(n, Number::Complex(..)));
    let default = if complex { crate::default_dtype().complex() } else { crate::default_dtype() };
    let dtype = dtype.unwrap_or(default);
    let wide = if complex { DType::C128 } else { DType::F64 };
    // Integers count in whole ends, as those of linspace.
    let whole = |n: Number| if dtype.is_integral() { Number::Float(n.to_f64().trunc()) } else { n };
    let powers =
        Tensor::linspace_with(whole(a), whole(b), steps, Some(wide), device).map_err(|e| e.in_op(op))?;
    let base = Tensor::scalar_of(base, wide, powers.device())?;
    base.pow(&powers)?.to_dtype(dtype)
}

fn end_of(op: &'static str, x: &Operand) -> Result<Number> {
    match x {
        Operand::Number(n) => Ok(*n),
        Operand::Tensor(t) => {
            ensure!(
                t.dim() == 0,
                Runtime,
                op,
                "an end must be a number or a 0-d tensor, not of shape {:?}",
                t.shape()
            );
            t.item()
        }
    }
}

fn combinations(x: &Tensor, r: i64, again: bool) -> Result<Tensor> {
    let op = "combinations";
    ensure!(x.dim() == 1, Runtime, op, "takes a vector, not shape {:?}", x.shape());
    ensure!(r >= 0, Runtime, op, "r = {r} is negative");
    if r == 0 {
        return x.narrow(0, 0, 0)?.copy();
    }
    let (n, k) = (x.numel(), r as usize);
    let total = binomial(if again { n.saturating_add(k).saturating_sub(1) } else { n }, k);
    let cells = total.and_then(|t| t.checked_mul(k)).unwrap_or(usize::MAX);
    let mut list: Vec<i64> = Vec::new();
    crate::mem::reserve(op, &mut list, cells)?;
    let mut row: Vec<usize> = Vec::new();
    crate::mem::reserve(op, &mut row, k)?;
    row.extend((0..k).map(|i| if again { 0 } else { i }));
    for _ in 0..total.unwrap_or(0) {
        list.extend(row.iter().map(|i| *i as i64));
        // The last place that can go on does; those behind it start right after.
        let Some(at) = (0..k)
            .rev()
            .find(|i| row[*i] + 1 < if again { n + 1 } else { n - (k - 1 - i) } && row[*i] + 1 < n)
        else {
            break;
        };
        let next = row[at] + 1;
        for (step, place) in row[at..].iter_mut().enumerate() {
            *place = if again { next } else { next + step };
        }
    }
    let rows = list.len() / k;
    let at = super::arrange::host_list(&list, &[list.len()], x)?;
    x.index_select(0, &at)?.view([rows as i64, r])
}

/// How many ways there are to choose `k` of `n`, if that is a number of the machine.
fn binomial(n: usize, k: usize) -> Option<usize> {
    if k > n {
        return Some(0);
    }
    let mut all = 1u128;
    for i in 0..k.min(n - k) as u128 {
        all = all.checked_mul(n as u128 - i)? / (i + 1);
    }
    usize::try_from(all).ok()
}

fn unravel_index(at: &Tensor, shape: &Size) -> Result<Tensor> {
    let op = "unravel_index";
    ensure!(
        at.dtype().is_integral() && at.dtype() != DType::Bool,
        Type,
        op,
        "positions must be integers, not {}; convert with to_dtype",
        at.dtype()
    );
    ensure!(shape.0.iter().all(|n| *n >= 0), Value, op, "a size of {:?} is negative", shape.0);
    let mut inner = 1i64;
    let mut parts = Vec::new();
    let at = at.detach()?.to_dtype(DType::I64)?;
    for n in shape.0.iter().rev() {
        // A dimension without places has no right answer; one keeps the division whole.
        let size = (*n as i64).max(1);
        parts.push(at.floor_divide(inner)?.remainder(size)?);
        inner = inner.saturating_mul(size);
    }
    parts.reverse();
    if parts.is_empty() {
        return at.unsqueeze(-1)?.narrow(-1, 0, 0)?.copy();
    }
    Tensor::stack(&parts.iter().collect::<Vec<_>>(), -1)
}

fn nonzero_static(x: &Tensor, size: i64, fill: i64) -> Result<Tensor> {
    let op = "nonzero_static";
    ensure!(size >= 0, Runtime, op, "size {size} is negative");
    let out = Tensor::full_with([size, x.dim() as i64], fill, Some(DType::I64), Some(x.device()))
        .map_err(|e| e.in_op(op))?;
    if x.device() == Device::META || x.dim() == 0 {
        return Ok(out);
    }
    let found = x.detach()?.nonzero()?;
    let n = (found.shape()[0] as i64).min(size);
    out.narrow(0, 0, n)?.copy_(&found.narrow(0, 0, n)?)?;
    Ok(out)
}

fn hash_tensor(x: &Tensor, dim: &crate::Dims, keepdim: bool, mode: i64) -> Result<Tensor> {
    let op = "hash_tensor";
    ensure!(mode == 0, Runtime, op, "mode {mode} is unknown; there is 0, xor");
    ensure!(!x.dtype().is_complex(), NotImplemented, op, "is not defined for {}", x.dtype());
    let mask = super::reduce::axes(op, x.dim(), dim)?;
    let named = matches!(dim, crate::Dims::List(list) if !list.is_empty());
    let none = x.shape().iter().enumerate().any(|(d, n)| *n == 0 && mask >> d & 1 == 1);
    if none && !named {
        bail!(Runtime, op, "shape {:?} has no elements; name a dimension that has some", x.shape())
    }
    ensure!(!none, Index, op, "a dimension of shape {:?} to reduce has no elements", x.shape());
    let mut bits = x.detach()?.contiguous()?;
    bits = match bits.dtype() {
        DType::U64 => bits.view_dtype(DType::I64)?,
        d if d.is_float() => bits.to_dtype(DType::F64)?.view_dtype(DType::I64)?,
        _ => bits.to_dtype(DType::I64)?,
    };
    for d in (0..x.dim()).filter(|d| mask >> d & 1 == 1) {
        bits = folded(&bits, d as i64)?;
    }
    let shape: Vec<usize> =
        (0..x.dim()).filter(|d| keepdim || mask >> d & 1 == 0).map(|d| bits.shape()[d]).collect();
    bits.contiguous()?.view(shape)?.view_dtype(DType::U64)?.copy()
}

/// One half upon the other until one place is left.
fn folded(x: &Tensor, d: i64) -> Result<Tensor> {
    let mut x = x.clone();
    loop {
        let n = x.shape()[d as usize] as i64;
        if n == 1 {
            return Ok(x);
        }
        let half = n / 2;
        let upon = x.narrow(d, 0, half)?.bitwise_xor(&x.narrow(d, n - half, half)?)?;
        x = if n % 2 == 0 { upon } else { Tensor::cat(&[&upon, &x.narrow(d, half, 1)?], d)? };
    }
}

fn options() -> [Value; 2] {
    [Value::OptDType(None), Value::OptDevice(None)]
}
fn no_samples() -> Vec<Sample> {
    Vec::new()
}
fn logspace_samples() -> Vec<Sample> {
    let n = |x: f64| Value::Number(Number::Float(x));
    let cases = [(0.0, 2.0, 5, 10.0), (1.0, -1.0, 4, 2.0), (0.5, 3.0, 1, 2.0), (0.0, 1.0, 0, 10.0)];
    cases
        .into_iter()
        .map(|(a, b, k, base)| {
            samples::sample([n(a), n(b), Value::Int(k), n(base)].into_iter().chain(options()), false)
        })
        .collect()
}
fn between_samples() -> Vec<Sample> {
    let n = |x: f64| Value::Operand(Operand::Number(Number::Float(x)));
    vec![samples::sample([n(0.0), n(2.0), Value::Int(5)].into_iter().chain(options()), false)]
}
fn combination_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for again in [false, true] {
        for (n, r) in [(4usize, 2i64), (5, 3), (2, 3), (0, 2), (3, 0), (3, 1)] {
            all.extend(super::view::one(&[n], [Value::Int(r), Value::Bool(again)]));
        }
    }
    all
}
fn flat_samples() -> Vec<Sample> {
    super::view::each([(&[2, 2], Value::Int(1)), (&[], Value::Int(0)), (&[3], Value::Int(-2))])
}
fn unravel_samples() -> Vec<Sample> {
    let make = |shape: &[usize]| samples::indices(shape, 24, 1).ok();
    let sized = |t| samples::sample([Value::Tensor(t), Value::Size([2, 3, 4].into())], false);
    [&[3, 2][..], &[], &[0]].into_iter().filter_map(make).map(sized).collect()
}
fn static_samples() -> Vec<Sample> {
    let make = |(shape, size): (&[usize], i64)| {
        let x = samples::indices(shape, 3, 1).ok()?.to_dtype(DType::F64).ok()?;
        Some(samples::sample([Value::Tensor(x), Value::Int(size), Value::Int(-1)], false))
    };
    [(&[7][..], 3), (&[2, 3], 9), (&[0], 2), (&[], 1), (&[4], 0)].into_iter().filter_map(make).collect()
}
fn hash_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for (shape, dim) in [
        (&[3, 4][..], crate::Dims::All),
        (&[3, 5], 1.into()),
        (&[2, 3, 4], [0, 2].into()),
        (&[], crate::Dims::All),
    ] {
        let rest = [Value::Dims(dim), Value::Bool(false), Value::Int(0)];
        all.extend(super::view::one(shape, rest).map(|s| Sample { grad: false, ..s }));
    }
    all
}
