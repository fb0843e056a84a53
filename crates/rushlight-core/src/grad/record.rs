//! Turning a call into a node: what is kept, and where gradients will go.

use super::meta::{Meta, gradient_edge};
use super::node::{Backward, Body, Edge, Node, OutInfo};
use super::saved::Saved;
use super::{Grads, rebase};
use crate::op::{Args, GradDef, OpDef, Operand, OptOperand, Value, arg};
use crate::{Result, Tensor, bail, err};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// Whether any tensor among the arguments asks for a graph, here and now.
pub(crate) fn wants_record(args: &[Value]) -> bool {
    super::mode::recording() && args.iter().any(|a| a.any_tensor(Tensor::requires_grad))
}

/// Why an argument can be in no graph any more, if one cannot.
pub(crate) fn stale_argument(args: &[Value]) -> Option<crate::Error> {
    if !wants_record(args) {
        return None;
    }
    args.iter().flat_map(Value::tensors).find_map(|t| gradient_edge(t).err())
}

/// As [`stale_argument`], for one tensor.
pub(crate) fn stale_source(t: &Tensor) -> Option<crate::Error> {
    if super::mode::recording() && t.requires_grad() { gradient_edge(t).err() } else { None }
}

/// An argument as a node keeps it.
enum Kept {
    Tensor(Saved),
    /// A tensor whose values the formula does not read.
    Info(OutInfo),
    Tensors(Vec<Option<Kept1>>),
    Value(Value),
    Nothing,
}
type Kept1 = (OutInfo, Option<Saved>);

struct OpBackward {
    def: &'static OpDef,
    formula: fn(&GradCx<'_>) -> Result<Grads>,
    args: SmallVec<[Kept; 4]>,
    outputs: SmallVec<[Option<Saved>; 1]>,
    /// Whether each gradient is wanted, in the order of the edges.
    wanted: SmallVec<[bool; 4]>,
}

/// What a backward formula sees: the gradients that arrive, the arguments, what was kept.
pub struct GradCx<'a> {
    op: &'a OpBackward,
    node: &'a Arc<Node>,
    grads: &'a [Option<Tensor>],
}

