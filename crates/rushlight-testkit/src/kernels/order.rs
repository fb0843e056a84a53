//! Laws of `sort` and `nonzero`.

use super::{input, output, shape, told_all};
use crate::{Arg, Operand, Pair, Report, Rng, Tolerance, Values};
use rushlight_core::backend::{Backend, Sort};
use rushlight_core::mem::{Span, SpanMut};
use rushlight_core::{DType, Layout, Number};
use std::collections::HashSet;

/// Sorting and selecting along any axis, in every ordered dtype, with many ties.
pub fn sort(pair: &Pair, seed: u64) -> Report {
    let mut report = Report::default();
    for &dtype in DType::ALL.iter().filter(|d| !d.is_complex()) {
        let mut rng = Rng::new(seed ^ dtype as u64);
        for _ in 0..40 {
            one_sort(pair, &mut report, &mut rng, dtype);
        }
    }
    report
}

fn one_sort(pair: &Pair, report: &mut Report, rng: &mut Rng, dtype: DType) {
    let shape = shape(rng, 1);
    let axis = rng.below(shape.len());
    let mut kept = shape.clone();
    if rng.one_in(3) {
        kept[axis] = rng.below(shape[axis] + 1);
    }
    let values = if rng.one_in(2) { Values::Spiked } else { Values::Any };
    let src = input(rng, &shape, dtype, values);
    let outs = [output(rng, &kept, dtype), output(rng, &kept, DType::I64)];
    let (descending, stable) = (rng.one_in(2), rng.one_in(2));
    // Every other time with places that begin anywhere, rarely with one that leads past the end.
    let within = rng.one_in(2);
    let spare = (shape[axis] - kept[axis]) as i64 + i64::from(stable && rng.one_in(9));
    let mut line = kept.clone();
    line[axis] = 1;
    let mut starts = input(rng, &line, DType::I64, Values::Small);
    starts.fill(|_| Number::Int(rng.between(0, spare)));
    let mut still = starts.layout.strides().to_vec();
    still[axis] = 0;
    let wide = Layout::new(kept.as_slice(), still, starts.layout.offset()).expect("no cell more");
    let starts = starts.with_layout(wide);
    let call = |backend: &dyn Backend, outs: &[SpanMut<'_>], ins: &[Span<'_>]| {
        let (values, indices) = (outs[0], outs[1]);
        let from = within.then(|| ins[1]);
        backend.sort(&Sort { values, indices, input: ins[0], axis, descending, stable, from })
    };
    let refs: Vec<&Operand> = outs.iter().collect();
    let result = if stable {
        pair.agree(&refs, &[Arg::Own(&src), Arg::Own(&starts)], &[Tolerance::EXACT; 2], call).map(drop)
    } else {
        pair.results(&refs, &[Arg::Own(&src), Arg::Own(&starts)], call)
            .and_then(|[got, expected]| any_order(&src, &got, &expected, axis))
    };
    report.case(result, || {
        let how =
            format!("descending {descending}, stable {stable}, {} kept, from elsewhere {within}", kept[axis]);
        format!("sort along {axis}, {how}: {} -> {}", told_all([&src]), told_all(&outs))
    });
}

/// Equal values may come in any order: the values are given, the positions must fit them.
fn any_order(src: &Operand, got: &[Operand], expected: &[Operand], axis: usize) -> Result<(), String> {
    let (values, positions) = (got[0].elements(), got[1].elements());
    let (from, shape) = (src.elements(), src.layout.shape());
    let inner: usize = shape[axis + 1..].iter().product();
    let kept = got[0].layout.shape()[axis];
    let exact = Tolerance::EXACT.any_zero();
    let mut seen = HashSet::new();
    for (flat, (value, right)) in values.iter().zip(expected[0].elements()).enumerate() {
        exact.check(*value, right, src.dtype).map_err(|e| format!("value {flat} is {e}"))?;
        let line = flat / (inner * kept) * inner + flat % inner;
        let position = usize::try_from(positions[flat].to_i64()).unwrap_or(usize::MAX);
        if position >= shape[axis] || !seen.insert((line, position)) {
            return Err(format!("position {flat} is {position}, which is outside or there already"));
        }
        let there = from[(line / inner * shape[axis] + position) * inner + line % inner];
        Tolerance::EXACT
            .check(*value, there, src.dtype)
            .map_err(|e| format!("at position {position}: {e}"))?;
    }
    Ok(())
}

/// Positions of what is not zero, for every dtype and layout.
pub fn nonzero(pair: &Pair, seed: u64) -> Report {
    let mut report = Report::default();
    for &dtype in DType::ALL {
        let mut rng = Rng::new(seed ^ dtype as u64);
        for _ in 0..16 {
            let shape = shape(&mut rng, 0);
            let src = input(&mut rng, &shape, dtype, Values::Spiked);
            let result = pair.agree(&[], &[Arg::Own(&src)], &[], |backend, _, ins| backend.nonzero(&ins[0]));
            report.case(result.map(drop), || format!("nonzero of {}", told_all([&src])));
        }
    }
    report
}
