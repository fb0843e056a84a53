//! Transforms along several dimensions: one after the other.

use super::{along, as_complex, axis, complex_to_real, factor, fitted, length, promoted, real_to_complex};
use crate::op::{Dims, Sample, Size, Value, samples};
use crate::{Result, Tensor, ensure};
use smallvec::smallvec;

ops! { SEVERAL;
    /// `fft` along each of `dim` (all of them unless given), with the lengths `s`.
    fn fftn as fft_fftn [out] (input: Tensor, s: Dims = (), dim: Dims = (), norm: OptText = None) -> Tensor {
        run: complex("fftn", input, s, dim, norm, false),
        samples: several_samples,
    }
    /// The inverse of `fftn`.
    fn ifftn as fft_ifftn [out] (input: Tensor, s: Dims = (), dim: Dims = (), norm: OptText = None) -> Tensor {
        run: complex("ifftn", input, s, dim, norm, true),
        samples: several_samples,
    }
    /// `rfft` along the last of `dim`, then `fft` along the others.
    fn rfftn as fft_rfftn [out] (input: Tensor, s: Dims = (), dim: Dims = (), norm: OptText = None) -> Tensor {
        run: real_first("rfftn", input, s, dim, norm, false),
        samples: several_samples,
    }
    /// The inverse of `rfftn`.
    fn irfftn as fft_irfftn [out] (input: Tensor, s: Dims = (), dim: Dims = (), norm: OptText = None) -> Tensor {
        run: real_last("irfftn", input, s, dim, norm, true),
        samples: several_samples,
    }
    /// `fft` along all of `dim` but the last, then `hfft` along that.
    fn hfftn as fft_hfftn [out] (input: Tensor, s: Dims = (), dim: Dims = (), norm: OptText = None) -> Tensor {
        run: real_last("hfftn", input, s, dim, norm, false),
        samples: several_samples,
    }
    /// The inverse of `hfftn`.
    fn ihfftn as fft_ihfftn [out] (input: Tensor, s: Dims = (), dim: Dims = (), norm: OptText = None) -> Tensor {
        run: real_first("ihfftn", input, s, dim, norm, true),
        samples: several_samples,
    }
    /// `fftn` of the last two dimensions.
    fn fft2 as fft_fft2 [out] (input: Tensor, s: Dims = (), dim: Size = [-2i64, -1], norm: OptText = None) -> Tensor {
        run: complex("fft2", input, s, &two(dim), norm, false),
        samples: two_samples,
    }
    /// `ifftn` of the last two dimensions.
    fn ifft2 as fft_ifft2 [out] (input: Tensor, s: Dims = (), dim: Size = [-2i64, -1], norm: OptText = None) -> Tensor {
        run: complex("ifft2", input, s, &two(dim), norm, true),
        samples: two_samples,
    }
    /// `rfftn` of the last two dimensions.
    fn rfft2 as fft_rfft2 [out] (input: Tensor, s: Dims = (), dim: Size = [-2i64, -1], norm: OptText = None) -> Tensor {
        run: real_first("rfft2", input, s, &two(dim), norm, false),
        samples: two_samples,
    }
    /// `irfftn` of the last two dimensions.
    fn irfft2 as fft_irfft2 [out] (input: Tensor, s: Dims = (), dim: Size = [-2i64, -1], norm: OptText = None) -> Tensor {
        run: real_last("irfft2", input, s, &two(dim), norm, true),
        samples: two_samples,
    }
    /// `hfftn` of the last two dimensions.
    fn hfft2 as fft_hfft2 [out] (input: Tensor, s: Dims = (), dim: Size = [-2i64, -1], norm: OptText = None) -> Tensor {
        run: real_last("hfft2", input, s, &two(dim), norm, false),
        samples: two_samples,
    }
    /// `ihfftn` of the last two dimensions.
    fn ihfft2 as fft_ihfft2 [out] (input: Tensor, s: Dims = (), dim: Size = [-2i64, -1], norm: OptText = None) -> Tensor {
        run: real_first("ihfft2", input, s, &two(dim), norm, true),
        samples: two_samples,
    }
}

fn two(dim: &Size) -> Dims {
    Dims::List(dim.0.clone())
}

