//! Numbers drawn from distributions, beyond the uniform and normal ones of `create`.

use super::create::overwrite;
use crate::op::Sample;
use crate::random::{Generator, default_generator};
use crate::{DType, Device, Result, Tensor, ensure, exec};
use rand::RngExt;
use rand_distr::{Binomial, Distribution, Gamma, Poisson, StandardNormal};
use smallvec::smallvec;

ops! { CHANCE;
    /// Overwrites the tensor with numbers of the exponential distribution of rate `lambd`.
    fn exponential_ / exponential_with_ (input: Tensor, lambd: Float = 1.0; generator: OptGenerator = None) -> Tensor {
        mutates: exponential(input, *lambd, generator),
        samples: no_samples,
    }
    /// Overwrites the tensor with numbers whose logarithms are normally distributed.
    fn log_normal_ / log_normal_with_ (input: Tensor, mean: Float = 1.0, std: Float = 2.0; generator: OptGenerator = None) -> Tensor {
        mutates: log_normal(input, *mean, *std, generator),
        samples: no_samples,
    }
    /// Overwrites the tensor with numbers of the Cauchy distribution around `median`.
    fn cauchy_ / cauchy_with_ (input: Tensor, median: Float = 0.0, sigma: Float = 1.0; generator: OptGenerator = None) -> Tensor {
        mutates: cauchy(input, *median, *sigma, generator),
        samples: no_samples,
    }
    /// Overwrites the tensor with how many draws of chance `p` it takes until one succeeds: at least 1.
    fn geometric_ / geometric_with_ (input: Tensor, p: Float; generator: OptGenerator = None) -> Tensor {
        mutates: geometric(input, *p, generator),
        samples: no_samples,
    }
    /// For each rate in `input`, a number of the Poisson distribution; same dtype. Its gradient is 0.
    fn poisson / poisson_with (input: Tensor; generator: OptGenerator = None) -> Tensor {
        run: super::poisson(input, generator),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.info(0)?.zeros()?)]),
        samples: no_samples,
    }
    /// For each shape in `input`, a number of the gamma distribution of rate 1; same dtype. The gradient is
    /// that of a draw whose place in the distribution is kept (Figurnov et al. 2018).
    fn standard_gamma as _standard_gamma / standard_gamma_with (input: Tensor; generator: OptGenerator = None) -> Tensor {
        run: gamma(input, generator),
        grad: [reads inputs 0; outputs 0] |cx| {
            Ok(smallvec![Some(cx.grad(0)?.mul(&cx.input(0)?.standard_gamma_grad(cx.output(0)?)?)?)])
        },
        samples: no_samples,
    }
    /// How many of `count` draws of chance `prob` succeed; both broadcast and hold floats of one
    /// dtype. Its gradient is 0.
    fn binomial / binomial_with (count: Tensor, prob: Tensor; generator: OptGenerator = None) -> Tensor {
        run: super::binomial(count, prob, generator),
        grad: [reads inputs; outputs] |cx| Ok(smallvec![Some(cx.info(0)?.zeros()?), Some(cx.info(1)?.zeros()?)]),
        samples: no_samples,
    }
}

fn exponential(x: &Tensor, rate: f64, generator: &Option<Generator>) -> Result<Tensor> {
    let op = "exponential_";
    ensure!(rate > 0.0, Runtime, op, "lambd = {rate} must be positive");
    overwrite(op, x, generator, |rng| -(-rng.random::<f64>()).ln_1p() / rate)
}

fn log_normal(x: &Tensor, mean: f64, std: f64, generator: &Option<Generator>) -> Result<Tensor> {
    let op = "log_normal_";
    ensure!(std > 0.0, Runtime, op, "std = {std} must be positive");
    overwrite(op, x, generator, |rng| {
        let z: f64 = StandardNormal.sample(rng);
        (mean + std * z).exp()
    })
}

fn cauchy(x: &Tensor, median: f64, sigma: f64, generator: &Option<Generator>) -> Result<Tensor> {
    let op = "cauchy_";
    ensure!(sigma > 0.0, Runtime, op, "sigma = {sigma} must be positive");
    overwrite(op, x, generator, |rng| {
        median + sigma * (std::f64::consts::PI * (rng.random::<f64>() - 0.5)).tan()
    })
}

fn geometric(x: &Tensor, p: f64, generator: &Option<Generator>) -> Result<Tensor> {
    let op = "geometric_";
    ensure!(p > 0.0 && p < 1.0, Runtime, op, "p = {p} does not lie between 0 and 1");
    ensure!(
        x.dtype() != DType::Bool && !x.dtype().is_complex(),
        NotImplemented,
        op,
        "is not defined for {}",
        x.dtype()
    );
    exec::check_self_overlap(op, x)?;
    if x.device() == Device::META {
        return Ok(x.clone());
    }
    let tries = Tensor::empty_with(x.shape(), Some(DType::F64), Some(x.device()))?;
    let lost = (-p).ln_1p();
    overwrite(op, &tries, generator, |rng| ((-rng.random::<f64>()).ln_1p() / lost).ceil().max(1.0))?;
    exec::copy(x, &tries)?;
    Ok(x.clone())
}

