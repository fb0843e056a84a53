//! The graph: nodes that know how to send gradients to their inputs.

use super::Grads;
use super::saved::Saved;
use crate::layout::Shape;
use crate::trace::Line;
use crate::{DType, Device, Result, Tensor};
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

/// One input slot of a node: where a gradient goes.
#[derive(Clone)]
pub struct Edge {
    /// The node that takes it.
    pub node: Arc<Node>,
    /// Which of the node's results the gradient belongs to.
    pub output: usize,
}

/// What a gradient must look like.
#[derive(Clone, Debug)]
pub struct OutInfo {
    /// Shape of the result.
    pub shape: Shape,
    /// Its dtype.
    pub dtype: DType,
    /// Its device.
    pub device: Device,
}

impl OutInfo {
    pub(crate) fn of(t: &Tensor) -> OutInfo {
        OutInfo { shape: t.shape().into(), dtype: t.dtype(), device: t.device() }
    }
    pub(crate) fn zeros(&self) -> Result<Tensor> {
        let t = Tensor::alloc(crate::Layout::contiguous(self.shape.clone())?, self.dtype, self.device)?;
        crate::exec::fill(&t, crate::Number::Int(0))?;
        Ok(t)
    }
}

/// The backward of one op.
pub(crate) trait Backward: Send + Sync {
    /// Gradients of the inputs from those of the results; `node` is the one this belongs to.
    fn backward(&self, node: &Arc<Node>, grads: &[Option<Tensor>]) -> Result<Grads>;
    /// The tensors it keeps, for the worklist that drops long graphs.
    fn take_saved(&mut self) -> Vec<Saved>;
    /// Whether running it twice needs what `free` drops.
    fn keeps_anything(&self) -> bool {
        true
    }
    /// The tensors that a user's function saved, in order.
    fn saved(&self) -> &[Saved] {
        &[]
    }
    /// What is saved under the name of a parameter, or as `result`.
    fn saved_named(&self, _node: &Arc<Node>, _name: &str) -> Option<Result<Tensor>> {
        None
    }
    /// What a binding keeps with a user's function.
    fn kept(&self) -> Option<&super::hooks::Kept> {
        None
    }
}

pub(crate) enum Body {
    /// An op's formula; gone once the graph is freed. Shared with the runs that are inside it.
    Op(Arc<dyn Backward>),
    /// Adds what arrives to a leaf's `grad`.
    Accumulate(Tensor),
    /// Freed: backward ran without `retain_graph`. What a binding keeps stays, for who asks.
    Freed(Option<super::hooks::Kept>),
}

/// A step of the graph: an op that ran, or the end at a leaf.
pub struct Node {
    pub(crate) seq: u64,
    pub(crate) name: &'static str,
    pub(crate) edges: SmallVec<[Option<Edge>; 2]>,
    pub(crate) outs: SmallVec<[OutInfo; 1]>,
    pub(crate) body: Mutex<Body>,
    pub(crate) location: &'static Location<'static>,
    /// The line that called it, noted in anomaly mode.
    pub(crate) line: Option<Box<Line>>,
    /// Absent until somebody wants to see gradients on their way.
    watchers: OnceLock<Box<Watchers>>,
}

/// Who sees the gradients that reach a node.
#[derive(Default)]
pub(crate) struct Watchers {
    hooks: Mutex<super::hooks::NodeHooks>,
    /// Results whose gradient is also stored in the tensor (`retain_grad`).
    pub(crate) retained: Mutex<Vec<(usize, std::sync::Weak<crate::tensor::Inner>)>>,
}

