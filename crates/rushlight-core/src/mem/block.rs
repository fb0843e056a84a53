//! One owned block of host memory.

use super::cache;
use super::size_class::{ALIGN, Class};
use crate::{Result, bail};
use std::ptr::NonNull;

/// Host memory that is owned alone: 64-byte aligned, initialised, back to the cache when dropped.
///
/// Storages are made of one; kernels take one as scratch. A fresh block holds zeros, a recycled
/// one what its last owner left in it.
pub struct Block {
    ptr: NonNull<u8>,
    len: usize,
    class: Option<Class>, // none: zero bytes, nothing to give back
}

// SAFETY: a block owns its bytes alone; they are as free to move and share as a Vec<u8>'s.
unsafe impl Send for Block {}
// SAFETY: as above; `&Block` gives out shared slices only.
unsafe impl Sync for Block {}

impl Block {
    /// A block of `bytes` bytes, of any content.
    ///
    /// # Errors
    /// `Runtime` when the memory cannot be had: more than an allocation may have, more than the
    /// machine has together with what is in use, or refused by the system.
    #[inline]
    pub fn new(bytes: usize) -> Result<Block> {
        Ok(Block::take(bytes)?.0)
    }

    /// The block, and whether it is known to hold zeros.
    #[inline]
    fn take(bytes: usize) -> Result<(Block, bool)> {
        if bytes == 0 {
            // Never dereferenced; aligned like any other block.
            let ptr = NonNull::without_provenance(const { std::num::NonZero::new(ALIGN).unwrap() });
            return Ok((Block { ptr, len: 0, class: None }, true));
        }
        let Some(class) = Class::for_bytes(bytes) else {
            bail!(Runtime, "alloc", "cannot allocate {bytes} bytes: more than any allocation may have");
        };
        let (ptr, zeroed) = cache::take(class, bytes)?;
        Ok((Block { ptr, len: bytes, class: Some(class) }, zeroed))
    }

    /// A block of `bytes` zeros; a fresh block costs no pass over the memory.
    ///
    /// # Errors
    /// As [`Block::new`].
    pub fn zeroed(bytes: usize) -> Result<Block> {
        let (mut block, zeroed) = Block::take(bytes)?;
        if !zeroed {
            block.as_mut_slice().fill(0);
        }
        Ok(block)
    }

    /// Its length in bytes, as asked for.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes there is room for without moving.
    pub fn capacity(&self) -> usize {
        self.class.map_or(0, |class| class.size)
    }

    /// Its first byte; not to be dereferenced when it is empty.
    pub fn as_ptr(&self) -> *mut u8 {
        self.ptr.as_ptr()
    }

    /// Its bytes.
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: the block owns `len` initialised bytes from `ptr` on, not null, at most isize::MAX.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.len) }
    }

    /// Its bytes, to be written.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_slice`, and `&mut self` makes this the only way to them.
        unsafe { std::slice::from_raw_parts_mut(self.as_ptr(), self.len) }
    }

    /// Changes the length within the capacity; bytes beyond the old length are of any content.
    pub(super) fn set_len(&mut self, len: usize) {
        assert!(len <= self.capacity(), "length {len} beyond the {} bytes of a block", self.capacity());
        self.len = len;
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(class) = self.class {
            // SAFETY: `cache::take` gave the block for this class, and its owner is going away.
            unsafe { cache::give(self.ptr, class) };
        }
    }
}

impl std::fmt::Debug for Block {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Block({} of {} bytes at {:p})", self.len, self.capacity(), self.ptr)
    }
}
