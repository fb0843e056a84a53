//! Tensors in files: [`npy`], [`npz`], [`safetensors`] and torch's [`pt`].
//!
//! Decides: what a file's bytes mean, and what a file must satisfy before any of it is believed. Does
//! not decide: anything about tensors once they are made.
//!
//! - A file is not trusted. Sizes it states are compared with the bytes that are there before memory
//!   is asked for, and whatever does not fit is an error of kind [`Io`](rushlight_core::Kind::Io) that
//!   names the file and the entry.
//! - A write is all or nothing: bytes go to a temporary file in the same folder, which takes the
//!   target's name once it is complete and on disk. A failure leaves the old file as it was.
//! - [`safetensors`] files are mapped: tensors use the file's pages without a copy, and writes to them
//!   stay in memory.
//!
//! ```
//! use rushlight_core::Tensor;
//! use rushlight_io::{npy, npz, safetensors};
//! use std::collections::BTreeMap;
//!
//! let folder = std::env::temp_dir().join(format!("rushlight-io-doc-{}", std::process::id()));
//! std::fs::create_dir_all(&folder).unwrap();
//! let weight = Tensor::from_vec(vec![1f32, 2., 3., 4., 5., 6.], [2, 3])?;
//!
//! npy::write(folder.join("weight.npy"), &weight)?;
//! assert_eq!(npy::read(folder.join("weight.npy"))?.shape(), [2, 3]);
//!
//! npz::write(folder.join("all.npz"), &[("weight", &weight), ("again", &weight)])?;
//! let archive = npz::Archive::open(folder.join("all.npz"))?;
//! assert_eq!(archive.names(), ["weight", "again"]);
//! assert_eq!(archive.get("again")?.shape(), [2, 3]);
//!
//! safetensors::save(folder.join("model"), &[("weight", &weight)], &BTreeMap::new())?;
//! for (name, tensor) in safetensors::load(folder.join("model"))? {
//!     assert_eq!((name.as_str(), tensor.shape()), ("weight", &[2, 3][..]));
//! }
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # Ok::<(), rushlight_core::Error>(())
//! ```
#![deny(unsafe_code)]

#[cfg(target_endian = "big")]
compile_error!(
    "rushlight-io hands bytes of little-endian files to tensors as they are: big-endian machines are not supported"
);

mod atomic;
mod body;
mod elements;
mod fault;
mod map;
pub mod npy;
pub mod npz;
pub mod pt;
pub mod safetensors;

/// torch and NumPy allow no more dimensions.
const MAX_RANK: usize = 64;
