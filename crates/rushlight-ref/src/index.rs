//! The addressing formula, spelled out: every index in row-major order, and where it leads.

use rushlight_core::{Layout, Result, Shape};

/// Calls `f` with every index of `shape`, the last axis fastest.
pub(crate) fn each(shape: &[usize], mut f: impl FnMut(&[usize]) -> Result<()>) -> Result<()> {
    if shape.contains(&0) {
        return Ok(());
    }
    let mut index = Shape::from_elem(0, shape.len());
    loop {
        f(&index)?;
        let Some(axis) = (0..shape.len()).rev().find(|&d| index[d] + 1 < shape[d]) else { return Ok(()) };
        index[axis] += 1;
        index[axis + 1..].fill(0);
    }
}

/// Steps from a layout's first element to the one at `index`.
pub(crate) fn offset(layout: &Layout, index: &[usize]) -> isize {
    layout.strides().iter().zip(index).map(|(stride, i)| stride * *i as isize).sum()
}

/// `shape` with another length of one axis.
pub(crate) fn resized(shape: &[usize], axis: usize, len: usize) -> Shape {
    let mut out = Shape::from_slice(shape);
    out[axis] = len;
    out
}

/// Calls `f` with every index of `shape` at the start of a line along `axis`; a rank-0 tensor is one
/// line of one element.
pub(crate) fn each_line(shape: &[usize], axis: usize, f: impl FnMut(&[usize]) -> Result<()>) -> Result<()> {
    if shape.is_empty() { each(shape, f) } else { each(&resized(shape, axis, 1), f) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(shape: &[usize]) -> Vec<Vec<usize>> {
        let mut all = Vec::new();
        each(shape, |i| {
            all.push(i.to_vec());
            Ok(())
        })
        .unwrap();
        all
    }

    #[test]
    fn the_last_axis_is_fastest() {
        assert_eq!(list(&[2, 2]), [[0, 0], [0, 1], [1, 0], [1, 1]]);
        assert_eq!(list(&[]), [[0; 0]]);
        assert!(list(&[2, 0]).is_empty());
    }

    #[test]
    fn strides_may_be_negative() {
        let layout = crate::testing::layout(&[2, 3], &[3, -1], 2);
        assert_eq!(offset(&layout, &[1, 2]), 1);
    }
}
