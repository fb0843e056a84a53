//! The walks of a reduction: pieces of few outputs, rows, and columns of a matrix.

use super::combine::{Dense, Join, begin, into_many, into_one};
use super::{Cell, put};
use crate::access::Ptr;
use crate::load_store::{Mover, ctype_size};
use crate::map::{BLOCK, Block, Plan};
use crate::pool;
use rushlight_core::CType;
use rushlight_core::backend::ReduceOp;
use rushlight_core::layout::Nest;
use smallvec::SmallVec;
use std::ops::Range;

/// Elements that are joined block after block; above that, halves are joined.
pub(super) const PIECE: usize = 1 << 14;

/// Rows that are added to one row of totals; above that, halves are joined.
const ROWS: usize = 128;

/// Outputs below which the elements of each are spread over threads.
const FEW: usize = 16;

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
    pub reduced: &'a Nest,
    pub count: usize,
}

/// Values of the compute type that threads write at different places.
struct Parts {
    cells: Vec<Cell>,
    size: usize,
}

/// Addresses that may cross threads: tasks write disjoint places of [`Parts`].
#[derive(Clone, Copy)]
struct Shared(*mut u8);
// SAFETY: each task writes the values of its own number only, and the pool joins before they are read.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}
impl Shared {
    fn at(self, bytes: usize) -> *mut u8 {
        self.0.wrapping_add(bytes)
    }
}

impl Parts {
    fn new(values: usize, size: usize) -> Parts {
        Parts { cells: vec![Cell::default(); (values * size).div_ceil(size_of::<Cell>()).max(1)], size }
    }
    fn at(&mut self, value: usize) -> *mut u8 {
        self.cells.as_mut_ptr().cast::<u8>().wrapping_add(value * self.size)
    }
    fn share(&mut self) -> Shared {
        Shared(self.cells.as_mut_ptr().cast())
    }
}

impl Fold<'_, '_> {
    /// Whether each output is worth several threads.
    pub(super) fn is_long(&self, outs: usize) -> bool {
        outs < FEW && self.count > PIECE
    }

    /// Whether neighbouring outputs are worked on together: their inputs lie densely, or they are
    /// so short that the work is in their number.
    pub(super) fn is_columns(&self) -> bool {
        let ins = self.ptrs.len();
        let width = self.kept.inner_len();
        let dense = |nest: &Nest| nest.inner_strides()[..ins].iter().all(|s| *s == 1);
        let inside = !dense(self.reduced) || self.count == 1;
        (dense(self.kept) && width >= 8 && inside) || (self.count <= 32 && width >= 64)
    }

    fn start(&self) -> Cell {
        let mut cell = Cell::default();
        self.begin(cell.ptr(), 1);
        cell
    }

    fn begin(&self, total: *mut u8, n: usize) {
        // SAFETY: callers bring room for n values.
        unsafe { begin(self.op, self.ctype)(Dense { total, values: std::ptr::null(), n }) };
    }

    /// Joins the reduced elements `range` of the output whose inputs start at `at`.
    fn pairwise(&self, block: &mut Block<'_, '_>, at: &[isize], range: Range<usize>) -> Cell {
        let mut cell = self.start();
        if range.len() > PIECE {
            let middle = range.start + (range.len() / 2).next_multiple_of(PIECE);
            cell = self.pairwise(block, at, range.start..middle);
            let mut other = self.pairwise(block, at, middle..range.end);
            // SAFETY: both cells hold one value. `take` of a joined value is the value again.
            unsafe { into_many(self.op, self.ctype)(Dense { total: cell.ptr(), values: other.ptr(), n: 1 }) };
            return cell;
        }
        let (join, total) = (into_one(self.op, self.ctype), cell.ptr());
        block.each(&self.ptrs, at, self.reduced, range, |values, n| {
            // SAFETY: the block hands n dense values; `total` is one.
            unsafe { join(Dense { total, values, n }) }
        });
        cell
    }

    /// Applies the last program to `n` totals and stores them.
    fn finish(&self, total: *const u8, n: usize, memory: impl Fn(usize) -> *mut u8) {
        let size = ctype_size(self.ctype);
        let Some(post) = self.post else {
            return (0..n).for_each(|i| put(self.store, total.wrapping_add(i * size), memory(i)));
        };
        post.with_block(|block| {
            for start in (0..n).step_by(BLOCK) {
                let m = (n - start).min(BLOCK);
                let done = block.evaluate(&[total.wrapping_add(start * size)], m);
                (0..m).for_each(|i| put(self.store, done.wrapping_add(i * size), memory(start + i)));
            }
        });
    }

