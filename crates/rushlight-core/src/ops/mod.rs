//! The op table: one file a family, one row an op.

pub mod activation;
pub mod arithmetic;
pub mod binary;
pub mod bits;
pub mod clamp;
pub mod copy;
pub mod create;
mod operators;
pub mod reduce;
pub mod unary;
pub mod view;

use crate::op::OpDef;

/// Every family's rows; a new family is one line here.
pub static FAMILIES: &[&[&OpDef]] = &[
    activation::ACTIVATION,
    arithmetic::ARITHMETIC,
    binary::BINARY,
    bits::BITS,
    bits::whole::NOT,
    clamp::BOUNDS,
    clamp::whole::CLAMP,
    copy::COPY,
    create::CREATE,
    reduce::REDUCE,
    unary::UNARY,
    view::VIEW,
];
