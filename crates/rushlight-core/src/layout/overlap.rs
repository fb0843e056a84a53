//! Does one memory cell serve two elements, within one layout or across two.
//!
//! [`Layout::internal_overlap`] and [`pair_overlap`] answer as torch does: quickly, and only for the
//! cases torch judges. The exact functions decide the rest by a bounded search, and return `None` when
//! the search would take too long; a caller may then refuse or copy.

use super::Layout;
use super::strides::is_dense;
use smallvec::SmallVec;

/// How two layouts on one storage meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// No cell in common.
    No,
    /// The same elements in the same places: safe to read and write element by element.
    Full,
    /// Some cells in common, in different places.
    Partial,
    /// The same bytes as elements of another size; torch converts such an input before it writes.
    Recast,
    /// One of them has holes or repeats cells; torch does not judge it.
    TooHard,
}

/// Whether two elements of one layout share a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InternalOverlap {
    /// Every element has its own cell.
    No,
    /// A dim of several elements has stride 0.
    Yes,
    /// Not dense; torch does not judge it.
    TooHard,
}

impl Layout {
    /// The quick test that torch makes before it writes.
    pub fn internal_overlap(&self) -> InternalOverlap {
        if self.is_dense() {
            InternalOverlap::No
        } else if self.shape.iter().zip(&self.strides).any(|(&n, &s)| n > 1 && s == 0) {
            InternalOverlap::Yes
        } else {
            InternalOverlap::TooHard
        }
    }

    /// Whether two elements share a cell; `None` when the search would take too long.
    pub fn has_internal_overlap_exact(&self) -> Option<bool> {
        if self.is_empty() {
            return Some(false);
        }
        let mut dims: Terms = steps(self, 1).map(|(n, s)| Term { step: s, count: n }).collect();
        dims.sort_unstable_by_key(|t| t.step);
        if dims.first().is_some_and(|t| t.step == 0) {
            return Some(true);
        }
        // The usual case: each stride passes everything that the smaller ones can reach.
        let mut reach = 0u128;
        let nested = dims.iter().all(|t| {
            let clear = t.step > reach;
            reach += t.step * t.count;
            clear
        });
        if nested {
            return Some(false);
        }
        // Two elements meet when steps, weighted by differences of coordinates, sum to 0. Take the
        // first dim in which they differ as positive, and shift the differences of the later dims from
        // -count..=count to 0..=2 * count.
        let mut budget = SEARCH_STEPS;
        for first in 0..dims.len() {
            let mut terms: Terms = dims[first + 1..].iter().map(|t| t.times(2)).collect();
            let shift: u128 = dims[first + 1..].iter().map(|t| t.step * t.count).sum();
            let lead = dims[first];
            if shift < lead.step {
                continue;
            }
            terms.push(Term { step: lead.step, count: lead.count - 1 });
            if solvable(terms, shift - lead.step, &mut budget)? {
                return Some(true);
            }
        }
        Some(false)
    }
}

/// The quick test that torch makes between a written layout and a read one on the same storage, with
/// elements of `a_size` and `b_size` bytes.
pub fn pair_overlap(a: &Layout, a_size: usize, b: &Layout, b_size: usize) -> Overlap {
    if a == b && a_size == b_size {
        return Overlap::Full;
    }
    if a.is_empty() || b.is_empty() {
        return Overlap::No;
    }
    if !is_dense(&a.shape, &a.strides) || !is_dense(&b.shape, &b.strides) {
        return Overlap::TooHard;
    }
    let range = |l: &Layout, size: usize| {
        let start = l.offset as u128 * size as u128;
        (start, start + l.numel() as u128 * size as u128)
    };
    let (a_range, b_range) = (range(a, a_size), range(b, b_size));
    if a_range == b_range {
        return match (a.strides == b.strides, a_size == b_size) {
            (true, true) => Overlap::Full,
            (true, false) => Overlap::Recast,
            (false, _) => Overlap::Partial,
        };
    }
    let meet = a_range.0 < b_range.1 && b_range.0 < a_range.1;
    if meet { Overlap::Partial } else { Overlap::No }
}

