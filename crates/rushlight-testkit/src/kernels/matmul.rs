//! Laws of `matmul`.

use super::{input, output, told_all};
use crate::{Arg, Operand, Pair, Report, Rng, Tolerance, Values};
use rushlight_core::backend::Matmul;
use rushlight_core::{DType, Layout, Number};

const SIZES: [usize; 11] = [0, 1, 1, 2, 3, 4, 5, 8, 17, 33, 70];

/// Products of every dtype and many shapes, batched and not, with any factors and strides.
pub fn matmul(pair: &Pair, seed: u64) -> Report {
    let mut report = Report::default();
    for &dtype in DType::ALL.iter().filter(|d| **d != DType::Bool) {
        let mut rng = Rng::new(seed ^ dtype as u64);
        for _ in 0..40 {
            one(pair, &mut report, &mut rng, dtype);
        }
    }
    report
}

fn one(pair: &Pair, report: &mut Report, rng: &mut Rng, dtype: DType) {
    let batch: Vec<usize> = (0..[0, 0, 1, 2][rng.below(4)]).map(|_| rng.below(4)).collect();
    let mut size = || if batch.is_empty() { *rng.pick(&SIZES) } else { *rng.pick(&SIZES[..9]) };
    let (m, k, n) = (size(), size(), size());
    let matrix = |rows, columns| [&batch[..], &[rows, columns]].concat();
    let rounding = dtype.is_float() && rng.one_in(3);
    let values = match (rounding, dtype.is_integral()) {
        (true, _) => Values::Positive,
        (_, true) => Values::Any,
        (_, false) => Values::Small,
    };
    // Whole numbers multiply and add exactly; sums of positive ones lose at most a unit a step, and
    // far less in blocks.
    let tolerance = match rounding {
        true if dtype.is_half() => Tolerance::ulps(1.0),
        true => Tolerance::ulps(32.0),
        false => Tolerance::EXACT.any_zero(),
    };
    let a = input(rng, &matrix(m, k), dtype, values);
    let a = broadcast(rng, a, batch.len());
    let b = input(rng, &matrix(k, n), dtype, values);
    let b = broadcast(rng, b, batch.len());
    let (alpha, beta) = match rng.below(3) {
        0 if !rounding => (Number::Int(rng.between(-2, 2)), Number::Int(rng.between(-1, 1))),
        1 if !rounding && dtype.is_float() => (Number::Float(0.5), Number::Float(-1.0)),
        _ => (Number::Int(1), Number::Int(0)),
    };
    let mut out = output(rng, &matrix(m, n), dtype);
    // Without a factor what is there must not matter, NaN included.
    let nan = beta.to_f64() == 0.0 && !dtype.is_integral();
    out.fill(|_| if nan { Number::Float(f64::NAN) } else { Values::Small.draw(rng, dtype) });
    let result = pair.agree(&[&out], &[Arg::Own(&a), Arg::Own(&b)], &[tolerance], |backend, outs, ins| {
        backend.matmul(&Matmul { out: outs[0], a: ins[0], b: ins[1], alpha, beta })
    });
    report.case(result.map(drop), || {
        format!(
            "{alpha:?} a @ b + {beta:?} out of {values:?}: {} -> {}",
            told_all([&a, &b]),
            told_all([&out])
        )
    });
}

/// Now and then all batches are one matrix.
fn broadcast(rng: &mut Rng, matrix: Operand, batch: usize) -> Operand {
    if !rng.one_in(3) {
        return matrix;
    }
    let (shape, strides) = matrix.layout.parts();
    let strides: Vec<isize> =
        strides.iter().enumerate().map(|(d, s)| if d < batch { 0 } else { *s }).collect();
    // Fewer cells than before are reached, except by flipped batches, which start at their end.
    match Layout::new(shape, strides, matrix.layout.offset()) {
        Ok(layout) => matrix.with_layout(layout),
        Err(_) => matrix,
    }
}
