//! Combines along axes, after a program and before another.
//!
//! Elements are combined in pieces of a fixed size whose partial results are then combined
//! pairwise, so results are the same for any number of threads and sums are about as accurate as
//! pairwise ones.

mod arg;
mod columns;
mod combine;
mod extremum;
mod fold;
mod matrix;

pub(crate) use combine::{Dense, Join, begin, into_many, running};

use crate::access::Ptr;
use crate::load_store::{is_native, storer};
use crate::map::{Plan, Walk};
use crate::pool;
use rushlight_core::backend::{Reduce, ReduceOp, Stage};
use rushlight_core::layout::Nest;
use rushlight_core::mem::Span;
use rushlight_core::program::{Program, Sort, trace};
use rushlight_core::{CType, Result};
use smallvec::SmallVec;
use std::sync::OnceLock;

/// Dims and the strides of each operand in them.
struct Side {
    shape: SmallVec<[usize; 6]>,
    strides: SmallVec<[SmallVec<[isize; 6]>; 4]>,
}

impl Side {
    /// The axes whose bit in `axes` is `wanted`, for the inputs and then the output.
    fn new(call: &Reduce<'_>, wanted: u64) -> Side {
        let shape = call.ins[0].layout().shape();
        let axes = || (0..shape.len()).filter(|d| call.axes >> d & 1 == wanted);
        let layouts = call.ins.iter().map(|i| i.layout()).chain([call.out.layout()]);
        Side {
            shape: axes().map(|d| shape[d]).collect(),
            strides: layouts.map(|l| axes().map(|d| l.strides()[d]).collect()).collect(),
        }
    }

    /// All operands, in the order that suits memory.
    fn any_order(&self) -> Nest {
        let all: SmallVec<[&[isize]; 6]> = self.strides.iter().map(|s| &s[..]).collect();
        Nest::new(&self.shape, &all)
    }

    /// The inputs alone, which may be none of the output's business.
    fn inputs(&self) -> SmallVec<[&[isize]; 6]> {
        self.strides[..self.strides.len() - 1].iter().map(|s| &s[..]).collect()
    }
}

/// The program that hands its input on.
///
/// # Errors
/// None in fact: tracing a program of one input succeeds.
fn identity() -> Result<&'static Program> {
    static IDENTITY: OnceLock<Program> = OnceLock::new();
    if let Some(program) = IDENTITY.get() {
        return Ok(program);
    }
    let program = trace(&[Sort::Num], 0, |x| vec![x[0]])?;
    Ok(IDENTITY.get_or_init(|| program))
}

/// Bool computes as 0 and 1.
fn numeric(ctype: CType) -> CType {
    if ctype == CType::Bool { CType::I32 } else { ctype }
}

pub(crate) fn run(call: &Reduce<'_>) -> Result<()> {
    let ctype = numeric(call.ctype);
    if call.out.numel() == 0 || matrix::run(call, ctype) {
        return Ok(());
    }
    let pre = call.pre.unwrap_or(Stage { program: identity()?, params: &[] });
    let dtypes = call.ins.iter().map(|i| i.dtype());
    let plan = Plan::new(pre.program, pre.params, ctype, std::iter::empty(), dtypes)?;
    let post = match call.post {
        Some(s) => Some(Plan::new(s.program, s.params, ctype, std::iter::empty(), std::iter::empty())?),
        None => None,
    };
    if matches!(call.op, ReduceOp::ArgMax | ReduceOp::ArgMin) {
        return arg::run(call, ctype, &plan);
    }
    let sides = (Side::new(call, 0), Side::new(call, 1));
    let (kept, reduced) = (sides.0.any_order(), Nest::new(&sides.1.shape, &sides.1.inputs()));
    let (outs, count) = (kept.numel(), reduced.numel());
    let work = fold::Fold {
        op: call.op,
        ctype,
        plan: &plan,
        post: post.as_ref(),
        ptrs: call.ins.iter().map(Ptr::read).collect(),
        out: Ptr::write(&call.out),
        store: storer(ctype, call.out.dtype()),
        kept: &kept,
        reduced: &reduced,
        count,
        plain: call.pre.is_none() && reads_in_place(&call.ins[0], ctype),
    };
    if work.is_columns() {
        work.columns();
    } else if work.is_long(outs) {
        work.long(outs);
    } else {
        let both = one_after_the_other(&kept, &reduced);
        let walk = Walk::new(&both);
        let grain = (pool::GRAIN / count.max(1)).max(1);
        pool::parallel_for(outs, grain, |range| work.rows(range, &walk));
    }
    Ok(())
}

/// Whether kernels can read the operand's memory.
fn reads_in_place(span: &Span<'_>, ctype: CType) -> bool {
    is_native(span.dtype(), ctype) && span.ptr().addr().is_multiple_of(span.dtype().size().min(8))
}

/// The reduced elements of the first output, then those of the next, for the inputs.
fn one_after_the_other(kept: &Nest, reduced: &Nest) -> Nest {
    let ins = reduced.operands();
    let shape: SmallVec<[usize; 6]> = kept.dims().iter().chain(reduced.dims()).copied().collect();
    let strides: SmallVec<[SmallVec<[isize; 6]>; 4]> = (0..ins)
        .map(|k| {
            let of = |nest: &Nest, d: usize| nest.dim_strides(d)[k];
            let outer = (0..kept.dims().len()).map(|d| of(kept, d));
            outer.chain((0..reduced.dims().len()).map(|d| of(reduced, d))).collect()
        })
        .collect();
    let all: SmallVec<[&[isize]; 4]> = strides.iter().map(|s| &s[..]).collect();
    Nest::in_order(&shape, &all)
}

/// Room for one value of any compute type, aligned.
#[derive(Clone, Copy, Default)]
#[repr(align(16))]
pub(crate) struct Cell([u8; 16]);

impl Cell {
    pub(crate) fn ptr(&mut self) -> *mut u8 {
        self.0.as_mut_ptr()
    }
}

const _: () = assert!(size_of::<Cell>() >= 16);
