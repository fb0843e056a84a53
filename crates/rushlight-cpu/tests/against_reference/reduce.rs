//! Reductions over every set of axes.

use crate::operand::{Operand, agree, contiguous, exact, layouts, special};
use rushlight_core::backend::{Backend, Reduce, ReduceOp, Stage};
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
fn rows_with_gaps_between_them() {
    for (shape, strides) in [
        (&[40, 70][..], &[100, 1][..]),
        (&[40, 70], &[-100, 1]),
        (&[40, 9], &[11, 1]),
        (&[5, 1300], &[1301, 1]),
        (&[3, 7, 600], &[6000, 700, 1]),
        (&[4, 2, 20000], &[1, 20000, 4]),
        (&[70, 6], &[1, 500]),
    ] {
        for op in [ReduceOp::Sum, ReduceOp::Min, ReduceOp::ArgMax, ReduceOp::All] {
            for dtype in [DType::F32, DType::U8, DType::C64] {
                let Some(out) = result(op, dtype) else { continue };
                let layout = Layout::new(shape, strides, 4000).unwrap();
                check(op, &fill(op, layout, dtype), out, 1 << (shape.len() - 1), 0, None);
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

/// The f32 sums over `axes`, by this backend alone.
fn sums(input: &Operand, axes: u64, pre: Option<&Program>) -> Vec<f64> {
    let out = Operand::new(contiguous(&kept(input.layout.shape(), axes)), DType::F32, |_| Number::Int(0));
    rushlight_core::mem::with_plan("test", &[out.place()], &[input.place()], |outs, ins| {
        let pre = pre.map(|program| Stage { program, params: &[] });
        let (op, ctype, post) = (ReduceOp::Sum, CType::F32, None);
        rushlight_cpu::CpuBackend.reduce(&Reduce { op, ctype, pre, post, out: outs[0], ins, axes })
    })
    .unwrap();
    out.numbers().into_iter().map(Number::to_f64).collect()
}

/// What sums of about `n` equal numbers are, and should be, on every walk: one row, long rows,
/// columns wide and narrow, rows with gaps, converted and computed ones.
fn walks(n: usize, value: f64) -> Vec<(&'static str, f64, Vec<f64>)> {
    let square = trace(&[Sort::Num], 0, |x| vec![x[0] * x[0]]).unwrap();
    let strided = |shape: &[usize], strides: &[isize]| Layout::new(shape, strides, 0).unwrap();
    let all = [
        ("one row", contiguous(&[n]), 1, None),
        ("long rows", contiguous(&[32, n / 32]), 0b10, None),
        ("tall columns", contiguous(&[n / 8, 8]), 0b01, None),
        ("wide columns", contiguous(&[n / 2048, 2048]), 0b01, None),
        ("far apart", contiguous(&[n / 4, 4]), 0b01, None),
        ("gaps", strided(&[n / 2], &[2]), 1, None),
        ("short runs", strided(&[n / 8, 4], &[8, 1]), 0b11, None),
        ("longer runs", strided(&[n / 200, 100], &[200, 1]), 0b11, None),
        ("expanded", strided(&[n], &[0]), 1, None),
        ("squares", contiguous(&[n]), 1, Some(&square)),
    ];
    all.into_iter()
        .map(|(walk, layout, axes, pre)| {
            let input = Operand::new(layout, DType::F32, |_| Number::Float(value));
            let got = sums(&input, axes, pre);
            let one = f64::from(if pre.is_some() { (value * value) as f32 } else { value as f32 });
            (walk, one * (input.layout.numel() / got.len()) as f64, got)
        })
        .collect()
}

#[test]
fn sums_of_millions_are_accurate_along_any_axis() {
    // One after the other, sums of ones would stay at 2^24.
    let n = (1 << 24) + (1 << 12);
    for (walk, want, got) in walks(n, 1.0) {
        got.iter().for_each(|sum| assert_eq!(*sum, want, "{walk}"));
    }
    // Rounding at each step, pairwise: a few units in the last place, not thousands.
    for (walk, want, got) in walks(10_000_000, 0.1) {
        for sum in got {
            assert!((sum / want - 1.0).abs() < 3e-7, "{walk}: {sum} instead of {want}");
        }
    }
}

#[test]
fn sums_of_halves_are_taken_in_single_precision() {
    let n = 1 << 22;
    for dtype in [DType::F16, DType::BF16] {
        let input = Operand::new(contiguous(&[n]), dtype, |_| Number::Float(0.1));
        let one = input.numbers()[0].to_f64();
        let sum = sums(&input, 1, None)[0];
        assert!((sum / (one * n as f64) - 1.0).abs() < 3e-7, "{dtype}: {sum}");
    }
}
