//! Anomaly mode: steps remember where they were called, and backward stops at the first NaN.

use super::node::Node;
use crate::{Result, Tensor, bail};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// How closely backward is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Anomaly {
    /// Not at all.
    Off,
    /// Steps remember the line that called them, and errors name it.
    Lines,
    /// Also, a gradient that holds NaN is an error.
    Nan,
}

static MODE: AtomicU8 = AtomicU8::new(Anomaly::Off as u8);

thread_local! {
    /// The step whose backward failed last while the mode was on.
    static FAILED: RefCell<Option<Arc<Node>>> = const { RefCell::new(None) };
}

/// The mode of the process.
pub fn anomaly_mode() -> Anomaly {
    match MODE.load(Relaxed) {
        0 => Anomaly::Off,
        1 => Anomaly::Lines,
        _ => Anomaly::Nan,
    }
}

/// Changes the mode for all threads; only steps recorded from now on remember their lines.
pub fn set_anomaly_mode(mode: Anomaly) {
    MODE.store(mode as u8, Relaxed);
}

pub(super) fn is_on() -> bool {
    MODE.load(Relaxed) != Anomaly::Off as u8
}

/// The step at which the last backward of this thread failed, once; known in anomaly mode only.
pub fn take_failed() -> Option<Arc<Node>> {
    FAILED.with_borrow_mut(Option::take)
}

/// Passes on what a step's backward gave, having looked at it if the mode asks for that.
pub(super) fn watch<G: AsRef<[Option<Tensor>]>>(node: &Arc<Node>, sent: Result<G>) -> Result<G> {
    if !is_on() {
        return sent;
    }
    let result = sent.and_then(|g| search(node, g.as_ref()).map(|()| g));
    if result.is_err() {
        let old = FAILED.with_borrow_mut(|f| f.replace(node.clone()));
        drop(old);
    }
    result
}

fn search(node: &Arc<Node>, grads: &[Option<Tensor>]) -> Result<()> {
    if anomaly_mode() != Anomaly::Nan {
        return Ok(());
    }
    for (k, g) in grads.iter().enumerate() {
        let Some(g) = g.as_ref().filter(|g| g.dtype().is_differentiable()) else { continue };
        // NaN is what differs from itself, complex numbers included.
        let g = g.detach()?;
        if g.ne(&g)?.any(crate::Dims::All, false)?.item()?.to_bool() {
            bail!(Runtime, node.name, "{} gave nan in its output {k}; {}", node.title(), node.called())
        }
    }
    Ok(())
}
