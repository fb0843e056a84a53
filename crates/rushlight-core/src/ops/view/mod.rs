//! Views: another layout over the same storage, never a copy, but where a function says so.
//!
//! - `basic`: the same elements under other dimensions;
//! - `part`: some of the elements;
//! - `copies`: the views above in new memory;
//! - `place`: a copy with one of its views replaced;
//! - `split`: many views at once;
//! - `recast`: the same bytes as another dtype, complex parts;
//! - `shape`: what is made of those, with a copy where strides leave no other way;
//! - `inplace`: calls that change a handle's own layout.

pub mod basic;
pub mod copies;
mod inplace;
pub mod part;
pub mod place;
pub mod recast;
pub mod shape;
pub mod split;

use crate::op::{Args, Dims, Sample, Value, samples};
use crate::{Result, Tensor, ensure, err};
use smallvec::smallvec;

/// Sample arguments: a float64 tensor of that shape, then `rest`.
pub(crate) fn one(shape: &[usize], rest: impl IntoIterator<Item = Value>) -> Option<Sample> {
    let mut args: Args = smallvec![Value::Tensor(samples::values(shape, 4).ok()?)];
    args.extend(rest);
    Some(Sample { args, grad: true })
}

/// Sample arguments of an op on one tensor and one other value.
pub(crate) fn each<const N: usize>(cases: [(&[usize], Value); N]) -> Vec<Sample> {
    cases.into_iter().filter_map(|(shape, v)| one(shape, [v])).collect()
}

/// Sample arguments of an op on one tensor alone.
pub(crate) fn plain_samples() -> Vec<Sample> {
    [&[2, 3][..], &[4], &[], &[0, 2], &[2, 1, 3]].into_iter().filter_map(|s| one(s, [])).collect()
}

/// The dims of an argument that must name them.
pub(crate) fn named<'a>(op: &'static str, dims: &'a Dims) -> Result<&'a [isize]> {
    match dims {
        Dims::List(list) => Ok(list),
        Dims::All => Err(err!(Type, op, "name the dimensions")),
    }
}

/// The tensors of an argument list that may not be empty.
pub(crate) fn some<'a>(op: &'static str, tensors: &'a [Tensor]) -> Result<&'a Tensor> {
    ensure!(!tensors.is_empty(), Runtime, op, "takes at least one tensor");
    Ok(&tensors[0])
}
