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
use std::cmp::Ordering;
use std::ptr;
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
    let _locks = Locks::of(outs, ins);
    let mut writes = SmallVec::<[SpanMut<'_>; 2]>::new();
    SpanMut::open(op, outs, &mut writes)?;
    let mut reads = SmallVec::<[Span<'_>; 4]>::new();
    Span::open(op, ins, &mut reads)?;
    f(&writes, &reads)
}

/// As [`with_plan`] for one output that nobody else can see yet, which therefore needs no lock.
///
/// # Errors
/// As [`with_plan`].
#[inline]
pub fn with_fresh<R>(
    op: &'static str,
    (storage, layout, dtype): (&mut Storage, &Layout, DType),
    ins: &[Place<'_>],
    f: impl FnOnce(&[SpanMut<'_>], &[Span<'_>]) -> Result<R>,
) -> Result<R> {
    let (first, second) = match ins {
        [] => (None, None),
        [a] => (Some(a), None),
        [a, b] => match ptr::from_ref(&*a.storage.0).cmp(&ptr::from_ref(&*b.storage.0)) {
            Ordering::Less => (Some(a), Some(b)),
            Ordering::Equal => (Some(a), None),
            Ordering::Greater => (Some(b), Some(a)),
        },
        _ => return with_plan(op, &[Place { storage, layout, dtype }], ins, f),
    };
    let Some(claim) = storage.claim() else {
        return with_plan(op, &[Place { storage, layout, dtype }], ins, f);
    };
    let out = Place { storage: claim.storage(), layout, dtype };
    check_writable(op, out.storage)?;
    let _mark = Mark::set(op)?;
    let read = |place: &Place<'_>| place.storage.0.has_bytes();
    let _first = first.filter(|p| read(p)).map(|p| p.storage.0.read());
    let _second = second.filter(|p| read(p)).map(|p| p.storage.0.read());
    let outs = [SpanMut::of(&out)];
    outs[0].check(op)?;
    match ins {
        [a, b] => {
            let reads = [Span::of(a), Span::of(b)];
            reads[0].check(op)?;
            reads[1].check(op)?;
            f(&outs, &reads)
        }
        [a] => {
            let reads = [Span::of(a)];
            reads[0].check(op)?;
            f(&outs, &reads)
        }
        _ => f(&outs, &[]),
    }
}

/// A lock that is held.
#[expect(dead_code, reason = "held to be dropped")]
enum Guard<'a> {
    Read(RwLockReadGuard<'a, ()>),
    Write(RwLockWriteGuard<'a, ()>),
}

/// The locks of all operands; the usual few without a list that must be walked to be dropped.
#[expect(dead_code, reason = "held to be dropped")]
enum Locks<'a> {
    Few([Option<Guard<'a>>; FEW]),
    Many(Vec<Guard<'a>>),
}

/// A lock that is wanted.
#[derive(Clone, Copy)]
struct Want<'a> {
    buf: &'a Buf,
    write: bool,
}

impl<'a> Want<'a> {
    #[inline]
    fn take(self) -> Guard<'a> {
        match self.write {
            true => Guard::Write(self.buf.write()),
            false => Guard::Read(self.buf.read()),
        }
    }
}

/// So many operands most ops have at most: two inputs and a result.
const FEW: usize = 3;
/// Up to so many, putting each in its place beats sorting them.
const SOME: usize = 8;

impl<'a> Locks<'a> {
    /// Takes them, by rising address.
    #[inline]
    fn of(outs: &[Place<'a>], ins: &[Place<'a>]) -> Locks<'a> {
        let count = outs.len() + ins.len();
        if count <= FEW {
            Locks::Few(order_few::<FEW>(outs, ins).map(|want| want.map(Want::take)))
        } else if count <= SOME {
            let ordered = order_few::<SOME>(outs, ins);
            Locks::Many(ordered.into_iter().map_while(|want| want).map(Want::take).collect())
        } else {
            Locks::Many(order_many(outs, ins).into_iter().map(Want::take).collect())
        }
    }
}

/// The locks of all operands, outputs first. The meta device has none.
fn wants<'s, 'a>(
    outs: &'s [Place<'a>],
    ins: &'s [Place<'a>],
) -> impl Iterator<Item = Want<'a>> + use<'s, 'a> {
    let want = |write| move |place: &Place<'a>| Want { buf: &place.storage.0, write };
    outs.iter().map(want(true)).chain(ins.iter().map(want(false))).filter(|want| want.buf.has_bytes())
}

/// Each storage once, by rising address. As outputs come first, the wish to write is the one kept.
#[inline]
fn order_few<'a, const N: usize>(outs: &[Place<'a>], ins: &[Place<'a>]) -> [Option<Want<'a>>; N] {
    let mut ordered: [Option<Want<'a>>; N] = [None; N];
    let mut len = 0;
    'next: for want in wants(outs, ins) {
        let mut at = len;
        while let Some(Some(before)) = ordered[..at].last() {
            match ptr::from_ref(before.buf).cmp(&ptr::from_ref(want.buf)) {
                Ordering::Less => break,
                Ordering::Equal => continue 'next,
                Ordering::Greater => at -= 1,
            }
        }
        let mut moved = Some(want);
        for slot in &mut ordered[at..=len] {
            std::mem::swap(slot, &mut moved);
        }
        len += 1;
    }
    ordered
}

/// The same for any number.
fn order_many<'a>(outs: &[Place<'a>], ins: &[Place<'a>]) -> Vec<Want<'a>> {
    let mut ordered: Vec<Want<'a>> = wants(outs, ins).collect();
    ordered.sort_unstable_by_key(|want| (ptr::from_ref(want.buf), !want.write));
    ordered.dedup_by(|later, kept| ptr::eq(later.buf, kept.buf));
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orders_agree() {
        let storages: Vec<Storage> = (0..6).map(Storage::meta).collect();
        let hosts: Vec<Storage> = (0..6u8).map(|i| Storage::from_vec(vec![i; 9])).collect();
        let layout = Layout::scalar();
        let place = |i: usize| {
            let storage = if i.is_multiple_of(5) { &storages[i % 6] } else { &hosts[i % 6] };
            Place { storage, layout: &layout, dtype: DType::U8 }
        };
        for seed in 0..5000usize {
            let at = |k: usize| place(seed.wrapping_mul(0x9E37_79B9).wrapping_shr(3 * k as u32) % 29);
            let outs: Vec<Place<'_>> = (0..seed % 4).map(at).collect();
            let ins: Vec<Place<'_>> = (4..4 + seed % 5).map(at).collect();
            let key = |want: &Want<'_>| (ptr::from_ref(want.buf), want.write);
            let few: Vec<_> = order_few::<SOME>(&outs, &ins).iter().flatten().map(key).collect();
            let many: Vec<_> = order_many(&outs, &ins).iter().map(key).collect();
            assert_eq!(few, many);
            assert!(few.is_sorted_by(|a, b| a.0 < b.0));
            // Exactly the host storages, for writing where they are an output.
            let address = |storage: &Storage| std::sync::Arc::as_ptr(&storage.0);
            for storage in &hosts {
                let write = outs.iter().any(|p| p.storage.same(storage));
                let used = write || ins.iter().any(|p| p.storage.same(storage));
                assert_eq!(few.contains(&(address(storage), write)), used);
                assert!(!few.contains(&(address(storage), !write)));
            }
            assert!(few.iter().all(|(buf, _)| hosts.iter().any(|s| address(s) == *buf)));
        }
    }
}
