//! The walks of a reduction whose outputs are worked on one by one: pieces of few outputs on all
//! threads, dense rows, short rows packed together, and any rows.

use super::Cell;
use super::combine::{Dense, Rows, begin, into_many, into_one};
use crate::access::Ptr;
use crate::load_store::{Move, Mover, ctype_size};
use crate::map::{BLOCK, Block, Plan, Walk};
use crate::pool;
use rushlight_core::CType;
use rushlight_core::backend::ReduceOp;
use rushlight_core::layout::Nest;
use smallvec::SmallVec;
use std::ops::Range;

/// Elements that one thread joins at once.
pub(super) const PIECE: usize = 1 << 14;

/// Elements of a task whose rows are read where they are: a thread sums them in the time that
/// another takes to wake.
pub(super) const DENSE_GRAIN: usize = 4 * pool::GRAIN;

/// Blocks that are joined one after the other; above that, halves are joined.
const BLOCKS: usize = 16;

/// Outputs below which the elements of each are spread over threads.
pub(super) const FEW: usize = 16;

/// A reduction made ready.
pub(super) struct Fold<'a, 'p> {
    pub op: ReduceOp,
    pub ctype: CType,
    pub plan: &'a Plan<'p>,
    pub post: Option<&'a Plan<'p>>,
    pub ptrs: SmallVec<[Ptr; 4]>,
    pub out: Ptr,
    pub store: Mover,
    /// Over the outputs: the inputs first, then the output.
    pub kept: &'a Nest,
    /// Over the reduced elements of one output: the inputs.
    pub reduced: &'a Nest,
    pub count: usize,
    /// Whether the one input can be read where it is: as the program leaves it, and aligned.
    pub plain: bool,
}

/// Values of the compute type that threads write at different places.
pub(super) struct Parts {
    cells: Vec<Cell>,
    size: usize,
}

/// Addresses that may cross threads: tasks write disjoint places of [`Parts`].
#[derive(Clone, Copy)]
pub(super) struct Shared(*mut u8);
// SAFETY: each task writes the values of its own number only, and the pool joins before they are read.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}
impl Shared {
    pub(super) fn at(self, bytes: usize) -> *mut u8 {
        self.0.wrapping_add(bytes)
    }
}

impl Parts {
    pub(super) fn new(values: usize, size: usize) -> Parts {
        Parts { cells: vec![Cell::default(); (values * size).div_ceil(size_of::<Cell>()).max(1)], size }
    }
    pub(super) fn at(&mut self, value: usize) -> *mut u8 {
        self.cells.as_mut_ptr().cast::<u8>().wrapping_add(value * self.size)
    }
    pub(super) fn share(&mut self) -> Shared {
        Shared(self.cells.as_mut_ptr().cast())
    }
}

impl Fold<'_, '_> {
    /// Whether each output is worth several threads.
    pub(super) fn is_long(&self, outs: usize) -> bool {
        outs < FEW && self.count > PIECE
    }

    /// Whether the reduced elements of an output are one dense row that kernels can read in place.
    fn is_dense(&self) -> bool {
        self.plain
            && self.reduced.dims().len() == 1
            && (self.reduced.inner_strides()[0] == 1 || self.count == 1)
    }

    /// Outputs of the range, by the walk that suits their rows.
    pub(super) fn rows(&self, outs: Range<usize>, both: &Walk<'_>) {
        if self.is_dense() && self.count <= PIECE {
            self.dense_rows(outs);
        } else if self.count <= BLOCK / 2 {
            self.short_rows(outs, both);
        } else {
            self.any_rows(outs);
        }
    }

    fn start(&self) -> Cell {
        let mut cell = Cell::default();
        self.begin(cell.ptr(), 1);
        cell
    }

    pub(super) fn begin(&self, total: *mut u8, n: usize) {
        // SAFETY: callers bring room for n values.
        unsafe { begin(self.op, self.ctype)(Dense { total, values: std::ptr::null(), n }) };
    }

    /// The join of `a` and `b`. What elements contribute is the same for a join of some.
    fn join(&self, mut a: Cell, mut b: Cell) -> Cell {
        // SAFETY: both cells hold one value.
        unsafe { into_many(self.op, self.ctype)(Dense { total: a.ptr(), values: b.ptr(), n: 1 }) };
        a
    }

    /// The join of one row of at most PIECE dense values.
    fn one(&self, values: *const u8, n: usize) -> Cell {
        let mut cell = Cell::default();
        // SAFETY: callers bring n dense, aligned values; the cell is room for one.
        unsafe { into_one(self.op, self.ctype)(Rows { totals: cell.ptr(), values, n, rows: 1, stride: 0 }) };
        cell
    }

    /// Joins the reduced elements `range` of the output whose inputs start at `at`.
    fn pairwise(&self, block: &mut Block<'_, '_>, at: &[isize], range: Range<usize>) -> Cell {
        let dense = self.is_dense();
        // What `each` hands on at a time.
        let inner = self.reduced.inner_len();
        let most = if dense { PIECE } else { BLOCKS * if inner >= 64 { inner.min(BLOCK) } else { BLOCK } };
        if range.len() > most {
            let middle = range.start + (range.len() / 2).next_multiple_of(most);
            let low = self.pairwise(block, at, range.start..middle);
            return self.join(low, self.pairwise(block, at, middle..range.end));
        }
        if dense {
            return self.one(self.ptrs[0].offset(at[0] + range.start as isize), range.len());
        }
        let mut total = self.start();
        block.each(&self.ptrs, at, self.reduced, range, |values, n| {
            total = self.join(total, self.one(values, n))
        });
        total
    }

