//! Networks: modules, their parameters by name, and optimisers that train them.
//!
//! A [`Module`] is a forward function and a [`visit`](Module::visit) that shows its parameters,
//! buffers and inner modules; everything else (names, state, training mode) follows from that walk.
//! Losses are functions of tensors: `logits.cross_entropy(&target)`.
//!
//! ```
//! # use rushlight_cpu as _;
//! use rushlight_core::{Result, Tensor};
//! use rushlight_nn::{Adam, Linear, Module, Optimizer, Relu, Sequential};
//!
//! fn main() -> Result<()> {
//!     rushlight_core::manual_seed(0);
//!     let net = Sequential::new().push(Linear::new(2, 16)?).push(Relu).push(Linear::new(16, 1)?);
//!     let mut adam = Adam::new(net.parameters(), 0.02)?;
//!     let x = Tensor::rand([64, 2])?;
//!     let y = x.sum(1, true)?; // what it should learn
//!     let mut last = f64::INFINITY;
//!     for _ in 0..150 {
//!         adam.zero_grad()?;
//!         let loss = net.forward(&x)?.mse_loss(&y)?;
//!         loss.backward()?;
//!         adam.step()?;
//!         last = loss.item()?.to_f64();
//!     }
//!     assert!(last < 0.01, "{last}");
//!     Ok(())
//! }
//! ```
#![forbid(unsafe_code)]

pub mod init;
pub mod layers;
mod module;
pub mod optim;
mod sequential;
mod state;

pub use layers::{
    AvgPool2d, BatchNorm, Conv1d, Conv2d, ConvOptions, Dropout, Embedding, Flatten, Gelu, GroupNorm,
    LayerNorm, Linear, MaxPool2d, Padding, Relu, RmsNorm, Sigmoid, Silu, Tanh,
};
pub use module::{Mode, Module, Visitor};
pub use optim::{Adam, AdamW, CosineAnnealingLR, Optimizer, Sgd, StepLR, clip_grad_norm, clip_grad_value};
pub use sequential::{Lambda, Sequential};
