//! Functions that users run on gradients as they pass.

use super::meta::gradient_edge;
use super::node::{Body, Node};
use super::{Edge, Grads};
use crate::tensor::Inner;
use crate::{Result, Tensor, ensure};
use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, MutexGuard, Weak};

/// Sees the gradient of a tensor and may replace it.
pub type Hook = Arc<dyn Fn(&Tensor) -> Result<Option<Tensor>> + Send + Sync>;
/// Sees a leaf after its `grad` was updated.
pub type AfterHook = Arc<dyn Fn(&Tensor) -> Result<()> + Send + Sync>;
/// Sees the gradients that reach a step of the graph, before it runs, and may replace them.
pub type NodePreHook = Arc<dyn Fn(&[Option<Tensor>]) -> Result<Option<Grads>> + Send + Sync>;
/// Sees the gradients that a step sends on and those that reached it; may replace the former.
pub type NodeHook = Arc<dyn Fn(&[Option<Tensor>], &[Option<Tensor>]) -> Result<Option<Grads>> + Send + Sync>;

/// What a binding keeps beside a hook or a function: whatever its garbage collector must see.
pub type Kept = Arc<dyn Any + Send + Sync>;

/// Names a registered hook, to remove it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HookId(u64);

fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Relaxed)
}

/// A registered hook.
pub(crate) struct Registered<H> {
    pub id: u64,
    pub run: H,
    kept: Option<Kept>,
}

/// The hooks of one step of the graph.
#[derive(Default)]
pub(crate) struct NodeHooks {
    /// On the gradient of one result, before all else.
    pub tensor: Vec<(usize, Registered<Hook>)>,
    pub before: Vec<Registered<NodePreHook>>,
    pub after: Vec<Registered<NodeHook>>,
    /// See [`Node::companion`].
    companion: Option<Kept>,
}

/// A tensor that is not kept alive.
#[derive(Clone)]
pub struct WeakTensor(Weak<Inner>);

impl WeakTensor {
    /// The tensor, if it still lives.
    pub fn upgrade(&self) -> Option<Tensor> {
        self.0.upgrade().map(Tensor)
    }
}

impl Tensor {
    /// A reference that does not keep the tensor alive.
    pub fn downgrade(&self) -> WeakTensor {
        WeakTensor(Arc::downgrade(&self.0))
    }

    /// Runs `hook` on this tensor's gradient when backward reaches it; what it returns replaces the gradient.
    ///
    /// # Errors
    /// `Runtime` when the tensor does not require grad.
    pub fn register_hook(
        &self,
        hook: impl Fn(&Tensor) -> Result<Option<Tensor>> + Send + Sync + 'static,
    ) -> Result<HookId> {
        self.register_hook_keeping(hook, None)
    }

    /// As [`Tensor::register_hook`]; `kept` is shown to [`visit_kept`].
    ///
    /// # Errors
    /// As [`Tensor::register_hook`].
    pub fn register_hook_keeping(
        &self,
        hook: impl Fn(&Tensor) -> Result<Option<Tensor>> + Send + Sync + 'static,
        kept: Option<Kept>,
    ) -> Result<HookId> {
        ensure!(
            self.requires_grad(),
            Runtime,
            "register_hook",
            "the tensor does not require grad, so no gradient will pass"
        );
        let id = next_id();
        let hook = Registered { id, run: Arc::new(hook) as Hook, kept };
        match self.grad_fn()? {
            Some(edge) => {
                edge.node.hooks().tensor.push((edge.output, hook));
                let mut state = self.state();
                state.node_hooks.retain(|(_, node)| node.strong_count() > 0);
                state.node_hooks.push((id, Arc::downgrade(&edge.node)));
            }
            None => self.state().hooks.push(hook),
        }
        Ok(HookId(id))
    }

    /// Runs `hook` on this leaf each time its `grad` was updated.
    ///
    /// # Errors
    /// `Runtime` for a tensor that is no leaf requiring grad.
    pub fn register_post_accumulate_grad_hook(
        &self,
        hook: impl Fn(&Tensor) -> Result<()> + Send + Sync + 'static,
    ) -> Result<HookId> {
        self.register_post_accumulate_grad_hook_keeping(hook, None)
    }

    /// As [`Tensor::register_post_accumulate_grad_hook`]; `kept` is shown to [`visit_kept`].
    ///
    /// # Errors
    /// As [`Tensor::register_post_accumulate_grad_hook`].
    pub fn register_post_accumulate_grad_hook_keeping(
        &self,
        hook: impl Fn(&Tensor) -> Result<()> + Send + Sync + 'static,
        kept: Option<Kept>,
    ) -> Result<HookId> {
        ensure!(
            self.requires_grad() && self.is_leaf(),
            Runtime,
            "register_post_accumulate_grad_hook",
            "only leaves that require grad accumulate gradients"
        );
        let id = next_id();
        gradient_edge(self)?;
        self.state().after_accumulate.push(Registered { id, run: Arc::new(hook), kept });
        Ok(HookId(id))
    }

