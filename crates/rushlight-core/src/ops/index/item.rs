//! `x.i(..)` and `x.set(..)`.
//!
//! Basic parts (integers, slices, new dimensions) are applied first, as views, each to what the one
//! before left; then all tensors index together. So an integer beside tensors is a plain select,
//! unlike in NumPy.

use super::arg::{Index, IntoIndices};
use crate::op::Operand;
use crate::trace::SiteGuard;
use crate::{DType, Result, Tensor, ensure};

impl Tensor {
    /// The part of the tensor that an index chooses, as Python's `x[..]`: a view, or a copy where a
    /// tensor of positions, a mask or a slice with a negative step takes part.
    ///
    /// ```
    /// # use rushlight::Tensor;
    /// let x = Tensor::from_vec((0..12).collect::<Vec<i64>>(), [3, 4])?;
    /// assert_eq!(x.i((1, 2))?.item()?.to_i64(), 6);
    /// assert_eq!(x.i((.., 1..3))?.shape(), [3, 2]);
    /// assert_eq!(x.i((-1, None))?.shape(), [1, 4]);
    /// let rows = Tensor::from_vec(vec![2i64, 0], [2])?;
    /// assert_eq!(x.i((&rows, 0))?.to_vec::<i64>()?, [8, 0]);
    /// # Ok::<(), rushlight::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Index` for a place out of range, too many parts, index tensors that do not broadcast, a mask
    /// that does not fit, or an index tensor of another dtype; `Value` for a step of 0.
    #[track_caller]
    pub fn i(&self, index: impl IntoIndices) -> Result<Tensor> {
        let _site = SiteGuard::enter("index");
        let parts = index.into_indices();
        if let [Index::Bool(b)] = parts.as_slice() {
            return self.unsqueeze(0)?.narrow(0, 0, i64::from(*b));
        }
        let Parts { mut view, tensors, reversed } = apply(self, &parts)?;
        if !reversed.is_empty() {
            view = view.flip(reversed.as_slice()).map_err(|e| e.in_op("index"))?;
        }
        match tensors.is_empty() {
            // Always a new tensor, even where nothing changes.
            true if view.is(self) => self.expand(self.shape()),
            true => Ok(view),
            false => view.index(&refs(&tensors)),
        }
    }

    /// Writes `value`, broadcast, to the part of the tensor that an index chooses, as Python's
    /// `x[..] = value`. A number is converted to the tensor's dtype.
    ///
    /// ```
    /// # use rushlight::Tensor;
    /// let x = Tensor::from_vec(vec![1f32, 2., 3., 4.], [2, 2])?;
    /// x.set((.., 0), 9.0)?;
    /// assert_eq!(x.to_vec::<f32>()?, [9., 2., 9., 4.]);
    /// # Ok::<(), rushlight::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Tensor::i`]; `Runtime` when the value does not broadcast, when values for an index with
    /// tensors have another dtype, and for what any in-place write refuses.
    #[track_caller]
    pub fn set(&self, index: impl IntoIndices, value: impl Into<Operand>) -> Result<()> {
        let _site = SiteGuard::enter("index_put_");
        let parts = index.into_indices();
        let value = value.into();
        let Parts { view, tensors, reversed } = match parts.as_slice() {
            [Index::Bool(b)] => Parts::of(self.unsqueeze(0)?.narrow(0, 0, i64::from(*b))?),
            _ => apply(self, &parts)?,
        };
        if !reversed.is_empty() {
            return set_backwards(self, parts, value);
        }
        if tensors.is_empty() {
            return match value {
                Operand::Number(n) => view.fill_(n).map(drop),
                Operand::Tensor(t) if t.shape() == view.shape() => view.copy_(&t).map(drop),
                Operand::Tensor(t) if t.dim() == 0 => view.fill_(&t).map(drop),
                // In its full shape it may turn out to be the very cells that are written.
                Operand::Tensor(t) if t.shares_storage(&view) => {
                    view.copy_(&without_leading_ones(&t)?.expand(view.shape())?).map(drop)
                }
                Operand::Tensor(t) => view.copy_(&without_leading_ones(&t)?).map(drop),
            };
        }
        let values = match value {
            Operand::Number(n) => {
                let n = n.checked_cast("index_put_", self.dtype())?;
                Tensor::scalar_of(n, self.dtype(), self.device())?
            }
            Operand::Tensor(t) if t.dim() == 0 && one_mask(&tensors) => t.to_dtype(self.dtype())?,
            Operand::Tensor(t) => without_leading_ones(&t)?,
        };
        view.index_put_(&refs(&tensors), &values, false).map(drop)
    }
}

/// No view runs backwards, so the index chooses among the numbers of the cells, which are written to.
fn set_backwards(x: &Tensor, parts: Vec<Index>, value: Operand) -> Result<()> {
    let cells =
        Tensor::arange(0, x.numel() as i64, 1)?.to_device(x.device())?.reshape(x.shape())?.i(parts)?;
    let value = match value {
        Operand::Number(n) => {
            Tensor::scalar_of(n.checked_cast("index_put_", x.dtype())?, x.dtype(), x.device())?
        }
        Operand::Tensor(t) => without_leading_ones(&t)?.to_dtype(x.dtype())?,
    };
    x.put_(&cells, &value.expand(cells.shape())?, false).map(drop).map_err(|e| e.in_op("index_put_"))
}

