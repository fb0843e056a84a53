//! The op table: one file a family, one row an op.

pub mod arithmetic;
pub mod copy;
mod operators;
pub mod reduce;
pub mod view;

use crate::op::OpDef;

/// Every family's rows; a new family is one line here.
pub static FAMILIES: &[&[&OpDef]] = &[arithmetic::ARITHMETIC, copy::COPY, reduce::REDUCE, view::VIEW];
