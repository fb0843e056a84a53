//! Operands of many layouts, and the comparison of two backends.

use rushlight_core::backend::Backend;
use rushlight_core::mem::{Place, Span, SpanMut, Storage, with_bytes, with_bytes_mut, with_plan};
use rushlight_core::{Category, DType, Device, Layout, Number, Result};
use rushlight_cpu::isa::{self, Level};
use rushlight_cpu::{CpuBackend, set_num_threads};
use rushlight_ref::RefBackend;
use std::sync::{Mutex, PoisonError};

#[derive(Clone)]
pub struct Operand {
    pub storage: Storage,
    pub layout: Layout,
    pub dtype: DType,
}

impl Operand {
    pub fn new(layout: Layout, dtype: DType, value: impl Fn(usize) -> Number) -> Operand {
        let n = layout.storage_elements();
        let storage = Storage::zeroed(n * dtype.size(), Device::CPU).unwrap();
        let operand = Operand { storage, layout, dtype };
        operand.flat(|span| (0..n).for_each(|i| span.store(i as isize, value(i))));
        operand
    }
    pub fn place(&self) -> Place<'_> {
        Place { storage: &self.storage, layout: &self.layout, dtype: self.dtype }
    }
    fn flat<R>(&self, f: impl FnOnce(SpanMut<'_>) -> R) -> R {
        let flat = Layout::contiguous(&[self.storage.nbytes() / self.dtype.size()][..]).unwrap();
        with_plan("test", &[Place { layout: &flat, ..self.place() }], &[], |outs, _| Ok(f(outs[0]))).unwrap()
    }
    pub fn copy(&self) -> Operand {
        let bytes = with_bytes("test", &self.storage, <[u8]>::to_vec).unwrap();
        let storage = Storage::zeroed(bytes.len(), Device::CPU).unwrap();
        with_bytes_mut("test", &storage, |b| b.copy_from_slice(&bytes)).unwrap();
        Operand { storage, ..self.clone() }
    }
    /// All elements of the storage: what lies between those of the layout counts as well.
    pub fn numbers(&self) -> Vec<Number> {
        let n = self.storage.nbytes() / self.dtype.size();
        self.flat(|span| (0..n).map(|i| span.load(i as isize)).collect())
    }
}

/// Pseudo-random bits of a position.
pub fn noise(i: usize) -> u64 {
    let mut x = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x ^= x >> 29;
    x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^ x >> 32
}

/// Small multiples of a quarter: every sum of a few thousand is exact, even in singles.
pub fn exact(dtype: DType, seed: usize) -> impl Fn(usize) -> Number {
    move |i| {
        let x = noise(i + 1000 * seed);
        let quarter = (x % 33) as f64 / 4.0 - 4.0;
        match dtype.category() {
            Category::Bool => Number::Bool(x.is_multiple_of(3)),
            Category::Int => Number::Int((x % 250) as i64 - 100),
            Category::Float => Number::Float(quarter),
            Category::Complex => Number::Complex(quarter, (x / 64 % 33) as f64 / 4.0 - 4.0),
        }
    }
}

/// The same with NaN and infinities among them.
pub fn special(dtype: DType, seed: usize) -> impl Fn(usize) -> Number {
    let plain = exact(dtype, seed);
    move |i| match (dtype.category(), noise(i + 77 * seed) >> 20 & 31) {
        (Category::Float, 0) => Number::Float(f64::NAN),
        (Category::Float, 1) => Number::Float(f64::INFINITY),
        (Category::Float, 2) => Number::Float(f64::NEG_INFINITY),
        (Category::Float, 3) => Number::Float(-0.0),
        _ => plain(i),
    }
}

pub fn contiguous(shape: &[usize]) -> Layout {
    Layout::contiguous(shape).unwrap()
}

/// Layouts of one shape: dense, transposed, with gaps and an offset, backwards and expanded where
/// it is only read, and odd strides on axes of size 1.
pub fn layouts(shape: &[usize], read: bool) -> Vec<Layout> {
    let dense = contiguous(shape);
    let mut back: Vec<isize> = vec![1; shape.len()];
    for d in 1..shape.len() {
        back[d] = back[d - 1] * shape[d - 1].max(1) as isize;
    }
    let strides = dense.strides().to_vec();
    let odd = |s: &[isize], by: isize| -> Vec<isize> {
        s.iter().zip(shape).map(|(s, n)| if *n == 1 { 37 } else { s * by }).collect()
    };
    let make = |s: &[isize], offset: usize| Layout::new(shape, s, offset).unwrap();
    let mut all = vec![dense.clone(), make(&odd(&back, 1), 0), make(&odd(&strides, 2), 3)];
    if read && !shape.is_empty() && !shape.contains(&0) {
        let reach: isize = strides.iter().zip(shape).map(|(s, n)| s * (*n as isize - 1)).sum();
        let negative: Vec<isize> = strides.iter().map(|s| -s).collect();
        all.push(make(&negative, reach as usize + 2));
        for d in [0, shape.len() - 1] {
            let mut expanded = strides.clone();
            expanded[d] = 0;
            all.push(make(&expanded, 1));
        }
    }
    all
}

pub fn same(a: Number, b: Number) -> bool {
    let close = |x: f64, y: f64| x == y || x.is_nan() && y.is_nan();
    match (a, b) {
        (Number::Float(x), Number::Float(y)) => close(x, y),
        (Number::Complex(x, y), Number::Complex(z, w)) => close(x, z) && close(y, w),
        _ => a == b,
    }
}

pub type Call<'a> = &'a dyn Fn(&dyn Backend, &[SpanMut<'_>], &[Span<'_>]) -> Result<()>;

fn on(backend: &dyn Backend, outs: &[Operand], ins: &[&Operand], call: Call<'_>) -> Vec<Vec<Number>> {
    let outs: Vec<Operand> = outs.iter().map(Operand::copy).collect();
    let places: Vec<Place<'_>> = outs.iter().map(Operand::place).collect();
    let operands: Vec<Place<'_>> = ins.iter().map(|i| i.place()).collect();
    with_plan("test", &places, &operands, |outs, ins| call(backend, outs, ins)).unwrap();
    outs.iter().map(Operand::numbers).collect()
}

/// Runs a call on both backends, this one at every level of instructions and with one, two and
/// three threads, and compares everything that is in the outputs' storages.
pub fn agree(what: &str, outs: &[Operand], ins: &[&Operand], call: Call<'_>) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let want = on(&RefBackend, outs, ins, call);
    for (threads, level) in [(1, Level::Scalar), (2, Level::Avx2), (3, Level::Avx512)] {
        isa::set_level(level);
        set_num_threads(threads);
        let got = on(&CpuBackend, outs, ins, call);
        for (k, (got, want)) in got.iter().zip(&want).enumerate() {
            for (i, (g, w)) in got.iter().zip(want).enumerate() {
                let layouts: Vec<&Layout> = ins.iter().map(|i| &i.layout).collect();
                assert!(
                    same(*g, *w),
                    "{what} at {level:?} with {threads} threads: element {i} of output {k} is {g:?}, not {w:?}; \
                     inputs {layouts:?}, output {:?}",
                    outs[k].layout
                );
            }
        }
    }
}
