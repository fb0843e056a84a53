//! The backend of tensors without memory: shapes, strides and dtypes only.
//!
//! Every op checks its operands and lays out its result before it calls a backend, so the kernels
//! here have nothing left to do.

use crate::backend::{Algebra, Backend, Fft, Gather, Map, Matmul, Reduce, Registration, Scan, Scatter, Sort};
use crate::mem::{Span, Storage};
use crate::{Device, DeviceKind, Result, bail};

/// The backend of [`Device::META`].
struct MetaBackend;

inventory::submit! { Registration(&MetaBackend) }

impl Backend for MetaBackend {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Meta
    }
    fn alloc(&self, bytes: usize, _device: Device) -> Result<Storage> {
        Ok(Storage::meta(bytes))
    }
    fn map(&self, _call: &Map<'_>) -> Result<()> {
        Ok(())
    }
    fn reduce(&self, _call: &Reduce<'_>) -> Result<()> {
        Ok(())
    }
    fn scan(&self, _call: &Scan<'_>) -> Result<()> {
        Ok(())
    }
    fn matmul(&self, _call: &Matmul<'_>) -> Result<()> {
        Ok(())
    }
    fn gather(&self, _call: &Gather<'_>) -> Result<()> {
        Ok(())
    }
    fn scatter(&self, _call: &Scatter<'_>) -> Result<()> {
        Ok(())
    }
    fn sort(&self, _call: &Sort<'_>) -> Result<()> {
        Ok(())
    }
    fn algebra(&self, _call: &Algebra<'_>) -> Result<()> {
        Ok(())
    }
    fn fft(&self, _call: &Fft<'_>) -> Result<()> {
        Ok(())
    }
    fn nonzero(&self, input: &Span<'_>) -> Result<Vec<i64>> {
        bail!(
            Runtime,
            "nonzero",
            "the values decide the shape of the result, and a meta tensor of shape {:?} has none; use a tensor on cpu",
            input.layout().shape()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::backend;
    use crate::mem::{Place, with_plan};
    use crate::{DType, Kind, Layout};

    #[test]
    fn memory_has_a_length_only() {
        let storage = backend(Device::META).unwrap().alloc(24, Device::META).unwrap();
        assert_eq!((storage.nbytes(), storage.data_ptr(), storage.device()), (24, 0, Device::META));
    }

    #[test]
    fn nonzero_is_refused() {
        let (storage, layout) = (Storage::meta(6), Layout::contiguous(&[2, 3][..]).unwrap());
        let place = Place { storage: &storage, layout: &layout, dtype: DType::Bool };
        let got = with_plan("test", &[], &[place], |_, ins| backend(Device::META)?.nonzero(&ins[0]));
        let error = got.unwrap_err();
        assert_eq!(error.kind(), Kind::Runtime);
        assert!(error.text().contains("the values decide the shape"));
    }
}
