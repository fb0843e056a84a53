//! The lock plan: how an op gets at the memory of its operands.
//!
//! All locks of an op are taken at once, each storage once, in order of address. So `a.add_(a)`,
//! two views of one storage, and two threads that do `a.add_(b)` and `b.add_(a)` are all the same
//! to it, and none can wait in a circle.

use super::access::{Mark, check_writable};
use super::span::{Span, SpanMut};
use super::storage::{Buf, Storage};
use crate::layout::Layout;
use crate::{DType, Result};
use smallvec::SmallVec;
use std::sync::{RwLockReadGuard, RwLockWriteGuard};

/// An operand: which elements of which storage.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The bytes.
    pub storage: &'a Storage,
    /// Where the elements are.
    pub layout: &'a Layout,
    /// What the elements are.
    pub dtype: DType,
}

/// Locks the storages of `outs` for writing and those of `ins` for reading, checks that every
/// layout stays inside its storage as it is now, and runs `f` on the operands in the order given.
///
/// A storage may occur several times, as output and as input. Storages out of the host's reach
/// give spans whose pointer is null; those of the meta device are not locked.
///
/// # Errors
/// What `f` returns; `Runtime` when an output is read-only, when a layout reaches outside its
/// storage, and inside a closure that holds a storage's lock on this thread.
pub fn with_plan<R>(
    op: &'static str,
    outs: &[Place<'_>],
    ins: &[Place<'_>],
    f: impl FnOnce(&[SpanMut<'_>], &[Span<'_>]) -> Result<R>,
) -> Result<R> {
    for out in outs {
        check_writable(op, out.storage)?;
    }
    let _mark = Mark::set(op)?;
    let _guards = lock(outs, ins);
    let mut writes = SmallVec::<[SpanMut<'_>; 2]>::with_capacity(outs.len());
    for out in outs {
        writes.push(SpanMut::open(op, out.storage, out.layout, out.dtype)?);
    }
    let mut reads = SmallVec::<[Span<'_>; 4]>::with_capacity(ins.len());
    for place in ins {
        reads.push(Span::open(op, place.storage, place.layout, place.dtype)?);
    }
    f(&writes, &reads)
}

/// A lock that is held.
#[expect(dead_code, reason = "held to be dropped")]
enum Guard<'a> {
    Read(RwLockReadGuard<'a, ()>),
    Write(RwLockWriteGuard<'a, ()>),
}

/// A lock that is wanted.
#[derive(Clone, Copy)]
struct Want<'a> {
    buf: &'a Buf,
    write: bool,
}

impl Want<'_> {
    /// Sorts by address; of one storage, the wish to write comes first.
    fn key(&self) -> (*const Buf, bool) {
        (self.buf, !self.write)
    }
}

fn lock<'a>(outs: &[Place<'a>], ins: &[Place<'a>]) -> SmallVec<[Guard<'a>; 4]> {
    let mut wants = SmallVec::<[Want<'a>; 4]>::new();
    let mut want = |place: &Place<'a>, write: bool| {
        if place.storage.device() != crate::Device::META {
            wants.push(Want { buf: &place.storage.0, write });
        }
    };
    outs.iter().for_each(|place| want(place, true));
    ins.iter().for_each(|place| want(place, false));
    if wants.len() > 1 {
        wants.sort_unstable_by_key(Want::key);
        wants.dedup_by(|later, kept| std::ptr::eq(later.buf, kept.buf));
    }
    let take = |want: Want<'a>| match want.write {
        true => Guard::Write(want.buf.write()),
        false => Guard::Read(want.buf.read()),
    };
    wants.into_iter().map(take).collect()
}
