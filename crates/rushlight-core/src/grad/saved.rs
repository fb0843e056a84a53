//! Tensors kept for backward, with the version they had.

use super::node::{Edge, Node};
use crate::{Result, Tensor, bail, ensure};
use std::sync::Arc;

/// A tensor kept for backward.
///
/// Kept as a bare alias plus the edge it had, not as the user's handle: a later in-place op gives
/// that handle a new history, which may lead back here and would make a cycle that never frees.
pub(crate) struct Saved {
    alias: Tensor,
    edge: From,
    version: u64,
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
    /// `Runtime` for an inference tensor.
    pub(crate) fn input(op: &'static str, t: &Tensor) -> Result<Saved> {
        Saved::check(op, t)?;
        Ok(Saved { alias: t.alias(), edge: From::Input(super::gradient_edge(t)?), version: t.version() })
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
    pub(crate) fn output(t: &Tensor, k: usize) -> Saved {
        Saved { alias: t.alias(), edge: From::Output(k), version: t.version() }
    }

    /// Keeps a tensor that stands for one with this edge.
    pub(crate) fn rooted(t: &Tensor, edge: Option<Edge>) -> Saved {
        Saved { alias: t.alias(), edge: From::Input(edge), version: t.version() }
    }

    pub(crate) fn info(&self) -> super::node::OutInfo {
        super::node::OutInfo::of(&self.alias)
    }

    /// The tensor again, as part of the graph when one of the gradient is being made.
    ///
    /// # Errors
    /// `Runtime` when it was written to since.
    pub(crate) fn unpack(&self, node: &Arc<Node>) -> Result<Tensor> {
        let now = self.alias.version();
        if now != self.version {
            let what = match &self.edge {
                From::Input(_) => "an input",
                From::Output(_) => "the result",
            };
            bail!(
                Runtime,
                node.name,
                "{what} kept for backward was changed in place: {} of shape {:?} is at version {now}, expected {}; {} was called at {}. Change a clone() instead, or change it before",
                self.alias.dtype(),
                self.alias.shape(),
                self.version,
                node.name,
                node.location
            );
        }
        let edge = match &self.edge {
            From::Input(edge) => edge.clone(),
            From::Output(k) => Some(Edge { node: node.clone(), output: *k }),
        };
        let t = self.alias.alias();
        if let (true, Some(edge)) = (super::is_grad_enabled(), edge) {
            t.state().grad_fn = Some(edge);
        }
        Ok(t)
    }
}
