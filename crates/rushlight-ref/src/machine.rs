//! Runs a program for one element.

use crate::eval::eval;
use crate::value::Val;
use rushlight_core::mem::Span;
use rushlight_core::program::{Program, Sort, Src};
use rushlight_core::{CType, Number, Result, ensure};

/// A program with its numbers in the compute type.
pub(crate) struct Machine<'a> {
    program: &'a Program,
    ctype: CType,
    params: Vec<Val>,
    literals: Vec<Val>,
}

impl<'a> Machine<'a> {
    /// # Errors
    /// `NotImplemented` when a step has no meaning for `ctype`, so that a kernel fails before it
    /// writes; `Runtime` when the number of parameters is not the program's.
    pub(crate) fn new(program: &'a Program, params: &[Number], ctype: CType) -> Result<Self> {
        ensure!(
            params.len() == program.params(),
            Runtime,
            "map",
            "the program has {} parameters and {} were given",
            program.params(),
            params.len()
        );
        let fit = |numbers: &[Number]| numbers.iter().map(|n| Val::of(*n, ctype)).collect();
        let machine = Machine { program, ctype, params: fit(params), literals: fit(program.literals()) };
        let zero = |sort: &Sort| Val::of(Number::Bool(false), machine.sort_type(*sort));
        machine.run(&program.inputs().iter().map(zero).collect::<Vec<_>>())?;
        Ok(machine)
    }

    fn sort_type(&self, sort: Sort) -> CType {
        match sort {
            Sort::Num => self.ctype,
            Sort::Truth => CType::Bool,
        }
    }

    /// The operands of one element, each at its own offset.
    pub(crate) fn load(&self, ins: &[Span<'_>], offset: impl Fn(&Span<'_>) -> isize) -> Vec<Val> {
        let sorts = self.program.inputs().iter();
        ins.iter().zip(sorts).map(|(s, sort)| Val::of(s.load(offset(s)), self.sort_type(*sort))).collect()
    }

    /// The results for one element.
    pub(crate) fn run(&self, inputs: &[Val]) -> Result<Vec<Val>> {
        let mut registers = vec![Val::Bool(false); self.program.registers()];
        let find = |src: Src, registers: &[Val]| match src {
            Src::Input(i) => inputs[usize::from(i)],
            Src::Param(i) => self.params[usize::from(i)],
            Src::Literal(i) => self.literals[usize::from(i)],
            Src::Reg(i) => registers[usize::from(i)],
        };
        for step in self.program.steps() {
            let args: Vec<Val> = step.args().iter().map(|a| find(*a, &registers)).collect();
            registers[usize::from(step.dst)] = eval(step.op, self.ctype, &args)?;
        }
        Ok(self.program.outputs().iter().map(|(src, _)| find(*src, &registers)).collect())
    }
}
