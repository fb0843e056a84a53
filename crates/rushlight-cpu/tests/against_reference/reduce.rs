//! Reductions over every set of axes.

use crate::operand::{Operand, agree, contiguous, exact, layouts, special};
use rushlight_core::backend::{Reduce, ReduceOp, Stage};
use rushlight_core::program::{Program, Sort, trace};
use rushlight_core::{CType, DType, Layout, Number};

fn kept(shape: &[usize], axes: u64) -> Vec<usize> {
    shape.iter().enumerate().map(|(d, n)| if axes >> d & 1 == 1 { 1 } else { *n }).collect()
}

fn check(op: ReduceOp, input: &Operand, out: DType, axes: u64, out_layout: usize, pre: Option<&Program>) {
    let ctype =
        if out == DType::I64 && !input.dtype.is_differentiable() { CType::I64 } else { input.dtype.ctype() };
    let shape = kept(input.layout.shape(), axes);
    let layout = layouts(&shape, false)[out_layout].clone();
    let result = Operand::new(layout, out, |_| Number::Int(1));
    let name = format!("{op:?} of {} over {axes:b}", input.dtype);
    agree(&name, &[result], &[input], &|b, outs, ins| {
        let pre = pre.map(|program| Stage { program, params: &[] });
        b.reduce(&Reduce { op, ctype, pre, post: None, out: outs[0], ins, axes })
    });
}

/// What an op gives for a dtype; `None` where it is refused.
fn result(op: ReduceOp, dtype: DType) -> Option<DType> {
    use ReduceOp::{All, Any, ArgMax, ArgMin, Max, Min, Prod, Sum};
    match op {
        Sum | Prod => Some(dtype.accumulated()),
        Max | Min => (!dtype.is_complex()).then_some(dtype),
        ArgMax | ArgMin => (!dtype.is_complex()).then_some(DType::I64),
        Any | All => Some(DType::Bool),
    }
}

const OPS: [ReduceOp; 8] = [
    ReduceOp::Sum,
    ReduceOp::Prod,
    ReduceOp::Max,
    ReduceOp::Min,
    ReduceOp::ArgMax,
    ReduceOp::ArgMin,
    ReduceOp::Any,
    ReduceOp::All,
];

/// Products stay exact when factors are powers of two.
fn fill(op: ReduceOp, layout: Layout, dtype: DType) -> Operand {
    let arg = matches!(op, ReduceOp::ArgMax | ReduceOp::ArgMin);
    let values = special(dtype, 3);
    Operand::new(layout, dtype, |i| match (op, values(i)) {
        (ReduceOp::Prod, Number::Float(x)) => Number::Float(if x > 0.0 { 2.0 } else { -0.5 }),
        (ReduceOp::Prod, Number::Complex(x, _)) => {
            if x > 0.0 {
                Number::Complex(0.0, 1.0)
            } else {
                Number::Complex(-1.0, 0.0)
            }
        }
        (_, x) if arg && i % 7 == 0 => {
            let _ = x;
            Number::Int(5)
        }
        (_, x) => x,
    })
}

#[test]
fn every_op_dtype_and_layout() {
    for op in OPS {
        for dtype in DType::ALL {
            let Some(out) = result(op, *dtype) else { continue };
            for (k, layout) in layouts(&[3, 5, 4], true).into_iter().enumerate() {
                let input = fill(op, layout, *dtype);
                for axes in [0b001, 0b010, 0b100, 0b110, 0b101, 0b111, 0] {
                    check(op, &input, out, axes, k % 3, None);
                }
            }
        }
    }
}

#[test]
fn wide_and_long_shapes_take_every_walk() {
    for (shape, axes) in [
        (&[70, 90][..], 0b01),
        (&[70, 90], 0b10),
        (&[700, 9], 0b01),
        (&[300, 20], 0b10),
        (&[2, 20000], 0b10),
        (&[20000, 2], 0b01),
        (&[3000, 10], 0b01),
        (&[2, 3000], 0b10),
        (&[3, 40, 30], 0b010),
        (&[2, 1, 3, 1, 4], 0b01010),
        (&[33000], 1),
        (&[], 0),
        (&[0, 3], 0b10),
        (&[2, 1500], 0b01),
    ] {
        for op in [ReduceOp::Sum, ReduceOp::Max, ReduceOp::ArgMin, ReduceOp::Any] {
            for dtype in [DType::F32, DType::F16, DType::I32] {
                let input = fill(op, contiguous(shape), dtype);
                check(op, &input, result(op, dtype).unwrap(), axes, 0, None);
            }
        }
    }
}

#[test]
fn nothing_gives_the_identity() {
    for op in [ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max, ReduceOp::Min, ReduceOp::Any, ReduceOp::All] {
        for (shape, axes) in [(&[0, 3][..], 0b01), (&[0], 1), (&[9, 0], 0b10)] {
            let input = Operand::new(contiguous(shape), DType::F32, exact(DType::F32, 0));
            check(op, &input, DType::F32, axes, 0, None);
        }
    }
}

#[test]
fn truth_values_of_a_program_are_counted() {
    let positive = trace(&[Sort::Num], 0, |x| vec![x[0].to_truth()]).unwrap();
    for (shape, axes) in [(&[6, 40][..], 0b10), (&[6, 40], 0b01), (&[40000], 1)] {
        let input = Operand::new(contiguous(shape), DType::F32, special(DType::F32, 1));
        check(ReduceOp::Sum, &input, DType::F32, axes, 0, Some(&positive));
    }
}

#[test]
fn sums_of_millions_are_accurate_along_any_axis() {
    let n = 1 << 21;
    for (shape, axes) in [(&[n][..], 1), (&[n, 1], 0b01), (&[n / 8, 8], 0b01), (&[8, n / 8], 0b10)] {
        let input = Operand::new(contiguous(shape), DType::F32, |_| Number::Float(0.1));
        let out = Operand::new(contiguous(&kept(shape, axes)), DType::F32, |_| Number::Int(0));
        rushlight_core::mem::with_plan("test", &[out.place()], &[input.place()], |outs, ins| {
            use rushlight_core::backend::Backend;
            let (op, ctype) = (ReduceOp::Sum, CType::F32);
            rushlight_cpu::CpuBackend.reduce(&Reduce {
                op,
                ctype,
                pre: None,
                post: None,
                out: outs[0],
                ins,
                axes,
            })
        })
        .unwrap();
        let want = n as f64 / out.numbers().len() as f64 * f64::from(0.1f32);
        for sum in out.numbers() {
            assert!((sum.to_f64() / want - 1.0).abs() < 3e-6, "{shape:?}: {sum:?} instead of {want}");
        }
    }
}
