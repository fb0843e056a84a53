//! What a row of the op table is.

use super::point::PointRow;
use super::value::{Args, ParamType, Value};
use crate::grad::{GradCx, Grads};
use crate::layout::Layout;
use crate::{Result, Tensor};
use smallvec::SmallVec;

/// One parameter of an op.
pub struct Param {
    /// Its name, usable as a keyword.
    pub name: &'static str,
    /// Its type.
    pub ty: ParamType,
    /// Its default as source text, and how to make it; `None` means it is required.
    pub default: Option<(&'static str, fn() -> Value)>,
    /// Whether it can only be given by name.
    pub keyword_only: bool,
}

/// What an op gives: nearly always one tensor.
pub type Outputs = SmallVec<[Tensor; 1]>;

/// What a call gives, as bindings show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// One tensor.
    One,
    /// So many tensors as there are names; the parts of a named tuple.
    Tuple(&'static [&'static str]),
    /// A list as long as the arguments say.
    List,
}

/// The layout of a view, from that of its source and the arguments after it.
pub type ViewRule = fn(&Layout, &[Value]) -> Result<Layout>;

/// How an op does its work.
pub enum Run {
    /// A program over broadcast operands.
    Pointwise(&'static PointRow),
    /// A new layout over the same storage. Gets the first argument's layout and the other arguments.
    View(ViewRule),
    /// As `View`, but for some strides there is no such layout: then it is made of a packed copy.
    ViewOrCopy(fn(&Layout, &[Value]) -> Result<Option<Layout>>),
    /// Backend calls, or other ops for a row without `grad`.
    Function(fn(&[Value]) -> Result<Outputs>),
    /// As `Function`, but it writes to its first argument and gives it back.
    Mutates(fn(&[Value]) -> Result<Outputs>),
}

/// The backward formula of an op, written with ops, so that double backward comes free.
pub struct GradDef {
    /// Positions of the tensor arguments that the formula reads.
    pub inputs: &'static [usize],
    /// Positions of the results that it reads.
    pub outputs: &'static [usize],
    /// An input is read only for the gradients of the others: products.
    pub cross: bool,
    /// One gradient per tensor argument (lists count each of theirs), given those of the results.
    pub formula: fn(&GradCx<'_>) -> Result<Grads>,
}

/// Sample arguments for the laws.
#[derive(Clone)]
pub struct Sample {
    /// The arguments, in the row's order.
    pub args: Args,
    /// Whether gradients are checked against finite differences (needs float inputs off kinks).
    pub grad: bool,
}

/// A row of the op table: everything the dispatcher, autograd, bindings, docs and tests know.
pub struct OpDef {
    /// Its own name, which is torch's where torch has one name for it alone.
    pub name: &'static str,
    /// torch's names for it, which rows may share as overloads; none for a row that others are made of.
    pub names: &'static [&'static str],
    /// What it gives.
    pub returns: Returns,
    /// Its documentation.
    pub doc: &'static str,
    /// Its parameters, in order.
    pub params: &'static [Param],
    /// How it runs.
    pub run: Run,
    /// Its backward formula. Pointwise rows derive theirs, views have a general one, and a
    /// `Function` without one is either made of other ops or not differentiable.
    pub grad: Option<GradDef>,
    /// Name of the in-place form, if it has one.
    pub inplace: Option<&'static str>,
    /// Whether it takes `out=`, and of which dtypes.
    pub out: Option<super::Out>,
    /// Whether it is called on a tensor (`x.op(..)`) as well as by name.
    pub method: bool,
    /// Sample calls for the laws.
    pub samples: fn() -> Vec<Sample>,
}

impl OpDef {
    /// The names of a pointwise row's operands.
    pub(crate) fn point_operands(&self) -> Option<&'static [&'static str]> {
        match &self.run {
            Run::Pointwise(row) => Some(row.operands),
            _ => None,
        }
    }
    /// Whether conversion is its purpose: operands may be on different devices, and a gradient ends
    /// where the result is an integer.
    pub(crate) fn converts(&self) -> bool {
        matches!(self.name, "copy_" | "cast" | "transfer")
    }
}

impl GradDef {
    /// Whether input `k` is read when the inputs in `wanted` need gradients.
    pub(crate) fn reads_input(&self, k: usize, wanted: impl Fn(usize) -> bool) -> bool {
        self.inputs.contains(&k) && (!self.cross || self.inputs.iter().any(|i| *i != k && wanted(*i)))
    }
}

impl std::fmt::Debug for OpDef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// What a row's `run` may return.
pub trait Pack {
    /// How bindings show it.
    const RETURNS: Returns;
    /// As outputs.
    fn pack(self) -> Outputs;
    /// Back from outputs.
    fn unpack(outputs: Outputs) -> Self;
}

impl Pack for Tensor {
    const RETURNS: Returns = Returns::One;
    fn pack(self) -> Outputs {
        SmallVec::from_buf([self])
    }
    #[inline]
    fn unpack(outputs: Outputs) -> Self {
        let [tensor] = outputs.into_inner().unwrap_or_else(|mut several| [several.swap_remove(0)]);
        tensor
    }
}

impl Pack for (Tensor, Tensor) {
    const RETURNS: Returns = Returns::Tuple(&["values", "indices"]);
    fn pack(self) -> Outputs {
        SmallVec::from_vec(vec![self.0, self.1])
    }
    fn unpack(mut outputs: Outputs) -> Self {
        let second = outputs.remove(1);
        (outputs.remove(0), second)
    }
}

impl Pack for (Tensor, Tensor, Tensor) {
    const RETURNS: Returns = Returns::Tuple(&["first", "second", "third"]);
    fn pack(self) -> Outputs {
        SmallVec::from_vec(vec![self.0, self.1, self.2])
    }
    fn unpack(mut outputs: Outputs) -> Self {
        let (third, second) = (outputs.remove(2), outputs.remove(1));
        (outputs.remove(0), second, third)
    }
}

impl Pack for (Tensor, Tensor, Tensor, Tensor) {
    const RETURNS: Returns = Returns::Tuple(&["first", "second", "third", "fourth"]);
    fn pack(self) -> Outputs {
        SmallVec::from_vec(vec![self.0, self.1, self.2, self.3])
    }
    fn unpack(mut outputs: Outputs) -> Self {
        let (fourth, third, second) = (outputs.remove(3), outputs.remove(2), outputs.remove(1));
        (outputs.remove(0), second, third, fourth)
    }
}

impl Pack for Vec<Tensor> {
    const RETURNS: Returns = Returns::List;
    fn pack(self) -> Outputs {
        SmallVec::from_vec(self)
    }
    fn unpack(outputs: Outputs) -> Self {
        outputs.into_vec()
    }
}
