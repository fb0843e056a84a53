//! The op table: one file a family, one row an op.

pub mod activation;
pub mod arithmetic;
pub mod arrange;
pub mod attention;
pub mod binary;
pub mod bits;
pub mod chance;
pub mod clamp;
pub mod compare;
pub mod complex;
pub mod conv;
pub mod copy;
pub mod counted;
pub mod create;
pub mod ctc;
pub mod distance;
pub mod dropout;
pub mod einsum;
pub mod embedding;
pub mod fft;
pub mod grid;
pub mod histogram;
pub mod index;
pub mod interpolate;
pub mod join;
pub mod linalg;
pub mod loss;
pub mod margin;
pub mod matmul;
pub mod moments;
pub mod norm;
pub mod numeric;
mod operators;
pub mod optimizer;
pub mod order;
pub mod pad;
pub mod pool;
pub mod product;
pub mod recurrent;
pub mod reduce;
pub mod running;
pub mod scan;
pub mod shuffle;
pub mod special;
pub mod statistics;
pub mod unary;
pub mod view;
pub mod window;

use crate::op::OpDef;

/// Every family's rows; a new family is one line here.
pub static FAMILIES: &[&[&OpDef]] = &[
    activation::ACTIVATION,
    activation::shaped::SHAPED,
    arithmetic::ARITHMETIC,
    arrange::ARRANGE,
    attention::ATTENTION,
    binary::BINARY,
    bits::BITS,
    bits::whole::NOT,
    chance::CHANCE,
    clamp::BOUNDS,
    clamp::whole::CLAMP,
    compare::COMPARE,
    compare::whole::CLOSE,
    complex::COMPLEX,
    conv::CONV,
    conv::fold::FOLD,
    copy::COPY,
    counted::COUNTED,
    create::CREATE,
    ctc::CTC,
    distance::DISTANCE,
    dropout::DROPOUT,
    einsum::EINSUM,
    embedding::EMBEDDING,
    fft::FFT,
    fft::FRAMES,
    fft::PLACES,
    fft::SEVERAL,
    grid::GRID,
    histogram::HISTOGRAM,
    index::advanced::ADVANCED,
    index::along::ALONG,
    index::combine::COMBINE,
    index::flat::FLAT,
    index::mask::MASK,
    index::pick::PICK,
    interpolate::INTERPOLATE,
    join::JOIN,
    linalg::determinant::DETERMINANT,
    linalg::factor::FACTOR,
    linalg::inverses::INVERSES,
    linalg::lowrank::LOWRANK,
    linalg::norms::NORMS,
    linalg::orthogonal::ORTHOGONAL,
    linalg::powers::POWERS,
    linalg::solve::SOLVE,
    linalg::spectrum::SPECTRUM,
    loss::LOSS,
    margin::MARGIN,
    matmul::MATMUL,
    moments::MOMENTS,
    norm::NORM,
    norm::native::NATIVE,
    numeric::NUMERIC,
    numeric::checked::CHECKED,
    optimizer::OPTIMIZER,
    order::ORDER,
    order::distinct::DISTINCT,
    order::search::SEARCH,
    order::select::SELECT,
    pad::PAD,
    pool::POOL,
    pool::adaptive::ADAPTIVE,
    pool::unpool::UNPOOL,
    product::PRODUCT,
    recurrent::RECURRENT,
    reduce::REDUCE,
    running::RUNNING,
    scan::SCAN,
    shuffle::SHUFFLE,
    special::SPECIAL,
    special::of_numbers::OF_NUMBERS,
    statistics::STATISTICS,
    unary::UNARY,
    view::basic::BASIC,
    view::copies::COPIES,
    view::part::PART,
    view::place::PLACE,
    view::recast::RECAST,
    view::shape::SHAPE,
    view::split::SPLIT,
    window::WINDOW,
];
