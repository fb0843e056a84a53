//! Bits of integers; truth values count as one bit.

use crate::op::{Sample, Value};
use crate::{DType, Result, Tensor, ensure};
use smallvec::smallvec;

pointwise! { BITS;
    /// Bits set in both.
    fn bitwise_and, inplace bitwise_and_ (input, other) Promote except float complex = |x| x[0].bitwise_and(x[1]);
    /// Bits set in either.
    fn bitwise_or, inplace bitwise_or_ (input, other) Promote except float complex = |x| x[0].bitwise_or(x[1]);
    /// Bits set in exactly one.
    fn bitwise_xor, inplace bitwise_xor_ (input, other) Promote except float complex = |x| x[0].bitwise_xor(x[1]);
    /// Bits moved up by `other` places.
    fn bitwise_left_shift (input, other) Promote except bool float complex = |x| x[0].bitwise_left_shift(x[1]);
    /// Bits moved down by `other` places, the sign kept.
    fn bitwise_right_shift (input, other) Promote except bool float complex = |x| x[0].bitwise_right_shift(x[1]);
    /// Every bit of an integer inverted.
    fn bitwise_invert as internal (input) Promote except bool float complex = |x| x[0].bitwise_not();
}

/// The row that chooses by dtype.
pub mod whole {
    use super::*;

    ops! { NOT;
        /// Every bit inverted; logical not for bool.
        fn bitwise_not, inplace bitwise_not_ [out] (input: Tensor) -> Tensor {
            run: super::super::bitwise_not(input),
            samples: not_samples,
        }
    }
}

fn bitwise_not(x: &Tensor) -> Result<Tensor> {
    ensure!(
        x.dtype().is_integral(),
        Type,
        "bitwise_not",
        "{} has no bits to invert; it takes bool and integers",
        x.dtype()
    );
    if x.dtype() == DType::Bool {
        x.logical_not()
    } else {
        x.bitwise_invert().map_err(|e| e.in_op("bitwise_not"))
    }
}

fn not_samples() -> Vec<Sample> {
    let ints = Tensor::from_vec(vec![0i64, 1, -1, 5], [2, 2]);
    let truths = Tensor::from_vec(vec![true, false], [2]);
    [ints, truths]
        .into_iter()
        .flatten()
        .map(|t| Sample { args: smallvec![Value::Tensor(t)], grad: false })
        .collect()
}
