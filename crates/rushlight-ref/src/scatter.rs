//! Writing at computed places, one after another.

use crate::eval::eval;
use crate::gather::displacement;
use crate::index::{each, offset};
use crate::value::Val;
use rushlight_core::backend::{Scatter, ScatterOp};
use rushlight_core::program::Opcode;
use rushlight_core::{Result, with_dtype};

pub(crate) fn run(call: &Scatter<'_>) -> Result<()> {
    let shape = call.src.layout().shape();
    let ctype = call.dst.dtype().ctype();
    let opcode = match call.op {
        ScatterOp::Set => None,
        ScatterOp::Add => Some(Opcode::Add),
        ScatterOp::Mul => Some(Opcode::Mul),
        ScatterOp::Max => Some(Opcode::Max),
        ScatterOp::Min => Some(Opcode::Min),
    };
    if let Some(opcode) = opcode {
        let zero = Val::Bool(false).to(ctype);
        eval(opcode, ctype, &[zero, zero])?;
    }
    each(shape, |index| displacement(call.indices, call.wrap, index).map(drop))?;
    each(shape, |index| {
        let from = offset(call.src.layout(), index);
        let to = offset(call.dst.layout(), index) + displacement(call.indices, call.wrap, index)?;
        match opcode {
            None => with_dtype!(call.dst.dtype(), |T| call.dst.set::<T>(to, call.src.get::<T>(from))),
            Some(opcode) => {
                let pair = [Val::of(call.dst.load(to), ctype), Val::of(call.src.load(from), ctype)];
                call.dst.store(to, eval(opcode, ctype, &pair)?.number());
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use crate::RefBackend;
    use crate::testing::{Operand, dense, layout, run};
    use rushlight_core::Result;
    use rushlight_core::backend::{Backend, Indexed, Scatter, ScatterOp};

    fn scatter(dst: &Operand, src: &Operand, index: &Operand, op: ScatterOp) -> Result<()> {
        run(&[dst], &[src, index], |outs, ins| {
            let indices = [Indexed { index: ins[1], stride: 1, size: 3, axis: 0 }];
            RefBackend.scatter(&Scatter { dst: outs[0], src: ins[0], indices: &indices, op, wrap: true })
        })
    }

    #[test]
    fn repeated_places() {
        for (op, expect) in [
            (ScatterOp::Set, [1i8, 9, 4]),
            (ScatterOp::Add, [1, 16, 7]),
            (ScatterOp::Mul, [1, 90, 12]),
            (ScatterOp::Max, [1, 9, 4]),
            (ScatterOp::Min, [1, 2, 3]),
        ] {
            let dst = Operand::of(&[1i8, 2, 3], layout(&[3], &[0], 0));
            scatter(&dst, &dense(&[3], &[5i8, 4, 9]), &dense(&[3], &[1i64, -1, 1]), op).unwrap();
            assert_eq!(dst.raw::<i8>(), expect, "{op:?}");
        }
    }

    #[test]
    fn a_bad_position_writes_nothing() {
        let dst = Operand::of(&[1i8, 2, 3], layout(&[2], &[0], 0));
        let (src, index) = (dense(&[2], &[5i8, 5]), dense(&[2], &[0i64, 3]));
        assert!(scatter(&dst, &src, &index, ScatterOp::Add).is_err());
        assert_eq!(dst.raw::<i8>(), [1, 2, 3]);
    }
}
