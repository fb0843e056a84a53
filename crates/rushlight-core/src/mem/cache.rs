//! The allocator behind [`Block`](super::Block): blocks that are freed are kept for reuse.
//!
//! Small blocks wait in lists of the thread that freed them ([`super::local`]), others in one
//! guarded shelf ([`super::shelf`]). Both draw on one budget, so the cache as a whole is bounded.

use super::size_class::Class;
use super::{local, shelf, stats, system};
use crate::{Result, bail};
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Bytes set aside for caching: what lies on the shelf and what threads may keep in their lists.
static RESERVED: AtomicUsize = AtomicUsize::new(0);
/// Rises with each call that wants the lists of all threads emptied.
static EPOCH: AtomicUsize = AtomicUsize::new(0);

/// A block of `class` for a request of `bytes`, and whether it is fresh and so holds zeros.
#[inline]
pub(super) fn take(class: Class, bytes: usize) -> Result<(NonNull<u8>, bool)> {
    if class.is_small()
        && let Some(ptr) = local::pop(class)
    {
        return Ok((ptr, false));
    }
    take_shared(class, bytes)
}

/// Takes back a block that [`take`] gave.
///
/// # Safety
/// `ptr` came from [`take`] with this `class`, and nothing uses it any more.
#[inline]
pub(super) unsafe fn give(ptr: NonNull<u8>, class: Class) {
    if class.is_small() && local::push(class, ptr) {
        return;
    }
    stats::freed(class.size);
    // SAFETY: handed on.
    unsafe { shelf::put(class, ptr) };
}

#[cold]
fn take_shared(class: Class, bytes: usize) -> Result<(NonNull<u8>, bool)> {
    if let Some(ptr) = shelf::pop(class) {
        stats::allocated(class.size, true);
        return Ok((ptr, false));
    }
    // Memory that is promised and not there kills the process when it is touched, much later.
    if class.size >= system::HUGE
        && let Some(total) = system::total_memory()
        && bytes.saturating_add(stats::live()) > total
    {
        let live = stats::live();
        bail!(
            Runtime,
            "alloc",
            "cannot allocate {bytes} bytes: {live} bytes are in use and this machine has {total} in all"
        );
    }
    let found = system::take(class.size).or_else(|| {
        empty_cache();
        system::take(class.size)
    });
    match found {
        Some(ptr) => {
            stats::allocated(class.size, false);
            Ok((ptr, true))
        }
        None => bail!(Runtime, "alloc", "cannot allocate {bytes} bytes: the system is out of memory"),
    }
}

/// Returns cached blocks to the system.
///
/// Small blocks kept by other threads follow when those threads next free one, or end.
pub fn empty_cache() {
    EPOCH.fetch_add(1, Relaxed);
    local::drain();
    shelf::drain(0);
}

/// Bounds the bytes kept for reuse; the default is an eighth of the machine's memory.
///
/// Zero switches caching off. What is above the bound goes back to the system, blocks unused
/// for longest first, with the exception [`empty_cache`] names.
pub fn set_cache_limit(bytes: usize) {
    limit_cell().store(bytes, Relaxed);
    if RESERVED.load(Relaxed) > bytes {
        EPOCH.fetch_add(1, Relaxed);
        local::drain();
        shelf::drain(bytes);
    }
}

fn limit_cell() -> &'static AtomicUsize {
    static LIMIT: OnceLock<AtomicUsize> = OnceLock::new();
    LIMIT.get_or_init(|| AtomicUsize::new(system::total_memory().map_or(1 << 30, |total| total / 8)))
}

/// The number of calls so far that wanted the lists of all threads emptied.
#[inline]
pub(super) fn epoch() -> usize {
    EPOCH.load(Relaxed)
}

/// Sets `bytes` of the budget aside, unless that would pass the bound.
pub(super) fn reserve(bytes: usize) -> bool {
    let limit = limit_cell().load(Relaxed);
    let fits = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= limit);
    RESERVED.fetch_update(Relaxed, Relaxed, fits).is_ok()
}

/// Gives back what [`reserve`] set aside.
pub(super) fn unreserve(bytes: usize) {
    RESERVED.fetch_sub(bytes, Relaxed);
}

/// Bytes set aside now.
pub(super) fn reserved() -> usize {
    RESERVED.load(Relaxed)
}
