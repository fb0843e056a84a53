//! Which of two values is the extremum, and the kernels that look for it.

use crate::isa::{Isa, Kernel};
use std::marker::PhantomData;

/// An order in which NaN comes before everything, so that it wins.
pub(super) trait Beats: Copy + Send {
    /// Positions along a column, as wide as values, so that both fill registers alike.
    type Place: Copy + Default + Into<i64>;
    fn place(position: usize) -> Self::Place;
    /// What everything ties with or beats.
    fn worst(largest: bool) -> Self;
    /// Whether `self` replaces `other` as the extremum (not on a tie: the first stays).
    fn beats(self, other: Self, largest: bool) -> bool;
}
macro_rules! beats {
    (ints $($t:ty, $place:ty;)*) => { $( impl Beats for $t {
        type Place = $place;
        fn place(position: usize) -> $place { position as $place }
        fn worst(largest: bool) -> Self { if largest { <$t>::MIN } else { <$t>::MAX } }
        #[inline(always)]
        fn beats(self, other: Self, largest: bool) -> bool { if largest { self > other } else { self < other } }
    } )* };
    (floats $($t:ty, $place:ty;)*) => { $( impl Beats for $t {
        type Place = $place;
        fn place(position: usize) -> $place { position as $place }
        fn worst(largest: bool) -> Self { if largest { <$t>::NEG_INFINITY } else { <$t>::INFINITY } }
        #[inline(always)]
        fn beats(self, other: Self, largest: bool) -> bool {
            // Not `<=` also where one of both is NaN.
            (other == other) & !if largest { self <= other } else { self >= other }
        }
    } )* };
}
beats!(ints i32, i32; i64, i64; u64, i64;);
beats!(floats f32, i32; f64, i64;);
/// Arguments of a kernel: `n` dense values, and the best so far with its position (of one, or of
/// each column).
pub(super) struct Look<T, P> {
    pub values: *const T,
    pub n: usize,
    pub best: *mut T,
    pub place: *mut P,
    /// Position of the first value; in columns, of all.
    pub at: P,
}

/// A row against one best.
pub(super) struct InRow<T, const LARGEST: bool>(PhantomData<T>);
/// A row against as many bests.
pub(super) struct InColumns<T, const LARGEST: bool>(PhantomData<T>);

impl<T: Beats, const LARGEST: bool> Kernel<Look<T, i64>> for InRow<T, LARGEST> {
    #[inline(always)]
    unsafe fn run<I: Isa>(k: Look<T, i64>) {
        // SAFETY: the caller promises n values.
        let values = unsafe { std::slice::from_raw_parts(k.values, k.n) };
        // SAFETY: and one best with its place, each in a variable of its own.
        let (best, place) = unsafe { (&mut *k.best, &mut *k.place) };
        // First the extremum of a group without positions, which vectorises; only in a group that
        // beats the best so far it is searched for.
        for (g, group) in values.chunks(GROUP).enumerate() {
            let top = extremum::<T, LARGEST>(*best, group);
            if top.beats(*best, LARGEST) {
                (*best, *place) = (top, k.at + (g * GROUP + first_of::<T, LARGEST>(top, group)) as i64);
            }
        }
    }
}

/// Values whose extremum is found before its position is.
const GROUP: usize = 1024;
/// Values that are compared side by side.
const LANES: usize = 64;

#[inline(always)]
fn better<T: Beats, const LARGEST: bool>(a: T, b: T) -> T {
    if b.beats(a, LARGEST) { b } else { a }
}

/// The extremum of a group and of `best`.
#[inline(always)]
fn extremum<T: Beats, const LARGEST: bool>(best: T, group: &[T]) -> T {
    let (rows, rest) = group.as_chunks::<LANES>();
    let best = rest.iter().fold(best, |t, v| better::<T, LARGEST>(t, *v));
    if rows.is_empty() {
        return best;
    }
    let mut top = tops::<T, LARGEST>(best, rows);
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            top[i] = better::<T, LARGEST>(top[i], top[i + width]);
        }
        width /= 2;
    }
    top[0]
}

#[inline(always)]
fn tops<T: Beats, const LARGEST: bool>(best: T, rows: &[[T; LANES]]) -> [T; LANES] {
    let mut top = [best; LANES];
    for row in rows {
        (0..LANES).for_each(|i| top[i] = better::<T, LARGEST>(top[i], row[i]));
    }
    top
}

/// Where the first value is that `top`, the extremum of all, does not beat.
#[inline(always)]
fn first_of<T: Beats, const LARGEST: bool>(top: T, group: &[T]) -> usize {
    let mut before = 0;
    for row in group.chunks(LANES) {
        if row.iter().fold(false, |found, v| found | !top.beats(*v, LARGEST)) {
            return before + row.iter().take_while(|v| top.beats(**v, LARGEST)).count();
        }
        before += LANES;
    }
    before
}

impl<T: Beats, const LARGEST: bool> Kernel<Look<T, T::Place>> for InColumns<T, LARGEST> {
    #[inline(always)]
    unsafe fn run<I: Isa>(k: Look<T, T::Place>) {
        // SAFETY: the caller promises n values, bests and places, in different buffers.
        let (values, bests, places) = unsafe {
            (
                std::slice::from_raw_parts(k.values, k.n),
                std::slice::from_raw_parts_mut(k.best, k.n),
                std::slice::from_raw_parts_mut(k.place, k.n),
            )
        };
        // Read before choosing: a choice between two places in memory would become gathers.
        let at = k.at;
        for ((v, best), place) in values.iter().zip(bests).zip(places) {
            let (value, old, before) = (*v, *best, *place);
            let wins = value.beats(old, LARGEST);
            *best = if wins { value } else { old };
            *place = if wins { at } else { before };
        }
    }
}
