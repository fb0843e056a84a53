//! Positions in the flattened tensor.

use super::super::view::one;
use super::{Axis, Rules, positions, read, same_dtype, write};
use crate::backend::ScatterOp;
use crate::exec;
use crate::op::{Sample, Value, samples};
use crate::{DType, Kind, Layout, Result, Strides, Tensor, ensure};
use smallvec::smallvec;

ops! { FLAT;
    /// Elements at row-major positions `index` (int64; negative ones count from the end), shaped
    /// like it.
    fn take [out] (input: Tensor, index: Tensor) -> Tensor {
        run: super::take(input, index),
        grad: [reads inputs 1; outputs] |cx| {
            let g = cx.info(0)?.zeros()?.put_(&cx.input(1)?, &cx.grad(0)?, true)?;
            Ok(smallvec![Some(g), None])
        },
        samples: take_samples,
    }
    /// Writes `source`, element by element, to row-major positions `index`; adds with `accumulate`.
    fn put_ (input: Tensor, index: Tensor, source: Tensor, accumulate: Bool = false) -> Tensor {
        mutates: super::put(input, index, source, *accumulate),
        grad: [reads inputs 1; outputs] |cx| {
            let (g, index) = (cx.grad(0)?, cx.input(1)?);
            let kept = if *cx.arg::<bool>(3)? {
                g.clone()
            } else {
                let zeros = Tensor::full_as(&index.detach()?.to_dtype(g.dtype())?, 0.into())?;
                g.put(&index, &zeros, false)?
            };
            let part = if cx.needs(2) { Some(g.take(&index)?.reshape(&cx.info(2)?.shape)?) } else { None };
            Ok(smallvec![Some(kept), None, part])
        },
        samples: put_samples,
    }
    /// As `put_`, on a copy.
    fn put (input: Tensor, index: Tensor, source: Tensor, accumulate: Bool = false) -> Tensor {
        run: input.copy()?.put_(index, source, *accumulate),
        samples: put_samples,
    }
}

fn rules(op: &'static str) -> Rules {
    Rules { op, kind: Kind::Index, wrap: true }
}

fn checked(op: &'static str, x: &Tensor, index: &Tensor, written: bool) -> Result<Tensor> {
    ensure!(
        index.dtype() == DType::I64,
        Runtime,
        op,
        "positions must be int64, not {}; convert them with to_dtype",
        index.dtype()
    );
    exec::common_device(op, [x, index])?;
    positions(op, Kind::Runtime, index, written.then_some(x))
}

/// The one axis of a flattened, contiguous tensor, and its layout held still over `shape`.
fn flat(x: &Tensor, index: &Tensor, shape: &[usize]) -> Result<(Axis, Layout)> {
    let strides: Strides = smallvec![0; shape.len()];
    let axis =
        Axis { layout: index.layout().clone(), index: index.clone(), stride: 1, size: x.numel(), axis: 0 };
    Ok((axis, Layout::new(shape, strides, x.storage_offset())?))
}

fn take(x: &Tensor, index: &Tensor) -> Result<Tensor> {
    let index = checked("take", x, index, false)?;
    let x = x.detach()?.contiguous()?;
    let out = Tensor::alloc(Layout::contiguous(index.shape())?, x.dtype(), x.device())?;
    crate::trace::copying("take", out.nbytes(), out.shape(), "elements are picked into new memory")?;
    let (axis, from) = flat(&x, &index, index.shape())?;
    read(rules("take"), &out, &x, &from, &[axis])?;
    Ok(out)
}

fn put(x: &Tensor, index: &Tensor, source: &Tensor, accumulate: bool) -> Result<Tensor> {
    let op = "put_";
    same_dtype(op, x, source)?;
    let index = checked(op, x, index, true)?;
    ensure!(
        index.numel() == source.numel(),
        Index,
        op,
        "{} positions cannot take {} elements",
        index.numel(),
        source.numel()
    );
    let source = &*exec::apart(op, x, source)?;
    let source = source.detach()?.reshape(index.shape())?;
    let how = if accumulate { ScatterOp::Add } else { ScatterOp::Set };
    // Row-major positions are places in memory of a contiguous tensor only.
    let dense = x.detach()?.contiguous()?;
    let (axis, to) = flat(&dense, &index, index.shape())?;
    write(rules(op), how, &dense, to, &[axis], &source, source.layout())?;
    if !x.is_contiguous() {
        exec::copy(x, &dense)?;
    }
    Ok(x.clone())
}

fn take_samples() -> Vec<Sample> {
    let cases: [(&[usize], &[usize], Vec<i64>); 3] =
        [(&[3, 2], &[2, 2], vec![5, 0, -1, 3]), (&[4], &[3], vec![1, 1, 2]), (&[], &[1], vec![0])];
    cases
        .into_iter()
        .filter_map(|(s, shape, list)| one(s, [Value::Tensor(Tensor::from_vec(list, shape).ok()?)]))
        .collect()
}

fn put_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for accumulate in [false, true] {
        let cases: [(&[usize], &[usize], Vec<i64>); 3] =
            [(&[3, 2], &[2, 2], vec![5, 0, -2, 3]), (&[4], &[3], vec![1, 0, 2]), (&[], &[1], vec![0])];
        all.extend(cases.into_iter().filter_map(|(s, shape, list)| {
            let index = Tensor::from_vec(list, shape).ok()?;
            let source = samples::values(shape, 23).ok()?;
            one(s, [Value::Tensor(index), Value::Tensor(source), Value::Bool(accumulate)])
        }));
    }
    all
}
