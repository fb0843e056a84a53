//! Matrices for the laws: well conditioned ones, with a batch, of size 1 and of size 0.

use crate::op::{Sample, Value, samples};
use crate::{Result, Tensor};

/// Values with 3 added on the diagonal: far from singular.
pub(super) fn regular(shape: &[usize], salt: usize) -> Result<Tensor> {
    let x = samples::values(shape, salt)?;
    let (m, n) = (shape[shape.len() - 2], shape[shape.len() - 1]);
    x.add(&Tensor::eye_with(m as i64, Some(n as i64), Some(x.dtype()), None)?.mul(3.0)?)
}

/// Symmetric and positive definite.
pub(super) fn definite(shape: &[usize], salt: usize) -> Result<Tensor> {
    let x = samples::values(shape, salt)?;
    let n = shape[shape.len() - 1];
    x.matmul(&x.transpose(-2, -1)?)?.add(&super::unit(n, n, &x)?)
}

/// A sample of one matrix and more arguments.
pub(super) fn with(
    matrix: Result<Tensor>,
    rest: impl IntoIterator<Item = Value>,
    grad: bool,
) -> Option<Sample> {
    let args = std::iter::once(Value::Tensor(matrix.ok()?)).chain(rest).collect();
    Some(Sample { args, grad })
}

const SQUARE: [&[usize]; 5] = [&[3, 3], &[2, 4, 4], &[1, 1], &[0, 0], &[0, 2, 2]];
const RECTANGLES: [&[usize]; 7] = [&[4, 3], &[3, 4], &[2, 3, 3], &[1, 1], &[0, 3], &[3, 0], &[0, 2, 3]];

/// Square matrices with the given further arguments.
pub(super) fn squares(rest: &[Value], grad: bool) -> Vec<Sample> {
    SQUARE
        .iter()
        .filter_map(|s| with(regular(s, 1), rest.iter().cloned(), grad && s.iter().all(|n| *n > 0)))
        .collect()
}

/// Definite matrices with the given further arguments.
pub(super) fn definites(rest: &[Value], grad: bool) -> Vec<Sample> {
    SQUARE
        .iter()
        .filter_map(|s| with(definite(s, 2), rest.iter().cloned(), grad && s.iter().all(|n| *n > 0)))
        .collect()
}

/// Matrices of every shape with the given further arguments.
pub(super) fn rectangles(rest: &[Value], grad: bool) -> Vec<Sample> {
    RECTANGLES
        .iter()
        .filter_map(|s| with(regular(s, 3), rest.iter().cloned(), grad && s.iter().all(|n| *n > 0)))
        .collect()
}
