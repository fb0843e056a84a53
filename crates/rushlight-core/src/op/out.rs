//! `out=`: a result written to a tensor that is there already (contract 1e and 1f).
//!
//! One rule for every row: what the op gives is computed as always and then written to `out`, so that
//! `out` may be an operand or share memory with one. Pointwise rows write there at once, and refuse an
//! operand that overlaps `out` in part, as their in-place forms do.

use super::def::{OpDef, Outputs, Run};
use super::dispatch::{Split, check_count, dispatch};
use super::point::{pointwise_layout, pointwise_out};
use super::value::{Args, Value};
use super::{check_castable, table};
use crate::trace::SiteGuard;
use crate::{Layout, Result, Tensor, ensure, exec, grad};

/// Which dtypes `out=` may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Out {
    /// That of the result. A row with a `dtype` argument takes that of `out=` for it.
    Exact,
    /// Any that the result's category can be written to.
    Casts,
}

/// The rows that take `out=`.
pub fn rows_with_out() -> impl Iterator<Item = &'static OpDef> {
    table().iter().copied().filter(|d| d.out.is_some())
}

/// Runs a row and leaves its results in `outs`, one each.
///
/// Each tensor given back is that of `outs` itself where it has the result's shape: it keeps its
/// strides then. Where it has not, it is what that tensor becomes (torch resizes it): its storage,
/// grown if need be, in the result's layout.
///
/// # Errors
/// The op's own; `Type` when the row takes no `out=` or gives another number of results; `Runtime`
/// when a dtype or device does not fit, when a tensor requires grad while ops are recorded, when
/// elements of `out` share a cell, and when its storage cannot grow. `out` is then as it was.
#[track_caller]
pub fn dispatch_out(def: &'static OpDef, args: &[Value], outs: &[Tensor]) -> Result<Outputs> {
    let op = def.name;
    let _site = SiteGuard::enter(op);
    let Some(rule) = def.out else { crate::bail!(Type, op, "takes no out=") };
    check_count(def, args)?;
    for out in outs {
        grad::check_out(op, out, args.iter().flat_map(Value::tensors))?;
    }
    if let (Run::Pointwise(_), [out]) = (&def.run, outs) {
        let split = Split::new(op, def.point(), args)?;
        let target = fitted(op, out, &pointwise_layout(op, split.operands())?)?;
        return Ok(super::Pack::pack(pointwise_out(def, split.operands(), &split.params, &target)?));
    }
    // Under no_grad an argument may require grad: nothing of it reaches `out`.
    let results = grad::no_grad(|| dispatch(def, suited(def, args, outs)?))?;
    write(op, rule, &results, outs)
}

/// As [`dispatch_out`], by the row's name; the handles follow their tensors.
///
/// ```
/// use rushlight::{Tensor, op};
/// let x = Tensor::from_vec(vec![1f32, 2., 3., 4.], [2, 2])?;
/// let mut sums = Tensor::empty(0)?;
/// let args = [(&x).into(), op::Dims::from(0).into(), false.into(), op::Value::OptDType(None)];
/// op::call_out("sum", &args, &mut [&mut sums])?;
/// assert_eq!(sums.to_vec::<f32>()?, [4., 6.]);
/// # Ok::<(), rushlight::Error>(())
/// ```
///
/// # Errors
/// As [`dispatch_out`]; `Type` for an unknown name.
#[track_caller]
pub fn call_out(name: &'static str, args: impl AsRef<[Value]>, outs: &mut [&mut Tensor]) -> Result<()> {
    let def = super::find(name).ok_or_else(|| crate::err!(Type, name, "there is no op of this name"))?;
    let targets: Outputs = outs.iter().map(|out| (**out).clone()).collect();
    let made = dispatch_out(def, args.as_ref(), &targets)?;
    outs.iter_mut().zip(made).for_each(|(out, t)| **out = t);
    Ok(())
}

/// The arguments, with dtype and device taken from `out` where they are left open.
fn suited(def: &'static OpDef, args: &[Value], outs: &[Tensor]) -> Result<Args> {
    let mut own: Args = args.into();
    let Some(out) = outs.first() else { return Ok(own) };
    for value in &mut own {
        match value {
            Value::OptDType(dtype) => {
                ensure!(
                    dtype.is_none_or(|d| d == out.dtype()),
                    Runtime,
                    def.name,
                    "dtype and the dtype of out=, {}, must be equal",
                    out.dtype()
                );
                *dtype = Some(out.dtype());
            }
            Value::OptDevice(device @ None) => *device = Some(out.device()),
            _ => {}
        }
    }
    Ok(own)
}

fn write(op: &'static str, rule: Out, results: &Outputs, outs: &[Tensor]) -> Result<Outputs> {
    ensure!(
        results.len() == outs.len(),
        Type,
        op,
        "gives {} results, but out= has {} tensors",
        results.len(),
        outs.len()
    );
    // Everything is checked before the first write.
    let mut targets: Outputs = Outputs::new();
    for (result, out) in results.iter().zip(outs) {
        match rule {
            Out::Casts => check_castable(op, result.dtype(), out.dtype())?,
            Out::Exact => ensure!(
                result.dtype() == out.dtype(),
                Runtime,
                op,
                "the result holds {}, out= {}; they must be equal",
                result.dtype(),
                out.dtype()
            ),
        }
        ensure!(
            result.device() == out.device(),
            Runtime,
            op,
            "the result is on {}, out= on {}; they must be equal",
            result.device(),
            out.device()
        );
        exec::check_self_overlap(op, out)?;
        targets.push(fitted(op, out, result.layout())?);
    }
    for (result, target) in results.iter().zip(&targets) {
        crate::trace::copying(op, result.nbytes(), result.shape(), "the result is made beside out=")?;
        // A view may be a result: of what is about to be written.
        let apart = if result.shares_storage(target) { result.copy()? } else { result.clone() };
        exec::copy(target, &apart)?;
        target.bump_version();
    }
    Ok(targets)
}

/// `out` itself if it has the shape of `layout`, else the same tensor resized to it.
fn fitted(op: &'static str, out: &Tensor, layout: &Layout) -> Result<Tensor> {
    if out.shape() == layout.shape() {
        return Ok(out.clone());
    }
    ensure!(
        !out.requires_grad(),
        Runtime,
        op,
        "out= requires grad and has another shape; it cannot be resized"
    );
    let place = layout.clone().with_offset(out.storage_offset())?;
    out.with_layout(place).map_err(|e| e.in_op(op))
}
