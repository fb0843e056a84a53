//! The ways in which a shape can lie in memory.

use crate::Rng;
use rushlight_core::Layout;

/// One way for a shape to lie in a storage.
#[derive(Clone, Debug)]
pub struct Variant {
    /// What is special about it.
    pub name: &'static str,
    /// Where the elements are.
    pub layout: Layout,
    /// Elements that the storage has: a few more than the layout reaches, so that a kernel that
    /// writes too far is caught.
    pub len: usize,
    /// Whether every element has a cell of its own.
    pub writable: bool,
}

/// Elements of a storage before the first and after the last one that a layout reaches.
const MARGIN: usize = 3;

/// How one axis lies.
#[derive(Clone, Copy)]
struct Axis {
    step: usize,
    gap: usize,
    flipped: bool,
}

const DENSE: Axis = Axis { step: 1, gap: 0, flipped: false };

/// All variants of `shape`: dense, transposed, permuted, narrowed, stepped, with odd strides on
/// axes of size 1, flipped, and expanded.
pub fn variants(shape: &[usize], rng: &mut Rng) -> Vec<Variant> {
    let rank = shape.len();
    let plain: Vec<usize> = (0..rank).collect();
    let reversed: Vec<usize> = (0..rank).rev().collect();
    let mut all = vec![
        variant("contiguous", shape, &plain, 0, |_| DENSE),
        variant("transposed", shape, &reversed, 0, |_| DENSE),
        variant("permuted", shape, &rng.order(rank), 1, |_| DENSE),
        variant("narrowed", shape, &plain, 5, |_| Axis { gap: 2, ..DENSE }),
        variant("stepped", shape, &plain, 1, |d| Axis { step: if d + 1 == rank { 2 } else { 1 }, ..DENSE }),
        variant("flipped", shape, &plain, 0, |_| Axis { flipped: true, ..DENSE }),
        variant("jumbled", shape, &rng.order(rank), 2, |_| Axis {
            step: 1 + rng.below(3),
            gap: rng.below(3),
            flipped: rng.one_in(3),
        }),
    ];
    if shape.contains(&1) {
        let odd = |d: usize, stride: isize| if shape[d] == 1 { [77, -5, 0][d % 3] } else { stride };
        all.push(restrided("odd size-1 strides", &all[0], odd));
    }
    if rank > 0 {
        let axis = rng.below(rank);
        let mut thin = shape.to_vec();
        thin[axis] = thin[axis].min(1);
        let base = variant("expanded", &thin, &plain, 1, |_| DENSE);
        all.push(expanded("expanded", shape, &base, |d| d == axis));
        let base = variant("expanded", &vec![1; rank], &plain, 1, |_| DENSE);
        all.push(expanded("one for all", shape, &base, |_| true));
    }
    all
}

/// Those of [`variants`] that can be written to.
pub fn writable_variants(shape: &[usize], rng: &mut Rng) -> Vec<Variant> {
    variants(shape, rng).into_iter().filter(|v| v.writable).collect()
}

/// Axes lie in `order`, outermost first, after `lead` elements.
fn variant(
    name: &'static str,
    shape: &[usize],
    order: &[usize],
    lead: usize,
    mut axis: impl FnMut(usize) -> Axis,
) -> Variant {
    let (mut strides, mut offset, mut span) = (vec![0isize; shape.len()], lead, 1usize);
    for &d in order.iter().rev() {
        let Axis { step, gap, flipped } = axis(d);
        let stride = span * step;
        strides[d] = stride as isize;
        if flipped {
            offset += stride * shape[d].saturating_sub(1);
            strides[d] = -strides[d];
        }
        span *= (shape[d] * step + gap).max(1);
    }
    finish(name, shape, strides, offset, true)
}

fn restrided(name: &'static str, base: &Variant, stride: impl Fn(usize, isize) -> isize) -> Variant {
    let strides = base.layout.strides().iter().enumerate().map(|(d, s)| stride(d, *s)).collect();
    finish(name, base.layout.shape(), strides, base.layout.offset(), base.writable)
}

fn expanded(name: &'static str, shape: &[usize], base: &Variant, axis: impl Fn(usize) -> bool) -> Variant {
    let strides =
        base.layout.strides().iter().enumerate().map(|(d, s)| if axis(d) { 0 } else { *s }).collect();
    finish(name, shape, strides, base.layout.offset(), false)
}

/// # Panics
/// When the layout is not legal, which is this file's fault.
fn finish(
    name: &'static str,
    shape: &[usize],
    strides: Vec<isize>,
    offset: usize,
    writable: bool,
) -> Variant {
    let layout = Layout::new(shape, strides, offset + MARGIN).expect("a variant has a legal layout");
    let len = layout.storage_elements().max(offset + MARGIN) + MARGIN;
    Variant { name, layout, len, writable }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_core::layout::InternalOverlap;

    #[test]
    fn every_kind_of_layout_is_there() {
        let mut rng = Rng::new(5);
        let all = variants(&[2, 1, 3], &mut rng);
        let strides =
            |name: &str| all.iter().find(|v| v.name == name).map(|v| v.layout.strides().to_vec()).unwrap();
        assert_eq!(strides("contiguous"), [3, 3, 1]);
        assert_eq!(strides("transposed"), [1, 2, 2]);
        assert_eq!(strides("narrowed"), [15, 5, 1]);
        assert_eq!(strides("stepped"), [6, 6, 2]);
        assert_eq!(strides("flipped"), [-3, -3, -1]);
        assert_eq!(strides("odd size-1 strides"), [3, -5, 1]);
        assert_eq!(strides("one for all"), [0, 0, 0]);
        assert!(strides("expanded").contains(&0));
    }

    #[test]
    fn writable_ones_overlap_nowhere_and_all_have_margins() {
        let mut rng = Rng::new(6);
        for shape in [&[][..], &[0], &[7], &[2, 0], &[3, 1, 2], &[2, 2, 1, 3, 2, 2]] {
            for v in variants(shape, &mut rng) {
                assert_eq!(v.layout.shape(), shape);
                assert!(v.layout.storage_elements() + MARGIN <= v.len, "{v:?}");
                assert!(v.layout.extent().is_none_or(|(low, _)| low >= MARGIN), "{v:?}");
                if v.writable {
                    assert_ne!(v.layout.internal_overlap(), InternalOverlap::Yes, "{v:?}");
                }
            }
            assert!(writable_variants(shape, &mut rng).iter().all(|v| v.writable));
        }
    }
}