impl GradCx<'_> {
    /// The gradient of result `k`; zeros when none arrived.
    ///
    /// # Errors
    /// `Runtime` when the zeros cannot be made.
    pub fn grad(&self, k: usize) -> Result<Tensor> {
        match &self.grads[k] {
            Some(g) => Ok(g.clone()),
            None => self.node.outs[k].zeros(),
        }
    }
    /// The gradient of result `k`, if one arrived.
    pub fn grad_opt(&self, k: usize) -> Option<&Tensor> {
        self.grads[k].as_ref()
    }
    /// Whether the gradient of slot `k` (tensor arguments in order, lists one slot an element) is wanted.
    pub fn needs(&self, k: usize) -> bool {
        self.op.wanted.get(k).copied().unwrap_or(false)
    }
    /// How many gradients to give.
    pub fn slots(&self) -> usize {
        self.op.wanted.len()
    }
    /// How many results the op gave.
    pub fn results(&self) -> usize {
        self.node.outs.len()
    }
    /// Tensor argument `k` as it was; the row must list it under `reads inputs`.
    ///
    /// # Errors
    /// `Runtime` when it was changed in place since, or is not kept.
    pub fn input(&self, k: usize) -> Result<Tensor> {
        match self.op.args.get(k) {
            Some(Kept::Tensor(s)) => s.peek(self.node),
            _ => Err(self.missing("input", k)),
        }
    }
    /// The tensors of list argument `k`; the row must list it under `reads inputs`.
    ///
    /// # Errors
    /// As [`GradCx::input`].
    pub fn inputs(&self, k: usize) -> Result<Vec<Option<Tensor>>> {
        let Some(Kept::Tensors(list)) = self.op.args.get(k) else {
            return Err(self.missing("input list", k));
        };
        list.iter()
            .map(|t| match t {
                Some((_, Some(s))) => s.peek(self.node).map(Some),
                _ => Ok(None),
            })
            .collect()
    }
    /// Result `k`; the row must list it under `outputs`.
    ///
    /// # Errors
    /// As [`GradCx::input`].
    pub fn output(&self, k: usize) -> Result<Tensor> {
        match self.op.outputs.get(k) {
            Some(Some(s)) => s.peek(self.node),
            _ => Err(self.missing("output", k)),
        }
    }
    /// Shape, dtype and device of tensor argument `k`.
    ///
    /// # Errors
    /// `Runtime` when argument `k` is no tensor.
    pub fn info(&self, k: usize) -> Result<OutInfo> {
        match self.op.args.get(k) {
            Some(Kept::Info(i)) => Ok(i.clone()),
            Some(Kept::Tensor(s)) => Ok(s.info()),
            _ => Err(self.missing("tensor", k)),
        }
    }
    /// Shapes, dtypes and devices of list argument `k`.
    pub fn infos(&self, k: usize) -> Vec<Option<OutInfo>> {
        match self.op.args.get(k) {
            Some(Kept::Tensors(list)) => list.iter().map(|t| t.as_ref().map(|(i, _)| i.clone())).collect(),
            _ => Vec::new(),
        }
    }
    /// Whether argument `k` was a tensor (and not a number or nothing).
    pub fn is_tensor(&self, k: usize) -> bool {
        matches!(self.op.args.get(k), Some(Kept::Info(_) | Kept::Tensor(_)))
    }
    /// Argument `k` of any other type.
    ///
    /// # Errors
    /// `Type` when the row declares another type for it.
    pub fn arg<T: crate::op::Arg>(&self, k: usize) -> Result<&T> {
        match self.op.args.get(k) {
            Some(Kept::Value(v)) => arg(self.op.def.name, std::slice::from_ref(v), 0),
            _ => Err(self.missing("argument", k)),
        }
    }
    /// Shape, dtype and device of result `k`.
    pub fn result(&self, k: usize) -> &OutInfo {
        &self.node.outs[k]
    }
    fn missing(&self, what: &str, k: usize) -> crate::Error {
        err!(Runtime, self.op.def.name, "its backward asks for {what} {k}, which its row does not keep")
    }
}

impl Backward for OpBackward {
    fn backward(&self, node: &Arc<Node>, grads: &[Option<Tensor>]) -> Result<Grads> {
        if grads.iter().all(Option::is_none) {
            return Ok(smallvec![None; self.wanted.len()]);
        }
        (self.formula)(&GradCx { op: self, node, grads })
    }
    fn take_saved(&mut self) -> Vec<Saved> {
        let mut all: Vec<Saved> = Vec::new();
        for k in self.args.drain(..) {
            match k {
                Kept::Tensor(s) => all.push(s),
                Kept::Tensors(list) => all.extend(list.into_iter().flatten().filter_map(|(_, s)| s)),
                _ => {}
            }
        }
        all.extend(self.outputs.drain(..).flatten());
        all
    }
    fn saved_named(&self, node: &Arc<Node>, name: &str) -> Option<Result<Tensor>> {
        if name == "result" {
            return self.outputs.first()?.as_ref().map(|s| s.unpack(node));
        }
        let at = self.def.params.iter().position(|p| p.name == name)?;
        match self.args.get(at)? {
            Kept::Tensor(s) => Some(s.unpack(node)),
            _ => None,
        }
    }
    fn keeps_anything(&self) -> bool {
        self.outputs.iter().any(Option::is_some)
            || self.args.iter().any(|k| {
                matches!(k, Kept::Tensor(_))
                    || matches!(k, Kept::Tensors(l) if l.iter().flatten().any(|(_, s)| s.is_some()))
            })
    }
}

