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

pub mod backend;
pub mod device;
#[macro_use]
pub mod dtype;
mod error;
pub mod layout;
pub mod mem;
mod number;
pub mod program;

pub use device::{Device, DeviceKind};
pub use dtype::{CType, Category, DType, Element};
pub use error::{Error, Kind, Result};
pub use layout::{Layout, Shape, Strides};
pub use number::Number;
