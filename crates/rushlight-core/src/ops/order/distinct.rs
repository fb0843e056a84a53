//! Each value once, and which values are among others. A NaN differs from every other.

use crate::op::{AsOperand, Operand, Sample, Value, result_type, samples};
use crate::{DType, Device, Number, Result, Tensor, bail, ensure};

ops! { DISTINCT;
    /// Every value once, in order; with `dim`, every slice along it. Then, as far as they are asked
    /// for, for each element which of these it is, and how often each occurs; else empty tensors.
    ///
    /// ```
    /// # use rushlight::Tensor;
    /// let x = Tensor::from_vec(vec![5i64, 2, 5], [3])?;
    /// let (values, inverse, counts) = x.unique(true, true, true, None)?;
    /// assert_eq!(values.to_vec::<i64>()?, [2, 5]);
    /// assert_eq!(inverse.to_vec::<i64>()?, [1, 0, 1]);
    /// assert_eq!(counts.to_vec::<i64>()?, [1, 2]);
    /// # Ok::<(), rushlight::Error>(())
    /// ```
    fn unique as _unique (input: Tensor, sorted: Bool = true, return_inverse: Bool = false, return_counts: Bool = false, dim: OptInt = None) -> (Tensor, Tensor, Tensor) [values inverse counts] {
        run: distinct("unique", input, *dim, *return_inverse, *return_counts, true),
        samples: unique_samples,
    }
    /// As `unique`, where equal values lie side by side: the first of each run.
    fn unique_consecutive as _unique_consecutive (input: Tensor, return_inverse: Bool = false, return_counts: Bool = false, dim: OptInt = None) -> (Tensor, Tensor, Tensor) [values inverse counts] {
        run: distinct("unique_consecutive", input, *dim, *return_inverse, *return_counts, false),
        samples: consecutive_samples,
    }
    /// For each element whether it is among `test_elements`; with `invert`, whether not.
    /// `assume_unique` promises that neither has an element twice; nothing depends on it.
    fn isin / isin_with [out] (elements: Operand, test_elements: Operand; assume_unique: Bool = false, invert: Bool = false) -> Tensor {
        run: super::isin(elements, test_elements, *invert),
        samples: isin_samples,
    }
}

/// The elements, or slices, in the order in which equal ones lie side by side.
struct Runs {
    /// Where each comes from.
    order: Option<Tensor>,
    /// Whether it starts a run: bool.
    starts: Tensor,
}

impl Runs {
    fn len(&self) -> usize {
        self.starts.numel()
    }
    /// Which run each belongs to.
    fn numbers(&self) -> Result<Tensor> {
        self.starts.cumsum(0)?.sub(1)
    }
    /// The same for each element at its own place.
    fn inverse(&self) -> Result<Tensor> {
        let numbers = self.numbers()?;
        match &self.order {
            Some(order) => Tensor::empty_with(order.shape(), Some(DType::I64), Some(order.device()))?
                .scatter_(0, order, &numbers),
            None => Ok(numbers),
        }
    }
    /// How long each run is.
    fn counts(&self) -> Result<Tensor> {
        let first = self.starts.nonzero()?.reshape(-1)?;
        let end = Tensor::full_with([1], self.len() as i64, Some(DType::I64), Some(first.device()))?;
        let next = Tensor::cat(&[&first, &end], 0)?.narrow(0, 1, first.numel() as i64)?;
        next.sub(&first)
    }
}

fn none(device: Device) -> Result<Tensor> {
    Tensor::empty_with([0], Some(DType::I64), Some(device))
}

fn distinct(
    op: &'static str,
    x: &Tensor,
    dim: Option<i64>,
    inverse: bool,
    counts: bool,
    sort: bool,
) -> Result<(Tensor, Tensor, Tensor)> {
    ensure!(!x.dtype().is_complex(), NotImplemented, op, "complex numbers have no order");
    if x.device() == Device::META {
        bail!(Runtime, op, "the values decide the shape of the result, and a meta tensor has none")
    }
    let x = x.detach()?;
    let (values, runs) = match dim {
        None => flat(&x, sort)?,
        Some(dim) => slices(op, &x, dim, sort)?,
    };
    let device = x.device();
    let which = match (inverse, dim) {
        (true, None) => runs.inverse()?.view(x.shape())?,
        (true, Some(_)) => runs.inverse()?,
        _ => none(device)?,
    };
    Ok((values, which, if counts { runs.counts()? } else { none(device)? }))
}

/// True, then whether each but the first of a line differs from the one before.
fn changes(line: &Tensor) -> Result<Tensor> {
    let n = line.shape()[0] as i64;
    let differs = line.narrow(0, 1, n - 1)?.ne(&line.narrow(0, 0, n - 1)?)?;
    let differs = if differs.dim() > 1 { differs.any(1, false)? } else { differs };
    let first = Tensor::ones_with([1], Some(DType::Bool), Some(line.device()))?;
    Tensor::cat(&[&first, &differs], 0)
}

fn flat(x: &Tensor, sort: bool) -> Result<(Tensor, Runs)> {
    let line = x.reshape(-1)?;
    if line.numel() == 0 {
        let starts = Tensor::empty_with([0], Some(DType::Bool), Some(x.device()))?;
        return Ok((line.copy()?, Runs { order: None, starts }));
    }
    let (line, order) = if sort { line.sort(0, false).map(|(v, at)| (v, Some(at)))? } else { (line, None) };
    let starts = changes(&line)?;
    Ok((line.masked_select(&starts)?, Runs { order, starts }))
}

