//! The single path of every call that goes through the table.

use super::def::{OpDef, Outputs, Run};
use super::point::PointRow;
use super::promote::Refuse;
use super::value::{Args, AsOperand, OperandRef, OptOperand, Value};
use super::{Pack, pointwise, pointwise_inplace};
use crate::grad;
use crate::trace::SiteGuard;
use crate::{Error, Kind, Number, Result, Tensor, bail, ensure, err};
use smallvec::SmallVec;
use std::sync::OnceLock;

/// Every row, sorted by name.
pub fn table() -> &'static [&'static OpDef] {
    static TABLE: OnceLock<Vec<&'static OpDef>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut rows: Vec<&'static OpDef> =
            crate::ops::FAMILIES.iter().flat_map(|f| f.iter().copied()).collect();
        rows.sort_by_key(|r| r.name);
        rows
    })
}

/// The row of that name.
pub fn find(name: &str) -> Option<&'static OpDef> {
    let rows = table();
    rows.binary_search_by_key(&name, |r| r.name).ok().map(|i| rows[i])
}

/// Calls the op called `name`: what bindings use.
///
/// # Errors
/// `Type` for an unknown name or arguments of other types than the row's; else the op's own.
#[track_caller]
pub fn call(name: &'static str, args: Args) -> Result<Outputs> {
    dispatch(find(name).ok_or_else(|| err!(Type, name, "there is no op of this name"))?, args)
}

/// Runs a row and records it for autograd when an input asks for that.
///
/// # Errors
/// The op's own.
#[track_caller]
pub fn dispatch(def: &'static OpDef, args: impl AsRef<[Value]>) -> Result<Outputs> {
    dispatch_slice(def, args.as_ref())
}

#[track_caller]
fn dispatch_slice(def: &'static OpDef, args: &[Value]) -> Result<Outputs> {
    if let Some(half) = super::autocast::autocast_dtype() {
        return super::autocast::dispatch_cast(def, args, half);
    }
    // A stale view is the first thing to complain about; looking for one is left to the failure.
    let differentiable = def.grad.is_some() || !matches!(def.run, Run::Function(_));
    run(def, args).map_err(|e| match differentiable && !comes_first(def, &e) {
        true => grad::stale_argument(args).unwrap_or(e),
        false => e,
    })
}

/// Whether torch finds this fault before it looks at whether a view is stale: ops that it makes of
/// others look at their dimensions first.
fn comes_first(def: &OpDef, e: &Error) -> bool {
    let composite = ["chunk", "moveaxis", "movedim", "narrow", "tensor_split", "unflatten"];
    e.kind() == Kind::Index && composite.contains(&def.name)
}

#[track_caller]
fn run(def: &'static OpDef, args: &[Value]) -> Result<Outputs> {
    check_count(def, args)?;
    match &def.run {
        Run::Pointwise(row) => {
            let split = Split::new(def.name, row, args)?;
            pointwise(def, split.operands(), &split.params).map(Pack::pack)
        }
        Run::View(_) | Run::ViewOrCopy(_) => {
            let source = super::arg::<Tensor>(def.name, args, 0)?;
            view(def, source, &args[1..]).map(Pack::pack)
        }
        Run::Function(run) => {
            let _site = SiteGuard::enter(def.name);
            let Some(formula) = &def.grad else { return run(args) };
            if !grad::wants_record(args) {
                return run(args).map(|outs| own(outs, args));
            }
            let outs = own(grad::below(|| run(args))?, args);
            grad::record_op(def, formula, args.into(), &outs)?;
            Ok(outs)
        }
        Run::Mutates(run) => {
            let _site = SiteGuard::enter(def.name);
            let target = super::arg::<Tensor>(def.name, args, 0)?.clone();
            grad::check_inplace(def.name, &target)?;
            if !def.converts() {
                let others = args[1..].iter().flat_map(Value::tensors).filter(|t| t.dim() > 0);
                crate::exec::common_device(def.name, others.chain([&target]))?;
            }
            let edges = match &def.grad {
                Some(formula) => grad::check_mutation(def, formula, args, &target)?,
                None => None,
            };
            let outs = grad::below(|| run(args))?;
            target.bump_version();
            if let (Some(formula), Some(edges)) = (&def.grad, edges) {
                grad::record_mutation(def, formula, args.into(), edges, &target)?;
            }
            Ok(outs)
        }
    }
}

/// Results that are views of what only the row had become tensors by themselves. Their history is the row's, and a write
/// in place must go on from it, not from that of a hidden base.
fn own(mut outs: Outputs, args: &[Value]) -> Outputs {
    for out in &mut outs {
        let hidden =
            out.base().is_some() && !args.iter().flat_map(Value::tensors).any(|t| t.shares_storage(out));
        if hidden {
            *out = out.alias();
        }
    }
    outs
}

/// Calls a row that gives a view of `source`; `rest` are the arguments after it.
///
/// # Errors
/// The rule's own.
#[track_caller]
pub(crate) fn view(def: &'static OpDef, source: &Tensor, rest: &[Value]) -> Result<Tensor> {
    fresh_view(def, source, rest).map_err(|e| match comes_first(def, &e) {
        true => e,
        false => grad::stale_source(source).unwrap_or(e),
    })
}

