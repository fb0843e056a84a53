//! Random layouts, and the naive list of the elements of one.

use super::*;
use proptest::prelude::*;

/// Sizes 0 to 4 in up to four dims, small ones more often.
pub(super) fn shapes() -> impl Strategy<Value = Vec<usize>> {
    let any_size = prop::sample::select(vec![0usize, 1, 1, 2, 2, 3, 4]);
    let some_size = prop::sample::select(vec![1usize, 2, 3]);
    prop::collection::vec(prop_oneof![any_size, some_size], 0..=4)
}

/// Dense, padded, expanded and arbitrary strides, each in any order of dims, at offset 0 or 3.
pub(super) fn layouts() -> impl Strategy<Value = Layout> {
    shapes().prop_flat_map(layouts_of)
}

/// The same choice of strides for one shape.
pub(super) fn layouts_of(shape: Vec<usize>) -> impl Strategy<Value = Layout> {
    let rank = shape.len();
    let order = Just((0..rank).collect::<Vec<_>>()).prop_shuffle();
    let free = prop::collection::vec(prop::sample::select(vec![0isize, 1, 2, 3, 4, 6, 8, 12]), rank);
    let coin = prop::collection::vec(any::<bool>(), rank);
    let offset = prop::sample::select(vec![0usize, 0, 3]);
    (0..10u8, order, free, coin, 1..=2isize, offset).prop_map(
        move |(mode, order, free, coin, unit, offset)| {
            let strides = match mode {
                0..=3 => packed(&shape, &order, 1, |_| 0),
                4..=5 => packed(&shape, &order, unit, |d| coin[d] as isize),
                6 => {
                    let dense = contiguous_strides(&shape);
                    (0..rank).map(|d| if coin[d] { 0 } else { dense[d] }).collect()
                }
                _ => free,
            };
            layout(&shape, &strides, offset)
        },
    )
}

/// Strides for dims from the fastest to the slowest, each with `pad` elements to spare.
fn packed(shape: &[usize], order: &[usize], unit: isize, pad: impl Fn(usize) -> isize) -> Vec<isize> {
    let mut strides = vec![0; shape.len()];
    let mut run = unit;
    for &d in order {
        strides[d] = run;
        run *= shape[d].max(1) as isize + pad(d);
    }
    strides
}

/// Every coordinate of `shape` in C order.
pub(super) fn coordinates(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![vec![]], |done, &size| {
        done.iter().flat_map(|c| (0..size).map(move |i| [&c[..], &[i]].concat())).collect()
    })
}

/// The index of one element, straight from the formula.
pub(super) fn index(l: &Layout, at: &[usize]) -> isize {
    assert_eq!(at.len(), l.rank());
    l.offset() as isize + at.iter().zip(l.strides()).map(|(&i, s)| i as isize * s).sum::<isize>()
}

/// The index of every element in C order.
pub(super) fn indices(l: &Layout) -> Vec<isize> {
    coordinates(l.shape()).iter().map(|c| index(l, c)).collect()
}
