//! The storage: untyped bytes, an owner, a few flags, a lock.

use super::access::Mark;
use super::block::Block;
use super::owner::{DeviceMem, Owner, OwnerKind};
use crate::{Device, Result, bail, ensure};
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A handle to bytes that tensors share. Cloning shares them; the last handle lets them go.
#[derive(Clone)]
pub struct Storage(pub(super) Arc<Buf>);

/// What the handles point to.
pub(super) struct Buf {
    /// Null when there are no bytes the host can address. Changes under the write lock only.
    ptr: AtomicPtr<u8>,
    /// Changes under the write lock only.
    len: AtomicUsize,
    lock: RwLock<()>,
    /// Set instead of the lock while the only handle is borrowed exclusively, see [`Claim`].
    claimed: AtomicBool,
    pub(super) version: AtomicU64,
    device: Device,
    readonly: bool,
    /// Changes under the owner's mutex only, so that who clears it can rely on the address after.
    resizable: AtomicBool,
    /// Held for moments, and never while waiting for another lock.
    owner: Mutex<Owner>,
    device_mem: Option<Box<dyn DeviceMem>>,
}

impl Storage {
    /// `bytes` bytes of host memory, 64-byte aligned, of any content.
    ///
    /// # Errors
    /// `Runtime` when the memory cannot be had, or when `device` is not one of host memory.
    #[inline]
    pub fn heap(bytes: usize, device: Device) -> Result<Storage> {
        Storage::from_block(Block::new(bytes)?, device)
    }

    /// `bytes` zeros in host memory, 64-byte aligned; fresh memory is not written to for that.
    ///
    /// # Errors
    /// As [`Storage::heap`].
    pub fn zeroed(bytes: usize, device: Device) -> Result<Storage> {
        Storage::from_block(Block::zeroed(bytes)?, device)
    }

    /// A block as a storage.
    ///
    /// # Errors
    /// `Runtime` when `device` is not one of host memory.
    #[inline]
    pub fn from_block(block: Block, device: Device) -> Result<Storage> {
        ensure!(
            device.is_host(),
            Runtime,
            "alloc",
            "{device} has no host memory; use cpu, or its own backend"
        );
        let (ptr, len) = (block.as_ptr(), block.len());
        // SAFETY: the block owns these bytes alone, and goes with the storage.
        Ok(unsafe { Storage::assemble(ptr, len, device, false, true, Owner::Heap(block), None) })
    }

    /// A storage of `bytes` bytes that has no memory: for shapes only.
    pub fn meta(bytes: usize) -> Storage {
        // SAFETY: a null pointer promises no bytes.
        unsafe { Storage::assemble(ptr::null_mut(), bytes, Device::META, false, true, Owner::Meta, None) }
    }

    /// Memory of a device, as that device's backend keeps it.
    pub fn on_device(mem: Box<dyn DeviceMem>, device: Device) -> Storage {
        let len = mem.nbytes();
        // SAFETY: a null pointer promises no bytes.
        unsafe { Storage::assemble(ptr::null_mut(), len, device, false, true, Owner::Device, Some(mem)) }
    }

    /// # Safety
    /// `ptr` is null, or `len` is 0, or until `owner` is dropped `ptr` points to `len` initialised
    /// bytes which only this storage reads and, unless `readonly`, writes.
    #[inline(always)]
    pub(super) unsafe fn assemble(
        ptr: *mut u8,
        len: usize,
        device: Device,
        readonly: bool,
        resizable: bool,
        owner: Owner,
        device_mem: Option<Box<dyn DeviceMem>>,
    ) -> Storage {
        Storage(Arc::new(Buf {
            ptr: AtomicPtr::new(if len == 0 { ptr::null_mut() } else { ptr }),
            len: AtomicUsize::new(len),
            lock: RwLock::new(()),
            claimed: AtomicBool::new(false),
            version: AtomicU64::new(0),
            device,
            readonly,
            resizable: AtomicBool::new(resizable),
            owner: Mutex::new(owner),
            device_mem,
        }))
    }

    /// Its length in bytes.
    pub fn nbytes(&self) -> usize {
        self.0.len.load(Relaxed)
    }

    /// The address of its first byte; 0 when it has none the host can address.
    ///
    /// Good until the storage is resized; [`Storage::set_resizable`] can forbid that.
    pub fn data_ptr(&self) -> usize {
        self.0.ptr.load(Relaxed).addr()
    }

    /// Where its bytes are.
    pub fn device(&self) -> Device {
        self.0.device
    }

    /// A number that no other living storage has.
    pub fn id(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Whether both handles are of one storage.
    pub fn same(&self, other: &Storage) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether ops may not write to it.
    pub fn is_readonly(&self) -> bool {
        self.0.readonly
    }

    /// Whether [`Storage::resize`] is allowed.
    pub fn is_resizable(&self) -> bool {
        self.0.resizable.load(Relaxed)
    }

    /// Allows or forbids resizing. Once it is forbidden, address and length stay as they are:
    /// forbid it, then read them, before giving the address to others.
    pub fn set_resizable(&self, resizable: bool) {
        let _owner = self.0.owner();
        self.0.resizable.store(resizable, Relaxed);
    }

    /// What sort of owner it has.
    pub fn owner_kind(&self) -> OwnerKind {
        self.0.owner().kind()
    }

    /// The number of handles there are, those that a [`Version`](super::Version) keeps included.
    pub fn strong_count(&self) -> usize {
        Arc::strong_count(&self.0)
    }

    /// Claims the bytes if this is the only handle there is: nobody else can wait for the lock then,
    /// or hold it, and weak handles are never made. Handles cloned from now on wait for the claim's end.
    #[inline]
    pub(super) fn claim(&mut self) -> Option<Claim<'_>> {
        // Acquire: what others did before they dropped their handles has happened.
        if Arc::strong_count(&self.0) != 1 {
            return None;
        }
        fence(Acquire);
        self.0.claimed.store(true, Relaxed);
        Some(Claim(self))
    }

