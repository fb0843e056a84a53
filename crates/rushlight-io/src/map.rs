//! A mapped file, cut into storages. The only place in this crate with `unsafe` in it.
#![allow(unsafe_code)]

use crate::body;
use crate::fault::{Parsed, refuse};
use memmap2::{MmapOptions, MmapRaw};
use rushlight_core::mem::{Block, Storage, with_bytes};
use std::fs::File;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A private mapping whose parts become storages, each part one storage at most.
pub(crate) struct Mapped {
    map: Arc<MmapRaw>,
    parts: Vec<Part>,
}

struct Part {
    /// Within the mapping; apart from every other part's.
    bytes: Range<usize>,
    /// Made when first asked for.
    mapped: OnceLock<Storage>,
    /// Only for a part that lies askew.
    copied: OnceLock<Storage>,
}

impl Mapped {
    /// Maps a file, copy on write. `parts` count from `start`, are sorted and do not overlap.
    pub(crate) fn new(file: &File, start: usize, parts: Vec<Range<usize>>) -> Parsed<Mapped> {
        // SAFETY: a private mapping, so nothing written through it reaches the file or anyone else. That
        // the file does not change meanwhile cannot be checked: the module's documentation makes it the
        // user's part. Bytes are only ever read as numbers, for which every pattern is valid.
        let map = unsafe { MmapOptions::new().no_reserve_swap().map_copy(file) }?;
        let map = MmapRaw::from(map);
        let mut end = start;
        let mut checked = Vec::with_capacity(parts.len());
        for part in parts {
            let bytes = match (start.checked_add(part.start), start.checked_add(part.end)) {
                (Some(from), Some(to)) if end <= from && from <= to && to <= map.len() => from..to,
                _ => refuse!("changed while it was being opened"),
            };
            end = bytes.end;
            checked.push(Part { bytes, mapped: OnceLock::new(), copied: OnceLock::new() });
        }
        Ok(Mapped { map: Arc::new(map), parts: checked })
    }

    /// Part `i`: the mapping itself when that is a multiple of `align` in memory, else a copy.
    ///
    /// Calling it again gives the same storage again.
    pub(crate) fn storage(&self, i: usize, align: usize) -> Parsed<Storage> {
        let part = &self.parts[i];
        let mapped = part.mapped.get_or_init(|| self.adopt(&part.bytes));
        if mapped.data_ptr().is_multiple_of(align) {
            return Ok(mapped.clone());
        }
        if let Some(copied) = part.copied.get() {
            return Ok(copied.clone());
        }
        let mut block = Block::new(part.bytes.len())?;
        with_bytes("mmap", mapped, |bytes| block.as_mut_slice().copy_from_slice(bytes))?;
        let copy = body::storage(block)?;
        Ok(part.copied.get_or_init(|| copy).clone())
    }

    /// To be called once for each part.
    fn adopt(&self, bytes: &Range<usize>) -> Storage {
        let ptr = self.map.as_mut_ptr().wrapping_add(bytes.start);
        // SAFETY: `new` checked that the range lies in the mapping, which the owner keeps, and apart from
        // those of all other parts; `storage` calls this once a part. So nobody else reads or writes
        // these bytes, which are readable, writable and, coming from a file, initialised.
        unsafe { Storage::from_foreign(ptr, bytes.len(), false, Box::new(self.map.clone()), "mmap") }
    }
}
