//! Visits elements of a nest in rectangles, so that short rows do not cost a call each.

use rushlight_core::layout::Nest;
use smallvec::SmallVec;
use std::ops::Range;

/// A nest seen as planes of rows.
pub(crate) struct Walk<'a> {
    nest: &'a Nest,
    /// The dims around the two innermost ones.
    planes: Nest,
    rows: usize,
    len: usize,
}

/// `rows` runs of `len` elements each, of one operand.
pub(super) struct Tile {
    /// Its first element, relative to the operand's.
    pub offset: isize,
    pub rows: usize,
    pub row_stride: isize,
    pub len: usize,
    pub stride: isize,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(nest: &'a Nest) -> Walk<'a> {
        let dims = nest.dims();
        let outer = dims.len().saturating_sub(2);
        let strides: SmallVec<[SmallVec<[isize; 6]>; 6]> =
            (0..nest.operands()).map(|k| (0..outer).map(|d| nest.dim_strides(d)[k]).collect()).collect();
        let parts: SmallVec<[&[isize]; 6]> = strides.iter().map(|s| s.as_slice()).collect();
        Walk {
            nest,
            planes: Nest::in_order(&dims[..outer], &parts),
            rows: if dims.len() > 1 { dims[outer] } else { 1 },
            len: nest.inner_len(),
        }
    }

    /// The strides of a nest that is one line.
    pub(super) fn line(&self) -> Option<&[isize]> {
        (self.nest.dims().len() == 1).then(|| self.nest.inner_strides())
    }

    /// Calls `f` with the tiles of operand `k` that make up the elements in `range`, in order.
    pub(super) fn tiles(&self, k: usize, range: Range<usize>, mut f: impl FnMut(Tile)) {
        let plane = self.rows * self.len;
        if range.is_empty() || plane == 0 {
            return;
        }
        let stride = self.nest.inner_strides()[k];
        let row_stride = if self.rows > 1 { self.nest.dim_strides(self.nest.dims().len() - 2)[k] } else { 0 };
        let step = self.planes.inner_strides()[k];
        let mut at = range.start;
        self.planes.for_each_run(range.start / plane..range.end.div_ceil(plane), |offsets, count| {
            for i in 0..count as isize {
                let base = offsets[k] + i * step;
                let end = range.end.min((at / plane + 1) * plane);
                while at < end {
                    let (row, column) = (at % plane / self.len, at % self.len);
                    // Whole rows together; what is left of a row alone.
                    let (rows, len) = match column == 0 && end - at >= self.len {
                        true => ((end - at) / self.len, self.len),
                        false => (1, (end - at).min(self.len - column)),
                    };
                    let offset = base + row as isize * row_stride + column as isize * stride;
                    f(Tile { offset, rows, row_stride, len, stride });
                    at += rows * len;
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_visit_what_runs_visit() {
        let cases: [(&[usize], &[isize]); 6] = [
            (&[7], &[3]),
            (&[4, 3], &[1, 4]),
            (&[2, 3, 4], &[1, 100, 7]),
            (&[3, 2, 2, 5], &[1000, -3, 50, 0]),
            (&[], &[]),
            (&[2, 1, 2, 1, 2, 3], &[5000, 9, 100, 9, 30, 7]),
        ];
        for (shape, strides) in cases {
            let nest = Nest::in_order(shape, &[strides, strides]);
            let n = nest.numel();
            let walk = Walk::new(&nest);
            for start in 0..=n {
                for end in start..=n {
                    let (mut want, mut got) = (Vec::new(), Vec::new());
                    nest.for_each_run(start..end, |o, len| {
                        want.extend((0..len as isize).map(|i| o[1] + i * nest.inner_strides()[1]));
                    });
                    walk.tiles(1, start..end, |t| {
                        for r in 0..t.rows as isize {
                            got.extend(
                                (0..t.len as isize).map(|i| t.offset + r * t.row_stride + i * t.stride),
                            );
                        }
                    });
                    assert_eq!(got, want, "{shape:?} {strides:?} {start}..{end}");
                }
            }
        }
    }
}
