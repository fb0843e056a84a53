//! The pool under load: every task runs once, panics come out, nothing hangs.

use super::*;
use std::sync::mpsc::channel;
use std::time::Duration;

/// Fails instead of hanging the test run.
fn within_a_minute(f: impl FnOnce() + Send + 'static) {
    let (send, receive) = channel();
    let thread = std::thread::spawn(move || {
        f();
        let _ = send.send(());
    });
    match receive.recv_timeout(Duration::from_secs(60)) {
        Ok(()) => {}
        Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("the pool hangs"),
        Err(_) => resume_unwind(thread.join().unwrap_err()),
    }
}

fn each_once(n: usize, grain: usize) {
    let hits: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
    parallel_for(n, grain, |range| range.for_each(|i| _ = hits[i].fetch_add(1, Relaxed)));
    assert!(hits.iter().all(|h| h.load(Relaxed) == 1), "{n} by {grain}");
}

#[test]
fn every_element_is_visited_once() {
    within_a_minute(|| {
        for threads in [1, 2, 3, 8, 2] {
            set_num_threads(threads);
            for (n, grain) in [(0, 1), (1, 1), (7, 3), (1000, 1), (1000, 999), (1000, 1000), (65, 0)] {
                each_once(n, grain);
            }
        }
    });
}

#[test]
fn many_callers_at_once() {
    within_a_minute(|| {
        set_num_threads(4);
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| (0..2000).for_each(|_| each_once(40, 3)));
            }
        });
    });
}

#[test]
fn workers_wake_after_sleeping() {
    within_a_minute(|| {
        set_num_threads(4);
        for pause in [0, 1, 5, 20, 50] {
            std::thread::sleep(Duration::from_millis(pause));
            each_once(100, 1);
        }
    });
}

#[test]
fn nested_calls_run_on_their_thread() {
    within_a_minute(|| {
        set_num_threads(3);
        run(8, &|_| {
            let me = std::thread::current().id();
            parallel_for(100, 1, |_| assert_eq!(std::thread::current().id(), me));
        });
    });
}

#[test]
fn a_panic_comes_out_and_the_pool_goes_on() {
    within_a_minute(|| {
        set_num_threads(4);
        for _ in 0..200 {
            let ended = AtomicUsize::new(0);
            let result = catch_unwind(AssertUnwindSafe(|| {
                run(16, &|k| {
                    if k == 5 {
                        resume_unwind(Box::new("task five"));
                    }
                    ended.fetch_add(1, Relaxed);
                });
            }));
            assert_eq!(result.unwrap_err().downcast_ref(), Some(&"task five"));
            // A second caller runs serially when the pool is busy with another test, and stops there.
            assert!(matches!(ended.load(Relaxed), 5 | 15));
            each_once(50, 1);
        }
    });
}
