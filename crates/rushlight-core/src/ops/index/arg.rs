//! What stands between the brackets of an index.

use crate::Tensor;
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// One part of an index.
#[derive(Clone)]
pub enum Index {
    /// One place of a dimension, which disappears; negative counts from the end.
    Int(isize),
    /// Every `step`-th place of `start..end`, read as Python reads a slice.
    Slice {
        /// The first place; by default the dimension's first.
        start: Option<isize>,
        /// Past the last place; by default the dimension's end.
        end: Option<isize>,
        /// Not 0. A negative one walks backwards, as Python's does, which copies.
        step: isize,
    },
    /// A new dimension of size 1.
    None,
    /// As many whole dimensions as the other parts leave over.
    Ellipsis,
    /// A new dimension of size 1 or 0.
    Bool(bool),
    /// Positions (integers, but for uint8) of one dimension, or a mask (bool, uint8) over as many as it has itself.
    Tensor(Tensor),
}

impl Index {
    /// Every `step`-th place of `range`: `Index::step(.., 2)`, `Index::step(1..7, 3)`.
    pub fn step(range: impl Into<Index>, step: isize) -> Index {
        match range.into() {
            Index::Slice { start, end, .. } => Index::Slice { start, end, step },
            other => other,
        }
    }
}

impl From<&Index> for Index {
    fn from(i: &Index) -> Index {
        i.clone()
    }
}
impl From<bool> for Index {
    fn from(b: bool) -> Index {
        Index::Bool(b)
    }
}
impl From<Tensor> for Index {
    fn from(t: Tensor) -> Index {
        Index::Tensor(t)
    }
}
impl From<&Tensor> for Index {
    fn from(t: &Tensor) -> Index {
        Index::Tensor(t.clone())
    }
}
/// `None` is a new dimension.
impl From<Option<isize>> for Index {
    fn from(i: Option<isize>) -> Index {
        i.map_or(Index::None, Index::Int)
    }
}
impl From<RangeFull> for Index {
    fn from(_: RangeFull) -> Index {
        Index::Slice { start: None, end: None, step: 1 }
    }
}

/// Past the last place of a range that includes `last`; -1 is the dimension's end.
fn past(last: isize) -> Option<isize> {
    if last == -1 { None } else { last.checked_add(1) }
}

macro_rules! integers {
    ($($t:ty)*) => { $(
        impl From<$t> for Index { fn from(i: $t) -> Index { Index::Int(i as isize) } }
        impl From<Range<$t>> for Index {
            fn from(r: Range<$t>) -> Index { Index::Slice { start: Some(r.start as isize), end: Some(r.end as isize), step: 1 } }
        }
        impl From<RangeFrom<$t>> for Index {
            fn from(r: RangeFrom<$t>) -> Index { Index::Slice { start: Some(r.start as isize), end: None, step: 1 } }
        }
        impl From<RangeTo<$t>> for Index {
            fn from(r: RangeTo<$t>) -> Index { Index::Slice { start: None, end: Some(r.end as isize), step: 1 } }
        }
        impl From<RangeInclusive<$t>> for Index {
            fn from(r: RangeInclusive<$t>) -> Index { Index::Slice { start: Some(*r.start() as isize), end: past(*r.end() as isize), step: 1 } }
        }
        impl From<RangeToInclusive<$t>> for Index {
            fn from(r: RangeToInclusive<$t>) -> Index { Index::Slice { start: None, end: past(r.end as isize), step: 1 } }
        }
        single!($t, Range<$t>, RangeFrom<$t>, RangeTo<$t>, RangeInclusive<$t>, RangeToInclusive<$t>);
    )* };
}

/// What `x.i(..)` takes: one part, or a tuple, list or slice of them.
pub trait IntoIndices {
    /// The parts, outermost first.
    fn into_indices(self) -> Vec<Index>;
}

macro_rules! single {
    ($($t:ty),*) => { $(
        impl IntoIndices for $t { fn into_indices(self) -> Vec<Index> { vec![self.into()] } }
    )* };
}
integers!(i32 i64 isize usize);
single!(Index, &Index, bool, Tensor, &Tensor, Option<isize>, RangeFull);

impl IntoIndices for () {
    fn into_indices(self) -> Vec<Index> {
        Vec::new()
    }
}
impl IntoIndices for Vec<Index> {
    fn into_indices(self) -> Vec<Index> {
        self
    }
}
impl IntoIndices for &[Index] {
    fn into_indices(self) -> Vec<Index> {
        self.to_vec()
    }
}
impl<const N: usize> IntoIndices for [Index; N] {
    fn into_indices(self) -> Vec<Index> {
        self.into()
    }
}

macro_rules! tuples {
    ($(($($name:ident)+))*) => { $(
        impl<$($name: Into<Index>),+> IntoIndices for ($($name,)+) {
            fn into_indices(self) -> Vec<Index> {
                #[allow(non_snake_case)]
                let ($($name,)+) = self;
                vec![$($name.into()),+]
            }
        }
    )* };
}
tuples! { (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) }
