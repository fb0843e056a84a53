//! `clamp`, whose bounds are numbers, tensors or absent.
//!
//! At a bound that is a number the gradient is 0; a bound that is a tensor shares it. So there
//! are two formulas, and the ops choose.

use crate::op::{Operand, OptOperand, Sample, Value, samples};
use crate::{Number, Result, Tensor, bail, ensure};
use smallvec::smallvec;

pointwise! { BOUNDS;
    /// `input` raised to at least the number `min`; the gradient at the bound is 0.
    fn clamp_above as internal (input, min) Promote except complex = |x| x[0].lt(x[1]).select(x[1], x[0]), grad |x, _y, g| vec![x[0].le(x[1]).select(0.0, g), x[0].le(x[1]).select(g, 0.0)];
    /// `input` lowered to at most the number `max`; the gradient at the bound is 0.
    fn clamp_below as internal (input, max) Promote except complex = |x| x[0].gt(x[1]).select(x[1], x[0]), grad |x, _y, g| vec![x[0].ge(x[1]).select(0.0, g), x[0].ge(x[1]).select(g, 0.0)];
    /// `input` between two numbers; the gradient at a bound is 0.
    fn clamp_between as internal (input, min, max) Promote except complex = |x| x[0].gt(x[2]).select(x[2], x[0].lt(x[1]).select(x[1].minimum(x[2]), x[0])), grad |x, _y, g| {
        let (over, under, crossed) = (x[0].ge(x[2]), x[0].le(x[1]), x[2].lt(x[1]));
        vec![
            over.select(0.0, under.select(0.0, g)),
            over.select(0.0, under.select(crossed.select(0.0, g), 0.0)),
            over.select(g, under.select(crossed.select(g, 0.0), 0.0)),
        ]
    };
}

/// The rows made of those.
pub mod whole {
    use super::*;

    ops! { CLAMP;
        /// `input` between `min` and `max`, each a number, a tensor, or `()` for none. NaN stays NaN.
        ///
        /// ```
        /// # use rushlight::Tensor;
        /// let x = Tensor::from_vec(vec![-2f32, 0.5, 3.0], [3])?;
        /// assert_eq!(x.clamp(0.0, 1.0)?.to_vec::<f32>()?, [0.0, 0.5, 1.0]);
        /// assert_eq!(x.clamp((), 1.0)?.to_vec::<f32>()?, [-2.0, 0.5, 1.0]);
        /// # Ok::<(), rushlight::Error>(())
        /// ```
        fn clamp as clamp | clip, inplace clamp_ [out] (input: Tensor, min: OptOperand = (), max: OptOperand = ()) -> Tensor {
            run: super::super::clamp(input, min, max),
            samples: clamp_samples,
        }
        /// `input` raised to at least `min`.
        fn clamp_min, inplace clamp_min_ [out] (input: Tensor, min: Operand) -> Tensor {
            run: super::super::clamp(input, &OptOperand(Some(min.clone())), &OptOperand(None)),
            samples: bound_samples,
        }
        /// `input` lowered to at most `max`.
        fn clamp_max, inplace clamp_max_ [out] (input: Tensor, max: Operand) -> Tensor {
            run: super::super::clamp(input, &OptOperand(None), &OptOperand(Some(max.clone()))),
            samples: bound_samples,
        }
    }
}

/// Bounds past an integer dtype's range are no bounds, unless they leave nothing.
fn within(x: &Tensor, bound: &Option<Operand>, lower: bool) -> Result<Option<Operand>> {
    let (Some(Operand::Number(n)), Some((least, greatest))) = (bound, x.dtype().integer_range()) else {
        return Ok(bound.clone());
    };
    let wide = match n {
        Number::Int(i) => i128::from(*i),
        Number::UInt(u) => i128::from(*u),
        _ => return Ok(bound.clone()),
    };
    let impossible = if lower { wide > greatest } else { wide < least };
    ensure!(
        !impossible,
        Runtime,
        "clamp",
        "the bound {wide} is outside of what {} holds, {least} to {greatest}",
        x.dtype()
    );
    let near = wide.clamp(least, greatest);
    Ok(Some(Operand::Number(i64::try_from(near).map_or(Number::UInt(near as u64), Number::Int))))
}

fn clamp(x: &Tensor, min: &OptOperand, max: &OptOperand) -> Result<Tensor> {
    let (min, max) = (OptOperand(within(x, &min.0, true)?), OptOperand(within(x, &max.0, false)?));
    match (&min.0, &max.0) {
        (None, None) => bail!(Runtime, "clamp", "needs min, max or both"),
        (Some(low @ Operand::Number(_)), Some(high @ Operand::Number(_))) => {
            x.clamp_between(low.clone(), high.clone())
        }
        (Some(low), None) => above(x, low),
        (None, Some(high)) => below(x, high),
        (Some(low), Some(high)) => below(&above(x, low)?, high),
    }
}

fn above(x: &Tensor, bound: &Operand) -> Result<Tensor> {
    if matches!(bound, Operand::Number(_)) { x.clamp_above(bound.clone()) } else { x.maximum(bound.clone()) }
}

fn below(x: &Tensor, bound: &Operand) -> Result<Tensor> {
    if matches!(bound, Operand::Number(_)) { x.clamp_below(bound.clone()) } else { x.minimum(bound.clone()) }
}

fn clamp_samples() -> Vec<Sample> {
    let number = |n: f64| Value::OptOperand(OptOperand(Some(Operand::Number(Number::Float(n)))));
    let none = || Value::OptOperand(OptOperand(None));
    let tensor = |shape: &[usize], salt| {
        samples::values(shape, salt).map(|t| Value::OptOperand(OptOperand(Some(Operand::Tensor(t)))))
    };
    let mut all = Vec::new();
    for (shape, salt) in [(&[3, 4][..], 1), (&[], 2), (&[0, 2], 3), (&[5], 4)] {
        let Ok(x) = samples::values(shape, salt) else { continue };
        for (low, high) in [(number(-0.5), number(0.75)), (none(), number(0.3)), (number(-0.3), none())] {
            all.push(Sample { args: smallvec![Value::Tensor(x.clone()), low, high], grad: true });
        }
        if let (Ok(low), Ok(high)) = (tensor(shape, salt + 5), tensor(&[], salt + 9)) {
            all.push(Sample { args: smallvec![Value::Tensor(x.clone()), low, high], grad: true });
        }
    }
    all
}

fn bound_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for (shape, salt) in [(&[3, 4][..], 1), (&[], 2), (&[0, 2], 3)] {
        let (Ok(x), Ok(bound)) = (samples::values(shape, salt), samples::values(shape, salt + 5)) else {
            continue;
        };
        for bound in [Operand::Number(Number::Float(0.25)), Operand::Tensor(bound)] {
            all.push(Sample { args: smallvec![Value::Tensor(x.clone()), Value::Operand(bound)], grad: true });
        }
    }
    all
}
