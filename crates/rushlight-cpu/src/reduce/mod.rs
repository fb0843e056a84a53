//! Combines along axes, after a program and before another.
//!
//! Elements are combined in pieces of a fixed size whose partial results are then combined in
//! order, so results are the same for any number of threads and sums are about as accurate as
//! pairwise ones.

mod arg;
mod fold;

use crate::access::Ptr;
use crate::load_store::{Move, ctype_size, storer};
use crate::map::Plan;
use crate::pool;
use rushlight_core::backend::{Reduce, ReduceOp, Stage};
use rushlight_core::layout::Nest;
use rushlight_core::program::{Program, Sort, trace};
use rushlight_core::{CType, Result};
use smallvec::SmallVec;
use std::sync::LazyLock;

static IDENTITY: LazyLock<Option<Program>> = LazyLock::new(|| trace(&[Sort::Num], 0, |x| vec![x[0]]).ok());

/// Some of the axes of an operand. Not a layout: with strides that point backwards the first element
/// is not the lowest, and only the operand as a whole is known to stay inside its storage.
struct Part {
    shape: Vec<usize>,
    strides: Vec<isize>,
}

impl Part {
    fn shape(&self) -> &[usize] {
        &self.shape
    }
    fn strides(&self) -> &[isize] {
        &self.strides
    }
    fn numel(&self) -> usize {
        self.shape.iter().product()
    }
}

/// The kept axes and the reduced ones.
fn split(shape: &[usize], strides: &[isize], axes: u64) -> (Part, Part) {
    let part = |reduced: u64| {
        let of = (0..shape.len()).filter(|d| axes >> d & 1 == reduced);
        let (shape, strides) = of.map(|d| (shape[d], strides[d])).unzip();
        Part { shape, strides }
    };
    (part(0), part(1))
}

pub(crate) fn run(call: &Reduce<'_>) -> Result<()> {
    if matches!(call.op, ReduceOp::ArgMax | ReduceOp::ArgMin) {
        return arg::run(call);
    }
    let Some(identity) = &*IDENTITY else { return Ok(()) };
    let pre = call.pre.unwrap_or(Stage { program: identity, params: &[] });
    let post = call.post.unwrap_or(Stage { program: identity, params: &[] });
    // Truth values are tested as numbers: bool itself computes as 0 and 1.
    let ctype = if call.ctype == CType::Bool { CType::I32 } else { call.ctype };
    let plan =
        Plan::new(pre.program, pre.params, ctype, std::iter::empty(), call.ins.iter().map(|i| i.dtype()))?;
    let last = Plan::new(post.program, post.params, ctype, std::iter::empty(), std::iter::empty())?;
    let shape = call.ins[0].layout().shape();
    let splits: Vec<(Part, Part)> =
        call.ins.iter().map(|i| split(shape, i.layout().strides(), call.axes)).collect();
    let out_strides: Vec<isize> = call
        .out
        .layout()
        .strides()
        .iter()
        .enumerate()
        .filter(|(d, _)| call.axes >> d & 1 == 0)
        .map(|(_, s)| *s)
        .collect();
    let outs = splits[0].0.numel();
    let count = splits[0].1.numel();
    // Both walks in row-major order, so that reduction order is that of the definition.
    let mut kept: SmallVec<[&[isize]; 6]> = SmallVec::new();
    kept.push(&out_strides);
    kept.extend(splits.iter().map(|s| s.0.strides()));
    let kept = Nest::in_order(splits[0].0.shape(), &kept);
    let reduced: SmallVec<[&[isize]; 6]> = splits.iter().map(|s| s.1.strides()).collect();
    let reduced = Nest::new(splits[0].1.shape(), &reduced);
    let work = fold::Fold {
        op: call.op,
        ctype,
        plan: &plan,
        post: &last,
        ptrs: call.ins.iter().map(Ptr::read).collect(),
        out: Ptr::write(&call.out),
        store: storer(ctype, call.out.dtype()),
        kept: &kept,
        reduced: &reduced,
        count,
    };
    let columns = kept.inner_len() >= 8
        && kept.inner_strides()[1..].iter().all(|s| *s == 1)
        && (count == 0 || reduced.inner_strides().iter().any(|s| *s != 1));
    if outs == 1 && count > fold::PIECE {
        return work.one();
    }
    if columns {
        work.columns();
        return Ok(());
    }
    let grain = (pool::GRAIN / count.max(1)).max(1);
    pool::parallel_for(outs, grain, |range| work.rows(range));
    Ok(())
}

/// Stores one finished value.
fn put(mover: crate::load_store::Mover, value: *const u8, memory: *mut u8) {
    // SAFETY: `value` is one value of the compute type, `memory` an element of the output.
    unsafe { mover(Move::row(value.cast_mut(), memory, 1, 1)) }
}

/// Room for one value of any compute type, aligned.
#[derive(Clone, Copy, Default)]
#[repr(align(16))]
struct Cell([u8; 16]);

impl Cell {
    fn ptr(&mut self) -> *mut u8 {
        self.0.as_mut_ptr()
    }
}

const _: () = assert!(size_of::<Cell>() >= 16);

fn size_of_ctype(c: CType) -> usize {
    ctype_size(c)
}
