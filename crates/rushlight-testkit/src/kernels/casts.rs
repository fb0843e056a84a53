//! Copies between all dtypes: the identity program.

use super::{input, output, shape, told_all};
use crate::{Arg, Pair, Report, Rng, Tolerance, Values};
use rushlight_core::DType;
use rushlight_core::backend::Map;
use rushlight_core::program::{Program, Sort, trace};

/// Every dtype to every dtype, over all layouts, and transposes of more than a tile.
pub fn casts(pair: &Pair, seed: u64) -> Report {
    let mut report = Report::default();
    let copy = |sort| trace(&[sort], 0, |x| vec![x[0]]).expect("a copy is a program");
    let (numbers, truths) = (copy(Sort::Num), copy(Sort::Truth));
    for &from in DType::ALL {
        for &to in DType::ALL {
            let mut rng = Rng::new(seed ^ (from as u64) << 8 ^ to as u64);
            let program = if from == DType::Bool { &truths } else { &numbers };
            for round in 0..5 {
                let large: &[&[usize]] = &[&[70, 41], &[5, 33, 20], &[3000]];
                let shape = if round == 0 { rng.pick(large).to_vec() } else { shape(&mut rng, 0) };
                one(pair, &mut report, &mut rng, program, &shape, from, to);
            }
        }
    }
    report
}

fn one(
    pair: &Pair,
    report: &mut Report,
    rng: &mut Rng,
    program: &Program,
    shape: &[usize],
    from: DType,
    to: DType,
) {
    let src = input(rng, shape, from, Values::Any);
    let dst = output(rng, shape, to);
    // Wider numbers may be rounded twice on their way to a half.
    let twice = to.is_half() && from.size() >= 4;
    let tolerance = if twice { Tolerance { ulps: 1.0, ..Tolerance::EXACT } } else { Tolerance::EXACT };
    let result = pair.agree(&[&dst], &[Arg::Own(&src)], &[tolerance], |backend, outs, ins| {
        backend.map(&Map { program, params: &[], ctype: from.ctype(), outs, ins })
    });
    report.case(result.map(drop), || format!("copy {} -> {}", told_all([&src]), told_all([&dst])));
}
