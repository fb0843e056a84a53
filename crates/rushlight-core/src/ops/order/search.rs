//! Where values belong in sorted ones, by bisection: as many rounds over all values as the length
//! of the sorted line has bits.

use crate::exec;
use crate::op::{AsOperand, Operand, Sample, Value, compute_type, result_type, samples};
use crate::program::{Program, Sort, trace};
use crate::{CType, DType, Device, Layout, Number, Result, Tensor, bail, ensure};
use std::sync::LazyLock;

ops! { SEARCH;
    /// For each of the `input` values the place in the last dimension of `sorted_sequence` before
    /// which it belongs so that the order stays: among equals the first place, with `right` (or
    /// `side` "right") the one after the last. One sequence serves all values; or there is one for
    /// each line of `input`. `sorter` holds the positions that sort `sorted_sequence`.
    /// int64, or int32 with `out_int32`.
    ///
    /// ```
    /// # use rushlight::Tensor;
    /// let sorted = Tensor::from_vec(vec![1f32, 3., 3., 5.], [4])?;
    /// assert_eq!(Tensor::searchsorted(&sorted, 3.0)?.item()?, 1.into());
    /// # Ok::<(), rushlight::Error>(())
    /// ```
    fn searchsorted / searchsorted_with [out] (sorted_sequence: Tensor, input: Operand; out_int32: Bool = false, right: Bool = false, side: Text = "", sorter: OptTensor = None) -> Tensor {
        run: super::searchsorted("searchsorted", sorted_sequence, input, *out_int32, on_right("searchsorted", *right, side)?, sorter.as_ref()),
        samples: search_samples,
    }
    /// For each of the `input` values the bucket it is in: `searchsorted` in one vector of
    /// `boundaries`. Bucket i reaches from above boundary i - 1 up to and with boundary i; with
    /// `right` the lower boundary is inside and the upper one is not.
    fn bucketize / bucketize_with [out] (input: Operand, boundaries: Tensor; out_int32: Bool = false, right: Bool = false) -> Tensor {
        run: super::bucketize(input, boundaries, *out_int32, *right),
        samples: bucket_samples,
    }
}

fn on_right(op: &'static str, right: bool, side: &str) -> Result<bool> {
    match side {
        "" => Ok(right),
        "right" => Ok(true),
        "left" if !right => Ok(false),
        "left" => bail!(Runtime, op, "side=\"left\" contradicts right"),
        _ => bail!(Runtime, op, "side is \"left\" or \"right\", not {side:?}"),
    }
}

fn bucketize(x: &Operand, boundaries: &Tensor, small: bool, right: bool) -> Result<Tensor> {
    let op = "bucketize";
    ensure!(
        boundaries.dim() == 1,
        Runtime,
        op,
        "boundaries must be a vector, not of shape {:?}",
        boundaries.shape()
    );
    searchsorted(op, boundaries, x, small, right, None)
}

fn searchsorted(
    op: &'static str,
    sequence: &Tensor,
    values: &Operand,
    small: bool,
    right: bool,
    sorter: Option<&Tensor>,
) -> Result<Tensor> {
    let common = result_type(&[sequence.as_operand(), values.as_operand()]).map_err(|e| e.in_op(op))?;
    ensure!(
        !common.is_complex() && common != DType::Bool,
        NotImplemented,
        op,
        "is not defined for {common}; convert with to_dtype"
    );
    let number = matches!(values, Operand::Number(_));
    let values = match values {
        Operand::Tensor(t) => t.detach()?,
        Operand::Number(n) => Tensor::scalar_of(n.cast(common), common, sequence.device())?,
    };
    ensure!(sequence.dim() > 0, Runtime, op, "the sorted values need at least one dimension");
    let alike = sequence.dim() == values.dim()
        && values.dim() > 0
        && sequence.shape()[..sequence.dim() - 1] == values.shape()[..values.dim() - 1];
    ensure!(
        sequence.dim() == 1 || alike && !number,
        Runtime,
        op,
        "sorted values of shape {:?} do not serve values of shape {:?}: they are one vector, or differ in the last dimension only",
        sequence.shape(),
        values.shape()
    );
    exec::common_device(op, [sequence, &values].into_iter().chain(sorter))?;
    let result = if small { DType::I32 } else { DType::I64 };
    let n = sequence.shape()[sequence.dim() - 1];
    ensure!(!small || i32::try_from(n).is_ok(), Runtime, op, "int32 does not hold the places of {n} values");
    let mut sequence = sequence.detach()?;
    if let Some(sorter) = sorter {
        check_sorter(op, &sequence, sorter)?;
        if n > 0 {
            sequence = sequence.gather(-1, sorter)?;
        }
    }
    let sequence = sequence.to_dtype(common)?;
    let lines = if alike && sequence.dim() > 1 {
        values.to_dtype(common)?
    } else {
        values.to_dtype(common)?.reshape(-1)?
    };
    let found = bisect(op, &sequence, &lines, right)?;
    // As many elements in the same order, so the memory serves any shape.
    super::super::arrange::through(&found, Layout::contiguous(values.shape())?).to_dtype(result)
}

