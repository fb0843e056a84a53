//! The tensors of an index together: they broadcast, and their shape takes the place of the
//! dimensions they index; in front, where those are not neighbours.

use super::item::is_mask;
use super::mask::coordinates;
use super::{Axis, Rules, positions, read, same_dtype, write};
use crate::backend::ScatterOp;
use crate::exec;
use crate::layout::{broadcast_shapes, checked_numel, elementwise_strides};
use crate::op::{Sample, Value, samples};
use crate::{DType, Kind, Layout, Result, Shape, Strides, Tensor, bail, ensure};
use smallvec::{SmallVec, smallvec};

ops! { ADVANCED;
    /// Elements that tensors of positions choose: `indices[d]` for dimension d, `None` for a whole
    /// dimension, a bool mask for as many dimensions as it has. Negative positions count from the
    /// end. See [`Tensor::i`] for brackets.
    fn index as internal (input: Tensor, indices: OptTensors) -> Tensor {
        run: super::index(input, indices),
        grad: [reads inputs 1; outputs] |cx| {
            let indices = cx.inputs(1)?;
            let g = cx.info(0)?.zeros()?.index_put_(&refs(&indices), &cx.grad(0)?, true)?;
            let mut grads: crate::grad::Grads = smallvec![None; cx.slots()];
            grads[0] = Some(g);
            Ok(grads)
        },
        samples: index_samples,
    }
    /// Writes `values`, broadcast, to the elements that tensors of positions choose. With
    /// `accumulate` they are added, as often as a position occurs; without, the last one stays.
    fn index_put_ (input: Tensor, indices: OptTensors, values: Tensor, accumulate: Bool = false) -> Tensor {
        mutates: put(input, indices, values, *accumulate),
        grad: [reads inputs 1; outputs] |cx| {
            let (g, indices) = (cx.grad(0)?, cx.inputs(1)?);
            let last = cx.slots() - 1;
            let mut grads: crate::grad::Grads = smallvec![None; last + 1];
            grads[0] = Some(if *cx.arg::<bool>(3)? {
                g.clone()
            } else {
                let zero = Tensor::scalar_of(crate::Number::Int(0), g.dtype(), g.device())?;
                g.index_put(&refs(&indices), &zero, false)?
            });
            if cx.needs(last) {
                grads[last] = Some(crate::grad::sum_to(&g.index(&refs(&indices))?, &cx.info(2)?.shape)?);
            }
            Ok(grads)
        },
        samples: put_samples,
    }
    /// As `index_put_`, on a copy.
    fn index_put (input: Tensor, indices: OptTensors, values: Tensor, accumulate: Bool = false) -> Tensor {
        run: input.copy()?.index_put_(&refs(indices), values, *accumulate),
        samples: put_samples,
    }
}

fn refs(tensors: &[Option<Tensor>]) -> Vec<Option<&Tensor>> {
    tensors.iter().map(Option::as_ref).collect()
}

/// The geometry of one call.
struct Plan {
    /// Shape of the result, or of the values.
    shape: Shape,
    /// The indexed tensor over that shape, with stride 0 where tensors choose.
    indexed: Layout,
    axes: Vec<Axis>,
}

/// Every index as int64 positions of one dimension; masks become the positions of their ones.
fn spread(x: &Tensor, indices: &[Option<Tensor>], written: bool) -> Result<Vec<Option<Tensor>>> {
    let mut list: Vec<Option<Tensor>> = Vec::new();
    for index in indices {
        match index {
            Some(mask) if is_mask(mask) => {
                let at = list.len();
                let covered = x.shape().get(at..at.saturating_add(mask.dim()));
                ensure!(
                    mask.dim() > 0 && covered == Some(mask.shape()),
                    Index,
                    "index",
                    "a mask of shape {:?} does not fit dimensions {at} and on of a tensor of shape {:?}",
                    mask.shape(),
                    x.shape()
                );
                list.extend(coordinates(mask)?.into_iter().map(Some));
            }
            Some(t) => list.push(Some(positions("index", Kind::Index, &in_int64(t)?, written.then_some(x))?)),
            None => list.push(None),
        }
    }
    ensure!(
        list.len() <= x.dim(),
        Index,
        "index",
        "{} indices are too many for a tensor of shape {:?}",
        list.len(),
        x.shape()
    );
    list.resize(x.dim(), None);
    Ok(list)
}

