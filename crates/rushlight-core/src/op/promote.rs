//! Which dtype an op computes in and gives: torch's type promotion (contract 1f).

use super::value::OperandRef;
use crate::{CType, Category, DType, Number, Result, bail};

/// How a pointwise op's result dtype follows from its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The promoted dtype.
    Promote,
    /// The promoted dtype; the default float for bool and integers.
    Float,
    /// Compares in the promoted dtype, gives bool.
    Compare,
    /// Computes in the promoted dtype, gives bool; numbers are not cast to it first.
    Truth,
}

/// Operands an op does not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, missing_docs)]
pub enum Refuse {
    bool,
    int,
    float,
    complex,
    /// Complex numbers, where it is their order that is missing (`Type`).
    order,
    /// A bool operand, whatever the others are.
    any_bool,
    /// A plain number where torch wants a tensor; only callers through the table are told.
    number,
    /// An integer divisor that is zero.
    zero_divisor,
    /// A negative whole number as the exponent of an integer tensor.
    negative_exponent,
}

/// The common dtype of operands: those with dimensions outrank 0-d tensors, which outrank numbers.
///
/// # Errors
/// `Runtime` for unsigned dtypes that torch does not promote.
pub fn result_type(operands: &[OperandRef<'_>]) -> Result<DType> {
    let (mut dims, mut zero, mut plain): (Option<DType>, Option<DType>, Option<DType>) = (None, None, None);
    for o in operands {
        let (slot, dtype) = match o {
            OperandRef::Tensor(t) if t.dim() > 0 => (&mut dims, t.dtype()),
            OperandRef::Tensor(t) => (&mut zero, t.dtype()),
            OperandRef::Number(n) => (&mut plain, n.default_dtype(crate::default_dtype())),
        };
        *slot = Some(match *slot {
            Some(d) if d != dtype => d.promote(dtype)?,
            _ => dtype,
        });
    }
    Ok(rank(dims, rank(zero, plain)?)?.unwrap_or(crate::default_dtype()))
}

/// As `result_type`, for comparisons: of integers even a 0-d tensor counts, so that no value is
/// wrapped before it is compared. torch wraps, where 0-d int32 40000 is less than int16 0.
pub(super) fn compared_type(operands: &[OperandRef<'_>]) -> Result<DType> {
    let common = result_type(operands)?;
    if common.category() != Category::Int {
        return Ok(common);
    }
    let wider = operands.iter().try_fold(common, |wide, o| match o {
        OperandRef::Tensor(t) => wide.promote(t.dtype()),
        OperandRef::Number(_) => Ok(wide),
    });
    // uint64 has no common dtype with a signed integer; torch's rule is left.
    Ok(wider.unwrap_or(common))
}

/// A lower operand matters only when its category is higher.
fn rank(high: Option<DType>, low: Option<DType>) -> Result<Option<DType>> {
    let (Some(h), Some(l)) = (high, low) else { return Ok(high.or(low)) };
    Ok(Some(match (h.category(), l.category()) {
        (Category::Complex, _) => h,
        (Category::Float, Category::Complex) => h.complex(),
        (Category::Float, _) => h,
        (Category::Bool, _) | (_, Category::Float | Category::Complex) => match h.promote(l) {
            Ok(d) => d,
            Err(_) => l,
        },
        _ => h,
    }))
}

impl Rule {
    /// The dtype to compute in and the dtype of the result.
    pub fn apply(self, common: DType) -> (DType, DType) {
        match self {
            Rule::Promote => (common, common),
            Rule::Float if common.is_integral() => (crate::default_dtype(), crate::default_dtype()),
            Rule::Float => (common, common),
            Rule::Compare | Rule::Truth => (common, DType::Bool),
        }
    }
}

/// The type kernels compute a dtype in; bool counts as 0 and 1, so that sums are "or".
pub fn compute_type(dtype: DType) -> CType {
    if dtype == DType::Bool { CType::I32 } else { dtype.ctype() }
}

/// Refuses a dtype that a row does not take.
///
/// # Errors
/// `NotImplemented` (`Type` for bitwise ops on floats) naming op and dtype.
pub fn check_accepts(op: &'static str, refused: &[Refuse], dtype: DType) -> Result<()> {
    if dtype.is_complex() && refused.contains(&Refuse::order) {
        bail!(Type, op, "complex numbers have no order; compare abs() or real and imag");
    }
    let hit = refused.iter().any(|r| {
        matches!(
            (r, dtype.category()),
            (Refuse::bool, Category::Bool)
                | (Refuse::int, Category::Int)
                | (Refuse::float, Category::Float)
                | (Refuse::complex, Category::Complex)
        )
    });
    if !hit {
        return Ok(());
    }
    let takes: Vec<&str> = [
        (Refuse::bool, "bool"),
        (Refuse::int, "integers"),
        (Refuse::float, "floats"),
        (Refuse::complex, "complex numbers"),
    ]
    .iter()
    .filter(|(r, _)| !refused.contains(r))
    .map(|(_, name)| *name)
    .collect();
    bail!(
        NotImplemented,
        op,
        "is not defined for {dtype}; it takes {}; convert with to_dtype",
        takes.join(", ")
    )
}

/// Refuses a number whose category a tensor's dtype cannot hold after promotion: the rule for
/// writing a result of dtype `from` into a tensor of dtype `to`.
///
/// # Errors
/// `Runtime` when the category would fall.
pub fn check_castable(op: &'static str, from: DType, to: DType) -> Result<()> {
    if from.category() > to.category() {
        bail!(
            Runtime,
            op,
            "a result of {from} cannot be written to a tensor of {to}; convert the tensor with to_dtype({from}) first"
        )
    }
    Ok(())
}

/// What a number becomes beside tensors of dtype `common`.
pub(crate) fn fit_number(rule: Rule, n: Number, common: DType) -> Number {
    if rule == Rule::Compare || common.is_integral() { n.cast(common) } else { n }
}
