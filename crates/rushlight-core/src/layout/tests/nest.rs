//! The joint loop visits exactly the elements of the operands.

use super::random::*;
use super::*;
use proptest::prelude::*;

type Tuple = Vec<isize>;

/// The offsets of all operands for each element, in C order.
fn naive(operands: &[Layout]) -> Vec<Tuple> {
    coordinates(operands[0].shape())
        .iter()
        .map(|at| operands.iter().map(|l| index(l, at) - l.offset() as isize).collect())
        .collect()
}

/// The same, visited through rows, split at `cuts`.
fn by_rows(nest: &Nest, cut: usize) -> Vec<Tuple> {
    let mut out = Vec::new();
    let cut = cut % (nest.rows() + 1);
    for range in [0..cut, cut..nest.rows()] {
        nest.for_each_row(range, |offsets| extend(&mut out, nest, offsets, nest.inner_len()));
    }
    out
}

/// The same, visited through runs of elements, split anywhere.
fn by_runs(nest: &Nest, cut: usize) -> Vec<Tuple> {
    let mut out = Vec::new();
    let cut = cut % (nest.numel() + 1);
    for range in [0..cut, cut..usize::MAX] {
        nest.for_each_run(range, |offsets, len| {
            assert!(len > 0);
            extend(&mut out, nest, offsets, len);
        });
    }
    out
}

fn extend(out: &mut Vec<Tuple>, nest: &Nest, offsets: &[isize], len: usize) {
    for i in 0..len as isize {
        out.push(offsets.iter().zip(nest.inner_strides()).map(|(o, s)| o + i * s).collect());
    }
}

fn operands() -> impl Strategy<Value = Vec<Layout>> {
    shapes().prop_flat_map(|shape| {
        prop::collection::vec((layouts_of(shape), any::<bool>()), 1..4).prop_map(|list| {
            list.into_iter()
                .map(|(l, flip)| if flip && l.rank() > 0 { l.flip(&[-1]).unwrap() } else { l })
                .collect()
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn visits_each_element_once(list in operands(), cut: usize) {
        let strides: Vec<&[isize]> = list.iter().map(|l| l.strides()).collect();
        let shape = list[0].shape();
        let mut want = naive(&list);

        let ordered = Nest::in_order(shape, &strides);
        prop_assert_eq!(&by_rows(&ordered, cut), &want);
        prop_assert_eq!(&by_runs(&ordered, cut), &want);

        let nest = Nest::new(shape, &strides);
        prop_assert_eq!(nest.numel(), want.len());
        prop_assert_eq!(nest.rows() * nest.inner_len(), want.len());
        prop_assert_eq!(nest.operands(), list.len());
        prop_assert!(nest.dims().len() <= ordered.dims().len());
        let (mut rows, mut runs) = (by_rows(&nest, cut), by_runs(&nest, cut));
        prop_assert_eq!(&rows, &runs);
        want.sort();
        rows.sort();
        runs.sort();
        prop_assert_eq!(&rows, &want);
        prop_assert_eq!(&runs, &want);
    }

    /// A dense output becomes the fastest operand of a single loop, whatever the order of its dims.
    #[test]
    fn dense_output_is_one_row(l in layouts()) {
        let nest = Nest::new(l.shape(), &[l.strides()]);
        if l.is_dense() {
            prop_assert_eq!(nest.dims(), &[l.numel()]);
            prop_assert_eq!(nest.inner_strides()[0], (l.numel() > 1) as isize);
        }
    }
}

#[test]
fn shapes_of_nests() {
    let nest = Nest::new(&[2, 3, 4], &[&[12, 4, 1], &[12, 4, 1]]);
    assert_eq!((nest.dims(), nest.inner_strides()), (&[24][..], &[1, 1][..]));
    // The output is transposed: its fast dim goes inside.
    let nest = Nest::new(&[3, 4], &[&[1, 3], &[4, 1]]);
    assert_eq!((nest.dims(), nest.inner_strides()), (&[4, 3][..], &[1, 4][..]));
    // A row is broadcast over the output's rows.
    let nest = Nest::new(&[2, 3, 4], &[&[12, 4, 1], &[0, 0, 1]]);
    assert_eq!((nest.dims(), nest.dim_strides(0)), (&[6, 4][..], &[4, 0][..]));
    // A number is broadcast everywhere: still one row.
    let nest = Nest::new(&[2, 3, 4], &[&[12, 4, 1], &[0, 0, 0]]);
    assert_eq!((nest.dims(), nest.inner_strides()), (&[24][..], &[1, 0][..]));
    // Rank 0 is one element, and no elements are no rows.
    let nest = Nest::new(&[], &[&[], &[]]);
    assert_eq!((nest.dims(), nest.rows(), nest.inner_len()), (&[1][..], 1, 1));
    let nest = Nest::new(&[3, 0, 2], &[&[1, 1, 1]]);
    assert_eq!((nest.rows(), nest.inner_len(), nest.numel()), (0, 0, 0));
    // Bytes work like elements.
    let nest = Nest::new(&[3, 4], &[&[32, 8], &[16, 4]]);
    assert_eq!((nest.dims(), nest.inner_strides()), (&[12][..], &[8, 4][..]));
}