/// Brackets take positions of any integer dtype, unlike the ops that take positions.
fn in_int64(index: &Tensor) -> Result<Tensor> {
    match index.dtype() {
        DType::I8 | DType::I16 | DType::U16 | DType::U32 => index.to_dtype(DType::I64),
        // What int64 does not hold lies outside of every dimension.
        DType::U64 => index.clamp((), i64::MAX)?.to_dtype(DType::I64),
        _ => Ok(index.clone()),
    }
}

fn plan(x: &Tensor, indices: &[Option<Tensor>], written: bool) -> Result<Plan> {
    exec::common_device("index", indices.iter().flatten().chain([x]))?;
    let list = spread(x, indices, written)?;
    let shapes: SmallVec<[&[usize]; 3]> = list.iter().flatten().map(Tensor::shape).collect();
    ensure!(!shapes.is_empty(), Index, "index", "there must be at least one index tensor");
    let joint = broadcast_shapes("index", &shapes).map_err(|e| e.with_kind(Kind::Index))?;
    let chosen: SmallVec<[usize; 6]> = (0..x.dim()).filter(|d| list[*d].is_some()).collect();
    let (first, last) = (chosen[0], chosen[chosen.len() - 1]);
    let neighbours = last - first + 1 == chosen.len();
    let at = if neighbours { first } else { 0 };
    let (mut shape, mut strides) = (Shape::new(), Strides::new());
    for d in (0..x.dim()).filter(|d| list[*d].is_none()) {
        shape.push(x.shape()[d]);
        strides.push(x.strides()[d]);
    }
    shape.insert_from_slice(at, &joint);
    strides.insert_many(at, std::iter::repeat_n(0, joint.len()));
    checked_numel("index", &shape)?;
    let indexed = Layout::new(shape.clone(), strides, x.storage_offset())?;
    let axes: Result<Vec<Axis>> = chosen
        .iter()
        .filter_map(|d| list[*d].as_ref().map(|t| (*d, t)))
        .map(|(d, t)| {
            let wide = t.layout().broadcast_to(&joint)?;
            let mut strides: Strides = smallvec![0; shape.len()];
            strides[at..at + joint.len()].copy_from_slice(wide.strides());
            Ok(Axis {
                layout: Layout::new(shape.clone(), strides, t.storage_offset())?,
                index: t.clone(),
                stride: x.strides()[d],
                size: x.shape()[d],
                axis: d,
            })
        })
        .collect();
    check_empty(x, &joint, &chosen)?;
    Ok(Plan { shape, indexed, axes: axes? })
}

/// A dimension of size 0 has no positions, even where the result is empty for another reason.
fn check_empty(x: &Tensor, joint: &[usize], chosen: &[usize]) -> Result<()> {
    if joint.contains(&0) {
        return Ok(());
    }
    match chosen.iter().find(|d| x.shape()[**d] == 0) {
        Some(d) => bail!(Index, "index", "dimension {d} of shape {:?} has no element to index", x.shape()),
        None => Ok(()),
    }
}

const RULES: Rules = Rules { op: "index", kind: Kind::Index, wrap: true };

fn index(x: &Tensor, indices: &[Option<Tensor>]) -> Result<Tensor> {
    let plan = plan(x, indices, false)?;
    let out = Tensor::alloc(result_layout(&plan)?, x.dtype(), x.device())?;
    crate::trace::copying("index", out.nbytes(), out.shape(), "index tensors pick scattered elements")?;
    read(RULES, &out, x, &plan.indexed, &plan.axes)?;
    Ok(out)
}

