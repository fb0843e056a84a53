//! Many threads, few storages, every kind of access.

use super::*;

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

const CELLS: usize = 16;

/// Every storage holds one number CELLS times. Writers change all cells, one by one; who sees two
/// different numbers has seen into another thread's write.
fn uniform(span: &Span<'_>) -> i64 {
    let first = span.get::<i64>(0);
    for i in 1..CELLS as isize {
        assert_eq!(span.get::<i64>(i), first, "a write was seen half done");
    }
    first
}

fn step(random: &mut Random, storages: &[Storage]) {
    let layout = row(CELLS);
    let pick = |random: &mut Random| place(&storages[random.below(storages.len())], &layout, DType::I64);
    match random.below(10) {
        0 => {
            let storage = &storages[random.below(storages.len())];
            with_bytes_mut("set", storage, |all| all.fill(1)).unwrap();
        }
        1 => {
            let storage = &storages[random.below(storages.len())];
            with_bytes("see", storage, |all| {
                assert!(all[..CELLS * 8].chunks(8).all(|cell| cell == &all[..8]))
            })
            .unwrap();
        }
        2 => {
            // Grow and shrink: the memory moves, the first cells stay.
            let storage = &storages[random.below(storages.len())];
            storage.resize(CELLS * 8 * (1 + 20 * random.below(2))).unwrap();
        }
        _ => {
            let outs: Vec<Place<'_>> = (0..random.below(3)).map(|_| pick(random)).collect();
            let ins: Vec<Place<'_>> = (0..random.below(5)).map(|_| pick(random)).collect();
            with_plan("mix", &outs, &ins, |outs, ins| {
                let sum = ins.iter().map(uniform).fold(1, i64::wrapping_add);
                for out in outs {
                    uniform(&out.read());
                    (0..CELLS as isize).for_each(|i| out.set(i, sum));
                }
                Ok(())
            })
            .unwrap();
        }
    }
}

#[test]
fn random_plans_on_four_threads_neither_deadlock_nor_tear() {
    within(60, || {
        let storages: Vec<Storage> = (0..4).map(|_| of(&[0i64; CELLS])).collect();
        let workers: Vec<_> = (0..4)
            .map(|seed| {
                let storages = storages.clone();
                std::thread::spawn(move || {
                    let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ (seed + 1));
                    (0..5000).for_each(|_| step(&mut random, &storages));
                })
            })
            .collect();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}
