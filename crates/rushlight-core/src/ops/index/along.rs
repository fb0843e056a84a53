//! Positions along one dimension that all other dimensions share.

use super::super::view::one;
use super::{Axis, Rules, at_least_1d, positions, read, same_dtype, still, write};
use crate::backend::ScatterOp;
use crate::exec;
use crate::layout::dim_index;
use crate::op::{Operand, Sample, Value, samples};
use crate::{Kind, Layout, Number, Result, Shape, Strides, Tensor, bail, ensure};
use smallvec::smallvec;

ops! { ALONG;
    /// The places `index` (a vector of int64 or int32, none negative) of dimension `dim`, in its order.
    fn index_select [out] (input: Tensor, dim: Int, index: Tensor) -> Tensor {
        run: super::index_select(input, *dim, index),
        grad: [reads inputs 2; outputs] |cx| {
            let g = cx.info(0)?.zeros()?.index_add_(*cx.arg::<i64>(1)?, &cx.input(2)?, &cx.grad(0)?)?;
            Ok(smallvec![Some(g), None])
        },
        samples: select_samples,
    }
    /// Adds place k of `source`, times `alpha`, to place `index[k]` of dimension `dim`.
    fn index_add_ / index_add_with_ (input: Tensor, dim: Int, index: Tensor, source: Tensor; alpha: Number = 1) -> Tensor {
        mutates: add(input, *dim, index, source, *alpha),
        grad: [reads inputs 2 3; outputs] |cx| {
            let g = cx.grad(0)?;
            let part = if cx.needs(2) { Some(scaled(&g.index_select(*cx.arg::<i64>(1)?, &cx.input(2)?)?, *cx.arg(4)?)?.reshape(cx.input(3)?.shape())?) } else { None };
            Ok(smallvec![Some(g), None, part])
        },
        samples: add_samples,
    }
    /// As `index_add_`, on a copy.
    fn index_add / index_add_with [out] (input: Tensor, dim: Int, index: Tensor, source: Tensor; alpha: Number = 1) -> Tensor {
        run: input.writable()?.index_add_with_(*dim, index, source, *alpha),
        samples: add_samples,
    }
    /// Writes place k of `source` to place `index[k]` of dimension `dim`.
    fn index_copy_ (input: Tensor, dim: Int, index: Tensor, source: Tensor) -> Tensor {
        mutates: place("index_copy_", ScatterOp::Set, input, *dim, index, source),
        grad: [reads inputs 2 3; outputs] |cx| {
            let (g, dim, index) = (cx.grad(0)?, *cx.arg::<i64>(1)?, cx.input(2)?);
            let part = if cx.needs(2) { Some(g.index_select(dim, &index)?.reshape(cx.input(3)?.shape())?) } else { None };
            Ok(smallvec![Some(g.index_fill(dim, &index, 0)?), None, part])
        },
        samples: copy_samples,
    }
    /// As `index_copy_`, on a copy.
    fn index_copy [out] (input: Tensor, dim: Int, index: Tensor, source: Tensor) -> Tensor {
        run: input.writable()?.index_copy_(*dim, index, source),
        samples: copy_samples,
    }
    /// Writes one value to the places `index` of dimension `dim`; negative ones count from the end.
    fn index_fill_ (input: Tensor, dim: Int, index: Tensor, value: Operand) -> Tensor {
        mutates: fill(input, *dim, index, value),
        grad: [reads inputs 2; outputs] |cx| {
            let (g, dim, index) = (cx.grad(0)?, *cx.arg::<i64>(1)?, cx.input(2)?);
            let kept = g.index_fill(dim, &index, 0)?;
            // A repeated place is filled once: what the value gets is what the tensor lost.
            let part = if cx.needs(2) { Some(g.sub(&kept)?.sum((), false)?) } else { None };
            Ok(smallvec![Some(kept), None, part])
        },
        samples: fill_samples,
    }
    /// As `index_fill_`, on a copy.
    fn index_fill (input: Tensor, dim: Int, index: Tensor, value: Operand) -> Tensor {
        run: input.copy()?.index_fill_(*dim, index, value.clone()),
        samples: fill_samples,
    }
    /// Each place `repeats` times in a row along `dim`: one number for all, or a vector of one each.
    /// Without `dim` the tensor counts as one row.
    fn repeat_interleave (input: Tensor, repeats: Operand, dim: OptInt = None) -> Tensor {
        run: super::repeat_interleave(input, repeats, *dim),
        samples: interleave_samples,
    }
}

fn rules(op: &'static str, wrap: bool) -> Rules {
    Rules { op, kind: Kind::Index, wrap }
}

/// The index tensor spread over `shape`, in which it walks dimension `d` of `x`.
fn axis(x: &Layout, index: &Tensor, shape: &[usize], d: usize) -> Result<Axis> {
    let mut strides: Strides = smallvec![0; shape.len()];
    strides[d] = index.strides().first().copied().unwrap_or(0);
    Ok(Axis {
        layout: Layout::new(shape, strides, index.storage_offset())?,
        index: index.clone(),
        stride: x.strides()[d],
        size: x.shape()[d],
        axis: d,
    })
}

