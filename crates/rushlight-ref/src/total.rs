//! Sums, products and extrema, step by step, in a wider type than the result's.

use crate::eval::eval;
use crate::value::{Val, wide};
use rushlight_core::backend::ReduceOp;
use rushlight_core::program::Opcode;
use rushlight_core::{CType, Number, Result, bail};

/// What has been combined so far.
pub(crate) struct Total {
    opcode: Opcode,
    ctype: CType,
    value: Val,
    /// What the rounding of sums in f64 has lost.
    lost: f64,
}

impl Total {
    /// The identity of `op`, which is `Sum`, `Prod`, `Max` or `Min`.
    ///
    /// # Errors
    /// `NotImplemented` for another op, and for extrema of complex numbers.
    pub(crate) fn new(op: ReduceOp, ctype: CType) -> Result<Total> {
        let (opcode, start) = match op {
            ReduceOp::Sum => (Opcode::Add, Number::Int(0)),
            ReduceOp::Prod => (Opcode::Mul, Number::Int(1)),
            ReduceOp::Max => (Opcode::Max, lowest(ctype)),
            ReduceOp::Min => (Opcode::Min, highest(ctype)),
            other => {
                bail!(NotImplemented, "scan", "{other:?} does not combine numbers; use Sum, Prod, Max or Min")
            }
        };
        let value = Val::of(start, wide(ctype));
        eval(opcode, ctype, &[value, value])?;
        Ok(Total { opcode, ctype, value, lost: 0.0 })
    }

    pub(crate) fn add(&mut self, value: Val) -> Result<()> {
        let next = value.to(wide(self.ctype));
        let sum = eval(self.opcode, wide(self.ctype), &[self.value, next])?;
        if let (Opcode::Add, Val::F64(a), Val::F64(b), Val::F64(s)) = (self.opcode, self.value, next, sum) {
            // Exactly a + b - s (Knuth's two-sum).
            let part = s - a;
            self.lost += (a - (s - part)) + (b - part);
        }
        self.value = sum;
        Ok(())
    }

    /// The total before it is rounded to the compute type.
    pub(crate) fn wide(&self) -> Val {
        match self.value {
            // Infinities and NaN have no rounding error.
            Val::F64(sum) if (sum + self.lost).is_finite() => Val::F64(sum + self.lost),
            other => other,
        }
    }

    /// The total, rounded to the compute type.
    pub(crate) fn get(&self) -> Val {
        self.wide().to(self.ctype)
    }
}

fn lowest(ctype: CType) -> Number {
    match ctype {
        CType::Bool => Number::Bool(false),
        CType::I32 => Number::Int(i32::MIN.into()),
        CType::I64 => Number::Int(i64::MIN),
        CType::U64 => Number::UInt(0),
        CType::F32 | CType::F64 | CType::C64 | CType::C128 => Number::Float(f64::NEG_INFINITY),
    }
}

fn highest(ctype: CType) -> Number {
    match ctype {
        CType::Bool => Number::Bool(true),
        CType::I32 => Number::Int(i32::MAX.into()),
        CType::I64 => Number::Int(i64::MAX),
        CType::U64 => Number::UInt(u64::MAX),
        CType::F32 | CType::F64 | CType::C64 | CType::C128 => Number::Float(f64::INFINITY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(op: ReduceOp, ctype: CType, values: &[f64]) -> Val {
        let mut total = Total::new(op, ctype).unwrap();
        values.iter().for_each(|x| total.add(Val::of(Number::Float(*x), ctype)).unwrap());
        total.get()
    }

    #[test]
    fn sums_keep_what_rounding_loses() {
        assert_eq!(total(ReduceOp::Sum, CType::F32, &[1e8, 1.0, -1e8]), Val::F32(1.0));
        assert_eq!(total(ReduceOp::Sum, CType::F64, &[1e100, 1.0, -1e100]), Val::F64(1.0));
        assert_eq!(total(ReduceOp::Sum, CType::F64, &[f64::INFINITY, 1.0]), Val::F64(f64::INFINITY));
        assert_eq!(total(ReduceOp::Sum, CType::I32, &[2147483647.0, 1.0]), Val::I32(i32::MIN));
    }

    #[test]
    fn extrema() {
        assert_eq!(total(ReduceOp::Max, CType::I32, &[-5.0, -9.0]), Val::I32(-5));
        assert_eq!(total(ReduceOp::Min, CType::F32, &[3.0, f64::INFINITY]), Val::F32(3.0));
        let with_nan = total(ReduceOp::Max, CType::F32, &[1.0, f64::NAN, 2.0]);
        assert!(matches!(with_nan, Val::F32(x) if x.is_nan()));
        assert!(Total::new(ReduceOp::Max, CType::C64).is_err());
    }

    #[test]
    fn bool_totals_are_logic() {
        assert_eq!(total(ReduceOp::Sum, CType::Bool, &[1.0, 1.0]), Val::Bool(true));
        assert_eq!(total(ReduceOp::Prod, CType::Bool, &[1.0, 0.0]), Val::Bool(false));
        assert_eq!(total(ReduceOp::Max, CType::Bool, &[]), Val::Bool(false));
    }
}
