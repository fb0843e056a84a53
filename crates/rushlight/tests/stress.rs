//! Many threads on shared storages: nothing hangs, nothing is torn, refusals stay refusals.

use rushlight::{Result, Tensor};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

const THREADS: usize = 4;
const EACH: usize = 250_000;

/// Ends the process with a message when the work is not done in time: a deadlock cannot fail otherwise.
fn watchdog(done: Arc<AtomicBool>, count: Arc<AtomicUsize>) {
    std::thread::spawn(move || {
        let start = Instant::now();
        while !done.load(Relaxed) {
            if start.elapsed() > Duration::from_secs(120) {
                eprintln!("deadlock: {} operations done after 120 s", count.load(Relaxed));
                std::process::abort();
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    });
}

#[test]
fn a_million_operations_on_shared_storage() -> Result<()> {
    let (done, count) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    watchdog(done.clone(), count.clone());
    let ones = |n: usize| Tensor::from_vec(vec![1i64; n], [n]);
    let (a, b, whole, square) = (ones(8)?, ones(8)?, ones(16)?, ones(9)?.view([3, 3])?);
    let (left, right) = (whole.narrow(0, 0, 8)?, whole.narrow(0, 8, 8)?);
    let worker = |id: usize| -> Result<usize> {
        let mut writes = 0;
        for k in 0..EACH {
            match (k + id) % 8 {
                0 => drop(a.add_(&a)?),
                1 if id.is_multiple_of(2) => drop(a.add_(&b)?),
                1 => drop(b.add_(&a)?),
                2 if id.is_multiple_of(2) => drop(left.add_(&right)?),
                2 => drop(right.add_(&left)?),
                3 => assert!(square.add_(&square.t()?).is_err()),
                // Every write of `whole` writes one value: a torn read would show two.
                4 => drop(square.fill_(k as i64)?),
                5 => {
                    let seen = square.to_vec::<i64>()?;
                    assert!(seen.iter().all(|x| *x == seen[0]), "a read saw half of a write: {seen:?}");
                }
                6 => drop(a.add(&whole.narrow(0, 4, 8)?)?),
                _ => {
                    whole.view([4, 4])?.mul_(1)?;
                    writes += 1;
                }
            }
            count.fetch_add(1, Relaxed);
        }
        Ok(writes)
    };
    let results: Vec<Result<usize>> = std::thread::scope(|s| {
        let worker = &worker;
        let handles: Vec<_> = (0..THREADS).map(|id| s.spawn(move || worker(id))).collect();
        handles.into_iter().map(|h| h.join().expect("a worker panicked")).collect()
    });
    done.store(true, Relaxed);
    let writes: usize = results.into_iter().sum::<Result<usize>>()?;
    // Each write counted once, whoever made it: two of eight operations write `whole`.
    assert_eq!(whole.version() as usize, writes + THREADS * EACH / 8);
    assert_eq!(count.load(Relaxed), THREADS * EACH);
    Ok(())
}
