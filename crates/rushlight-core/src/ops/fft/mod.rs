//! Discrete Fourier transforms (torch.fft), all made of one row: complex lines along the last dimension.
//!
//! - here: that row, and the transforms along one dimension;
//! - `several`: those along two and more;
//! - `places`: frequencies and shifts;
//! - `frames`: short-time transforms.
//!
//! The transform of real numbers is that of complex ones, cut in half; the transform to real numbers
//! completes the other half first.

mod frames;
mod places;
mod several;

use crate::backend::Fft;
use crate::layout::dim_index;
use crate::op::{Sample, Value, samples};
use crate::{Layout, Result, Tensor, bail, ensure, exec};
use smallvec::smallvec;

pub use frames::FRAMES;
pub use places::PLACES;
pub use several::SEVERAL;

ops! { FFT;
    /// Sums of each line along the last dimension times `exp(-2 pi i j k / n)` (`+` for the inverse),
    /// times `scale`. The input is complex.
    fn fft_lines as internal (input: Tensor, inverse: Bool, scale: Float) -> Tensor {
        run: lines(input, *inverse, *scale),
        grad: [reads inputs; outputs] |cx| {
            let (inverse, scale) = (*cx.arg::<bool>(1)?, *cx.arg::<f64>(2)?);
            Ok(smallvec![Some(cx.grad(0)?.fft_lines(!inverse, scale)?)])
        },
        samples: line_samples,
    }
    /// The transform along `dim`, cut or padded with zeros to `n`. `norm`: "backward" (the inverse divides
    /// by n), "ortho" (both by sqrt(n)) or "forward".
    fn fft as fft_fft [out] (input: Tensor, n: OptInt = None, dim: Int = -1, norm: OptText = None) -> Tensor {
        run: complex_to_complex("fft", input, *n, *dim, norm, false),
        samples: plain_samples,
    }
    /// The inverse of `fft`.
    fn ifft as fft_ifft [out] (input: Tensor, n: OptInt = None, dim: Int = -1, norm: OptText = None) -> Tensor {
        run: complex_to_complex("ifft", input, *n, *dim, norm, true),
        samples: plain_samples,
    }
    /// `fft` of real numbers: the first `n / 2 + 1` frequencies, of which the others are conjugates.
    fn rfft as fft_rfft [out] (input: Tensor, n: OptInt = None, dim: Int = -1, norm: OptText = None) -> Tensor {
        run: real_to_complex("rfft", input, *n, *dim, norm, false),
        samples: plain_samples,
    }
    /// The inverse of `rfft`: real, of length `n`, by default `2 (m - 1)`.
    fn irfft as fft_irfft [out] (input: Tensor, n: OptInt = None, dim: Int = -1, norm: OptText = None) -> Tensor {
        run: complex_to_real("irfft", input, *n, *dim, norm, true),
        samples: plain_samples,
    }
    /// `fft` of a signal whose other half is the conjugate of this one: real.
    fn hfft as fft_hfft [out] (input: Tensor, n: OptInt = None, dim: Int = -1, norm: OptText = None) -> Tensor {
        run: complex_to_real("hfft", input, *n, *dim, norm, false),
        samples: plain_samples,
    }
    /// The inverse of `hfft`.
    fn ihfft as fft_ihfft [out] (input: Tensor, n: OptInt = None, dim: Int = -1, norm: OptText = None) -> Tensor {
        run: real_to_complex("ihfft", input, *n, *dim, norm, true),
        samples: plain_samples,
    }
}

fn lines(x: &Tensor, inverse: bool, scale: f64) -> Result<Tensor> {
    ensure!(x.dtype().is_complex(), Runtime, "fft", "takes complex numbers, not {}", x.dtype());
    let x = x.contiguous()?;
    let out = Tensor::alloc(Layout::contiguous(x.shape())?, x.dtype(), x.device())?;
    if x.numel() > 0 {
        exec::call("fft", &[&out], &[x.place()], |backend, outs, ins| {
            backend.fft(&Fft { out: outs[0], input: ins[0], inverse, scale })
        })?;
    }
    Ok(out)
}

/// Floats and complex numbers as they are, integers as the default float.
fn promoted(op: &'static str, x: &Tensor) -> Result<Tensor> {
    match x.dtype() {
        dtype if dtype.is_half() => {
            bail!(NotImplemented, op, "{dtype} is not supported; convert with to_dtype")
        }
        dtype if dtype.is_integral() => x.to_dtype(crate::default_dtype()),
        _ => Ok(x.clone()),
    }
}

fn as_complex(x: &Tensor) -> Result<Tensor> {
    if x.dtype().is_complex() { Ok(x.clone()) } else { x.to_dtype(x.dtype().complex()) }
}

/// What the sums are multiplied by.
fn factor(op: &'static str, norm: &Option<String>, n: usize, inverse: bool) -> Result<f64> {
    let n = n as f64;
    Ok(match (norm.as_deref().unwrap_or("backward"), inverse) {
        ("ortho", _) => 1.0 / n.sqrt(),
        ("backward", true) | ("forward", false) => 1.0 / n,
        ("backward", false) | ("forward", true) => 1.0,
        (other, _) => bail!(Runtime, op, "norm {other:?} is none of 'backward', 'ortho' and 'forward'"),
    })
}

