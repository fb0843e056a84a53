//! Which frequency is where, and moving the first one to the middle.

use crate::op::{Dims, Sample, Value, samples};
use crate::{DType, Device, Result, Tensor, ensure};
use smallvec::smallvec;

ops! { PLACES;
    /// The frequencies of an `fft` of `n` points that lie `d` apart: 0, the positive, then the negative ones.
    fn fftfreq as fft_fftfreq / fftfreq_with [out] (n: Int, d: Float = 1.0; dtype: OptDType = None, device: OptDevice = None) -> Tensor {
        run: frequencies("fftfreq", *n, *d, *dtype, *device, false),
        samples: frequency_samples,
    }
    /// The frequencies of an `rfft`: those of `fftfreq` from 0 up.
    fn rfftfreq as fft_rfftfreq / rfftfreq_with [out] (n: Int, d: Float = 1.0; dtype: OptDType = None, device: OptDevice = None) -> Tensor {
        run: frequencies("rfftfreq", *n, *d, *dtype, *device, true),
        samples: frequency_samples,
    }
    /// The first element along each of `dim` (all unless given) moved to the middle.
    fn fftshift as fft_fftshift (input: Tensor, dim: Dims = ()) -> Tensor {
        run: shifted(input, dim, |n| n / 2),
        samples: shift_samples,
    }
    /// The inverse of `fftshift`.
    fn ifftshift as fft_ifftshift (input: Tensor, dim: Dims = ()) -> Tensor {
        run: shifted(input, dim, |n| n.div_ceil(2)),
        samples: shift_samples,
    }
}

fn frequencies(
    op: &'static str,
    n: i64,
    d: f64,
    dtype: Option<DType>,
    device: Option<Device>,
    half: bool,
) -> Result<Tensor> {
    ensure!(n >= 0, Runtime, op, "{n} points; a count cannot be negative");
    let dtype = dtype.unwrap_or(crate::default_dtype());
    ensure!(
        dtype.is_float() || dtype.is_complex(),
        Runtime,
        op,
        "frequencies are floats or complex numbers, not {dtype}"
    );
    let all = if half {
        Tensor::arange_with(0, n / 2 + 1, 1, Some(dtype), device)?
    } else {
        let positive = Tensor::arange_with(0, n / 2 + n % 2, 1, Some(dtype), device)?;
        Tensor::cat(&[&positive, &Tensor::arange_with(-(n / 2), 0, 1, Some(dtype), device)?], 0)?
    };
    all.mul(1.0 / (n as f64 * d))
}

fn shifted(x: &Tensor, dim: &Dims, by: impl Fn(usize) -> usize) -> Result<Tensor> {
    let dims: Vec<isize> = match dim {
        Dims::All => (0..x.dim() as isize).collect(),
        Dims::List(list) => list.to_vec(),
    };
    let mut shifts: Vec<i64> = Vec::with_capacity(dims.len());
    for d in &dims {
        shifts.push(by(x.size(*d)?) as i64);
    }
    let dims: Vec<i64> = dims.into_iter().map(|d| d as i64).collect();
    x.roll(shifts, dims)
}

fn frequency_samples() -> Vec<Sample> {
    [4i64, 5, 1]
        .into_iter()
        .map(|n| {
            let args =
                smallvec![Value::Int(n), Value::Float(0.5), Value::OptDType(None), Value::OptDevice(None)];
            Sample { args, grad: false }
        })
        .collect()
}

fn shift_samples() -> Vec<Sample> {
    let make = |s: &[usize], dim: Dims| {
        Some(Sample {
            args: smallvec![Value::Tensor(samples::values(s, 2).ok()?), Value::Dims(dim)],
            grad: true,
        })
    };
    let last = Dims::List([-1isize].into_iter().collect());
    [make(&[5], Dims::All), make(&[3, 4], last), make(&[2, 0], Dims::All)].into_iter().flatten().collect()
}
