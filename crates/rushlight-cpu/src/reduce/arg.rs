//! Positions of extrema: the first in row-major order wins, NaN beats every number.

use super::Side;
use super::fold::{PIECE, element};
use crate::access::Ptr;
use crate::isa::{Isa, Kernel, dispatch};
use crate::load_store::with_compute;
use crate::map::{BLOCK, Block, Plan};
use crate::pool;
use num_complex::Complex;
use rushlight_core::CType;
use rushlight_core::backend::{Reduce, ReduceOp};
use rushlight_core::layout::Nest;
use smallvec::SmallVec;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// An order in which NaN comes before everything, so that it wins.
trait Beats: Copy + Send {
    /// What everything ties with or beats.
    fn worst(largest: bool) -> Self;
    /// Whether `self` replaces `other` as the extremum (not on a tie: the first stays).
    fn beats(self, other: Self, largest: bool) -> bool;
}
macro_rules! beats {
    (ints $($t:ty)*) => { $( impl Beats for $t {
        fn worst(largest: bool) -> Self { if largest { <$t>::MIN } else { <$t>::MAX } }
        #[inline(always)]
        fn beats(self, other: Self, largest: bool) -> bool { if largest { self > other } else { self < other } }
    } )* };
    (floats $($t:ty)*) => { $( impl Beats for $t {
        fn worst(largest: bool) -> Self { if largest { <$t>::NEG_INFINITY } else { <$t>::INFINITY } }
        #[inline(always)]
        fn beats(self, other: Self, largest: bool) -> bool {
            !other.is_nan() & (self.is_nan() | if largest { self > other } else { self < other })
        }
    } )* };
}
beats!(ints i32 i64 u64);
beats!(floats f32 f64);
impl Beats for crate::load_store::Truth {
    fn worst(_: bool) -> Self {
        Self(0)
    }
    fn beats(self, _: Self, _: bool) -> bool {
        false // truth values are numbers before they get here
    }
}
// Complex numbers have no order; the ops refuse them.
impl<T: Copy + Send + Default> Beats for Complex<T> {
    fn worst(_: bool) -> Self {
        Complex::new(T::default(), T::default())
    }
    fn beats(self, _: Self, _: bool) -> bool {
        false
    }
}

/// Arguments of a kernel: `n` dense values, and the best so far with its position (of one, or of
/// each column).
struct Look<T> {
    values: *const T,
    n: usize,
    best: *mut T,
    place: *mut i64,
    /// Position of the first value; in columns, of all.
    at: i64,
}

/// A row against one best.
struct InRow<T, const LARGEST: bool>(PhantomData<T>);
/// A row against as many bests.
struct InColumns<T, const LARGEST: bool>(PhantomData<T>);

impl<T: Beats, const LARGEST: bool> Kernel<Look<T>> for InRow<T, LARGEST> {
    #[inline(always)]
    unsafe fn run<I: Isa>(k: Look<T>) {
        // SAFETY: the caller promises n values, and one best with its place.
        let (values, best, place) =
            unsafe { (std::slice::from_raw_parts(k.values, k.n), &mut *k.best, &mut *k.place) };
        // First the extremum of 64 at a time without positions, which vectorises; only a group that
        // beats the best so far is looked at again.
        for (g, group) in values.chunks(64).enumerate() {
            let mut top = [*best; 8];
            let mut eights = group.chunks_exact(8);
            for c in &mut eights {
                for (t, v) in top.iter_mut().zip(c) {
                    *t = if v.beats(*t, LARGEST) { *v } else { *t };
                }
            }
            for (t, v) in top.iter_mut().zip(eights.remainder()) {
                *t = if v.beats(*t, LARGEST) { *v } else { *t };
            }
            if top.iter().any(|t| t.beats(*best, LARGEST)) {
                for (i, v) in group.iter().enumerate() {
                    if v.beats(*best, LARGEST) {
                        (*best, *place) = (*v, k.at + (g * 64 + i) as i64);
                    }
                }
            }
        }
    }
}

impl<T: Beats, const LARGEST: bool> Kernel<Look<T>> for InColumns<T, LARGEST> {
    #[inline(always)]
    unsafe fn run<I: Isa>(k: Look<T>) {
        // SAFETY: the caller promises n values, bests and places, in different buffers.
        let (values, bests, places) = unsafe {
            (
                std::slice::from_raw_parts(k.values, k.n),
                std::slice::from_raw_parts_mut(k.best, k.n),
                std::slice::from_raw_parts_mut(k.place, k.n),
            )
        };
        for ((v, best), place) in values.iter().zip(bests).zip(places) {
            let wins = v.beats(*best, LARGEST);
            *best = if wins { *v } else { *best };
            *place = if wins { k.at } else { *place };
        }
    }
}

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
}

pub(super) fn run(call: &Reduce<'_>, ctype: CType, plan: &Plan<'_>) {
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
    };
    with_compute!(ctype, |T| search.run::<T>());
}

impl Search<'_, '_> {
    fn run<T: Beats>(&self) {
        let (outs, ins) = (self.kept.numel(), self.ptrs.len());
        let dense = |nest: &Nest| nest.inner_strides()[..ins].iter().all(|s| *s == 1);
        let width = self.kept.inner_len();
        if (dense(self.kept) && width >= 8 && !dense(self.reduced)) || (self.count <= 32 && width >= 64) {
            let bands = width.div_ceil(BLOCK);
            let grain = (pool::GRAIN / (self.count.max(1) * width.min(BLOCK))).max(1);
            pool::parallel_for(self.kept.rows() * bands, grain, |r| r.for_each(|t| self.band::<T>(t, bands)));
        } else if outs < 16 && self.count > PIECE {
            (0..outs).for_each(|out| self.long::<T>(out));
        } else {
            let grain = (pool::GRAIN / self.count.max(1)).max(1);
            pool::parallel_for(outs, grain, |range| {
                for out in range {
                    let at = element(self.kept, out);
                    self.plan.with_block(|block| {
                        let (_, place) = self.row::<T>(block, &at[..ins], 0..self.count);
                        self.store(at[ins], place);
                    });
                }
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
        block.each(&self.ptrs, at, self.reduced, range, |values, n| {
            let look = Look {
                values: values.cast::<T>(),
                n,
                best: &raw mut best,
                place: &raw mut place,
                at: position,
            };
            // SAFETY: the block hands n dense values of the compute type; best and place are one each.
            unsafe {
                match self.largest {
                    true => dispatch::<InRow<T, true>, _>(look),
                    false => dispatch::<InRow<T, false>, _>(look),
                }
            }
            position += n as i64;
        });
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

    /// One band of neighbouring outputs.
    fn band<T: Beats>(&self, task: usize, bands: usize) {
        let (ins, first) = (self.ptrs.len(), task % bands * BLOCK);
        let n = (self.kept.inner_len() - first).min(BLOCK);
        let rows = self.kept.rows_from(task / bands);
        let strides = self.kept.inner_strides();
        let start: SmallVec<[isize; 6]> =
            rows.offsets().iter().zip(strides).map(|(o, s)| o + first as isize * s).collect();
        let (mut bests, mut places) = (vec![T::worst(self.largest); n], vec![0i64; n]);
        let mut position = 0;
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
                        at: position,
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
            self.store(start[ins] + i as isize * strides[ins], place);
        }
    }
}
