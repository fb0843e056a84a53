//! Owns bytes: where they come from, who may touch them when, and when they go.
//!
//! Decides: allocation and reuse of host memory, adoption of foreign memory, locking, the bounds
//! of every access, version counters. Does not decide: what the bytes mean. A layout is looked at
//! only to learn which elements it reaches.
//!
//! Two rules make the rest sound:
//! 1. The address and the length of a storage change only under its write lock
//!    ([`Storage::resize`]), and bytes are touched only under one of its locks ([`with_plan`],
//!    [`with_bytes`], [`with_bytes_mut`]), after the bounds were checked under that lock. Of a
//!    storage with one handle, borrowed exclusively, that handle is the lock ([`with_fresh`]).
//! 2. No lock outlives the call that took it, and a thread that holds one takes no other: the
//!    attempt is an error. As a plan takes its locks in order of address, no cycle can form.
#![allow(unsafe_code)]

mod access;
mod block;
mod bounds;
mod cache;
mod element;
mod local;
mod owner;
mod plan;
mod shelf;
mod size_class;
mod span;
mod stats;
mod storage;
mod system;
mod version;

#[cfg(test)]
mod tests;

pub use access::{with_bytes, with_bytes_mut};
pub use block::Block;
pub use cache::{empty_cache, set_cache_limit};
pub use owner::{DeviceMem, OwnerKind};
pub use plan::{Place, with_fresh, with_plan};
pub use span::{Span, SpanMut};
pub use stats::{MemoryStats, memory_stats, reset_peak};
pub use storage::Storage;
pub(crate) use system::reserve;
pub use version::Version;
