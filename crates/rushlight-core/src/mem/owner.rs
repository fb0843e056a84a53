//! Who keeps the bytes of a storage alive, and the ways memory of others becomes one.

use super::block::Block;
use super::storage::Storage;
use crate::{Device, Element, Result, bail};
use std::any::Any;
use std::ptr::NonNull;

/// Memory of a device the host cannot address; the backend of that device finds its own type in
/// it through `Any`.
pub trait DeviceMem: Any + Send + Sync {
    /// Its length in bytes.
    fn nbytes(&self) -> usize;

    /// Changes the length, keeping the bytes both lengths have; new ones are zero.
    ///
    /// # Errors
    /// `Runtime` where the backend cannot, which is the default.
    fn resize(&self, bytes: usize) -> Result<()> {
        bail!(Runtime, "resize", "this device cannot resize its memory, here to {bytes} bytes")
    }
}

/// What sort of owner a storage has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerKind {
    /// A block of the allocator.
    Heap,
    /// Memory of someone else, named by the label it was adopted with.
    Foreign(&'static str),
    /// Memory of a device.
    Device,
    /// No memory.
    Meta,
}

/// The owner itself; dropping it lets the memory go.
pub(super) enum Owner {
    Heap(Block),
    Foreign(&'static str, #[expect(dead_code, reason = "held to be dropped")] Hold),
    Device,
    Meta,
}

impl Owner {
    pub(super) fn kind(&self) -> OwnerKind {
        match self {
            Owner::Heap(_) => OwnerKind::Heap,
            Owner::Foreign(label, _) => OwnerKind::Foreign(label),
            Owner::Device => OwnerKind::Device,
            Owner::Meta => OwnerKind::Meta,
        }
    }
}

/// A boxed value kept behind a plain pointer: unlike a `Box`, moving it claims nothing about the
/// value, so addresses inside the value stay good.
pub(super) struct Hold(NonNull<dyn Any + Send + Sync>);

// SAFETY: it owns a value that is Send, as a Box would.
unsafe impl Send for Hold {}
// SAFETY: it owns a value that is Sync, and gives out no reference to it.
unsafe impl Sync for Hold {}

impl Hold {
    pub(super) fn new(value: Box<dyn Any + Send + Sync>) -> Hold {
        Hold(NonNull::from(Box::leak(value)))
    }

    /// Holds `value`, and gives the address where it now lives.
    fn place<T: Any + Send + Sync>(value: T) -> (Hold, NonNull<T>) {
        let at = NonNull::from(Box::leak(Box::new(value)));
        (Hold(at as NonNull<dyn Any + Send + Sync>), at)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // SAFETY: the pointer came from leaking a Box, and is turned back once, here.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

impl Storage {
    /// The elements of a vector, without a copy. Writable and resizable.
    pub fn from_vec<T: Element>(vec: Vec<T>) -> Storage {
        let mut vec = vec;
        let (ptr, len) = (vec.as_mut_ptr().cast::<u8>(), size_of_val(vec.as_slice()));
        // SAFETY: the vector owns these bytes alone and is not touched again until it is dropped
        // with the storage; an Element has no padding, so they are initialised. Any bytes may be
        // written: only rushlight reads them back, and it takes every bit pattern.
        let storage = unsafe { Storage::adopt(ptr, len, false, Hold::new(Box::new(vec)), "vec") };
        storage.set_resizable(true);
        storage
    }

    /// Bytes that `owner` lends, without a copy: a mapped file, an `Arc<[u8]>`, a `String`.
    ///
    /// Read-only: ops that would write to it are refused.
    pub fn from_owner<T: AsRef<[u8]> + Send + Sync + 'static>(owner: T, label: &'static str) -> Storage {
        let (hold, at) = Hold::place(owner);
        // SAFETY: `hold` keeps the value alive at this address, and nobody else has it.
        let bytes: &[u8] = unsafe { at.as_ref() }.as_ref();
        let (ptr, len) = (bytes.as_ptr().cast_mut(), bytes.len());
        // SAFETY: this is a self-borrow: the slice is borrowed from the value by a shared reference
        // which lasts until `hold` is dropped with the storage. In between nothing borrows the
        // value anew, so the slice stays where it is. The storage never writes, being read-only.
        unsafe { Storage::adopt(ptr, len, true, hold, label) }
    }

    /// Bytes that `owner` lends for writing, without a copy: a `Box<[u8]>`, a private file mapping.
    pub fn from_owner_mut<T: AsMut<[u8]> + Send + Sync + 'static>(owner: T, label: &'static str) -> Storage {
        let (hold, mut at) = Hold::place(owner);
        // SAFETY: `hold` keeps the value alive at this address, and nobody else has it.
        let bytes: &mut [u8] = unsafe { at.as_mut() }.as_mut();
        let (ptr, len) = (bytes.as_mut_ptr(), bytes.len());
        // SAFETY: a self-borrow as in `from_owner`, by the one mutable reference there is.
        unsafe { Storage::adopt(ptr, len, false, hold, label) }
    }

    /// Adopts `len` bytes at `ptr` that live as long as `owner` does. The one door for memory that
    /// rushlight did not allocate; on the CPU device, not resizable, and of any alignment.
    ///
    /// `owner` is dropped once, when the last handle goes, on the thread where that happens.
    ///
    /// # Safety
    /// Until `owner` is dropped, the `len` bytes at `ptr` are one allocation, initialised and
    /// readable from any thread (`ptr` may be anything when `len` is 0). While a call into
    /// rushlight works on this storage nobody else writes them, and where the call writes, nobody
    /// else reads them. Unless `readonly`, they may be written, with any values.
    pub unsafe fn from_foreign(
        ptr: *mut u8,
        len: usize,
        readonly: bool,
        owner: Box<dyn Any + Send + Sync>,
        label: &'static str,
    ) -> Storage {
        // SAFETY: the caller promises the same.
        unsafe { Storage::adopt(ptr, len, readonly, Hold::new(owner), label) }
    }

    /// # Safety
    /// As [`Storage::from_foreign`], with `hold` for the owner.
    unsafe fn adopt(ptr: *mut u8, len: usize, readonly: bool, hold: Hold, label: &'static str) -> Storage {
        // SAFETY: the caller promises the bytes for as long as the owner lives, and it lives in the storage.
        unsafe {
            Storage::assemble(ptr, len, Device::CPU, readonly, false, Owner::Foreign(label, hold), None)
        }
    }
}
