//! Some of the elements: a coordinate, a range, a diagonal, windows.

use super::one;
use crate::op::{Sample, Size, Value};
use crate::{Result, Tensor, ensure};

ops! { PART;
    /// Place `index` of dimension `dim`, which disappears. Negative ones count from the end.
    fn select (input: Tensor, dim: Int, index: Int) -> Tensor {
        view: input.select(*dim as isize, *index as isize),
        samples: select_samples,
    }
    /// `length` places of dimension `dim` from `start` on; a negative start counts from the end.
    fn narrow (input: Tensor, dim: Int, start: Int, length: Int) -> Tensor {
        view: input.narrow(*dim as isize, *start as isize, *length as isize),
        samples: narrow_samples,
    }
    /// Every `step`-th place of dimension `dim` in `start..end`, read as Python reads a slice.
    fn slice (input: Tensor, dim: Int = 0, start: OptInt = None, end: OptInt = None, step: Int = 1) -> Tensor {
        view: input.slice(*dim as isize, start.map(|i| i as isize), end.map(|i| i as isize), *step as isize),
        samples: slice_samples,
    }
    /// The diagonal of two dimensions, `offset` places above the main one, as a last dimension.
    fn diagonal (input: Tensor, offset: Int = 0, dim1: Int = 0, dim2: Int = 1) -> Tensor {
        view: input.diagonal(*offset as isize, *dim1 as isize, *dim2 as isize),
        samples: diagonal_samples,
    }
    /// Windows of `size` places of a dimension, `step` apart; a window is the new last dimension.
    fn unfold (input: Tensor, dimension: Int, size: Int, step: Int) -> Tensor {
        view: input.unfold(*dimension as isize, *size as isize, *step as isize),
        samples: unfold_samples,
    }
    /// Exactly these sizes and strides over the tensor's storage. `storage_offset` counts from its
    /// start, and defaults to the tensor's own.
    fn as_strided (input: Tensor, size: Size, stride: Size, storage_offset: OptInt = None) -> Tensor {
        run: super::as_strided(input, size, stride, *storage_offset),
        samples: as_strided_samples,
    }
}

fn as_strided(x: &Tensor, size: &Size, stride: &Size, offset: Option<i64>) -> Result<Tensor> {
    let layout = x.layout().as_strided(&size.0, &stride.0, offset.map(|o| o as isize))?;
    let need = layout.storage_elements().checked_mul(x.element_size());
    ensure!(
        need.is_some_and(|n| n <= x.storage().nbytes()),
        Runtime,
        "as_strided",
        "sizes {:?} with strides {:?} and offset {} of {} reach past the {} bytes of the storage",
        layout.shape(),
        layout.strides(),
        layout.offset(),
        x.dtype(),
        x.storage().nbytes()
    );
    crate::grad::view::strided_view("as_strided", x, layout)
}

fn select_samples() -> Vec<Sample> {
    [(&[4, 3][..], 0, 1), (&[4, 3], -1, -1), (&[4], 0, 3)]
        .into_iter()
        .filter_map(|(s, d, i)| one(s, [Value::Int(d), Value::Int(i)]))
        .collect()
}

fn narrow_samples() -> Vec<Sample> {
    [(&[4, 3][..], 0, 1, 2), (&[4, 3], -1, 0, 3), (&[4], 0, -2, 2), (&[4], 0, 4, 0)]
        .into_iter()
        .filter_map(|(s, d, a, n)| one(s, [Value::Int(d), Value::Int(a), Value::Int(n)]))
        .collect()
}

fn slice_samples() -> Vec<Sample> {
    [
        (&[7, 2][..], 0, Some(1), None, 3),
        (&[2, 5], -1, Some(-4), Some(-1), 2),
        (&[4], 0, None, None, 1),
        (&[4], 0, Some(3), Some(1), 1),
    ]
    .into_iter()
    .filter_map(|(s, d, a, b, n)| one(s, [Value::Int(d), Value::OptInt(a), Value::OptInt(b), Value::Int(n)]))
    .collect()
}

fn diagonal_samples() -> Vec<Sample> {
    [(&[3, 4][..], 0, 0, 1), (&[3, 4], 1, 0, 1), (&[2, 3, 4], -1, 2, 0), (&[2, 2], 5, 0, 1)]
        .into_iter()
        .filter_map(|(s, k, a, b)| one(s, [Value::Int(k), Value::Int(a), Value::Int(b)]))
        .collect()
}

fn unfold_samples() -> Vec<Sample> {
    [(&[7][..], 0, 3, 1), (&[2, 6], 1, 2, 3), (&[], 0, 1, 1), (&[3], 0, 0, 1)]
        .into_iter()
        .filter_map(|(s, d, n, t)| one(s, [Value::Int(d), Value::Int(n), Value::Int(t)]))
        .collect()
}

fn as_strided_samples() -> Vec<Sample> {
    let cases: [(&[usize], Size, Size, Option<i64>); 3] = [
        (&[3, 4], [2, 2].into(), [1, 5].into(), Some(1)),
        (&[6], [4, 3].into(), [1, 1].into(), None),
        (&[4], ().into(), ().into(), Some(3)),
    ];
    cases
        .into_iter()
        .filter_map(|(s, n, t, o)| one(s, [Value::Size(n), Value::Size(t), Value::OptInt(o)]))
        .collect()
}
