//! Sorting along one axis, NaN as the largest; selection where only the first few are wanted.
//!
//! A row becomes integers that order as its values do, each with its position in the low bits. So
//! no two are equal, every algorithm is a stable one, and long rows can be sorted by digits.

use crate::access::Ptr;
use crate::load_store::{Truth, with_stored};
use crate::pool;
use half::{bf16, f16};
use num_complex::Complex;
use rushlight_core::backend::Sort;
use rushlight_core::layout::{Layout, Nest};
use rushlight_core::{DType, Result, ensure};

/// Rows from this length on are sorted by digits.
const LONG: usize = 4096;

/// A value as an integer of the same order: NaN last, -0.0 equal to 0.0.
trait Key: Copy {
    /// Bits a key has.
    const BITS: u32 = if size_of::<Self>() <= 4 { 32 } else { 64 };
    fn key(self) -> u64;
}
macro_rules! key {
    (unsigned $($t:ty)*) => { $( impl Key for $t { #[inline(always)] fn key(self) -> u64 { u64::from(self) } } )* };
    (signed $($t:ty)*) => { $( impl Key for $t { #[inline(always)] fn key(self) -> u64 { (i32::from(self) as u32 ^ 1 << 31).into() } } )* };
    (halves $($t:ty)*) => { $( impl Key for $t { #[inline(always)] fn key(self) -> u64 { f32::from(self).key() } } )* };
    (floats $($t:ty, $bits:ty;)*) => { $( impl Key for $t {
        #[inline(always)]
        fn key(self) -> u64 {
            if self.is_nan() {
                return <$bits>::MAX.into();
            }
            let bits = (self + 0.0).to_bits(); // adding turns -0.0 into 0.0
            let sign: $bits = 1 << (<$bits>::BITS - 1);
            (if bits & sign == 0 { bits | sign } else { !bits }).into()
        }
    } )* };
}
key!(unsigned u8 u16 u32 u64);
key!(signed i8 i16 i32);
key!(halves f16 bf16);
key!(floats f32, u32; f64, u64;);
impl Key for i64 {
    #[inline(always)]
    fn key(self) -> u64 {
        self as u64 ^ 1 << 63
    }
}
impl Key for Truth {
    fn key(self) -> u64 {
        u64::from(self.0 != 0)
    }
}
// Refused by the ops: complex numbers have no order.
impl<T: Copy> Key for Complex<T> {
    fn key(self) -> u64 {
        0
    }
}

/// A key above a position.
trait Packed: Copy + Ord + Default + Send {
    /// Bits of the position, which are also those of the key.
    const HALF: u32;
    fn pack(key: u64, place: usize) -> Self;
    fn place(self) -> usize;
    /// Byte `d` of the key.
    fn digit(self, d: u32) -> usize;
}
macro_rules! packed {
    ($($t:ty, $half:expr;)*) => { $( impl Packed for $t {
        const HALF: u32 = $half;
        #[inline(always)]
        fn pack(key: u64, place: usize) -> Self { (key as $t) << $half | place as $t }
        #[inline(always)]
        fn place(self) -> usize { (self & ((1 << $half) - 1)) as usize }
        #[inline(always)]
        fn digit(self, d: u32) -> usize { (self >> ($half + 8 * d)) as usize & 255 }
    } )* };
}
packed!(u64, 32; u128, 64;);

/// Where an operand's lines are: their first elements, the step along the axis, and its length.
fn lines(layout: &Layout, axis: usize) -> Result<(Layout, isize, usize)> {
    if layout.rank() == 0 {
        return Ok((layout.clone(), 0, 1));
    }
    Ok((layout.narrow(axis as isize, 0, 1)?, layout.strides()[axis], layout.shape()[axis]))
}

/// One call, line by line.
struct Lines {
    values: Ptr,
    indices: Ptr,
    input: Ptr,
    /// The place of the order that each line begins with, if not the first.
    from: Option<Ptr>,
    steps: [isize; 3],
    /// How many are wanted of how many.
    k: usize,
    n: usize,
    descending: bool,
}

pub(crate) fn run(call: &Sort<'_>) -> Result<()> {
    if call.values.numel() == 0 {
        return Ok(());
    }
    let (vl, vs, k) = lines(call.values.layout(), call.axis)?;
    let (il, is, _) = lines(call.indices.layout(), call.axis)?;
    let (sl, ss, n) = lines(call.input.layout(), call.axis)?;
    let fl = match &call.from {
        Some(from) => lines(from.layout(), call.axis)?.0,
        None => Layout::new(sl.shape(), vec![0; sl.rank()], 0)?,
    };
    let nest = Nest::new(sl.shape(), &[vl.strides(), il.strides(), sl.strides(), fl.strides()]);
    let all = Lines {
        values: Ptr::write(&call.values),
        indices: Ptr::write(&call.indices),
        input: Ptr::read(&call.input),
        from: call.from.as_ref().map(Ptr::read),
        steps: [vs, is, ss],
        k,
        n,
        descending: call.descending,
    };
    all.check(&nest)?;
    let grain = (pool::GRAIN / 8 / n).max(1);
    with_stored!(call.input.dtype(), |T| {
        // Keys of 32 bits and positions of 32 bits fit into one word.
        let narrow = <T as Key>::BITS == 32 && u32::try_from(n).is_ok();
        pool::parallel_for(nest.numel(), grain, |range| match narrow {
            true => all.sort::<T, u64>(&nest, range),
            false => all.sort::<T, u128>(&nest, range),
        });
    });
    Ok(())
}

impl Lines {
    /// The place of the order that the line at `offset` of `from` begins with.
    fn start(&self, offset: isize) -> i64 {
        // SAFETY: the nest walks the lines of `from`, whose element this is; it holds int64.
        self.from.map_or(0, |p| unsafe { p.offset(offset).cast::<i64>().read_unaligned() })
    }

    /// Refuses places that a line does not have, before the first write.
    fn check(&self, nest: &Nest) -> Result<()> {
        let mut fits = self.from.is_some() || self.k <= self.n;
        if self.from.is_some() {
            let inner = nest.inner_strides()[3];
            nest.for_each_run(0..nest.numel(), |offsets, len| {
                for r in 0..len as isize {
                    let end =
                        usize::try_from(self.start(offsets[3] + r * inner)).map(|s| s.checked_add(self.k));
                    fits &= matches!(end, Ok(Some(end)) if end <= self.n);
                }
            });
        }
        ensure!(fits, Index, "sort", "the {} places wanted do not lie in an order of {}", self.k, self.n);
        Ok(())
    }

    fn sort<T: Key, P: Packed>(&self, nest: &Nest, range: std::ops::Range<usize>) {
        let (mut row, mut spare): (Vec<P>, Vec<P>) = (Vec::with_capacity(self.n), Vec::new());
        let flip = if self.descending { u64::MAX >> (64 - P::HALF) } else { 0 };
        let inner = nest.inner_strides();
        nest.for_each_run(range, |offsets, len| {
            for r in 0..len as isize {
                let start = |k: usize| offsets[k] + r * inner[k];
                let load = |i: usize| -> T {
                    let at = self.input.offset(start(2) + i as isize * self.steps[2]);
                    // SAFETY: i is below the axis' length, and the nest walks the other axes.
                    unsafe { at.cast::<T>().read_unaligned() }
                };
                row.clear();
                row.extend((0..self.n).map(|i| P::pack(load(i).key() ^ flip, i)));
                // `check` saw that it is not negative and leaves k places.
                let from = self.start(offsets[3] + r * inner[3]) as usize;
                part(&mut row, &mut spare, from, self.k, T::BITS / 8);
                for (i, packed) in row.iter().take(self.k).enumerate() {
                    let (i, place) = (i as isize, packed.place());
                    let value = self.values.offset(start(0) + i * self.steps[0]).cast::<T>();
                    let index = self.indices.offset(start(1) + i * self.steps[1]).cast::<i64>();
                    // SAFETY: the outputs have k places along the axis.
                    unsafe {
                        value.write_unaligned(load(place));
                        index.write_unaligned(place as i64);
                    }
                }
            }
        });
    }
}

/// Sorts, and leaves only the `k` from place `from` on, which must be there.
fn part<P: Packed>(row: &mut Vec<P>, spare: &mut Vec<P>, from: usize, k: usize, digits: u32) {
    if k == 0 {
        return;
    }
    if from + k < row.len() {
        row.select_nth_unstable(from + k - 1);
        row.truncate(from + k);
    }
    if from > 0 {
        row.select_nth_unstable(from);
        row.drain(..from);
    }
    if row.len() < LONG { row.sort_unstable() } else { by_digits(row, spare, digits) }
}

/// Sorts by the bytes of the keys, lowest first, which keeps the order of positions. A selection
/// has shuffled those; such a row is sorted by comparing.
fn by_digits<P: Packed>(row: &mut Vec<P>, spare: &mut Vec<P>, digits: u32) {
    if !row.is_sorted_by_key(|p| p.place()) {
        return row.sort_unstable();
    }
    spare.clear();
    spare.resize(row.len(), P::default());
    for d in 0..digits {
        let mut starts = [0usize; 256];
        row.iter().for_each(|p| starts[p.digit(d)] += 1);
        if starts.contains(&row.len()) {
            continue; // all share this digit
        }
        let mut sum = 0;
        for s in &mut starts {
            (*s, sum) = (sum, sum + *s);
        }
        for p in row.iter() {
            let to = &mut starts[p.digit(d)];
            spare[*to] = *p;
            *to += 1;
        }
        std::mem::swap(row, spare);
    }
}
