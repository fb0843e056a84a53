//! Numbers taken apart, cleaned up and compared by their bits; and special functions whose
//! parameters are checked first.

use crate::op::{Operand, Sample, Value, samples};
use crate::program::Special as S;
use crate::{Category, DType, Number, Result, Tensor, bail, ensure};
use smallvec::smallvec;
use std::f64::consts::PI;

pointwise! { NUMERIC;
    /// `values` where `input` is 0, else 0 below it and 1 above.
    fn heaviside_of as internal (input, values) Promote except complex = |x| x[0].eq(0.0).select(x[1], x[0].gt(0.0));
    /// The next float after `input` on the way to `other`.
    fn next_after as internal (input, other) Promote except bool int complex = |x| S::NextAfter.of2(x[0], x[1]);
    /// The same among bfloat16.
    fn next_after_short as internal (input, other) Promote except bool int complex = |x| S::NextAfterShort.of2(x[0], x[1]);
    /// The same among float16.
    fn next_after_half as internal (input, other) Promote except bool int complex = |x| S::NextAfterHalf.of2(x[0], x[1]);
    /// The greatest common divisor, not negative.
    fn gcd, inplace gcd_ (input, other) Promote except number bool float complex = |x| S::Gcd.of2(x[0], x[1]);
    /// The least common multiple, not negative.
    fn lcm, inplace lcm_ (input, other) Promote except number bool float complex = |x| S::Lcm.of2(x[0], x[1]);
    /// `input * 2^other`.
    fn ldexp, inplace ldexp_ (input, other) Float except number complex = |x| x[0] * x[1].exp2();
    /// Degrees as radians.
    fn deg2rad, inplace deg2rad_ (input) Float except complex = |x| x[0] * (PI / 180.0);
    /// Radians as degrees.
    fn rad2deg, inplace rad2deg_ (input) Float except complex = |x| x[0] * (180.0 / PI);
    /// Whether positive infinity.
    fn isposinf_of as internal (input) Truth except complex = |x| x[0].isinf() & x[0].gt(0.0);
    /// Whether negative infinity.
    fn isneginf_of as internal (input) Truth except complex = |x| x[0].isinf() & x[0].lt(0.0);
    /// Whether below 0, by the sign bit.
    fn signbit_of as internal (input) Truth except bool int complex = |x| x[0].is_negative();
    /// The part in [1/2, 1).
    fn mantissa as internal (input) Promote except bool int complex = |x| S::Mantissa.of(x[0]);
    /// The power of 2 that belongs to `mantissa`.
    fn exponent as internal (input) Promote except bool int complex = |x| S::Exponent.of(x[0]);
    /// NaN and infinities replaced.
    fn finite_of as internal (input; nan = 0.0, posinf = f64::MAX, neginf = f64::MIN) Promote except bool int complex = |x| {
        let kept = x[0].eq(f64::NEG_INFINITY).select(x[3], x[0]);
        x[0].isnan().select(x[1], x[0].eq(f64::INFINITY).select(x[2], kept))
    };
}

/// Rows that check or choose first.
pub mod checked {
    use super::*;

