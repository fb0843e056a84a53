//! Rust's operators on tensors, references to them, results of ops, and plain numbers.

use crate::op::Operand;
use crate::{Result, Tensor};
use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

macro_rules! operators {
    ($($tr:ident $f:ident $method:ident;)*) => { $(
        impl<R: IntoOperand> $tr<R> for &Tensor {
            type Output = Result<Tensor>;
            #[track_caller]
            fn $f(self, other: R) -> Result<Tensor> { Tensor::$method(self, other.into_operand()?) }
        }
        impl<R: IntoOperand> $tr<R> for Tensor {
            type Output = Result<Tensor>;
            #[track_caller]
            fn $f(self, other: R) -> Result<Tensor> { Tensor::$method(&self, other.into_operand()?) }
        }
        operators!(@numbers $tr $f $method; f64 f32 i32 i64);
    )* };
    (@numbers $tr:ident $f:ident $method:ident; $($n:ty)*) => { $(
        impl $tr<&Tensor> for $n {
            type Output = Result<Tensor>;
            #[track_caller]
            fn $f(self, other: &Tensor) -> Result<Tensor> { crate::op::pointwise(&super::arithmetic::rows::$method, &[Operand::from(self), other.into()], operators!(@params $method)) }
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
    fn into_operand(self) -> Result<Operand>;
}
impl IntoOperand for Result<Tensor> {
    fn into_operand(self) -> Result<Operand> {
        self.map(Operand::Tensor)
    }
}
macro_rules! into_operand {
    ($($t:ty)*) => { $( impl IntoOperand for $t { fn into_operand(self) -> Result<Operand> { Ok(self.into()) } } )* };
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