    /// The writes its own counter counted, see [`Version`](super::Version).
    #[inline]
    pub(crate) fn version(&self) -> u64 {
        self.0.version.load(Relaxed)
    }

    /// Counts a write in its own counter.
    #[inline]
    pub(crate) fn bump_version(&self) {
        self.0.version.fetch_add(1, Relaxed);
    }

    /// Memory of a device, for that device's backend.
    pub fn device_mem(&self) -> Option<&dyn DeviceMem> {
        self.0.device_mem.as_deref()
    }

    /// Changes the length to `bytes`. The bytes both lengths have stay, new ones are zero. Tensors
    /// that reach past a shorter end get an error when they are next used.
    ///
    /// # Errors
    /// `Runtime` when it may not be resized, when the memory cannot be had, and inside a closure
    /// that holds a storage's lock on this thread.
    pub fn resize(&self, bytes: usize) -> Result<()> {
        let old = {
            let _mark = Mark::set("resize")?;
            let _lock = self.0.write();
            self.0.resize(bytes)?
        };
        // Dropping a foreign owner runs code of others: only now, with no lock held.
        drop(old);
        Ok(())
    }
}

/// The bytes of a storage that had one handle, for writing: a write lock without an exchange.
pub(super) struct Claim<'a>(&'a Storage);

impl<'a> Claim<'a> {
    #[inline]
    pub(super) fn storage(&self) -> &'a Storage {
        self.0
    }
}

impl Drop for Claim<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.0.claimed.store(false, Release);
    }
}

impl Buf {
    /// Whether there are bytes to lock, on whatever device.
    #[inline]
    pub(super) fn has_bytes(&self) -> bool {
        self.device != Device::META
    }

    #[inline]
    pub(super) fn read(&self) -> RwLockReadGuard<'_, ()> {
        self.wait_for_claim();
        // The lock guards no data of its own that a panic could leave half written.
        self.lock.read().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    pub(super) fn write(&self) -> RwLockWriteGuard<'_, ()> {
        self.wait_for_claim();
        self.lock.write().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn wait_for_claim(&self) {
        if self.claimed.load(Acquire) {
            self.wait();
        }
    }

    #[cold]
    fn wait(&self) {
        while self.claimed.load(Acquire) {
            std::thread::yield_now();
        }
    }

    /// First byte and length, which stay so while one of the locks is held.
    #[inline]
    pub(super) fn bytes(&self) -> (*mut u8, usize) {
        (self.ptr.load(Relaxed), self.len.load(Relaxed))
    }

    fn owner(&self) -> MutexGuard<'_, Owner> {
        self.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Resizes under the write lock, which the caller holds, and returns an owner to be dropped.
    fn resize(&self, bytes: usize) -> Result<Option<Owner>> {
        let (ptr, len) = self.bytes();
        let mut owner = self.owner();
        if bytes == len {
            return Ok(None);
        }
        ensure!(
            self.resizable.load(Relaxed),
            Runtime,
            "resize",
            "a storage whose memory is shared with others cannot be resized from {len} to {bytes} bytes; clone the tensor first"
        );
        match &mut *owner {
            Owner::Meta => {
                ensure!(
                    isize::try_from(bytes).is_ok(),
                    Runtime,
                    "resize",
                    "{bytes} bytes are more than any storage may have"
                );
                self.len.store(bytes, Relaxed);
                return Ok(None);
            }
            Owner::Device => {
                let Some(mem) = &self.device_mem else {
                    bail!(Runtime, "resize", "this storage has no memory to resize to {bytes} bytes");
                };
                mem.resize(bytes)?;
                self.len.store(mem.nbytes(), Relaxed);
                return Ok(None);
            }
            // Within the block, unless that would keep far more memory than is used.
            Owner::Heap(block) if bytes <= block.capacity() && bytes > block.capacity() / 4 => {
                block.set_len(bytes);
                if bytes > len {
                    block.as_mut_slice()[len..].fill(0);
                }
                self.ptr.store(block.as_ptr(), Relaxed);
                self.len.store(bytes, Relaxed);
                return Ok(None);
            }
            Owner::Heap(_) | Owner::Foreign(..) => {}
        }
        let mut block = Block::new(bytes)?;
        let kept = len.min(bytes);
        if kept > 0 {
            // SAFETY: the storage has `len` bytes at `ptr` and, under the write lock, nobody writes
            // them; the new block has at least `kept` bytes, and is apart.
            unsafe { ptr::copy_nonoverlapping(ptr, block.as_ptr(), kept) };
        }
        block.as_mut_slice()[kept..].fill(0);
        self.ptr.store(if bytes == 0 { ptr::null_mut() } else { block.as_ptr() }, Relaxed);
        self.len.store(bytes, Relaxed);
        Ok(Some(std::mem::replace(&mut *owner, Owner::Heap(block))))
    }
}

// A panic in the middle of a write leaves some elements written, all of them valid.
impl UnwindSafe for Storage {}
impl RefUnwindSafe for Storage {}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Storage")
            .field("nbytes", &self.nbytes())
            .field("device", &self.device())
            .field("owner", &self.owner_kind())
            .field("readonly", &self.is_readonly())
            .field("data_ptr", &format_args!("{:#x}", self.data_ptr()))
            .finish()
    }
}
