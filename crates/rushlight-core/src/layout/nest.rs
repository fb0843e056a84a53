//! The joint loop of a kernel: one nest of dims, one set of strides for each operand.
//!
//! Building a nest drops dims of size 1, puts the fastest dim innermost and merges dims that act as
//! one in every operand, so that contiguous operands of any rank become one flat loop. Strides may be
//! counted in elements or in bytes; offsets come out in the same unit, relative to each operand's
//! first element.

use super::strides::fastest_first;
use smallvec::{SmallVec, smallvec};
use std::ops::Range;

/// Dims to loop over, outermost first, and each operand's stride in each of them.
///
/// There is always at least one dim: rank 0 becomes one dim of size 1, and a shape without elements
/// one dim of size 0.
#[derive(Clone, Debug)]
pub struct Nest {
    dims: SmallVec<[usize; 6]>,
    /// The strides of all operands in the outermost dim, then in the next, and so on: a step along
    /// one dim reads neighbours.
    strides: SmallVec<[isize; 12]>,
    operands: usize,
}

impl Nest {
    /// A nest in the order that suits memory: the first operand, the output, decides which dim is
    /// innermost; the others break ties. Each operand has one stride for each dim of `shape`.
    pub fn new(shape: &[usize], operands: &[&[isize]]) -> Nest {
        let nest = Nest::in_order(shape, operands);
        if nest.dims.len() == 1 { nest } else { nest.sorted() }
    }

    /// A nest that visits elements in C order of `shape`.
    pub fn in_order(shape: &[usize], operands: &[&[isize]]) -> Nest {
        let count = operands.len();
        debug_assert!(operands.iter().all(|s| s.len() == shape.len()));
        let mut nest = Nest { dims: SmallVec::new(), strides: SmallVec::new(), operands: count };
        for (d, &size) in shape.iter().enumerate() {
            if size == 0 {
                return Nest { dims: smallvec![0], strides: smallvec![0; count], operands: count };
            }
            if size > 1 {
                nest.push(size, operands.iter().map(|s| s[d]));
            }
        }
        if nest.dims.is_empty() {
            nest.dims.push(1);
            nest.strides.resize(count, 0);
        }
        nest
    }

    /// Adds an inner dim, merged with the one around it where every operand allows that.
    #[inline]
    fn push(&mut self, size: usize, strides: impl Iterator<Item = isize> + Clone) {
        if let Some(outer) = self.dims.last_mut() {
            let start = self.strides.len() - self.operands;
            let last = &mut self.strides[start..];
            if last.iter().zip(strides.clone()).all(|(o, s)| *o == s.wrapping_mul(size as isize)) {
                *outer *= size;
                last.iter_mut().zip(strides).for_each(|(o, s)| *o = s);
                return;
            }
        }
        self.dims.push(size);
        self.strides.extend(strides);
    }

    /// The same nest with its fastest dim innermost.
    fn sorted(self) -> Nest {
        let rank = self.dims.len();
        let order = fastest_first(&self.dims, self.operands, |k, d| self.strides[d * self.operands + k]);
        if order.iter().rev().copied().eq(0..rank) {
            return self;
        }
        let mut nest = Nest { dims: SmallVec::new(), strides: SmallVec::new(), operands: self.operands };
        for &d in order.iter().rev() {
            nest.push(self.dims[d], self.dim_strides(d).iter().copied());
        }
        nest
    }

    /// Sizes, outermost first; never empty.
    #[inline]
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// The stride of each operand in dimension `d` of [`Nest::dims`].
    #[inline]
    pub fn dim_strides(&self, d: usize) -> &[isize] {
        &self.strides[d * self.operands..(d + 1) * self.operands]
    }

    /// Number of operands.
    #[inline]
    pub fn operands(&self) -> usize {
        self.operands
    }

    /// Number of elements visited.
    #[inline]
    pub fn numel(&self) -> usize {
        self.dims.iter().product()
    }

