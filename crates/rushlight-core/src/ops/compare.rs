//! Whole-tensor comparisons and shorthands for reductions over everything.

use crate::op::{Sample, Value, samples};
use crate::{DType, Device, Result, Tensor, ensure};
use smallvec::smallvec;

pointwise! { COMPARE;
    /// `isclose` of floats.
    fn near as internal (input, other; rtol = 1e-5, atol = 1e-8) Compare except complex = |x| {
        let within = (x[0] - x[1]).abs().le(x[3] + x[2] * x[1].abs());
        x[0].eq(x[1]) | (within & !(x[0].isinf() | x[1].isinf()))
    };
}

/// The row made of that.
pub mod whole {
    use super::*;

    ops! { CLOSE;
        /// Whether `|input - other| <= atol + rtol * |other|`; equal infinities are close, NaN is close
        /// to nothing, or with `equal_nan` to NaN. Both of one dtype; integers are compared as float64.
        fn isclose (input: Tensor, other: Tensor, rtol: Float = 1e-5, atol: Float = 1e-8, equal_nan: Bool = false) -> Tensor {
            run: super::super::isclose(input, other, *rtol, *atol, *equal_nan),
            samples: close_samples,
        }
    }
}

fn isclose(x: &Tensor, other: &Tensor, rtol: f64, atol: f64, equal_nan: bool) -> Result<Tensor> {
    let op = "isclose";
    ensure!(
        x.dtype() == other.dtype(),
        Runtime,
        op,
        "compares tensors of one dtype, not {} with {}; convert one with to_dtype",
        x.dtype(),
        other.dtype()
    );
    ensure!(rtol >= 0.0 && atol >= 0.0, Runtime, op, "rtol {rtol} and atol {atol} cannot be negative");
    // Tolerances are fractions, which integers cannot hold.
    let wide = |t: &Tensor| if t.dtype().is_integral() { t.to_dtype(DType::F64) } else { Ok(t.clone()) };
    let (a, b) = (wide(x)?, wide(other)?);
    let near = a.near(&b, rtol, atol).map_err(|e| e.in_op(op))?;
    if equal_nan { near.logical_or(&a.ne(&a)?.logical_and(&b.ne(&b)?)?) } else { Ok(near) }
}

fn close_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for (a, b) in [(&[3, 4][..], &[3, 4][..]), (&[2, 3], &[3]), (&[], &[]), (&[0, 2], &[2])] {
        if let (Ok(x), Ok(y)) = (samples::values(a, 1), samples::values(b, 3)) {
            let rest = [Value::Float(0.5), Value::Float(0.1), Value::Bool(true)];
            let mut args = smallvec![Value::Tensor(x), Value::Tensor(y)];
            args.extend(rest);
            all.push(Sample { args, grad: false });
        }
    }
    all
}

impl Tensor {
    /// Whether shape and every element are equal; NaN equals nothing.
    ///
    /// # Errors
    /// `Runtime` when the devices differ or there is no memory behind a tensor.
    #[track_caller]
    pub fn equal(&self, other: &Tensor) -> Result<bool> {
        if self.shape() != other.shape() {
            return Ok(false);
        }
        Ok(self.detach()?.eq(&other.detach()?)?.all((), false)?.item()?.to_bool())
    }

    /// Whether every pair of elements is close, by [`Tensor::isclose`].
    ///
    /// # Errors
    /// As [`Tensor::isclose`].
    #[track_caller]
    pub fn allclose(&self, other: &Tensor, rtol: f64, atol: f64) -> Result<bool> {
        Ok(self.detach()?.isclose(&other.detach()?, rtol, atol, false)?.all((), false)?.item()?.to_bool())
    }

    /// The largest element of all; ties share the gradient.
    ///
    /// # Errors
    /// `Runtime` for a tensor without elements.
    #[track_caller]
    pub fn max(&self) -> Result<Tensor> {
        self.amax((), false)
    }

    /// The smallest element of all; ties share the gradient.
    ///
    /// # Errors
    /// `Runtime` for a tensor without elements.
    #[track_caller]
    pub fn min(&self) -> Result<Tensor> {
        self.amin((), false)
    }

    /// The tensor on the host, as itself if it is there already.
    ///
    /// # Errors
    /// `Runtime` when it has no data.
    #[track_caller]
    pub fn cpu(&self) -> Result<Tensor> {
        self.to_device(Device::CPU)
    }
}
