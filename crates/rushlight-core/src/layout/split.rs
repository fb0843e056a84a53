//! The ranges that split, chunk and tensor_split cut a dimension of size `n` into; each piece is a
//! narrow.

use super::views::clamp_bound;
use crate::{Result, ensure, err};
use std::ops::Range;

/// Pieces of `size` coordinates, the last one maybe shorter; n = 0 gives one empty piece.
///
/// # Errors
/// Runtime for a negative `size`, and for 0 unless `n` is 0.
pub fn split_ranges(n: usize, size: isize) -> Result<Vec<Range<usize>>> {
    ensure!(size >= 0, Runtime, "split", "piece size {size} is negative");
    ensure!(size > 0 || n == 0, Runtime, "split", "pieces of size 0 never cover size {n}");
    let size = (size as usize).max(1);
    let count = n.div_ceil(size).max(1);
    collect("split", count, |k| k * size..n.min(k.saturating_add(1).saturating_mul(size)))
}

/// At most `chunks` pieces of `ceil(n / chunks)` coordinates; n = 0 gives `chunks` empty pieces.
///
/// # Errors
/// Runtime unless `chunks` is positive.
pub fn chunk_ranges(n: usize, chunks: isize) -> Result<Vec<Range<usize>>> {
    ensure!(chunks > 0, Runtime, "chunk", "chunks = {chunks} must be positive");
    if n == 0 {
        return collect("chunk", chunks as usize, |_| 0..0);
    }
    split_ranges(n, n.div_ceil(chunks as usize) as isize)
}

/// Consecutive pieces of these sizes.
///
/// # Errors
/// Runtime for a negative size, or when the sizes do not sum to `n`.
pub fn split_with_sizes_ranges(n: usize, sizes: &[isize]) -> Result<Vec<Range<usize>>> {
    let op = "split_with_sizes";
    let mut out = Vec::with_capacity(sizes.len());
    let mut at = 0usize;
    for &size in sizes {
        ensure!(size >= 0, Runtime, op, "sizes {sizes:?} hold a negative one");
        let end = at.saturating_add(size as usize);
        out.push(at..end);
        at = end;
    }
    ensure!(at == n, Runtime, op, "sizes {sizes:?} sum to {at}, but the dimension has size {n}");
    Ok(out)
}

/// Exactly `sections` pieces; the first `n % sections` are one longer than the rest.
///
/// # Errors
/// Runtime unless `sections` is positive.
pub fn tensor_split_ranges(n: usize, sections: isize) -> Result<Vec<Range<usize>>> {
    ensure!(sections > 0, Runtime, "tensor_split", "{sections} sections; there must be at least one");
    let count = sections as usize;
    let (size, longer) = (n / count, n % count);
    let start = |k: usize| k * size + k.min(longer);
    collect("tensor_split", count, |k| start(k)..start(k + 1))
}

/// The pieces between `indices`, each read as a slice bound: a bound before the previous one gives an
/// empty piece, and the next piece starts there.
///
/// # Errors
/// None beyond memory for the list.
pub fn tensor_split_at_ranges(n: usize, indices: &[isize]) -> Result<Vec<Range<usize>>> {
    let bound = |k: usize| indices.get(k).map_or(n, |&i| clamp_bound(i, n));
    collect("tensor_split", indices.len() + 1, |k| {
        let start = if k == 0 { 0 } else { bound(k - 1) };
        start..bound(k).max(start)
    })
}

/// A list whose length a user chose freely: refused, not aborted, when memory cannot hold it.
fn collect(
    op: &'static str,
    count: usize,
    piece: impl Fn(usize) -> Range<usize>,
) -> Result<Vec<Range<usize>>> {
    let mut out = Vec::new();
    out.try_reserve_exact(count)
        .map_err(|_| err!(Runtime, op, "a list of {count} pieces does not fit in memory"))?;
    out.extend((0..count).map(piece));
    Ok(out)
}
