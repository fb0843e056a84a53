//! The loop over ready nodes, latest first.

use super::BackwardOptions;
use super::deliver::{accumulate_into, leaf_of, node_hooks, replace, run_tensor_hooks};
use super::plan::{Capture, Task, key, plan};
use crate::grad::node::{Body, Edge, Node, OutInfo, drop_saved, taken};
use crate::grad::{Grads, anomaly, sum_to};
use crate::{Result, Tensor, ensure};
use smallvec::SmallVec;
use std::cell::Cell;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

thread_local! {
    static RUN: Cell<u64> = const { Cell::new(0) };
}

/// A number that names the backward run which this thread is in; none outside.
pub fn current_run() -> Option<u64> {
    Some(RUN.with(Cell::get)).filter(|r| *r != 0)
}

/// Numbers a run, and knows the one around it.
struct Running(u64);

impl Running {
    fn start() -> Running {
        static RUNS: AtomicU64 = AtomicU64::new(0);
        Running(RUN.with(|r| r.replace(RUNS.fetch_add(1, Relaxed) + 1)))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUN.with(|r| r.set(self.0));
    }
}

/// Runs the graph from the seeds; fills captures, or accumulates into leaves when there are none.
pub(super) fn run(
    seeds: Vec<(Edge, Tensor)>,
    captures: Option<&mut Vec<Capture>>,
    accumulate: bool,
    options: BackwardOptions,
) -> Result<()> {
    let _running = Running::start();
    let mut tasks = plan(&seeds, captures.as_deref().map(Vec::as_slice));
    let mut ready: BinaryHeap<(u64, usize)> = BinaryHeap::new();
    for (edge, grad) in seeds {
        if let Some(task) = tasks.get_mut(&key(&edge.node)) {
            task.receive(edge.output, grad)?;
        }
    }
    ready.extend(tasks.values().filter(|t| t.waits == 0).map(|t| (t.node.seq, key(&t.node))));
    let keep = options.retain_graph || options.create_graph;
    let mut captures = captures;
    while let Some((_, k)) = ready.pop() {
        let Some(Task { node, mut grads, .. }) = tasks.remove(&k) else { continue };
        if grads.is_empty() {
            grads = smallvec::smallvec![None; node.outs.len()];
        }
        run_tensor_hooks(&node, &mut grads)?;
        let mut end_here = false;
        if let Some(captures) = captures.as_deref_mut() {
            for c in captures.iter_mut().filter(|c| Arc::ptr_eq(&c.edge.node, &node)) {
                c.grad = grads[c.edge.output].clone();
            }
            end_here = !node.edges.iter().flatten().any(|e| tasks.contains_key(&key(&e.node)));
        }
        let sent: Grads = if end_here && !(accumulate && node.is_leaf()) {
            SmallVec::new()
        } else {
            let (before, after) = node_hooks(&node);
            for hook in before {
                if let Some(new) = hook(&grads)? {
                    replace(&node, "register_prehook", &mut grads, new)?;
                }
            }
            let mut sent = match leaf_of(&node) {
                Some(leaf) => {
                    // Hooks that come after want to see it too; else it is given away.
                    let g = if after.is_empty() { grads[0].take() } else { grads[0].clone() };
                    if let (true, Some(g)) = (accumulate, g) {
                        accumulate_into(&leaf, g, options.create_graph)?;
                    }
                    SmallVec::new()
                }
                None => anomaly::watch(&node, run_node(&node, &grads))?,
            };
            for hook in after {
                if let Some(new) = hook(&sent, &grads)? {
                    replace(&node, "register_hook", &mut sent, new)?;
                }
            }
            if !keep {
                free(&node);
            }
            sent
        };
        let mut sent = sent.into_iter();
        for edge in node.edges.iter() {
            let grad = sent.next().flatten();
            let Some(edge) = edge else { continue };
            let Some(task) = tasks.get_mut(&key(&edge.node)) else { continue };
            if let Some(g) = grad {
                task.receive(edge.output, fit(&node, g, &edge.node.outs[edge.output])?)?;
            }
            task.waits -= 1;
            if task.waits == 0 {
                ready.push((edge.node.seq, key(&edge.node)));
            }
        }
    }
    Ok(())
}

/// Runs one node's formula.
pub(crate) fn run_node(node: &Arc<Node>, grads: &[Option<Tensor>]) -> Result<Grads> {
    // A formula of a user's may run backward through this very node: no lock is held meanwhile.
    let op = match &*node.lock() {
        Body::Op(op) => op.clone(),
        Body::Accumulate(_) => return Ok(SmallVec::new()),
        Body::Freed(_) => return Err(node.freed()),
    };
    op.backward(node, grads)
}

/// Lets go of what a node kept; without anything kept it may run again.
fn free(node: &Arc<Node>) {
    let mut body = node.lock();
    let kept = match &*body {
        Body::Op(op) if op.keeps_anything() => op.kept().cloned(),
        _ => return,
    };
    let Body::Op(op) = std::mem::replace(&mut *body, Body::Freed(kept)) else { return };
    drop(body);
    drop_saved(taken(op));
}

/// Brings a gradient to what its receiver is: broadcast-compatible shapes are summed, dtypes cast,
/// and what was computed on another device comes home.
fn fit(from: &Arc<Node>, grad: Tensor, want: &OutInfo) -> Result<Tensor> {
    let grad = if grad.shape() == want.shape.as_slice() {
        grad
    } else {
        let fits = crate::layout::broadcast_shapes("backward", &[grad.shape(), &want.shape])
            .is_ok_and(|s| s.as_slice() == grad.shape());
        ensure!(
            fits,
            Runtime,
            from.name,
            "its backward gave a gradient of shape {:?} for an input of shape {:?}",
            grad.shape(),
            want.shape
        );
        sum_to(&grad, &want.shape)?
    };
    ensure!(
        want.dtype.is_differentiable(),
        Runtime,
        from.name,
        "a gradient reached a tensor of {}, to which a value that requires grad was written; write its detach() instead",
        want.dtype
    );
    let grad = if grad.device() == want.device { grad } else { grad.to_device(want.device)? };
    match (grad.dtype() == want.dtype, want.dtype.is_complex() || !grad.dtype().is_complex()) {
        (true, _) => Ok(grad),
        (false, true) => grad.to_dtype(want.dtype),
        (false, false) => grad.real()?.to_dtype(want.dtype),
    }
}
