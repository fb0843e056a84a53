//! Contiguity and result strides against lists of elements.

use super::random::*;
use super::*;
use proptest::prelude::*;

/// Whether the elements fill a range of cells without holes, each cell once.
fn fills_a_range(l: &Layout) -> bool {
    let mut all = indices(l);
    all.sort_unstable();
    all.windows(2).all(|w| w[1] == w[0] + 1)
}

/// Layouts of operands that broadcast with one of shape `shape`.
fn companions(shape: Vec<usize>) -> impl Strategy<Value = Vec<Layout>> {
    let rank = shape.len();
    let one = (prop::collection::vec(prop::bool::weighted(0.7), rank), 0..=rank).prop_flat_map(
        move |(keep, cut)| {
            let cut = if keep.iter().all(|k| *k) { 0 } else { cut };
            let part = (cut..rank).map(|d| if keep[d] { shape[d] } else { 1 }).collect();
            layouts_of(part)
        },
    );
    prop::collection::vec(one, 0..3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn contiguous_and_dense(l in layouts()) {
        let all = indices(&l);
        let stepping = all.windows(2).all(|w| w[1] == w[0] + 1);
        prop_assert_eq!(l.is_contiguous(), stepping);
        prop_assert_eq!(l.is_dense(), fills_a_range(&l));
        let copy = layout(l.shape(), &l.preserve_strides(), 0);
        prop_assert!(copy.is_dense());
        if l.is_dense() {
            prop_assert_eq!(copy.strides(), l.strides());
        }
        prop_assert!(layout(l.shape(), &contiguous_strides(l.shape()), 0).is_contiguous());
    }

    /// The result has no holes, and its dims lie in the order of the first operand that steps in both.
    #[test]
    fn elementwise_results(
        ls in layouts().prop_flat_map(|l| {
            let shape = l.shape().to_vec();
            (Just(l), companions(shape))
        }),
    ) {
        let (first, others) = ls;
        let operands: Vec<_> = std::iter::once(&first).chain(&others).map(|l| l.parts()).collect();
        let out = first.shape();
        let strides = elementwise_strides(&operands, out);
        let result = layout(out, &strides, 0);
        prop_assert!(result.is_dense());
        if first.is_empty() {
            return Ok(());
        }
        // Two-dim shapes have one pair to order, so the rule is exact there.
        let wide: Vec<usize> = (0..out.len()).filter(|&d| out[d] > 1).collect();
        if let (2, [a, b]) = (out.len(), &wide[..]) {
            let joint: Vec<Layout> = std::iter::once(&first).chain(&others)
                .map(|l| l.broadcast_to(out).unwrap()).collect();
            let opinion = joint.iter().map(|l| (l.strides()[*a], l.strides()[*b])).find_map(|(x, y)| {
                match (x, y) {
                    (0, _) | (_, 0) => None,
                    (x, y) if x != y => Some(x > y),
                    _ if out[*b] > out[*a] => Some(false),
                    _ => None,
                }
            });
            prop_assert_eq!(strides[*a] > strides[*b], opinion.unwrap_or(true), "{:?}", operands);
        }
    }
}
