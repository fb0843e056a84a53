//! What a tensor is: shape, strides, dtype, memory, flags.

use crate::dtype::{PyDType, PyDevice, dtype_object};
use crate::gate::raise;
use crate::layouts::{Format, format_of, in_format};
use crate::number::{int, to_python};
use crate::object::{PyTensor, tensor_of, wrap};
use pyo3::exceptions::{PyNotImplementedError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use rushlight::Tensor;
use std::ops::Deref;

/// `torch.Size`, a tuple with `numel`.
pub fn size(py: Python<'_>, shape: &[usize]) -> PyResult<Py<PyAny>> {
    static SIZE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class =
        SIZE.get_or_try_init(py, || PyResult::Ok(py.import("rushlight._size")?.getattr("Size")?.unbind()))?;
    class.call1(py, (PyTuple::new(py, shape)?,))
}

impl PyTensor {
    fn of(slf: &Bound<'_, Self>) -> Tensor {
        slf.get().get(slf.py())
    }
}

#[pymethods]
impl PyTensor {
    #[getter]
    fn shape(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        size(slf.py(), Self::of(slf).shape())
    }
    #[pyo3(signature = (dim=None))]
    fn size(slf: &Bound<'_, Self>, dim: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
        let (py, t) = (slf.py(), Self::of(slf));
        match dim {
            None => size(py, t.shape()),
            Some(d) => {
                let d = int(d)?.ok_or_else(|| PyTypeError::new_err("size: dim must be an integer"))?;
                let n = t.size(d as isize).map_err(|e| raise(py, e))?;
                Ok(n.into_pyobject(py)?.into_any().unbind())
            }
        }
    }
    #[pyo3(signature = (dim=None))]
    fn stride(slf: &Bound<'_, Self>, dim: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
        let (py, t) = (slf.py(), Self::of(slf));
        match dim {
            None => Ok(PyTuple::new(py, t.strides())?.into_any().unbind()),
            Some(d) => {
                let d = int(d)?.ok_or_else(|| PyTypeError::new_err("stride: dim must be an integer"))?;
                t.size(d as isize).map_err(|e| raise(py, e))?;
                let at = if d < 0 { d + t.dim() as i64 } else { d } as usize;
                Ok(t.strides()[at].into_pyobject(py)?.into_any().unbind())
            }
        }
    }
    fn storage_offset(slf: &Bound<'_, Self>) -> usize {
        Self::of(slf).storage_offset()
    }
    fn numel(slf: &Bound<'_, Self>) -> usize {
        Self::of(slf).numel()
    }
    fn nelement(slf: &Bound<'_, Self>) -> usize {
        Self::of(slf).numel()
    }
    fn dim(slf: &Bound<'_, Self>) -> usize {
        Self::of(slf).dim()
    }
    fn ndimension(slf: &Bound<'_, Self>) -> usize {
        Self::of(slf).dim()
    }
    #[getter]
    fn ndim(slf: &Bound<'_, Self>) -> usize {
        Self::of(slf).dim()
    }
    fn element_size(slf: &Bound<'_, Self>) -> usize {
        Self::of(slf).element_size()
    }
    #[getter]
    fn itemsize(slf: &Bound<'_, Self>) -> usize {
        Self::of(slf).element_size()
    }
    #[getter]
    fn nbytes(slf: &Bound<'_, Self>) -> usize {
        Self::of(slf).nbytes()
    }
    #[getter]
    fn dtype(slf: &Bound<'_, Self>) -> PyResult<Py<PyDType>> {
        dtype_object(slf.py(), Self::of(slf).dtype())
    }
    #[getter]
    fn device(slf: &Bound<'_, Self>) -> PyDevice {
        PyDevice::of(Self::of(slf).device())
    }
    #[pyo3(signature = (memory_format=None))]
    fn is_contiguous(slf: &Bound<'_, Self>, memory_format: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        let t = Self::of(slf);
        match memory_format {
            None => Ok(t.is_contiguous()),
            Some(f) => crate::layouts::is_in_format(&t, f),
        }
    }
    fn data_ptr(slf: &Bound<'_, Self>) -> usize {
        Self::of(slf).data_ptr()
    }
    #[getter]
    fn _version(slf: &Bound<'_, Self>) -> PyResult<u64> {
        let t = Self::of(slf);
        match t.is_inference() {
            false => Ok(t.version()),
            true => {
                Err(PyRuntimeError::new_err("_version: a tensor made in inference mode counts no writes"))
            }
        }
    }
    #[getter]
    fn _base(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let t = Self::of(slf);
        match t.base() {
            Some(b) if !slf.get().stands_for(slf.py(), b) => wrap(slf.py(), b.clone()).map(Some),
            _ => Ok(None),
        }
    }
    fn _is_view(slf: &Bound<'_, Self>) -> bool {
        Self::of(slf).base().is_some_and(|b| !slf.get().stands_for(slf.py(), b))
    }
    fn is_floating_point(slf: &Bound<'_, Self>) -> bool {
        Self::of(slf).dtype().is_float()
    }
    fn is_complex(slf: &Bound<'_, Self>) -> bool {
        Self::of(slf).dtype().is_complex()
    }
    fn is_signed(slf: &Bound<'_, Self>) -> bool {
        let dtype = Self::of(slf).dtype();
        !(dtype == rushlight::DType::Bool || dtype.is_unsigned())
    }
    fn is_inference(slf: &Bound<'_, Self>) -> bool {
        Self::of(slf).is_inference()
    }
    fn is_set_to(slf: &Bound<'_, Self>, tensor: &Bound<'_, Self>) -> bool {
        let (a, b) = (Self::of(slf), Self::of(tensor));
        a.shares_storage(&b) && a.layout() == b.layout()
    }
    /// The one element as a Python number.
    fn item(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        to_python(py, Self::of(slf).item().map_err(|e| raise(py, e))?)
    }
    fn tolist(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        crate::data::to_list(slf.py(), &Self::of(slf))
    }
    fn __len__(slf: &Bound<'_, Self>) -> PyResult<usize> {
        match Self::of(slf).shape().first() {
            Some(n) => Ok(*n),
            None => Err(PyTypeError::new_err("len: a 0-d tensor has no length")),
        }
    }
    fn __bool__(slf: &Bound<'_, Self>) -> PyResult<bool> {
        let (py, t) = (slf.py(), Self::of(slf));
        if t.numel() != 1 {
            return Err(PyRuntimeError::new_err(format!(
                "bool: a tensor of {} elements is neither true nor false; use any() or all()",
                t.numel()
            )));
        }
        t.item().map(|n| n.to_bool()).map_err(|e| raise(py, e))
    }
    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        static SHOW: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let py = slf.py();
        let show = SHOW.get_or_try_init(py, || {
            PyResult::Ok(py.import("rushlight._printing")?.getattr("show")?.unbind())
        })?;
        show.call1(py, (slf,))
    }
    /// The text of the tensor, as the options say.
    fn _text(
        slf: &Bound<'_, Self>,
        prefix: String,
        precision: usize,
        threshold: usize,
        edge_items: usize,
        line_width: usize,
        scientific: Option<bool>,
    ) -> String {
        let options = rushlight::PrintOptions {
            precision,
            threshold,
            edge_items,
            line_width,
            scientific,
            prefix,
            dtype_prefix: "torch.",
        };
        Self::of(slf).to_text(&options)
    }
    #[pyo3(signature = (memory_format=None))]
    fn contiguous(slf: &Bound<'_, Self>, memory_format: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
        let (py, t) = (slf.py(), Self::of(slf));
        match memory_format {
            Some(f) if format_of(f)? != Format::Preserve => wrap(py, in_format(py, t, f)?),
            _ => wrap(py, crate::gate::run(py, t.numel(), || t.contiguous())?),
        }
    }
    /// Data, shape and flags of another tensor take the place of this one's, without autograd.
    #[getter]
    fn data(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        wrap(slf.py(), Self::of(slf).data())
    }
    #[setter]
    fn set_data(slf: &Bound<'_, Self>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = slf.py();
        let data = tensor_of(data).ok_or_else(|| PyTypeError::new_err("data: must be a tensor"))?;
        let new = Self::of(slf).with_data(&data).map_err(|e| raise(py, e))?;
        PyTensor::exchange(slf, new);
        Ok(())
    }
    /// This object becomes what `view` is; for `op`, an in-place change of shape.
    fn _become(slf: &Bound<'_, Self>, view: &Bound<'_, Self>, op: &str) -> PyResult<()> {
        let op = RESHAPING.into_iter().find(|name| *name == op).unwrap_or("an in-place change of shape");
        let (py, t) = (slf.py(), Self::of(slf));
        let new = Self::of(view);
        if !t.shares_storage(&new) {
            return Err(PyNotImplementedError::new_err(format!("{op}: takes a view of the tensor")));
        }
        t.restride_in_place(&new).map_err(|e| raise(py, e.in_op(op)))?;
        PyTensor::exchange(slf, new);
        Ok(())
    }
}

/// Methods that change a tensor's own shape, for messages.
const RESHAPING: [&str; 8] =
    ["t_", "transpose_", "swapaxes_", "swapdims_", "squeeze_", "unsqueeze_", "as_strided_", "resize_"];

/// A tensor that is an argument of a hand-written function.
pub struct Arg(pub Tensor);

impl Deref for Arg {
    type Target = Tensor;
    fn deref(&self) -> &Tensor {
        &self.0
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Arg {
    type Error = PyErr;
    fn extract(x: Borrowed<'a, 'py, PyAny>) -> PyResult<Arg> {
        match tensor_of(&x) {
            Some(t) => Ok(Arg(t)),
            None => Err(PyTypeError::new_err(format!("must be a Tensor, not {}", x.get_type().name()?))),
        }
    }
}
