//! What autograd knows of one tensor.

use super::hooks::{AfterHook, Hook, Registered};
use super::node::{Body, Edge, Node, OutInfo};
use crate::{Result, Tensor, bail, ensure};
use smallvec::smallvec;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};

/// Autograd's part of a tensor, made on first need.
#[derive(Default)]
pub(crate) struct Meta(Mutex<State>);

impl Meta {
    /// The state, unless it is in use just now.
    pub(crate) fn glance(&self) -> Option<MutexGuard<'_, State>> {
        match self.0.try_lock() {
            Ok(s) => Some(s),
            Err(TryLockError::Poisoned(p)) => Some(p.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

#[derive(Default)]
pub(crate) struct State {
    /// Set by the user on a leaf.
    pub requires_grad: bool,
    /// The op that made it.
    pub grad_fn: Option<Edge>,
    /// For a view: the version at which `grad_fn` was made. Later writes to the base make it stale.
    pub made_at: u64,
    pub grad: Option<Tensor>,
    /// The node that accumulates into this leaf, while a graph uses it.
    pub accumulator: Weak<Node>,
    pub hooks: Vec<Registered<Hook>>,
    /// Hooks of results live in the node that made them; an in-place write leaves it behind.
    pub node_hooks: Vec<(u64, Weak<Node>)>,
    pub after_accumulate: Vec<Registered<AfterHook>>,
    pub retains_grad: bool,
}

/// How a view came to be, which decides whether it may be written in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// An op that gives one view.
    Plain,
    /// One of several views of an op that gives many: `split`, `unbind` ...
    Several(&'static str),
    /// Made where nothing was recorded.
    NoGrad,
    /// Given back by a user's function.
    Custom,
    /// Reads the bytes as another dtype: strides of the base do not describe it.
    Recast(&'static str),
}

impl Origin {
    /// A view of another dtype has the history recorded when it was made, or none at all.
    fn follows_base(self) -> bool {
        !matches!(self, Origin::Recast(_))
    }
}

/// The root tensor a view looks at.
#[derive(Clone)]
pub(crate) struct ViewOf {
    pub base: Tensor,
    pub origin: Origin,
}

impl Meta {
    /// That of a fresh result.
    pub(crate) fn of_result(edge: Edge, version: u64) -> Meta {
        Meta(Mutex::new(State { grad_fn: Some(edge), made_at: version, ..State::default() }))
    }
}

impl Tensor {
    pub(crate) fn meta(&self) -> Option<&Meta> {
        self.0.meta.get().map(|b| &**b)
    }
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.0.meta.get_or_init(Arc::default).0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn peek<R>(&self, f: impl FnOnce(&State) -> R) -> Option<R> {
        self.meta().map(|m| f(&m.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// The same storage and layout as a root without history.
    pub(crate) fn alias(&self) -> Tensor {
        self.alias_as(self.0.layout.clone(), self.0.dtype)
    }

    /// The same storage as a root without history, in another layout and dtype.
    pub(crate) fn alias_as(&self, layout: crate::Layout, dtype: crate::DType) -> Tensor {
        self.again(layout, dtype, self.0.own_version().cloned())
    }

    /// The same data as a new root; an inference tensor stays one, another does not become one.
    fn again(
        &self,
        layout: crate::Layout,
        dtype: crate::DType,
        version: Option<crate::mem::Version>,
    ) -> Tensor {
        Tensor::root(self.storage().clone(), layout, dtype, version, self.0.inference)
    }

    /// Whether gradients flow to this tensor: set on a leaf, inherited by results.
    #[inline]
    pub fn requires_grad(&self) -> bool {
        match self.0.view() {
            None => self.0.meta.get().is_some() && self.is_tracked(),
            Some(view) => self.is_tracked() || (view.origin.follows_base() && view.base.requires_grad()),
        }
    }

    fn is_tracked(&self) -> bool {
        self.peek(|s| s.requires_grad || s.grad_fn.is_some()).unwrap_or(false)
    }

    /// Whether it is no result of a recorded op.
    pub fn is_leaf(&self) -> bool {
        !self.requires_grad() || matches!(self.grad_fn(), Ok(None))
    }

    /// Marks a leaf as wanting a gradient, or not; gives the same tensor back.
    ///
    /// # Errors
    /// `Runtime` for bool and integer tensors, for results of recorded ops that shall not want one, and
    /// for inference tensors outside inference mode.
    pub fn requires_grad_(&self, on: bool) -> Result<Tensor> {
        ensure!(
            !on || self.dtype().is_differentiable(),
            Runtime,
            "requires_grad_",
            "only floats and complex numbers have gradients; this tensor holds {}",
            self.dtype()
        );
        ensure!(
            !(on && self.0.inference && !super::is_inference_mode_enabled()),
            Runtime,
            "requires_grad_",
            "a tensor made in inference mode cannot require grad; clone() it first"
        );
        if self.grad_fn()?.is_some() && on {
            return Ok(self.clone()); // it does already
        }
        ensure!(
            self.grad_fn()?.is_none(),
            Runtime,
            "requires_grad_",
            "only leaves can be changed; use detach() to get a tensor outside the graph"
        );
        if on || self.meta().is_some() {
            self.state().requires_grad = on;
        }
        Ok(self.clone())
    }

    /// The accumulated gradient of a leaf (or of a tensor after `retain_grad`).
    pub fn grad(&self) -> Option<Tensor> {
        self.peek(|s| s.grad.clone()).flatten()
    }

    /// Replaces or clears the accumulated gradient.
    ///
    /// # Errors
    /// `Runtime` when shape, dtype or device differ from the tensor's, or it is the tensor itself.
    pub fn set_grad(&self, grad: Option<Tensor>) -> Result<()> {
        if let Some(g) = &grad {
            ensure!(!g.is(self), Runtime, "grad", "a tensor cannot be its own gradient");
            ensure!(
                g.shape() == self.shape() && g.dtype() == self.dtype() && g.device() == self.device(),
                Runtime,
                "grad",
                "a gradient of shape {:?} ({}, {}) does not fit a tensor of shape {:?} ({}, {})",
                g.shape(),
                g.dtype(),
                g.device(),
                self.shape(),
                self.dtype(),
                self.device()
            );
        }
        let old = match (&grad, self.meta()) {
            (None, None) => None,
            _ => std::mem::replace(&mut self.state().grad, grad),
        };
        drop(old); // after the lock is gone: it may be the last handle of a graph
        Ok(())
    }

    /// The op that made this tensor and the result of it that it is; none for leaves.
    ///
    /// # Errors
    /// `Runtime` when it is one of several views of a tensor that was written to since.
    pub fn grad_fn(&self) -> Result<Option<Edge>> {
        match self.0.view() {
            Some(view) => super::view::current_edge(self, view),
            None => Ok(self.peek(|s| s.grad_fn.clone()).flatten()),
        }
    }

    /// The same data as a root outside the graph; shares storage and version.
    ///
    /// # Errors
    /// None today; fallible like every op.
    pub fn detach(&self) -> Result<Tensor> {
        Ok(self.alias())
    }

    /// Cuts this tensor from the graph, in place.
    ///
    /// # Errors
    /// `Runtime` for a view: its base still has the history.
    pub fn detach_(&self) -> Result<Tensor> {
        ensure!(
            self.0.view().is_none(),
            Runtime,
            "detach_",
            "a view cannot be detached in place; use detach()"
        );
        let old = (self.meta().is_some()).then(|| {
            let mut s = self.state();
            s.requires_grad = false;
            s.grad_fn.take()
        });
        drop(old);
        Ok(self.clone())
    }

    /// The same data with a version counter of its own: writes are not seen by autograd (torch's `.data`).
    pub fn data(&self) -> Tensor {
        self.again(self.0.layout.clone(), self.0.dtype, Some(crate::mem::Version::fresh()))
    }

    /// Whether [`Tensor::retain_grad`] was called on it.
    pub fn retains_grad(&self) -> bool {
        self.peek(|s| s.retains_grad).unwrap_or(false)
    }

    /// Keeps the gradient of a result of an op too.
    ///
    /// # Errors
    /// `Runtime` when the tensor does not require grad.
    pub fn retain_grad(&self) -> Result<()> {
        ensure!(self.requires_grad(), Runtime, "retain_grad", "the tensor does not require grad");
        if let Some(edge) = self.grad_fn()? {
            let mut state = self.state();
            if !std::mem::replace(&mut state.retains_grad, true) {
                edge.node
                    .watchers()
                    .retained
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push((edge.output, Arc::downgrade(&self.0)));
            }
        }
        Ok(())
    }
}

/// Where gradients of `t` go: the op that made it, or its own accumulator; none if unwanted.
pub(crate) fn gradient_edge(t: &Tensor) -> Result<Option<Edge>> {
    if t.meta().is_none() && t.0.view().is_none() {
        return Ok(None);
    }
    if let Some(edge) = t.grad_fn()? {
        return Ok(Some(edge));
    }
    if t.meta().is_none() {
        return Ok(None);
    }
    let mut state = t.state();
    if !state.requires_grad {
        return Ok(None);
    }
    if let Some(node) = state.accumulator.upgrade() {
        return Ok(Some(Edge { node, output: 0 }));
    }
    let node =
        Node::new("AccumulateGrad", smallvec![], smallvec![OutInfo::of(t)], Body::Accumulate(t.clone()));
    state.accumulator = Arc::downgrade(&node);
    Ok(Some(Edge { node, output: 0 }))
}

/// Refuses an in-place write that autograd could not follow (contract 1j). Call before writing.
pub(crate) fn check_inplace(op: &'static str, t: &Tensor) -> Result<()> {
    ensure!(
        !t.0.inference || super::is_inference_mode_enabled(),
        Runtime,
        op,
        "a tensor made in inference mode can be changed only there; clone() it first"
    );
    if !super::mode::recording() {
        return Ok(());
    }
    if let Some(view) = t.0.view() {
        return super::view::check_view_inplace(op, t, view, false);
    }
    if t.meta().is_some() && t.is_leaf() && t.requires_grad() {
        bail!(
            Runtime,
            op,
            "a leaf that requires grad cannot be changed in place; do it inside no_grad, or on a clone()"
        )
    }
    Ok(())
}

/// Refuses `out=` where a gradient would be lost.
pub(crate) fn check_out<'a>(
    op: &'static str,
    out: &Tensor,
    ins: impl Iterator<Item = &'a Tensor>,
) -> Result<()> {
    if super::mode::recording() {
        let tracked = out.requires_grad() || ins.into_iter().any(Tensor::requires_grad);
        ensure!(
            !tracked,
            Runtime,
            op,
            "out= takes no part in autograd, but an argument requires grad; use it inside no_grad"
        );
    }
    check_inplace(op, out)
}
