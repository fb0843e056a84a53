//! Laws as functions: what every backend and every op obeys, whoever wrote it.
//!
//! The parts are of use alone too: a seeded [`Rng`], element [`Values`] that meet the corners of a
//! dtype, layout [`variants`] of a shape, and [`Tolerance`]s that report distances in units in the
//! last place. [`kernels`] puts them together: each law runs one method of a backend on random calls
//! and compares it with the definition, byte by byte outside the elements it may write; [`laws`] does the
//! same for the rows of the op table.
#![forbid(unsafe_code)]

mod close;
pub mod kernels;
pub mod laws;
mod operand;
mod pair;
mod report;
mod rng;
mod tensors;
mod values;
mod variant;

pub use close::{Tolerance, close, tolerance, ulps};
pub use operand::Operand;
pub use pair::{Arg, Pair};
pub use report::Report;
pub use rng::Rng;
pub use tensors::{relayouts, tensors_close};
pub use values::Values;
pub use variant::{Variant, variants, writable_variants};
