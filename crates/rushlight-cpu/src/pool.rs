//! A fork-join pool: the caller works too, idle workers spin for a moment and then sleep, nested
//! calls run serially.
//!
//! Work is cut into fixed tasks whose borders do not depend on the number of threads, so results
//! are bit-equal for any. A worker never picks up unrelated work while it holds some: there is one
//! job at a time, and a second caller does its own work alone.

use std::cell::Cell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{
    AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};

/// Elements of light work below which a second thread does not pay.
pub const GRAIN: usize = 32 * 1024;

/// Turns of the loop in which an idle thread looks for work before it sleeps: some ten microseconds.
const SPINS: u32 = 4000;

type Task = dyn Fn(usize) + Sync;
type Panic = Box<dyn std::any::Any + Send>;

/// One fork: tasks are handed out by counting.
struct Job {
    /// Points to the caller's closure, which outlives the job: the caller waits for `left` to be 0.
    task: *const Task,
    next: AtomicUsize,
    count: usize,
    left: AtomicUsize,
    /// Workers that may still join; the others leave the job alone.
    seats: AtomicUsize,
    panic: Mutex<Option<Panic>>,
}

// SAFETY: `task` is Sync and is only called while `left` > 0, during which the caller keeps it alive.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

struct Shared {
    /// Number of the newest job; changes under the lock of `slot`.
    newest: AtomicU64,
    /// The newest job, while it has tasks to hand out.
    slot: Mutex<Option<Arc<Job>>>,
    wake: Condvar,
    done: Mutex<()>,
    finished: Condvar,
    /// Held by the thread that forks.
    busy: Mutex<()>,
    workers: Mutex<usize>,
}

static SHARED: Shared = Shared {
    newest: AtomicU64::new(0),
    slot: Mutex::new(None),
    wake: Condvar::new(),
    done: Mutex::new(()),
    finished: Condvar::new(),
    busy: Mutex::new(()),
    workers: Mutex::new(0),
};

static THREADS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// How many threads ops use, the caller's included: `RUSHLIGHT_NUM_THREADS`, else one for each core.
#[inline]
pub fn num_threads() -> usize {
    match THREADS.load(Relaxed) {
        0 => first_count(),
        n => n,
    }
}

#[cold]
fn first_count() -> usize {
    let asked = std::env::var("RUSHLIGHT_NUM_THREADS").ok().and_then(|v| v.trim().parse().ok());
    let n = match asked {
        Some(n) if n > 0 => n,
        _ => std::thread::available_parallelism().map_or(1, usize::from),
    };
    // A count that was set in the meantime stays.
    match THREADS.compare_exchange(0, n, Relaxed, Relaxed) {
        Ok(_) => n,
        Err(set) => set,
    }
}

/// Sets [`num_threads`]; at least 1. Results do not depend on it.
pub fn set_num_threads(n: usize) {
    THREADS.store(n.max(1), Relaxed);
}

/// The process that has the workers; 0 before there are any.
static OWNER: AtomicU32 = AtomicU32::new(0);

fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Job {
    /// Does tasks until none is left to take. A panic is kept for the caller, and ends the job early.
    fn work(&self) {
        let outer = INSIDE.replace(true);
        loop {
            let k = self.next.fetch_add(1, Relaxed);
            if k >= self.count {
                break;
            }
            // SAFETY: this task is not done yet, so `left` > 0 and the caller still waits.
            let task = unsafe { &*self.task };
            if let Err(p) = catch_unwind(AssertUnwindSafe(|| task(k))) {
                lock(&self.panic).get_or_insert(p);
            }
            if self.left.fetch_sub(1, AcqRel) == 1 {
                // The lock orders this with a caller that has looked and is about to sleep.
                let _held = lock(&SHARED.done);
                SHARED.finished.notify_all();
            }
        }
        INSIDE.set(outer);
    }

    /// Waits for the tasks that others still work on.
    fn wait(&self) {
        for _ in 0..SPINS {
            if self.left.load(Acquire) == 0 {
                return;
            }
            std::hint::spin_loop();
        }
        let mut done = lock(&SHARED.done);
        while self.left.load(Acquire) != 0 {
            done = SHARED.finished.wait(done).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn worker() {
    let mut seen = 0;
    loop {
        let mut spins = 0;
        while SHARED.newest.load(Acquire) == seen && spins < SPINS {
            std::hint::spin_loop();
            spins += 1;
        }
        let mut slot = lock(&SHARED.slot);
        while SHARED.newest.load(Relaxed) == seen {
            slot = SHARED.wake.wait(slot).unwrap_or_else(PoisonError::into_inner);
        }
        seen = SHARED.newest.load(Relaxed);
        let job = slot.clone();
        drop(slot);
        let Some(job) = job else { continue };
        if job.seats.fetch_update(Relaxed, Relaxed, |n| n.checked_sub(1)).is_ok() {
            job.work();
        }
    }
}

/// Runs `task(0)` to `task(count - 1)`, on several threads when there are several.
///
/// # Panics
/// With the first panic of a task, after the others have ended.
pub fn run(count: usize, task: &(dyn Fn(usize) + Sync)) {
    let threads = num_threads().min(count);
    if threads <= 1 || INSIDE.get() || forked() {
        return (0..count).for_each(task);
    }
    let _busy = match SHARED.busy.try_lock() {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(p)) => p.into_inner(),
        Err(TryLockError::WouldBlock) => return (0..count).for_each(task),
    };
    hire(threads - 1);
    // SAFETY: only the lifetime is erased; this function returns after the last task has ended.
    let task: *const Task = unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static Task>(task) };
    let job = Arc::new(Job {
        task,
        next: AtomicUsize::new(0),
        count,
        left: AtomicUsize::new(count),
        seats: AtomicUsize::new(threads - 1),
        panic: Mutex::new(None),
    });
    {
        let mut slot = lock(&SHARED.slot);
        *slot = Some(job.clone());
        SHARED.newest.fetch_add(1, Release);
    }
    SHARED.wake.notify_all();
    job.work();
    *lock(&SHARED.slot) = None;
    job.wait();
    let panic = lock(&job.panic).take();
    if let Some(p) = panic {
        resume_unwind(p);
    }
}

/// Whether the workers are another process's. A fork copies no threads, and locks as they were at
/// that moment, held by nobody who could let go: a forked process does its work alone.
fn forked() -> bool {
    let owner = OWNER.load(Relaxed);
    owner != 0 && owner != std::process::id()
}

fn hire(wanted: usize) {
    OWNER.store(std::process::id(), Relaxed);
    let mut have = lock(&SHARED.workers);
    while *have < wanted {
        let name = format!("rushlight-{}", *have + 1);
        if std::thread::Builder::new().name(name).spawn(worker).is_err() {
            break; // fewer threads do the same work
        }
        *have += 1;
    }
}

/// Cuts `0..n` into pieces of `grain` (a fixed size, so that borders never depend on the threads)
/// and runs `f` on each.
///
/// # Panics
/// As [`run`].
#[inline]
pub fn parallel_for(n: usize, grain: usize, f: impl Fn(Range<usize>) + Sync) {
    let grain = grain.max(1);
    if n <= grain {
        if n > 0 {
            f(0..n);
        }
        return;
    }
    run(n.div_ceil(grain), &|k| f(k * grain..((k + 1) * grain).min(n)));
}

#[cfg(test)]
mod tests;