    ops! { CHECKED;
        /// `values` where `input` is 0, else 0 below it and 1 above; both of one dtype. NaN counts as
        /// below. It has no derivative.
        fn heaviside, inplace heaviside_ [out] (input: Tensor, values: Tensor) -> Tensor {
            run: super::super::heaviside(input, values),
            samples: pair_samples,
        }
        /// The next float after `input` on the way to `other`, of their dtype.
        fn nextafter, inplace nextafter_ [out casts] (input: Tensor, other: Tensor) -> Tensor {
            run: next(input, other),
            grad: [reads inputs 0 1; outputs] |cx| {
                let (g, same) = (cx.grad(0)?, cx.input(0)?.eq(&cx.input(1)?)?);
                let zero = Tensor::full_as(&g, Number::Int(0))?;
                let own = crate::grad::sum_to(&Tensor::where_cond(&same, &zero, &g)?, &cx.info(0)?.shape)?;
                let other = crate::grad::sum_to(&Tensor::where_cond(&same, &g, &zero)?, &cx.info(1)?.shape)?;
                Ok(smallvec![cx.needs(0).then_some(own), cx.needs(1).then_some(other)])
            },
            samples: neighbour_samples,
        }
        /// Whether the sign bit is set: of negative numbers and of -0.0.
        fn signbit [out] (input: Tensor) -> Tensor {
            run: super::super::signbit(input),
            samples: plain_samples,
        }
        /// Whether positive infinity.
        fn isposinf [out] (input: Tensor) -> Tensor {
            run: real("isposinf", input)?.isposinf_of(),
            samples: plain_samples,
        }
        /// Whether negative infinity.
        fn isneginf [out] (input: Tensor) -> Tensor {
            run: real("isneginf", input)?.isneginf_of(),
            samples: plain_samples,
        }
        /// Whether the imaginary part is 0.
        fn isreal (input: Tensor) -> Tensor {
            run: super::super::isreal(input),
            samples: plain_samples,
        }
        /// The nearest number with so many decimals (integer, unless told), ties to even; with a negative
        /// count the nearest multiple of a power of 10.
        fn round / round_with, inplace round_ [out casts] (input: Tensor; decimals: Int = 0) -> Tensor {
            run: super::super::round(input, *decimals).map_err(|e| e.in_op("round")),
            samples: round_samples,
        }
        /// `input` as a mantissa in [1/2, 1) and a power of 2 (int32).
        fn frexp (input: Tensor) -> (Tensor, Tensor) [mantissa exponent] {
            run: super::super::frexp(input),
            samples: float_samples,
        }
        /// `input^exponent` in double precision.
        fn float_power [out] (input: Tensor, exponent: Operand) -> Tensor {
            run: super::super::float_power(&Operand::Tensor(input.clone()), exponent),
            samples: power_samples,
        }
        /// `float_power`, written over the tensor, which must have double precision already.
        fn float_power_ (input: Tensor, exponent: Operand) -> Tensor {
            run: float_power_over(input, exponent),
            samples: power_samples,
        }
        /// A number to the power of a tensor, in double precision.
        fn float_power_of as float_power (base: Number, exponent: Tensor) -> Tensor {
            run: super::super::float_power(&Operand::Number(*base), &Operand::Tensor(exponent.clone())),
            samples: base_samples,
        }
        /// NaN, inf and -inf replaced, by 0 and the largest and smallest numbers of the dtype unless given.
        fn nan_to_num, inplace nan_to_num_ [out] (input: Tensor, nan: OptFloat = None, posinf: OptFloat = None, neginf: OptFloat = None) -> Tensor {
            run: super::super::nan_to_num(input, *nan, *posinf, *neginf),
            samples: clean_samples,
        }
        /// `log(input / (1 - input))`, with `input` first moved into `[eps, 1 - eps]` where `eps` is given.
        fn logit as logit | special_logit, inplace logit_ [out] (input: Tensor, eps: OptFloat = None) -> Tensor {
            run: match eps { None => input.log_odds(), Some(eps) => input.log_odds_within(*eps) }.map_err(|e| e.in_op("logit")),
            samples: logit_samples,
        }
        /// The derivative of order `n` of `digamma`.
        fn polygamma, inplace polygamma_ (input: Tensor, n: Int) -> Tensor {
            run: super::super::polygamma(*n, input),
            samples: polygamma_samples,
        }
        /// The derivative of order `n` of `digamma`.
        fn polygamma_of as polygamma | special_polygamma [out] (n: Int, input: Tensor) -> Tensor {
            run: super::super::polygamma(*n, input),
            samples: no_samples,
        }
        /// The logarithm of the multivariate gamma function of dimension `p` (DLMF 35.3.1).
        fn mvlgamma as mvlgamma | special_multigammaln, inplace mvlgamma_ [out] (input: Tensor, p: Int) -> Tensor {
            run: super::super::mvlgamma(input, *p),
            samples: mvlgamma_samples,
        }
    }
}

fn heaviside(x: &Tensor, values: &Tensor) -> Result<Tensor> {
    ensure!(
        !x.dtype().is_complex() && !values.dtype().is_complex(),
        NotImplemented,
        "heaviside",
        "complex numbers have no order"
    );
    ensure!(
        x.dtype() == values.dtype(),
        Runtime,
        "heaviside",
        "the input holds {}, the values {}; convert them to one dtype",
        x.dtype(),
        values.dtype()
    );
    x.heaviside_of(values).map_err(|e| e.in_op("heaviside"))
}

