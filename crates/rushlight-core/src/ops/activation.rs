//! Activation functions.
//!
//! Where a derived gradient would overflow in the branch not taken, the row gives its own.

use crate::Tensor;
use crate::program::Scalar;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

pointwise! { ACTIVATION;
    /// `max(input, 0)`; the gradient at 0 is 0.
    fn relu, inplace relu_ (input) Promote except bool complex = |x| x[0].relu();
    /// `1 / (1 + exp(-input))`.
    fn sigmoid, inplace sigmoid_ (input) Float = |x| x[0].sigmoid();
    /// `input * sigmoid(input)`.
    fn silu, inplace silu_ (input) Float except bool int = |x| x[0] * x[0].sigmoid(),
        grad |x, _y, g| vec![{ let s = x[0].sigmoid(); g * s * (1.0 + x[0] * (1.0 - s)) }];
    /// `input * P(X <= input)` for a standard normal X, by the error function.
    fn gelu (input) Float except bool int complex = |x| x[0] * (x[0] * FRAC_1_SQRT_2).erf().mul_add_half(),
        grad |x, _y, g| vec![{
            let cdf = (x[0] * FRAC_1_SQRT_2).erf().mul_add_half();
            g * (cdf + x[0] * (x[0] * x[0] * -0.5).exp() * (1.0 / (2.0 * PI).sqrt()))
        }];
    /// `gelu` by the hyperbolic tangent instead of the error function.
    fn gelu_tanh as internal (input) Float except bool int complex = |x| {
        let inner = (x[0] + x[0] * x[0] * x[0] * 0.044_715) * (2.0 / PI).sqrt();
        x[0] * 0.5 * (1.0 + inner.tanh())
    };
    /// `input` where positive, `negative_slope * input` elsewhere.
    fn leaky_relu, inplace leaky_relu_ (input; negative_slope = 0.01) Promote except bool int complex = |x| x[0].gt(0.0).select(x[0], x[0] * x[1]);
    /// `input` where positive, `alpha * (exp(input) - 1)` elsewhere.
    fn elu, inplace elu_ (input; alpha = 1.0) Float except bool int complex = |x| x[0].gt(0.0).select(x[0], x[0].expm1() * x[1]),
        grad |x, _y, g| vec![x[0].gt(0.0).select(g, g * x[1] * x[0].minimum(0.0).exp())];
    /// `log(1 + exp(beta * input)) / beta`; the input itself where `beta * input > threshold`.
    fn softplus (input; beta = 1.0, threshold = 20.0) Float except bool int complex = |x| {
        let z = x[0] * x[1];
        z.gt(x[2]).select(x[0], z.minimum(x[2]).exp().log1p() / x[1])
    }, grad |x, _y, g| vec![{ let z = x[0] * x[1]; z.gt(x[2]).select(g, g * z.sigmoid()) }];
    /// `log(sigmoid(input))`, exact for large negative inputs.
    fn logsigmoid (input) Float except bool int complex = |x| x[0].minimum(0.0) - (-x[0].abs()).exp().log1p(),
        grad |x, _y, g| vec![g * (-x[0]).sigmoid()];
    /// `input * tanh(softplus(input))`.
    fn mish (input) Float except bool int complex = |x| x[0] * x[0].gt(20.0).select(x[0], x[0].minimum(20.0).exp().log1p()).tanh(),
        grad |x, _y, g| vec![{
            let t = x[0].gt(20.0).select(x[0], x[0].minimum(20.0).exp().log1p()).tanh();
            g * (t + x[0] * (1.0 - t * t) * x[0].sigmoid())
        }];
    /// `input` clipped to `[min_val, max_val]`; the gradient at a bound is 0.
    fn hardtanh, inplace hardtanh_ (input; min_val = -1.0, max_val = 1.0) Promote except bool complex = |x| x[0].maximum(x[1]).minimum(x[2]),
        grad |x, _y, g| vec![(x[0].le(x[1]) | x[0].ge(x[2])).select(0.0, g)];
    /// `relu` that stops at 6.
    fn relu6 (input) Promote except bool complex = |x| x[0].maximum(0.0).minimum(6.0),
        grad |x, _y, g| vec![(x[0].le(0.0) | x[0].ge(6.0)).select(0.0, g)];
    /// `relu6(input + 3) / 6`.
    fn hardsigmoid (input) Promote except bool int complex = |x| (x[0] + 3.0).maximum(0.0).minimum(6.0) / 6.0,
        grad |x, _y, g| vec![(x[0].le(-3.0) | x[0].ge(3.0)).select(0.0, g / 6.0)];
    /// `input / (1 + |input|)`.
    fn softsign (input) Float except bool int complex = |x| x[0] / (1.0 + x[0].abs());
    /// `max(0, input) + min(0, alpha * (exp(input / alpha) - 1))`.
    fn celu, inplace celu_ (input; alpha = 1.0) Float except bool int complex = |x| {
        x[0].gt(0.0).select(x[0], x[1] * (x[0].minimum(0.0) / x[1]).expm1())
    }, grad |x, _y, g| vec![x[0].gt(0.0).select(g, g * (x[0].minimum(0.0) / x[1]).exp())];
    /// `elu` scaled so that unit variance stays (Klambauer et al. 2017).
    fn selu, inplace selu_ (input) Float except bool int complex = |x| {
        x[0].gt(0.0).select(x[0] * SELU_SCALE, x[0].minimum(0.0).expm1() * (SELU_SCALE * SELU_ALPHA))
    }, grad |x, _y, g| vec![
        x[0].gt(0.0).select(g * SELU_SCALE, g * x[0].minimum(0.0).exp() * (SELU_SCALE * SELU_ALPHA))
    ];
    /// 0 where `|input| <= lambd`.
    fn hardshrink (input; lambd = 0.5) Promote except bool int complex = |x| x[0].abs().le(x[1]).select(0.0, x[0]);
    /// `input` moved by `lambd` towards 0, and 0 within it.
    fn softshrink_of as internal (input; lambd = 0.5) Promote except bool int complex = |x| {
        x[0].gt(x[1]).select(x[0] - x[1], x[0].lt(-x[1]).select(x[0] + x[1], x[0] * 0.0))
    }, grad |x, _y, g| vec![x[0].abs().le(x[1]).select(0.0, g)];
    /// `input * relu6(input + 3) / 6`.
    fn hardswish, inplace hardswish_ (input) Promote except bool int complex = |x| x[0] * (x[0] + 3.0).maximum(0.0).minimum(6.0) / 6.0,
        grad |x, _y, g| vec![x[0].le(-3.0).select(0.0, x[0].lt(3.0).select(g * (x[0] / 3.0 + 0.5), g))];
    /// `input` where it is above `threshold`, else `value`.
    fn threshold, inplace threshold_ (input; threshold = 0.0, value = 0.0) Promote except bool complex = |x| x[0].le(x[1]).select(x[2], x[0]),
        grad |x, _y, g| vec![x[0].le(x[1]).select(0.0, g)];
    /// `input - tanh(input)`.
    fn tanhshrink (input) Float except bool int = |x| x[0] - x[0].tanh();
}

