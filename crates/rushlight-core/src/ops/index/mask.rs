//! Bool masks, and the places of what is not zero.

use super::super::arrange::{host_list, through};
use super::super::view::plain_samples;
use crate::exec;
use crate::layout::broadcast_shapes;
use crate::op::{Operand, Sample, Value, compute_type, samples};
use crate::program::{Program, Sort, trace};
use crate::{Category, DType, Device, Layout, Number, Result, Tensor, bail, ensure};
use smallvec::smallvec;
use std::sync::LazyLock;

ops! { MASK;
    /// `value`, one number, wherever `mask` (bool, broadcast to the tensor's shape) is true.
    fn masked_fill_ (input: Tensor, mask: Tensor, value: Operand) -> Tensor {
        mutates: super::masked_fill_(input, mask, value),
        grad: [reads inputs 1; outputs] |cx| {
            let (g, mask) = (cx.grad(0)?, cx.input(1)?);
            let part = if cx.needs(2) { Some(g.masked_select(&mask)?.sum((), false)?) } else { None };
            Ok(smallvec![Some(g.masked_fill(&mask, 0)?), None, part])
        },
        samples: fill_samples,
    }
    /// As `masked_fill_`, on a copy; here the tensor broadcasts too.
    fn masked_fill (input: Tensor, mask: Tensor, value: Operand) -> Tensor {
        run: copied("masked_fill", input, mask)?.masked_fill_(mask, value.clone()),
        samples: fill_samples,
    }
    /// The elements where `mask` is true, as a vector; both broadcast.
    fn masked_select [out] (input: Tensor, mask: Tensor) -> Tensor {
        run: super::masked_select(input, mask),
        samples: select_samples,
    }
    /// Elements of `source`, in order, to the places where `mask` (broadcast) is true, in order.
    fn masked_scatter_ (input: Tensor, mask: Tensor, source: Tensor) -> Tensor {
        run: super::masked_scatter_(input, mask, source),
        samples: scatter_samples,
    }
    /// As `masked_scatter_`, on a copy; here the tensor broadcasts too.
    fn masked_scatter (input: Tensor, mask: Tensor, source: Tensor) -> Tensor {
        run: copied("masked_scatter", input, mask)?.masked_scatter_(mask, source),
        samples: scatter_samples,
    }
    /// Positions of the elements that are not zero: int64, one row each, one column a dimension.
    fn nonzero [out] (input: Tensor) -> Tensor {
        run: super::nonzero(input),
        samples: plain_samples,
    }
    /// As `nonzero`, one vector a dimension: what indexes those elements. A 0-d tensor counts as a
    /// vector. This is `where` with one argument.
    fn nonzero_numpy as nonzero_numpy | where (input: Tensor) -> Vec<Tensor> {
        run: if input.dim() == 0 { input.unsqueeze(0)?.nonzero()?.unbind(1) } else { input.nonzero()?.unbind(1) },
        samples: plain_samples,
    }
}

static SELECT: LazyLock<Program> =
    LazyLock::new(|| exec::fixed(trace(&[Sort::Truth, Sort::Num], 1, |x| vec![x[0].select(x[2], x[1])])));

fn check_mask(op: &'static str, mask: &Tensor) -> Result<()> {
    ensure!(mask.dtype() == DType::Bool, Runtime, op, "the mask must be bool, not {}", mask.dtype());
    Ok(())
}

/// Writes `value` where the mask is true, outside any graph.
pub(in crate::ops) fn fill_where(op: &'static str, x: &Tensor, mask: &Tensor, value: Number) -> Result<()> {
    let ctype = compute_type(x.dtype());
    exec::map(op, &SELECT, &[value.cast(x.dtype())], ctype, &[x], &[mask, x])
}

fn masked_fill_(x: &Tensor, mask: &Tensor, value: &Operand) -> Result<Tensor> {
    let op = "masked_fill_";
    check_mask(op, mask)?;
    let joint = broadcast_shapes(op, &[x.shape(), mask.shape()])?;
    ensure!(
        joint.as_slice() == x.shape(),
        Runtime,
        op,
        "a mask of shape {:?} does not fit a tensor of shape {:?}",
        mask.shape(),
        x.shape()
    );
    let value = match value {
        Operand::Number(n) => n.checked_cast(op, x.dtype())?,
        Operand::Tensor(t) => {
            ensure!(t.dim() == 0, Runtime, op, "the value must be one number, not of shape {:?}", t.shape());
            if x.device() == Device::META {
                return Ok(x.clone());
            }
            t.item()?
        }
    };
    ensure!(
        value.category() != Category::Complex || x.dtype().is_complex(),
        Runtime,
        op,
        "a complex value does not fit a tensor of {}",
        x.dtype()
    );
    // A mask of one value may come from elsewhere, as any 0-d operand.
    let moved;
    let mask = if mask.dim() == 0 && mask.device() != x.device() {
        moved = mask.detach()?.to_device(x.device())?;
        &moved
    } else {
        mask
    };
    // The mask may be the tensor itself: each element is read before it is written.
    if mask.layout() != x.layout() && mask.shares_storage(x) {
        return masked_fill_(x, &mask.detach()?.copy()?, &Operand::Number(value));
    }
    fill_where(op, x, mask, value)?;
    Ok(x.clone())
}