    /// Few outputs of many elements: pieces on all threads, joined pairwise in order.
    pub(super) fn long(&self, outs: usize) {
        let (pieces, size) = (self.count.div_ceil(PIECE), ctype_size(self.ctype));
        let mut parts = Parts::new(outs * pieces, size);
        let shared = parts.share();
        let ins = self.ptrs.len();
        pool::run(outs * pieces, &|task| {
            let (out, piece) = (task / pieces, task % pieces);
            let range = piece * PIECE..((piece + 1) * PIECE).min(self.count);
            let at = element(self.kept, out);
            let mut cell = self.plan.with_block(|block| self.pairwise(block, &at[..ins], range));
            // SAFETY: one value, whose place no other task writes.
            unsafe { std::ptr::copy_nonoverlapping(cell.ptr(), shared.at(task * size), size) };
        });
        for out in 0..outs {
            self.halve(&mut parts, out * pieces, pieces, 1);
            let at = element(self.kept, out);
            self.finish(parts.at(out * pieces), 1, |_| self.out.offset(at[ins]));
        }
    }

    /// Joins `count` groups of `n` values from `first` on into the first group, pairwise.
    fn halve(&self, parts: &mut Parts, first: usize, count: usize, n: usize) {
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

    /// Each output on its own.
    pub(super) fn rows(&self, outs: Range<usize>) {
        let ins = self.ptrs.len();
        self.plan.with_block(|block| {
            self.kept.for_each_run(outs, |offsets, len| {
                let strides = self.kept.inner_strides();
                let mut at: SmallVec<[isize; 6]> = offsets.into();
                for _ in 0..len {
                    let mut cell = self.pairwise(block, &at[..ins], 0..self.count);
                    self.finish(cell.ptr(), 1, |_| self.out.offset(at[ins]));
                    at.iter_mut().zip(strides).for_each(|(a, s)| *a += s);
                }
            });
        });
    }

    /// Neighbouring outputs together: each step adds a row of inputs to a row of totals.
    pub(super) fn columns(&self) {
        let width = self.kept.inner_len();
        let bands = width.div_ceil(BLOCK);
        let tasks = self.kept.rows() * bands;
        let most = width.min(BLOCK);
        // Cut by shape alone, so that results do not depend on threads.
        let piece =
            if tasks < FEW { (4 * pool::GRAIN / most).max(ROWS).next_multiple_of(ROWS) } else { self.count };
        let pieces = self.count.div_ceil(piece.max(1)).max(1);
        let size = ctype_size(self.ctype);
        if pieces == 1 {
            let grain = (pool::GRAIN / (self.count.max(1) * most)).max(1);
            pool::parallel_for(tasks, grain, |range| {
                for task in range {
                    let mut totals = self.band(task, bands, 0..self.count);
                    self.finish_band(task, bands, totals.at(0));
                }
            });
            return;
        }
        let mut parts = Parts::new(tasks * pieces * most, size);
        let shared = parts.share();
        pool::run(tasks * pieces, &|k| {
            let (task, p) = (k / pieces, k % pieces);
            let mut totals = self.band(task, bands, p * piece..((p + 1) * piece).min(self.count));
            let n = self.band_size(task, bands);
            // SAFETY: n values, whose places no other task writes.
            unsafe { std::ptr::copy_nonoverlapping(totals.at(0), shared.at(k * most * size), n * size) };
        });
        for task in 0..tasks {
            self.halve(&mut parts, task * pieces * most, pieces, most);
            self.finish_band(task, bands, parts.at(task * pieces * most));
        }
    }

    fn band_size(&self, task: usize, bands: usize) -> usize {
        (self.kept.inner_len() - task % bands * BLOCK).min(BLOCK)
    }

    fn finish_band(&self, task: usize, bands: usize, totals: *const u8) {
        let (ins, first) = (self.ptrs.len(), task % bands * BLOCK);
        let rows = self.kept.rows_from(task / bands);
        let (start, stride) = (rows.offsets()[ins], self.kept.inner_strides()[ins]);
        let place = |i: usize| self.out.offset(start + (first + i) as isize * stride);
        self.finish(totals, self.band_size(task, bands), place);
    }

    /// The totals of one band of columns over the reduced elements `range`.
    fn band(&self, task: usize, bands: usize, range: Range<usize>) -> Parts {
        let ins = self.ptrs.len();
        let n = self.band_size(task, bands);
        let rows = self.kept.rows_from(task / bands);
        let strides = &self.kept.inner_strides()[..ins];
        let first = (task % bands * BLOCK) as isize;
        let start: SmallVec<[isize; 6]> =
            rows.offsets().iter().zip(strides).map(|(o, s)| o + first * s).collect();
        let steps = self.reduced.inner_strides();
        // Rows that follow each other in memory are as good as one long row.
        let packed = bands == 1
            && strides.iter().all(|s| *s == 1)
            && steps.iter().all(|s| *s == n as isize)
            && 2 * n <= BLOCK;
        let together = if packed { BLOCK / n } else { 1 };
        let mut tower = Tower::new(self, n * together);
        self.plan.with_block(|block| {
            self.reduced.for_each_run(range, |inner, len| {
                let mut at: SmallVec<[isize; 6]> = start.iter().zip(inner).map(|(a, b)| a + b).collect();
                let mut done = 0;
                while done < len {
                    let rows = (len - done).min(together);
                    let values = block.strided(&self.ptrs, &at, strides, n * rows);
                    tower.add(self, values, n * rows);
                    at.iter_mut().zip(steps).for_each(|(a, s)| *a += s * rows as isize);
                    done += rows;
                }
            });
        });
        let mut totals = tower.top();
        self.halve(&mut totals, 0, together, n);
        totals
    }
}

/// Rows of totals by height: each is the join of twice as many rows as the one below.
struct Tower {
    join: Join,
    width: usize,
    /// Rows added to the lowest totals, and how often those were carried up.
    added: usize,
    carried: usize,
    floors: Vec<Parts>,
}

impl Tower {
    fn new(fold: &Fold<'_, '_>, width: usize) -> Tower {
        let mut tower =
            Tower { join: into_many(fold.op, fold.ctype), width, added: 0, carried: 0, floors: Vec::new() };
        tower.floors.push(tower.fresh(fold));
        tower
    }

