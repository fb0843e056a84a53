//! Combining along axes: for every element of the result, all that fall onto it.

use crate::eval::eval;
use crate::index::{each, offset};
use crate::machine::Machine;
use crate::total::Total;
use crate::value::Val;
use rushlight_core::backend::{Reduce, ReduceOp, Stage};
use rushlight_core::program::Opcode;
use rushlight_core::{CType, Number, Result, Shape, ensure};

pub(crate) fn run(call: &Reduce<'_>) -> Result<()> {
    let pre = machine(call.pre, call.ctype)?;
    let post = machine(call.post, call.ctype)?;
    // Refused here even when the result has no element.
    Fold::new(call.op, call.ctype)?;
    let Some(first) = call.ins.first() else { return Ok(()) };
    let shape = first.layout().shape();
    let reduced: Shape =
        shape.iter().enumerate().map(|(d, n)| if call.axes >> d & 1 == 1 { *n } else { 1 }).collect();
    each(call.out.layout().shape(), |kept| {
        let mut fold = Fold::new(call.op, call.ctype)?;
        each(&reduced, |inner| {
            let index: Shape = kept.iter().zip(inner).map(|(a, b)| a + b).collect();
            let value = match &pre {
                Some(pre) => pre.run(&pre.load(call.ins, |span| offset(span.layout(), &index)))?[0],
                None => Val::of(first.load(offset(first.layout(), &index)), call.ctype),
            };
            fold.add(value.to(call.ctype))
        })?;
        let total = match (fold.get(), &post) {
            (total, Some(post)) => post.run(&[total])?[0],
            (total, None) => total,
        };
        call.out.store(offset(call.out.layout(), kept), total.number());
        Ok(())
    })
}

