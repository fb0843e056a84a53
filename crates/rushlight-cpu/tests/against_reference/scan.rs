//! Running totals along every axis.

use crate::operand::{Operand, agree, exact, layouts};
use rushlight_core::backend::{ReduceOp, Scan};
use rushlight_core::{DType, Number};

#[test]
fn every_op_dtype_axis_and_layout() {
    let shapes = [&[3, 4, 5][..], &[2, 1100], &[40, 9], &[1100, 2], &[7], &[1, 6], &[0, 3], &[]];
    for op in [ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max, ReduceOp::Min] {
        for dtype in DType::ALL {
            let extrema = matches!(op, ReduceOp::Max | ReduceOp::Min);
            if extrema && dtype.is_complex() {
                continue;
            }
            let out_dtype = if extrema { *dtype } else { dtype.accumulated() };
            let values = exact(*dtype, 9);
            let short = *dtype != DType::F32 && *dtype != DType::I32;
            for shape in shapes.iter().filter(|s| !short || s.iter().product::<usize>() < 500) {
                for (k, layout) in layouts(shape, true).into_iter().enumerate() {
                    let input = Operand::new(layout, *dtype, |i| match (op, values(i)) {
                        (ReduceOp::Prod, Number::Float(x)) => Number::Float(if x > 0.0 { 1.0 } else { -1.0 }),
                        (ReduceOp::Prod, Number::Complex(..)) => Number::Complex(0.0, 1.0),
                        (_, x) => x,
                    });
                    let out =
                        Operand::new(layouts(shape, false)[k % 3].clone(), out_dtype, |_| Number::Int(1));
                    for axis in 0..shape.len().max(1) {
                        let name = format!("{op:?} of {dtype} along {axis}");
                        agree(&name, &[out.copy()], &[&input], &|b, outs, ins| {
                            let ctype = out_dtype.ctype();
                            b.scan(&Scan { op, ctype, out: outs[0], input: ins[0], axis })
                        });
                    }
                }
            }
        }
    }
}
