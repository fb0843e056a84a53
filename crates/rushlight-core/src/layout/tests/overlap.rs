//! Overlap against sets of cells.

use super::random::*;
use super::*;
use proptest::prelude::*;
use std::collections::HashSet;

fn cells(l: &Layout, size: usize) -> HashSet<isize> {
    let size = size as isize;
    indices(l).into_iter().flat_map(|i| i * size..(i + 1) * size).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn within_one_layout(l in layouts(), flip: bool) {
        let l = if flip && l.rank() > 0 { l.flip(&[0]).unwrap() } else { l };
        let repeats = cells(&l, 1).len() < l.numel();
        prop_assert_eq!(l.has_internal_overlap_exact(), Some(repeats));
        match l.internal_overlap() {
            InternalOverlap::No => prop_assert!(!repeats),
            InternalOverlap::Yes => prop_assert!(repeats),
            InternalOverlap::TooHard => {}
        }
    }

    #[test]
    fn between_two(
        pair in shapes().prop_flat_map(|s| (layouts_of(s.clone()), layouts_of(s))),
        shift in 0..12usize,
        sizes in prop::sample::select(vec![(1usize, 1usize), (4, 4), (4, 2), (2, 8), (3, 1)]),
    ) {
        let (a, b) = pair;
        let b = layout(b.shape(), b.strides(), shift);
        let (ca, cb) = (cells(&a, sizes.0), cells(&b, sizes.1));
        let meet = !ca.is_disjoint(&cb);
        prop_assert_eq!(exact_overlap(&a, sizes.0, &b, sizes.1), Some(meet), "{:?} {:?}", a, b);
        match pair_overlap(&a, sizes.0, &b, sizes.1) {
            Overlap::No => prop_assert!(!meet),
            Overlap::Full => {
                prop_assert_eq!(indices(&a), indices(&b));
                prop_assert_eq!(sizes.0, sizes.1);
            }
            Overlap::Partial => prop_assert!(meet),
            Overlap::Recast => prop_assert!(meet && sizes.0 != sizes.1),
            Overlap::TooHard => prop_assert!(!a.is_dense() || !b.is_dense()),
        }
    }
}

#[test]
fn neighbours_and_shifts() {
    let v = c_order(&[10]);
    let part = |a, b, step| v.slice(0, Some(a), Some(b), step).unwrap();
    let pair = |a: &Layout, b: &Layout| (pair_overlap(a, 4, b, 4), exact_overlap(a, 4, b, 4));
    assert_eq!(pair(&part(1, 10, 1), &part(0, 9, 1)), (Overlap::Partial, Some(true)));
    assert_eq!(pair(&part(0, 5, 1), &part(5, 10, 1)), (Overlap::No, Some(false)));
    assert_eq!(pair(&part(0, 10, 2), &part(1, 10, 2)), (Overlap::TooHard, Some(false)));
    assert_eq!(pair(&part(0, 10, 2), &part(0, 5, 1)), (Overlap::TooHard, Some(true)));
    assert_eq!(pair(&v, &v), (Overlap::Full, Some(true)));
    let m = c_order(&[3, 3]);
    assert_eq!(pair(&m, &m.t().unwrap()), (Overlap::Partial, Some(true)));
    let same = m.view(&[9]).unwrap().view(&[3, 3]).unwrap();
    assert_eq!(pair(&m, &same), (Overlap::Full, Some(true)));
    assert_eq!(pair_overlap(&m, 4, &m, 2), Overlap::Partial);
}

#[test]
fn large_cases_are_decided_fast() {
    // Even and odd columns, and the two halves of the columns, of a 10^6 x 10^6 matrix.
    let m = c_order(&[1_000_000, 1_000_000]);
    let columns = |a, step| m.slice(1, Some(a), None, step).unwrap();
    assert_eq!(exact_overlap(&columns(0, 2), 4, &columns(1, 2), 4), Some(false));
    assert_eq!(exact_overlap(&columns(500_000, 1), 4, &m.narrow(1, 0, 500_000).unwrap(), 4), Some(false));
    assert_eq!(columns(0, 3).has_internal_overlap_exact(), Some(false));
    assert_eq!(c_order(&[1_000_000]).unfold(0, 3, 1).unwrap().has_internal_overlap_exact(), Some(true));
    assert_eq!(c_order(&[1_000_000]).unfold(0, 3, 3).unwrap().has_internal_overlap_exact(), Some(false));
    // Large coprime strides: found or given up, but not hung.
    let odd = layout(&[9999, 9998, 9997, 9996], &[1_000_003, 1_000_033, 1_000_037, 1_000_039], 0);
    assert_ne!(odd.has_internal_overlap_exact(), Some(false));
}