fn next(x: &Tensor, other: &Tensor) -> Result<Tensor> {
    let common =
        crate::op::result_type(&[crate::op::OperandRef::Tensor(x), crate::op::OperandRef::Tensor(other)])?;
    match common {
        DType::F16 => x.next_after_half(other),
        DType::BF16 => x.next_after_short(other),
        _ => x.next_after(other),
    }
    .map_err(|e| e.in_op("nextafter"))
}

fn signbit(x: &Tensor) -> Result<Tensor> {
    match x.dtype().category() {
        Category::Float => x.signbit_of(),
        Category::Complex => bail!(Runtime, "signbit", "complex numbers have no sign"),
        Category::Bool => x.ne(x),
        Category::Int => x.lt(0),
    }
}

fn real<'a>(op: &'static str, x: &'a Tensor) -> Result<&'a Tensor> {
    ensure!(!x.dtype().is_complex(), Type, op, "complex numbers have no order; look at real and imag");
    Ok(x)
}

fn isreal(x: &Tensor) -> Result<Tensor> {
    if x.dtype().is_complex() { x.imag()?.eq(0) } else { Tensor::ones_like_with(x, Some(DType::Bool), None) }
}

fn round(x: &Tensor, decimals: i64) -> Result<Tensor> {
    if decimals == 0 {
        return x.round_whole();
    }
    ensure!(x.dtype().is_float(), NotImplemented, "round", "{} has no decimals", x.dtype());
    let ten = 10f64.powi(decimals.unsigned_abs().min(400) as i32);
    if decimals > 0 { x.mul(ten)?.round_whole()?.div(ten) } else { x.div(ten)?.round_whole()?.mul(ten) }
}

fn frexp(x: &Tensor) -> Result<(Tensor, Tensor)> {
    ensure!(x.dtype().is_float(), Runtime, "frexp", "takes floats, not {}", x.dtype());
    Ok((x.mantissa()?, x.detach()?.exponent()?.to_dtype(DType::I32)?))
}

fn float_power(base: &Operand, exponent: &Operand) -> Result<Tensor> {
    let complex = |o: &Operand| match o {
        Operand::Tensor(t) => t.dtype().is_complex(),
        Operand::Number(n) => n.category() == Category::Complex,
    };
    let wide = if complex(base) || complex(exponent) { DType::C128 } else { DType::F64 };
    let widened = |o: &Operand| match o {
        Operand::Tensor(t) => t.to_dtype(wide),
        Operand::Number(n) => Tensor::scalar_of(*n, wide, crate::Device::CPU),
    };
    let device = [base, exponent].iter().find_map(|o| match o {
        Operand::Tensor(t) => Some(t.device()),
        Operand::Number(_) => None,
    });
    let exponent: Operand = match exponent {
        Operand::Number(n) => Operand::Number(*n),
        tensor => Operand::Tensor(widened(tensor)?),
    };
    let base = widened(base)?;
    device.map_or(Ok(base.clone()), |d| base.to_device(d))?.pow(exponent).map_err(|e| e.in_op("float_power"))
}

fn float_power_over(x: &Tensor, exponent: &Operand) -> Result<Tensor> {
    let result = float_power(&Operand::Tensor(x.copy()?), exponent)?;
    ensure!(
        result.dtype() == x.dtype(),
        Runtime,
        "float_power_",
        "the result holds {}, the tensor {}; convert it first",
        result.dtype(),
        x.dtype()
    );
    x.copy_(&result)
}

fn nan_to_num(x: &Tensor, nan: Option<f64>, posinf: Option<f64>, neginf: Option<f64>) -> Result<Tensor> {
    let dtype = x.dtype();
    if dtype.is_complex() {
        let part = |p: Tensor| nan_to_num(&p, nan, posinf, neginf);
        return Tensor::stack(&[&part(x.real()?)?, &part(x.imag()?)?], -1)?.view_as_complex();
    }
    if dtype.is_integral() {
        return x.copy();
    }
    let high = dtype.largest_float().unwrap_or(f64::MAX);
    x.finite_of(nan.unwrap_or(0.0), posinf.unwrap_or(high), neginf.unwrap_or(-high))
        .map_err(|e| e.in_op("nan_to_num"))
}

fn polygamma(n: i64, x: &Tensor) -> Result<Tensor> {
    ensure!(n >= 0, Runtime, "polygamma", "the order {n} is negative");
    Tensor::derived_digamma(n, x).map_err(|e| e.in_op("polygamma"))
}

