//! Formulas of the user's own: traced once, run in one pass over memory, gradients derived.

use super::point::run_program;
use super::promote::{Rule, result_type};
use super::value::{AsOperand, Operand, OperandRef};
use crate::program::{Opcode, Program, Scalar, Sort, Src, trace, trace_bound};
use crate::trace::SiteGuard;
use crate::{Category, DType, Result, Tensor, bail, ensure};
use smallvec::SmallVec;
use std::sync::Arc;

const NAME: &str = "pointwise";

/// A formula over tensors, written with [`Scalar`]s: one pass over memory, gradients derived.
///
/// ```
/// use rushlight::{Formula, Tensor};
/// let f = Formula::new(|[x, y]| (x * y).tanh() + y)?;
/// let (x, y) = (Tensor::from_vec(vec![0.5f32, 1.0], [2])?, Tensor::from_vec(vec![2f32], [1])?);
/// let z = f.call([&x, &y])?;                          // broadcasts like any op
/// assert_eq!(z.shape(), [2]);
/// # Ok::<(), rushlight::Error>(())
/// ```
pub struct Formula<const N: usize>(Arc<Program>);

impl<const N: usize> Formula<N> {
    /// Traces the closure once.
    ///
    /// # Errors
    /// `Value` when it returns a scalar of another formula, or is too long for one program.
    pub fn new(f: impl FnOnce([Scalar; N]) -> Scalar) -> Result<Self> {
        let program = trace_bound(&[Sort::Num; N], 0, 0, |args| vec![f(std::array::from_fn(|i| args[i]))])?;
        Ok(Formula(Arc::new(program)))
    }

    /// Evaluates it; operands broadcast and promote, integers count as the default float.
    ///
    /// # Errors
    /// `Runtime` when shapes do not broadcast or devices differ.
    #[track_caller]
    pub fn call(&self, inputs: [&Tensor; N]) -> Result<Tensor> {
        let _site = SiteGuard::enter("pointwise");
        let ins: SmallVec<[Tensor; 3]> = inputs.iter().map(|t| (*t).clone()).collect();
        let operands: SmallVec<[OperandRef<'_>; 3]> = ins.iter().map(OperandRef::Tensor).collect();
        let (common, float) = Rule::Float.apply(result_type(&operands)?);
        let dtype = if self.0.outputs()[0].1 == Sort::Truth { DType::Bool } else { float };
        if ins.is_empty() {
            bail!(Type, NAME, "a formula without inputs has no shape; use full");
        }
        let mut outs = run_program("pointwise", &self.0, &ins, &[], common, &[dtype])?;
        Ok(outs.remove(0))
    }
}

impl Tensor {
    /// Evaluates a formula over tensors in one pass; see [`Formula`] to keep one for many calls.
    ///
    /// ```
    /// use rushlight::Tensor;
    /// let x = Tensor::from_vec(vec![1f64, 2.0], [2])?.requires_grad_(true)?;
    /// let y = Tensor::pointwise([&x], |[x]| x * x * 3.0)?.sum((), false)?;
    /// y.backward()?;
    /// assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [6.0, 12.0]);
    /// # Ok::<(), rushlight::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Formula::new`] and [`Formula::call`].
    #[track_caller]
    pub fn pointwise<const N: usize>(
        inputs: [&Tensor; N],
        f: impl FnOnce([Scalar; N]) -> Scalar,
    ) -> Result<Tensor> {
        Formula::new(f)?.call(inputs)
    }
}

/// A formula whose number of inputs is known only when it is traced; for bindings.
///
/// Unlike [`Formula`] it takes integers as they are, as far as its operations do, and gives as many
/// results as it was traced with.
pub struct Traced {
    program: Arc<Program>,
    inputs: usize,
    /// Holds an operation that gives fractions.
    fractional: bool,
}

impl Traced {
    /// Traces `f` once over `inputs` scalars; its results become those of [`Traced::call`].
    /// `fractional` says that integers count as the default float, whatever the operations are.
    ///
    /// # Errors
    /// `Value` for a scalar of another formula, no result, more than 64 inputs, or a formula too long
    /// for one program.
    pub fn new(inputs: usize, f: impl FnOnce(&[Scalar]) -> (Vec<Scalar>, bool)) -> Result<Traced> {
        ensure!(inputs <= 64, Value, NAME, "{inputs} inputs; at most 64 work");
        let mut fractional = false;
        let program = trace(&vec![Sort::Num; inputs], 0, |x| {
            let (results, float) = f(x);
            fractional = float;
            results
        })?;
        fractional |= program.steps().iter().any(|s| gives_fractions(s.op));
        Ok(Traced { program: Arc::new(program), inputs, fractional })
    }

