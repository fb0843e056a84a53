//! What the allocator counts. Threads count for themselves and settle with the rest now and then.

use super::{local, shelf};
use std::sync::atomic::{AtomicIsize, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes a thread may allocate or free before it tells the others.
const SETTLE: isize = 256 << 10;

/// What the allocator of host memory did and has; sizes in bytes, as rounded up to block sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryStats {
    /// Bytes in use now.
    pub allocated: usize,
    /// The most bytes in use at once since the start or [`reset_peak`]; where several threads
    /// allocate at once, exact to 256 KiB for each of them.
    pub peak: usize,
    /// Bytes kept for reuse.
    pub cached: usize,
    /// Allocations that were served from the cache.
    pub hits: u64,
    /// Allocations that went to the system.
    pub misses: u64,
    /// All allocations that succeeded: hits and misses.
    pub allocations: u64,
}

static LIVE: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);
/// Counts of threads that ended, and of allocations that were not made from a thread's own lists.
static HITS: AtomicU64 = AtomicU64::new(0);
static MISSES: AtomicU64 = AtomicU64::new(0);
static THREADS: Mutex<Vec<Arc<Counters>>> = Mutex::new(Vec::new());

fn threads() -> MutexGuard<'static, Vec<Arc<Counters>>> {
    THREADS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The counts of one thread. It alone writes them, so a load and a store do where others would
/// need an exchange; everyone may read them.
#[derive(Default)]
pub(super) struct Counters {
    pub(super) cached: AtomicUsize,
    hits: AtomicU64,
    /// Bytes in use that `LIVE` does not count yet, and the highest this was since it was zero.
    pending: AtomicIsize,
    high: AtomicIsize,
}

impl Counters {
    pub(super) fn register() -> Arc<Counters> {
        let counters = Arc::new(Counters::default());
        threads().push(counters.clone());
        counters
    }

    /// A block came from this thread's lists.
    #[inline]
    pub(super) fn hit(&self, size: usize) {
        self.hits.store(self.hits.load(Relaxed) + 1, Relaxed);
        let pending = self.pending.load(Relaxed) + size as isize;
        self.pending.store(pending, Relaxed);
        if pending > self.high.load(Relaxed) {
            self.high.store(pending, Relaxed);
            if pending > SETTLE {
                self.settle();
            }
        }
    }

    /// A block went back to this thread's lists.
    #[inline]
    pub(super) fn freed(&self, size: usize) {
        let pending = self.pending.load(Relaxed) - size as isize;
        self.pending.store(pending, Relaxed);
        if pending < -SETTLE {
            self.settle();
        }
    }

    fn settle(&self) {
        let pending = self.pending.load(Relaxed);
        let high = self.high.load(Relaxed);
        if pending == 0 && high == 0 {
            return;
        }
        self.pending.store(0, Relaxed);
        self.high.store(0, Relaxed);
        let before = LIVE.fetch_add(pending, Relaxed);
        raise_peak(before + high);
    }

    /// The thread ends.
    pub(super) fn retire(&self) {
        self.settle();
        let mut threads = threads();
        HITS.fetch_add(self.hits.load(Relaxed), Relaxed);
        threads.retain(|other| !std::ptr::eq(&raw const **other, self));
    }
}

/// A block that does not come from a thread's lists is in use from now on.
pub(super) fn allocated(size: usize, hit: bool) {
    local::with_counters(Counters::settle);
    if hit { &HITS } else { &MISSES }.fetch_add(1, Relaxed);
    let before = LIVE.fetch_add(size as isize, Relaxed);
    raise_peak(before + size as isize);
}

fn raise_peak(bytes: isize) {
    // Looking first spares most calls the exchange.
    if bytes > PEAK.load(Relaxed) {
        PEAK.fetch_max(bytes, Relaxed);
    }
}

/// A block that does not go to a thread's lists is not in use any more.
pub(super) fn freed(size: usize) {
    local::with_counters(Counters::settle);
    LIVE.fetch_sub(size as isize, Relaxed);
}

/// Bytes in use, to within what threads have not settled.
pub(super) fn live() -> usize {
    LIVE.load(Relaxed).max(0) as usize
}

/// The state of the allocator of host memory.
pub fn memory_stats() -> MemoryStats {
    local::with_counters(Counters::settle);
    let on_shelf = shelf::bytes();
    let threads = threads();
    let pending: isize = threads.iter().map(|t| t.pending.load(Relaxed)).sum();
    let allocated = (LIVE.load(Relaxed) + pending).max(0) as usize;
    let hits = HITS.load(Relaxed) + threads.iter().map(|t| t.hits.load(Relaxed)).sum::<u64>();
    let misses = MISSES.load(Relaxed);
    MemoryStats {
        allocated,
        peak: allocated.max(PEAK.load(Relaxed).max(0) as usize),
        cached: on_shelf + threads.iter().map(|t| t.cached.load(Relaxed)).sum::<usize>(),
        hits,
        misses,
        allocations: hits + misses,
    }
}

/// Lets the peak begin anew from what is in use now.
pub fn reset_peak() {
    local::with_counters(Counters::settle);
    PEAK.store(LIVE.load(Relaxed), Relaxed);
}
