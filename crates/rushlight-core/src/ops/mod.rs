//! The op table: one file a family, one row an op.

pub mod activation;
pub mod arithmetic;
pub mod arrange;
pub mod binary;
pub mod bits;
pub mod clamp;
pub mod compare;
pub mod conv;
pub mod copy;
pub mod create;
pub mod einsum;
pub mod index;
pub mod join;
pub mod loss;
pub mod matmul;
pub mod norm;
mod operators;
pub mod order;
pub mod pad;
pub mod pool;
pub mod product;
pub mod reduce;
pub mod scan;
pub mod statistics;
pub mod unary;
pub mod view;

use crate::op::OpDef;

/// Every family's rows; a new family is one line here.
pub static FAMILIES: &[&[&OpDef]] = &[
    activation::ACTIVATION,
    arithmetic::ARITHMETIC,
    arrange::ARRANGE,
    binary::BINARY,
    bits::BITS,
    bits::whole::NOT,
    clamp::BOUNDS,
    clamp::whole::CLAMP,
    compare::COMPARE,
    compare::whole::CLOSE,
    conv::CONV,
    copy::COPY,
    create::CREATE,
    einsum::EINSUM,
    index::advanced::ADVANCED,
    index::along::ALONG,
    index::combine::COMBINE,
    index::flat::FLAT,
    index::mask::MASK,
    index::pick::PICK,
    join::JOIN,
    loss::LOSS,
    matmul::MATMUL,
    norm::NORM,
    order::ORDER,
    pad::PAD,
    pool::POOL,
    product::PRODUCT,
    reduce::REDUCE,
    scan::SCAN,
    statistics::STATISTICS,
    unary::UNARY,
    view::basic::BASIC,
    view::part::PART,
    view::place::PLACE,
    view::recast::RECAST,
    view::shape::SHAPE,
    view::split::SPLIT,
];
