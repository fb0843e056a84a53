//! Freed blocks of all sizes that any thread may take: the larger ones, and what threads left over.

use super::cache::{reserve, reserved, unreserve};
use super::size_class::{CLASSES, Class};
use super::system;
use smallvec::SmallVec;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Blocks by class, the one freed last at the end of its list.
struct Shelf {
    lists: [Vec<Kept>; CLASSES],
    sizes: [usize; CLASSES],
    bytes: usize,
    clock: u64,
}

struct Kept {
    ptr: NonNull<u8>,
    since: u64,
}

// SAFETY: blocks on the shelf belong to it alone, whichever thread looks at them.
unsafe impl Send for Shelf {}

static SHELF: Mutex<Shelf> =
    Mutex::new(Shelf { lists: [const { Vec::new() }; CLASSES], sizes: [0; CLASSES], bytes: 0, clock: 0 });

/// No code that can panic runs between the steps of a change, so a poisoned shelf is whole.
fn shelf() -> MutexGuard<'static, Shelf> {
    SHELF.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The block of this class that was freed last.
pub(super) fn pop(class: Class) -> Option<NonNull<u8>> {
    let mut shelf = shelf();
    let kept = shelf.lists[class.index].pop()?;
    shelf.bytes -= class.size;
    unreserve(class.size);
    Some(kept.ptr)
}

/// Keeps a block, in place of older ones if need be, or returns it to the system.
///
/// # Safety
/// `ptr` came from `cache::take` with this `class`, and nothing uses it any more.
pub(super) unsafe fn put(class: Class, ptr: NonNull<u8>) {
    // What must go is given back after the lock is free again: unmapping takes long.
    let mut gone: SmallVec<[(NonNull<u8>, usize); 4]> = SmallVec::new();
    let mut shelf = shelf();
    loop {
        if reserve(class.size) {
            shelf.keep(class, ptr);
            break;
        }
        match shelf.take_oldest() {
            Some(old) => gone.push(old),
            None => {
                gone.push((ptr, class.size));
                break;
            }
        }
    }
    drop(shelf);
    release(gone);
}

/// Returns blocks to the system, unused for longest first, until at most `limit` bytes are reserved.
pub(super) fn drain(limit: usize) {
    let mut gone: SmallVec<[(NonNull<u8>, usize); 4]> = SmallVec::new();
    let mut shelf = shelf();
    while reserved() > limit
        && let Some(old) = shelf.take_oldest()
    {
        gone.push(old);
    }
    drop(shelf);
    release(gone);
}

/// Bytes on the shelf.
pub(super) fn bytes() -> usize {
    shelf().bytes
}

fn release(blocks: SmallVec<[(NonNull<u8>, usize); 4]>) {
    for (ptr, size) in blocks {
        // SAFETY: each came off the shelf or never got onto it: taken with that size, and free.
        unsafe { system::give(ptr, size) };
    }
}

impl Shelf {
    fn keep(&mut self, class: Class, ptr: NonNull<u8>) {
        self.clock += 1;
        self.sizes[class.index] = class.size;
        self.bytes += class.size;
        self.lists[class.index].push(Kept { ptr, since: self.clock });
    }

    fn take_oldest(&mut self) -> Option<(NonNull<u8>, usize)> {
        let first = |list: &Vec<Kept>| list.first().map(|kept| kept.since);
        let (_, index) = (0..CLASSES).filter_map(|i| Some((first(&self.lists[i])?, i))).min()?;
        let size = self.sizes[index];
        self.bytes -= size;
        unreserve(size);
        Some((self.lists[index].remove(0).ptr, size))
    }
}
