//! The three walks of a reduction: one output, rows, and columns of a matrix.

use super::{Cell, put, size_of_ctype};
use crate::access::Ptr;
use crate::isa::{Isa, Kernel, dispatch};
use crate::load_store::Mover;
use crate::map::{BLOCK, Block, Plan};
use crate::pool;
use num_complex::Complex;
use rushlight_core::backend::ReduceOp;
use rushlight_core::layout::Nest;
use rushlight_core::{CType, Result};
use smallvec::SmallVec;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Mutex;

/// Elements whose partial results are combined at the end when everything becomes one value.
pub(super) const PIECE: usize = 1 << 14;

/// A combining operation on a compute type.
pub(super) trait Combine<T: Copy> {
    const START: T;
    fn join(a: T, b: T) -> T;
    /// What an element contributes.
    #[inline(always)]
    fn take(x: T) -> T {
        x
    }
}

pub(super) struct Sum;
pub(super) struct Prod;
pub(super) struct Max;
pub(super) struct Min;
pub(super) struct Any;
pub(super) struct All;

macro_rules! combine {
    (ints $($t:ty)*) => { $(
        impl Combine<$t> for Sum { const START: $t = 0; #[inline(always)] fn join(a: $t, b: $t) -> $t { a.wrapping_add(b) } }
        impl Combine<$t> for Prod { const START: $t = 1; #[inline(always)] fn join(a: $t, b: $t) -> $t { a.wrapping_mul(b) } }
        impl Combine<$t> for Max { const START: $t = <$t>::MIN; #[inline(always)] fn join(a: $t, b: $t) -> $t { a.max(b) } }
        impl Combine<$t> for Min { const START: $t = <$t>::MAX; #[inline(always)] fn join(a: $t, b: $t) -> $t { a.min(b) } }
        impl Combine<$t> for Any { const START: $t = 0; #[inline(always)] fn join(a: $t, b: $t) -> $t { a | b } #[inline(always)] fn take(x: $t) -> $t { (x != 0) as $t } }
        impl Combine<$t> for All { const START: $t = 1; #[inline(always)] fn join(a: $t, b: $t) -> $t { a & b } #[inline(always)] fn take(x: $t) -> $t { (x != 0) as $t } }
    )* };
    (floats $($t:ty)*) => { $(
        impl Combine<$t> for Sum { const START: $t = 0.0; #[inline(always)] fn join(a: $t, b: $t) -> $t { a + b } }
        impl Combine<$t> for Prod { const START: $t = 1.0; #[inline(always)] fn join(a: $t, b: $t) -> $t { a * b } }
        impl Combine<$t> for Max { const START: $t = <$t>::NEG_INFINITY; #[inline(always)] fn join(a: $t, b: $t) -> $t { if a > b || a.is_nan() { a } else { b } } }
        impl Combine<$t> for Min { const START: $t = <$t>::INFINITY; #[inline(always)] fn join(a: $t, b: $t) -> $t { if a < b || a.is_nan() { a } else { b } } }
        impl Combine<$t> for Any { const START: $t = 0.0; #[inline(always)] fn join(a: $t, b: $t) -> $t { if a != 0.0 || b != 0.0 { 1.0 } else { 0.0 } } }
        impl Combine<$t> for All { const START: $t = 1.0; #[inline(always)] fn join(a: $t, b: $t) -> $t { if a != 0.0 && b != 0.0 { 1.0 } else { 0.0 } } }
    )* };
    (complex $($t:ty)*) => { $(
        impl Combine<Complex<$t>> for Sum { const START: Complex<$t> = Complex { re: 0.0, im: 0.0 }; #[inline(always)] fn join(a: Complex<$t>, b: Complex<$t>) -> Complex<$t> { a + b } }
        impl Combine<Complex<$t>> for Prod { const START: Complex<$t> = Complex { re: 1.0, im: 0.0 }; #[inline(always)] fn join(a: Complex<$t>, b: Complex<$t>) -> Complex<$t> { a * b } }
        impl Combine<Complex<$t>> for Any { const START: Complex<$t> = Complex { re: 0.0, im: 0.0 }; #[inline(always)] fn join(a: Complex<$t>, b: Complex<$t>) -> Complex<$t> { let t = a.re != 0.0 || a.im != 0.0 || b.re != 0.0 || b.im != 0.0; Complex::new(if t { 1.0 } else { 0.0 }, 0.0) } }
        impl Combine<Complex<$t>> for All { const START: Complex<$t> = Complex { re: 1.0, im: 0.0 }; #[inline(always)] fn join(a: Complex<$t>, b: Complex<$t>) -> Complex<$t> { let t = (a.re != 0.0 || a.im != 0.0) && (b.re != 0.0 || b.im != 0.0); Complex::new(if t { 1.0 } else { 0.0 }, 0.0) } }
    )* };
}
combine!(ints i32 i64 u64);
combine!(floats f32 f64);
combine!(complex f32 f64);

/// Arguments of a kernel: `n` dense values and where the partial result is.
#[derive(Clone, Copy)]
struct Dense {
    total: *mut u8,
    values: *const u8,
    n: usize,
}

/// Joins a block into one value: 16 running values, then halves of them.
struct IntoOne<O, T>(PhantomData<(O, T)>);
/// Joins a block into as many values, place by place.
struct IntoMany<O, T>(PhantomData<(O, T)>);
/// Sets the start value.
struct Begin<O, T>(PhantomData<(O, T)>);

impl<O: Combine<T>, T: Copy> Kernel<Dense> for IntoOne<O, T> {
    #[inline(always)]
    unsafe fn run<I: Isa>(k: Dense) {
        const LANES: usize = 16;
        // SAFETY: the caller promises n aligned values, and one at `total`.
        let (values, total) =
            unsafe { (std::slice::from_raw_parts(k.values.cast::<T>(), k.n), &mut *k.total.cast::<T>()) };
        let mut lanes = [O::START; LANES];
        let mut chunks = values.chunks_exact(LANES);
        for c in &mut chunks {
            for (l, v) in lanes.iter_mut().zip(c) {
                *l = O::join(*l, O::take(*v));
            }
        }
        for (l, v) in lanes.iter_mut().zip(chunks.remainder()) {
            *l = O::join(*l, O::take(*v));
        }
        let mut width = LANES / 2;
        while width > 0 {
            for i in 0..width {
                lanes[i] = O::join(lanes[i], lanes[i + width]);
            }
            width /= 2;
        }
        *total = O::join(*total, lanes[0]);
    }
}
impl<O: Combine<T>, T: Copy> Kernel<Dense> for IntoMany<O, T> {
    #[inline(always)]
    unsafe fn run<I: Isa>(k: Dense) {
        // SAFETY: the caller promises n aligned values at both addresses, which do not overlap.
        let (values, totals) = unsafe {
            (
                std::slice::from_raw_parts(k.values.cast::<T>(), k.n),
                std::slice::from_raw_parts_mut(k.total.cast::<T>(), k.n),
            )
        };
        totals.iter_mut().zip(values).for_each(|(t, v)| *t = O::join(*t, O::take(*v)));
    }
}
impl<O: Combine<T>, T: Copy> Kernel<Dense> for Begin<O, T> {
    #[inline(always)]
    unsafe fn run<I: Isa>(k: Dense) {
        // SAFETY: the caller promises room for n aligned values.
        let totals = unsafe { std::slice::from_raw_parts_mut(k.total.cast::<T>(), k.n) };
        totals.fill(O::START);
    }
}

/// A joining kernel for an operation and compute type.
type Join = unsafe fn(Dense);

macro_rules! pick {
    ($kernel:ident, $op:expr, $ctype:expr) => {
        match $op {
            ReduceOp::Sum => pick!(@all $kernel Sum $ctype),
            ReduceOp::Prod => pick!(@all $kernel Prod $ctype),
            ReduceOp::Any => pick!(@all $kernel Any $ctype),
            ReduceOp::All => pick!(@all $kernel All $ctype),
            ReduceOp::Max | ReduceOp::ArgMax => pick!(@real $kernel Max $ctype),
            ReduceOp::Min | ReduceOp::ArgMin => pick!(@real $kernel Min $ctype),
        }
    };
    (@all $kernel:ident $o:ident $ctype:expr) => {
        match $ctype {
            CType::C64 => dispatch::<$kernel<$o, Complex<f32>>, Dense> as Join,
            CType::C128 => dispatch::<$kernel<$o, Complex<f64>>, Dense> as Join,
            c => pick!(@real $kernel $o c),
        }
    };
    (@real $kernel:ident $o:ident $ctype:expr) => {
        match $ctype {
            CType::I64 => dispatch::<$kernel<$o, i64>, Dense> as Join,
            CType::U64 => dispatch::<$kernel<$o, u64>, Dense> as Join,
            CType::F32 => dispatch::<$kernel<$o, f32>, Dense> as Join,
            CType::F64 => dispatch::<$kernel<$o, f64>, Dense> as Join,
            // Complex extrema are refused by the ops.
            _ => dispatch::<$kernel<$o, i32>, Dense> as Join,
        }
    };
}

fn into_one(op: ReduceOp, c: CType) -> Join {
    pick!(IntoOne, op, c)
}
fn into_many(op: ReduceOp, c: CType) -> Join {
    pick!(IntoMany, op, c)
}
fn begin(op: ReduceOp, c: CType) -> Join {
    pick!(Begin, op, c)
}

/// A reduction made ready.
pub(super) struct Fold<'a, 'p> {
    pub op: ReduceOp,
    pub ctype: CType,
    pub plan: &'a Plan<'p>,
    pub post: &'a Plan<'p>,
    pub ptrs: SmallVec<[Ptr; 4]>,
    pub out: Ptr,
    pub store: Mover,
    /// Output first, then the inputs.
    pub kept: &'a Nest,
    pub reduced: &'a Nest,
    pub count: usize,
}

impl Fold<'_, '_> {
    /// Joins the reduced elements `range` of the output whose inputs start at `at` into `total`.
    fn join(&self, block: &mut Block<'_, '_>, at: &[isize], range: Range<usize>, total: *mut u8) {
        let join = into_one(self.op, self.ctype);
        block.each(&self.ptrs, at, self.reduced, range, |values, n| {
            // SAFETY: the block hands n dense values; `total` is one.
            unsafe { join(Dense { total, values, n }) }
        });
    }

    fn start(&self) -> Cell {
        let mut cell = Cell::default();
        // SAFETY: the cell has room for one value.
        unsafe { begin(self.op, self.ctype)(Dense { total: cell.ptr(), values: std::ptr::null(), n: 1 }) };
        cell
    }

    fn finish(&self, total: *const u8, n: usize, memory: impl Fn(usize) -> *mut u8) {
        let size = size_of_ctype(self.ctype);
        self.post.with_block(|block| {
            for start in (0..n).step_by(BLOCK) {
                let m = (n - start).min(BLOCK);
                let done = block.evaluate(&[total.wrapping_add(start * size)], m);
                (0..m).for_each(|i| put(self.store, done.wrapping_add(i * size), memory(start + i)));
            }
        });
    }

    /// Everything becomes one value: pieces on all threads, joined in order.
    pub(super) fn one(&self) -> Result<()> {
        let pieces = self.count.div_ceil(PIECE);
        let parts = Mutex::new(vec![Cell::default(); pieces]);
        let at: SmallVec<[isize; 6]> = SmallVec::from_elem(0, self.ptrs.len());
        pool::run(pieces, &|k| {
            let mut cell = self.start();
            let range = k * PIECE..((k + 1) * PIECE).min(self.count);
            self.plan.with_block(|block| self.join(block, &at, range, cell.ptr()));
            parts.lock().unwrap_or_else(std::sync::PoisonError::into_inner)[k] = cell;
        });
        let mut parts = parts.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        // Pairwise, so that the error grows with the logarithm of the number of pieces.
        let many = into_many(self.op, self.ctype);
        let mut width = parts.len();
        while width > 1 {
            let half = width.div_ceil(2);
            for i in 0..width - half {
                let mut other = parts[i + half];
                // SAFETY: both cells hold one value. `take` of a joined value is the value again.
                unsafe { many(Dense { total: parts[i].ptr(), values: other.ptr(), n: 1 }) };
            }
            width = half;
        }
        self.finish(parts[0].ptr(), 1, |_| self.out.at);
        Ok(())
    }

    /// Each output on its own.
    pub(super) fn rows(&self, outs: Range<usize>) {
        self.plan.with_block(|block| {
            self.kept.for_each_run(outs, |offsets, len| {
                let strides = self.kept.inner_strides();
                for i in 0..len as isize {
                    let at: SmallVec<[isize; 6]> =
                        (1..offsets.len()).map(|k| offsets[k] + i * strides[k]).collect();
                    let mut cell = self.start();
                    self.join(block, &at, 0..self.count, cell.ptr());
                    self.finish_one(cell, self.out.offset(offsets[0] + i * strides[0]));
                }
            });
        });
    }

    fn finish_one(&self, mut cell: Cell, memory: *mut u8) {
        if self.post.cost() == 0 {
            put(self.store, cell.ptr(), memory);
        } else {
            self.finish(cell.ptr(), 1, |_| memory);
        }
    }

    /// Neighbouring outputs together: each step adds a dense row of inputs to a row of totals.
    pub(super) fn columns(&self) {
        let width = self.kept.inner_len();
        let (join, begin) = (into_many(self.op, self.ctype), begin(self.op, self.ctype));
        let bands = width.div_ceil(BLOCK);
        let grain = (pool::GRAIN / (self.count.max(1) * width.min(BLOCK))).max(1);
        pool::parallel_for(self.kept.rows() * bands, grain, |range| {
            let mut totals = vec![Cell::default(); BLOCK];
            for task in range {
                let (row, first) = (task / bands, task % bands * BLOCK);
                let n = (width - first).min(BLOCK);
                let total = totals.as_mut_ptr().cast::<u8>();
                // SAFETY: there is room for BLOCK values, aligned.
                unsafe { begin(Dense { total, values: std::ptr::null(), n }) };
                let rows = self.kept.rows_from(row);
                let offsets = rows.offsets();
                self.plan.with_block(|block| {
                    self.reduced.for_each_run(0..self.count, |inner, len| {
                        let steps = self.reduced.inner_strides();
                        for j in 0..len as isize {
                            let at: SmallVec<[isize; 6]> = (0..self.ptrs.len())
                                .map(|k| offsets[k + 1] + first as isize + inner[k] + j * steps[k])
                                .collect();
                            let values = block.dense(&self.ptrs, &at, n);
                            // SAFETY: n dense values, and as many totals.
                            unsafe { join(Dense { total, values, n }) };
                        }
                    });
                });
                let stride = self.kept.inner_strides()[0];
                self.finish(total, n, |i| self.out.offset(offsets[0] + (first + i) as isize * stride));
            }
        });
    }
}
