//! Laws of `scan`.

use super::{input, output, shape, told_all};
use crate::{Arg, Operand, Pair, Report, Rng, Tolerance, Values, writable_variants};
use rushlight_core::DType;
use rushlight_core::backend::{ReduceOp, Scan};
use rushlight_core::op::compute_type;

/// Every running reduction of every dtype along any axis, in place too.
pub fn scan(pair: &Pair, seed: u64) -> Report {
    let mut report = Report::default();
    for op in [ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max, ReduceOp::Min] {
        for &dtype in DType::ALL {
            let ordered = matches!(op, ReduceOp::Max | ReduceOp::Min);
            if ordered && dtype.is_complex() {
                continue;
            }
            let mut rng = Rng::new(seed ^ (dtype as u64) << 8 ^ op as u64);
            for _ in 0..10 {
                one(pair, &mut report, &mut rng, op, dtype);
            }
        }
    }
    report
}

fn one(pair: &Pair, report: &mut Report, rng: &mut Rng, op: ReduceOp, dtype: DType) {
    let shape = shape(rng, 1);
    let axis = rng.below(shape.len());
    // Combined exactly in any order, so that only the definition's rounding on store remains.
    let values = match op {
        ReduceOp::Sum if dtype.is_complex() => Values::Small,
        ReduceOp::Sum => Values::Spiked,
        ReduceOp::Prod => Values::Powers,
        _ => Values::Any,
    };
    let tolerance = match (op, dtype.is_complex()) {
        (ReduceOp::Prod, true) => Tolerance { absolute: 1e-30, ..Tolerance::ulps(16.0) },
        _ => Tolerance::EXACT.any_zero(),
    };
    let in_place = rng.one_in(4);
    let layouts = writable_variants(&shape, rng);
    let src = match in_place {
        true => Operand::new(rng.pick(&layouts), dtype, values, rng),
        false => input(rng, &shape, dtype, values),
    };
    let out = if in_place { src.clone() } else { output(rng, &shape, dtype) };
    let arg = if in_place { Arg::Out(0) } else { Arg::Own(&src) };
    let result = pair.agree(&[&out], &[arg], &[tolerance], |backend, outs, ins| {
        backend.scan(&Scan { op, ctype: compute_type(dtype), out: outs[0], input: ins[0], axis })
    });
    report.case(result.map(drop), || {
        format!("{op:?} along {axis} (in place: {in_place}): {} -> {}", told_all([&src]), told_all([&out]))
    });
}
