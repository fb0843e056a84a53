//! Runs backward: counts how many gradients each node waits for, then visits nodes latest first.

use super::Grads;
use super::hooks::{NodeHook, NodePreHook};
use super::meta::gradient_edge;
use super::node::{Body, Edge, Node, drop_saved, taken};
use crate::{Number, Result, Tensor, bail, ensure};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cell::Cell;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError};

/// Options of a backward run.
#[derive(Clone, Copy, Debug, Default)]
pub struct BackwardOptions {
    /// Keep what the graph saved, so that backward can run again.
    pub retain_graph: bool,
    /// Record the gradients' own graph, for gradients of gradients. Retains the graph.
    pub create_graph: bool,
}

/// Gradients on their way to one node.
struct Task {
    node: Arc<Node>,
    grads: SmallVec<[Option<Tensor>; 1]>,
    /// Gradients still to arrive.
    waits: usize,
}

/// Where a requested gradient is picked up.
struct Capture {
    edge: Edge,
    grad: Option<Tensor>,
}

fn key(node: &Arc<Node>) -> usize {
    Arc::as_ptr(node).addr()
}

/// What backward starts from: the edges of the outputs and their gradients.
fn seeds(op: &'static str, outputs: &[&Tensor], grads: &[Option<Tensor>]) -> Result<Vec<(Edge, Tensor)>> {
    ensure!(
        grads.is_empty() || grads.len() == outputs.len(),
        Runtime,
        op,
        "{} outputs but {} gradients; give one (or none) for each",
        outputs.len(),
        grads.len()
    );
    let mut seeds = Vec::with_capacity(outputs.len());
    for (k, t) in outputs.iter().enumerate() {
        let Some(edge) = gradient_edge(t)? else {
            bail!(
                Runtime,
                op,
                "output {k} does not require grad and has no graph; set requires_grad_(true) on what it is computed from"
            )
        };
        let seed = match grads.get(k).cloned().flatten() {
            Some(g) => {
                ensure!(
                    g.shape() == t.shape(),
                    Runtime,
                    op,
                    "the gradient has shape {:?}, the output {:?}; they must be equal",
                    g.shape(),
                    t.shape()
                );
                if g.dtype() == t.dtype() { g } else { g.to_dtype(t.dtype())? }
            }
            None => {
                ensure!(
                    t.numel() == 1 && t.dtype().is_float(),
                    Runtime,
                    op,
                    "only a real output of one element has an implied gradient; this one has shape {:?} and dtype {}. Reduce it (sum, mean) or give its gradient",
                    t.shape(),
                    t.dtype()
                );
                Tensor::full_as(t, Number::Float(1.0))?
            }
        };
        seeds.push((edge, seed));
    }
    Ok(seeds)
}

