//! Locks and threads: a thread that holds storage locks takes no others.

use super::storage::Storage;
use crate::{Error, Result, bail, err};
use std::cell::Cell;
use std::marker::PhantomData;

thread_local! {
    /// The op by which this thread holds storage locks now.
    static HOLDING: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// As long as it lives, this thread holds storage locks and may not ask for more.
pub(super) struct Mark(PhantomData<*const ()>);

impl Mark {
    /// # Errors
    /// `Runtime` when the thread holds locks already: it could wait for itself.
    #[inline]
    pub(super) fn set(op: &'static str) -> Result<Mark> {
        HOLDING.with(|cell| match cell.get() {
            None => {
                cell.set(Some(op));
                Ok(Mark(PhantomData))
            }
            Some(holder) => bail!(
                Runtime,
                op,
                "this thread is still inside {holder}, which holds the lock of a storage, so {op} might wait for \
                 itself; call it after {holder} has returned"
            ),
        })
    }
}

impl Drop for Mark {
    #[inline]
    fn drop(&mut self) {
        HOLDING.with(|cell| cell.set(None));
    }
}

/// Runs `f` on the bytes of a storage while nobody can write them.
///
/// # Errors
/// `Runtime` when the host cannot address them, and inside another closure that holds a storage's
/// lock on this thread; an op called from `f` gets the same error.
pub fn with_bytes<R>(op: &'static str, storage: &Storage, f: impl FnOnce(&[u8]) -> R) -> Result<R> {
    let _mark = Mark::set(op)?;
    let _lock = storage.0.read();
    match storage.0.bytes() {
        (_, 0) => Ok(f(&[])),
        (ptr, _) if ptr.is_null() => Err(out_of_reach(op, storage)),
        // SAFETY: a storage whose pointer is not null has `len` initialised bytes there (contract
        // of `Storage::assemble`); the read lock keeps them there and keeps writers out.
        (ptr, len) => Ok(f(unsafe { std::slice::from_raw_parts(ptr, len) })),
    }
}

/// Runs `f` on the bytes of a storage while nobody else can read or write them. Counts as no
/// version: that is for the tensor to do.
///
/// # Errors
/// As [`with_bytes`], and `Runtime` when the storage is read-only.
pub fn with_bytes_mut<R>(op: &'static str, storage: &Storage, f: impl FnOnce(&mut [u8]) -> R) -> Result<R> {
    check_writable(op, storage)?;
    let _mark = Mark::set(op)?;
    let _lock = storage.0.write();
    match storage.0.bytes() {
        (_, 0) => Ok(f(&mut [])),
        (ptr, _) if ptr.is_null() => Err(out_of_reach(op, storage)),
        // SAFETY: as in `with_bytes`; the write lock keeps everyone else out, and the storage is
        // not read-only, so its bytes may be written.
        (ptr, len) => Ok(f(unsafe { std::slice::from_raw_parts_mut(ptr, len) })),
    }
}

#[cold]
fn out_of_reach(op: &'static str, storage: &Storage) -> Error {
    let device = storage.device();
    err!(Runtime, op, "the host cannot address memory of {device}; move the tensor to cpu")
}

#[inline]
pub(super) fn check_writable(op: &'static str, storage: &Storage) -> Result<()> {
    if storage.is_readonly() {
        let kind = storage.owner_kind();
        bail!(
            Runtime,
            op,
            "cannot write to a read-only storage ({kind:?}); clone the tensor and write to the clone"
        );
    }
    Ok(())
}