    /// The program, as text.
    pub fn listing(&self) -> String {
        format!("{:?}", self.program)
    }

    /// Evaluates it; operands broadcast and promote as those of any op.
    ///
    /// # Errors
    /// `Type` for another number of operands, `Runtime` when shapes do not broadcast or devices
    /// differ, `NotImplemented` for a dtype that an operation inside does not take.
    #[track_caller]
    pub fn call(&self, operands: &[Operand]) -> Result<SmallVec<[Tensor; 2]>> {
        let _site = SiteGuard::enter(NAME);
        ensure!(
            operands.len() == self.inputs && self.inputs > 0,
            Type,
            NAME,
            "the formula takes {} arguments, got {}; one without any has no shape",
            self.inputs,
            operands.len()
        );
        let all: Vec<Operand> = operands
            .iter()
            .cloned()
            .chain(self.program.literals().iter().map(|n| Operand::Number(*n)))
            .collect();
        let refs: SmallVec<[OperandRef<'_>; 3]> = all.iter().map(AsOperand::as_operand).collect();
        let promoted = result_type(&refs).map_err(|e| e.in_op(NAME))?;
        let (mut common, _) = if self.fractional { Rule::Float } else { Rule::Promote }.apply(promoted);
        if common == DType::Bool && self.program.steps().iter().any(|s| s.op.output() == Sort::Num) {
            common = DType::I64; // arithmetic on truth values counts
        }
        self.check(common)?;
        let mut device = crate::Device::CPU;
        for o in operands {
            if let Operand::Tensor(t) = o
                && t.dim() > 0
            {
                device = t.device();
            }
        }
        let ins: Result<Vec<Tensor>> = operands
            .iter()
            .map(|o| match o {
                Operand::Tensor(t) if t.device() != device && t.dim() == 0 => t.to_device(device),
                Operand::Tensor(t) => Ok(t.clone()),
                Operand::Number(n) => Tensor::scalar_of(*n, common, device),
            })
            .collect();
        let dtypes: Vec<DType> = self
            .program
            .outputs()
            .iter()
            .map(|(_, sort)| if *sort == Sort::Truth { DType::Bool } else { common })
            .collect();
        run_program(NAME, &self.program, &ins?, &[], common, &dtypes)
    }

    /// Refuses what the kernels would not compute as the ops of the same names do.
    fn check(&self, common: DType) -> Result<()> {
        ensure!(
            common.category() != Category::Complex,
            NotImplemented,
            NAME,
            "is not defined for {common}; take real() and imag() apart"
        );
        for (at, step) in self.program.steps().iter().enumerate() {
            use Opcode::{BitAnd, BitNot, BitOr, BitXor, FloorDiv, Fmod, Pow, Rem, Shl, Shr};
            let name = step.op.name();
            let bits = matches!(step.op, BitAnd | BitOr | BitXor | BitNot | Shl | Shr);
            ensure!(
                !bits || common.is_integral(),
                NotImplemented,
                NAME,
                "{name} works on the bits of integers, and this formula computes in {common}"
            );
            if !common.is_integral() || !matches!(step.op, FloorDiv | Fmod | Rem | Pow) {
                continue;
            }
            let second = step.args().get(1).copied();
            let known = match second {
                Some(Src::Literal(k)) => self.program.literals().get(usize::from(k)).map(|n| n.to_f64()),
                _ => None,
            };
            let fine = match (step.op, known) {
                (Pow, n) => n.is_none_or(|n| n >= 0.0),
                (_, n) => n.is_some_and(|n| n != 0.0),
            };
            ensure!(
                fine,
                Runtime,
                NAME,
                "step {at}, {name}, could divide an integer by zero; convert an argument to a float"
            );
        }
        Ok(())
    }
}

/// Whether integers have to become floats first.
fn gives_fractions(op: Opcode) -> bool {
    use Opcode::*;
    matches!(
        op,
        Recip
            | Sqrt
            | Rsqrt
            | Exp
            | Exp2
            | Expm1
            | Log
            | Log2
            | Log10
            | Log1p
            | Sin
            | Cos
            | Tan
            | Asin
            | Acos
            | Atan
            | Sinh
            | Cosh
            | Tanh
            | Asinh
            | Acosh
            | Atanh
            | Sigmoid
            | Erf
            | Erfc
            | Div
            | Atan2
            | Copysign
    )
}