/// Memory order as for element-wise ops on the indexed tensor and the index tensors (contract 1e).
fn result_layout(plan: &Plan) -> Result<Layout> {
    let narrow: SmallVec<[Shape; 3]> = plan
        .axes
        .iter()
        .map(|a| {
            let sizes = plan.shape.iter().zip(a.layout.strides()).zip(plan.indexed.strides());
            sizes.map(|((n, own), whole)| if *own == 0 && *whole != 0 { 1 } else { *n }).collect()
        })
        .collect();
    let mut parts: SmallVec<[(&[usize], &[isize]); 4]> = smallvec![plan.indexed.parts()];
    parts.extend(narrow.iter().zip(&plan.axes).map(|(s, a)| (s.as_slice(), a.layout.strides())));
    Layout::new(plan.shape.clone(), elementwise_strides(&parts, &plan.shape), 0)
}

fn put(x: &Tensor, indices: &[Option<Tensor>], values: &Tensor, accumulate: bool) -> Result<Tensor> {
    same_dtype("index_put_", x, values)?;
    let plan = plan(x, indices, true)?;
    let from = values.layout().broadcast_to(&plan.shape).map_err(|_| {
        crate::err!(
            Runtime,
            "index_put_",
            "values of shape {:?} do not broadcast to the indexed shape {:?}",
            values.shape(),
            plan.shape
        )
    })?;
    // One value reaches every cell of an expanded tensor alike.
    let values = match values.numel() != 1 || accumulate {
        true => &*exec::apart("index_put_", x, values)?,
        false => values,
    };
    let how = if accumulate { ScatterOp::Add } else { ScatterOp::Set };
    write(RULES, how, x, plan.indexed, &plan.axes, values, &from)?;
    Ok(x.clone())
}

fn cases() -> Vec<(Tensor, Vec<Option<Tensor>>)> {
    let make = || -> Result<_> {
        let x = samples::values(&[3, 4, 2], 1)?;
        let (a, b) = (samples::indices(&[2], 3, 0)?, samples::indices(&[3, 1], 2, 1)?);
        let mask = samples::values(&[4], 2)?.gt(0.0)?;
        let wide = samples::values(&[3, 4], 2)?.gt(0.0)?;
        let minus = Tensor::from_vec(vec![-1i64, 0, -2], [3])?;
        Ok(vec![
            (x.clone(), vec![Some(a.clone())]),
            (x.clone(), vec![None, Some(minus)]),
            (x.clone(), vec![Some(a.clone()), None, Some(b.clone())]),
            (x.clone(), vec![None, Some(mask)]),
            (x.clone(), vec![Some(wide)]),
            (samples::values(&[5], 3)?, vec![Some(samples::indices(&[2, 2], 5, 2)?)]),
            (x, vec![Some(Tensor::from_vec(Vec::<i64>::new(), [0])?)]),
        ])
    };
    make().unwrap_or_default()
}

fn index_samples() -> Vec<Sample> {
    let sample =
        |(x, list)| Sample { args: smallvec![Value::Tensor(x), Value::OptTensors(list)], grad: true };
    cases().into_iter().map(sample).collect()
}

fn put_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for (k, (x, list)) in cases().into_iter().enumerate() {
        let Ok(shape) = plan(&x, &list, false).map(|p| p.shape) else { continue };
        let wide = samples::values(&shape, 20 + k);
        let values = if k % 2 == 0 { wide } else { samples::values(&[], 20 + k) };
        let Ok(values) = values else { continue };
        for accumulate in [false, true] {
            // Which of several values for one place stays is no smooth matter.
            all.push(Sample {
                args: smallvec![
                    Value::Tensor(x.clone()),
                    Value::OptTensors(list.clone()),
                    Value::Tensor(values.clone()),
                    Value::Bool(accumulate)
                ],
                grad: accumulate,
            });
        }
    }
    all
}
