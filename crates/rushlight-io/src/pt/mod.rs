//! torch's `.pt` files: the zip format of today, read and written, and the one before torch 1.6, read.
//!
//! Such a file is a Python pickle with the tensors' memory beside it. A pickle is a program; here it is run
//! by a machine that can build tensors, containers, numbers and text, and refuses all else by name. No code
//! of a file ever runs, whatever asks for it.
//!
//! Tensors that shared memory share it again, with the strides they had.
//!
//! - `pickle`: the machine; `known`: what a file may name; `tree`: what comes out of it;
//! - `archive`: the files, and tensors made from them; `write`: the other way.

mod archive;
mod known;
mod pickle;
mod tree;
mod write;

pub use archive::Archive;
pub use tree::{ArrayRef, Id, Map, MapKind, Node, StorageRef, TensorRef, Tree};
pub use write::{pack, storage_name, write};

use rushlight_core::{Result, Tensor};
use std::path::Path;

/// How deep values may lie in one another.
const MAX_DEPTH: usize = 200;

/// All tensors of a file under their names: keys and positions, with dots between (`model.0.weight`).
///
/// # Errors
/// As [`Archive::open`] and [`Archive::tensor`].
pub fn read(path: impl AsRef<Path>) -> Result<Vec<(String, Tensor)>> {
    Archive::open(path, false)?.tensors()
}
