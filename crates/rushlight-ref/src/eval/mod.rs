//! What each opcode means for each compute type.

mod complex;
mod error_function;
mod float;
mod integer;
mod truth;

use crate::value::{Val, dtype};
use rushlight_core::program::{Function, Opcode};
use rushlight_core::{CType, Result, err};

/// The result of one opcode. `args` has as many values as the opcode takes, numbers as `ctype`.
///
/// # Errors
/// `NotImplemented` when the opcode has no meaning for the compute type.
pub(crate) fn eval(op: Opcode, ctype: CType, args: &[Val]) -> Result<Val> {
    use Opcode::{FromTruth, Select, ToTruth};
    let result = match (op, args) {
        (Select, [c, a, b]) => Some(if c.truth() { *a } else { *b }),
        (ToTruth, [x]) => Some(Val::Bool(x.truth())),
        (FromTruth, [x]) => Some(x.to(ctype)),
        (_, [x]) => apply(op, *x, *x),
        (_, [x, y]) => apply(op, *x, *y),
        _ => None,
    };
    result.ok_or_else(|| {
        err!(
            NotImplemented,
            op.name(),
            "{} has no meaning for numbers computed as {}; convert them to another dtype first",
            op.name(),
            dtype(ctype)
        )
    })
}

/// An opcode of one operand ignores `y`.
fn apply(op: Opcode, x: Val, y: Val) -> Option<Val> {
    if let Opcode::Special(f) = op {
        return special(f.function(), x, y);
    }
    match (x, y) {
        (Val::Bool(x), Val::Bool(y)) => truth::apply(op, x, y).map(Val::Bool),
        (Val::I32(x), Val::I32(y)) => integer::int32(op, x, y),
        (Val::I64(x), Val::I64(y)) => integer::int64(op, x, y),
        (Val::U64(x), Val::U64(y)) => integer::uint64(op, x, y),
        (Val::F32(x), Val::F32(y)) => float::float32(op, x, y),
        (Val::F64(x), Val::F64(y)) => float::float64(op, x, y),
        (Val::C64(_), Val::C64(_)) => match apply(op, x.to(CType::C128), y.to(CType::C128))? {
            Val::C128(z) => Some(Val::C128(z).to(CType::C64)),
            truth => Some(truth),
        },
        (Val::C128(x), Val::C128(y)) => complex::apply(op, x, y),
        _ => None,
    }
}

/// A special function: the table's own, which is the definition.
fn special(f: Function, x: Val, y: Val) -> Option<Val> {
    Some(match (f, x, y) {
        (Function::One(f), Val::F32(x), _) => Val::F32(f(x.into()) as f32),
        (Function::One(f), Val::F64(x), _) => Val::F64(f(x)),
        (Function::Two(f), Val::F32(x), Val::F32(y)) => Val::F32(f(x.into(), y.into()) as f32),
        (Function::Each(f, _), Val::F32(x), Val::F32(y)) => Val::F32(f(x, y)),
        (Function::Two(f) | Function::Each(_, f), Val::F64(x), Val::F64(y)) => Val::F64(f(x, y)),
        (Function::Whole(f, _), Val::I32(x), Val::I32(y)) => Val::I32(f(x.into(), y.into()) as i32),
        (Function::Whole(f, _), Val::I64(x), Val::I64(y)) => Val::I64(f(x, y)),
        (Function::Whole(_, f), Val::U64(x), Val::U64(y)) => Val::U64(f(x, y)),
        _ => return None,
    })
}
