//! The fast CPU backend: blocks in L1, instruction sets chosen at run time, a fork-join pool.
//!
//! `map` runs programs, `reduce` and `scan` combine along axes, `matmul` multiplies, `gather` and
//! `scatter` index, `sort` orders,
//! `algebra` decomposes, `fft` transforms. `load_store` is the only place that knows storage dtypes.

#[macro_use]
pub mod isa;
mod access;
mod algebra;
mod copy;
mod fft;
mod gather;
mod halves;
mod load_store;
mod map;
mod math;
mod matmul;
mod nonzero;
pub mod pool;
mod reduce;
mod scan;
mod scatter;
mod sort;

pub use pool::{num_threads, set_num_threads};

use rushlight_core::backend::{
    Algebra, Backend, Fft, Gather, Map, Matmul, Reduce, Registration, Scan, Scatter, Sort,
};
use rushlight_core::mem::{Span, Storage};
use rushlight_core::{Device, DeviceKind, Result};

/// The backend of [`Device::CPU`].
pub struct CpuBackend;

inventory::submit! { Registration(&CpuBackend) }

impl Backend for CpuBackend {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Cpu
    }
    fn alloc(&self, bytes: usize, device: Device) -> Result<Storage> {
        Storage::heap(bytes, device)
    }
    fn map(&self, call: &Map<'_>) -> Result<()> {
        map::run(call)
    }
    fn reduce(&self, call: &Reduce<'_>) -> Result<()> {
        reduce::run(call)
    }
    fn scan(&self, call: &Scan<'_>) -> Result<()> {
        scan::run(call)
    }
    fn matmul(&self, call: &Matmul<'_>) -> Result<()> {
        matmul::run(call)
    }
    fn gather(&self, call: &Gather<'_>) -> Result<()> {
        gather::run(call)
    }
    fn scatter(&self, call: &Scatter<'_>) -> Result<()> {
        scatter::run(call)
    }
    fn sort(&self, call: &Sort<'_>) -> Result<()> {
        sort::run(call)
    }
    fn algebra(&self, call: &Algebra<'_>) -> Result<()> {
        algebra::run(call)
    }
    fn fft(&self, call: &Fft<'_>) -> Result<()> {
        fft::run(call)
    }
    fn nonzero(&self, input: &Span<'_>) -> Result<Vec<i64>> {
        nonzero::run(input)
    }
}
