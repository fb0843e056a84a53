//! Positions of extrema: the first in row-major order wins, NaN beats every number.

use super::extremum::{Beats, InColumns, InRow, Look};
use super::fold::{FEW, PIECE, element};
use super::{Side, reads_in_place};
use crate::access::Ptr;
use crate::isa::dispatch;
use crate::map::{BLOCK, Block, Plan};
use crate::pool;
use rushlight_core::backend::{Reduce, ReduceOp};
use rushlight_core::layout::Nest;
use rushlight_core::{CType, Result, bail};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

struct Search<'a, 'p> {
    largest: bool,
    plan: &'a Plan<'p>,
    ptrs: SmallVec<[Ptr; 4]>,
    out: Ptr,
    /// Over the outputs: the inputs first, then the output.
    kept: &'a Nest,
    /// In row-major order, which positions are counted in.
    reduced: &'a Nest,
    count: usize,
    /// Whether the one input can be read where it is.
    plain: bool,
}

/// # Errors
/// `NotImplemented` for complex numbers.
pub(super) fn run(call: &Reduce<'_>, ctype: CType, plan: &Plan<'_>) -> Result<()> {
    let (kept, reduced) = (Side::new(call, 0), Side::new(call, 1));
    let (kept, reduced) = (kept.any_order(), Nest::in_order(&reduced.shape, &reduced.inputs()));
    let search = Search {
        largest: call.op == ReduceOp::ArgMax,
        plan,
        ptrs: call.ins.iter().map(Ptr::read).collect(),
        out: Ptr::write(&call.out),
        count: reduced.numel(),
        kept: &kept,
        reduced: &reduced,
        plain: call.pre.is_none() && reads_in_place(&call.ins[0], ctype),
    };
    match ctype {
        CType::I32 | CType::Bool => search.run::<i32>(),
        CType::I64 => search.run::<i64>(),
        CType::U64 => search.run::<u64>(),
        CType::F32 => search.run::<f32>(),
        CType::F64 => search.run::<f64>(),
        CType::C64 | CType::C128 => {
            bail!(NotImplemented, "argmax", "complex numbers have no order; take abs() first")
        }
    }
    Ok(())
}

impl Search<'_, '_> {
    fn run<T: Beats>(&self) {
        let (outs, ins) = (self.kept.numel(), self.ptrs.len());
        let dense = |nest: &Nest| nest.inner_strides()[..ins].iter().all(|s| *s == 1);
        let width = self.kept.inner_len();
        let neighbours =
            (dense(self.kept) && width >= 8 && !dense(self.reduced)) || (self.count <= 32 && width >= 64);
        // Positions along columns may be as narrow as 32 bits.
        if neighbours && self.count <= i32::MAX as usize {
            // Cut by shape alone: few columns make narrower bands, so that all threads have some.
            let band = if self.kept.rows() < FEW { (width / FEW).clamp(256, BLOCK) } else { BLOCK };
            let bands = width.div_ceil(band);
            let grain = (pool::GRAIN / (self.count.max(1) * width.min(band))).max(1);
            pool::parallel_for(self.kept.rows() * bands, grain, |tasks| {
                for task in tasks {
                    let first = task % bands * band;
                    self.band::<T>(task / bands, first..(first + band).min(width));
                }
            });
        } else if outs < FEW && self.count > PIECE {
            (0..outs).for_each(|out| self.long::<T>(out));
        } else {
            let grain = (pool::GRAIN / self.count.max(1)).max(1);
            pool::parallel_for(outs, grain, |range| {
                self.plan.with_block(|block| {
                    self.kept.for_each_run(range, |offsets, len| {
                        let mut at: SmallVec<[isize; 6]> = offsets.into();
                        for _ in 0..len {
                            let (_, place) = self.row::<T>(block, &at[..ins], 0..self.count);
                            self.store(at[ins], place);
                            at.iter_mut().zip(self.kept.inner_strides()).for_each(|(a, s)| *a += s);
                        }
                    });
                });
            });
        }
    }

