//! What several test programs need; not each needs all of it.
#![allow(dead_code)]

use rushlight_core::mem::{Storage, with_bytes};
use rushlight_core::{DType, Layout, Tensor};
use std::path::{Path, PathBuf};
use std::{env, fs, process};

/// A folder of its own for a test, gone when the test is.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(test: &str) -> Folder {
        let path = env::temp_dir().join(format!("rushlight-io-{test}-{}", process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// What is in it.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

/// A file that another program made.
pub fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// A tensor over bytes 0, 1, 2 ... (bool: 0 and 1 in turn) with any layout.
pub fn counting(dtype: DType, layout: Layout) -> Tensor {
    let modulus = if dtype == DType::Bool { 2 } else { 251 };
    let bytes: Vec<u8> = (0..layout.storage_elements() * dtype.size()).map(|i| (i % modulus) as u8).collect();
    Tensor::from_storage(Storage::from_vec(bytes), layout, dtype).unwrap()
}

/// Layouts of every sort: contiguous, transposed, offset, expanded, odd strides, empty, rank 0.
pub fn layouts() -> Vec<Layout> {
    let new = |shape: &[usize], strides: &[isize], offset| Layout::new(shape, strides, offset).unwrap();
    vec![
        new(&[2, 3, 4], &[12, 4, 1], 0),
        new(&[4, 3, 2], &[1, 4, 12], 0),
        new(&[3, 2, 4], &[4, 12, 1], 0),
        new(&[2, 3], &[3, 1], 7),
        new(&[3, 2], &[1, 3], 7),
        new(&[2, 3], &[8, 2], 1),
        new(&[4, 3], &[0, 1], 2),
        new(&[4], &[-1], 3),
        new(&[1, 5], &[77, 1], 0),
        new(&[5, 1], &[1, -9], 0),
        new(&[0, 3], &[3, 1], 0),
        new(&[3, 0], &[1, 5], 4),
        new(&[], &[], 0),
        new(&[], &[], 5),
    ]
}

/// The elements in row-major order, found by adding up strides.
pub fn logical_bytes(tensor: &Tensor) -> Vec<u8> {
    let (shape, strides, size) = (tensor.shape(), tensor.strides(), tensor.element_size());
    let element = |flat: usize| {
        let mut left = flat;
        let mut at = tensor.storage_offset() as isize;
        for d in (0..shape.len()).rev() {
            at += (left % shape[d]) as isize * strides[d];
            left /= shape[d];
        }
        at as usize * size
    };
    let gather =
        |bytes: &[u8]| (0..tensor.numel()).flat_map(|i| bytes[element(i)..][..size].to_vec()).collect();
    with_bytes("test", tensor.storage(), gather).unwrap()
}