fn mvlgamma(x: &Tensor, p: i64) -> Result<Tensor> {
    ensure!(p >= 1, Runtime, "mvlgamma", "the dimension {p} must be at least 1");
    let steps = Tensor::arange_with(0, p, 1, Some(DType::I64), Some(x.device()))?.mul(0.5)?;
    let steps = if x.dtype().is_float() { steps.to_dtype(x.dtype())? } else { steps };
    let fixed = p as f64 * (p - 1) as f64 / 4.0 * PI.ln();
    x.unsqueeze(-1)?.sub(&steps)?.lgamma()?.sum(-1, false)?.add(fixed)
}

fn tensors(list: &[Tensor]) -> Sample {
    Sample { args: list.iter().cloned().map(Value::Tensor).collect(), grad: false }
}

fn plain(shapes: &[&[usize]]) -> Vec<Tensor> {
    shapes.iter().filter_map(|s| samples::values(s, 3).ok()).collect()
}

fn plain_samples() -> Vec<Sample> {
    let special = Tensor::from_vec(vec![0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.5], [2, 3]);
    plain(&[&[2, 3], &[], &[0, 2]]).into_iter().chain(special).map(|t| tensors(&[t])).collect()
}

fn float_samples() -> Vec<Sample> {
    plain(&[&[2, 3], &[], &[0, 2]])
        .into_iter()
        .map(|t| Sample { args: smallvec![Value::Tensor(t)], grad: true })
        .collect()
}

fn round_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for decimals in [0, 1, -1] {
        all.extend(with(|| vec![Value::Int(decimals)], false, Ok));
    }
    all
}

fn pair_samples() -> Vec<Sample> {
    let x = Tensor::from_vec(vec![0.0, -1.0, 2.0, -0.0, f64::NAN, 0.0], [2, 3]);
    let pairs = [
        (x.ok(), samples::values(&[2, 3], 1).ok()),
        (samples::values(&[0, 2], 1).ok(), samples::values(&[2], 2).ok()),
    ];
    pairs.into_iter().filter_map(|(a, b)| Some(tensors(&[a?, b?]))).collect()
}

fn neighbour_samples() -> Vec<Sample> {
    let pair =
        |a: &[usize], b: &[usize]| Some(tensors(&[samples::values(a, 1).ok()?, samples::values(b, 4).ok()?]));
    [pair(&[2, 3], &[3]), pair(&[], &[]), pair(&[0], &[1])].into_iter().flatten().collect()
}

fn with(value: impl Fn() -> Vec<Value>, grad: bool, of: impl Fn(Tensor) -> Result<Tensor>) -> Vec<Sample> {
    plain(&[&[2, 3], &[], &[0, 2]])
        .into_iter()
        .filter_map(|t| {
            let mut args = crate::op::Args::new();
            args.push(Value::Tensor(of(t).ok()?));
            args.extend(value());
            Some(Sample { args, grad })
        })
        .collect()
}

fn power_samples() -> Vec<Sample> {
    with(|| vec![Value::Operand(Operand::Number(Number::Float(1.5)))], true, |t| t.abs()?.add(0.5))
}

fn base_samples() -> Vec<Sample> {
    plain(&[&[2, 3], &[]])
        .into_iter()
        .map(|t| Sample { args: smallvec![Value::Number(Number::Float(1.5)), Value::Tensor(t)], grad: true })
        .collect()
}

fn clean_samples() -> Vec<Sample> {
    let mut all =
        with(|| vec![Value::OptFloat(None), Value::OptFloat(None), Value::OptFloat(None)], true, Ok);
    for mut s in plain_samples() {
        s.args.extend([Value::OptFloat(Some(7.0)), Value::OptFloat(None), Value::OptFloat(Some(-3.0))]);
        all.push(s);
    }
    all
}

fn logit_samples() -> Vec<Sample> {
    let inside = |t: Tensor| t.sigmoid();
    let mut all = with(|| vec![Value::OptFloat(None)], true, inside);
    all.extend(with(|| vec![Value::OptFloat(Some(1e-3))], true, inside));
    all
}

fn polygamma_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for n in 0..4 {
        all.extend(with(|| vec![Value::Int(n)], true, |t| t.abs()?.add(0.7)));
    }
    all
}

fn mvlgamma_samples() -> Vec<Sample> {
    with(|| vec![Value::Int(3)], true, |t| t.abs()?.add(2.5))
}

fn no_samples() -> Vec<Sample> {
    Vec::new()
}
