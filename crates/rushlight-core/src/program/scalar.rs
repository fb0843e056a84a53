//! The symbolic number that formulas are written with.

use super::build::{Node, literal_of, record, sort_of};
use super::{Opcode, Sort};
use crate::Number;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Rem, Sub};

/// A number inside a formula: records what is done to it instead of doing it.
///
/// It has Rust's operators and torch's function names. Comparisons give truth values, which
/// [`Scalar::select`] chooses by. A scalar is valid only inside the closure it was handed to.
///
/// ```
/// use rushlight_core::program::{Scalar, Sort, trace};
/// let p = trace(&[Sort::Num, Sort::Num], 0, |x| vec![(x[0] * x[1]).tanh() + 1.0]).unwrap();
/// assert_eq!(p.steps().len(), 3);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Scalar {
    pub(super) id: u32,
    pub(super) epoch: u64,
}

/// Operands are brought to the sort the opcode takes, so that truth values can be added up.
fn apply(op: Opcode, args: [Option<Scalar>; 3]) -> Scalar {
    let mut fitted = [None; 3];
    for (k, want) in op.inputs().iter().enumerate() {
        let Some(a) = args[k] else { continue };
        fitted[k] = Some(match (sort_of(a), want) {
            (Sort::Truth, Sort::Num) => record(|id| Node::Op(Opcode::FromTruth, [id(a), 0, 0])),
            (Sort::Num, Sort::Truth) => record(|id| Node::Op(Opcode::ToTruth, [id(a), 0, 0])),
            _ => a,
        });
    }
    record(|id| Node::Op(op, fitted.map(|a| a.map_or(0, &mut *id))))
}

fn is(s: Scalar, value: f64) -> bool {
    // -0.0 must not count as 0: x + -0.0 is x, but x + 0.0 is not for x = -0.0.
    matches!(literal_of(s), Some(n) if n.to_f64() == value && n.category() != crate::Category::Complex && value != 0.0)
}

impl Scalar {
    /// A fixed number.
    pub fn number(value: impl Into<Number>) -> Scalar {
        let n = value.into();
        record(|_| Node::Literal(n))
    }
    /// An opcode by name; the functions and operators are shorter. Missing operands count as 0, those
    /// beyond the opcode's are not looked at.
    #[must_use]
    pub fn of(op: Opcode, args: &[Scalar]) -> Scalar {
        let mut operands = [None; 3];
        for (k, operand) in operands.iter_mut().enumerate().take(op.inputs().len()) {
            *operand = Some(args.get(k).copied().unwrap_or_else(|| Scalar::number(0i64)));
        }
        apply(op, operands)
    }
    pub(super) fn unary(self, op: Opcode) -> Scalar {
        apply(op, [Some(self), None, None])
    }
    pub(super) fn binary(self, op: Opcode, other: impl Into<Scalar>) -> Scalar {
        apply(op, [Some(self), Some(other.into()), None])
    }
    /// `self` where the truth value is true: `c.select(a, b)` is torch's `where(c, a, b)`.
    #[must_use]
    pub fn select(self, if_true: impl Into<Scalar>, if_false: impl Into<Scalar>) -> Scalar {
        apply(Opcode::Select, [Some(self), Some(if_true.into()), Some(if_false.into())])
    }
    /// Whether it is a truth value and not a number.
    pub fn is_truth(self) -> bool {
        sort_of(self) == Sort::Truth
    }
    /// `self * self`.
    #[must_use]
    pub fn square(self) -> Scalar {
        self * self
    }
    /// Whether the sign bit is set.
    pub fn is_negative(self) -> Scalar {
        Scalar::number(1.0).copysign(self).lt(0.0)
    }
    /// Between `low` and `high`; NaN stays NaN.
    #[must_use]
    pub fn clamp(self, low: impl Into<Scalar>, high: impl Into<Scalar>) -> Scalar {
        self.maximum(low).minimum(high)
    }
}

macro_rules! functions {
    (unary { $($u:ident $uo:ident,)* } binary { $($b:ident $bo:ident,)* }) => {
        impl Scalar {
            $( #[doc = concat!("The opcode [`Opcode::", stringify!($uo), "`].")] #[must_use]
               pub fn $u(self) -> Scalar { self.unary(Opcode::$uo) } )*
            $( #[doc = concat!("The opcode [`Opcode::", stringify!($bo), "`].")] #[must_use]
               pub fn $b(self, other: impl Into<Scalar>) -> Scalar { self.binary(Opcode::$bo, other) } )*
        }
    };
}

functions! {
    unary { abs Abs, sign Sign, reciprocal Recip, sqrt Sqrt, rsqrt Rsqrt, exp Exp, exp2 Exp2, expm1 Expm1, log Log,
        log2 Log2, log10 Log10, log1p Log1p, sin Sin, cos Cos, tan Tan, asin Asin, acos Acos, atan Atan,
        sinh Sinh, cosh Cosh, tanh Tanh, asinh Asinh, acosh Acosh, atanh Atanh, sigmoid Sigmoid, erf Erf,
        erfc Erfc, floor Floor, ceil Ceil, round Round, trunc Trunc, relu Relu, bitwise_not BitNot,
        isnan IsNan, isinf IsInf, to_truth ToTruth, from_truth FromTruth, }
    binary { floor_divide FloorDiv, remainder Rem, fmod Fmod, pow Pow, atan2 Atan2, maximum Max, minimum Min,
        copysign Copysign, bitwise_and BitAnd, bitwise_or BitOr, bitwise_xor BitXor,
        bitwise_left_shift Shl, bitwise_right_shift Shr, eq Eq, ne Ne, lt Lt, le Le, gt Gt, ge Ge,
        logical_and And, logical_or Or, logical_xor Xor, }
}

impl<N: Into<Number>> From<N> for Scalar {
    fn from(n: N) -> Scalar {
        Scalar::number(n)
    }
}

macro_rules! operators {
    ($($tr:ident $f:ident |$a:ident, $b:ident| $e:expr;)*) => { $(
        impl<S: Into<Scalar>> $tr<S> for Scalar {
            type Output = Scalar;
            fn $f(self, other: S) -> Scalar { let ($a, $b) = (self, other.into()); $e }
        }
        impl $tr<Scalar> for f64 {
            type Output = Scalar;
            fn $f(self, other: Scalar) -> Scalar { Scalar::number(self).$f(other) }
        }
    )* };
}

operators! {
    Add add |a, b| a.binary(Opcode::Add, b);
    Sub sub |a, b| a.binary(Opcode::Sub, b);
    Mul mul |a, b| if is(b, 1.0) { a } else if is(a, 1.0) { b } else { a.binary(Opcode::Mul, b) };
    Div div |a, b| if is(b, 1.0) { a } else { a.binary(Opcode::Div, b) };
    Rem rem |a, b| a.binary(Opcode::Rem, b);
    BitAnd bitand |a, b| a.binary(Opcode::And, b);
    BitOr bitor |a, b| a.binary(Opcode::Or, b);
}

impl Neg for Scalar {
    type Output = Scalar;
    fn neg(self) -> Scalar {
        self.unary(Opcode::Neg)
    }
}

/// Logical not of a truth value.
impl Not for Scalar {
    type Output = Scalar;
    fn not(self) -> Scalar {
        self.unary(Opcode::Not)
    }
}
