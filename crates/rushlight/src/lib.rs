//! PyTorch's tensor in a few megabytes of Rust: the crate to depend on.
//!
//! ```
//! use rushlight::{DType, Tensor};
//! let x = Tensor::from_vec(vec![1f32, 2., 3., 4., 5., 6.], [2, 3])?;
//! let y = ((&x * 2.0)? + x.sum(0, true)?)?;       // broadcasts, as in torch
//! assert_eq!(y.to_vec::<f32>()?, [7., 11., 15., 13., 17., 21.]);
//! # Ok::<(), rushlight::Error>(())
//! ```
pub use rushlight_core::*;

pub use rushlight_cpu as cpu;
pub use rushlight_cpu::{num_threads, set_num_threads};
pub use rushlight_io as io;
pub use rushlight_nn as nn;
pub use rushlight_ref as reference;

/// The examples of the README run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
