//! Small freed blocks, in lists of the thread that freed them: no lock, no atomic exchange.
//!
//! A list runs through the free blocks themselves: the first bytes of each hold the address of
//! the next. Its owner alone reads and writes it.

use super::cache::{epoch, reserve, unreserve};
use super::size_class::{Class, SMALL_CLASSES, SMALL_MAX};
use super::stats::Counters;
use super::{shelf, system};
use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The budget is drawn in portions of this size.
const PORTION: usize = 256 << 10;
/// What one thread may keep in all, and in one list.
const THREAD_MAX: usize = 4 << 20;
const LIST_MAX_BYTES: usize = 512 << 10;
const LIST_MAX_BLOCKS: usize = 64;
const _: () = assert!(SMALL_MAX * 2 <= LIST_MAX_BYTES && SMALL_MAX <= PORTION);

struct Local {
    lists: [List; SMALL_CLASSES],
    /// Bytes of the budget this thread holds, and those of them that lie in the lists.
    budget: Cell<usize>,
    kept: Cell<usize>,
    epoch: Cell<usize>,
    counters: Arc<Counters>,
}

struct List {
    head: Cell<*mut u8>,
    len: Cell<usize>,
}

thread_local! {
    static LOCAL: Local = Local {
        lists: std::array::from_fn(|_| List { head: Cell::new(ptr::null_mut()), len: Cell::new(0) }),
        budget: Cell::new(0),
        kept: Cell::new(0),
        epoch: Cell::new(epoch()),
        counters: Counters::register(),
    };
}

/// A block of this small class that this thread freed, if there is one.
#[inline]
pub(super) fn pop(class: Class) -> Option<NonNull<u8>> {
    LOCAL.try_with(|local| local.pop(class)).ok().flatten()
}

/// Keeps a block of this small class; false when it is not kept (then nothing was counted).
#[inline]
pub(super) fn push(class: Class, ptr: NonNull<u8>) -> bool {
    LOCAL.try_with(|local| local.push(class, ptr)).unwrap_or(false)
}

/// Returns this thread's blocks to the system.
pub(super) fn drain() {
    let _ = LOCAL.try_with(Local::drain);
}

/// Runs `f` on this thread's counters, unless the thread is ending.
pub(super) fn with_counters<R>(f: impl FnOnce(&Counters) -> R) -> Option<R> {
    LOCAL.try_with(|local| f(&local.counters)).ok()
}

impl Local {
    #[inline]
    fn pop(&self, class: Class) -> Option<NonNull<u8>> {
        let ptr = self.lists[class.index].pop()?;
        self.set_kept(self.kept.get() - class.size);
        self.counters.hit(class.size);
        Some(ptr)
    }

    #[inline]
    fn push(&self, class: Class, ptr: NonNull<u8>) -> bool {
        let list = &self.lists[class.index];
        if self.epoch.get() != epoch() {
            self.drain();
        }
        let kept = self.kept.get() + class.size;
        let room = list.len.get() < LIST_MAX_BLOCKS && list.len.get() * class.size < LIST_MAX_BYTES;
        if !room || (kept > self.budget.get() && !self.draw()) {
            return false;
        }
        list.push(ptr);
        self.set_kept(kept);
        self.counters.freed(class.size);
        true
    }

    #[cold]
    fn draw(&self) -> bool {
        let more = self.budget.get() + PORTION;
        let drawn = more <= THREAD_MAX && reserve(PORTION);
        if drawn {
            self.budget.set(more);
        }
        drawn
    }

    #[inline]
    fn set_kept(&self, bytes: usize) {
        self.kept.set(bytes);
        self.counters.cached.store(bytes, Relaxed);
    }

    #[cold]
    fn drain(&self) {
        self.epoch.set(epoch());
        self.empty(|class, ptr| {
            // SAFETY: the block lay in the list of its class, so it was taken with that size and is free.
            unsafe { system::give(ptr, class.size) }
        });
    }

    fn empty(&self, mut f: impl FnMut(Class, NonNull<u8>)) {
        let budget = self.budget.replace(0);
        self.set_kept(0);
        unreserve(budget);
        for (index, list) in self.lists.iter().enumerate() {
            while let Some(ptr) = list.pop() {
                f(Class::small(index), ptr);
            }
        }
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        self.empty(|class, ptr| {
            // SAFETY: the block lay in the list of its class, so `cache::take` gave it and it is free.
            unsafe { shelf::put(class, ptr) }
        });
        self.counters.retire();
    }
}

impl List {
    #[inline]
    fn pop(&self) -> Option<NonNull<u8>> {
        let ptr = NonNull::new(self.head.get())?;
        // SAFETY: `push` wrote the address there, a block has 64 bytes at least and is aligned to
        // 64, and a block in the list is used by nobody else.
        self.head.set(unsafe { ptr.cast::<*mut u8>().read() });
        self.len.set(self.len.get() - 1);
        Some(ptr)
    }

    #[inline]
    fn push(&self, ptr: NonNull<u8>) {
        // SAFETY: the block is free and ours (contract of `cache::give`), large and aligned enough.
        unsafe { ptr.cast::<*mut u8>().write(self.head.get()) };
        self.head.set(ptr.as_ptr());
        self.len.set(self.len.get() + 1);
    }
}
