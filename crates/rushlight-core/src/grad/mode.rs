//! Per-thread modes: whether ops are recorded.

use std::cell::Cell;

thread_local! {
    static GRAD: Cell<bool> = const { Cell::new(true) };
    static INFERENCE: Cell<bool> = const { Cell::new(false) };
    /// Inside the body of a recorded op: its own ops are not recorded again.
    static BELOW: Cell<bool> = const { Cell::new(false) };
}

/// Whether ops on this thread are recorded for backward.
pub fn is_grad_enabled() -> bool {
    GRAD.with(Cell::get)
}

/// Whether tensors made on this thread are inference tensors.
pub fn is_inference_mode_enabled() -> bool {
    INFERENCE.with(Cell::get)
}

/// Recording is wanted here and now.
#[inline]
pub(crate) fn recording() -> bool {
    GRAD.with(Cell::get) && !BELOW.with(Cell::get)
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
        GRAD.with(|g| g.set(self.grad));
        INFERENCE.with(|i| i.set(self.inference));
    }
}

fn enter(grad: bool, inference: bool) -> ModeGuard {
    ModeGuard {
        grad: GRAD.with(|g| g.replace(grad)),
        inference: INFERENCE.with(|i| i.replace(inference)),
        _here: std::marker::PhantomData,
    }
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

/// Runs the body of an op that is recorded as a whole.
pub(crate) fn below<R>(f: impl FnOnce() -> R) -> R {
    struct Reset(bool);
    impl Drop for Reset {
        fn drop(&mut self) {
            BELOW.with(|b| b.set(self.0));
        }
    }
    let _reset = Reset(BELOW.with(|b| b.replace(true)));
    f()
}

/// Runs a backward formula: recorded only when a graph of the gradient is wanted.
pub(crate) fn backward_mode<R>(create_graph: bool, f: impl FnOnce() -> R) -> R {
    struct Reset(bool);
    impl Drop for Reset {
        fn drop(&mut self) {
            BELOW.with(|b| b.set(self.0));
        }
    }
    let _reset = Reset(BELOW.with(|b| b.replace(false)));
    let _guard = set_grad_enabled(create_graph);
    f()
}
