//! PyTorch's tensor in a few megabytes of Rust.
pub use rushlight_core::*;
pub use rushlight_nn as nn;
