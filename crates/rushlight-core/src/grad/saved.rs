//! Tensors kept for backward, with the version they had, and the hooks that keep them elsewhere.

use super::hooks::Kept;
use super::node::{Edge, Node, OutInfo};
use crate::{Result, Tensor, bail, ensure};
use std::cell::RefCell;
use std::sync::Arc;

/// Keeps saved tensors in a form of its own: on disk, packed, or as a way to compute them again.
pub trait SavedHooks: Send + Sync {
    /// Takes a tensor that is to be kept.
    ///
    /// # Errors
    /// Whatever it likes; the op that saves fails with it.
    fn pack(&self, tensor: &Tensor) -> Result<Kept>;
    /// Gives the tensor back.
    ///
    /// # Errors
    /// Whatever it likes; backward fails with it.
    fn unpack(&self, kept: &Kept) -> Result<Tensor>;
}

thread_local! {
    /// Hooks in force on this thread, innermost last.
    static HOOKS: RefCell<Vec<Arc<dyn SavedHooks>>> = const { RefCell::new(Vec::new()) };
}

/// Saved tensors go through `hooks` on this thread, until [`pop_saved_hooks`].
pub fn push_saved_hooks(hooks: Arc<dyn SavedHooks>) {
    HOOKS.with_borrow_mut(|h| h.push(hooks));
}

/// Ends what the last [`push_saved_hooks`] of this thread began.
pub fn pop_saved_hooks() {
    drop(HOOKS.with_borrow_mut(Vec::pop));
}

/// A tensor kept for backward.
///
/// Kept as a bare alias plus the edge it had, not as the user's handle: a later in-place op gives
/// that handle a new history, which may lead back here and would make a cycle that never frees.
pub(crate) struct Saved {
    held: Held,
    edge: From,
    version: u64,
}

enum Held {
    Alias(Tensor),
    Packed { hooks: Arc<dyn SavedHooks>, kept: Kept, info: OutInfo },
}

impl Held {
    fn of(t: &Tensor) -> Result<Held> {
        let Some(hooks) = HOOKS.with_borrow(|h| h.last().cloned()) else { return Ok(Held::Alias(t.alias())) };
        let kept = super::no_grad(|| hooks.pack(&t.alias()))?;
        Ok(Held::Packed { hooks, kept, info: OutInfo::of(t) })
    }
}

enum From {
    /// An input; the edge leads on into the graph, if it was part of one.
    Input(Option<Edge>),
    /// This result of the node that keeps it.
    Output(usize),
}

impl Saved {
    /// Keeps an input as it is now.
    ///
    /// # Errors
    /// `Runtime` for an inference tensor; those of saved-tensor hooks.
    pub(crate) fn input(op: &'static str, t: &Tensor) -> Result<Saved> {
        Saved::input_at(op, t, super::gradient_edge(t)?)
    }

    /// As [`Saved::input`], with the edge of the tensor.
    pub(crate) fn input_at(op: &'static str, t: &Tensor, edge: Option<Edge>) -> Result<Saved> {
        Saved::check(op, t)?;
        Saved::rooted(t, edge)
    }

    /// Whether [`Saved::input`] takes the tensor.
    pub(crate) fn check(op: &'static str, t: &Tensor) -> Result<()> {
        ensure!(
            !t.0.inference,
            Runtime,
            op,
            "a tensor made in inference mode cannot be kept for backward; clone() it outside inference mode first"
        );
        Ok(())
    }

    /// Keeps a result as it is now.
    ///
    /// # Errors
    /// Those of saved-tensor hooks.
    pub(crate) fn output(t: &Tensor, k: usize) -> Result<Saved> {
        Ok(Saved { held: Held::of(t)?, edge: From::Output(k), version: t.version() })
    }

    /// Keeps a tensor that stands for one with this edge.
    ///
    /// # Errors
    /// Those of saved-tensor hooks.
    pub(crate) fn rooted(t: &Tensor, edge: Option<Edge>) -> Result<Saved> {
        Ok(Saved { held: Held::of(t)?, edge: From::Input(edge), version: t.version() })
    }

    pub(crate) fn info(&self) -> OutInfo {
        match &self.held {
            Held::Alias(t) => OutInfo::of(t),
            Held::Packed { info, .. } => info.clone(),
        }
    }

    /// The tensor again for a formula of this crate, which changes nothing about it.
    ///
    /// # Errors
    /// As [`Saved::unpack`].
    pub(crate) fn peek(&self, node: &Arc<Node>) -> Result<Tensor> {
        match &self.held {
            Held::Alias(alias) if !super::is_grad_enabled() => {
                self.check_version(alias, node)?;
                Ok(alias.clone())
            }
            _ => self.unpack(node),
        }
    }

    /// The tensor again, as part of the graph when one of the gradient is being made.
    ///
    /// # Errors
    /// `Runtime` when it was written to since; those of saved-tensor hooks.
    pub(crate) fn unpack(&self, node: &Arc<Node>) -> Result<Tensor> {
        self.unpack_as(node, super::is_grad_enabled())
    }

    /// The tensor as its user knows it: part of the graph in any mode, a leaf as the very leaf.
    ///
    /// # Errors
    /// As [`Saved::unpack`].
    pub(crate) fn unpack_whole(&self, node: &Arc<Node>) -> Result<Tensor> {
        let t = self.unpack_as(node, true)?;
        let From::Input(Some(edge)) = &self.edge else { return Ok(t) };
        Ok(edge.node.variable().filter(|v| v.shares_storage(&t) && v.layout() == t.layout()).unwrap_or(t))
    }

    fn unpack_as(&self, node: &Arc<Node>, connected: bool) -> Result<Tensor> {
        let t = match &self.held {
            Held::Alias(alias) => {
                self.check_version(alias, node)?;
                alias.alias()
            }
            Held::Packed { hooks, kept, .. } => super::no_grad(|| hooks.unpack(kept))?.alias(),
        };
        let edge = match &self.edge {
            From::Input(edge) => edge.clone(),
            From::Output(k) => Some(Edge { node: node.clone(), output: *k }),
        };
        if let (true, Some(edge)) = (connected, edge) {
            t.state().grad_fn = Some(edge);
        }
        Ok(t)
    }

    fn check_version(&self, alias: &Tensor, node: &Arc<Node>) -> Result<()> {
        let now = alias.version();
        if now != self.version {
            let what = match &self.edge {
                From::Input(_) => "an input",
                From::Output(_) => "the result",
            };
            bail!(
                Runtime,
                node.name,
                "{what} kept for backward was changed in place: {} of shape {:?} is at version {now}, expected {}; {}. Change a clone() instead, or change it before",
                alias.dtype(),
                alias.shape(),
                self.version,
                node.called()
            );
        }
        Ok(())
    }
}
