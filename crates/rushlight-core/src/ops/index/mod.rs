//! Reading and writing elements that positions or masks choose.
//!
//! - `arg`: what stands between the brackets, from Rust values;
//! - `item`: `x.i(..)` and `x.set(..)`: basic parts as views first, then all tensors together;
//! - `advanced`: the tensors of an index together: `index`, `index_put_`;
//! - `along`: positions along one dimension, shared by all others: `index_select`, `index_add_` ..;
//! - `pick`: positions along one dimension, element by element: `gather`, `scatter_` ..;
//! - `combine`: as `pick` and `along`, with values that meet combined: `scatter_reduce` ..;
//! - `flat`: positions in the flattened tensor: `take`, `put_`;
//! - `mask`: bool masks, and `nonzero`.
//!
//! All of them run the backend's gather and scatter, which check every position before a write.

pub mod advanced;
pub mod along;
mod arg;
pub mod combine;
pub mod flat;
mod item;
pub mod mask;
pub mod pick;

pub use arg::{Index, IntoIndices};

use super::arrange::through;
use crate::backend::{Gather, Indexed, Scatter, ScatterOp};
use crate::exec;
use crate::mem::Place;
use crate::{DType, Kind, Layout, Result, Strides, Tensor, ensure};
use smallvec::SmallVec;

/// An index tensor spread over the elements of a call, and the axis it walks.
struct Axis {
    /// int64 positions.
    index: Tensor,
    /// The index tensor's strides over the shape of the call.
    layout: Layout,
    /// Stride of the axis in the indexed tensor.
    stride: isize,
    /// Its length.
    size: usize,
    /// Its number, for messages.
    axis: usize,
}

/// How a call names its errors, and whether negative positions count from the end.
#[derive(Clone, Copy)]
struct Rules {
    op: &'static str,
    /// The family of an error about a position.
    kind: Kind,
    wrap: bool,
}

impl Rules {
    /// No position lies in a dimension of size 0, whose tensor may have no memory to look at.
    fn check_axes(self, axes: &[Axis]) -> Result<()> {
        match axes.iter().find(|a| a.size == 0) {
            Some(a) => Err(crate::Error::new(
                self.kind,
                self.op,
                format!("dimension {} has size 0, so no position lies in it", a.axis),
            )),
            None => Ok(()),
        }
    }
    fn relabel(self, e: crate::Error) -> crate::Error {
        if e.kind() == Kind::Index { e.in_op(self.op).with_kind(self.kind) } else { e.in_op(self.op) }
    }
}

/// `out[i] = src[i + positions]`; `from` is the source's layout with stride 0 on the walked axes.
fn read(rules: Rules, out: &Tensor, src: &Tensor, from: &Layout, axes: &[Axis]) -> Result<()> {
    if out.numel() == 0 {
        return Ok(());
    }
    rules.check_axes(axes)?;
    let mut places: SmallVec<[Place<'_>; 4]> = SmallVec::new();
    places.push(Place { layout: from, ..src.place() });
    places.extend(axes.iter().map(|a| Place { layout: &a.layout, ..a.index.place() }));
    // The plan thus checks that all the positions may reach lies in the storage as it is now.
    places.push(src.place());
    exec::call(rules.op, &[out], &places, |backend, outs, ins| {
        let indices: SmallVec<[Indexed<'_>; 3]> = axes.iter().zip(&ins[1..]).map(indexed).collect();
        backend.gather(&Gather { out: outs[0], src: ins[0], indices: &indices, wrap: rules.wrap })
    })
    .map_err(|e| rules.relabel(e))
}

/// `dst[i + positions] op= src[i]`; `to` is the target's layout with stride 0 on the walked axes.
fn write(
    rules: Rules,
    how: ScatterOp,
    dst: &Tensor,
    to: Layout,
    axes: &[Axis],
    src: &Tensor,
    from: &Layout,
) -> Result<()> {
    if to.numel() == 0 {
        return Ok(());
    }
    rules.check_axes(axes)?;
    let mut places: SmallVec<[Place<'_>; 4]> = SmallVec::new();
    places.push(Place { layout: from, ..src.place() });
    places.extend(axes.iter().map(|a| Place { layout: &a.layout, ..a.index.place() }));
    // As in `read`, for the target.
    places.push(dst.place());
    exec::call(rules.op, &[&through(dst, to)], &places, |backend, outs, ins| {
        let indices: SmallVec<[Indexed<'_>; 3]> = axes.iter().zip(&ins[1..]).map(indexed).collect();
        let call = Scatter { dst: outs[0], src: ins[0], indices: &indices, op: how, wrap: rules.wrap };
        backend.scatter(&call)
    })
    .map_err(|e| rules.relabel(e))
}

fn indexed<'a>((a, span): (&Axis, &crate::mem::Span<'a>)) -> Indexed<'a> {
    Indexed { index: *span, stride: a.stride, size: a.size, axis: a.axis }
}

/// int32 or int64 positions as int64, outside any graph and apart from `target`'s memory.
fn positions(op: &'static str, kind: Kind, index: &Tensor, target: Option<&Tensor>) -> Result<Tensor> {
    let dtype = index.dtype();
    // torch looks at the dtype of none only where there are positions to gather.
    let none = op == "gather" && index.numel() == 0;
    if !matches!(dtype, DType::I64 | DType::I32) && !none {
        return Err(crate::Error::new(
            kind,
            op,
            format!("positions must be int64 or int32, not {dtype}; convert with to_dtype"),
        ));
    }
    let index = index.detach()?;
    match target {
        // The positions are read while the target is written.
        Some(t) if dtype == DType::I64 && index.shares_storage(t) => index.copy(),
        _ => index.to_dtype(DType::I64),
    }
}

/// `layout` with dimension `d` held still.
fn still(layout: &Layout, shape: &[usize], d: usize) -> Result<Layout> {
    let mut strides: Strides = layout.strides().into();
    strides[d] = 0;
    Layout::new(shape, strides, layout.offset())
}

/// A 0-d layout as one of one element; these ops count them alike.
fn at_least_1d(layout: &Layout) -> Result<Layout> {
    if layout.rank() == 0 { layout.unsqueeze(0) } else { Ok(layout.clone()) }
}

fn same_dtype(op: &'static str, x: &Tensor, values: &Tensor) -> Result<()> {
    ensure!(
        x.dtype() == values.dtype(),
        Runtime,
        op,
        "the tensor holds {}, the values {}; convert them with to_dtype",
        x.dtype(),
        values.dtype()
    );
    Ok(())
}
