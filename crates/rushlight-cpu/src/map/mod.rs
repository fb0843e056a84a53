//! Runs programs block by block.
//!
//! A block is about a thousand elements. Operands that lie densely and already have the compute
//! type are read where they are; others are converted or gathered into scratch that stays in L1.
//! Each step is one tight loop; the last one writes straight to its destination when that is
//! dense, native and nobody else's.

mod block;
mod fast;
mod kernels;
mod ops;
mod walk;

#[cfg(test)]
mod tests;

pub(crate) use block::{BLOCK, Block, Plan};
pub(crate) use walk::Walk;

use crate::access::Ptr;
use crate::pool;
use rushlight_core::backend::Map;
use rushlight_core::layout::Nest;
use rushlight_core::program::Opcode;
use rushlight_core::{CType, Result};
use smallvec::SmallVec;

/// Runs a call; refuses opcodes that the compute type has no meaning for before writing anything.
pub(crate) fn run(call: &Map<'_>) -> Result<()> {
    let n = call.outs[0].numel();
    if n == 0 {
        return Ok(());
    }
    if fast::run(call, n)? {
        return Ok(());
    }
    if call.program.is_copy() && crate::copy::run(&call.outs[0], &call.ins[0]) {
        return Ok(());
    }
    let plan = Plan::new(
        call.program,
        call.params,
        call.ctype,
        call.outs.iter().map(|o| o.dtype()),
        call.ins.iter().map(|i| i.dtype()),
    )?;
    let mut ptrs: SmallVec<[Ptr; 6]> = call.outs.iter().map(Ptr::write).collect();
    ptrs.extend(call.ins.iter().map(Ptr::read));
    let grain = grain(cost(call));
    let dense = call.outs.iter().all(|o| o.layout().is_contiguous())
        && call.ins.iter().all(|i| i.layout().is_contiguous());
    if dense {
        let strides: SmallVec<[isize; 6]> = SmallVec::from_elem(1, ptrs.len());
        pool::parallel_for(n, grain, |range| {
            let offsets: SmallVec<[isize; 6]> = SmallVec::from_elem(range.start as isize, ptrs.len());
            plan.with_block(|block| block.row(&ptrs, &offsets, &strides, range.len()));
        });
        return Ok(());
    }
    let mut all: SmallVec<[&[isize]; 6]> = call.outs.iter().map(|o| o.layout().strides()).collect();
    all.extend(call.ins.iter().map(|i| i.layout().strides()));
    let nest = Nest::new(call.outs[0].layout().shape(), &all);
    let walk = Walk::new(&nest);
    pool::parallel_for(n, grain, |range| {
        plan.with_block(|block| block.range(&ptrs, &nest, &walk, range));
    });
    Ok(())
}

/// Roughly how many additions an element of the call is worth.
fn cost(call: &Map<'_>) -> usize {
    call.program.steps().iter().map(|s| weight(s.op, call.ctype)).sum()
}

fn weight(op: Opcode, ctype: CType) -> usize {
    use Opcode as O;
    match op {
        O::Special(_) => 64,
        O::FloorDiv | O::Rem | O::Fmod | O::Pow | O::Atan2 => 16,
        O::Exp | O::Expm1 | O::Log | O::Tanh | O::Sigmoid | O::Sin | O::Cos => 8,
        O::Exp2
        | O::Log2
        | O::Log10
        | O::Log1p
        | O::Tan
        | O::Asin
        | O::Acos
        | O::Atan
        | O::Sinh
        | O::Cosh
        | O::Asinh
        | O::Acosh
        | O::Atanh
        | O::Erf
        | O::Erfc => {
            if ctype == CType::F32 {
                8
            } else {
                32
            }
        }
        O::Div | O::Recip | O::Sqrt | O::Rsqrt => 2,
        _ => 1,
    }
}

/// Elements of one task, for work of this cost; tasks end on block borders.
fn grain(cost: usize) -> usize {
    (pool::GRAIN / cost.clamp(1, 16)).max(BLOCK).next_multiple_of(BLOCK)
}
