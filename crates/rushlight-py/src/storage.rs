//! `UntypedStorage`: the bytes under tensors.

use crate::gate::raise;
use crate::object::{PyTensor, wrap};
use pyo3::prelude::*;
use rushlight::mem::Storage;
use rushlight::{DType, Layout, Tensor};

/// The bytes that tensors share.
#[pyclass(name = "UntypedStorage", module = "rushlight", frozen)]
pub struct PyStorage(pub Storage);

#[pymethods]
impl PyStorage {
    fn nbytes(&self) -> usize {
        self.0.nbytes()
    }
    fn size(&self) -> usize {
        self.0.nbytes()
    }
    fn __len__(&self) -> usize {
        self.0.nbytes()
    }
    fn data_ptr(&self) -> usize {
        self.0.data_ptr()
    }
    fn resizable(&self) -> bool {
        self.0.is_resizable()
    }
    fn resize_<'py>(slf: &Bound<'py, Self>, size: usize) -> PyResult<Bound<'py, Self>> {
        slf.get().0.resize(size).map_err(|e| raise(slf.py(), e))?;
        Ok(slf.clone())
    }
    #[getter]
    fn device(&self) -> crate::dtype::PyDevice {
        crate::dtype::PyDevice::of(self.0.device())
    }
    #[getter]
    fn _cdata(&self) -> usize {
        self.0.id()
    }
    /// What owns the bytes: heap, vec, numpy, a mapped file ...
    fn _owner(&self) -> String {
        format!("{:?}", self.0.owner_kind())
    }
    /// All bytes as a uint8 tensor over the same memory.
    fn _bytes(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let made = Layout::contiguous(&[self.0.nbytes()][..])
            .and_then(|l| Tensor::from_storage(self.0.clone(), l, DType::U8));
        wrap(py, made.map_err(|e| raise(py, e))?)
    }
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyStorage>().is_ok_and(|o| o.get().0.same(&self.0))
    }
    fn __hash__(&self) -> usize {
        self.0.id() >> 4
    }
}

#[pymethods]
impl PyTensor {
    fn untyped_storage(slf: &Bound<'_, Self>) -> PyStorage {
        PyStorage(slf.get().get(slf.py()).storage().clone())
    }
}

/// A tensor over a storage that exists.
#[pyfunction]
fn _from_storage(
    py: Python<'_>,
    storage: &Bound<'_, PyStorage>,
    offset: usize,
    size: Vec<usize>,
    stride: Vec<isize>,
    dtype: &Bound<'_, crate::dtype::PyDType>,
) -> PyResult<Py<PyAny>> {
    let made = Layout::new(size.as_slice(), stride.as_slice(), offset)
        .and_then(|l| Tensor::from_storage(storage.get().0.clone(), l, dtype.get().0));
    wrap(py, made.map_err(|e| raise(py, e))?)
}

/// `x.set_(...)` and `x.resize_(...)`: the tensor becomes `size` by `stride` over its own storage.
#[pyfunction]
fn _relayout(
    slf: &Bound<'_, PyTensor>,
    size: Vec<isize>,
    stride: Option<Vec<isize>>,
    offset: Option<usize>,
) -> PyResult<()> {
    let py = slf.py();
    let t = slf.get().get(py);
    let made = (|| {
        let shape = rushlight::Size::from(size).checked("resize_")?;
        let offset = offset.unwrap_or(t.storage_offset());
        let strides = match stride {
            Some(s) => s,
            None => Layout::contiguous(shape.clone())?.strides().to_vec(),
        };
        t.with_layout(Layout::new(shape, strides.as_slice(), offset)?)
    })();
    PyTensor::exchange(slf, made.map_err(|e| raise(py, e))?);
    Ok(())
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyStorage>()?;
    m.add_function(wrap_pyfunction!(_from_storage, m)?)?;
    m.add_function(wrap_pyfunction!(_relayout, m)?)
}
