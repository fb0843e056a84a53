//! Each view against the coordinates it stands for.

use super::random::*;
use super::*;
use proptest::prelude::*;

/// Element `at` of `view` is element `source(at)` of `whole`, and the shape is `shape`.
fn agrees(
    view: &Layout,
    shape: &[usize],
    whole: &Layout,
    source: impl Fn(&[usize]) -> Vec<usize>,
) -> std::result::Result<(), TestCaseError> {
    prop_assert_eq!(view.shape(), shape);
    prop_assert_eq!(view.strides().len(), shape.len());
    for at in coordinates(shape) {
        prop_assert_eq!(index(view, &at), index(whole, &source(&at)), "at {:?}", at);
    }
    Ok(())
}

/// The dim among `0..rank` that a random number names; `None` for rank 0.
fn pick(rank: usize, raw: usize) -> Option<usize> {
    (rank > 0).then(|| raw % rank)
}

fn without(list: &[usize], dims: &[usize]) -> Vec<usize> {
    (0..list.len()).filter(|d| !dims.contains(d)).map(|d| list[d]).collect()
}

fn with(mut list: Vec<usize>, d: usize, value: usize) -> Vec<usize> {
    list.insert(d, value);
    list
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn extent_and_numel(l in layouts()) {
        let all = indices(&l);
        prop_assert_eq!(l.numel(), all.len());
        let (low, high) = (all.iter().min(), all.iter().max());
        prop_assert_eq!(l.extent(), low.zip(high).map(|(a, b)| (*a as usize, *b as usize + 1)));
    }

    #[test]
    fn select_and_slice(l in layouts(), raw: usize, a in -5..6isize, b in -5..6isize, step in 1..4isize) {
        let Some(d) = pick(l.rank(), raw) else { return Ok(()) };
        let n = l.shape()[d] as isize;
        let from_end = d as isize - l.rank() as isize;
        match l.select(from_end, a) {
            Ok(v) => {
                let i = if a < 0 { a + n } else { a } as usize;
                agrees(&v, &without(l.shape(), &[d]), &l, |at| with(at.to_vec(), d, i))?;
            }
            Err(_) => prop_assert!(a < -n || a >= n),
        }
        // Python's rule, coordinate by coordinate.
        let bound = |x: isize| if x < 0 { (x + n).max(0) } else { x.min(n) };
        let kept: Vec<usize> = (bound(a)..bound(b)).step_by(step as usize).map(|i| i as usize).collect();
        let mut shape = l.shape().to_vec();
        shape[d] = kept.len();
        let v = l.slice(d as isize, Some(a), Some(b), step).unwrap();
        agrees(&v, &shape, &l, |at| {
            let mut at = at.to_vec();
            at[d] = kept[at[d]];
            at
        })?;
    }

    #[test]
    fn narrow_and_flip(l in layouts(), raw: usize, start in -5..6isize, len in -1..6isize) {
        let Some(d) = pick(l.rank(), raw) else { return Ok(()) };
        let n = l.shape()[d] as isize;
        let from = if start < 0 { start + n } else { start };
        let fits = (0..=n).contains(&from) && (0..=n - from).contains(&len);
        match l.narrow(d as isize, start, len) {
            Ok(v) => {
                prop_assert!(fits);
                let mut shape = l.shape().to_vec();
                shape[d] = len as usize;
                agrees(&v, &shape, &l, |at| {
                    let mut at = at.to_vec();
                    at[d] += from as usize;
                    at
                })?;
            }
            Err(_) => prop_assert!(!fits),
        }
        let flipped = l.flip(&[d as isize]).unwrap();
        agrees(&flipped, l.shape(), &l, |at| {
            let mut at = at.to_vec();
            at[d] = n as usize - 1 - at[d];
            at
        })?;
        prop_assert_eq!(flipped.extent(), l.extent());
    }

    #[test]
    fn dims(l in layouts(), raw: usize, raw2: usize, order in Just((0..4).collect::<Vec<usize>>()).prop_shuffle()) {
        let rank = l.rank();
        let at_most = raw % (rank + 1);
        let mut shape = l.shape().to_vec();
        shape.insert(at_most, 1);
        agrees(&l.unsqueeze(at_most as isize).unwrap(), &shape, &l, |at| without(at, &[at_most]))?;

        let ones: Vec<usize> = (0..rank).filter(|&d| l.shape()[d] == 1).collect();
        let put_back = |at: &[usize]| ones.iter().fold(at.to_vec(), |at, &d| with(at, d, 0));
        agrees(&l.squeeze_all(), &without(l.shape(), &ones), &l, put_back)?;

        let order: Vec<usize> = order.into_iter().filter(|&d| d < rank).collect();
        let signed: Vec<isize> = order.iter().map(|&d| d as isize).collect();
        let shape: Vec<usize> = order.iter().map(|&d| l.shape()[d]).collect();
        let unpermute = |at: &[usize]| {
            let mut source = vec![0; rank];
            order.iter().zip(at).for_each(|(&d, &i)| source[d] = i);
            source
        };
        agrees(&l.permute(&signed).unwrap(), &shape, &l, unpermute)?;
        // Moving dim order[k] to k for all k is that permutation.
        let target: Vec<isize> = (0..rank as isize).collect();
        prop_assert_eq!(l.movedim(&signed, &target).unwrap(), l.permute(&signed).unwrap());

        let Some((a, b)) = pick(rank, raw).zip(pick(rank, raw2)) else { return Ok(()) };
        let swap = |list: &[usize]| {
            let mut list = list.to_vec();
            list.swap(a, b);
            list
        };
        agrees(&l.transpose(a as isize, b as isize).unwrap(), &swap(l.shape()), &l, swap)?;
        let (one, to) = (a as isize, b as isize - rank as isize);
        let moved = l.movedim(&[one], &[to]).unwrap();
        let shape = with(without(l.shape(), &[a]), b, l.shape()[a]);
        agrees(&moved, &shape, &l, |at| with(without(at, &[b]), a, at[b]))?;
        let keeps = (l.shape()[a] == 1).then_some(a);
        let squeezed = l.squeeze(&[one]).unwrap();
        let gone: Vec<usize> = keeps.into_iter().collect();
        agrees(&squeezed, &without(l.shape(), &gone), &l, |at| gone.iter().fold(at.to_vec(), |at, &d| with(at, d, 0)))?;
    }

    #[test]
    fn diagonal_and_unfold(l in layouts(), raw: usize, raw2: usize, k in -4..5isize, size in 0..5isize, step in 1..4isize) {
        let rank = l.rank();
        let Some((a, b)) = pick(rank, raw).zip(pick(rank, raw2)) else { return Ok(()) };
        let n = l.shape()[a];
        if a != b {
            let m = l.shape()[b] as isize;
            let cells: Vec<usize> =
                (0..n).filter(|&i| (0..m).contains(&(i as isize + k))).collect();
            let mut shape = without(l.shape(), &[a, b]);
            shape.push(cells.len());
            let v = l.diagonal(k, a as isize, b as isize).unwrap();
            agrees(&v, &shape, &l, |at| {
                let i = cells[at[at.len() - 1]];
                let j = (i as isize + k) as usize;
                let rest = at[..at.len() - 1].to_vec();
                let ((first, x), (second, y)) =
                    if a < b { ((a, i), (b, j)) } else { ((b, j), (a, i)) };
                with(with(rest, first, x), second, y)
            })?;
        }
        match l.unfold(a as isize, size, step) {
            Ok(v) => {
                let starts: Vec<usize> =
                    (0..=n).step_by(step as usize).filter(|s| s + size as usize <= n).collect();
                let mut shape = l.shape().to_vec();
                shape[a] = starts.len();
                shape.push(size as usize);
                agrees(&v, &shape, &l, |at| {
                    let mut source = at[..rank].to_vec();
                    source[a] = starts[at[a]] + at[rank];
                    source
                })?;
            }
            Err(_) => prop_assert!(size as usize > n),
        }
    }

    #[test]
    fn expand_and_broadcast(l in layouts(), lead in prop::collection::vec(0..3usize, 0..3), stretch in 0..4usize) {
        let mut shape = lead.clone();
        shape.extend(l.shape().iter().map(|&n| if n == 1 { stretch } else { n }));
        let pad = lead.len();
        let back = |at: &[usize]| (0..l.rank()).map(|d| if l.shape()[d] == 1 { 0 } else { at[pad + d] }).collect();
        agrees(&l.broadcast_to(&shape).unwrap(), &shape, &l, back)?;
        let mut sizes: Vec<isize> = shape.iter().map(|&n| n as isize).collect();
        prop_assert_eq!(l.expand(&sizes).unwrap(), l.broadcast_to(&shape).unwrap());
        for d in (0..l.rank()).filter(|&d| l.shape()[d] != 1) {
            sizes[pad + d] = -1;
        }
        prop_assert_eq!(l.expand(&sizes).unwrap(), l.broadcast_to(&shape).unwrap());
        // Where the joint shape is the shape itself, expanding is allowed, and nowhere else.
        let wrong: Vec<usize> = shape.iter().map(|n| n + 1).collect();
        let joint = broadcast_shapes("add", &[l.shape(), &wrong]);
        prop_assert_eq!(joint.is_ok_and(|s| s.as_slice() == wrong), l.broadcast_to(&wrong).is_ok());
    }
}

