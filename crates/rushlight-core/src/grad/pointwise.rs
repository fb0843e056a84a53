//! The record of pointwise programs, whose gradient is one more program.

use super::meta::gradient_edge;
use super::node::{Backward, Body, Edge, Node, OutInfo};
use super::record::{attach_node, sum_to};
use super::saved::Saved;
use super::{Grads, rebase};
use crate::program::{Feed, GradProgram, Program, Sort};
use crate::{DType, Number, Result, Tensor, err};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// Backward of a program: its derived gradient, run as one more program.
///
/// Gradients of complex numbers are conjugate (torch's convention: `dL/d re + i dL/d im`). For a
/// holomorphic formula that is `g * conj(f'(x))`, which the derived program gives between two
/// conjugations.
struct ProgramBackward {
    grad: Arc<GradProgram>,
    params: SmallVec<[Number; 2]>,
    common: DType,
    /// What the feeds read besides the gradients, in their order.
    saved: SmallVec<[Saved; 2]>,
    inputs: InputInfos,
}

/// What each input was; nothing when all were like the result.
type InputInfos = Option<Box<[OutInfo]>>;

fn input_infos(ins: &[&Tensor], out: &Tensor) -> InputInfos {
    let like =
        |t: &&Tensor| t.shape() == out.shape() && t.dtype() == out.dtype() && t.device() == out.device();
    if ins.iter().all(like) { None } else { Some(ins.iter().map(|t| OutInfo::of(t)).collect()) }
}

impl ProgramBackward {
    fn input<'a>(&'a self, node: &'a Node, i: usize) -> &'a OutInfo {
        match &self.inputs {
            Some(infos) => &infos[i],
            None => &node.outs[0],
        }
    }
}

impl Backward for ProgramBackward {
    fn backward(&self, node: &Arc<Node>, grads: &[Option<Tensor>]) -> Result<Grads> {
        let mut result: Grads = smallvec![None; node.edges.len()];
        if grads.iter().all(Option::is_none) {
            return Ok(result);
        }
        let complex = self.common.is_complex();
        let mut saved = self.saved.iter();
        let mut ins: SmallVec<[Tensor; 4]> = SmallVec::new();
        for feed in &self.grad.feeds {
            ins.push(match feed {
                Feed::Grad(k) => match &grads[*k] {
                    Some(g) if complex => g.conj_physical()?,
                    Some(g) => g.clone(),
                    None => node.outs[*k].zeros()?,
                },
                Feed::Input(_) | Feed::Output(_) => match saved.next() {
                    Some(kept) => kept.peek(node)?,
                    None => return Err(err!(Runtime, node.name, "a kept tensor is missing")),
                },
            });
        }
        let wanted = &self.grad.wanted;
        // A gradient that no feed reaches is constant, but must have the result's shape.
        if ins.iter().all(|t| t.shape() != node.outs[0].shape.as_slice()) {
            for i in wanted {
                result[*i] = Some(self.input(node, *i).zeros()?);
            }
            return Ok(result);
        }
        let dtypes: SmallVec<[DType; 2]> = wanted.iter().map(|i| self.input(node, *i).dtype).collect();
        let outs =
            crate::op::run_program(node.name, &self.grad.program, &ins, &self.params, self.common, &dtypes)?;
        for (i, g) in wanted.iter().zip(outs) {
            let g = if complex { g.conj_physical()? } else { g };
            let shape = &self.input(node, *i).shape;
            result[*i] = Some(if g.shape() == shape.as_slice() { g } else { sum_to(&g, shape)? });
        }
        Ok(result)
    }
    fn take_saved(&mut self) -> Vec<Saved> {
        self.saved.drain(..).collect()
    }
    fn saved_named(&self, node: &Arc<Node>, name: &str) -> Option<Result<Tensor>> {
        let operands = crate::op::find(node.name)?.point_operands()?;
        // Where an operand was a plain number, positions do not tell which one a feed is.
        let at = operands.iter().position(|o| *o == name).filter(|_| operands.len() == node.edges.len());
        let sought = |f: &&Feed| match **f {
            Feed::Input(i) => Some(i) == at,
            Feed::Output(k) => k == 0 && name == "result",
            Feed::Grad(_) => false,
        };
        let kept = self.grad.feeds.iter().filter(|f| !matches!(f, Feed::Grad(_)));
        let (_, saved) = kept.zip(&self.saved).find(|(f, _)| sought(f))?;
        Some(saved.unpack(node))
    }
    fn keeps_anything(&self) -> bool {
        !self.saved.is_empty()
    }
}

