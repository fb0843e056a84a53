//! Every copy is visible: who copied how many bytes, why, and from which line of the caller.
//!
//! With no observer the cost of a copy's report is one relaxed load. Observers are per thread.

use crate::{Result, bail, layout::Shape};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A line of the user's program, in whatever language that is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    file: Cow<'static, str>,
    line: u32,
}

impl Line {
    /// Line `line` (counted from 1) of `file`.
    pub fn new(file: impl Into<Cow<'static, str>>, line: u32) -> Line {
        Line { file: file.into(), line }
    }
    /// The file, as its language names it.
    pub fn file(&self) -> &str {
        &self.file
    }
    /// The line, counted from 1.
    pub fn line(&self) -> u32 {
        self.line
    }
}

impl From<&'static Location<'static>> for Line {
    fn from(at: &'static Location<'static>) -> Line {
        Line::new(at.file(), at.line())
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// How a binding finds the line that its user's program is at.
static FINDER: OnceLock<fn() -> Option<Line>> = OnceLock::new();

/// Says how to find the user's line when calls come from another language; the first call counts.
/// `find` runs only when a line is asked for: a copy is reported, or anomaly mode is on.
pub fn set_line_finder(find: fn() -> Option<Line>) {
    let _ = FINDER.set(find);
}

/// Whether calls come through a binding, so that lines of Rust say nothing to the user.
pub(crate) fn is_bound() -> bool {
    FINDER.get().is_some()
}

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
    pub location: Line,
}

/// Where an observer's copies are written, in order; it can be read while it is written.
pub type Log = Arc<Mutex<Vec<Copy>>>;

/// Threads with an observer, so that the others need not look at their own state.
static OBSERVED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static LOGS: RefCell<Vec<Log>> = const { RefCell::new(Vec::new()) };
    static FORBIDDEN: Cell<usize> = const { Cell::new(0) };
    static SITE: Cell<Option<Site>> = const { Cell::new(None) };
}

/// The op a user called, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    pub op: &'static str,
    pub location: &'static Location<'static>,
}

impl Site {
    /// The line to tell the user.
    pub fn line(self) -> Line {
        FINDER.get().and_then(|find| find()).unwrap_or_else(|| self.location.into())
    }
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
    let forbidden = FORBIDDEN.with(Cell::get) > 0;
    let logs: Vec<Log> = LOGS.with_borrow(Vec::clone);
    if !forbidden && logs.is_empty() {
        return Ok(()); // it is another thread that observes
    }
    let site = site(op);
    let (op, location) = (site.op, site.line());
    if forbidden {
        bail!(
            Runtime,
            op,
            "would copy {bytes} bytes of shape {shape:?} at {location} because {reason}; copies are forbidden here"
        );
    }
    for log in logs {
        let copy = Copy { op, bytes, shape: shape.into(), reason, location: location.clone() };
        log.lock().unwrap_or_else(PoisonError::into_inner).push(copy);
    }
    Ok(())
}

/// Observes this thread's copies until it is dropped.
#[must_use = "nothing is observed after the guard is dropped"]
pub struct Observer {
    /// What is written to; none for a guard that forbids copies.
    log: Option<Log>,
    /// Observers belong to their thread.
    _here: std::marker::PhantomData<*const ()>,
}

impl Observer {
    /// Logs every copy.
    pub fn logging(log: Log) -> Observer {
        LOGS.with_borrow_mut(|logs| logs.push(log.clone()));
        Observer::start(Some(log))
    }
    /// Makes every copy an error.
    pub fn forbidding() -> Observer {
        FORBIDDEN.with(|c| c.set(c.get() + 1));
        Observer::start(None)
    }
    fn start(log: Option<Log>) -> Observer {
        OBSERVED.fetch_add(1, Relaxed);
        Observer { log, _here: std::marker::PhantomData }
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        OBSERVED.fetch_sub(1, Relaxed);
        match &self.log {
            Some(log) => LOGS.with_borrow_mut(|logs| {
                if let Some(at) = logs.iter().rposition(|l| Arc::ptr_eq(l, log)) {
                    logs.remove(at);
                }
            }),
            None => FORBIDDEN.with(|c| c.set(c.get() - 1)),
        }
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
    let log = Log::default();
    let observer = Observer::logging(log.clone());
    let result = f();
    drop(observer);
    let copies = std::mem::take(&mut *log.lock().unwrap_or_else(PoisonError::into_inner));
    (result, copies)
}

/// Runs `f`; any copy it would cause on this thread is an error instead.
pub fn forbid_copies<R>(f: impl FnOnce() -> R) -> R {
    let _observer = Observer::forbidding();
    f()
}