/// Where the gradients of a call's tensors go.
pub(crate) type Edges = SmallVec<[Option<Edge>; 2]>;

/// The slots for gradients: one per tensor argument, lists one per element.
fn edges_of(args: &[Value]) -> Result<(Edges, SmallVec<[bool; 4]>)> {
    let mut edges = Edges::new();
    let mut push = |t: Option<&Tensor>| -> Result<()> {
        let edge = match t {
            Some(t) => gradient_edge(t)?,
            None => None,
        };
        edges.push(edge);
        Ok(())
    };
    for a in args {
        match a {
            Value::Tensor(t) | Value::Operand(Operand::Tensor(t)) => push(Some(t))?,
            Value::OptTensor(t) => push(t.as_ref())?,
            Value::OptOperand(OptOperand(Some(Operand::Tensor(t)))) => push(Some(t))?,
            Value::Operand(Operand::Number(_)) | Value::OptOperand(_) => push(None)?,
            Value::Tensors(list) => list.iter().try_for_each(|t| push(Some(t)))?,
            Value::OptTensors(list) => list.iter().try_for_each(|t| push(t.as_ref()))?,
            _ => {}
        }
    }
    let wanted = edges.iter().map(Option::is_some).collect();
    Ok((edges, wanted))
}

fn keep_args(def: &'static OpDef, grad: &GradDef, args: Args) -> Result<SmallVec<[Kept; 4]>> {
    let asks: SmallVec<[bool; 4]> = args.iter().map(|a| a.any_tensor(Tensor::requires_grad)).collect();
    let keep = |k: usize, t: &Tensor| -> Result<Kept> {
        Ok(if grad.reads_input(k, |i| asks.get(i).copied().unwrap_or(false)) {
            Kept::Tensor(Saved::input(def.name, t)?)
        } else {
            Kept::Info(OutInfo::of(t))
        })
    };
    let keep_list = |k: usize, list: Vec<Option<Tensor>>| -> Result<Kept> {
        let reads = grad.inputs.contains(&k);
        let kept: Result<Vec<Option<Kept1>>> = list
            .into_iter()
            .map(|t| {
                t.map(|t| Ok((OutInfo::of(&t), reads.then(|| Saved::input(def.name, &t)).transpose()?)))
                    .transpose()
            })
            .collect();
        Ok(Kept::Tensors(kept?))
    };
    args.into_iter()
        .enumerate()
        .map(|(k, a)| match a {
            Value::Tensor(t) | Value::OptTensor(Some(t)) | Value::Operand(Operand::Tensor(t)) => keep(k, &t),
            Value::OptOperand(OptOperand(Some(Operand::Tensor(t)))) => keep(k, &t),
            Value::OptTensor(None) => Ok(Kept::Nothing),
            Value::Tensors(list) => keep_list(k, list.into_iter().map(Some).collect()),
            Value::OptTensors(list) => keep_list(k, list),
            other => Ok(Kept::Value(other)),
        })
        .collect()
}

/// An integer tensor that took a value of the graph is part of it, but nothing can flow through ops
/// whose results are integers again.
pub(crate) fn refuse_integers<'a>(
    op: &'static str,
    args: impl IntoIterator<Item = &'a Tensor>,
) -> Result<()> {
    match args.into_iter().find(|t| !t.dtype().is_differentiable() && t.requires_grad()) {
        None => Ok(()),
        Some(t) => bail!(
            Runtime,
            op,
            "a value that requires grad was written to this tensor, and {} has no gradient; write its detach(), or convert the tensor to a float first",
            t.dtype()
        ),
    }
}

