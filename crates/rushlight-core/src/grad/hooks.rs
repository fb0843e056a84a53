//! Functions that users run on gradients as they pass.

use super::meta::gradient_edge;
use crate::{Result, Tensor, ensure};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError};

/// Sees the gradient of a tensor and may replace it.
pub type Hook = Arc<dyn Fn(&Tensor) -> Result<Option<Tensor>> + Send + Sync>;
/// Sees a leaf after its `grad` was updated.
pub type AfterHook = Arc<dyn Fn(&Tensor) -> Result<()> + Send + Sync>;

/// Names a registered hook, to remove it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HookId(u64);

fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Relaxed)
}

impl Tensor {
    /// Runs `hook` on this tensor's gradient when backward reaches it; what it returns replaces the gradient.
    ///
    /// # Errors
    /// `Runtime` when the tensor does not require grad.
    pub fn register_hook(
        &self,
        hook: impl Fn(&Tensor) -> Result<Option<Tensor>> + Send + Sync + 'static,
    ) -> Result<HookId> {
        ensure!(
            self.requires_grad(),
            Runtime,
            "register_hook",
            "the tensor does not require grad, so no gradient will pass"
        );
        let id = next_id();
        let hook: Hook = Arc::new(hook);
        match self.grad_fn()? {
            Some(edge) => {
                edge.node.pre_hooks.lock().unwrap_or_else(PoisonError::into_inner).push((
                    edge.output,
                    id,
                    hook,
                ));
                let mut state = self.state();
                state.node_hooks.retain(|(_, node)| node.strong_count() > 0);
                state.node_hooks.push((id, Arc::downgrade(&edge.node)));
            }
            None => self.state().hooks.push((id, hook)),
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
        ensure!(
            self.requires_grad() && self.is_leaf(),
            Runtime,
            "register_post_accumulate_grad_hook",
            "only leaves that require grad accumulate gradients"
        );
        let id = next_id();
        gradient_edge(self)?;
        self.state().after_accumulate.push((id, Arc::new(hook)));
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
        s.hooks.retain(|(i, _)| *i != id.0);
        s.after_accumulate.retain(|(i, _)| *i != id.0);
        let at = s.node_hooks.iter().position(|(i, _)| *i == id.0);
        let node = at.and_then(|at| s.node_hooks.swap_remove(at).1.upgrade());
        drop(s); // the node may be the last handle of a graph that leads back here
        if let Some(node) = node {
            node.pre_hooks.lock().unwrap_or_else(PoisonError::into_inner).retain(|(_, i, _)| *i != id.0);
        }
        Ok(())
    }
}
