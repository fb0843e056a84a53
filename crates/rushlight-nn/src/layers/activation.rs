//! Activation functions as modules.

use crate::Module;
use rushlight_core::{Result, Tensor};

macro_rules! activations {
    ($($(#[doc = $doc:literal])* $name:ident $method:ident;)*) => { $(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name;

        impl Module for $name {
            fn forward(&self, input: &Tensor) -> Result<Tensor> {
                input.$method()
            }
        }
    )* };
}

activations! {
    /// `max(input, 0)`.
    Relu relu;
    /// `input * P(X <= input)` for a standard normal X.
    Gelu gelu;
    /// `input * sigmoid(input)`.
    Silu silu;
    /// `1 / (1 + exp(-input))`.
    Sigmoid sigmoid;
    /// Hyperbolic tangent.
    Tanh tanh;
}