/// Records a call of a row that has a formula.
pub(crate) fn record_op(def: &'static OpDef, grad: &GradDef, args: Args, outs: &[Tensor]) -> Result<()> {
    if outs.is_empty() {
        // No result is left to find out that an argument cannot be in a graph any more.
        return stale_argument(&args).map_or(Ok(()), Err);
    }
    if !outs.iter().any(|o| o.dtype().is_differentiable()) {
        let tensors = args.iter().flat_map(Value::tensors);
        return if def.converts() { Ok(()) } else { refuse_integers(def.name, tensors) };
    }
    let (edges, wanted) = edges_of(&args)?;
    if edges.iter().all(Option::is_none) {
        return Ok(());
    }
    let outputs: Result<SmallVec<_>> = outs
        .iter()
        .enumerate()
        .map(|(k, o)| grad.outputs.contains(&k).then(|| Saved::output(o, k)).transpose())
        .collect();
    let (args, outputs) = (keep_args(def, grad, args)?, outputs?);
    let body = OpBackward { def, formula: grad.formula, args, outputs, wanted };
    let node = Node::new(def.name, edges, outs.iter().map(OutInfo::of).collect(), Body::Op(Arc::new(body)));
    attach_node(&node, outs);
    Ok(())
}

/// Makes differentiable results children of `node`.
pub(crate) fn attach_node(node: &Arc<Node>, outs: &[Tensor]) {
    for (k, o) in outs.iter().enumerate().filter(|(_, o)| o.dtype().is_differentiable()) {
        let (edge, version) = (Edge { node: node.clone(), output: k }, o.version());
        if o.meta().is_none() {
            // Nobody else has the result yet, so that this is what becomes its state.
            let _ = o.0.meta.set(Arc::new(Meta::of_result(edge, version)));
            continue;
        }
        let mut state = o.state();
        state.grad_fn = Some(edge);
        state.made_at = version;
    }
}

/// Refuses, before anything is written, what [`record_mutation`] could not record; gives where
/// gradients go as it is before the write, `None` when nothing is recorded.
pub(crate) fn check_mutation(
    def: &OpDef,
    grad: &GradDef,
    args: &[Value],
    target: &Tensor,
) -> Result<Option<Edges>> {
    // As in torch: copy_ to integers ends the graph there. Any other write of a value that requires
    // grad makes even integers part of it, so that the lost gradient is an error and not silence.
    if !wants_record(args) || (def.converts() && !target.dtype().is_differentiable()) {
        return Ok(None);
    }
    if let Some(view) = target.0.view() {
        super::view::check_view_inplace(def.name, target, view, true)?;
    }
    let kept = args.iter().enumerate().filter(|(k, _)| grad.inputs.contains(k));
    kept.flat_map(|(_, a)| a.tensors()).try_for_each(|t| Saved::check(def.name, t))?;
    Ok(Some(edges_of(args)?.0))
}

/// Records an op that wrote to its first argument.
pub(crate) fn record_mutation(
    def: &'static OpDef,
    grad: &GradDef,
    args: Args,
    edges: Edges,
    target: &Tensor,
) -> Result<()> {
    let body = OpBackward {
        def,
        formula: grad.formula,
        args: keep_args(def, grad, args)?,
        outputs: SmallVec::new(),
        wanted: edges.iter().map(Option::is_some).collect(),
    };
    let node = Node::new(def.name, edges, smallvec![OutInfo::of(target)], Body::Op(Arc::new(body)));
    rebase(target, node)
}

/// Sums a gradient over the dimensions that broadcasting added or stretched.
pub(crate) fn sum_to(g: &Tensor, shape: &[usize]) -> Result<Tensor> {
    if g.shape() == shape {
        return Ok(g.clone());
    }
    let lead = g.dim() - shape.len();
    let mut dims: SmallVec<[isize; 6]> = (0..lead as isize).collect();
    dims.extend(
        (0..shape.len()).filter(|d| shape[*d] == 1 && g.shape()[lead + d] != 1).map(|d| (lead + d) as isize),
    );
    let summed = g.sum(crate::op::Dims::List(dims), true)?;
    if lead == 0 { Ok(summed) } else { summed.reshape(shape) }
}
