//! Positions along one dimension, one for each element.

use super::super::view::one;
use super::{Axis, Rules, at_least_1d, positions, read, same_dtype, still, write};
use crate::backend::ScatterOp;
use crate::exec;
use crate::layout::{broadcast_shapes, dim_index};
use crate::op::{Operand, Sample, Size, Value, samples};
use crate::{DType, Kind, Layout, Result, Shape, Tensor, bail, ensure};
use smallvec::{SmallVec, smallvec};

ops! { PICK;
    /// `out[i][j][k] = input[index[i][j][k]][j][k]` for `dim` 0, and so on. `index` (int64 or int32,
    /// none negative) has the result's shape, and is no larger than the tensor in other dimensions.
    fn gather [out] (input: Tensor, dim: Int, index: Tensor) -> Tensor {
        run: super::gather(input, *dim, index),
        grad: [reads inputs 2; outputs] |cx| {
            let index = cx.input(2)?;
            let zeros = cx.info(0)?.zeros()?;
            let g = if index.numel() == 0 { zeros } else { zeros.scatter_add_(*cx.arg::<i64>(1)?, &index, &cx.grad(0)?)? };
            Ok(smallvec![Some(g), None])
        },
        samples: gather_samples,
    }
    /// As `gather`, with index and tensor broadcast in the other dimensions; without `dim` over the
    /// flattened tensor.
    fn take_along_dim [out] (input: Tensor, indices: Tensor, dim: OptInt = None) -> Tensor {
        run: super::take_along_dim(input, indices, *dim),
        samples: along_samples,
    }
    /// `input[index[i][j][k]][j][k] = src[i][j][k]` for `dim` 0, and so on; of several values for one
    /// place the last stays. `reduce` is "none", "add" or "multiply" (which has no gradient).
    fn scatter_ / scatter_with_ (input: Tensor, dim: Int, index: Tensor, src: Operand; reduce: Text = "none") -> Tensor {
        mutates: super::scatter(input, *dim, index, src, reduce),
        grad: [reads inputs 2; outputs] |cx| {
            let (g, dim, index) = (cx.grad(0)?, *cx.arg::<i64>(1)?, cx.input(2)?);
            let kept = match cx.arg::<String>(4)?.as_str() {
                "none" => g.scatter(dim, &index, 0)?,
                "add" => g.clone(),
                other => bail!(NotImplemented, "scatter_", "reduce={other:?} has no gradient"),
            };
            let part = if cx.needs(2) { Some(spread(&g.gather(dim, &index)?, &cx.info(3)?.shape)?) } else { None };
            Ok(smallvec![Some(kept), None, part])
        },
        samples: scatter_samples,
    }
    /// As `scatter_`, on a copy.
    fn scatter / scatter_with [out] (input: Tensor, dim: Int, index: Tensor, src: Operand; reduce: Text = "none") -> Tensor {
        run: input.writable()?.scatter_with_(*dim, index, src.clone(), reduce),
        samples: scatter_samples,
    }
    /// As `scatter_`, adding; several values for one place all count.
    fn scatter_add_ (input: Tensor, dim: Int, index: Tensor, src: Tensor) -> Tensor {
        mutates: place(rules("scatter_add_"), ScatterOp::Add, input, *dim, index, src),
        grad: [reads inputs 2; outputs] |cx| {
            let g = cx.grad(0)?;
            let part = if cx.needs(2) { Some(spread(&g.gather(*cx.arg::<i64>(1)?, &cx.input(2)?)?, &cx.info(3)?.shape)?) } else { None };
            Ok(smallvec![Some(g), None, part])
        },
        samples: scatter_add_samples,
    }
    /// As `scatter_add_`, on a copy.
    fn scatter_add [out] (input: Tensor, dim: Int, index: Tensor, src: Tensor) -> Tensor {
        run: input.writable()?.scatter_add_(*dim, index, src),
        samples: scatter_add_samples,
    }
}

pub(super) fn rules(op: &'static str) -> Rules {
    Rules { op, kind: Kind::Runtime, wrap: false }
}

