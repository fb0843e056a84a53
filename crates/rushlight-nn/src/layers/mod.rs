//! The modules that networks are made of. Their parameters have torch's names, shapes and default
//! first values.

mod activation;
mod conv;
mod dropout;
mod embedding;
mod linear;
mod norm;
mod shape;

pub use activation::{Gelu, Relu, Sigmoid, Silu, Tanh};
pub use conv::{Conv1d, Conv2d, ConvOptions, Padding};
pub use dropout::Dropout;
pub use embedding::Embedding;
pub use linear::Linear;
pub use norm::{BatchNorm, GroupNorm, LayerNorm, RmsNorm};
pub use shape::{AvgPool2d, Flatten, MaxPool2d};
