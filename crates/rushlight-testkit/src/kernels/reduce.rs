//! Laws of `reduce`.

use super::{input, output, shape, told_all};
use crate::{Arg, Operand, Pair, Report, Rng, Tolerance, Values};
use rushlight_core::backend::{Reduce, ReduceOp, Stage};
use rushlight_core::op::compute_type;
use rushlight_core::program::{Program, Sort, trace};
use rushlight_core::{DType, Number};

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

/// Every reduction of every dtype over any axes, with and without programs around it.
pub fn reduce(pair: &Pair, seed: u64) -> Report {
    let mut report = Report::default();
    for op in OPS {
        for &dtype in DType::ALL.iter().filter(|d| takes(op, **d)) {
            let mut rng = Rng::new(seed ^ (dtype as u64) << 8 ^ op as u64);
            for _ in 0..16 {
                one(pair, &mut report, &mut rng, op, dtype);
            }
        }
    }
    report
}

fn takes(op: ReduceOp, dtype: DType) -> bool {
    let ordered = matches!(op, ReduceOp::Max | ReduceOp::Min | ReduceOp::ArgMax | ReduceOp::ArgMin);
    !(ordered && dtype.is_complex())
}

/// Values whose result does not depend on the order of combining, or hardly.
fn values(rng: &mut Rng, op: ReduceOp, dtype: DType) -> (Values, Tolerance) {
    let exact = Tolerance::EXACT.any_zero();
    match op {
        ReduceOp::Sum if dtype.is_complex() => (Values::Small, exact),
        ReduceOp::Sum if rng.one_in(3) => (Values::Positive, sum_tolerance(dtype)),
        ReduceOp::Sum => (Values::Spiked, exact),
        ReduceOp::Prod if dtype.is_complex() => {
            (Values::Powers, Tolerance { absolute: 1e-30, ..Tolerance::ulps(16.0) })
        }
        ReduceOp::Prod => (Values::Powers, exact),
        ReduceOp::Any | ReduceOp::All => (Values::Spiked, exact),
        _ => (if rng.one_in(2) { Values::Any } else { Values::Spiked }, exact),
    }
}

/// The error of pairwise sums of positive numbers grows with the logarithm of their count.
fn sum_tolerance(dtype: DType) -> Tolerance {
    match dtype {
        dtype if dtype.is_half() => Tolerance::ulps(1.0),
        dtype if dtype.is_float() => Tolerance::ulps(16.0),
        _ => Tolerance::EXACT,
    }
}

fn one(pair: &Pair, report: &mut Report, rng: &mut Rng, op: ReduceOp, dtype: DType) {
    // Products of so many could overflow on the way.
    let shape = if op != ReduceOp::Prod && rng.one_in(6) {
        rng.pick(&[[1, 5000], [5, 5000], [5000, 12], [50, 1030]]).to_vec()
    } else {
        shape(rng, 0)
    };
    let axes = rng.bits() & ((1 << shape.len()) - 1);
    let kept: Vec<usize> =
        shape.iter().enumerate().map(|(d, n)| if axes >> d & 1 == 1 { 1 } else { *n }).collect();
    // Ops refuse extrema of nothing before a backend sees them.
    let nothing = shape.contains(&0) && !kept.contains(&0);
    let ordered = matches!(op, ReduceOp::Max | ReduceOp::Min | ReduceOp::ArgMax | ReduceOp::ArgMin);
    if nothing && ordered {
        return;
    }
    let (values, tolerance) = values(rng, op, dtype);
    let arg = matches!(op, ReduceOp::ArgMax | ReduceOp::ArgMin);
    let (pre, post) = if arg { (None, None) } else { stages(rng, op, values) };
    let count = pre.as_ref().map_or(1, |p| p.inputs().len());
    let ins: Vec<Operand> = (0..count).map(|_| input(rng, &shape, dtype, values)).collect();
    let stored = result_dtype(rng, op, dtype);
    let out = output(rng, &kept, stored);
    let params = [Number::Int(3)];
    let args: Vec<Arg<'_>> = ins.iter().map(Arg::Own).collect();
    let result = pair.agree(&[&out], &args, &[tolerance], |backend, outs, ins| {
        backend.reduce(&Reduce {
            op,
            ctype: compute_type(dtype),
            pre: pre.as_ref().map(|program| Stage { program, params: &[] }),
            post: post.as_ref().map(|program| Stage { program, params: &params }),
            out: outs[0],
            ins,
            axes,
        })
    });
    report.case(result.map(drop), || {
        let around = format!("before {pre:?}, after {post:?}");
        format!(
            "{op:?} of {values:?} over axes {axes:b}, {around}: {} -> {}",
            told_all(&ins),
            told_all([&out])
        )
    });
}

fn result_dtype(rng: &mut Rng, op: ReduceOp, dtype: DType) -> DType {
    match op {
        ReduceOp::ArgMax | ReduceOp::ArgMin => DType::I64,
        ReduceOp::Any | ReduceOp::All => *rng.pick(&[DType::Bool, DType::Bool, DType::U8]),
        _ => dtype,
    }
}

/// Programs before and after. Those before keep sums and products exact.
fn stages(rng: &mut Rng, op: ReduceOp, values: Values) -> (Option<Program>, Option<Program>) {
    let program =
        |sorts: &[Sort], params, f: fn(&[rushlight_core::Scalar]) -> Vec<rushlight_core::Scalar>| {
            Some(trace(sorts, params, f).expect("a formula of this file compiles"))
        };
    let two = [Sort::Num, Sort::Num];
    let pre = match rng.below(6) {
        0 if op == ReduceOp::Prod => program(&two, 0, |x| vec![x[0] * x[1]]),
        0 if values == Values::Positive => program(&two, 0, |x| vec![x[0] + x[1]]),
        0 => program(&two, 0, |x| vec![x[0] - x[1]]),
        1 => program(&two[..1], 0, |x| vec![x[0] * x[0]]),
        2 => program(&two[..1], 0, |x| vec![x[0].to_truth()]),
        _ => None,
    };
    let combines = matches!(op, ReduceOp::Sum | ReduceOp::Prod | ReduceOp::Max | ReduceOp::Min);
    let post = if combines && rng.one_in(4) { program(&two[..1], 1, |x| vec![x[0] * x[1]]) } else { None };
    (pre, post)
}
