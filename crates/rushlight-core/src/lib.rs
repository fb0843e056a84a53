//! The tensor itself.
//!
//! ```text
//! Tensor = storage pointer + (offset, shape, strides, dtype, device)
//! element index = offset + sum(i_k * stride_k)
//! ```
//!
//! [`layout`] knows the formula and no data; [`mem`] owns bytes and no shape; the tensor joins them.
//! Core holds no kernels and names no backend: see [`backend`].
#![deny(unsafe_code)]

extern crate self as rushlight;

mod algebra;
pub mod backend;
mod binding;
pub mod device;
#[macro_use]
pub mod dtype;
mod display;
mod error;
mod exec;
pub mod grad;
pub mod layout;
pub mod mem;
mod meta;
mod number;
#[macro_use]
pub mod op;
pub mod ops;
pub mod program;
pub mod random;
mod tensor;
pub mod trace;

pub use device::{Device, DeviceKind};
pub use display::PrintOptions;
pub use dtype::{CType, Category, DType, Element};
pub use error::{Error, Kind, Result};
pub use grad::{enable_grad, inference_mode, no_grad, set_grad_enabled};
pub use layout::{Layout, Shape, Strides};
pub use number::Number;
pub use op::{Dims, Formula, Operand, Size};
pub use ops::index::{Index, IntoIndices};
pub use program::Scalar;
pub use random::{Generator, manual_seed};
pub use tensor::Tensor;

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

static DEFAULT_DTYPE: AtomicU8 = AtomicU8::new(DType::F32 as u8);

/// The float dtype that results get when integers meet floats: float32 unless changed.
pub fn default_dtype() -> DType {
    DType::ALL[usize::from(DEFAULT_DTYPE.load(Relaxed))]
}

/// Changes [`default_dtype`] for the process.
///
/// # Errors
/// `Type` for a dtype that is no float.
pub fn set_default_dtype(dtype: DType) -> Result<()> {
    ensure!(dtype.is_float(), Type, "set_default_dtype", "{dtype} is no floating point dtype");
    DEFAULT_DTYPE.store(dtype as u8, Relaxed);
    Ok(())
}
