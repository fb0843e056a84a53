//! Pointwise work as a short list of scalar operations: a [`Program`].
//!
//! A program knows no shapes and no dtypes. It takes numbers (or truth values), has parameters
//! whose values come with each call, and gives one or more results. Backends run it in blocks;
//! autograd derives its gradient as another program. It is written as a closure over [`Scalar`]s.

mod build;
mod derive;
mod opcode;
mod scalar;
mod special;

pub use build::{trace, trace_bound};
pub use derive::{Feed, GradProgram, GradRule};
pub use opcode::{Opcode, Sort};
pub use scalar::Scalar;
pub use special::{Function, Special};

use crate::Number;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

/// Where a step finds an operand, or an output its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Src {
    /// Element of the `i`-th input.
    Input(u8),
    /// The `i`-th parameter of the call: the same number for every element.
    Param(u8),
    /// The `i`-th literal of the program.
    Literal(u8),
    /// The result of an earlier step, in this register.
    Reg(u8),
}

/// One operation: `dst = op(args)`. `dst` is never also an operand, so kernels need no alias test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What to do.
    pub op: Opcode,
    /// The register that receives the result.
    pub dst: u8,
    args: [Src; 3],
}

impl Step {
    /// The operands, as many as the opcode takes.
    pub fn args(&self) -> &[Src] {
        &self.args[..self.op.inputs().len()]
    }
}

/// A pointwise computation. Immutable; share it by reference or `Arc`.
pub struct Program {
    pub(crate) nodes: Vec<build::Node>,
    pub(crate) roots: Vec<u32>,
    /// What each argument of the closure became: an input, or a parameter if it was bound.
    args: Vec<build::Node>,
    inputs: Vec<Sort>,
    params: u8,
    literals: Vec<Number>,
    steps: Vec<Step>,
    outputs: Vec<(Src, Sort)>,
    registers: u8,
    /// By which inputs are wanted: usual ones have a place of their own.
    usual_grads: [OnceLock<Arc<GradProgram>>; 8],
    grads: Mutex<Vec<(u64, Arc<GradProgram>)>>,
    grad_rule: Option<GradRule>,
}

impl Program {
    /// The sort of each input.
    pub fn inputs(&self) -> &[Sort] {
        &self.inputs
    }
    /// How many parameters a call must bring.
    pub fn params(&self) -> usize {
        usize::from(self.params)
    }
    /// The literal numbers its steps refer to.
    pub fn literals(&self) -> &[Number] {
        &self.literals
    }
    /// The operations, in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
    /// Where each result is found after the last step, and its sort.
    pub fn outputs(&self) -> &[(Src, Sort)] {
        &self.outputs
    }
    /// How many registers the steps use.
    pub fn registers(&self) -> usize {
        usize::from(self.registers)
    }
    /// The sort of the value in each register is the output sort of the step that wrote it last;
    /// this is the sort of an operand at step `at`.
    pub fn sort_of(&self, src: Src, at: usize) -> Sort {
        match src {
            Src::Input(i) => self.inputs[usize::from(i)],
            Src::Param(_) | Src::Literal(_) => Sort::Num,
            Src::Reg(r) => {
                self.steps[..at].iter().rev().find(|s| s.dst == r).map_or(Sort::Num, |s| s.op.output())
            }
        }
    }
    /// Whether it only hands its single input on: a copy, perhaps with a change of dtype.
    pub fn is_copy(&self) -> bool {
        self.steps.is_empty() && matches!(self.outputs.as_slice(), [(Src::Input(0), _)])
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for s in &self.steps {
            writeln!(f, "r{} = {} {:?}", s.dst, s.op.name(), s.args())?;
        }
        write!(f, "give {:?}", self.outputs)
    }
}
