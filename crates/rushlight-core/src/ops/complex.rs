//! What no formula of complex numbers alone gives: sizes, directions, angles.

use crate::exec;
use crate::grad::GradCx;
use crate::op::{Sample, Value, samples};
use crate::program::{Program, Sort, trace};
use crate::{DType, Number, Result, Tensor};
use smallvec::smallvec;
use std::f64::consts::PI;
use std::sync::LazyLock;

ops! { COMPLEX;
    /// The distance of complex numbers from 0, which is real. `abs` of a complex tensor.
    fn abs_complex as internal (input: Tensor) -> Tensor {
        run: magnitude(input),
        grad: [reads inputs 0; outputs] |cx| Ok(smallvec![Some(cx.input(0)?.sgn()?.mul(&cx.grad(0)?)?)]),
        samples: complex_samples,
    }
    /// `input / |input|`, of 0 it is 0; for real numbers their sign.
    ///
    /// ```
    /// # use rushlight::{Number, Tensor};
    /// let x = Tensor::scalar(Number::Complex(3.0, -4.0))?;
    /// assert_eq!(x.sgn()?.item()?, Number::Complex(0.6f32.into(), (-0.8f32).into()));
    /// # Ok::<(), rushlight::Error>(())
    /// ```
    fn sgn, inplace sgn_ [out] (input: Tensor) -> Tensor {
        run: direction(input),
        grad: [reads inputs 0; outputs] |cx| Ok(smallvec![Some(direction_grad(cx)?)]),
        samples: both_samples,
    }
    /// The angle to the positive real numbers, in radians: of a negative real number pi, of NaN NaN.
    fn angle [out] (input: Tensor) -> Tensor {
        run: super::angle(input),
        samples: both_samples,
    }
}

static SIZE: LazyLock<Program> = LazyLock::new(|| exec::fixed(trace(&[Sort::Num], 0, |x| vec![x[0].abs()])));
static DIRECTION: LazyLock<Program> =
    LazyLock::new(|| exec::fixed(trace(&[Sort::Num], 0, |x| vec![x[0].sign()])));

fn of_each(op: &'static str, program: &Program, x: &Tensor, result: DType) -> Result<Tensor> {
    let out = Tensor::alloc(x.like_layout()?, result, x.device())?;
    exec::map(op, program, &[], x.dtype().ctype(), &[&out], &[x])?;
    Ok(out)
}

fn magnitude(x: &Tensor) -> Result<Tensor> {
    of_each("abs", &SIZE, x, x.dtype().real())
}

fn direction(x: &Tensor) -> Result<Tensor> {
    if x.dtype().is_complex() { of_each("sgn", &DIRECTION, x, x.dtype()) } else { x.sign() }
}

/// A step along a number's direction does not turn it; one across turns it by the step over its size.
fn direction_grad(cx: &GradCx<'_>) -> Result<Tensor> {
    let (g, x) = (cx.grad(0)?, cx.input(0)?);
    if !x.dtype().is_complex() {
        return Tensor::full_as(&g, Number::Int(0));
    }
    let (s, size) = (x.sgn()?, x.abs()?);
    let along = s.conj_physical()?.mul(&g)?.real()?.mul(&s)?;
    let zero = size.eq(0)?;
    let across = g.sub(&along)?.div(&Tensor::where_cond(&zero, 1, &size)?)?;
    Tensor::where_cond(&zero, 0, &across)
}

fn angle(x: &Tensor) -> Result<Tensor> {
    if x.dtype().is_complex() {
        return x.imag()?.atan2(&x.real()?).map_err(|e| e.in_op("angle"));
    }
    let x = if x.dtype().is_integral() { x.to_dtype(crate::default_dtype())? } else { x.clone() };
    let turned = Tensor::where_cond(&x.lt(0)?, &Tensor::full_as(&x, Number::Float(PI))?, 0.0)?;
    // The slope is 0, but NaN goes on.
    Tensor::where_cond(&x.isnan()?, &x, &turned)
}

fn complex_values(shape: &[usize], salt: usize) -> Option<Tensor> {
    let part = |salt| samples::values(shape, salt).ok();
    let pairs = Tensor::stack(&[&part(salt)?, &part(salt + 3)?], -1).ok()?;
    pairs.view_as_complex().ok()?.to_dtype(DType::C128).ok()
}

fn complex_samples() -> Vec<Sample> {
    [&[3, 4][..], &[5], &[], &[0, 2]]
        .into_iter()
        .enumerate()
        .filter_map(|(k, shape)| complex_values(shape, k))
        .map(|t| Sample { args: smallvec![Value::Tensor(t)], grad: true })
        .collect()
}

fn both_samples() -> Vec<Sample> {
    let real = [&[3, 4][..], &[]].into_iter().filter_map(|shape| samples::values(shape, 7).ok());
    let real = real.map(|t| Sample { args: smallvec![Value::Tensor(t)], grad: true });
    complex_samples().into_iter().chain(real).collect()
}
