//! Sample arguments, from which the laws test every row.

use super::def::{OpDef, Sample};
use super::promote::Refuse;
use super::value::{Args, Operand, ParamType, Value};
use crate::{DType, Number, Result, Tensor};
use smallvec::SmallVec;

/// A float64 tensor of fixed, irregular values between about -1.9 and 1.9, none of them 0 or equal.
///
/// # Errors
/// When memory cannot be had.
pub fn values(shape: &[usize], salt: usize) -> Result<Tensor> {
    let n = shape.iter().product::<usize>();
    let value = |i: usize| ((i * 37 + salt * 11 + 5) % 101) as f64 / 27.0 - 1.87;
    Tensor::from_vec((0..n).map(value).collect(), shape)
}

/// As [`values`], between 0.1 and about 1.9: for logarithms, roots and divisors.
///
/// # Errors
/// When memory cannot be had.
pub fn positive(shape: &[usize], salt: usize) -> Result<Tensor> {
    let n = shape.iter().product::<usize>();
    let value = |i: usize| ((i * 37 + salt * 11 + 5) % 101) as f64 / 56.0 + 0.1;
    Tensor::from_vec((0..n).map(value).collect(), shape)
}

/// As [`values`], between -0.9 and 0.9: for inverse functions.
///
/// # Errors
/// When memory cannot be had.
pub fn unit(shape: &[usize], salt: usize) -> Result<Tensor> {
    let n = shape.iter().product::<usize>();
    let value = |i: usize| ((i * 37 + salt * 11 + 5) % 101) as f64 / 56.0 - 0.9;
    Tensor::from_vec((0..n).map(value).collect(), shape)
}

/// As [`values`], between 0.05 and 0.95: for probabilities.
///
/// # Errors
/// When memory cannot be had.
pub fn share(shape: &[usize], salt: usize) -> Result<Tensor> {
    let n = shape.iter().product::<usize>();
    let value = |i: usize| ((i * 37 + salt * 11 + 5) % 101) as f64 / 112.0 + 0.05;
    Tensor::from_vec((0..n).map(value).collect(), shape)
}

/// Indices below `limit` as an int64 tensor.
///
/// # Errors
/// When memory cannot be had.
pub fn indices(shape: &[usize], limit: usize, salt: usize) -> Result<Tensor> {
    let n = shape.iter().product::<usize>();
    let value = |i: usize| ((i * 7 + salt * 3 + 1) % limit.max(1)) as i64;
    Tensor::from_vec((0..n).map(value).collect(), shape)
}

/// `sample!([x, 1i64.into_value()], grad)`-style construction: a list of arguments.
pub fn sample(args: impl IntoIterator<Item = Value>, grad: bool) -> Sample {
    Sample { args: args.into_iter().collect(), grad }
}

/// The ranges in which a pointwise row is defined and smooth.
fn domain(op: &str) -> fn(&[usize], usize) -> Result<Tensor> {
    match op {
        "log" | "log2" | "log10" | "log1p" | "sqrt" | "rsqrt" | "reciprocal" | "pow" | "div"
        | "remainder" | "fmod" | "floor_divide" | "xlogy" | "true_divide" => positive,
        "lgamma"
        | "digamma"
        | "igamma"
        | "igammac"
        | "entr"
        | "xlog1py"
        | "bessel_y0"
        | "bessel_y1"
        | "modified_bessel_k0"
        | "modified_bessel_k1"
        | "scaled_modified_bessel_k0"
        | "scaled_modified_bessel_k1" => positive,
        "asin" | "acos" | "atanh" | "erfinv" => unit,
        "ndtri" | "log_odds" | "log_odds_within" => share,
        _ => values,
    }
}

/// Samples of a pointwise row: equal shapes, broadcast both ways, a plain number, 0-d and empty.
pub fn pointwise(def: &'static OpDef) -> Vec<Sample> {
    let shapes: [[&[usize]; 3]; 5] = [
        [&[3, 4], &[3, 4], &[3, 4]],
        [&[3, 1], &[4], &[2, 1, 1]],
        [&[], &[2, 3], &[3]],
        [&[], &[], &[]],
        [&[0, 3], &[0, 3], &[1]],
    ];
    let whole = def.point().refuses.contains(&Refuse::float);
    let make = |shape: &[usize], salt: usize| {
        if whole { indices(shape, 9, salt) } else { domain(def.name.trim_end_matches("_of"))(shape, salt) }
    };
    let shift = |t: Tensor| if def.name == "acosh" { t.add(3.0) } else { Ok(t) };
    let derived = def.point().program(0, false).is_ok_and(|p| p.underived(u64::MAX).is_none());
    let mut samples = Vec::new();
    for (round, shapes) in shapes.iter().enumerate() {
        let takes_numbers = !def.point().refuses.contains(&Refuse::number);
        for numbers in if takes_numbers { &[false, true][..] } else { &[false] } {
            let args: Result<Args> = def
                .params
                .iter()
                .enumerate()
                .map(|(k, p)| {
                    Ok(match (p.ty, &p.default) {
                        (_, Some((_, default))) => default(),
                        (ParamType::Tensor, _) => Value::Tensor(shift(make(shapes[k.min(2)], round + k)?)?),
                        _ if p.name == "condition" => {
                            Value::Operand(Operand::Tensor(values(shapes[0], round)?.gt(0.0)?))
                        }
                        _ if *numbers && k > 0 => Value::Operand(Operand::Number(if whole {
                            Number::Int(k as i64)
                        } else {
                            Number::Float(0.75 + k as f64)
                        })),
                        _ => Value::Operand(Operand::Tensor(make(shapes[k.min(2)], round + 2 * k + 1)?)),
                    })
                })
                .collect();
            if let Ok(args) = args {
                samples.push(Sample { args, grad: derived });
            }
        }
    }
    samples
}

/// The arguments with every float64 tensor converted to `dtype`.
///
/// # Errors
/// When memory cannot be had.
pub fn with_dtype(args: &[Value], dtype: DType) -> Result<Args> {
    let convert = |t: &Tensor| if t.dtype() == DType::F64 { t.to_dtype(dtype) } else { Ok(t.clone()) };
    args.iter().map(|a| map_tensors(a, &convert)).collect()
}

/// An argument with `f` applied to each of its tensors.
///
/// # Errors
/// Those of `f`.
pub fn map_tensors(a: &Value, f: &dyn Fn(&Tensor) -> Result<Tensor>) -> Result<Value> {
    use super::OptOperand;
    Ok(match a {
        Value::Tensor(t) => Value::Tensor(f(t)?),
        Value::OptTensor(Some(t)) => Value::OptTensor(Some(f(t)?)),
        Value::Operand(Operand::Tensor(t)) => Value::Operand(Operand::Tensor(f(t)?)),
        Value::OptOperand(OptOperand(Some(Operand::Tensor(t)))) => {
            Value::OptOperand(OptOperand(Some(Operand::Tensor(f(t)?))))
        }
        Value::Tensors(list) => Value::Tensors(list.iter().map(f).collect::<Result<_>>()?),
        Value::OptTensors(list) => {
            Value::OptTensors(list.iter().map(|t| t.as_ref().map(f).transpose()).collect::<Result<_>>()?)
        }
        other => other.clone(),
    })
}

/// An argument list from values.
pub fn args(values: impl IntoIterator<Item = Value>) -> Args {
    values.into_iter().collect::<SmallVec<_>>()
}
