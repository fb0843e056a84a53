//! Rust's operators on tensors, references to them, results of ops, and plain numbers.

use crate::op::{AsOperand, OperandRef};
use crate::{Result, Tensor};
use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

macro_rules! operators {
    ($($tr:ident $f:ident $method:ident;)*) => { $(
        impl<R: IntoOperand> $tr<R> for &Tensor {
            type Output = Result<Tensor>;
            #[track_caller]
            fn $f(self, other: R) -> Result<Tensor> { Tensor::$method(self, other.as_ready()?) }
        }
        impl<R: IntoOperand> $tr<R> for Tensor {
            type Output = Result<Tensor>;
            #[track_caller]
            fn $f(self, other: R) -> Result<Tensor> { Tensor::$method(&self, other.as_ready()?) }
        }
        operators!(@numbers $tr $f $method; f64 f32 i32 i64);
    )* };
    (@numbers $tr:ident $f:ident $method:ident; $($n:ty)*) => { $(
        impl $tr<&Tensor> for $n {
            type Output = Result<Tensor>;
            #[track_caller]
            fn $f(self, other: &Tensor) -> Result<Tensor> { crate::op::pointwise(&super::arithmetic::rows::$method, &[OperandRef::Number(self.into()), OperandRef::Tensor(other)], operators!(@params $method)) }
        }
        impl $tr<Tensor> for $n {
            type Output = Result<Tensor>;
            #[track_caller]
            fn $f(self, other: Tensor) -> Result<Tensor> { $tr::$f(self, &other) }
        }
    )* };
    (@params add) => { &[crate::Number::Int(1)] };
    (@params sub) => { &[crate::Number::Int(1)] };
    (@params $other:ident) => { &[] };
}

operators! {
    Add add add;
    Sub sub sub;
    Mul mul mul;
    Div div div;
    Rem rem remainder;
}

/// What may stand on the right of an operator; a failed op there makes the whole expression fail.
pub trait IntoOperand {
    /// As an operand.
    ///
    /// # Errors
    /// The error of the op that failed.
    fn as_ready(&self) -> Result<OperandRef<'_>>;
}
impl IntoOperand for Result<Tensor> {
    fn as_ready(&self) -> Result<OperandRef<'_>> {
        self.as_ref().map(OperandRef::Tensor).map_err(crate::Error::clone)
    }
}
macro_rules! into_operand {
    ($($t:ty)*) => { $( impl IntoOperand for $t { fn as_ready(&self) -> Result<OperandRef<'_>> { Ok(self.as_operand()) } } )* };
}
into_operand!(&Tensor Tensor f64 f32 i32 i64);

impl Neg for &Tensor {
    type Output = Result<Tensor>;
    #[track_caller]
    fn neg(self) -> Result<Tensor> {
        Tensor::neg(self)
    }
}
impl Neg for Tensor {
    type Output = Result<Tensor>;
    #[track_caller]
    fn neg(self) -> Result<Tensor> {
        Tensor::neg(&self)
    }
}