    /// Applies the last program to `n` totals and stores them, `stride` elements apart.
    pub(super) fn finish(&self, total: *const u8, n: usize, memory: *mut u8, stride: isize) {
        let store = |from: *const u8, first: usize, n: usize| {
            let size = self.out.dtype.size() as isize;
            let memory = memory.wrapping_offset(first as isize * stride * size);
            // SAFETY: n values of the compute type, for n elements of the output.
            unsafe { (self.store)(Move::row(from.cast_mut(), memory, stride, n)) }
        };
        let Some(post) = self.post else { return store(total, 0, n) };
        post.with_block(|block| {
            for start in (0..n).step_by(BLOCK) {
                let m = (n - start).min(BLOCK);
                let done = block.evaluate(&[total.wrapping_add(start * ctype_size(self.ctype))], m);
                store(done, start, m);
            }
        });
    }

    /// Few outputs of many elements: pieces on all threads, joined pairwise in order.
    pub(super) fn long(&self, outs: usize) {
        let (pieces, size) = (self.count.div_ceil(PIECE), ctype_size(self.ctype));
        let mut parts = Parts::new(outs * pieces, size);
        let shared = parts.share();
        let ins = self.ptrs.len();
        let grain = if self.is_dense() { DENSE_GRAIN } else { pool::GRAIN };
        pool::parallel_for(outs * pieces, grain / PIECE, |range| {
            for part in range {
                let (out, piece) = (part / pieces, part % pieces);
                let range = piece * PIECE..((piece + 1) * PIECE).min(self.count);
                let at = element(self.kept, out);
                let mut cell = self.plan.with_block(|block| self.pairwise(block, &at[..ins], range));
                // SAFETY: one value, whose place no other task writes.
                unsafe { std::ptr::copy_nonoverlapping(cell.ptr(), shared.at(part * size), size) };
            }
        });
        for out in 0..outs {
            self.halve(&mut parts, out * pieces, pieces, 1);
            let at = element(self.kept, out);
            self.finish(parts.at(out * pieces), 1, self.out.offset(at[ins]), 1);
        }
    }

    /// Joins `count` groups of `n` values from `first` on into the first group, pairwise.
    pub(super) fn halve(&self, parts: &mut Parts, first: usize, count: usize, n: usize) {
        let join = into_many(self.op, self.ctype);
        let mut width = count;
        while width > 1 {
            let half = width.div_ceil(2);
            for i in 0..width - half {
                let (total, values) = (parts.at(first + i * n), parts.at(first + (i + half) * n));
                // SAFETY: two groups of n values that do not overlap.
                unsafe { join(Dense { total, values, n }) };
            }
            width = half;
        }
    }

    /// Rows that kernels read where they are.
    fn dense_rows(&self, outs: Range<usize>) {
        let strides = self.kept.inner_strides();
        let mut totals = Parts::new(outs.len().min(BLOCK), ctype_size(self.ctype));
        self.kept.for_each_run(outs, |at, len| {
            for first in (0..len).step_by(BLOCK) {
                let (rows, step) = ((len - first).min(BLOCK), first as isize);
                let values = self.ptrs[0].offset(at[0] + step * strides[0]);
                let (totals, n) = (totals.at(0), self.count);
                // SAFETY: the nest walks the input's shape, whose rows are dense and aligned; there is
                // room for as many totals as a run has outputs, and at most BLOCK are written.
                unsafe {
                    into_one(self.op, self.ctype)(Rows { totals, values, n, rows, stride: strides[0] })
                };
                self.finish(totals, rows, self.out.offset(at[1] + step * strides[1]), strides[1]);
            }
        });
    }

    /// Rows of few elements: as many as fill a block are computed at once. `both` walks the reduced
    /// elements of one output after the other.
    fn short_rows(&self, outs: Range<usize>, both: &Walk<'_>) {
        let (ins, n) = (self.ptrs.len(), self.count);
        let most = BLOCK.checked_div(n).unwrap_or(BLOCK);
        let size = ctype_size(self.ctype);
        let mut totals = Parts::new(most, size);
        let strides = self.kept.inner_strides();
        self.plan.with_block(|block| {
            for start in outs.clone().step_by(most) {
                let rows = (outs.end - start).min(most);
                let values = block.elements(&self.ptrs, both, start * n..(start + rows) * n);
                let totals = totals.at(0);
                // SAFETY: the block hands all values of these rows, dense; there is room for BLOCK / n totals.
                unsafe {
                    into_one(self.op, self.ctype)(Rows { totals, values, n, rows, stride: n as isize })
                };
                let mut done = 0;
                self.kept.for_each_run(start..start + rows, |at, len| {
                    let from = totals.wrapping_add(done * size);
                    self.finish(from, len, self.out.offset(at[ins]), strides[ins]);
                    done += len;
                });
            }
        });
    }

    /// Each output on its own.
    fn any_rows(&self, outs: Range<usize>) {
        let ins = self.ptrs.len();
        self.plan.with_block(|block| {
            self.kept.for_each_run(outs, |offsets, len| {
                let strides = self.kept.inner_strides();
                let mut at: SmallVec<[isize; 6]> = offsets.into();
                for _ in 0..len {
                    let mut cell = self.pairwise(block, &at[..ins], 0..self.count);
                    self.finish(cell.ptr(), 1, self.out.offset(at[ins]), 1);
                    at.iter_mut().zip(strides).for_each(|(a, s)| *a += s);
                }
            });
        });
    }
}

/// Where an element of a nest is, in each operand.
pub(super) fn element(nest: &Nest, k: usize) -> SmallVec<[isize; 6]> {
    let mut at = SmallVec::new();
    nest.for_each_run(k..k + 1, |offsets, _| at = offsets.into());
    at
}
