//! A program for every element.

use crate::index::{each, offset};
use crate::machine::Machine;
use rushlight_core::Result;
use rushlight_core::backend::Map;

/// All operands of an element are read before its results are written, so an output may be an input.
pub(crate) fn run(call: &Map<'_>) -> Result<()> {
    let machine = Machine::new(call.program, call.params, call.ctype)?;
    let Some(first) = call.outs.first() else { return Ok(()) };
    each(first.layout().shape(), |index| {
        let inputs = machine.load(call.ins, |span| offset(span.layout(), index));
        for (out, value) in call.outs.iter().zip(machine.run(&inputs)?) {
            out.store(offset(out.layout(), index), value.number());
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use crate::RefBackend;
    use crate::testing::{Operand, layout, run};
    use rushlight_core::backend::{Backend, Map};
    use rushlight_core::program::{Sort, trace};
    use rushlight_core::{CType, Kind, Layout, Number};

    #[test]
    fn several_outputs_of_mixed_layouts() {
        let program = trace(&[Sort::Num, Sort::Num], 1, |x| vec![x[0] * x[1] + x[2], x[0].lt(x[1])]).unwrap();
        let a = Operand::of(&[1f32, 2.0, 3.0, 4.0], layout(&[2, 2], &[1, 2], 0));
        let b = Operand::of(&[2i16], layout(&[2, 2], &[0, 0], 0));
        let sums = Operand::of(&[0i32; 4], Layout::contiguous(&[2, 2][..]).unwrap());
        let less = Operand::of(&[9u8; 5], layout(&[2, 2], &[-2, -1], 4));
        run(&[&sums, &less], &[&a, &b], |outs, ins| {
            let params = [Number::Float(0.75)];
            RefBackend.map(&Map { program: &program, params: &params, ctype: CType::F32, outs, ins })
        })
        .unwrap();
        assert_eq!(sums.raw::<i32>(), [2, 6, 4, 8]);
        assert_eq!(less.raw::<u8>(), [9, 0, 0, 0, 1]);
    }

    #[test]
    fn in_place() {
        let program = trace(&[Sort::Num], 0, |x| vec![x[0] + x[0]]).unwrap();
        let a = Operand::of(&[200u8, 3, 7], Layout::contiguous(&[3][..]).unwrap());
        run(&[&a], &[&a], |outs, ins| {
            RefBackend.map(&Map { program: &program, params: &[], ctype: CType::I32, outs, ins })
        })
        .unwrap();
        assert_eq!(a.raw::<u8>(), [144, 6, 14]);
    }

    #[test]
    fn a_meaningless_step_fails_before_it_writes() {
        let program = trace(&[Sort::Num], 0, |x| vec![x[0], x[0].sqrt()]).unwrap();
        let a = Operand::of(&[4i64], Layout::scalar());
        let (b, c) = (Operand::of(&[1i64], Layout::scalar()), Operand::of(&[1i64], Layout::scalar()));
        let got = run(&[&b, &c], &[&a], |outs, ins| {
            RefBackend.map(&Map { program: &program, params: &[], ctype: CType::I64, outs, ins })
        });
        let error = got.unwrap_err();
        assert_eq!((error.kind(), error.op()), (Kind::NotImplemented, "sqrt"));
        assert_eq!(b.raw::<i64>(), [1]);
    }
}
