//! Per-thread modes: whether ops are recorded.

use std::cell::Cell;

/// The modes of a thread, in one place, so that an op finds them by one look-up.
struct Modes {
    grad: Cell<bool>,
    inference: Cell<bool>,
    /// Inside the body of a recorded op: its own ops are not recorded again.
    below: Cell<bool>,
}

thread_local! {
    static MODES: Modes =
        const { Modes { grad: Cell::new(true), inference: Cell::new(false), below: Cell::new(false) } };
}

/// Whether ops on this thread are recorded for backward.
#[inline]
pub fn is_grad_enabled() -> bool {
    MODES.with(|m| m.grad.get())
}

/// Whether tensors made on this thread are inference tensors.
#[inline]
pub fn is_inference_mode_enabled() -> bool {
    MODES.with(|m| m.inference.get())
}

/// Recording is wanted here and now.
#[inline]
pub(crate) fn recording() -> bool {
    MODES.with(|m| m.grad.get() && !m.below.get())
}

/// Restores the modes of its thread when dropped.
#[must_use = "the mode ends when the guard is dropped"]
pub struct ModeGuard {
    grad: bool,
    inference: bool,
    /// Guards belong to their thread.
    _here: std::marker::PhantomData<*const ()>,
}

impl Drop for ModeGuard {
    fn drop(&mut self) {
        MODES.with(|m| {
            m.grad.set(self.grad);
            m.inference.set(self.inference);
        });
    }
}

fn enter(grad: bool, inference: bool) -> ModeGuard {
    MODES.with(|m| ModeGuard {
        grad: m.grad.replace(grad),
        inference: m.inference.replace(inference),
        _here: std::marker::PhantomData,
    })
}

/// Ops are (or are not) recorded until the guard is dropped.
pub fn set_grad_enabled(on: bool) -> ModeGuard {
    enter(on, is_inference_mode_enabled())
}

/// Runs `f` without recording.
pub fn no_grad<R>(f: impl FnOnce() -> R) -> R {
    let _guard = set_grad_enabled(false);
    f()
}

/// Runs `f` with recording, also inside [`no_grad`].
pub fn enable_grad<R>(f: impl FnOnce() -> R) -> R {
    let _guard = set_grad_enabled(true);
    f()
}

/// Runs `f` in inference mode: nothing is recorded, and new tensors never can be.
pub fn inference_mode<R>(f: impl FnOnce() -> R) -> R {
    let _guard = enter(false, true);
    f()
}

/// Inference mode is on, or off, until the guard is dropped; recording goes off and on with it.
pub fn set_inference_mode(on: bool) -> ModeGuard {
    enter(!on, on)
}

/// Sets whether ops are below a recorded one, until it is dropped.
struct Level(bool);

impl Level {
    fn set(below: bool) -> Level {
        Level(MODES.with(|m| m.below.replace(below)))
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        MODES.with(|m| m.below.set(self.0));
    }
}

/// Runs the body of an op that is recorded as a whole.
pub(crate) fn below<R>(f: impl FnOnce() -> R) -> R {
    let _level = Level::set(true);
    f()
}

/// Runs a backward formula: recorded only when a graph of the gradient is wanted.
pub(crate) fn backward_mode<R>(create_graph: bool, f: impl FnOnce() -> R) -> R {
    let _level = Level::set(false);
    let _guard = set_grad_enabled(create_graph);
    f()
}
