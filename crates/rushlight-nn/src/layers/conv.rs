//! Convolutions.

use crate::init::{default_bound, uniform};
use crate::{Module, Visitor};
use rushlight_core::{Result, Size, Tensor, ensure};

/// Zeros around the input of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// So many on each side.
    Zeros(usize),
    /// As many as give the result the input's sizes; needs a stride of 1.
    Same,
    /// None.
    Valid,
}

impl From<usize> for Padding {
    fn from(n: usize) -> Padding {
        Padding::Zeros(n)
    }
}

/// How a convolution moves over its input; the same along every dimension.
#[derive(Clone, Copy, Debug)]
pub struct ConvOptions {
    /// Distance between windows.
    pub stride: usize,
    /// Zeros around the input.
    pub padding: Padding,
    /// Distance between the elements of a window.
    pub dilation: usize,
    /// Groups of channels that do not see each other.
    pub groups: usize,
    /// Whether a number per channel is added.
    pub bias: bool,
}

impl Default for ConvOptions {
    fn default() -> Self {
        ConvOptions { stride: 1, padding: Padding::Valid, dilation: 1, groups: 1, bias: true }
    }
}

fn parameters(
    inputs: usize,
    outputs: usize,
    kernel: &[usize],
    options: ConvOptions,
) -> Result<(Tensor, Option<Tensor>)> {
    let groups = options.groups;
    ensure!(
        groups > 0 && inputs.is_multiple_of(groups) && outputs.is_multiple_of(groups),
        Value,
        "conv",
        "{groups} groups do not divide {inputs} input and {outputs} output channels"
    );
    let per_group = inputs / groups;
    let bound = default_bound(kernel.iter().fold(per_group, |n, k| n.saturating_mul(*k)));
    let size: Vec<usize> = [outputs, per_group].iter().chain(kernel).copied().collect();
    let bias = if options.bias { Some(uniform(outputs, bound)?) } else { None };
    Ok((uniform(Size::from(size), bound)?, bias))
}

macro_rules! convolution {
    ($name:ident, $method:ident, $padded:ident, $kernel:ty, $shapes:literal) => {
        #[doc = $shapes]
        pub struct $name {
            /// [out, in / groups, *kernel].
            pub weight: Tensor,
            /// [out].
            pub bias: Option<Tensor>,
            /// How it moves.
            pub options: ConvOptions,
        }

        impl $name {
            /// A convolution of `inputs` to `outputs` channels at torch's default first values.
            ///
            /// # Errors
            /// `Value` when the groups do not divide the channels; `Runtime` for impossible sizes.
            pub fn new(
                inputs: usize,
                outputs: usize,
                kernel: $kernel,
                options: ConvOptions,
            ) -> Result<$name> {
                let (weight, bias) = parameters(inputs, outputs, &kernel, options)?;
                Ok($name { weight, bias, options })
            }
        }

        impl Module for $name {
            fn forward(&self, input: &Tensor) -> Result<Tensor> {
                let o = self.options;
                let (weight, bias, groups) = (&self.weight, self.bias.as_ref(), o.groups as i64);
                let zeros = |n: usize| input.$method(weight, bias, o.stride, n, o.dilation, groups);
                match o.padding {
                    Padding::Zeros(n) => zeros(n),
                    Padding::Valid => zeros(0),
                    Padding::Same => input.$padded(weight, bias, o.stride, "same", o.dilation, groups),
                }
            }
            fn visit(&self, v: &mut dyn Visitor) {
                v.parameter("weight", &self.weight);
                if let Some(b) = &self.bias {
                    v.parameter("bias", b);
                }
            }
        }
    };
}

convolution!(
    Conv1d,
    conv1d,
    conv1d_padded,
    [usize; 1],
    "Convolution over one spatial dimension: [N, in, L] to [N, out, L']."
);
convolution!(
    Conv2d,
    conv2d,
    conv2d_padded,
    [usize; 2],
    "Convolution over two spatial dimensions: [N, in, H, W] to [N, out, H', W']."
);
