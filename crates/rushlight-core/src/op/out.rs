//! `out=`: results left in tensors that the caller has, for every row.

use super::def::{OpDef, Outputs, Run};
use super::value::{Operand, Value};
use super::{check_castable, dispatch, pointwise_out};
use crate::{Result, Tensor, ensure, grad};
use smallvec::SmallVec;

/// Runs a row and leaves its results in `outs`, converted to their dtypes.
///
/// Each result given back is the tensor of `outs` itself where the shape fits. Where it does not, it is
/// what that tensor becomes (torch resizes it): its storage, grown if need be, in the result's layout.
///
/// # Errors
/// The op's own; `Runtime` when an argument requires grad while ops are recorded, when a result
/// cannot be cast to its target's dtype, and when the number of targets is another.
#[track_caller]
pub fn dispatch_out(def: &'static OpDef, args: &[Value], outs: &[Tensor]) -> Result<Outputs> {
    let _site = crate::trace::SiteGuard::enter(def.name);
    for out in outs {
        grad::check_out(def.name, out, args.iter().flat_map(Value::tensors))?;
    }
    if let (Run::Pointwise(_), [out]) = (&def.run, outs)
        && let Some(done) = straight(def, args, out)?
    {
        return Ok(SmallVec::from_elem(done, 1));
    }
    grad::no_grad(|| {
        let results = dispatch(def, args)?;
        ensure!(
            results.len() == outs.len(),
            Runtime,
            def.name,
            "gives {} results, out= holds {} tensors",
            results.len(),
            outs.len()
        );
        for (result, out) in results.iter().zip(outs) {
            check_castable(def.name, result.dtype(), out.dtype())?;
            ensure!(
                result.device() == out.device(),
                Runtime,
                def.name,
                "the result is on {}, out= on {}",
                result.device(),
                out.device()
            );
        }
        results.iter().zip(outs).map(|(result, out)| leave(result, out)).collect()
    })
}

fn leave(result: &Tensor, out: &Tensor) -> Result<Tensor> {
    if result.shape() == out.shape() {
        return out.copy_(result);
    }
    let resized = out.with_layout(result.like_layout()?)?;
    resized.copy_(result)
}

/// A pointwise row writes its result in place when it fits.
fn straight(def: &'static OpDef, args: &[Value], out: &Tensor) -> Result<Option<Tensor>> {
    let point = def.point();
    let (mut operands, mut params) = (SmallVec::<[Operand; 3]>::new(), SmallVec::<[crate::Number; 2]>::new());
    for a in args {
        match a {
            Value::Tensor(t) => operands.push(Operand::Tensor(t.clone())),
            Value::Operand(o) => operands.push(o.clone()),
            Value::Number(n) => params.push(*n),
            _ => return Ok(None),
        }
    }
    let shapes: SmallVec<[&[usize]; 3]> = operands
        .iter()
        .map(|o| match o {
            Operand::Tensor(t) => t.shape(),
            Operand::Number(_) => &[],
        })
        .collect();
    let fits = crate::layout::broadcast_shapes(def.name, &shapes)?.as_slice() == out.shape();
    if !fits || operands.len() != point.operands.len() {
        return Ok(None);
    }
    // An operand that shares memory with the target in another layout is read before it is written.
    let entangled = |o: &Operand| match o {
        Operand::Tensor(t) => t.shares_storage(out) && t.layout() != out.layout(),
        Operand::Number(_) => false,
    };
    if operands.iter().any(entangled) {
        return Ok(None);
    }
    pointwise_out(def, &operands, &params, out).map(Some)
}