/// One draw for each element of float64 values, in the dtype asked for.
fn each(
    op: &'static str,
    values: &Tensor,
    dtype: DType,
    generator: &Option<Generator>,
    draw: impl Fn(&mut rand_chacha::ChaCha8Rng, usize, f64) -> Result<f64>,
) -> Result<Tensor> {
    let list = values.detach()?.to_dtype(DType::F64)?.to_vec::<f64>().map_err(|e| e.in_op(op))?;
    let generator = generator.as_ref().unwrap_or(default_generator());
    let drawn: Result<Vec<f64>> =
        generator.with(|rng| list.iter().enumerate().map(|(i, x)| draw(rng, i, *x)).collect());
    Tensor::from_vec(drawn?, values.shape())?.to_dtype(dtype)?.to_device(values.device())
}

fn poisson(x: &Tensor, generator: &Option<Generator>) -> Result<Tensor> {
    let op = "poisson";
    ensure!(
        x.dtype().is_float(),
        NotImplemented,
        op,
        "takes floats, not {}; convert with to_dtype",
        x.dtype()
    );
    if x.device() == Device::META {
        return Tensor::empty_with(x.shape(), Some(x.dtype()), Some(Device::META));
    }
    each(op, x, x.dtype(), generator, |rng, _, rate| {
        if rate == 0.0 {
            return Ok(0.0);
        }
        match Poisson::new(rate) {
            Ok(law) => Ok(law.sample(rng)),
            Err(_) => Err(crate::err!(Runtime, op, "a rate of {rate} is negative, not finite, or too large")),
        }
    })
}

fn gamma(x: &Tensor, generator: &Option<Generator>) -> Result<Tensor> {
    let op = "_standard_gamma";
    ensure!(x.dtype().is_float(), NotImplemented, op, "takes floats, not {}", x.dtype());
    if x.device() == Device::META {
        return Tensor::empty_with(x.shape(), Some(x.dtype()), Some(Device::META));
    }
    let drawn = each(op, x, DType::F64, generator, |rng, _, shape| {
        if shape.is_nan() {
            return Ok(f64::NAN);
        }
        match Gamma::new(shape, 1.0) {
            Ok(law) => Ok(law.sample(rng)),
            Err(_) => Err(crate::err!(Runtime, op, "a shape of {shape} is not positive")),
        }
    })?;
    // Small shapes give numbers below all that the dtype has; 0 would have no logarithm.
    let least = if x.dtype() == DType::F64 { f64::MIN_POSITIVE } else { f64::from(f32::MIN_POSITIVE) };
    drawn.clamp_min(least)?.to_dtype(x.dtype())
}

fn binomial(count: &Tensor, prob: &Tensor, generator: &Option<Generator>) -> Result<Tensor> {
    let op = "binomial";
    for (name, t) in [("count", count), ("prob", prob)] {
        ensure!(t.dtype().is_float(), Value, op, "{name} must hold floats, not {}", t.dtype());
    }
    ensure!(
        count.dtype() == prob.dtype(),
        Runtime,
        op,
        "count holds {}, prob {}",
        count.dtype(),
        prob.dtype()
    );
    exec::common_device(op, [count, prob])?;
    let shape = crate::layout::broadcast_shapes(op, &[count.shape(), prob.shape()])?;
    if count.device() == Device::META {
        return Tensor::empty_with(&shape, Some(count.dtype()), Some(Device::META));
    }
    let chances = prob.detach()?.to_dtype(DType::F64)?.expand(&shape)?.to_vec::<f64>()?;
    each(op, &count.detach()?.expand(&shape)?, count.dtype(), generator, |rng, i, n| {
        let p = chances[i];
        if n.is_nan() || p.is_nan() {
            return Ok(f64::NAN);
        }
        // Out of range what is impossible counts as certain or never, as in torch.
        let (n, p) = (n.clamp(0.0, 9e15) as u64, p.clamp(0.0, 1.0));
        match Binomial::new(n, p) {
            Ok(law) => Ok(law.sample(rng) as f64),
            Err(_) => Err(crate::err!(Runtime, op, "{n} draws of chance {p} cannot be made")),
        }
    })
}

/// Contents depend on chance: tests of their own look at these.
fn no_samples() -> Vec<Sample> {
    Vec::new()
}
