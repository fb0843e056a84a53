//! The definition: a slow, safe backend that handles one element at a time.
//!
//! Fast backends are tested against this one, so it says what is right in the plainest way: walk
//! every index, load, compute, store. Singles are computed through doubles and rounded once, sums
//! are kept wider than the type they end in, and nothing is shared between elements.
#![forbid(unsafe_code)]

mod algebra;
mod eval;
mod fft;
mod gather;
mod index;
mod machine;
mod map;
mod matmul;
mod reduce;
mod scan;
mod scatter;
mod sort;
mod total;
mod value;

#[cfg(test)]
mod testing;

use rushlight_core::backend::{
    Algebra, Backend, Fft, Gather, Map, Matmul, Reduce, Registration, Scan, Scatter, Sort,
};
use rushlight_core::mem::{Span, Storage};
use rushlight_core::{Device, DeviceKind, Result};

/// The backend of [`Device::REF`].
pub struct RefBackend;

inventory::submit! { Registration(&RefBackend) }

impl Backend for RefBackend {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Ref
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
        Ok(sort::nonzero(input))
    }
}
