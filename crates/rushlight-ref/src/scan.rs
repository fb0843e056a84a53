//! Running totals along an axis.

use crate::index::{each_line, offset};
use crate::total::Total;
use crate::value::Val;
use rushlight_core::backend::Scan;
use rushlight_core::{Result, Shape};

pub(crate) fn run(call: &Scan<'_>) -> Result<()> {
    Total::new(call.op, call.ctype)?;
    let shape = call.out.layout().shape();
    each_line(shape, call.axis, |start| {
        let mut total = Total::new(call.op, call.ctype)?;
        let mut index = Shape::from_slice(start);
        for i in 0..shape.get(call.axis).copied().unwrap_or(1) {
            if let Some(at) = index.get_mut(call.axis) {
                *at = i;
            }
            total.add(Val::of(call.input.load(offset(call.input.layout(), &index)), call.ctype))?;
            call.out.store(offset(call.out.layout(), &index), total.get().number());
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use crate::RefBackend;
    use crate::testing::{dense, run};
    use rushlight_core::CType;
    use rushlight_core::backend::{Backend, ReduceOp, Scan};

    #[test]
    fn each_axis() {
        let x = dense(&[2, 3], &[1i32, 2, 3, 4, 5, 6]);
        for (axis, op, expect) in [
            (0, ReduceOp::Sum, [1i64, 2, 3, 5, 7, 9]),
            (1, ReduceOp::Sum, [1, 3, 6, 4, 9, 15]),
            (1, ReduceOp::Prod, [1, 2, 6, 4, 20, 120]),
            (0, ReduceOp::Min, [1, 2, 3, 1, 2, 3]),
        ] {
            let out = dense(&[2, 3], &[0i64; 6]);
            run(&[&out], &[&x], |outs, ins| {
                RefBackend.scan(&Scan { op, ctype: CType::I64, out: outs[0], input: ins[0], axis })
            })
            .unwrap();
            assert_eq!(out.raw::<i64>(), expect);
        }
    }

    #[test]
    fn a_single_number_and_nan() {
        let (x, out) = (dense(&[], &[5f32]), dense(&[], &[0f32]));
        let scan = |x, out, axis| {
            run(&[out], &[x], |outs, ins| {
                let (out, input) = (outs[0], ins[0]);
                RefBackend.scan(&Scan { op: ReduceOp::Max, ctype: CType::F32, out, input, axis })
            })
            .unwrap();
        };
        scan(&x, &out, 0);
        assert_eq!(out.raw::<f32>(), [5.0]);
        let (x, out) = (dense(&[3], &[1f32, f32::NAN, 7.0]), dense(&[3], &[0f32; 3]));
        scan(&x, &out, 0);
        let got = out.raw::<f32>();
        assert!(got[0] == 1.0 && got[1].is_nan() && got[2].is_nan());
    }
}