/// The nodes reachable from the seeds with the number of gradients each waits for. With captures,
/// only nodes on a path to one of them.
fn plan(seeds: &[(Edge, Tensor)], captures: Option<&[Capture]>) -> FxHashMap<usize, Task> {
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
fn plan_all(seeds: &[(Edge, Tensor)]) -> FxHashMap<usize, Task> {
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
    fn of(node: &Arc<Node>) -> Task {
        Task { node: node.clone(), grads: SmallVec::new(), waits: 0 }
    }

    fn receive(&mut self, output: usize, grad: Tensor) -> Result<()> {
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
fn run(
    op: &'static str,
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
                None => super::anomaly::watch(&node, run_node(&node, &grads))?,
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
    let _ = op;
    Ok(())
}

/// The leaf a node accumulates into; other nodes are told without a lock.
fn leaf_of(node: &Arc<Node>) -> Option<Tensor> {
    if node.is_leaf() { node.variable() } else { None }
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
fn fit(from: &Arc<Node>, grad: Tensor, want: &super::node::OutInfo) -> Result<Tensor> {
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
        super::sum_to(&grad, &want.shape)?
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

/// The hooks of the node itself, before and after it runs.
fn node_hooks(node: &Node) -> (Vec<NodePreHook>, Vec<NodeHook>) {
    let Some(hooks) = node.known_hooks() else { return Default::default() };
    (
        hooks.before.iter().map(|h| h.run.clone()).collect(),
        hooks.after.iter().map(|h| h.run.clone()).collect(),
    )
}

/// Puts what a node's hook returned in the place of the gradients it saw.
fn replace(node: &Node, hook: &str, grads: &mut [Option<Tensor>], new: Grads) -> Result<()> {
    ensure!(
        new.len() == grads.len(),
        Runtime,
        node.name,
        "a hook of {hook} returned {} gradients in the place of {}",
        new.len(),
        grads.len()
    );
    for (old, new) in grads.iter_mut().zip(new) {
        if let (Some(a), Some(b)) = (old.as_ref(), new.as_ref()) {
            ensure!(
                a.shape() == b.shape(),
                Runtime,
                node.name,
                "a hook of {hook} returned shape {:?} for a gradient of shape {:?}",
                b.shape(),
                a.shape()
            );
        }
        *old = new;
    }
    Ok(())
}

/// Hooks of the tensors whose gradients arrive here, then what `retain_grad` asked for.
fn run_tensor_hooks(node: &Arc<Node>, grads: &mut [Option<Tensor>]) -> Result<()> {
    let watchers = node.any_watchers();
    if watchers.is_none() && !node.is_leaf() {
        return Ok(());
    }
    let mut hooks: Vec<(usize, super::hooks::Hook)> = Vec::new();
    if let Some(watchers) = watchers {
        hooks.extend(watchers.hooks().tensor.iter().map(|(k, h)| (*k, h.run.clone())));
    }
    if let Some(leaf) = leaf_of(node)
        && leaf.meta().is_some()
    {
        hooks.extend(leaf.state().hooks.iter().map(|h| (0, h.run.clone())));
    }
    for (k, hook) in hooks {
        let Some(g) = &grads[k] else { continue };
        if let Some(new) = hook(g)? {
            ensure!(
                new.shape() == g.shape(),
                Runtime,
                "register_hook",
                "the hook returned shape {:?} for a gradient of shape {:?}",
                new.shape(),
                g.shape()
            );
            grads[k] = Some(new);
        }
    }
    let Some(watchers) = watchers else { return Ok(()) };
    let retained: Vec<(usize, Tensor)> = {
        let list = watchers.retained.lock().unwrap_or_else(PoisonError::into_inner);
        list.iter().filter_map(|(k, t)| t.upgrade().map(|t| (*k, Tensor(t)))).collect()
    };
    for (k, t) in retained {
        if let Some(g) = &grads[k] {
            let old = t.state().grad.replace(g.clone());
            drop(old); // after the lock is gone
        }
    }
    Ok(())
}

/// Whether nobody else can see the tensor or its memory.
fn is_sole(t: &Tensor) -> bool {
    // A view has its root's memory, whoever holds that.
    Arc::strong_count(&t.0) == 1 && t.base().is_none() && t.storage().strong_count() == 1
}

/// Adds to a leaf's `grad`: in place on the same tensor, out of place when a graph is wanted.
fn accumulate_into(leaf: &Tensor, grad: Tensor, create_graph: bool) -> Result<()> {
    let old = leaf.grad();
    let new = match old {
        // A gradient with other handles (the user's seed, another leaf's grad) must not be shared:
        // later runs add to it in place.
        None if create_graph => {
            if is_sole(&grad) {
                grad
            } else {
                grad.copy()?
            }
        }
        None => match is_sole(&grad) {
            true if grad.layout().is_contiguous() && leaf.is_contiguous() => grad.detach()?,
            _ => {
                let layout = if leaf.layout().is_dense() {
                    leaf.like_layout()?
                } else {
                    crate::Layout::contiguous(leaf.shape())?
                };
                let own = Tensor::alloc(layout, leaf.dtype(), leaf.device())?;
                crate::exec::copy(&own, &grad)?;
                own
            }
        },
        Some(old) if create_graph => old.add(&grad)?,
        Some(old) => super::no_grad(|| old.add_(&grad))?,
    };
    let previous = leaf.state().grad.replace(new);
    drop(previous);
    let after: Vec<super::hooks::AfterHook> =
        leaf.state().after_accumulate.iter().map(|h| h.run.clone()).collect();
    after.iter().try_for_each(|h| h(leaf))
}

impl Tensor {
    /// Accumulates the gradients of this one-element tensor into the leaves it was computed from.
    ///
    /// # Errors
    /// `Runtime` when it has several elements, no graph, or the graph was freed by an earlier run.
    pub fn backward(&self) -> Result<()> {
        self.backward_with(None, BackwardOptions::default())
    }

    /// As [`Tensor::backward`], with this tensor's own gradient and options.
    ///
    /// # Errors
    /// As [`Tensor::backward`]; `Runtime` too when the gradient's shape is another.
    pub fn backward_with(&self, gradient: Option<&Tensor>, options: BackwardOptions) -> Result<()> {
        backward(&[self], &[gradient.cloned()], options)
    }

    /// A tensor like `t`, full of one number; outside any graph.
    pub(crate) fn full_as(t: &Tensor, value: Number) -> Result<Tensor> {
        let out = Tensor::alloc(t.like_layout()?, t.dtype(), t.device())?;
        crate::exec::fill(&out, value)?;
        Ok(out)
    }
}

/// Accumulates the gradients of several outputs into the leaves they were computed from.
///
/// # Errors
/// As [`Tensor::backward`].
pub fn backward(outputs: &[&Tensor], gradients: &[Option<Tensor>], options: BackwardOptions) -> Result<()> {
    let seeds = seeds("backward", outputs, gradients)?;
    super::mode::backward_mode(options.create_graph, || run("backward", seeds, None, true, options))
}

/// As [`backward`], but only `inputs` accumulate.
///
/// # Errors
/// As [`grad`].
pub fn backward_into(
    outputs: &[&Tensor],
    inputs: &[&Tensor],
    gradients: &[Option<Tensor>],
    options: BackwardOptions,
) -> Result<()> {
    let wanted = GradOptions {
        retain_graph: options.retain_graph,
        create_graph: options.create_graph,
        allow_unused: true,
        materialize_grads: false,
    };
    let grads = grad(outputs, inputs, gradients, wanted)?;
    for (input, g) in inputs.iter().zip(grads) {
        if let Some(g) = g {
            accumulate_into(input, g, options.create_graph)?;
        }
    }
    Ok(())
}

/// The gradients of `outputs` with respect to `inputs`, without touching anybody's `grad`.
///
/// ```
/// use rushlight::{Tensor, grad};
/// let x = Tensor::from_vec(vec![3f64], [1])?.requires_grad_(true)?;
/// let y = x.pow(3)?;
/// let dy = &grad::grad(&[&y], &[&x], &[], grad::GradOptions { create_graph: true, ..Default::default() })?[0];
/// let dy = dy.as_ref().unwrap();
/// let ddy = &grad::grad(&[dy], &[&x], &[], Default::default())?[0];
/// assert_eq!((dy.item()?.to_f64(), ddy.as_ref().unwrap().item()?.to_f64()), (27.0, 18.0));
/// # Ok::<(), rushlight::Error>(())
/// ```
///
/// # Errors
/// As [`backward`]; `Runtime` too for an input that does not require grad, or that the outputs do
/// not depend on unless `allow_unused` is set.
pub fn grad(
    outputs: &[&Tensor],
    inputs: &[&Tensor],
    gradients: &[Option<Tensor>],
    options: GradOptions,
) -> Result<Vec<Option<Tensor>>> {
    let seeds = seeds("grad", outputs, gradients)?;
    let mut captures = Vec::with_capacity(inputs.len());
    for (k, t) in inputs.iter().enumerate() {
        let Some(edge) = gradient_edge(t)? else {
            bail!(
                Runtime,
                "grad",
                "input {k} does not require grad; set requires_grad_(true) on it before computing"
            )
        };
        captures.push(Capture { edge, grad: None });
    }
    let run_options =
        BackwardOptions { retain_graph: options.retain_graph, create_graph: options.create_graph };
    super::mode::backward_mode(options.create_graph, || {
        run("grad", seeds, Some(&mut captures), false, run_options)
    })?;
    let mut grads = Vec::with_capacity(inputs.len());
    for (k, c) in captures.into_iter().enumerate() {
        let g = match c.grad {
            None if options.materialize_grads => Some(c.edge.node.outs[c.edge.output].zeros()?),
            None => {
                ensure!(
                    options.allow_unused,
                    Runtime,
                    "grad",
                    "the outputs do not depend on input {k}; set allow_unused to get None, or materialize_grads to get zeros"
                );
                None
            }
            some => some,
        };
        grads.push(g);
    }
    Ok(grads)
}

/// Options of [`grad`].
#[derive(Clone, Copy, Debug, Default)]
pub struct GradOptions {
    /// Keep what the graph saved.
    pub retain_graph: bool,
    /// Record the gradients' own graph.
    pub create_graph: bool,
    /// Give `None` for inputs that the outputs do not depend on, instead of an error.
    pub allow_unused: bool,
    /// Give zeros for them.
    pub materialize_grads: bool,
}
