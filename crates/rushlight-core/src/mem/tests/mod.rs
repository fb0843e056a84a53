mod access;
mod fresh;
mod plan;
mod span;
mod storage;
mod stress;
mod version;

use super::*;
use crate::layout::Layout;
use crate::{DType, Device, Element};

/// A CPU storage with these elements.
fn of<T: Element>(values: &[T]) -> Storage {
    let storage = Storage::heap(size_of_val(values), Device::CPU).unwrap();
    let layout = row(values.len());
    with_plan("of", &[place(&storage, &layout, T::DTYPE)], &[], |outs, _| {
        values.iter().enumerate().for_each(|(i, v)| outs[0].set(i as isize, *v));
        Ok(())
    })
    .unwrap();
    storage
}

/// All elements of a storage, in order.
fn read<T: Element>(storage: &Storage) -> Vec<T> {
    let layout = row(storage.nbytes() / size_of::<T>());
    with_plan("read", &[], &[place(storage, &layout, T::DTYPE)], |_, ins| {
        Ok((0..layout.numel() as isize).map(|i| ins[0].get(i)).collect())
    })
    .unwrap()
}

fn row(len: usize) -> Layout {
    Layout::contiguous(&[len][..]).unwrap()
}

fn strided(shape: &[usize], strides: &[isize], offset: usize) -> Layout {
    Layout::new(shape, strides, offset).unwrap()
}

fn place<'a>(storage: &'a Storage, layout: &'a Layout, dtype: DType) -> Place<'a> {
    Place { storage, layout, dtype }
}

/// Adds 1 to its count when dropped.
struct CountDrop(std::sync::Arc<std::sync::atomic::AtomicUsize>);

impl Drop for CountDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }
}

/// Runs `f`; a hang of more than `seconds` fails the test instead of stalling it.
fn within(seconds: u64, f: impl FnOnce() + Send + 'static) {
    let (done, wait) = std::sync::mpsc::channel();
    let worker = std::thread::spawn(move || {
        f();
        let _ = done.send(());
    });
    match wait.recv_timeout(std::time::Duration::from_secs(seconds)) {
        Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
            panic!("still waiting after {seconds} s: a deadlock")
        }
        _ => worker.join().unwrap(),
    }
}