/// Checks that index and tensor fit, and gives both as at least vectors.
fn fit(op: &'static str, x: &Layout, index: &Tensor, d: usize) -> Result<(Layout, Layout)> {
    let (own, at) = (at_least_1d(x)?, at_least_1d(index.layout())?);
    ensure!(
        own.rank() == at.rank(),
        Runtime,
        op,
        "an index of shape {:?} and a tensor of shape {:?} must have the same number of dimensions",
        index.shape(),
        x.shape()
    );
    for k in (0..own.rank()).filter(|k| *k != d) {
        ensure!(
            at.shape()[k] <= own.shape()[k],
            Runtime,
            op,
            "an index of shape {:?} is larger than the tensor of shape {:?} in dimension {k}",
            index.shape(),
            x.shape()
        );
    }
    Ok((own, at))
}

fn axis(own: &Layout, at: Layout, index: Tensor, d: usize) -> Axis {
    Axis { layout: at, index, stride: own.strides()[d], size: own.shape()[d], axis: d }
}

fn gather(x: &Tensor, dim: i64, index: &Tensor) -> Result<Tensor> {
    let op = "gather";
    let d = dim_index(op, dim as isize, x.dim())?;
    exec::common_device(op, [x, index])?;
    let index = positions(op, Kind::Runtime, index, None)?;
    let out = Tensor::alloc(Layout::contiguous(index.shape())?, x.dtype(), x.device())?;
    if index.numel() == 0 {
        return Ok(out);
    }
    let (own, at) = fit(op, x.layout(), &index, d)?;
    crate::trace::copying(op, out.nbytes(), out.shape(), "elements are picked into new memory")?;
    let from = still(&own, at.shape(), d)?;
    let wide = super::through(&out, Layout::contiguous(at.shape())?);
    read(rules(op), &wide, x, &from, &[axis(&own, at, index, d)])?;
    Ok(out)
}

fn take_along_dim(x: &Tensor, indices: &Tensor, dim: Option<i64>) -> Result<Tensor> {
    let op = "take_along_dim";
    ensure!(indices.dtype() == DType::I64, Runtime, op, "positions must be int64, not {}", indices.dtype());
    let Some(dim) = dim else {
        return x.reshape(-1)?.gather(0, &indices.reshape(-1)?);
    };
    ensure!(
        x.dim() == indices.dim(),
        Runtime,
        op,
        "a tensor of shape {:?} and indices of shape {:?} must have the same number of dimensions",
        x.shape(),
        indices.shape()
    );
    let d = dim_index(op, dim as isize, x.dim())?;
    let without =
        |s: &[usize]| -> Shape { s.iter().enumerate().map(|(k, n)| if k == d { 1 } else { *n }).collect() };
    let joint = broadcast_shapes(op, &[&without(x.shape()), &without(indices.shape())])?;
    let with = |n: Option<&usize>| -> Shape {
        joint.iter().enumerate().map(|(k, j)| if k == d { n.copied().unwrap_or(1) } else { *j }).collect()
    };
    let (wide, at) = (with(x.shape().get(d)), with(indices.shape().get(d)));
    x.expand(wide)?.gather(dim, &indices.expand(at)?)
}

pub(super) fn place(
    rules: Rules,
    how: ScatterOp,
    x: &Tensor,
    dim: i64,
    index: &Tensor,
    src: &Tensor,
) -> Result<Tensor> {
    let op = rules.op;
    same_dtype(op, x, src)?;
    let d = dim_index(op, dim as isize, x.dim())?;
    exec::common_device(op, [x, index, src])?;
    let index = positions(op, Kind::Runtime, index, Some(x))?;
    let src = &*exec::apart(op, x, src)?;
    if index.numel() == 0 {
        return Ok(x.clone());
    }
    let (own, at) = fit(op, x.layout(), &index, d)?;
    let values = at_least_1d(src.layout())?;
    ensure!(
        values.rank() == at.rank() && (0..at.rank()).all(|k| at.shape()[k] <= values.shape()[k]),
        Runtime,
        op,
        "an index of shape {:?} is larger than the source of shape {:?}",
        index.shape(),
        src.shape()
    );
    let from = Layout::new(at.shape(), values.strides(), values.offset())?;
    write(rules, how, x, still(&own, at.shape(), d)?, &[axis(&own, at, index, d)], src, &from)?;
    Ok(x.clone())
}

