//! A tensor as bytes, from which equal storages can be made on any device.

use crate::{Rng, Values, Variant};
use rushlight_core::mem::{Place, Span, SpanMut, Storage, with_bytes, with_bytes_mut, with_plan};
use rushlight_core::{DType, Device, Layout, Number, Result};

/// The bytes of a storage, and the elements in it.
#[derive(Clone, Debug)]
pub struct Operand {
    /// The whole storage.
    pub bytes: Vec<u8>,
    /// Where the elements are.
    pub layout: Layout,
    /// What they are.
    pub dtype: DType,
    /// The name of its layout variant.
    pub name: &'static str,
}

impl Operand {
    /// A storage for `variant`, full of drawn values, margins included.
    ///
    /// # Panics
    /// When there is no memory.
    pub fn new(variant: &Variant, dtype: DType, values: Values, rng: &mut Rng) -> Operand {
        let mut operand = Operand {
            bytes: vec![0; variant.len * dtype.size()],
            layout: variant.layout.clone(),
            dtype,
            name: variant.name,
        };
        operand.fill(|_| values.draw(rng, dtype));
        operand
    }

    /// The same storage through another layout.
    #[must_use]
    pub fn with_layout(&self, layout: Layout) -> Operand {
        Operand { bytes: self.bytes.clone(), layout, ..*self }
    }

    /// Every cell of the storage becomes `f(position)`, in or out of the layout.
    ///
    /// # Panics
    /// When there is no memory.
    pub fn fill(&mut self, mut f: impl FnMut(usize) -> Number) {
        let len = self.cells();
        let bytes = self.on_host(|span| {
            (0..len).for_each(|i| span.store(i as isize, f(i)));
        });
        self.bytes = bytes;
    }

    /// How many elements the storage could hold.
    pub fn cells(&self) -> usize {
        self.bytes.len() / self.dtype.size()
    }

    /// The value of every cell of the storage, in or out of the layout.
    ///
    /// # Panics
    /// When there is no memory.
    pub fn values(&self) -> Vec<Number> {
        let mut all = Vec::with_capacity(self.cells());
        self.on_host(|span| all.extend((0..self.cells()).map(|i| span.load(i as isize))));
        all
    }

    /// Cells of the storage that hold the elements, in row-major order.
    pub fn positions(&self) -> Vec<usize> {
        let (shape, strides) = self.layout.parts();
        let start = self.layout.offset() as isize;
        let mut all = Vec::with_capacity(self.layout.numel());
        for flat in 0..self.layout.numel() {
            let (mut rest, mut at) = (flat, start);
            for (size, stride) in shape.iter().zip(strides).rev() {
                at += stride * (rest % size) as isize;
                rest /= size;
            }
            all.push(at as usize);
        }
        all
    }

    /// The elements in row-major order.
    pub fn elements(&self) -> Vec<Number> {
        let values = self.values();
        self.positions().into_iter().map(|at| values[at]).collect()
    }

    /// Lends all cells in turn; gives the bytes after.
    fn on_host(&self, f: impl FnOnce(&SpanMut<'_>)) -> Vec<u8> {
        let all = Layout::contiguous(&[self.cells()][..]).expect("no longer than its bytes");
        let storage = self.storage(|bytes| Storage::heap(bytes, Device::CPU)).expect("memory for an operand");
        let place = Place { storage: &storage, layout: &all, dtype: self.dtype };
        let run = with_plan("operand", &[place], &[], |outs, _| {
            f(&outs[0]);
            Ok(())
        });
        run.and_then(|()| with_bytes("operand", &storage, <[u8]>::to_vec)).expect("memory of the host")
    }

    /// A storage with the same bytes, in memory from `alloc`.
    ///
    /// # Errors
    /// Those of `alloc`; `Runtime` when the host cannot address the memory.
    pub fn storage(&self, alloc: impl FnOnce(usize) -> Result<Storage>) -> Result<Storage> {
        let storage = alloc(self.bytes.len())?;
        with_bytes_mut("operand", &storage, |b| b.copy_from_slice(&self.bytes))?;
        Ok(storage)
    }
}

/// What a kernel gets: outputs, then inputs.
pub(crate) type Kernel<'k, R> = &'k dyn Fn(&[SpanMut<'_>], &[Span<'_>]) -> Result<R>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variants;

    #[test]
    fn elements_are_found_whatever_the_layout() {
        let mut rng = Rng::new(9);
        for variant in variants(&[2, 3], &mut rng) {
            let mut operand = Operand::new(&variant, DType::I16, Values::Small, &mut rng);
            operand.fill(|i| Number::Int(i as i64));
            let found: Vec<Number> = operand.positions().iter().map(|i| Number::Int(*i as i64)).collect();
            assert_eq!(operand.elements(), found);
            assert_eq!(operand.positions()[0], operand.layout.offset());
        }
    }
}
