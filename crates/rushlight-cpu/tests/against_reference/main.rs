//! Every kernel beside the reference backend: dtypes, shapes and layouts, at each level of
//! instructions and for several numbers of threads, with values whose results are exact.
#![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

mod index;
mod matmul;
mod operand;
mod order;
mod reduce;
mod scan;