/// A shape with as many elements, made by merging and splitting neighbours and inserting ones.
fn reshaped(shape: &[usize], moves: &[(u8, usize)]) -> Vec<usize> {
    let mut new = shape.to_vec();
    for &(kind, raw) in moves {
        match kind {
            0 if new.len() > 1 => {
                let k = raw % (new.len() - 1);
                let right = new.remove(k + 1);
                new[k] *= right;
            }
            1 if !new.is_empty() => {
                let k = raw % new.len();
                let factor = [2, 3, 1][raw / 16 % 3];
                if new[k] > 0 && new[k].is_multiple_of(factor) {
                    new[k] /= factor;
                    new.insert(k, factor);
                }
            }
            _ => new.insert(raw % (new.len() + 1), 1),
        }
    }
    new
}

/// The strides that reproduce `list` under `shape`, if the list is affine; dims of size 1 get `None`.
fn affine(list: &[isize], shape: &[usize]) -> Option<Vec<Option<isize>>> {
    let dense = contiguous_strides(shape);
    let strides: Vec<Option<isize>> =
        (0..shape.len()).map(|d| (shape[d] > 1).then(|| list[dense[d] as usize] - list[0])).collect();
    let all = coordinates(shape).into_iter().map(|at| {
        list[0] + at.iter().zip(&strides).map(|(&i, s)| i as isize * s.unwrap_or(0)).sum::<isize>()
    });
    all.eq(list.iter().copied()).then_some(strides)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    /// A view exists exactly when some strides reproduce the list of elements.
    #[test]
    fn view_exists_when_affine(
        l in layouts(),
        moves in prop::collection::vec((0..3u8, 0..4096usize), 0..5),
    ) {
        let new = reshaped(l.shape(), &moves);
        let got = l.try_view(&new);
        let sizes: Vec<isize> = new.iter().map(|&n| n as isize).collect();
        prop_assert_eq!(l.view(&sizes).is_ok(), got.is_some());
        if l.is_empty() {
            let want = if new == l.shape() { Strides::from_slice(l.strides()) } else { contiguous_strides(&new) };
            prop_assert_eq!(got, Some(want));
            return Ok(());
        }
        let want = affine(&indices(&l), &new);
        prop_assert_eq!(got.is_some(), want.is_some(), "{:?} as {:?}", l, new);
        for (got, want) in got.iter().flatten().zip(want.iter().flatten()) {
            prop_assert!(want.is_none_or(|w| w == *got), "{:?} as {:?}", l, new);
        }
    }

    /// Splitting one dim is always a view, and flattening that split gives the list back.
    #[test]
    fn unflatten_always_exists(l in layouts(), raw: usize, factor in 1..4usize) {
        let Some(d) = pick(l.rank(), raw) else { return Ok(()) };
        let n = l.shape()[d];
        match l.unflatten(d as isize, &[factor as isize, -1]) {
            Ok(v) => {
                let inner = n / factor;
                let mut shape = l.shape().to_vec();
                shape[d] = inner;
                shape.insert(d, factor);
                agrees(&v, &shape, &l, |at| {
                    let mut source = without(at, &[d]);
                    source[d] += at[d] * inner;
                    source
                })?;
                let flat = v.flatten_shape(d as isize, d as isize + 1).unwrap();
                prop_assert_eq!(flat.as_slice(), l.shape());
            }
            Err(_) => prop_assert!(!n.is_multiple_of(factor)),
        }
    }

    /// Reading the same bytes with another element size: every byte stays where it is.
    #[test]
    fn other_element_sizes_keep_bytes(l in layouts(), larger: bool) {
        let (from, to) = if larger { (2, 4) } else { (4, 2) };
        let Ok(v) = l.view_dtype(from, to) else { return Ok(()) };
        let bytes = |l: &Layout, size: usize| -> Vec<isize> {
            let size = size as isize;
            indices(l).into_iter().flat_map(|i| i * size..(i + 1) * size).collect()
        };
        prop_assert_eq!(bytes(&v, to), bytes(&l, from));
        let complex = l.view_as_real().unwrap();
        prop_assert_eq!(bytes(&complex, 4), bytes(&l, 8));
        prop_assert_eq!(complex.view_as_complex().unwrap(), l.clone());
        for part in [0, 1] {
            prop_assert_eq!(l.complex_part(part).unwrap(), complex.select(-1, part as isize).unwrap());
        }
    }
}