/// The constants that keep mean 0 and variance 1.
const SELU_ALPHA: f64 = 1.673_263_242_354_377_2;
const SELU_SCALE: f64 = 1.050_700_987_355_480_5;

/// Rows that look at shapes or draw numbers.
pub mod shaped {
    use super::*;
    use crate::op::{Sample, Value, samples};
    use crate::random::Generator;
    use crate::{Number, Result, ensure};
    use smallvec::smallvec;

    ops! { SHAPED;
        /// `input` moved by `lambd` towards 0, and 0 within it.
        fn softshrink (input: Tensor, lambd: Number = 0.5) -> Tensor {
            run: { ensure!(lambd.to_f64() >= 0.0, Runtime, "softshrink", "lambd {} must not be negative", lambd.to_f64()); input.softshrink_of(*lambd).map_err(|e| e.in_op("softshrink")) },
            samples: shrink_samples,
        }
        /// `input` where positive, else times `weight`: one, or one for each channel (dimension 1).
        fn prelu (input: Tensor, weight: Tensor) -> Tensor {
            run: super::prelu(input, weight),
            samples: prelu_samples,
        }
        /// `leaky_relu` with a slope drawn for each element from `[lower, upper]` in training, else of
        /// their mean.
        fn rrelu, inplace rrelu_ (input: Tensor, lower: Float = 0.125, upper: Float = 0.333_333_333_333_333_3, training: Bool = false, generator: OptGenerator = None) -> Tensor {
            run: super::rrelu(input, (*lower, *upper), *training, generator.as_ref()),
            samples: rrelu_samples,
        }
        /// One half of `dim` times the sigmoid of the other.
        fn glu (input: Tensor, dim: Int = -1) -> Tensor {
            run: super::glu(input, *dim),
            samples: glu_samples,
        }
    }