fn slices(op: &'static str, x: &Tensor, dim: i64, sort: bool) -> Result<(Tensor, Runs)> {
    let d = crate::layout::existing_dim(op, dim as isize, x.dim())?;
    let n = x.shape()[d];
    let bare = x.shape().iter().filter(|n| **n == 0).count();
    ensure!(
        bare == 0 || n == 0 && bare == 1,
        Runtime,
        op,
        "shape {:?} has a dimension of size 0 besides dimension {dim}",
        x.shape()
    );
    let moved = x.movedim(d, 0)?.contiguous()?;
    if n == 0 {
        let starts = Tensor::empty_with([0], Some(DType::Bool), Some(x.device()))?;
        return Ok((x.copy()?, Runs { order: None, starts }));
    }
    let rows = moved.reshape([n as i64, -1])?;
    let (order, starts) = match sort {
        true => sorted_rows(&rows).map(|(order, starts)| (Some(order), starts))?,
        false => (None, changes(&rows)?),
    };
    let first = starts.nonzero()?.reshape(-1)?;
    let first = match &order {
        Some(order) => order.gather(0, &first)?,
        None => first,
    };
    let values = moved.index_select(0, &first)?.movedim(0, d)?;
    Ok((values, Runs { order, starts }))
}

/// The order of the rows, column after column until all differ, and where a new row starts in it.
fn sorted_rows(rows: &Tensor) -> Result<(Tensor, Tensor)> {
    let (n, columns) = (rows.shape()[0], rows.shape()[1]);
    let mut order = Tensor::arange_with(0, n as i64, 1, None, Some(rows.device()))?;
    // Which rows are equal so far, in order.
    let mut group = Tensor::zeros_with([n], Some(DType::I64), Some(rows.device()))?;
    let mut starts = changes(&group)?;
    for c in 0..columns {
        let column = rows.select(1, c as i64)?.gather(0, &order)?;
        // Stable: by the column, then by what the rows are already told apart by.
        let (_, by_value) = column.sort(0, false)?;
        let (sorted_group, by_group) = group.gather(0, &by_value)?.sort(0, false)?;
        let step = by_value.gather(0, &by_group)?;
        order = order.gather(0, &step)?;
        starts = changes(&column.gather(0, &step)?)?.logical_or(&changes(&sorted_group)?)?;
        group = starts.cumsum(0)?.sub(1)?;
        if group.select(0, n as i64 - 1)?.item()?.to_i64() == n as i64 - 1 {
            break;
        }
    }
    Ok((order, starts))
}

fn isin(elements: &Operand, tests: &Operand, invert: bool) -> Result<Tensor> {
    let op = "isin";
    let device = match (elements, tests) {
        (Operand::Tensor(t), _) | (_, Operand::Tensor(t)) => t.device(),
        _ => bail!(Type, op, "one of the two must be a tensor"),
    };
    let common = result_type(&[elements.as_operand(), tests.as_operand()]).map_err(|e| e.in_op(op))?;
    let fit = |x: &Operand| match x {
        Operand::Tensor(t) => {
            ensure!(
                !t.dtype().is_complex() && t.dtype() != DType::Bool,
                NotImplemented,
                op,
                "is not defined for {}; convert with to_dtype",
                t.dtype()
            );
            t.detach()?.to_dtype(common)
        }
        Operand::Number(n) => Tensor::scalar_of(n.cast(common), common, device),
    };
    let (x, tests) = (fit(elements)?, fit(tests)?);
    crate::exec::common_device(op, [&x, &tests])?;
    if tests.numel() == 0 || x.numel() == 0 {
        return Tensor::full_with(x.shape(), invert, Some(DType::Bool), Some(device));
    }
    let sorted = tests.reshape(-1)?.sort(0, false)?.0;
    let at = Tensor::searchsorted(&sorted, &x)?.clamp_max(sorted.numel() as i64 - 1)?;
    let there = sorted.gather(0, &at.reshape(-1)?)?.view(x.shape())?;
    if invert { there.ne(&x) } else { there.eq(&x) }
}

/// Float64 tensors with equal elements.
fn repeated() -> Vec<Tensor> {
    let make = |shape: &[usize]| samples::indices(shape, 3, 1).and_then(|t| t.to_dtype(DType::F64)).ok();
    [&[7][..], &[3, 4], &[], &[0], &[4, 2, 2]].into_iter().filter_map(make).collect()
}

fn options(all: &mut Vec<Sample>, x: &Tensor, front: &[Value]) {
    let dims = if x.dim() > 0 { vec![None, Some(0), Some(-1)] } else { vec![None] };
    for dim in dims {
        let rest = [Value::Bool(true), Value::Bool(true), Value::OptInt(dim)];
        let args = [Value::Tensor(x.clone())].into_iter().chain(front.iter().cloned()).chain(rest);
        all.push(samples::sample(args, false));
    }
}

fn unique_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    repeated().iter().for_each(|x| options(&mut all, x, &[Value::Bool(true)]));
    all
}

fn consecutive_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    repeated().iter().for_each(|x| options(&mut all, x, &[]));
    all
}

fn isin_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    let tests = samples::indices(&[5], 2, 0).and_then(|t| t.to_dtype(DType::F64));
    for x in repeated() {
        for invert in [false, true] {
            let options = [Value::Bool(false), Value::Bool(invert)];
            let other =
                tests.as_ref().map_or(Operand::Number(Number::Int(1)), |t| Operand::Tensor(t.clone()));
            let args = [Value::Operand(Operand::Tensor(x.clone())), Value::Operand(other)];
            all.push(samples::sample(args.into_iter().chain(options), false));
        }
    }
    all
}
