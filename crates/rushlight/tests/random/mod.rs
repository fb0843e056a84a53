//! Seeded random arguments for any row of the table.
#![allow(dead_code, reason = "each test file uses its part")]

use rushlight::op::{Args, OpDef, OptOperand, ParamType, Value, samples};
use rushlight::{DType, Device, Dims, Number, Operand, Size, Tensor};

/// A small generator (splitmix64): a failure names its seed, which repeats it.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

/// Mostly small; now and then what overflows sums and products.
pub fn int(r: &mut Rng) -> i64 {
    if r.one_in(12) {
        r.pick(&[i64::MAX, i64::MIN, i64::MAX - 1, i64::MIN + 1, 1 << 62, -(1 << 62), 1 << 40, -(1 << 40)])
    } else {
        r.below(9) as i64 - 3
    }
}

fn number(r: &mut Rng) -> Number {
    match r.below(10) {
        0 => Number::Bool(r.one_in(2)),
        1 => Number::Int(int(r)),
        2 => Number::UInt(u64::MAX - r.below(3) as u64),
        3 => Number::Complex(0.5, -1.0),
        4 => r.pick(&[Number::Float(f64::NAN), Number::Float(f64::INFINITY), Number::Float(1e300)]),
        5 => Number::Float(0.0),
        6 | 7 => Number::Int(r.below(5) as i64 - 1),
        _ => Number::Float(r.below(9) as f64 / 2.0 - 1.0),
    }
}

/// Any dtype, small shapes of every kind, layouts of every kind; rarely without data.
pub fn tensor(r: &mut Rng) -> Tensor {
    let rank = r.below(5);
    let mut shape: Vec<usize> = (0..rank).map(|_| r.pick(&[0, 1, 1, 2, 2, 3, 3, 4])).collect();
    if r.one_in(2) {
        shape = r.pick(&[vec![2, 3], vec![3], vec![3, 3], vec![1, 2, 3], vec![2, 3, 4, 4], vec![]]);
    }
    let dtype = if r.one_in(2) { DType::F32 } else { r.pick(DType::ALL) };
    let n: usize = shape.iter().product();
    let values: Vec<i64> = (0..n).map(|_| r.below(6) as i64 - i64::from(r.one_in(3))).collect();
    let t = Tensor::from_vec(values, shape.as_slice()).unwrap().to_dtype(dtype).unwrap();
    let t = match r.below(8) {
        0 if t.dim() >= 2 => t.transpose(0, -1).unwrap(),
        1 if t.dim() >= 1 => {
            let sizes: Vec<i64> = std::iter::once(2).chain(t.shape().iter().map(|s| *s as i64)).collect();
            t.expand(sizes).unwrap()
        }
        2 if t.dim() >= 1 && t.shape()[0] > 1 => t.narrow(0, 1, t.shape()[0] as i64 - 1).unwrap(),
        3 if t.dim() >= 1 && t.shape()[0] > 1 => t.slice(0, None, None, 2).unwrap(),
        _ => t,
    };
    match r.below(40) {
        0 => t.to_device(Device::META).unwrap(),
        1 => t.to_device(Device::REF).unwrap(),
        2 if t.dtype().is_differentiable() => t.copy().unwrap().requires_grad_(true).unwrap(),
        _ => t,
    }
}

fn operand(r: &mut Rng, like: &Tensor) -> Operand {
    if r.one_in(2) { Operand::Number(number(r)) } else { Operand::Tensor(related(r, like)) }
}

/// Another tensor: often one that has something to do with the first.
fn related(r: &mut Rng, first: &Tensor) -> Tensor {
    match r.below(8) {
        0 => first.clone(),
        1 if first.dim() >= 2 => first.transpose(0, 1).unwrap(),
        2 if first.dim() >= 1 && first.shape()[0] > 0 => first.select(0, 0).unwrap(),
        3 => tensor(r).to_dtype(first.dtype()).unwrap(),
        _ => tensor(r),
    }
}

fn list(r: &mut Rng) -> Vec<i64> {
    (0..r.below(5)).map(|_| int(r)).collect()
}

/// A value of the type, with nothing known of its meaning.
pub fn value(r: &mut Rng, ty: ParamType, first: &Tensor) -> Value {
    let some = !r.one_in(3);
    match ty {
        ParamType::Tensor => Value::Tensor(related(r, first)),
        ParamType::OptTensor => Value::OptTensor(some.then(|| related(r, first))),
        ParamType::OptOperand => Value::OptOperand(OptOperand(some.then(|| operand(r, first)))),
        ParamType::Tensors => Value::Tensors((0..r.below(4)).map(|_| related(r, first)).collect()),
        ParamType::OptTensors => {
            Value::OptTensors((0..r.below(4)).map(|_| (!r.one_in(3)).then(|| related(r, first))).collect())
        }
        ParamType::Operand => Value::Operand(operand(r, first)),
        ParamType::Number => Value::Number(number(r)),
        ParamType::OptNumber => Value::OptNumber(some.then(|| number(r))),
        ParamType::Int => Value::Int(int(r)),
        ParamType::OptInt => Value::OptInt(some.then(|| int(r))),
        ParamType::Float => Value::Float(number(r).to_f64()),
        ParamType::OptFloat => Value::OptFloat(some.then(|| number(r).to_f64())),
        ParamType::Bool => Value::Bool(r.one_in(2)),
        ParamType::OptBool => Value::OptBool(some.then(|| r.one_in(2))),
        ParamType::Dims => Value::Dims(if some { Dims::from(list(r)) } else { Dims::All }),
        ParamType::Size => Value::Size(Size::from(list(r))),
        ParamType::DType => Value::DType(r.pick(DType::ALL)),
        ParamType::OptDType => Value::OptDType(some.then(|| r.pick(DType::ALL))),
        ParamType::OptDevice => Value::OptDevice(r.one_in(9).then_some(Device::META)),
        ParamType::Text => Value::Text(
            r.pick(&["", "ij", "ij,jk->ik", "reflect", "mean", "...i->i", "i i->", "é", "constant", "->"])
                .into(),
        ),
        ParamType::OptText => Value::OptText(some.then(|| r.pick(&["", "gels", "gelsd", "\u{e9}"]).into())),
        ParamType::OptGenerator => Value::OptGenerator(None),
    }
}

/// Arguments for a row: all random, or a sample of it with some of them exchanged.
pub fn arguments(r: &mut Rng, def: &'static OpDef, known: &[Args]) -> Args {
    let first = tensor(r);
    if !known.is_empty() && r.one_in(2) {
        let base = r.pick(known);
        let dtype = if r.one_in(3) { r.pick(DType::ALL) } else { DType::F64 };
        let copy = |t: &Tensor| {
            t.copy().and_then(|t| if t.dtype() == DType::F64 { t.to_dtype(dtype) } else { Ok(t) })
        };
        let mut args: Args =
            base.iter().map(|a| samples::map_tensors(a, &copy).unwrap_or_else(|_| a.clone())).collect();
        for _ in 0..=r.below(2) {
            let k = r.below(def.params.len());
            args[k] = value(r, def.params[k].ty, &first);
        }
        return args;
    }
    def.params
        .iter()
        .enumerate()
        .map(|(k, p)| match (&p.default, k, p.ty) {
            (Some((_, default)), ..) if r.one_in(2) => default(),
            (_, 0, ParamType::Tensor) => Value::Tensor(first.clone()),
            _ => value(r, p.ty, &first),
        })
        .collect()
}