/// The length along `dim`: as given, or as it is.
fn length(op: &'static str, x: &Tensor, n: Option<i64>, dim: usize) -> Result<usize> {
    let n = n.unwrap_or(x.shape()[dim] as i64);
    ensure!(n >= 1, Runtime, op, "{n} points along dimension {dim}; at least one is needed");
    Ok(n as usize)
}

/// Cut, or padded with zeros, along `dim`.
fn fitted(x: &Tensor, dim: usize, n: usize) -> Result<Tensor> {
    let own = x.shape()[dim];
    if own >= n {
        return if own == n { Ok(x.clone()) } else { x.narrow(dim as i64, 0, n as i64) };
    }
    let mut room = vec![0i64; 2 * (x.dim() - dim)];
    room[2 * (x.dim() - dim) - 1] = (n - own) as i64;
    x.pad(room, "constant", 0)
}

fn axis(op: &'static str, x: &Tensor, dim: i64) -> Result<usize> {
    let at = dim_index(op, dim as isize, x.dim())?;
    ensure!(x.dim() > 0, Index, op, "a 0-d tensor has no dimension {dim}");
    Ok(at)
}

/// The transform along one dimension of complex numbers that have its length already.
fn along(x: &Tensor, dim: usize, inverse: bool, scale: f64) -> Result<Tensor> {
    x.movedim(dim as i64, -1)?.fft_lines(inverse, scale)?.movedim(-1, dim as i64)
}

fn complex_to_complex(
    op: &'static str,
    x: &Tensor,
    n: Option<i64>,
    dim: i64,
    norm: &Option<String>,
    inverse: bool,
) -> Result<Tensor> {
    let x = promoted(op, x)?;
    let dim = axis(op, &x, dim)?;
    let n = length(op, &x, n, dim)?;
    let scale = factor(op, norm, n, inverse)?;
    along(&as_complex(&fitted(&x, dim, n)?)?, dim, inverse, scale)
}

fn real_to_complex(
    op: &'static str,
    x: &Tensor,
    n: Option<i64>,
    dim: i64,
    norm: &Option<String>,
    inverse: bool,
) -> Result<Tensor> {
    ensure!(!x.dtype().is_complex(), Type, op, "takes real numbers, not {}; see fft", x.dtype());
    let x = promoted(op, x)?;
    let dim = axis(op, &x, dim)?;
    let n = length(op, &x, n, dim)?;
    let scale = factor(op, norm, n, inverse)?;
    let all = along(&as_complex(&fitted(&x, dim, n)?)?, dim, inverse, scale)?;
    all.narrow(dim as i64, 0, (n / 2 + 1) as i64)?.contiguous()
}

fn complex_to_real(
    op: &'static str,
    x: &Tensor,
    n: Option<i64>,
    dim: i64,
    norm: &Option<String>,
    inverse: bool,
) -> Result<Tensor> {
    let x = as_complex(&promoted(op, x)?)?;
    let dim = axis(op, &x, dim)?;
    let n = length(op, &x, Some(n.unwrap_or(2 * (x.shape()[dim] as i64 - 1))), dim)?;
    let scale = factor(op, norm, n, inverse)?;
    let half = fitted(&x, dim, n / 2 + 1)?;
    // The other frequencies, from the highest down: conjugates of those from 1 on.
    let rest = (n - n / 2 - 1) as i64;
    let mirrored = half.narrow(dim as i64, 1, rest)?.flip(dim as i64)?.conj_physical()?;
    let all = Tensor::cat(&[&half, &mirrored], dim as i64)?;
    along(&all, dim, inverse, scale)?.real()?.contiguous()
}

fn complex_values(shape: &[usize], salt: usize) -> Result<Tensor> {
    let parts: Vec<usize> = shape.iter().copied().chain([2]).collect();
    samples::values(&parts, salt)?.view_as_complex()
}

fn line_samples() -> Vec<Sample> {
    [&[5][..], &[2, 4], &[3, 1], &[0, 3]]
        .into_iter()
        .filter_map(|s| {
            let x = Value::Tensor(complex_values(s, 2).ok()?);
            Some(Sample { args: smallvec![x, Value::Bool(false), Value::Float(0.5)], grad: false })
        })
        .collect()
}

fn plain_samples() -> Vec<Sample> {
    let make = |s: &[usize], n: Option<i64>, dim: i64, norm: Option<&str>| {
        let args = smallvec![
            Value::Tensor(samples::values(s, 3).ok()?),
            Value::OptInt(n),
            Value::Int(dim),
            Value::OptText(norm.map(String::from))
        ];
        Some(Sample { args, grad: false })
    };
    [
        make(&[6], None, -1, None),
        make(&[3, 5], Some(4), 1, Some("ortho")),
        make(&[3, 2], Some(7), 0, Some("forward")),
        make(&[2], Some(1), -1, None),
    ]
    .into_iter()
    .flatten()
    .collect()
}
