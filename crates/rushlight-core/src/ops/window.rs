//! Windows: weights that fall off towards the ends, for spectra of pieces of signals.
//!
//! A periodic window is a symmetric one of one more element without its last.

use crate::op::{Sample, Value};
use crate::program::Special;
use crate::{DType, Device, Result, Tensor, ensure};
use smallvec::smallvec;
use std::f64::consts::PI;

ops! { WINDOW;
    /// A triangle: `1 - |2 k / (N - 1) - 1|`.
    fn bartlett_window / bartlett_window_with (window_length: Int, periodic: Bool = true; dtype: OptDType = None, device: OptDevice = None) -> Tensor {
        run: made("bartlett_window", (*window_length, *periodic, *dtype, *device), |k| k.mul(2.0)?.sub(1.0)?.abs()?.neg()?.add(1.0)),
        samples: window_samples,
    }
    /// `0.42 - 0.5 cos(2 pi k / (N - 1)) + 0.08 cos(4 pi k / (N - 1))`.
    fn blackman_window / blackman_window_with (window_length: Int, periodic: Bool = true; dtype: OptDType = None, device: OptDevice = None) -> Tensor {
        run: made("blackman_window", (*window_length, *periodic, *dtype, *device), |k| cosines(k, &[0.42, -0.5, 0.08])),
        samples: window_samples,
    }
    /// `(1 - cos(2 pi k / (N - 1))) / 2`.
    fn hann_window / hann_window_with (window_length: Int, periodic: Bool = true; dtype: OptDType = None, device: OptDevice = None) -> Tensor {
        run: made("hann_window", (*window_length, *periodic, *dtype, *device), |k| cosines(k, &[0.5, -0.5])),
        samples: window_samples,
    }
    /// `alpha - beta cos(2 pi k / (N - 1))`.
    fn hamming_window / hamming_window_with (window_length: Int, periodic: Bool = true, alpha: Float = 0.54, beta: Float = 0.46; dtype: OptDType = None, device: OptDevice = None) -> Tensor {
        run: made("hamming_window", (*window_length, *periodic, *dtype, *device), |k| cosines(k, &[*alpha, -*beta])),
        samples: hamming_samples,
    }
    /// `I0(beta sqrt(1 - (2 k / (N - 1) - 1)^2)) / I0(beta)`.
    fn kaiser_window / kaiser_window_with (window_length: Int, periodic: Bool = true, beta: Float = 12.0; dtype: OptDType = None, device: OptDevice = None) -> Tensor {
        run: made("kaiser_window", (*window_length, *periodic, *dtype, *device), |k| kaiser(k, *beta)),
        samples: kaiser_samples,
    }
}

type Call = (i64, bool, Option<DType>, Option<Device>);

/// A window from its formula over `k / (N - 1)`.
fn made(
    op: &'static str,
    (length, periodic, dtype, device): Call,
    formula: impl FnOnce(&Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    ensure!(length >= 0, Runtime, op, "a window of {length} elements; a count cannot be negative");
    let dtype = dtype.unwrap_or(crate::default_dtype());
    ensure!(dtype.is_float(), Runtime, op, "a window holds floats, not {dtype}");
    if length <= 1 {
        return Tensor::ones_with([length], Some(dtype), device);
    }
    let steps = if periodic { length } else { length - 1 };
    let k = Tensor::arange_with(0, length, 1, Some(DType::F64), device)?.div(steps as f64)?;
    formula(&k)?.to_dtype(dtype)
}

fn cosines(k: &Tensor, factors: &[f64]) -> Result<Tensor> {
    let mut sum = Tensor::full_as(k, crate::Number::Float(0.0))?;
    for (j, f) in factors.iter().enumerate() {
        sum = sum.add(&k.mul(2.0 * PI * j as f64)?.cos()?.mul(*f)?)?;
    }
    Ok(sum)
}

fn kaiser(k: &Tensor, beta: f64) -> Result<Tensor> {
    Tensor::pointwise(
        [k, &Tensor::scalar(beta)?.to_dtype(DType::F64)?.to_device(k.device())?],
        |[k, beta]| {
            let x = k * 2.0 - 1.0;
            Special::I0.of(beta * (1.0 - x * x).maximum(0.0).sqrt()) / Special::I0.of(beta)
        },
    )
}

fn windows(rest: &[Value]) -> Vec<Sample> {
    [(0i64, true), (1, true), (6, true), (7, false)]
        .into_iter()
        .map(|(n, periodic)| {
            let mut args: crate::op::Args = smallvec![Value::Int(n), Value::Bool(periodic)];
            args.extend(rest.iter().cloned());
            args.extend([Value::OptDType(None), Value::OptDevice(None)]);
            Sample { args, grad: false }
        })
        .collect()
}
fn window_samples() -> Vec<Sample> {
    windows(&[])
}
fn hamming_samples() -> Vec<Sample> {
    windows(&[Value::Float(0.54), Value::Float(0.46)])
}
fn kaiser_samples() -> Vec<Sample> {
    windows(&[Value::Float(12.0)])
}