fn check_sorter(op: &'static str, sequence: &Tensor, sorter: &Tensor) -> Result<()> {
    ensure!(
        sorter.shape() == sequence.shape(),
        Runtime,
        op,
        "the sorter of shape {:?} must have the shape of the sorted values, {:?}",
        sorter.shape(),
        sequence.shape()
    );
    ensure!(sorter.dtype() == DType::I64, Runtime, op, "the sorter must be int64, not {}", sorter.dtype());
    if sorter.numel() == 0 || sorter.device() == Device::META {
        return Ok(());
    }
    let n = sequence.shape()[sequence.dim() - 1] as i64;
    let low = sorter.detach()?.amin((), false)?.item()?.to_i64();
    let high = sorter.detach()?.amax((), false)?.item()?.to_i64();
    ensure!(
        low >= 0 && high < n,
        Runtime,
        op,
        "the sorter leads from {low} to {high}, but there are {n} values"
    );
    Ok(())
}

static BEFORE: LazyLock<Program> =
    LazyLock::new(|| exec::fixed(trace(&[Sort::Num, Sort::Num], 0, |x| vec![!x[0].ge(x[1])])));
static BEFORE_OR_AT: LazyLock<Program> =
    LazyLock::new(|| exec::fixed(trace(&[Sort::Num, Sort::Num], 0, |x| vec![!x[0].gt(x[1])])));
/// From where a place may be (`low` to `high`), its middle and whether to go on above it: the same anew.
static NARROW: LazyLock<Program> = LazyLock::new(|| {
    exec::fixed(trace(&[Sort::Num, Sort::Num, Sort::Num, Sort::Truth], 1, |x| {
        let (low, high, middle, above, last) = (x[0], x[1], x[2], x[3], x[4]);
        let open = low.lt(high);
        let low = (open & above).select(middle + 1, low);
        let high = (open & !above).select(middle, high);
        let middle = (low + (high - low).bitwise_right_shift(1)).minimum(last);
        vec![low, high, middle]
    }))
});

/// The place of each value in its line, int64 and row-major. A vector serves a vector.
fn bisect(op: &'static str, sequence: &Tensor, values: &Tensor, right: bool) -> Result<Tensor> {
    let n = sequence.size(-1)? as i64;
    let start =
        |value: i64| Tensor::full_with(values.shape(), value, Some(DType::I64), Some(values.device()));
    let low = start(0)?;
    if n == 0 || values.numel() == 0 {
        return Ok(low);
    }
    let (high, middle) = (start(n)?, start(n / 2)?);
    let above = Tensor::alloc(low.layout().clone(), DType::Bool, values.device())?;
    let before = if right { &*BEFORE_OR_AT } else { &*BEFORE };
    for _ in 0..=n.ilog2() {
        let there = sequence.gather(-1, &middle).map_err(|e| e.in_op(op))?;
        exec::map(op, before, &[], compute_type(values.dtype()), &[&above], &[&there, values])?;
        let state = [&low, &high, &middle];
        let ins = [&low, &high, &middle, &above];
        exec::map(op, &NARROW, &[Number::Int(n - 1)], CType::I64, &state, &ins)?;
    }
    Ok(low)
}

fn sorted_line(shape: &[usize]) -> Option<Tensor> {
    samples::indices(shape, 6, 3).and_then(|t| t.to_dtype(DType::F64)?.sort(-1, false)).ok().map(|(t, _)| t)
}

fn wanted(shape: &[usize]) -> Option<Operand> {
    let halves = samples::indices(shape, 15, 5).and_then(|t| t.to_dtype(DType::F64)?.div(2.0)?.sub(1.0));
    halves.ok().map(Operand::Tensor)
}

fn search_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for right in [false, true] {
        for (sequence, values) in
            [(&[7][..], &[2, 3][..]), (&[2, 5], &[2, 9]), (&[0], &[3]), (&[8], &[]), (&[3, 1, 4], &[3, 1, 0])]
        {
            let (Some(s), Some(v)) = (sorted_line(sequence), wanted(values)) else { continue };
            let options =
                [Value::Bool(right), Value::Bool(right), Value::Text(String::new()), Value::OptTensor(None)];
            all.push(samples::sample(
                [Value::Tensor(s), Value::Operand(v)].into_iter().chain(options),
                false,
            ));
        }
        let sorter = samples::values(&[6], 2).and_then(|t| Ok((t.argsort(0, false)?, t)));
        if let (Ok((at, t)), Some(v)) = (sorter, wanted(&[4])) {
            let options = [
                Value::Bool(false),
                Value::Bool(right),
                Value::Text(String::new()),
                Value::OptTensor(Some(at)),
            ];
            all.push(samples::sample(
                [Value::Tensor(t), Value::Operand(v)].into_iter().chain(options),
                false,
            ));
        }
    }
    all
}

fn bucket_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for right in [false, true] {
        let numbers = [wanted(&[2, 3]), wanted(&[]), wanted(&[0]), Some(Operand::Number(Number::Int(2)))];
        for v in numbers.into_iter().flatten() {
            let Some(s) = sorted_line(&[7]) else { continue };
            all.push(samples::sample(
                [Value::Operand(v), Value::Tensor(s), Value::Bool(right), Value::Bool(right)],
                false,
            ));
        }
    }
    all
}
