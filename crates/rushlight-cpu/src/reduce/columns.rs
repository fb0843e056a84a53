//! Neighbouring outputs together: rows of inputs are added to rows of totals.

use super::combine::{Dense, Join, into_many};
use super::fold::{FEW, Fold, Parts};
use crate::load_store::ctype_size;
use crate::map::BLOCK;
use crate::pool;
use smallvec::SmallVec;
use std::ops::Range;

/// Rows that are added to one row of totals; above that, halves are joined.
const ROWS: usize = 16;

/// Rows that make a task when there are too few columns for all threads.
const TASK: usize = 128;

impl Fold<'_, '_> {
    /// Whether neighbouring outputs are worked on together: their inputs lie densely.
    pub(super) fn is_columns(&self) -> bool {
        let ins = self.ptrs.len();
        let inside = !self.reduced.inner_strides()[..ins].iter().all(|s| *s == 1) || self.count == 1;
        self.kept.inner_strides()[..ins].iter().all(|s| *s == 1) && self.kept.inner_len() >= 8 && inside
    }

    /// Neighbouring outputs together: each step adds a row of inputs to a row of totals.
    pub(super) fn columns(&self) {
        let width = self.kept.inner_len();
        let bands = width.div_ceil(BLOCK);
        let tasks = self.kept.rows() * bands;
        let most = width.min(BLOCK);
        // Cut by shape alone, so that results do not depend on threads.
        let piece =
            if tasks < FEW { (4 * pool::GRAIN / most).max(TASK).next_multiple_of(TASK) } else { self.count };
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
        let memory = self.out.offset(start + first as isize * stride);
        self.finish(totals, self.band_size(task, bands), memory, stride);
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