    /// Removes a hook of this tensor, also one that stayed with the values it had before an
    /// in-place write; nothing happens when it is gone already.
    ///
    /// # Errors
    /// None today.
    pub fn remove_hook(&self, id: HookId) -> Result<()> {
        if self.meta().is_none() {
            return Ok(());
        }
        let mut s = self.state();
        let hook = s.hooks.iter().position(|h| h.id == id.0).map(|at| s.hooks.remove(at));
        let after =
            s.after_accumulate.iter().position(|h| h.id == id.0).map(|at| s.after_accumulate.remove(at));
        let at = s.node_hooks.iter().position(|(i, _)| *i == id.0);
        let node = at.and_then(|at| s.node_hooks.swap_remove(at).1.upgrade());
        // Only now: a hook's own data, or the last handle of a graph, may lead back here.
        drop(s);
        drop((hook, after));
        if let Some(node) = node {
            node.remove_hook(id);
        }
        Ok(())
    }
}

impl Node {
    pub(crate) fn hooks(&self) -> MutexGuard<'_, NodeHooks> {
        self.watchers().hooks()
    }

    /// The hooks, if there ever were any.
    pub(crate) fn known_hooks(&self) -> Option<MutexGuard<'_, NodeHooks>> {
        self.any_watchers().map(|w| w.hooks())
    }

    /// Runs `hook` on the gradients that reach this step; what it returns replaces them.
    pub fn register_prehook(&self, hook: NodePreHook, kept: Option<Kept>) -> HookId {
        let id = next_id();
        self.hooks().before.push(Registered { id, run: hook, kept });
        HookId(id)
    }

    /// Runs `hook` on the gradients that this step sends on, and those that reached it.
    pub fn register_hook(&self, hook: NodeHook, kept: Option<Kept>) -> HookId {
        let id = next_id();
        self.hooks().after.push(Registered { id, run: hook, kept });
        HookId(id)
    }

    /// Removes a hook; nothing happens when it is gone already.
    pub fn remove_hook(&self, id: HookId) {
        let Some(mut hooks) = self.known_hooks() else { return };
        let t = hooks.tensor.iter().position(|h| h.1.id == id.0).map(|at| hooks.tensor.remove(at));
        let b = hooks.before.iter().position(|h| h.id == id.0).map(|at| hooks.before.remove(at));
        let a = hooks.after.iter().position(|h| h.id == id.0).map(|at| hooks.after.remove(at));
        drop(hooks);
        drop((t, b, a));
    }

    /// Something that a binding wants to find at this step again; made on first need.
    pub fn companion(&self, make: impl FnOnce() -> Kept) -> Kept {
        let known = self.hooks().companion.clone();
        match known {
            Some(k) => k,
            None => {
                let new = make();
                self.hooks().companion.get_or_insert(new).clone()
            }
        }
    }
}

/// Shows what bindings keep with a tensor's hooks, and with the step that made it, to `see`: only
/// where nothing but this one handle leads there, so that it may count as owned by the handle.
/// Never waits; what is in use elsewhere is left out.
pub fn visit_kept(t: &Tensor, see: &mut dyn FnMut(&Kept)) {
    if Arc::strong_count(&t.0) != 1 {
        return;
    }
    let Some(meta) = t.meta() else { return };
    let Some(state) = meta.glance() else { return };
    state.hooks.iter().filter_map(|h| h.kept.as_ref()).for_each(&mut *see);
    state.after_accumulate.iter().filter_map(|h| h.kept.as_ref()).for_each(&mut *see);
    if let Some(Edge { node, .. }) = &state.grad_fn
        && Arc::strong_count(node) == 1
    {
        visit_node(node, see);
    }
}

fn visit_node(node: &Arc<Node>, see: &mut dyn FnMut(&Kept)) {
    if let Some(watchers) = node.any_watchers() {
        let Some(hooks) = watchers.try_hooks() else { return };
        hooks.tensor.iter().filter_map(|h| h.1.kept.as_ref()).for_each(&mut *see);
        hooks.before.iter().filter_map(|h| h.kept.as_ref()).for_each(&mut *see);
        hooks.after.iter().filter_map(|h| h.kept.as_ref()).for_each(&mut *see);
        hooks.companion.iter().for_each(&mut *see);
    }
    match node.body.try_lock().as_deref() {
        Ok(Body::Op(op)) if Arc::strong_count(op) == 1 => op.kept().into_iter().for_each(see),
        Ok(Body::Freed(kept)) => kept.iter().for_each(see),
        _ => {}
    }
}