/// The tensor stretched to its joint shape with the mask.
fn widened(op: &'static str, x: &Tensor, mask: &Tensor) -> Result<Tensor> {
    check_mask(op, mask)?;
    let joint = broadcast_shapes(op, &[x.shape(), mask.shape()])?;
    if joint.as_slice() == x.shape() { Ok(x.clone()) } else { x.expand(&joint) }
}

/// A row-major copy of the tensor in its joint shape with the mask.
fn copied(op: &'static str, x: &Tensor, mask: &Tensor) -> Result<Tensor> {
    widened(op, x, mask)?.writable()
}

/// Both with one shape, of at least one dimension.
fn together(op: &'static str, x: &Tensor, mask: &Tensor) -> Result<(Tensor, Tensor)> {
    let x = widened(op, x, mask)?;
    let mask = mask.expand(x.shape())?;
    if x.dim() == 0 { Ok((x.unsqueeze(0)?, mask.unsqueeze(0)?)) } else { Ok((x, mask)) }
}

fn masked_select(x: &Tensor, mask: &Tensor) -> Result<Tensor> {
    let (x, mask) = together("masked_select", x, mask)?;
    x.index(&[Some(&mask)])
}

fn masked_scatter_(x: &Tensor, mask: &Tensor, source: &Tensor) -> Result<Tensor> {
    let op = "masked_scatter_";
    super::same_dtype(op, x, source)?;
    let (wide, mask) = together(op, x, mask)?;
    ensure!(
        wide.numel() == x.numel() && wide.dim() == x.dim().max(1),
        Runtime,
        op,
        "a mask of shape {:?} does not fit a tensor of shape {:?}",
        mask.shape(),
        x.shape()
    );
    let places = coordinates(&mask)?;
    let count = places.first().map_or(0, Tensor::numel);
    ensure!(
        source.numel() >= count,
        Runtime,
        op,
        "the mask has {count} places, but the source only {} elements",
        source.numel()
    );
    // torch allows the tensor itself as the source: then its old values are meant.
    let source = if source.shares_storage(x) { source.copy()? } else { source.clone() };
    let values = source.reshape(-1)?.narrow(0, 0, count as i64)?;
    let places: Vec<Option<&Tensor>> = places.iter().map(Some).collect();
    wide.index_put_(&places, &values, false)?;
    Ok(x.clone())
}

/// The backend's list of places: all of dimension 0, then of dimension 1 and so on.
fn scan(x: &Tensor) -> Result<Vec<i64>> {
    if x.device() == Device::META {
        bail!(Runtime, "nonzero", "the number of places depends on values, which a meta tensor has not")
    }
    let backend = crate::backend::backend(x.device())?;
    crate::mem::with_plan("nonzero", &[], &[x.place()], |_, ins| backend.nonzero(&ins[0]))
}

fn nonzero(x: &Tensor) -> Result<Tensor> {
    let rank = x.dim();
    if rank == 0 {
        let count = scan(&through(x, x.layout().unsqueeze(0)?))?.len();
        let layout = Layout::new(&[count, 0][..], &[1, count as isize][..], 0)?;
        return Tensor::alloc(layout, DType::I64, x.device());
    }
    let list = scan(x)?;
    let count = list.len() / rank;
    let columns = host_list(&list, &[rank, count], x)?;
    let rows = Layout::new(&[count, rank][..], &[1, count as isize][..], 0)?;
    Ok(through(&columns, rows))
}

/// The places of a mask's ones as one int64 vector a dimension.
pub(super) fn coordinates(mask: &Tensor) -> Result<Vec<Tensor>> {
    let rows = nonzero(&mask.detach()?)?;
    (0..mask.dim()).map(|d| Ok(through(&rows, rows.layout().select(1, d as isize)?))).collect()
}

fn pairs() -> Vec<(Tensor, Tensor)> {
    let shapes: [(&[usize], &[usize]); 5] =
        [(&[3, 4], &[3, 4]), (&[3, 4], &[4]), (&[2, 3], &[2, 1]), (&[0, 2], &[2]), (&[], &[])];
    shapes
        .into_iter()
        .filter_map(|(s, m)| Some((samples::values(s, 6).ok()?, samples::values(m, 9).ok()?.gt(0.0).ok()?)))
        .collect()
}

fn fill_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for value in [Operand::Number(Number::Float(2.5)), Operand::Number(Number::Int(0))] {
        all.extend(pairs().into_iter().map(|(x, m)| Sample {
            args: smallvec![Value::Tensor(x), Value::Tensor(m), Value::Operand(value.clone())],
            grad: true,
        }));
    }
    all
}

fn select_samples() -> Vec<Sample> {
    let sample = |(x, m)| Sample { args: smallvec![Value::Tensor(x), Value::Tensor(m)], grad: true };
    pairs().into_iter().map(sample).collect()
}

fn scatter_samples() -> Vec<Sample> {
    pairs()
        .into_iter()
        .filter_map(|(x, m)| {
            let source = samples::values(&[12], 15).ok()?;
            Some(Sample {
                args: smallvec![Value::Tensor(x), Value::Tensor(m), Value::Tensor(source)],
                grad: true,
            })
        })
        .collect()
}