/// Backward of a formula with a function in it that has no derivative.
struct Underived(&'static str);

impl Backward for Underived {
    fn backward(&self, node: &Arc<Node>, _: &[Option<Tensor>]) -> Result<Grads> {
        Err(no_derivative(node.name, self.0))
    }
    fn take_saved(&mut self) -> Vec<Saved> {
        Vec::new()
    }
    fn keeps_anything(&self) -> bool {
        false
    }
}

fn no_derivative(op: &'static str, what: &str) -> crate::Error {
    err!(
        NotImplemented,
        op,
        "the derivative of {what} is not known; compute it outside the graph (detach(), no_grad)"
    )
}

fn program_edges(program: &Program, ins: &[&Tensor]) -> Result<(SmallVec<[Option<Edge>; 2]>, u64)> {
    let mut edges: SmallVec<[Option<Edge>; 2]> = SmallVec::new();
    let mut wanted = 0u64;
    for (i, t) in ins.iter().enumerate() {
        let edge = match program.inputs()[i] == Sort::Num {
            true => gradient_edge(t)?,
            false => None,
        };
        wanted |= u64::from(edge.is_some()) << i;
        edges.push(edge);
    }
    Ok((edges, wanted))
}

/// Records a program that ran out of place.
pub(crate) fn record_program(
    op: &'static str,
    program: &Arc<Program>,
    ins: &[&Tensor],
    params: &[Number],
    common: DType,
    outs: &[Tensor],
) -> Result<()> {
    if !super::mode::recording() {
        return Ok(());
    }
    let (edges, wanted) = program_edges(program, ins)?;
    if wanted == 0 {
        return Ok(());
    }
    if !outs.iter().any(|o| o.dtype().is_differentiable()) {
        // Truth values never have one: a comparison of such integers is as good as of others.
        let whole = outs.iter().any(|o| o.dtype() != DType::Bool);
        return if whole { super::record::refuse_integers(op, ins.iter().copied()) } else { Ok(()) };
    }
    if let Some(what) = program.underived(wanted) {
        let infos = outs.iter().map(OutInfo::of).collect();
        attach_node(&Node::new(op, edges, infos, Body::Op(Arc::new(Underived(what)))), outs);
        return Ok(());
    }
    let grad = program.grad(wanted)?;
    let mut saved: SmallVec<[Saved; 2]> = SmallVec::new();
    for feed in &grad.feeds {
        match feed {
            Feed::Grad(_) => {}
            Feed::Input(i) => saved.push(Saved::input_at(op, ins[*i], edges[*i].clone())?),
            Feed::Output(k) => saved.push(Saved::output(&outs[*k], *k)?),
        }
    }
    let mut infos: SmallVec<[OutInfo; 1]> = SmallVec::new();
    outs.iter().for_each(|out| infos.push(OutInfo::of(out)));
    let inputs = input_infos(ins, &outs[0]);
    let body =
        Arc::new(ProgramBackward { grad, params: SmallVec::from_slice(params), common, saved, inputs });
    attach_node(&Node::new(op, edges, infos, Body::Op(body)), outs);
    Ok(())
}

/// Everything decided about an in-place program before it writes.
pub(crate) struct History {
    edges: SmallVec<[Option<Edge>; 2]>,
    grad: Arc<GradProgram>,
    feeds: SmallVec<[Option<Saved>; 3]>,
    inputs: InputInfos,
}

/// Prepares the record of an in-place program: what it will overwrite and backward reads is copied now.
pub(crate) fn begin_inplace(
    op: &'static str,
    program: &Arc<Program>,
    target: &Tensor,
    ins: &[&Tensor],
) -> Result<Option<History>> {
    if !super::mode::recording() || !ins.iter().any(|t| t.requires_grad()) {
        return Ok(None);
    }
    if let Some(view) = target.0.view() {
        super::view::check_view_inplace(op, target, view, true)?;
    }
    let (edges, wanted) = program_edges(program, ins)?;
    if let Some(what) = program.underived(wanted) {
        return Err(no_derivative(op, what));
    }
    let grad = program.grad(wanted)?;
    let feeds: Result<SmallVec<[Option<Saved>; 3]>> = grad
        .feeds
        .iter()
        .map(|f| match f {
            // The program writes where its first input is, so the old values must be kept apart.
            Feed::Input(0) => {
                super::record::refuse_integers(op, [target])?;
                let old = crate::exec::copy_as(
                    op,
                    &target.detach()?,
                    target.like_layout()?,
                    target.dtype(),
                    "backward reads the values that are overwritten",
                )?;
                Saved::rooted(&old, edges[0].clone()).map(Some)
            }
            Feed::Input(i) => Saved::input_at(op, ins[*i], edges[*i].clone()).map(Some),
            _ => Ok(None),
        })
        .collect();
    Ok(Some(History { edges, grad, feeds: feeds?, inputs: input_infos(ins, target) }))
}

/// Completes the record after the write.
pub(crate) fn finish_inplace(
    op: &'static str,
    history: Option<History>,
    params: &[Number],
    common: DType,
    target: &Tensor,
) -> Result<()> {
    let Some(History { edges, grad, mut feeds, inputs }) = history else { return Ok(()) };
    for (feed, slot) in grad.feeds.iter().zip(feeds.iter_mut()) {
        if let Feed::Output(k) = feed {
            *slot = Some(Saved::output(target, *k)?);
        }
    }
    let saved = feeds.into_iter().flatten().collect();
    let body = ProgramBackward { grad, params: params.into(), common, saved, inputs };
    let node = Node::new(op, edges, smallvec![OutInfo::of(target)], Body::Op(Arc::new(body)));
    rebase(target, node)
}