fn machine(stage: Option<Stage<'_>>, ctype: CType) -> Result<Option<Machine<'_>>> {
    stage.map(|stage| Machine::new(stage.program, stage.params, ctype)).transpose()
}

/// The state of any reduction.
enum Fold {
    Total(Total),
    /// The winner so far, its place, how many were seen, and how to beat it.
    Arg {
        best: Option<Val>,
        place: i64,
        seen: i64,
        beats: Opcode,
        ctype: CType,
    },
    /// The answer so far, and the value that would turn it.
    Truth {
        answer: bool,
        turns: bool,
    },
}

impl Fold {
    fn new(op: ReduceOp, ctype: CType) -> Result<Fold> {
        let arg = |beats| Fold::Arg { best: None, place: 0, seen: 0, beats, ctype };
        let fold = match op {
            ReduceOp::ArgMax => arg(Opcode::Gt),
            ReduceOp::ArgMin => arg(Opcode::Lt),
            ReduceOp::Any => Fold::Truth { answer: false, turns: true },
            ReduceOp::All => Fold::Truth { answer: true, turns: false },
            ReduceOp::Sum | ReduceOp::Prod | ReduceOp::Max | ReduceOp::Min => {
                Fold::Total(Total::new(op, ctype)?)
            }
        };
        let complex = matches!(ctype, CType::C64 | CType::C128);
        ensure!(
            !(complex && matches!(fold, Fold::Arg { .. })),
            NotImplemented,
            "reduce",
            "complex numbers have no order; take abs() first"
        );
        Ok(fold)
    }

    fn add(&mut self, value: Val) -> Result<()> {
        match self {
            Fold::Total(total) => total.add(value)?,
            Fold::Truth { answer, turns } => {
                if value.truth() == *turns {
                    *answer = *turns;
                }
            }
            Fold::Arg { best, place, seen, beats, ctype } => {
                let wins = match *best {
                    None => true,
                    Some(best) if is_nan(best) => false,
                    Some(best) => is_nan(value) || eval(*beats, *ctype, &[value, best])?.truth(),
                };
                if wins {
                    (*best, *place) = (Some(value), *seen);
                }
                *seen += 1;
            }
        }
        Ok(())
    }

    fn get(&self) -> Val {
        match self {
            Fold::Total(total) => total.get(),
            Fold::Truth { answer, .. } => Val::Bool(*answer),
            Fold::Arg { place, .. } => Val::I64(*place),
        }
    }
}

fn is_nan(value: Val) -> bool {
    matches!(value.number(), Number::Float(x) if x.is_nan())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RefBackend;
    use crate::testing::{Operand, dense, layout, run};
    use rushlight_core::backend::Backend;
    use rushlight_core::program::{Sort, trace};

    fn reduce(op: ReduceOp, ctype: CType, out: &Operand, input: &Operand, axes: u64) {
        run(&[out], &[input], |outs, ins| {
            RefBackend.reduce(&Reduce { op, ctype, pre: None, post: None, out: outs[0], ins, axes })
        })
        .unwrap();
    }

    #[test]
    fn every_axis() {
        let x = dense(&[2, 3], &[1i8, 2, 3, 4, 5, 6]);
        for (axes, shape, expect) in [
            (0b01, [1, 3], &[5i64, 7, 9][..]),
            (0b10, [2, 1], &[6, 15]),
            (0b11, [1, 1], &[21]),
            (0b00, [2, 3], &[1, 2, 3, 4, 5, 6]),
        ] {
            let out = dense(&shape, &vec![0i64; expect.len()]);
            reduce(ReduceOp::Sum, CType::I64, &out, &x, axes);
            assert_eq!(out.raw::<i64>(), expect);
        }
    }

    #[test]
    fn positions_are_flat_and_the_first_wins() {
        let x = dense(&[2, 3], &[1f32, 5.0, 5.0, f32::NAN, 9.0, f32::NAN]);
        for (op, rows, all) in [(ReduceOp::ArgMax, [1i64, 0], 3i64), (ReduceOp::ArgMin, [0, 0], 3)] {
            let (by_row, flat) = (dense(&[2, 1], &[0i64; 2]), dense(&[1, 1], &[0i64]));
            reduce(op, CType::F32, &by_row, &x, 0b10);
            reduce(op, CType::F32, &flat, &x, 0b11);
            assert_eq!((by_row.raw::<i64>(), flat.raw::<i64>()), (rows.to_vec(), vec![all]));
        }
    }

    #[test]
    fn nothing_gives_the_identity() {
        let x = dense::<f32>(&[0, 2], &[]);
        for (op, expect) in [
            (ReduceOp::Sum, 0.0),
            (ReduceOp::Prod, 1.0),
            (ReduceOp::Max, f32::NEG_INFINITY),
            (ReduceOp::Any, 0.0),
            (ReduceOp::All, 1.0),
        ] {
            let out = dense(&[1, 2], &[7f32; 2]);
            reduce(op, CType::F32, &out, &x, 0b01);
            assert_eq!(out.raw::<f32>(), [expect; 2]);
        }
    }

    #[test]
    fn programs_before_and_after() {
        let squares = trace(&[Sort::Num, Sort::Num], 0, |x| vec![(x[0] - x[1]).square()]).unwrap();
        let mean = trace(&[Sort::Num], 1, |x| vec![x[0] / x[1]]).unwrap();
        let x = dense(&[2, 2], &[1f32, 2.0, 3.0, 4.0]);
        let y = Operand::of(&[1f32], layout(&[2, 2], &[0, 0], 0));
        let out = dense(&[1, 1], &[0f64]);
        run(&[&out], &[&x, &y], |outs, ins| {
            RefBackend.reduce(&Reduce {
                op: ReduceOp::Sum,
                ctype: CType::F32,
                pre: Some(Stage { program: &squares, params: &[] }),
                post: Some(Stage { program: &mean, params: &[Number::Int(4)] }),
                out: outs[0],
                ins,
                axes: 0b11,
            })
        })
        .unwrap();
        assert_eq!(out.raw::<f64>(), [3.5]);
    }

    #[test]
    fn truth_is_counted_as_a_number() {
        let nonzero = trace(&[Sort::Num], 0, |x| vec![x[0].to_truth()]).unwrap();
        let (x, out) = (dense(&[4], &[0f32, 2.0, f32::NAN, -0.0]), dense(&[1], &[0i64]));
        run(&[&out], &[&x], |outs, ins| {
            let pre = Some(Stage { program: &nonzero, params: &[] });
            RefBackend.reduce(&Reduce {
                op: ReduceOp::Sum,
                ctype: CType::F32,
                pre,
                post: None,
                out: outs[0],
                ins,
                axes: 1,
            })
        })
        .unwrap();
        assert_eq!(out.raw::<i64>(), [2]);
    }
}
