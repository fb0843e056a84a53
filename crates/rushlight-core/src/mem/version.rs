//! Counts in-place writes, so that autograd can tell whether a saved tensor is still what it was.

use super::storage::Storage;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A shared count of in-place writes, from 0.
///
/// A tensor, its views and its `detach()` share one, and it costs them nothing: it is a part of
/// the storage. `.data` gets a fresh one.
#[derive(Clone)]
pub struct Version(Counter);

#[derive(Clone)]
enum Counter {
    OfStorage(Storage),
    Own(Arc<AtomicU64>),
}

impl Version {
    /// The counter in a storage. Keeps a handle of the storage.
    pub fn of(storage: &Storage) -> Version {
        Version(Counter::OfStorage(storage.clone()))
    }

    /// A counter of its own, at 0.
    pub fn fresh() -> Version {
        Version(Counter::Own(Arc::new(AtomicU64::new(0))))
    }

    /// The number of writes so far.
    pub fn get(&self) -> u64 {
        self.counter().load(Relaxed)
    }

    /// Counts a write.
    pub fn bump(&self) {
        self.counter().fetch_add(1, Relaxed);
    }

    /// Whether both are one counter.
    pub fn same(&self, other: &Version) -> bool {
        std::ptr::eq(self.counter(), other.counter())
    }

    fn counter(&self) -> &AtomicU64 {
        match &self.0 {
            Counter::OfStorage(storage) => &storage.0.version,
            Counter::Own(counter) => counter,
        }
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Version({})", self.get())
    }
}
