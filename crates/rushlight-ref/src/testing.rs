//! Operands for the tests of this crate.

use rushlight_core::mem::{Place, Span, SpanMut, Storage, with_bytes, with_bytes_mut, with_plan};
use rushlight_core::{DType, Device, Element, Layout, Result};

pub(crate) struct Operand {
    storage: Storage,
    layout: Layout,
    dtype: DType,
}

impl Operand {
    /// A storage of these elements, seen through `layout`.
    pub(crate) fn of<T: Element>(elements: &[T], layout: Layout) -> Operand {
        let storage = Storage::heap(size_of_val(elements), Device::REF).unwrap();
        with_bytes_mut("test", &storage, |b| b.fill(0)).unwrap();
        let all = Layout::contiguous(&[elements.len()][..]).unwrap();
        let operand = Operand { storage, layout: all, dtype: T::DTYPE };
        with_plan("test", &[operand.place()], &[], |outs, _| {
            elements.iter().enumerate().for_each(|(i, x)| outs[0].set(i as isize, *x));
            Ok(())
        })
        .unwrap();
        Operand { layout, ..operand }
    }

    fn place(&self) -> Place<'_> {
        Place { storage: &self.storage, layout: &self.layout, dtype: self.dtype }
    }

    /// All elements of the storage.
    pub(crate) fn raw<T: Element>(&self) -> Vec<T> {
        let len = with_bytes("test", &self.storage, <[u8]>::len).unwrap() / size_of::<T>();
        let layout = Layout::contiguous(&[len][..]).unwrap();
        let place = Place { layout: &layout, ..self.place() };
        with_plan("test", &[], &[place], |_, ins| Ok((0..len as isize).map(|i| ins[0].get(i)).collect()))
            .unwrap()
    }
}

/// A contiguous operand.
pub(crate) fn dense<T: Element>(shape: &[usize], elements: &[T]) -> Operand {
    Operand::of(elements, Layout::contiguous(shape).unwrap())
}

pub(crate) fn run<R>(
    outs: &[&Operand],
    ins: &[&Operand],
    f: impl FnOnce(&[SpanMut<'_>], &[Span<'_>]) -> Result<R>,
) -> Result<R> {
    let outs: Vec<Place<'_>> = outs.iter().map(|o| o.place()).collect();
    let ins: Vec<Place<'_>> = ins.iter().map(|o| o.place()).collect();
    with_plan("test", &outs, &ins, f)
}

/// A layout that is known to be legal.
pub(crate) fn layout(shape: &[usize], strides: &[isize], offset: usize) -> Layout {
    Layout::new(shape, strides, offset).unwrap()
}
