//! Runs programs block by block.
//!
//! A block is about a thousand elements. Operands that lie densely and already have the compute
//! type are read where they are; others are converted or gathered into scratch that stays in L1.
//! Each step is one tight loop; the last one writes straight to its destination when that is
//! dense, native and nobody else's.

mod block;
mod kernels;
mod ops;

pub(crate) use block::{BLOCK, Block, Plan};

use crate::access::Ptr;
use crate::pool;
use rushlight_core::Result;
use rushlight_core::backend::Map;
use rushlight_core::layout::Nest;
use smallvec::SmallVec;

/// Runs a call; refuses opcodes that the compute type has no meaning for before writing anything.
pub(crate) fn run(call: &Map<'_>) -> Result<()> {
    let n = call.outs[0].numel();
    if n == 0 {
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
    let dense = call.outs.iter().all(|o| o.layout().is_contiguous())
        && call.ins.iter().all(|i| i.layout().is_contiguous());
    if dense {
        let strides: SmallVec<[isize; 6]> = SmallVec::from_elem(1, ptrs.len());
        let grain = pool::GRAIN / plan.cost().clamp(1, 16);
        pool::parallel_for(n, align(grain), |range| {
            let offsets: SmallVec<[isize; 6]> = SmallVec::from_elem(range.start as isize, ptrs.len());
            plan.with_block(|block| block.row(&ptrs, &offsets, &strides, range.len()));
        });
        return Ok(());
    }
    let mut all: SmallVec<[&[isize]; 6]> = call.outs.iter().map(|o| o.layout().strides()).collect();
    all.extend(call.ins.iter().map(|i| i.layout().strides()));
    let nest = Nest::new(call.outs[0].layout().shape(), &all);
    let grain = pool::GRAIN / plan.cost().clamp(1, 16);
    pool::parallel_for(n, align(grain), |range| {
        plan.with_block(|block| block.range(&ptrs, &nest, range.clone()));
    });
    Ok(())
}

/// Pieces end on block borders.
fn align(grain: usize) -> usize {
    grain.max(BLOCK).next_multiple_of(BLOCK)
}