fn refs(tensors: &[Option<Tensor>]) -> Vec<Option<&Tensor>> {
    tensors.iter().map(Option::as_ref).collect()
}

fn one_mask(tensors: &[Option<Tensor>]) -> bool {
    let mut given = tensors.iter().flatten();
    given.next().is_some_and(|t| t.dtype() == DType::Bool) && given.next().is_none()
}

/// Sizes 1 in front of a value may be more than the target has dimensions.
fn without_leading_ones(t: &Tensor) -> Result<Tensor> {
    let ones = t.shape().iter().take_while(|n| **n == 1).count();
    if ones == 0 { Ok(t.clone()) } else { t.view(&t.shape()[ones..]) }
}

/// How many dimensions of the tensor a part speaks of.
fn covers(part: &Index) -> usize {
    match part {
        Index::Int(_) | Index::Slice { .. } => 1,
        Index::None | Index::Ellipsis | Index::Bool(_) => 0,
        Index::Tensor(t) if is_mask(t) => t.dim(),
        Index::Tensor(_) => 1,
    }
}

pub(super) fn is_mask(t: &Tensor) -> bool {
    matches!(t.dtype(), DType::Bool | DType::U8)
}

/// What an index comes down to.
struct Parts {
    /// The view that the basic parts make.
    view: Tensor,
    /// The tensors for its dimensions.
    tensors: Vec<Option<Tensor>>,
    /// The dimensions of the view that are to be walked backwards.
    reversed: Vec<i64>,
}

impl Parts {
    fn of(view: Tensor) -> Parts {
        Parts { view, tensors: Vec::new(), reversed: Vec::new() }
    }
}

/// The places of `start..end` by a negative step, of a dimension of `n`, from the lowest on: where
/// they start, where they end and the step between them.
fn forwards(n: usize, start: Option<isize>, end: Option<isize>, step: isize) -> (i64, i64, i64) {
    let (n, back) = (n as i64, (step as i64).saturating_neg());
    let clamp = |i: isize| {
        let i = i as i64;
        if i < 0 { i.saturating_add(n).max(-1) } else { i.min(n - 1) }
    };
    let (first, past) = (start.map_or(n - 1, clamp), end.map_or(-1, clamp));
    if first <= past {
        return (0, 0, 1);
    }
    let lowest = first - (first - past - 1) / back * back;
    (lowest, first + 1, back)
}

fn apply(x: &Tensor, parts: &[Index]) -> Result<Parts> {
    let covered: usize = parts.iter().map(covers).sum();
    ensure!(
        covered <= x.dim(),
        Index,
        "index",
        "{covered} indices are too many for a tensor of shape {:?}, which has {} dimensions",
        x.shape(),
        x.dim()
    );
    let mut rest = x.dim() - covered;
    // A mask stands for several dimensions, but is one entry of the list.
    let (mut view, mut dim, mut hidden) = (x.clone(), 0usize, 0usize);
    let (mut tensors, mut reversed) = (Vec::<Option<Tensor>>::new(), Vec::new());
    let mut put = |at: usize, t: Tensor| {
        tensors.resize(tensors.len().max(at), None);
        tensors.push(Some(t));
    };
    for part in parts {
        match simplified(part)? {
            // A place out of range comes before a view that is stale.
            Index::Int(i) => {
                let part = view.select(dim as i64, i as i64);
                view = part.map_err(|e| view.layout().select(dim as isize, i).err().unwrap_or(e))?;
            }
            Index::Slice { start: None, end: None, step: 1 } => dim += 1,
            Index::Slice { start, end, step } if step < 0 => {
                let n = view.layout().size(dim as isize)?;
                let (start, end, step) = forwards(n, start, end, step);
                view = view.slice(dim as i64, Some(start), Some(end), step)?;
                reversed.push(dim as i64);
                dim += 1;
            }
            Index::Slice { start, end, step } => {
                let (start, end) = (start.map(|i| i as i64), end.map(|i| i as i64));
                view = view.slice(dim as i64, start, end, step as i64)?;
                dim += 1;
            }
            Index::None => {
                view = view.unsqueeze(dim as i64)?;
                dim += 1;
            }
            Index::Ellipsis => dim += std::mem::take(&mut rest),
            Index::Bool(b) => {
                view = view.unsqueeze(dim as i64)?;
                put(
                    dim - hidden,
                    super::super::arrange::host_list(&[0][..usize::from(b)], &[usize::from(b)], x)?,
                );
                dim += 1;
            }
            Index::Tensor(t) => {
                let covered = if is_mask(&t) { t.dim() } else { 1 };
                put(dim - hidden, t);
                dim += covered;
                hidden += covered - 1;
            }
        }
    }
    Ok(Parts { view, tensors, reversed })
}

/// A 0-d tensor is a plain integer, or a plain bool.
fn simplified(part: &Index) -> Result<Index> {
    Ok(match part {
        Index::Tensor(t) if t.dim() == 0 && is_mask(t) => Index::Bool(t.item()?.to_bool()),
        Index::Tensor(t) if t.dim() == 0 && t.dtype().is_integral() => {
            let place = t.item()?;
            // What int64 does not hold lies outside of every dimension.
            Index::Int(if let crate::Number::UInt(u) = place {
                isize::try_from(u).unwrap_or(isize::MAX)
            } else {
                place.to_i64() as isize
            })
        }
        other => other.clone(),
    })
}