/// Whether two layouts on one storage, with elements of `a_size` and `b_size` bytes, share a byte;
/// `None` when the search would take too long.
pub fn exact_overlap(a: &Layout, a_size: usize, b: &Layout, b_size: usize) -> Option<bool> {
    let (Some(a_extent), Some(b_extent)) = (a.extent(), b.extent()) else { return Some(false) };
    // Equal sizes compare whole elements; else an element is a run of bytes.
    let (a_unit, b_unit) = if a_size == b_size { (1, 1) } else { (a_size, b_size) };
    let bounds =
        |(low, high): (usize, usize), unit: usize| (low as u128 * unit as u128, high as u128 * unit as u128);
    let (a_low, a_high) = bounds(a_extent, a_unit);
    let (b_low, b_high) = bounds(b_extent, b_unit);
    if a_low >= b_high || b_low >= a_high {
        return Some(false);
    }
    // With every step counted upwards from the lowest cell, a cell is shared when
    // a_low + sum(a) = b_low + sum(b); counting b downwards from its highest makes all terms positive.
    let mut terms: Terms = SmallVec::new();
    for (layout, unit) in [(a, a_unit), (b, b_unit)] {
        terms.extend(steps(layout, unit).map(|(count, step)| Term { step, count }));
        if unit > 1 {
            terms.push(Term { step: 1, count: unit as u128 - 1 });
        }
    }
    solvable(terms, b_high - 1 - a_low, &mut { SEARCH_STEPS })
}

/// How many choices a search may try: a millisecond or two.
const SEARCH_STEPS: usize = 20_000;

type Terms = SmallVec<[Term; 12]>;

/// `step` taken 0 to `count` times.
#[derive(Clone, Copy)]
struct Term {
    step: u128,
    count: u128,
}

impl Term {
    fn times(self, factor: u128) -> Term {
        Term { step: self.step, count: self.count * factor }
    }
}

/// (last coordinate, positive step) of the dims with more than one element; the sign does not matter
/// when counting from the lowest cell.
fn steps(layout: &Layout, unit: usize) -> impl Iterator<Item = (u128, u128)> + '_ {
    let (shape, strides) = layout.parts();
    let dims = shape.iter().zip(strides).filter(|(n, _)| **n > 1);
    dims.map(move |(&n, s)| (n as u128 - 1, s.unsigned_abs() as u128 * unit as u128))
}

/// Whether some choice of counts makes the terms sum to `target`.
fn solvable(mut terms: Terms, target: u128, budget: &mut usize) -> Option<bool> {
    terms.retain(|t| t.step > 0 && t.count > 0);
    terms.sort_unstable_by_key(|t| std::cmp::Reverse(t.step));
    terms.dedup_by(|next, kept| {
        let same = next.step == kept.step;
        if same {
            kept.count += next.count;
        }
        same
    });
    // What the terms from k on can reach at most, and the divisor of all they can reach.
    let mut rest: SmallVec<[(u128, u128); 13]> = SmallVec::from_elem((0, 0), terms.len() + 1);
    for (k, t) in terms.iter().enumerate().rev() {
        let (reach, divisor) = rest[k + 1];
        rest[k] = (reach + t.step * t.count, gcd(t.step, divisor));
    }
    search(&terms, &rest, target, budget)
}

/// Tries the counts of the largest step, most first. The recursion is as deep as there are terms.
fn search(terms: &[Term], rest: &[(u128, u128)], target: u128, budget: &mut usize) -> Option<bool> {
    let (reach, divisor) = rest[0];
    if target == 0 {
        return Some(true);
    }
    if target > reach || !target.is_multiple_of(divisor) {
        return Some(false);
    }
    let Term { step, count } = terms[0];
    let least = target.saturating_sub(rest[1].0).div_ceil(step);
    let most = count.min(target / step);
    if terms.len() == 1 {
        return Some(least <= most);
    }
    let mut taken = most;
    while taken >= least {
        *budget = budget.checked_sub(1)?;
        if search(&terms[1..], &rest[1..], target - taken * step, budget)? {
            return Some(true);
        }
        if taken == 0 {
            break;
        }
        taken -= 1;
    }
    Some(false)
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
