//! Every copy is visible: who copied how many bytes, why, and from which line of the caller.
//!
//! With no observer the cost of a copy's report is one relaxed load. Observers are per thread.

use crate::{Result, bail, layout::Shape};
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// One copy of data where a view might have been expected.
#[derive(Clone, Debug)]
pub struct Copy {
    /// The public op that copied.
    pub op: &'static str,
    /// Bytes written.
    pub bytes: usize,
    /// Shape of what was copied.
    pub shape: Shape,
    /// Why no view could do.
    pub reason: &'static str,
    /// The caller's file and line.
    pub location: &'static Location<'static>,
}

/// Threads with an observer, so that the others need not look at their own state.
static OBSERVED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static LOGS: RefCell<Vec<Vec<Copy>>> = const { RefCell::new(Vec::new()) };
    static FORBIDDEN: Cell<usize> = const { Cell::new(0) };
    static SITE: Cell<Option<Site>> = const { Cell::new(None) };
}

/// The op a user called, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    pub op: &'static str,
    pub location: &'static Location<'static>,
}

/// While it lives, reports name this op and line, whatever ops run inside.
pub(crate) struct SiteGuard(bool);

impl SiteGuard {
    /// Keeps the outermost call.
    #[inline]
    #[track_caller]
    pub(crate) fn enter(op: &'static str) -> SiteGuard {
        let location = Location::caller();
        SITE.with(|s| {
            let first = s.get().is_none();
            if first {
                s.set(Some(Site { op, location }));
            }
            SiteGuard(first)
        })
    }
}

impl Drop for SiteGuard {
    #[inline]
    fn drop(&mut self) {
        if self.0 {
            SITE.with(|s| s.set(None));
        }
    }
}

/// Where the user is now; the caller's own line outside any op.
#[track_caller]
pub(crate) fn site(op: &'static str) -> Site {
    let location = Location::caller();
    SITE.with(Cell::get).unwrap_or(Site { op, location })
}

/// Reports a copy that is about to happen.
///
/// # Errors
/// `Runtime` inside [`forbid_copies`].
#[inline]
pub(crate) fn copying(op: &'static str, bytes: usize, shape: &[usize], reason: &'static str) -> Result<()> {
    if OBSERVED.load(Relaxed) == 0 || bytes == 0 { Ok(()) } else { report(op, bytes, shape, reason) }
}

#[cold]
fn report(op: &'static str, bytes: usize, shape: &[usize], reason: &'static str) -> Result<()> {
    let Site { op, location } = site(op);
    if FORBIDDEN.with(Cell::get) > 0 {
        bail!(
            Runtime,
            op,
            "would copy {bytes} bytes of shape {shape:?} at {location} because {reason}; copies are forbidden here"
        );
    }
    LOGS.with_borrow_mut(|logs| {
        for log in logs {
            log.push(Copy { op, bytes, shape: shape.into(), reason, location });
        }
    });
    Ok(())
}

struct Observing<F: Fn()>(F);

impl<F: Fn()> Drop for Observing<F> {
    fn drop(&mut self) {
        (self.0)();
        OBSERVED.fetch_sub(1, Relaxed);
    }
}

/// Runs `f` and gives its result with every copy that it caused on this thread, in order.
///
/// ```
/// # use rushlight::{Tensor, trace};
/// let x = Tensor::from_vec(vec![1f32, 2., 3., 4.], [2, 2])?;
/// let (_, copies) = trace::copies(|| x.t()?.reshape([4]));
/// assert_eq!((copies[0].op, copies[0].bytes), ("reshape", 16));
/// # Ok::<(), rushlight::Error>(())
/// ```
pub fn copies<R>(f: impl FnOnce() -> R) -> (R, Vec<Copy>) {
    LOGS.with_borrow_mut(|logs| logs.push(Vec::new()));
    OBSERVED.fetch_add(1, Relaxed);
    let log = std::rc::Rc::new(RefCell::new(Vec::new()));
    let kept = log.clone();
    let guard = Observing(move || {
        let last = LOGS.with_borrow_mut(Vec::pop).unwrap_or_default();
        *kept.borrow_mut() = last;
    });
    let result = f();
    drop(guard);
    (result, log.take())
}

/// Runs `f`; any copy it would cause on this thread is an error instead.
pub fn forbid_copies<R>(f: impl FnOnce() -> R) -> R {
    FORBIDDEN.with(|c| c.set(c.get() + 1));
    OBSERVED.fetch_add(1, Relaxed);
    let _guard = Observing(|| FORBIDDEN.with(|c| c.set(c.get() - 1)));
    f()
}