    fn store(&self, offset: isize, place: i64) {
        // SAFETY: the nest walks the output's own shape; its dtype is int64.
        unsafe { self.out.offset(offset).cast::<i64>().write_unaligned(place) }
    }

    /// The winner among the reduced elements `range` of the output whose inputs start at `at`.
    fn row<T: Beats>(&self, block: &mut Block<'_, '_>, at: &[isize], range: Range<usize>) -> (T, i64) {
        let (mut best, mut place) = (T::worst(self.largest), range.start as i64);
        let mut position = range.start as i64;
        let mut see = |values: *const u8, n: usize| {
            let look = Look {
                values: values.cast::<T>(),
                n,
                best: &raw mut best,
                place: &raw mut place,
                at: position,
            };
            // SAFETY: below, n dense values of the compute type are handed in; best and place are one each.
            unsafe {
                match self.largest {
                    true => dispatch::<InRow<T, true>, _>(look),
                    false => dispatch::<InRow<T, false>, _>(look),
                }
            }
            position += n as i64;
        };
        if self.plain && self.reduced.dims().len() == 1 && self.reduced.inner_strides()[0] == 1 {
            see(self.ptrs[0].offset(at[0] + range.start as isize), range.len());
        } else {
            block.each(&self.ptrs, at, self.reduced, range, see);
        }
        (best, place)
    }

    /// One output of many elements: pieces on all threads; of equal winners the first piece's stays.
    fn long<T: Beats>(&self, out: usize) {
        let (ins, at) = (self.ptrs.len(), element(self.kept, out));
        let pieces = self.count.div_ceil(PIECE);
        let winners = Mutex::new(vec![(T::worst(self.largest), 0i64); pieces]);
        pool::run(pieces, &|k| {
            let range = k * PIECE..((k + 1) * PIECE).min(self.count);
            let winner = self.plan.with_block(|block| self.row::<T>(block, &at[..ins], range));
            winners.lock().unwrap_or_else(PoisonError::into_inner)[k] = winner;
        });
        let winners = winners.into_inner().unwrap_or_else(PoisonError::into_inner);
        let first = (T::worst(self.largest), 0);
        let best = winners.into_iter().fold(first, |a, b| if b.0.beats(a.0, self.largest) { b } else { a });
        self.store(at[ins], best.1);
    }

    /// Neighbouring outputs of one row.
    fn band<T: Beats>(&self, row: usize, columns: Range<usize>) {
        let (ins, first, n) = (self.ptrs.len(), columns.start, columns.len());
        let rows = self.kept.rows_from(row);
        let strides = self.kept.inner_strides();
        let start: SmallVec<[isize; 6]> =
            rows.offsets().iter().zip(strides).map(|(o, s)| o + first as isize * s).collect();
        let (mut bests, mut places) = (vec![T::worst(self.largest); n], vec![T::Place::default(); n]);
        let mut position = 0usize;
        self.plan.with_block(|block| {
            self.reduced.for_each_run(0..self.count, |inner, len| {
                let steps = self.reduced.inner_strides();
                let mut at: SmallVec<[isize; 6]> = start.iter().zip(inner).map(|(a, b)| a + b).collect();
                for _ in 0..len {
                    let values = block.strided(&self.ptrs, &at, &strides[..ins], n);
                    let look = Look {
                        values: values.cast::<T>(),
                        n,
                        best: bests.as_mut_ptr(),
                        place: places.as_mut_ptr(),
                        at: T::place(position),
                    };
                    // SAFETY: the block hands n dense values; there are n bests and n places.
                    unsafe {
                        match self.largest {
                            true => dispatch::<InColumns<T, true>, _>(look),
                            false => dispatch::<InColumns<T, false>, _>(look),
                        }
                    }
                    at.iter_mut().zip(steps).for_each(|(a, s)| *a += s);
                    position += 1;
                }
            });
        });
        for (i, place) in places.into_iter().enumerate() {
            self.store(start[ins] + i as isize * strides[ins], place.into());
        }
    }
}