/// The index as int64, and the dimension; `written` is the tensor that the call changes.
fn checked(op: &'static str, x: &Tensor, dim: i64, index: &Tensor, written: bool) -> Result<(Tensor, usize)> {
    let d = dim_index(op, dim as isize, x.dim())?;
    ensure!(index.dim() <= 1, Index, op, "the index must be a vector, not of shape {:?}", index.shape());
    exec::common_device(op, [x, index])?;
    Ok((positions(op, Kind::Runtime, index, written.then_some(x))?, d))
}

fn index_select(x: &Tensor, dim: i64, index: &Tensor) -> Result<Tensor> {
    let op = "index_select";
    let (index, d) = checked(op, x, dim, index, false)?;
    let own = at_least_1d(x.layout())?;
    let mut shape: Shape = own.shape().into();
    shape[d] = index.numel();
    if x.dim() > 1 && x.numel() == 0 && index.numel() > 0 {
        check_places_of_nothing(op, &index, x.shape()[d], d)?;
    }
    let out = Tensor::alloc(Layout::contiguous(shape.clone())?, x.dtype(), x.device())?;
    crate::trace::copying(op, out.nbytes(), out.shape(), "places are picked into new memory")?;
    let from = still(&own, &shape, d)?;
    read(rules(op, false), &out, x, &from, &[axis(&own, &index, &shape, d)?])?;
    if x.dim() > 0 {
        return Ok(out);
    }
    ensure!(index.numel() == 1, Runtime, op, "a 0-d tensor has one place, not {}", index.numel());
    out.view(())?.detach()
}

/// No element will be read, but positions must be right all the same.
fn check_places_of_nothing(op: &'static str, index: &Tensor, size: usize, d: usize) -> Result<()> {
    if index.device() == crate::Device::META {
        return Ok(());
    }
    let wrong = index.to_vec::<i64>()?.into_iter().find(|i| usize::try_from(*i).map_or(true, |i| i >= size));
    match wrong {
        Some(i) => bail!(Runtime, op, "position {i} is out of range for dimension {d} of size {size}"),
        None => Ok(()),
    }
}

/// Combines `source` with the chosen places.
fn place(
    op: &'static str,
    how: ScatterOp,
    x: &Tensor,
    dim: i64,
    index: &Tensor,
    source: &Tensor,
) -> Result<Tensor> {
    let (index, d) = checked(op, x, dim, index, true)?;
    same_dtype(op, x, source)?;
    let (own, from) = (at_least_1d(x.layout())?, at_least_1d(source.layout())?);
    let mut shape: Shape = own.shape().into();
    shape[d] = index.numel();
    ensure!(
        from.shape() == shape.as_slice(),
        Runtime,
        op,
        "a source of shape {:?} does not fit {} places along dimension {d} of shape {:?}",
        source.shape(),
        index.numel(),
        x.shape()
    );
    let source = &*exec::apart(op, x, source)?;
    let axes = [axis(&own, &index, &shape, d)?];
    write(rules(op, false), how, x, still(&own, &shape, d)?, &axes, source, &from)?;
    Ok(x.clone())
}

fn scaled(t: &Tensor, alpha: Number) -> Result<Tensor> {
    if alpha == Number::Int(1) { Ok(t.clone()) } else { t.mul(alpha) }
}

fn add(x: &Tensor, dim: i64, index: &Tensor, source: &Tensor, alpha: Number) -> Result<Tensor> {
    let op = "index_add_";
    let d = dim_index(op, dim as isize, x.dim())?;
    same_dtype(op, x, source)?;
    ensure!(
        d == 0 || d < source.dim(),
        Runtime,
        op,
        "the source of shape {:?} has no dimension {d}",
        source.shape()
    );
    ensure!(
        source.dim() > 0 || index.numel() == 1,
        Index,
        op,
        "a 0-d source is added to one place, not to {}",
        index.numel()
    );
    // Only here are 0-d tensors no vectors of one place.
    let alike = x.dim() == source.dim() && (0..x.dim()).all(|k| k == d || x.shape()[k] == source.shape()[k]);
    ensure!(
        alike,
        Runtime,
        op,
        "a source of shape {:?} does not match shape {:?} outside of dimension {d}",
        source.shape(),
        x.shape()
    );
    // The scaled copy would hide an overlap of the source itself.
    let kept = exec::apart(op, x, source)?;
    let same_cells = x.shares_storage(source) && x.layout() == source.layout();
    ensure!(
        !(x.is(source) || same_cells && x.numel() > 0 && x.layout().is_dense()),
        Runtime,
        op,
        "the source is the tensor that is written; clone() it first"
    );
    if x.dim() > 1 && x.numel() == 0 && source.shape()[d] == index.numel() {
        return Ok(x.clone()); // torch does not look at the positions then
    }
    place("index_add_", ScatterOp::Add, x, dim, index, &scaled(&kept, alpha)?)
}

