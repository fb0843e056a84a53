//! Gradients to hooks and leaves.

use crate::grad::hooks::{AfterHook, Hook, NodeHook, NodePreHook};
use crate::grad::node::Node;
use crate::grad::{Grads, no_grad};
use crate::{Result, Tensor, ensure};
use std::sync::{Arc, PoisonError};

/// The leaf a node accumulates into; other nodes are told without a lock.
pub(super) fn leaf_of(node: &Arc<Node>) -> Option<Tensor> {
    if node.is_leaf() { node.variable() } else { None }
}

/// The hooks of the node itself, before and after it runs.
pub(super) fn node_hooks(node: &Node) -> (Vec<NodePreHook>, Vec<NodeHook>) {
    let Some(hooks) = node.known_hooks() else { return Default::default() };
    (
        hooks.before.iter().map(|h| h.run.clone()).collect(),
        hooks.after.iter().map(|h| h.run.clone()).collect(),
    )
}

/// Puts what a node's hook returned in the place of the gradients it saw.
pub(super) fn replace(node: &Node, hook: &str, grads: &mut [Option<Tensor>], new: Grads) -> Result<()> {
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
pub(super) fn run_tensor_hooks(node: &Arc<Node>, grads: &mut [Option<Tensor>]) -> Result<()> {
    let watchers = node.any_watchers();
    if watchers.is_none() && !node.is_leaf() {
        return Ok(());
    }
    let mut hooks: Vec<(usize, Hook)> = Vec::new();
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
pub(super) fn accumulate_into(leaf: &Tensor, grad: Tensor, create_graph: bool) -> Result<()> {
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
        Some(old) => no_grad(|| old.add_(&grad))?,
    };
    let previous = leaf.state().grad.replace(new);
    drop(previous);
    let after: Vec<AfterHook> = leaf.state().after_accumulate.iter().map(|h| h.run.clone()).collect();
    after.iter().try_for_each(|h| h(leaf))
}