    fn fresh(&self, fold: &Fold<'_, '_>) -> Parts {
        let mut parts = Parts::new(self.width, ctype_size(fold.ctype));
        fold.begin(parts.at(0), self.width);
        parts
    }

    fn add(&mut self, fold: &Fold<'_, '_>, values: *const u8, n: usize) {
        if self.added == ROWS {
            self.carry(fold);
        }
        self.added += 1;
        // SAFETY: n dense values, and at least as many totals.
        unsafe { (self.join)(Dense { total: self.floors[0].at(0), values, n }) };
    }

    /// Counts in binary: a floor that is taken is joined with what comes up and moves on.
    fn carry(&mut self, fold: &Fold<'_, '_>) {
        let n = self.width;
        let mut floor = 0;
        loop {
            floor += 1;
            if floor == self.floors.len() {
                let fresh = self.fresh(fold);
                self.floors.push(fresh);
            }
            let (below, above) = self.floors.split_at_mut(floor);
            let (from, to) = (&mut below[floor - 1], &mut above[0]);
            // SAFETY: two rows of n totals in buffers of their own.
            unsafe { (self.join)(Dense { total: to.at(0), values: from.at(0), n }) };
            fold.begin(from.at(0), n);
            if self.carried >> (floor - 1) & 1 == 0 {
                break;
            }
        }
        self.carried += 1;
        self.added = 0;
    }

    fn top(mut self) -> Parts {
        let mut total = self.floors.remove(0);
        for mut floor in std::mem::take(&mut self.floors) {
            // SAFETY: two rows of totals in buffers of their own.
            unsafe { (self.join)(Dense { total: total.at(0), values: floor.at(0), n: self.width }) };
        }
        total
    }
}

/// Where an element of a nest is, in each operand.
pub(super) fn element(nest: &Nest, k: usize) -> SmallVec<[isize; 6]> {
    let mut at = SmallVec::new();
    nest.for_each_run(k..k + 1, |offsets, _| at = offsets.into());
    at
}