#[inline]
#[track_caller]
fn fresh_view(def: &'static OpDef, source: &Tensor, rest: &[Value]) -> Result<Tensor> {
    match &def.run {
        Run::View(rule) => grad::make_view(def, source, rule(source.layout(), rest)?, rest),
        Run::ViewOrCopy(rule) => match rule(source.layout(), rest)? {
            Some(layout) => grad::make_view(def, source, layout, rest),
            None => view_of_copy(def, source, rest),
        },
        _ => bail!(Type, def.name, "its row gives no view"),
    }
}

#[cold]
#[track_caller]
fn view_of_copy(def: &'static OpDef, source: &Tensor, rest: &[Value]) -> Result<Tensor> {
    let _site = SiteGuard::enter(def.name);
    let packed = source.pack()?;
    match &def.run {
        Run::ViewOrCopy(rule) if let Some(layout) = rule(packed.layout(), rest)? => {
            grad::make_view(def, &packed, layout, rest)
        }
        _ => bail!(Runtime, def.name, "a packed copy of shape {:?} has no such view", packed.shape()),
    }
}

/// The in-place form of a row: the same op written over its first argument.
///
/// # Errors
/// The op's own; `Runtime` when the result's shape or category does not fit the tensor.
#[track_caller]
pub fn dispatch_inplace(def: &'static OpDef, args: impl AsRef<[Value]>) -> Result<Tensor> {
    dispatch_inplace_slice(def, args.as_ref())
}

#[track_caller]
fn dispatch_inplace_slice(def: &'static OpDef, args: &[Value]) -> Result<Tensor> {
    check_count(def, args)?;
    let _site = SiteGuard::enter(def.name);
    let target = super::arg::<Tensor>(def.name, args, 0)?;
    if let Run::Pointwise(row) = def.run {
        let split = Split::new(def.name, row, args)?;
        return pointwise_inplace(def, target, split.operands(), &split.params);
    }
    grad::check_inplace(def.name, target)?;
    crate::exec::check_self_overlap(def.name, target)?;
    // Backward may read the old values, which the result overwrites: it gets a copy of them.
    let (outs, untouched) = if grad::wants_record(args) && def.inplace.is_some() {
        grad::reread_from_base(target);
        let mut own: Args = args.into();
        let copy = target.copy()?;
        own[0] = Value::Tensor(copy.clone());
        (dispatch_slice(def, &own)?, copy)
    } else {
        (dispatch_slice(def, args)?, target.clone())
    };
    let [result] = outs.as_slice() else {
        bail!(Type, def.name, "gives several results and has no in-place form")
    };
    // A dropout of nothing, say: what writes nothing is no write.
    if def.grad.is_none() && result.is(&untouched) {
        return Ok(target.clone());
    }
    ensure!(
        result.shape() == target.shape(),
        Runtime,
        def.name,
        "the result has shape {:?} and does not fit into the tensor of shape {:?} it should replace",
        result.shape(),
        target.shape()
    );
    super::check_castable(def.name, result.dtype(), target.dtype())?;
    target.copy_(result)
}

/// Callers through the table fill in defaults themselves.
pub(super) fn check_count(def: &OpDef, args: &[Value]) -> Result<()> {
    let want = def.params.len();
    ensure!(args.len() == want, Type, def.name, "takes {want} arguments, got {}", args.len());
    Ok(())
}

/// The arguments of a pointwise row, operands and parameters apart.
pub(super) struct Split<'a> {
    operands: [OperandRef<'a>; 3],
    count: usize,
    pub(super) params: SmallVec<[Number; 2]>,
}

impl<'a> Split<'a> {
    pub(super) fn new(op: &'static str, row: &PointRow, args: &'a [Value]) -> Result<Self> {
        let operands = row.operands.len();
        let mut split = Split {
            operands: [OperandRef::Number(Number::Bool(false)); 3],
            count: 0,
            params: SmallVec::new(),
        };
        for (k, a) in args.iter().enumerate() {
            let operand = match a {
                Value::Tensor(t) => t.as_operand(),
                Value::Operand(o) | Value::OptOperand(OptOperand(Some(o))) => o.as_operand(),
                Value::Number(n) if k >= operands => {
                    split.params.push(*n);
                    continue;
                }
                _ => bail!(Type, op, "argument {k} must be a tensor or a number"),
            };
            ensure!(
                !matches!(operand, OperandRef::Number(_)) || !row.refuses.contains(&Refuse::number),
                Type,
                op,
                "argument {k} must be a tensor, not a number"
            );
            if let Some(slot) = split.operands.get_mut(split.count) {
                *slot = operand;
            }
            split.count += 1;
        }
        ensure!(split.count == operands, Type, op, "takes {operands} operands, got {}", split.count);
        Ok(split)
    }

    pub(super) fn operands(&self) -> &[OperandRef<'a>] {
        self.operands.get(..self.count).unwrap_or(&[])
    }
}
