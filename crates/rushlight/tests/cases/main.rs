//! Programs that went wrong in other tensor libraries, with torch's values for them.
//!
//! One test a program: a wrong layout assumption, a lock taken twice, a lost gradient, a saturated
//! half. Values were computed with torch 2.15.

mod aliasing;
mod files;
mod gradients;
mod numbers;
mod products;

use rushlight::{DType, Result, Tensor};

/// A float32 tensor.
fn f(shape: &[usize], values: &[f32]) -> Result<Tensor> {
    Tensor::from_vec(values.to_vec(), shape)
}
/// An int64 tensor.
fn l(shape: &[usize], values: &[i64]) -> Result<Tensor> {
    Tensor::from_vec(values.to_vec(), shape)
}
/// `arange(n)` in float32.
fn count(n: usize, shape: &[usize]) -> Result<Tensor> {
    Tensor::arange_with(0, n, 1, Some(DType::F32), None)?.reshape(shape)
}
/// Asserts shape, dtype and values (NaN equals NaN), floats to a relative error of 2e-6.
#[track_caller]
fn same(x: &Tensor, dtype: DType, shape: &[usize], values: &[f64]) -> Result<()> {
    assert_eq!((x.dtype(), x.shape()), (dtype, shape));
    let got = x.detach()?.to_dtype(DType::F64)?.to_vec::<f64>()?;
    assert_eq!(got.len(), values.len());
    for (a, b) in got.iter().zip(values) {
        let close = a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 2e-6 * b.abs();
        assert!(close, "got {got:?}, expected {values:?}");
    }
    Ok(())
}
/// The gradient that a backward left.
#[track_caller]
fn grad(x: &Tensor) -> Tensor {
    x.grad().unwrap_or_else(|| panic!("no gradient arrived"))
}
