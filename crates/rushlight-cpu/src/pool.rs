//! A fork-join pool: the caller works too, idle workers sleep, nested calls run serially.
//!
//! Work is cut into fixed tasks whose borders do not depend on the number of threads, so results
//! are bit-equal for any. A worker never picks up unrelated work while it holds some: there is one
//! job at a time, and a second caller does its own work alone.

use std::cell::Cell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{
    AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed},
};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

/// Elements of light work below which a second thread does not pay.
pub const GRAIN: usize = 32 * 1024;

type Task = dyn Fn(usize) + Sync;
type Panic = Box<dyn std::any::Any + Send>;

/// One fork: tasks are handed out by counting.
struct Job {
    /// Points to the caller's closure, which outlives the job: the caller waits for `left` to be 0.
    task: *const Task,
    next: AtomicUsize,
    count: usize,
    left: AtomicUsize,
    panic: Mutex<Option<Panic>>,
}

// SAFETY: `task` is Sync and is only called while `left` > 0, during which the caller keeps it alive.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

struct Shared {
    /// The current job and its number.
    slot: Mutex<(u64, Option<Arc<Job>>)>,
    wake: Condvar,
    done: Mutex<()>,
    finished: Condvar,
    /// Held by the thread that forks.
    busy: Mutex<()>,
    workers: Mutex<usize>,
}

static THREADS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// How many threads ops use, the caller's included.
pub fn num_threads() -> usize {
    match THREADS.load(Relaxed) {
        0 => {
            let asked =
                std::env::var("RUSHLIGHT_NUM_THREADS").ok().and_then(|v| v.parse().ok()).filter(|n| *n > 0);
            let n: usize =
                asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
            THREADS.store(n, Relaxed);
            n
        }
        n => n,
    }
}

/// Sets [`num_threads`]; at least 1. Results do not depend on it.
pub fn set_num_threads(n: usize) {
    THREADS.store(n.max(1), Relaxed);
}

fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

fn shared() -> &'static Shared {
    static SHARED: OnceLock<Shared> = OnceLock::new();
    SHARED.get_or_init(|| Shared {
        slot: Mutex::default(),
        wake: Condvar::new(),
        done: Mutex::default(),
        finished: Condvar::new(),
        busy: Mutex::default(),
        workers: Mutex::default(),
    })
}

impl Job {
    /// Does tasks until none is left to take.
    fn work(&self, shared: &Shared) {
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
                let _held = lock(&shared.done);
                shared.finished.notify_all();
            }
        }
        INSIDE.set(outer);
    }
}

fn worker(shared: &'static Shared) {
    let mut seen = 0;
    loop {
        let job = {
            let mut slot = lock(&shared.slot);
            while slot.0 == seen || slot.1.is_none() {
                seen = slot.0;
                slot = shared.wake.wait(slot).unwrap_or_else(PoisonError::into_inner);
            }
            seen = slot.0;
            slot.1.clone()
        };
        if let Some(job) = job {
            job.work(shared);
        }
    }
}

/// Runs `task(0)` to `task(count - 1)`, on several threads when there are several.
pub fn run(count: usize, task: &(dyn Fn(usize) + Sync)) {
    let threads = num_threads().min(count);
    if threads <= 1 || INSIDE.get() {
        return (0..count).for_each(task);
    }
    let shared = shared();
    let _busy = match shared.busy.try_lock() {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(p)) => p.into_inner(),
        Err(TryLockError::WouldBlock) => return (0..count).for_each(task),
    };
    spawn_workers(shared, threads - 1);
    // SAFETY: only the lifetime is erased; this function returns after the last task has ended.
    let task: *const Task = unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static Task>(task) };
    let job = Arc::new(Job {
        task,
        next: AtomicUsize::new(0),
        count,
        left: AtomicUsize::new(count),
        panic: Mutex::new(None),
    });
    {
        let mut slot = lock(&shared.slot);
        *slot = (slot.0 + 1, Some(job.clone()));
    }
    shared.wake.notify_all();
    job.work(shared);
    wait(shared, &job);
    lock(&shared.slot).1 = None;
    let panic = lock(&job.panic).take();
    if let Some(p) = panic {
        resume_unwind(p);
    }
}

/// Spins for about as long as a worker's last block takes, then sleeps.
fn wait(shared: &Shared, job: &Job) {
    for _ in 0..2000 {
        if job.left.load(Acquire) == 0 {
            return;
        }
        std::hint::spin_loop();
    }
    let mut done = lock(&shared.done);
    while job.left.load(Acquire) != 0 {
        done = shared.finished.wait(done).unwrap_or_else(PoisonError::into_inner);
    }
}

fn spawn_workers(shared: &'static Shared, wanted: usize) {
    let mut have = lock(&shared.workers);
    while *have < wanted {
        let name = format!("rushlight-{}", *have + 1);
        if std::thread::Builder::new().name(name).spawn(move || worker(shared)).is_err() {
            break; // fewer threads do the same work
        }
        *have += 1;
    }
}

/// Cuts `0..n` into pieces of `grain` (a fixed size, so that borders never depend on the threads)
/// and runs `f` on each.
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
