//! Laws of `map` for single opcodes.

use super::tolerances::is_exact;
use super::{CTYPES, dtypes_of, input, is_complex, opcode_tolerance, output, required, shape, told_all};
use crate::{Arg, Operand, Pair, Report, Rng, Tolerance, Values, writable_variants};
use rushlight_core::backend::Map;
use rushlight_core::program::{Opcode, Program, Scalar, Sort, Special, trace};
use rushlight_core::{CType, DType, Kind};
use std::cell::RefCell;

/// Calls for each opcode and compute type.
const ROUNDS: usize = 6;

/// Every opcode on every compute type, over all layouts.
pub fn opcodes(pair: &Pair, seed: u64) -> Report {
    let mut report = Report::default();
    let special = Special::ALL.iter().map(|f| Opcode::Special(*f));
    for (k, op) in Opcode::ALL.iter().copied().chain(special).enumerate() {
        for ctype in CTYPES {
            let mut rng = Rng::new(seed ^ (k as u64) << 8 ^ ctype as u64);
            for _ in 0..ROUNDS {
                opcode(pair, &mut report, &mut rng, op, ctype);
            }
        }
    }
    report
}

/// # Panics
/// When a program of one opcode does not compile.
fn single(op: Opcode) -> Program {
    trace(op.inputs(), 0, |x| vec![Scalar::of(op, x)]).expect("one opcode makes a program")
}

fn opcode(pair: &Pair, report: &mut Report, rng: &mut Rng, op: Opcode, ctype: CType) {
    let program = single(op);
    let shape = shape(rng, 0);
    let mut ins: Vec<Operand> = Vec::new();
    for &sort in op.inputs() {
        let dtype = operand_dtype(rng, sort, ctype, is_exact(op));
        // Conventions for complex functions of infinities and NaN differ.
        let values = if is_complex(ctype) { Values::Moderate } else { Values::Any };
        ins.push(input(rng, &shape, dtype, values));
    }
    let stored = match op.output() {
        Sort::Truth if rng.one_in(3) => *rng.pick(DType::ALL),
        Sort::Truth => DType::Bool,
        // A tiny difference would be a large one after a cast to integers.
        Sort::Num if is_exact(op) && rng.one_in(6) => *rng.pick(DType::ALL),
        Sort::Num => *rng.pick(dtypes_of(ctype)),
    };
    let out = output(rng, &shape, stored);
    let args: Vec<Arg<'_>> = ins.iter().map(Arg::Own).collect();
    let tolerance = opcode_tolerance(op, ctype, stored);
    let result = pair.agree(&[&out], &args, &[tolerance], |backend, outs, ins| {
        backend.map(&Map { program: &program, params: &[], ctype, outs, ins })
    });
    let result = match result {
        Err(why) => match refusals(pair, &program, ctype, &out, &args).as_slice() {
            [Some(Kind::NotImplemented), None] if !required(op, ctype) => Ok(()),
            // Nothing to compute is nothing to refuse.
            [None, Some(Kind::NotImplemented)] if out.layout.is_empty() => Ok(()),
            _ => Err(why),
        },
        Ok(_) => Ok(()),
    };
    report.case(result, || format!("{} on {ctype:?}: {} -> {}", op.name(), told_all(&ins), told_all([&out])));
}

/// Mostly a dtype that is computed as `ctype` anyway. Complex functions get no large integers, which
/// would take them to where they amplify any rounding.
fn operand_dtype(rng: &mut Rng, sort: Sort, ctype: CType, exact: bool) -> DType {
    match sort {
        Sort::Truth if rng.one_in(2) => DType::Bool,
        Sort::Num if !rng.one_in(6) || (is_complex(ctype) && !exact) => *rng.pick(dtypes_of(ctype)),
        _ => *rng.pick(DType::ALL),
    }
}

/// The kinds of error of the subject and of the definition.
fn refusals(
    pair: &Pair,
    program: &Program,
    ctype: CType,
    out: &Operand,
    args: &[Arg<'_>],
) -> Vec<Option<Kind>> {
    let kinds = RefCell::new(Vec::new());
    let _ = pair.agree(&[out], args, &[Tolerance::EXACT], |backend, outs, ins| {
        let result = backend.map(&Map { program, params: &[], ctype, outs, ins });
        kinds.borrow_mut().push(result.as_ref().err().map(|e| e.kind()));
        result
    });
    kinds.into_inner()
}

/// The output may be the very elements of any input of its dtype.
pub fn in_place(pair: &Pair, seed: u64) -> Report {
    let mut report = Report::default();
    let ops = [Opcode::Neg, Opcode::Abs, Opcode::Add, Opcode::Sub, Opcode::Mul, Opcode::Max, Opcode::Select];
    for ctype in [CType::I32, CType::I64, CType::U64, CType::F32, CType::F64] {
        for op in ops {
            for &dtype in dtypes_of(ctype) {
                let mut rng = Rng::new(seed ^ u64::from(op.name().len() as u8) << 16 ^ (dtype as u64));
                for _ in 0..3 {
                    one_in_place(pair, &mut report, &mut rng, op, ctype, dtype);
                }
            }
        }
    }
    report
}

fn one_in_place(pair: &Pair, report: &mut Report, rng: &mut Rng, op: Opcode, ctype: CType, dtype: DType) {
    let program = single(op);
    let shape = shape(rng, 0);
    let layouts = writable_variants(&shape, rng);
    let target = Operand::new(rng.pick(&layouts), dtype, Values::Any, rng);
    let others: Vec<Operand> = op
        .inputs()
        .iter()
        .map(|sort| input(rng, &shape, if *sort == Sort::Truth { DType::Bool } else { dtype }, Values::Any))
        .collect();
    // At least one operand is the target; a truth value may be too, when the dtype is bool.
    let free: Vec<usize> = (0..others.len()).filter(|k| op.inputs()[*k] == Sort::Num).collect();
    let shared = *rng.pick(&free);
    let also = rng.one_in(4);
    let args: Vec<Arg<'_>> = (0..others.len())
        .map(|k| if k == shared || (also && free.contains(&k)) { Arg::Out(0) } else { Arg::Own(&others[k]) })
        .collect();
    let tolerance = opcode_tolerance(op, ctype, dtype);
    let result = pair.agree(&[&target], &args, &[tolerance], |backend, outs, ins| {
        backend.map(&Map { program: &program, params: &[], ctype, outs, ins })
    });
    report.case(result.map(drop), || {
        format!(
            "{} in place of operand {shared} (all: {also}): {}; {}",
            op.name(),
            told_all([&target]),
            told_all(&others)
        )
    });
}
