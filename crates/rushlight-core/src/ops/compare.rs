//! Whole-tensor comparisons and shorthands for reductions over everything.

use crate::{Device, Result, Tensor};

pointwise! { COMPARE;
    /// Whether `|input - other| <= atol + rtol * |other|`; equal infinities are close, NaN is close to nothing.
    fn isclose (input, other; rtol = 1e-5, atol = 1e-8) Compare except complex = |x| {
        let near = (x[0] - x[1]).abs().le(x[3] + x[2] * x[1].abs());
        x[0].eq(x[1]) | (near & !(x[0].isinf() | x[1].isinf()))
    };
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
        Ok(self.detach()?.isclose(&other.detach()?, rtol, atol)?.all((), false)?.item()?.to_bool())
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