fn fill(x: &Tensor, dim: i64, index: &Tensor, value: &Operand) -> Result<Tensor> {
    let op = "index_fill_";
    let value = match value {
        Operand::Number(n) => Tensor::scalar_of(*n, x.dtype(), x.device())?,
        Operand::Tensor(t) => {
            ensure!(t.dim() == 0, Runtime, op, "the value must be one number, not of shape {:?}", t.shape());
            t.detach()?.to_dtype(x.dtype())?.to_device(x.device())?
        }
    };
    let (index, d) = checked(op, x, dim, index, true)?;
    let own = at_least_1d(x.layout())?;
    let mut shape: Shape = own.shape().into();
    shape[d] = index.numel();
    let from = value.layout().broadcast_to(&shape)?;
    let axes = [axis(&own, &index, &shape, d)?];
    write(rules(op, true), ScatterOp::Set, x, still(&own, &shape, d)?, &axes, &value, &from)?;
    Ok(x.clone())
}

fn repeat_interleave(x: &Tensor, repeats: &Operand, dim: Option<i64>) -> Result<Tensor> {
    let op = "repeat_interleave";
    let Some(dim) = dim else {
        return repeat_interleave(&x.reshape(-1)?, repeats, Some(0));
    };
    let x = if x.dim() == 0 { x.view(1)? } else { x.clone() };
    let d = dim_index(op, dim as isize, x.dim())?;
    let n = x.shape()[d];
    let counts: Vec<i64> = match repeats {
        Operand::Number(k) => vec![k.to_i64(); n],
        Operand::Tensor(t) => {
            let one = t.numel() == 1;
            ensure!(
                t.dim() <= 1 && (one || t.numel() == n) && t.dtype().is_integral(),
                Runtime,
                op,
                "repeats must be integers, one or {n} of them, not shape {:?} of {}",
                t.shape(),
                t.dtype()
            );
            let list = t.detach()?.to_dtype(crate::DType::I64)?.to_vec::<i64>()?;
            if one { vec![list[0]; n] } else { list }
        }
    };
    let mut total = 0usize;
    for k in &counts {
        ensure!(*k >= 0, Runtime, op, "repeats must not be negative, found {k}");
        total = total.saturating_add(*k as usize);
    }
    super::super::create::room(op, total)?;
    let list: Vec<i64> =
        counts.iter().enumerate().flat_map(|(i, k)| std::iter::repeat_n(i as i64, *k as usize)).collect();
    let index = super::super::arrange::host_list(&list, &[list.len()], &x)?;
    x.index_select(d as i64, &index)
}

/// (tensor, dim, index) without repeated places.
fn cases() -> Vec<(&'static [usize], i64, Vec<i64>)> {
    vec![
        (&[4, 3], 0, vec![2, 0]),
        (&[2, 5], -1, vec![4, 1, 0]),
        (&[2, 3, 2], 1, vec![1]),
        (&[3], 0, vec![]),
        (&[], 0, vec![0]),
    ]
}

fn sampled(rest: impl Fn(&[usize], i64, usize) -> Vec<Value>, grad: bool) -> Vec<Sample> {
    cases()
        .into_iter()
        .filter_map(|(s, d, list)| {
            let n = list.len();
            let index = Tensor::from_vec(list, [n]).ok()?;
            let mut sample = one(s, [Value::Int(d), Value::Tensor(index)])?;
            sample.args.extend(rest(s, d, n));
            Some(Sample { grad, ..sample })
        })
        .collect()
}

fn source(shape: &[usize], dim: i64, n: usize) -> Vec<Value> {
    let mut shape = shape.to_vec();
    if !shape.is_empty() {
        let d = dim.rem_euclid(shape.len() as i64) as usize;
        shape[d] = n;
    }
    samples::values(&shape, 31).map(|t| vec![Value::Tensor(t)]).unwrap_or_default()
}

fn select_samples() -> Vec<Sample> {
    let mut all = sampled(|_, _, _| Vec::new(), true);
    if let Ok(twice) = Tensor::from_vec(vec![1i64, 1, 0], [3]) {
        all.extend(one(&[2, 2], [Value::Int(0), Value::Tensor(twice)]));
    }
    all
}
fn add_samples() -> Vec<Sample> {
    sampled(
        |s, d, n| {
            let mut all = source(s, d, n);
            all.push(Value::Number(Number::Float(1.5)));
            all
        },
        true,
    )
}
fn copy_samples() -> Vec<Sample> {
    sampled(source, true)
}
fn fill_samples() -> Vec<Sample> {
    sampled(|_, _, _| vec![Value::Operand(Operand::Number(Number::Float(0.5)))], true)
}
fn interleave_samples() -> Vec<Sample> {
    let number = |n: i64| Value::Operand(Operand::Number(Number::Int(n)));
    [
        one(&[3], [number(2), Value::OptInt(None)]),
        one(&[2, 2], [number(2), Value::OptInt(Some(-1))]),
        one(&[2, 2], [number(0), Value::OptInt(Some(0))]),
    ]
    .into_iter()
    .flatten()
    .collect()
}