fn scatter(x: &Tensor, dim: i64, index: &Tensor, src: &Operand, reduce: &str) -> Result<Tensor> {
    let how = match reduce {
        "none" => ScatterOp::Set,
        "add" => ScatterOp::Add,
        "multiply" => ScatterOp::Mul,
        _ => bail!(Runtime, "scatter_", "reduce is \"add\" or \"multiply\", not {reduce:?}"),
    };
    match src {
        Operand::Tensor(t) => place(rules("scatter_"), how, x, dim, index, t),
        Operand::Number(n) => {
            let value = Tensor::scalar_of(*n, x.dtype(), x.device())?;
            let wide = value.expand(index.shape())?;
            place(rules("scatter_"), how, x, dim, index, &wide)
        }
    }
}

/// `g`, with zeros added behind in each dimension up to `shape`.
pub(super) fn spread(g: &Tensor, shape: &[usize]) -> Result<Tensor> {
    if g.shape() == shape {
        return Ok(g.clone());
    }
    if g.dim() != shape.len() {
        return g.reshape(shape);
    }
    let margins: SmallVec<[isize; 6]> =
        (0..shape.len()).rev().flat_map(|d| [0, shape[d] as isize - g.shape()[d] as isize]).collect();
    g.constant_pad_nd(Size(margins), 0)
}

/// Shape, dim, and the index with its shape.
pub(super) type Case = (&'static [usize], i64, &'static [usize], Vec<i64>);

pub(super) fn cases() -> Vec<Case> {
    vec![
        (&[3, 4], 0, &[2, 4], vec![2, 0, 1, 0, 0, 1, 2, 2]),
        (&[3, 4], -1, &[2, 2], vec![3, 0, 1, 2]),
        (&[5], 0, &[3], vec![4, 0, 2]),
        (&[2, 2, 2], 1, &[2, 1, 2], vec![1, 0, 0, 1]),
        (&[], 0, &[], vec![0]),
        (&[2, 2], 0, &[0, 2], vec![]),
    ]
}

fn sampled(rest: impl Fn(&[usize]) -> Vec<Value>) -> Vec<Sample> {
    cases()
        .into_iter()
        .filter_map(|(s, d, shape, list)| {
            let index = Tensor::from_vec(list, shape).ok()?;
            let mut sample = one(s, [Value::Int(d), Value::Tensor(index)])?;
            sample.args.extend(rest(shape));
            Some(sample)
        })
        .collect()
}

fn gather_samples() -> Vec<Sample> {
    sampled(|_| Vec::new())
}

fn along_samples() -> Vec<Sample> {
    let make = || -> Result<Vec<Option<Sample>>> {
        let (a, b) = (samples::indices(&[2, 1], 4, 1)?, samples::indices(&[5], 6, 1)?);
        Ok(vec![
            one(&[1, 4], [Value::Tensor(a), Value::OptInt(Some(1))]),
            one(&[2, 3], [Value::Tensor(b), Value::OptInt(None)]),
        ])
    };
    make().unwrap_or_default().into_iter().flatten().collect()
}

fn scatter_samples() -> Vec<Sample> {
    let none = || Value::Text("none".into());
    let mut all = sampled(|shape| match samples::values(shape, 17) {
        Ok(t) => vec![Value::Operand(Operand::Tensor(t)), none()],
        Err(_) => Vec::new(),
    });
    // Every place is written once here, or the last value alone would matter.
    all.iter_mut().for_each(|s| s.grad = true);
    all.extend(sampled(|_| vec![Value::Operand(Operand::Number(1.5.into())), none()]));
    all
}

fn scatter_add_samples() -> Vec<Sample> {
    sampled(|shape| samples::values(shape, 17).map(|t| vec![Value::Tensor(t)]).unwrap_or_default())
}
