//! The caching allocator, in a process of its own: its counts are those of the whole process.

use rushlight_core::mem::{
    Block, MemoryStats, Storage, empty_cache, memory_stats, reset_peak, set_cache_limit,
};
use rushlight_core::{Device, Kind};
use std::sync::{Mutex, MutexGuard, PoisonError};

const MIB: usize = 1 << 20;

/// One test at a time, from an empty cache and the same limit.
struct Alone(#[expect(dead_code, reason = "held to be dropped")] MutexGuard<'static, ()>);

fn alone() -> Alone {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = Alone(ALONE.lock().unwrap_or_else(PoisonError::into_inner));
    set_cache_limit(256 * MIB);
    empty_cache();
    reset_peak();
    alone
}

impl Drop for Alone {
    fn drop(&mut self) {
        // This thread ends at some time during the next test: with nothing left to hand over.
        empty_cache();
        memory_stats();
    }
}

fn since(before: MemoryStats) -> (u64, u64) {
    let now = memory_stats();
    assert_eq!(now.allocations, now.hits + now.misses);
    (now.hits - before.hits, now.misses - before.misses)
}

#[test]
fn blocks_of_every_size_are_aligned_and_all_theirs() {
    let _alone = alone();
    let sizes: Vec<usize> = (0..26).flat_map(|log| [(1usize << log) - 1, 1 << log, (1 << log) + 1]).collect();
    for round in 0..2u8 {
        let mut blocks: Vec<Block> = sizes.iter().map(|n| Block::new(*n).unwrap()).collect();
        for (i, block) in blocks.iter_mut().enumerate() {
            assert_eq!(block.len(), sizes[i]);
            assert!(block.as_ptr().addr().is_multiple_of(64) && block.capacity() >= block.len());
            block.as_mut_slice().fill(i as u8 ^ round);
        }
        // Nobody wrote into anybody else's.
        for (i, block) in blocks.iter().enumerate() {
            assert!(block.as_slice().iter().all(|b| *b == i as u8 ^ round), "{block:?}");
        }
    }
}

#[test]
fn a_freed_block_is_the_next_one_of_its_size() {
    let _alone = alone();
    for bytes in [64, 1000, 60_000, 100_000, MIB, 64 * MIB] {
        let before = memory_stats();
        let first = Block::new(bytes).unwrap();
        let address = first.as_ptr().addr();
        drop(first);
        assert!(memory_stats().cached >= before.cached + bytes);
        let second = Block::new(bytes - bytes / 64).unwrap();
        assert_eq!(second.as_ptr().addr(), address, "{bytes}");
        assert_eq!(since(before), (1, 1), "{bytes}");
    }
}

#[test]
fn recycled_blocks_keep_their_bytes_unless_zeros_are_asked_for() {
    let _alone = alone();
    for bytes in [256, 8 * MIB] {
        let mut block = Block::new(bytes).unwrap();
        block.as_mut_slice().fill(3);
        drop(block);
        let block = Block::new(bytes).unwrap();
        // The first bytes of a waiting small block hold the list it waits in.
        assert!(block.as_slice()[8..].iter().all(|b| *b == 3));
        drop(block);
        assert!(Block::zeroed(bytes).unwrap().as_slice().iter().all(|b| *b == 0));
    }
}

#[test]
fn what_is_in_use_and_the_peak_of_it_are_counted() {
    let _alone = alone();
    for bytes in [512, 4 * MIB] {
        empty_cache();
        reset_peak();
        let start = memory_stats();
        assert_eq!(start.peak, start.allocated);
        let blocks: Vec<Block> = (0..10).map(|_| Block::new(bytes).unwrap()).collect();
        assert_eq!(memory_stats().allocated, start.allocated + 10 * bytes);
        drop(blocks);
        let end = memory_stats();
        assert_eq!((end.allocated, end.peak), (start.allocated, start.allocated + 10 * bytes));
        // From the lists this time.
        reset_peak();
        assert_eq!(memory_stats().peak, start.allocated);
        drop((0..7).map(|_| Block::new(bytes).unwrap()).collect::<Vec<_>>());
        assert_eq!(memory_stats().peak, start.allocated + 7 * bytes);
    }
}

#[test]
fn emptying_the_cache_returns_everything_this_thread_and_the_shelf_hold() {
    let _alone = alone();
    let blocks: Vec<Block> = [64, 64, 300, 5000, 200_000, 3 * MIB].map(|n| Block::new(n).unwrap()).into();
    drop(blocks);
    assert!(memory_stats().cached > 3 * MIB);
    empty_cache();
    let before = memory_stats();
    assert_eq!(before.cached, 0);
    drop(Block::new(300).unwrap());
    assert_eq!(since(before), (0, 1));
}

#[test]
fn the_cache_stays_within_its_limit_and_lets_the_oldest_go() {
    let _alone = alone();
    set_cache_limit(20 * MIB);
    let address = |n: usize| Block::new(n * MIB).unwrap().as_ptr().addr();
    let [_, eight, ten] = [4, 8, 10].map(address); // 4 had to go for 10
    assert_eq!(memory_stats().cached, 18 * MIB);
    let before = memory_stats();
    assert_eq!((address(8), address(10)), (eight, ten));
    address(4);
    assert_eq!(since(before), (2, 1));
    drop(Block::new(32 * MIB).unwrap()); // more than the limit: not kept
    assert!(memory_stats().cached <= 20 * MIB);

    set_cache_limit(5 * MIB);
    assert!(memory_stats().cached <= 5 * MIB);
    for i in 0..2000 {
        drop(Block::new(1 + i * 701 % MIB).unwrap());
        assert!(memory_stats().cached <= 5 * MIB);
    }
    set_cache_limit(0);
    for bytes in [64, 4096, MIB] {
        let before = memory_stats();
        assert_eq!(before.cached, 0);
        drop(Block::new(bytes).unwrap());
        drop(Block::new(bytes).unwrap());
        assert_eq!(since(before), (0, 2), "nothing is kept");
    }
}

#[test]
fn a_thread_that_ends_leaves_its_blocks_to_the_others() {
    let _alone = alone();
    let start = memory_stats();
    let address = std::thread::spawn(|| Block::new(2000).unwrap().as_ptr().addr()).join().unwrap();
    let before = memory_stats();
    assert_eq!(before.allocated, start.allocated);
    let block = Block::new(2000).unwrap();
    assert_eq!(block.as_ptr().addr(), address);
    assert_eq!(since(before), (1, 0));
}

#[test]
fn blocks_may_be_freed_by_other_threads() {
    let _alone = alone();
    let start = memory_stats().allocated;
    let (send, receive) = std::sync::mpsc::sync_channel::<Block>(16);
    let reader =
        std::thread::spawn(move || receive.iter().map(|block| usize::from(block.as_slice()[9])).sum());
    let mut expect = 0usize;
    for i in 0..20_000usize {
        let mut block = Block::new(64 << (i % 9)).unwrap();
        block.as_mut_slice()[9] = i as u8;
        expect += usize::from(i as u8);
        send.send(block).unwrap();
    }
    drop(send);
    let sum: usize = reader.join().unwrap();
    assert_eq!(sum, expect);
    assert_eq!(memory_stats().allocated, start);
}

#[test]
fn threads_at_random_never_share_a_block() {
    let _alone = alone();
    set_cache_limit(3 * MIB); // tight, so that lists overflow and old blocks go
    let start = memory_stats().allocated;
    let worker = |seed: u64| {
        move || {
            let mut state = seed;
            let mut kept: Vec<(Block, u8)> = Vec::new();
            for i in 0..20_000u32 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let at = (state >> 33) as usize;
                if kept.len() > 40 || (at.is_multiple_of(2) && !kept.is_empty()) {
                    let (block, mark) = kept.swap_remove(at % kept.len());
                    assert!(block.as_slice().iter().all(|b| *b == mark));
                } else {
                    let mut block = Block::new(1 + (at % 2000) * (1 + at % 13 / 12 * 60)).unwrap();
                    let mark = seed as u8 ^ i as u8;
                    block.as_mut_slice().fill(mark);
                    kept.push((block, mark));
                }
                if i.is_multiple_of(5000) {
                    empty_cache();
                }
            }
        }
    };
    let workers: Vec<_> = (1..5).map(|seed| std::thread::spawn(worker(seed))).collect();
    workers.into_iter().for_each(|w| w.join().unwrap());
    let end = memory_stats();
    assert_eq!(end.allocated, start);
    assert!(end.cached <= 3 * MIB);
}

#[test]
fn what_cannot_be_had_is_an_error_and_costs_nothing() {
    let _alone = alone();
    let before = memory_stats();
    for bytes in [1 << 46, 1 << 62, usize::MAX] {
        let error = Block::new(bytes).unwrap_err();
        assert_eq!((error.kind(), error.op()), (Kind::Runtime, "alloc"));
        assert!(error.text().contains(&format!("{bytes} bytes")), "{error}");
    }
    assert_eq!(memory_stats(), before);
}

#[test]
fn a_storage_gives_its_block_back_with_the_last_handle() {
    let _alone = alone();
    let before = memory_stats().allocated;
    let storage = Storage::heap(3000, Device::CPU).unwrap();
    let other = storage.clone();
    drop(storage);
    assert!(memory_stats().allocated > before);
    drop(other);
    assert_eq!(memory_stats().allocated, before);
}