impl Watchers {
    pub(crate) fn hooks(&self) -> MutexGuard<'_, super::hooks::NodeHooks> {
        self.hooks.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// The hooks, unless somebody is changing them right now.
    pub(crate) fn try_hooks(&self) -> Option<MutexGuard<'_, super::hooks::NodeHooks>> {
        match self.hooks.try_lock() {
            Ok(hooks) => Some(hooks),
            Err(TryLockError::Poisoned(e)) => Some(e.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

thread_local! {
    /// The number of the node this thread made last.
    static LAST: Cell<u64> = const { Cell::new(0) };
}

/// A number above those of the nodes `edges` lead to and of all nodes this thread made before.
/// Threads count for themselves, as one counter for all would slow them down.
fn next_sequence(edges: &[Option<Edge>]) -> u64 {
    let inputs = edges.iter().flatten().map(|e| e.node.seq).max().unwrap_or(0);
    LAST.with(|last| {
        let seq = last.get().max(inputs) + 1;
        last.set(seq);
        seq
    })
}

impl Node {
    #[track_caller]
    pub(crate) fn new(
        name: &'static str,
        edges: SmallVec<[Option<Edge>; 2]>,
        outs: SmallVec<[OutInfo; 1]>,
        body: Body,
    ) -> Arc<Node> {
        // Leaves are visited last.
        let seq = if matches!(body, Body::Accumulate(_)) { 0 } else { next_sequence(&edges) };
        let site = crate::trace::site(name);
        let line = super::anomaly::is_on().then(|| Box::new(site.line()));
        let (body, location) = (Mutex::new(body), site.location);
        Arc::new(Node { seq, name, edges, outs, body, location, line, watchers: OnceLock::new() })
    }

    /// Whether it is the end at a leaf.
    pub(crate) fn is_leaf(&self) -> bool {
        self.seq == 0
    }
    /// Who sees its gradients, to add somebody.
    pub(crate) fn watchers(&self) -> &Watchers {
        self.watchers.get_or_init(Box::default)
    }
    /// Who sees its gradients, if anybody ever asked to.
    pub(crate) fn any_watchers(&self) -> Option<&Watchers> {
        self.watchers.get().map(|w| &**w)
    }

    /// The op whose backward this is (torch shows it as `MulBackward0` and the like).
    pub fn name(&self) -> &'static str {
        self.name
    }
    /// As torch titles it: `AddBackward0`, `AccumulateGrad`.
    pub fn title(&self) -> String {
        // Nodes of no row have titles of their own: `AccumulateGrad`, a user's function.
        match self.name.starts_with(char::is_uppercase) || self.name.ends_with("Backward") {
            true => self.name.to_string(),
            false => crate::display::node_name(self.name),
        }
    }
    /// Its place in an order in which a node comes after its inputs, and after all that the same thread
    /// made before it; 0 for leaves.
    pub fn sequence(&self) -> u64 {
        self.seq
    }
    /// The nodes that its inputs came from: where gradients go next, one entry per tensor input.
    pub fn next_functions(&self) -> &[Option<Edge>] {
        &self.edges
    }
    /// The leaf that this node accumulates into, if it is the end of a path.
    pub fn variable(&self) -> Option<Tensor> {
        match &*self.lock() {
            Body::Accumulate(t) => Some(t.clone()),
            _ => None,
        }
    }
    /// The user's line that called the op, as far as it is known: through a binding, only for what
    /// was recorded in anomaly mode.
    pub fn line(&self) -> Option<Line> {
        match &self.line {
            Some(line) => Some((**line).clone()),
            None if crate::trace::is_bound() => None,
            None => Some(self.location.into()),
        }
    }
    /// Half a sentence on where the op was called, for messages.
    pub(crate) fn called(&self) -> String {
        match self.line() {
            Some(line) => format!("{} was called at {line}", self.name),
            None => format!("detect anomalies to learn where {} was called", self.name),
        }
    }
    /// The tensors that a user's function saved, as part of the graph; leaves as themselves.
    ///
    /// # Errors
    /// `Runtime` when one was changed in place since, or backward freed them.
    pub fn saved_tensors(self: &Arc<Node>) -> Result<Vec<Tensor>> {
        let op = match &*self.lock() {
            Body::Op(op) => op.clone(),
            Body::Accumulate(_) => return Ok(Vec::new()),
            Body::Freed(_) => return Err(self.freed()),
        };
        op.saved().iter().map(|s| s.unpack_whole(self)).collect()
    }
    /// What a binding keeps with a user's function.
    pub fn kept(&self) -> Option<super::hooks::Kept> {
        match &*self.lock() {
            Body::Op(op) => op.kept().cloned(),
            Body::Freed(kept) => kept.clone(),
            Body::Accumulate(_) => None,
        }
    }
    /// What an op saved under the name of a parameter, or as `result`; none when it saves no such
    /// thing. torch's `self` is the parameter `input`.
    pub fn saved_named(self: &Arc<Node>, name: &str) -> Option<Result<Tensor>> {
        let op = match &*self.lock() {
            Body::Op(op) => op.clone(),
            Body::Accumulate(_) => return None,
            Body::Freed(_) => return Some(Err(self.freed())),
        };
        op.saved_named(self, if name == "self" { "input" } else { name })
    }
    pub(crate) fn freed(&self) -> crate::Error {
        crate::err!(
            Runtime,
            self.name,
            "backward ran through this graph before and freed what it kept; pass retain_graph the first time ({})",
            self.called()
        )
    }
    pub(crate) fn lock(&self) -> MutexGuard<'_, Body> {
        self.body.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a dropped node leaves behind, dropped one by one instead of by recursion.
#[expect(dead_code, reason = "held to be dropped")]
enum Remains {
    Edge(Edge),
    Saved(Saved),
    Leaf(Tensor),
    Kept(super::hooks::Kept),
}

thread_local! {
    static PENDING: RefCell<(bool, Vec<Remains>)> = const { RefCell::new((false, Vec::new())) };
}

impl Drop for Node {
    fn drop(&mut self) {
        let (mut saved, mut leaf, mut kept) = (Vec::new(), None, None);
        match std::mem::replace(
            self.body.get_mut().unwrap_or_else(PoisonError::into_inner),
            Body::Freed(None),
        ) {
            Body::Op(op) => {
                // What a user's function keeps may lead on to the next node.
                kept = op.kept().cloned();
                saved = taken(op);
            }
            Body::Accumulate(tensor) => leaf = Some(tensor),
            Body::Freed(rest) => kept = rest,
        }
        let edges = &mut self.edges;
        drain(|pending| {
            pending.extend(leaf.map(Remains::Leaf));
            pending.extend(kept.map(Remains::Kept));
            pending.extend(saved.into_iter().map(Remains::Saved));
            for edge in edges {
                if let Some(edge) = edge.take() {
                    pending.push(Remains::Edge(edge));
                }
            }
        });
    }
}

/// What a formula kept. One that still runs somewhere lets go of it itself when it ends.
pub(crate) fn taken(mut op: Arc<dyn Backward>) -> Vec<Saved> {
    Arc::get_mut(&mut op).map(Backward::take_saved).unwrap_or_default()
}

/// Drops `saved` without recursion: a chain of a million nodes must not overflow the stack.
pub(crate) fn drop_saved(saved: Vec<Saved>) {
    drain(|pending| pending.extend(saved.into_iter().map(Remains::Saved)));
}

/// Drops what `add` adds to this thread's list, unless that is being done further up the stack.
fn drain(add: impl FnOnce(&mut Vec<Remains>)) {
    // Without thread-local storage (a thread that is ending) plain dropping has to do.
    let _ = PENDING.try_with(|pending| {
        {
            let mut p = pending.borrow_mut();
            add(&mut p.1);
            if p.1.is_empty() || std::mem::replace(&mut p.0, true) {
                return;
            }
        }
        loop {
            let next = pending.borrow_mut().1.pop();
            match next {
                Some(r) => drop(r),
                None => break,
            }
        }
        pending.borrow_mut().0 = false;
    });
}
