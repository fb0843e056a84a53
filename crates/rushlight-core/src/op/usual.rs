//! The short way of the commonest pointwise calls.

use super::point::PointRow;
use super::promote::{check_accepts, check_castable, compute_type, fit_number};
use super::value::OperandRef;
use crate::mem::Place;
use crate::program::Program;
use crate::trace::SiteGuard;
use crate::{DType, Number, Result, Tensor, bail, exec, grad};
use smallvec::SmallVec;
use std::sync::Arc;

/// A call with nothing to broadcast, promote or move: row-major tensors of one shape, dtype and
/// device, beside numbers that leave the dtype alone. It goes the short way, where nothing but the
/// result is allocated.
pub(super) struct Usual<'a> {
    tensors: [Option<&'a Tensor>; 3],
    /// Which operands are numbers.
    numbers: usize,
}

impl<'a> Usual<'a> {
    pub(super) const EMPTY: Usual<'a> = Usual { tensors: [None; 3], numbers: 0 };

    /// Whether these operands make such a call. Fills in place: moving it whole would stall.
    #[inline(always)]
    pub(super) fn read(&mut self, row: &PointRow, operands: &[OperandRef<'a>]) -> bool {
        let first = match operands {
            [OperandRef::Tensor(t), ..] | [_, OperandRef::Tensor(t), ..] => *t,
            _ => return false,
        };
        let (layout, dtype) = (first.layout(), first.dtype());
        if operands.len() > 3 || !layout.is_plain() || !row.takes_any_values(dtype) {
            return false;
        }
        let mut tensors = self.tensors.iter_mut();
        for (k, operand) in operands.iter().enumerate() {
            match operand {
                OperandRef::Tensor(t) => {
                    let same = t.is(first)
                        || (t.dtype() == dtype
                            && t.device() == first.device()
                            && t.layout().parts() == layout.parts());
                    if !same {
                        return false;
                    }
                    if let Some(slot) = tensors.next() {
                        *slot = Some(t);
                    }
                }
                // What a row may refuse is for the long way to say.
                OperandRef::Number(Number::Bool(_)) => return false,
                OperandRef::Number(n) if n.category() <= dtype.category() => self.numbers |= 1 << k,
                OperandRef::Number(_) => return false,
            }
        }
        // Beside a number an empty tensor's strides are packed anew, with sizes of 0 in them.
        self.numbers == 0 || layout.numel() != 0
    }

    #[inline(always)]
    #[track_caller]
    pub(super) fn run(
        &self,
        row: &'static PointRow,
        operands: &[OperandRef<'a>],
        params: &[Number],
    ) -> Result<Tensor> {
        let [Some(first), second, third] = self.tensors else {
            bail!(Type, row.name, "takes at least one tensor")
        };
        let (common, result) = row.rule.apply(first.dtype());
        check_accepts(row.name, row.refuses, common)?;
        let mut fitted = SmallVec::new();
        let (program, params) = self.program(row, operands, params, common, &mut fitted)?;
        let call = (&**program, params, compute_type(common));
        let target = (first.layout(), result, first.device());
        let out = match (second, third) {
            (None, _) => exec::map_fresh(row.name, call, target, &[first.place()])?,
            (Some(b), None) => exec::map_fresh(row.name, call, target, &[first.place(), b.place()])?,
            (Some(b), Some(c)) => {
                exec::map_fresh(row.name, call, target, &[first.place(), b.place(), c.place()])?
            }
        };
        if result != DType::Bool && grad::recording() {
            record_usual(row.name, program, operands, (params, common), &out)?;
        }
        Ok(out)
    }

    /// Whether the call may write straight to its first operand: that is the target, no graph is
    /// concerned, and no other operand meets the target's memory in another place.
    #[inline]
    pub(super) fn may_overwrite(&self, target: &Tensor, operands: &[OperandRef<'_>]) -> bool {
        let fits = |o: &OperandRef<'_>| match o {
            OperandRef::Number(_) => true,
            OperandRef::Tensor(t) => {
                (t.is(target) || !t.shares_storage(target)) && !(grad::recording() && t.requires_grad())
            }
        };
        matches!(operands, [OperandRef::Tensor(t), ..] if t.is(target)) && operands.iter().all(fits)
    }

    pub(super) fn overwrite(
        &self,
        row: &'static PointRow,
        operands: &[OperandRef<'a>],
        params: &[Number],
        target: &Tensor,
    ) -> Result<Tensor> {
        grad::check_inplace(row.name, target)?;
        let dtype = target.dtype();
        let (common, result) = row.rule.apply(dtype);
        check_accepts(row.name, row.refuses, common)?;
        check_castable(row.name, result, dtype)?;
        let mut fitted = SmallVec::new();
        let (program, params) = self.program(row, operands, params, common, &mut fitted)?;
        let mut ins: SmallVec<[Place<'_>; 3]> = SmallVec::new();
        self.tensors.iter().flatten().for_each(|t| ins.push(t.place()));
        exec::map_places(row.name, (program, params, compute_type(common)), &[target.place()], &ins)?;
        target.bump_version();
        Ok(target.clone())
    }

    /// The row's program for this call, and its parameters with the numbers among the operands.
    #[inline(always)]
    fn program<'b>(
        &self,
        row: &'static PointRow,
        operands: &[OperandRef<'_>],
        params: &'b [Number],
        common: DType,
        fitted: &'b mut SmallVec<[Number; 4]>,
    ) -> Result<(&'static Arc<Program>, &'b [Number])> {
        let plain = row.is_plain_call(params);
        let program = row.program(self.numbers, plain)?;
        // A simpler formula does not read its parameters.
        if self.numbers == 0 && (plain || params.is_empty()) {
            return Ok((program, params));
        }
        let numbers = operands.iter().filter_map(|o| match o {
            OperandRef::Number(n) => Some(n),
            OperandRef::Tensor(_) => None,
        });
        params.iter().chain(numbers).for_each(|n| fitted.push(fit_number(row.rule, *n, common)));
        Ok((program, fitted))
    }
}

/// The record of a short call, when one of its tensors asks for it.
#[inline]
#[track_caller]
fn record_usual(
    op: &'static str,
    program: &Arc<Program>,
    operands: &[OperandRef<'_>],
    (params, common): (&[Number], DType),
    out: &Tensor,
) -> Result<()> {
    let tensor = |o: &OperandRef<'_>| matches!(o, OperandRef::Tensor(t) if t.requires_grad());
    if !operands.iter().any(tensor) {
        return Ok(());
    }
    let _site = SiteGuard::enter(op);
    let mut ins: SmallVec<[&Tensor; 3]> = SmallVec::new();
    for operand in operands {
        if let OperandRef::Tensor(t) = operand {
            ins.push(t);
        }
    }
    grad::record_program(op, program, &ins, params, common, std::slice::from_ref(out))
}
