//! Laws of `map` for whole programs: many steps, parameters, literals, several results.

use super::{dtypes_of, input, output, shape, told_all};
use crate::{Arg, Operand, Pair, Report, Rng, Tolerance, Values};
use rushlight_core::backend::Map;
use rushlight_core::program::{Opcode, Program, Scalar, Sort, trace};
use rushlight_core::{CType, DType, Number};

/// Opcodes whose results are the same on every machine, so that long chains are too.
const EXACT: [Opcode; 19] = [
    Opcode::Neg,
    Opcode::Abs,
    Opcode::Add,
    Opcode::Sub,
    Opcode::Mul,
    Opcode::Max,
    Opcode::Min,
    Opcode::Relu,
    Opcode::Floor,
    Opcode::Eq,
    Opcode::Lt,
    Opcode::Ge,
    Opcode::IsNan,
    Opcode::And,
    Opcode::Or,
    Opcode::Not,
    Opcode::Xor,
    Opcode::FromTruth,
    Opcode::Select,
];

/// Random programs of up to 14 steps over up to four operands, with up to three results.
pub fn programs(pair: &Pair, seed: u64) -> Report {
    let mut report = Report::default();
    for ctype in [CType::I32, CType::I64, CType::U64, CType::F32, CType::F64] {
        let mut rng = Rng::new(seed ^ ctype as u64);
        for _ in 0..60 {
            one(pair, &mut report, &mut rng, ctype);
        }
    }
    report
}

fn one(pair: &Pair, report: &mut Report, rng: &mut Rng, ctype: CType) {
    let sorts: Vec<Sort> =
        (0..rng.below(5)).map(|_| if rng.one_in(4) { Sort::Truth } else { Sort::Num }).collect();
    let params: Vec<Number> = (0..1 + rng.below(2)).map(|_| Number::Int(rng.between(-3, 3))).collect();
    let program = random(rng, &sorts, params.len());
    let shape = shape(rng, 0);
    let native = dtypes_of(ctype);
    let mut ins: Vec<Operand> = Vec::new();
    for sort in &sorts {
        let dtype = if *sort == Sort::Truth && rng.one_in(2) { DType::Bool } else { *rng.pick(native) };
        ins.push(input(rng, &shape, dtype, Values::Any));
    }
    let mut outs: Vec<Operand> = Vec::new();
    for (_, sort) in program.outputs() {
        let dtype = if *sort == Sort::Truth { DType::Bool } else { *rng.pick(native) };
        outs.push(output(rng, &shape, dtype));
    }
    let outs_by_ref: Vec<&Operand> = outs.iter().collect();
    let args: Vec<Arg<'_>> = ins.iter().map(Arg::Own).collect();
    let tolerances = vec![Tolerance::EXACT.any_zero(); outs.len()];
    let result = pair.agree(&outs_by_ref, &args, &tolerances, |backend, outs, ins| {
        backend.map(&Map { program: &program, params: &params, ctype, outs, ins })
    });
    report.case(result.map(drop), || {
        format!("{program:?}\nas {ctype:?} with {params:?}: {} -> {}", told_all(&ins), told_all(&outs))
    });
}

/// # Panics
/// When the program does not compile.
fn random(rng: &mut Rng, sorts: &[Sort], params: usize) -> Program {
    let steps = rng.below(15);
    let results = 1 + rng.below(3);
    let program = trace(sorts, params, |x| {
        let mut values = x.to_vec();
        values.push(Scalar::number(2i64));
        for _ in 0..steps {
            let op = *rng.pick(&EXACT);
            let args: Vec<Scalar> = op.inputs().iter().map(|_| *rng.pick(&values)).collect();
            values.push(Scalar::of(op, &args));
        }
        // The last value, and any others: an input, a parameter or a literal as it is, too.
        let last = values[values.len() - 1];
        (0..results).map(|k| if k == 0 { last } else { *rng.pick(&values) }).collect()
    });
    program.expect("a random program compiles")
}
