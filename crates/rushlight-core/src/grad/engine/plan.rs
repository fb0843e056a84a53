//! Which nodes a run meets, and how many gradients each waits for.

use crate::grad::node::{Edge, Node};
use crate::{Result, Tensor};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::sync::Arc;

/// Gradients on their way to one node.
pub(super) struct Task {
    pub(super) node: Arc<Node>,
    pub(super) grads: SmallVec<[Option<Tensor>; 1]>,
    /// Gradients still to arrive.
    pub(super) waits: usize,
}

/// Where a requested gradient is picked up.
pub(super) struct Capture {
    pub(super) edge: Edge,
    pub(super) grad: Option<Tensor>,
}

pub(super) fn key(node: &Arc<Node>) -> usize {
    Arc::as_ptr(node).addr()
}

/// The nodes reachable from the seeds with the number of gradients each waits for. With captures,
/// only nodes on a path to one of them.
pub(super) fn plan(seeds: &[(Edge, Tensor)], captures: Option<&[Capture]>) -> FxHashMap<usize, Task> {
    let Some(captures) = captures else { return plan_all(seeds) };
    let mut order: Vec<&Arc<Node>> = Vec::new();
    let mut seen: FxHashSet<usize> = FxHashSet::default();
    let mut stack: Vec<&Arc<Node>> = seeds.iter().map(|(e, _)| &e.node).collect();
    while let Some(node) = stack.pop() {
        if !seen.insert(key(node)) {
            continue;
        }
        stack.extend(node.edges.iter().flatten().filter(|e| !seen.contains(&key(&e.node))).map(|e| &e.node));
        order.push(node);
    }
    // Sequence numbers grow along the forward pass, so this visits inputs before outputs.
    order.sort_by_key(|n| n.seq);
    let mut needed: FxHashSet<usize> = captures.iter().map(|c| key(&c.edge.node)).collect();
    for n in &order {
        if n.edges.iter().flatten().any(|e| needed.contains(&key(&e.node))) {
            needed.insert(key(n));
        }
    }
    let mut tasks: FxHashMap<usize, Task> = FxHashMap::default();
    for node in order.iter().filter(|n| needed.contains(&key(n))) {
        tasks.entry(key(node)).or_insert_with(|| Task::of(node));
        for e in node.edges.iter().flatten().filter(|e| needed.contains(&key(&e.node))) {
            tasks.entry(key(&e.node)).or_insert_with(|| Task::of(&e.node)).waits += 1;
        }
    }
    tasks
}

/// All nodes reachable from the seeds: each is looked into when it is first met.
pub(super) fn plan_all(seeds: &[(Edge, Tensor)]) -> FxHashMap<usize, Task> {
    let mut tasks: FxHashMap<usize, Task> = FxHashMap::default();
    let mut stack: Vec<&Arc<Node>> = Vec::new();
    for (seed, _) in seeds {
        tasks.entry(key(&seed.node)).or_insert_with(|| {
            stack.push(&seed.node);
            Task::of(&seed.node)
        });
    }
    while let Some(node) = stack.pop() {
        for edge in node.edges.iter().flatten() {
            let task = tasks.entry(key(&edge.node)).or_insert_with(|| {
                stack.push(&edge.node);
                Task::of(&edge.node)
            });
            task.waits += 1;
        }
    }
    tasks
}

impl Task {
    pub(super) fn of(node: &Arc<Node>) -> Task {
        Task { node: node.clone(), grads: SmallVec::new(), waits: 0 }
    }

    pub(super) fn receive(&mut self, output: usize, grad: Tensor) -> Result<()> {
        if self.grads.is_empty() {
            self.grads = smallvec::smallvec![None; self.node.outs.len()];
        }
        let slot = &mut self.grads[output];
        *slot = Some(match slot.take() {
            None => grad,
            Some(old) => old.add(&grad)?,
        });
        Ok(())
    }
}