/// Each dimension with its length, `None` where it keeps its own.
fn plan(op: &'static str, x: &Tensor, s: &Dims, dim: &Dims) -> Result<Vec<(usize, Option<i64>)>> {
    let sizes: Option<Vec<i64>> = match s {
        Dims::All => None,
        Dims::List(list) => Some(list.iter().map(|n| *n as i64).collect()),
    };
    let dims: Vec<usize> = match (dim, &sizes) {
        (Dims::List(list), _) => list.iter().map(|d| axis(op, x, *d as i64)).collect::<Result<_>>()?,
        (Dims::All, None) => (0..x.dim()).collect(),
        (Dims::All, Some(sizes)) => {
            ensure!(
                sizes.len() <= x.dim(),
                Runtime,
                op,
                "{} lengths for a tensor of {} dimensions",
                sizes.len(),
                x.dim()
            );
            (x.dim() - sizes.len()..x.dim()).collect()
        }
    };
    for (k, d) in dims.iter().enumerate() {
        ensure!(!dims[..k].contains(d), Runtime, op, "dimension {d} is named twice");
    }
    let Some(sizes) = sizes else { return Ok(dims.into_iter().map(|d| (d, None)).collect()) };
    ensure!(
        sizes.len() == dims.len(),
        Runtime,
        op,
        "{} lengths for {} dimensions; there must be as many",
        sizes.len(),
        dims.len()
    );
    Ok(dims.into_iter().zip(sizes.into_iter().map(|n| if n == -1 { None } else { Some(n) })).collect())
}

fn one(
    op: &'static str,
    x: &Tensor,
    (dim, n): (usize, Option<i64>),
    norm: &Option<String>,
    inverse: bool,
) -> Result<Tensor> {
    let n = length(op, x, n, dim)?;
    along(&fitted(x, dim, n)?, dim, inverse, factor(op, norm, n, inverse)?)
}

fn complex(
    op: &'static str,
    x: &Tensor,
    s: &Dims,
    dim: &Dims,
    norm: &Option<String>,
    inverse: bool,
) -> Result<Tensor> {
    let plan = plan(op, x, s, dim)?;
    let x = as_complex(&promoted(op, x)?)?;
    plan.into_iter().rev().try_fold(x, |x, at| one(op, &x, at, norm, inverse))
}

fn real_first(
    op: &'static str,
    x: &Tensor,
    s: &Dims,
    dim: &Dims,
    norm: &Option<String>,
    inverse: bool,
) -> Result<Tensor> {
    let mut plan = plan(op, x, s, dim)?;
    let last = plan.pop();
    ensure!(last.is_some(), Runtime, op, "needs at least one dimension to transform");
    let (d, n) = last.unwrap_or((0, None));
    let half = real_to_complex(op, x, n, d as i64, norm, inverse)?;
    plan.into_iter().rev().try_fold(half, |x, at| one(op, &x, at, norm, inverse))
}

fn real_last(
    op: &'static str,
    x: &Tensor,
    s: &Dims,
    dim: &Dims,
    norm: &Option<String>,
    inverse: bool,
) -> Result<Tensor> {
    let mut plan = plan(op, x, s, dim)?;
    let last = plan.pop();
    ensure!(last.is_some(), Runtime, op, "needs at least one dimension to transform");
    let (d, n) = last.unwrap_or((0, None));
    let x = as_complex(&promoted(op, x)?)?;
    let x = plan.into_iter().rev().try_fold(x, |x, at| one(op, &x, at, norm, inverse))?;
    complex_to_real(op, &x, n, d as i64, norm, inverse)
}

fn several_samples() -> Vec<Sample> {
    let make = |shape: &[usize], s: Dims, dim: Dims| {
        let args = smallvec![
            Value::Tensor(samples::values(shape, 3).ok()?),
            Value::Dims(s),
            Value::Dims(dim),
            Value::OptText(None)
        ];
        Some(Sample { args, grad: false })
    };
    let list = |l: &[isize]| Dims::List(l.iter().copied().collect());
    [
        make(&[3, 4], Dims::All, Dims::All),
        make(&[2, 3, 4], list(&[5, 2]), list(&[0, -1])),
        make(&[2, 3], list(&[4, 3]), Dims::All),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn two_samples() -> Vec<Sample> {
    let args = |x: Tensor| {
        smallvec![
            Value::Tensor(x),
            Value::Dims(Dims::All),
            Value::Size([-2i64, -1].into()),
            Value::OptText(None)
        ]
    };
    samples::values(&[2, 3, 4], 3).into_iter().map(|x| Sample { args: args(x), grad: false }).collect()
}
