//! Tensors that change their own storage or size: `set_`, `resize_`, `resize_as_`.

use crate::attributes::Arg;
use crate::gate::raise;
use crate::layouts::{format_of, in_order};
use crate::number::{int, int_list, spread_ints};
use crate::object::{PyTensor, tensor_of};
use crate::storage::storage_of;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rushlight::mem::Storage;
use rushlight::{Device, Size, Tensor};

/// What `set_` was given as the new memory.
enum Source {
    Nothing,
    Tensor(Tensor),
    Storage(Storage),
}

fn source(x: Option<&Bound<'_, PyAny>>, t: &Tensor) -> PyResult<Source> {
    let Some(x) = x else { return Ok(Source::Nothing) };
    if let Some(t) = tensor_of(x) {
        return Ok(Source::Tensor(t));
    }
    match storage_of(x)? {
        Some((s, dtype)) => match dtype.filter(|d| *d != t.dtype()) {
            Some(d) => Err(PyRuntimeError::new_err(format!(
                "set_: the storage is one of {d}, the tensor of {}",
                t.dtype()
            ))),
            None => Ok(Source::Storage(s)),
        },
        None => Err(PyTypeError::new_err(format!(
            "set_: takes a tensor or a storage, not {}",
            x.get_type().name()?
        ))),
    }
}

/// A list of integers that an argument must be.
fn sizes(x: &Bound<'_, PyAny>, what: &str) -> PyResult<Size> {
    match int_list(x)? {
        Some(list) => Ok(Size(list)),
        None => Err(PyTypeError::new_err(format!(
            "set_: {what} must be a sequence of integers, not {}",
            x.get_type().name()?
        ))),
    }
}

#[pymethods]
impl PyTensor {
    /// Takes over other memory: that of a tensor as it lies there, or of a storage as `size`, `stride`
    /// and `storage_offset` (in elements) say; nothing without arguments.
    #[pyo3(signature = (source=None, storage_offset=None, size=None, stride=None))]
    fn set_<'py>(
        slf: &Bound<'py, Self>,
        source: Option<&Bound<'py, PyAny>>,
        storage_offset: Option<&Bound<'py, PyAny>>,
        size: Option<&Bound<'py, PyAny>>,
        stride: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        let (py, mut t) = (slf.py(), slf.get().get(slf.py()));
        let source = self::source(source, &t)?;
        let offset = storage_offset.map(int).transpose()?.flatten();
        if storage_offset.is_some() != size.is_some() || (storage_offset.is_some() && offset.is_none()) {
            return Err(PyTypeError::new_err(
                "set_: takes a source alone, or a source, an offset, a size and perhaps strides",
            ));
        }
        let offset = match usize::try_from(offset.unwrap_or(0)) {
            Ok(o) => o,
            Err(_) => return Err(PyRuntimeError::new_err("set_: the offset must not be negative")),
        };
        let size = size.map(|s| sizes(s, "size")).transpose()?;
        let stride = stride.map(|s| sizes(s, "stride")).transpose()?;
        let done = match (source, size) {
            (Source::Tensor(s), None) => t.set_(&s).map(drop),
            (Source::Tensor(s), Some(size)) if s.dtype() == t.dtype() => {
                t.set_storage_(s.storage(), offset, size, stride).map(drop)
            }
            (Source::Tensor(s), Some(_)) => {
                let (d, own) = (s.dtype(), t.dtype());
                return Err(PyRuntimeError::new_err(format!("set_: the source holds {d}, the tensor {own}")));
            }
            (Source::Storage(s), None) => {
                let n = s.nbytes() / t.element_size();
                t.set_storage_(&s, 0, [n], None).map(drop)
            }
            (Source::Storage(s), Some(size)) => t.set_storage_(&s, offset, size, stride).map(drop),
            (Source::Nothing, None) => {
                blank(t.device()).and_then(|s| t.set_storage_(&s, 0, [0usize], None).map(drop))
            }
            (Source::Nothing, Some(_)) => {
                return Err(PyTypeError::new_err("set_: takes a size only with a source"));
            }
        };
        done.map_err(|e| raise(py, e))?;
        PyTensor::exchange(slf, t);
        Ok(slf.clone())
    }

    /// Changes the shape; the storage grows where it must and never shrinks. Elements keep their place
    /// in memory, and new ones are zero.
    #[pyo3(signature = (*size, memory_format=None))]
    fn resize_<'py>(
        slf: &Bound<'py, Self>,
        size: &Bound<'py, PyTuple>,
        memory_format: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        let (py, mut t) = (slf.py(), slf.get().get(slf.py()));
        let size = Size(spread_ints(size, "resize_")?);
        t.resize_(size).map_err(|e| raise(py, e))?;
        if let Some(f) = memory_format.filter(|f| !f.is_none()) {
            format_of(f)?;
            let shape: Vec<isize> = t.shape().iter().map(|n| *n as isize).collect();
            let strides: Vec<isize> = in_order(&t, f)?;
            t.as_strided_(shape, strides, None).map_err(|e| raise(py, e))?;
        }
        PyTensor::exchange(slf, t);
        Ok(slf.clone())
    }

    /// As `resize_`, to the shape of `the_template`.
    #[pyo3(signature = (the_template, memory_format=None))]
    fn resize_as_<'py>(
        slf: &Bound<'py, Self>,
        the_template: Arg,
        memory_format: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        let shape = PyTuple::new(slf.py(), the_template.shape())?;
        Self::resize_(slf, &shape, memory_format)
    }
}

/// Memory of no bytes.
fn blank(device: Device) -> rushlight::Result<Storage> {
    if device == Device::META { Ok(Storage::meta(0)) } else { Storage::heap(0, device) }
}