    /// Elements in one row, the innermost dim; 0 only when there are no elements.
    #[inline]
    pub fn inner_len(&self) -> usize {
        self.dims[self.dims.len() - 1]
    }

    /// The stride of each operand along a row.
    #[inline]
    pub fn inner_strides(&self) -> &[isize] {
        self.dim_strides(self.dims.len() - 1)
    }

    /// Number of rows; 0 when there are no elements.
    #[inline]
    pub fn rows(&self) -> usize {
        if self.inner_len() == 0 {
            return 0;
        }
        self.dims[..self.dims.len() - 1].iter().product()
    }

    /// A cursor at row `row`, which may be [`Nest::rows`].
    pub fn rows_from(&self, row: usize) -> Rows<'_> {
        let outer = self.dims.len() - 1;
        let mut cursor =
            Rows { nest: self, index: smallvec![0; outer], offsets: smallvec![0; self.operands] };
        let mut left = row;
        for d in (0..outer).rev() {
            let at = left % self.dims[d];
            left /= self.dims[d];
            cursor.index[d] = at;
            cursor.step(d, at as isize);
        }
        cursor
    }

    /// Calls `f` with the offsets of each operand at the start of each row in `rows`, in order.
    #[inline]
    pub fn for_each_row(&self, rows: Range<usize>, mut f: impl FnMut(&[isize])) {
        let rows = rows.start..rows.end.min(self.rows());
        if rows.is_empty() {
            return;
        }
        let mut cursor = self.rows_from(rows.start);
        f(cursor.offsets());
        for _ in 1..rows.len() {
            cursor.advance();
            f(cursor.offsets());
        }
    }

    /// Visits the elements in `elements`, numbered in the order of the nest, as runs that do not leave
    /// their row: calls `f` with the offsets of each operand at the start of the run, and its length.
    /// Threads that split `0..numel` share even a nest of one long row.
    #[inline]
    pub fn for_each_run(&self, elements: Range<usize>, mut f: impl FnMut(&[isize], usize)) {
        let end = elements.end.min(self.numel());
        if elements.start >= end {
            return;
        }
        let len = self.inner_len();
        let mut left = end - elements.start;
        let mut cursor = self.rows_from(elements.start / len);
        let skip = elements.start % len;
        if skip > 0 {
            // The first run starts inside its row.
            let run = left.min(len - skip);
            let starts: SmallVec<[isize; 4]> = (cursor.offsets().iter().zip(self.inner_strides()))
                .map(|(o, s)| o + s * skip as isize)
                .collect();
            f(&starts, run);
            left -= run;
            if left == 0 {
                return;
            }
            cursor.advance();
        }
        loop {
            let run = left.min(len);
            f(cursor.offsets(), run);
            left -= run;
            if left == 0 {
                return;
            }
            cursor.advance();
        }
    }
}

/// A cursor over the rows of a [`Nest`]: an odometer over the outer dims.
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    nest: &'a Nest,
    index: SmallVec<[usize; 6]>,
    offsets: SmallVec<[isize; 4]>,
}

impl Rows<'_> {
    /// Where each operand stands, relative to its first element.
    #[inline]
    pub fn offsets(&self) -> &[isize] {
        &self.offsets
    }

    /// Moves to the next row; after the last one the cursor starts again at the first.
    #[inline]
    pub fn advance(&mut self) {
        for d in (0..self.index.len()).rev() {
            self.index[d] += 1;
            if self.index[d] < self.nest.dims[d] {
                return self.step(d, 1);
            }
            self.index[d] = 0;
            self.step(d, 1 - self.nest.dims[d] as isize);
        }
    }

    #[inline]
    fn step(&mut self, d: usize, count: isize) {
        let strides = self.nest.dim_strides(d);
        for (offset, &stride) in self.offsets.iter_mut().zip(strides) {
            *offset += count * stride;
        }
    }
}