    fn prelu(x: &Tensor, weight: &Tensor) -> Result<Tensor> {
        ensure!(
            x.dtype() == weight.dtype(),
            Runtime,
            "prelu",
            "the input holds {}, the weight {}",
            x.dtype(),
            weight.dtype()
        );
        let channels = if x.dim() > 1 { x.shape()[1] } else { 1 };
        ensure!(
            weight.dim() <= 1 && (weight.numel() == 1 || weight.numel() == channels),
            Runtime,
            "prelu",
            "a weight of shape {:?} does not fit the {channels} channels of shape {:?}",
            weight.shape(),
            x.shape()
        );
        let mut shape = vec![1i64; x.dim()];
        if x.dim() > 1 {
            shape[1] = weight.numel() as i64;
        }
        let weight = weight.reshape(shape.as_slice())?;
        Tensor::where_cond(&x.gt(0)?, x, &x.mul(&weight)?)
    }

    fn rrelu(
        x: &Tensor,
        (lower, upper): (f64, f64),
        training: bool,
        generator: Option<&Generator>,
    ) -> Result<Tensor> {
        ensure!(
            lower <= upper && lower.is_finite() && upper.is_finite(),
            Runtime,
            "rrelu",
            "the slopes {lower} to {upper} are no range of finite numbers"
        );
        if !training {
            return x.leaky_relu((lower + upper) / 2.0);
        }
        let slope = Tensor::rand_with(x.shape(), Some(x.dtype()), Some(x.device()), generator)?;
        let slope = slope.mul(upper - lower)?.add(lower)?;
        Tensor::where_cond(&x.le(0)?, &x.mul(&slope)?, x)
    }

    fn glu(x: &Tensor, dim: i64) -> Result<Tensor> {
        ensure!(x.dim() > 0, Runtime, "glu", "a 0-d tensor has no halves");
        let d = crate::layout::dim_index("glu", dim as isize, x.dim())?;
        let n = x.shape()[d];
        ensure!(
            n.is_multiple_of(2),
            Runtime,
            "glu",
            "dimension {d} has size {n}; it must be even to have halves"
        );
        let half = |k: usize| x.narrow(d as i64, (k * n / 2) as i64, (n / 2) as i64);
        Tensor::pointwise([&half(0)?, &half(1)?], |[a, b]| a * b.sigmoid())
    }

    fn with(shapes: &[&[usize]], rest: impl Fn() -> Vec<Value>, grad: bool) -> Vec<Sample> {
        let one = |s: &&[usize]| {
            let mut args: crate::op::Args = smallvec![Value::Tensor(samples::values(s, 3).ok()?)];
            args.extend(rest());
            Some(Sample { args, grad })
        };
        shapes.iter().filter_map(one).collect()
    }
    fn shrink_samples() -> Vec<Sample> {
        with(&[&[3, 4], &[], &[0, 2]], || vec![Value::Number(Number::Float(0.3))], true)
    }
    fn prelu_samples() -> Vec<Sample> {
        let weight =
            |n: usize| samples::values(&[n], 7).ok().map(Value::Tensor).into_iter().collect::<Vec<_>>();
        let mut all = with(&[&[3, 4], &[5], &[], &[0, 2]], || weight(1), true);
        all.extend(with(&[&[2, 3, 2], &[2, 3]], || weight(3), true));
        all
    }
    fn rrelu_samples() -> Vec<Sample> {
        with(
            &[&[3, 4], &[]],
            || vec![Value::Float(0.1), Value::Float(0.3), Value::Bool(false), Value::OptGenerator(None)],
            true,
        )
    }
    fn glu_samples() -> Vec<Sample> {
        let mut all = with(&[&[3, 4], &[2], &[0, 2]], || vec![Value::Int(-1)], true);
        all.extend(with(&[&[4, 3, 1]], || vec![Value::Int(0)], true));
        all
    }
}

impl Scalar {
    /// `0.5 * (1 + self)`: half of both activation formulas above.
    fn mul_add_half(self) -> Scalar {
        self * 0.5 + 0.5
    }
}
