//! The constructors of old programs, `Tensor(..)` and `LongTensor(..)`, and objects of derived classes.

use crate::data::{device_argument, from_data, sequence};
use crate::gate::{raise, run};
use crate::number::{int_list, is_numpy_scalar};
use crate::object::{PyTensor, tensor_of, wrap};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyInt, PyString, PyTuple, PyType};
use rushlight::{DType, Device, Size, Tensor};

/// `Tensor(2, 3)`, `Tensor([1., 2.])`, `Tensor(other)`, `Tensor(storage)`, `Tensor()`: the constructor
/// of old programs. `dtype` is that of `LongTensor` and its like; a tensor keeps its own otherwise.
fn legacy(
    py: Python<'_>,
    dtype: Option<DType>,
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
) -> PyResult<Tensor> {
    for (name, value) in kwargs.iter().flat_map(|k| k.iter()) {
        let device = match name.extract::<&str>()? {
            "device" => device_argument(Some(&value).filter(|v| !v.is_none()))?.unwrap_or(Device::CPU),
            _ => {
                return Err(PyTypeError::new_err(format!(
                    "Tensor: takes no argument called {name}; use rushlight.tensor"
                )));
            }
        };
        if device != Device::CPU {
            return Err(PyRuntimeError::new_err(format!("Tensor: is for the cpu, not {device}; use .to()")));
        }
    }
    let made = dtype.unwrap_or(rushlight::default_dtype());
    if let Ok(first) = args.get_item(0)
        && args.len() == 1
        && !is_size(&first)?
    {
        return legacy_of(&first, dtype, made);
    }
    let sizes = match args.get_item(0) {
        Ok(size) if args.len() == 1 && size.is_instance_of::<PyTuple>() => int_list(&size)?,
        Ok(_) => int_list(args.as_any())?,
        Err(_) => Some([0].into_iter().collect()),
    };
    let Some(sizes) = sizes else {
        return Err(PyTypeError::new_err("Tensor: takes sizes, one sequence of data, or a tensor"));
    };
    Tensor::empty_with(Size(sizes), Some(made), None).map_err(|e| raise(py, e))
}

/// Whether it gives sizes and no data: an integer, or a `Size`.
fn is_size(x: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(x.is_instance_of::<PyInt>() && !x.is_instance_of::<PyBool>()
        || x.is_instance_of::<PyTuple>() && x.get_type().name()? == "Size"
        || is_numpy_scalar(x) && x.hasattr(intern!(x.py(), "__index__"))?)
}

/// A tensor of the one argument: a tensor's alias, a storage's elements, a copy of data.
fn legacy_of(x: &Bound<'_, PyAny>, dtype: Option<DType>, made: DType) -> PyResult<Tensor> {
    let py = x.py();
    if let Some(t) = tensor_of(x) {
        return match dtype.filter(|d| *d != t.dtype()) {
            Some(d) => Err(PyTypeError::new_err(format!(
                "Tensor: a tensor of {d} cannot share the memory of one of {}; use .to()",
                t.dtype()
            ))),
            None => t.detach().map_err(|e| raise(py, e)),
        };
    }
    if let Some((storage, own)) = crate::storage::storage_of(x)? {
        if own.is_some_and(|d| d != made) {
            return Err(PyTypeError::new_err(format!("Tensor: the storage is not one of {made}")));
        }
        let n = storage.nbytes() / made.size();
        return rushlight::Layout::contiguous(&[n][..])
            .and_then(|l| Tensor::from_storage(storage, l, made))
            .map_err(|e| raise(py, e));
    }
    if x.is_instance_of::<PyString>() || x.is_instance_of::<PyBytes>() || sequence(x).is_none() {
        return Err(PyTypeError::new_err(format!(
            "Tensor: data must be a sequence, not {}; use rushlight.tensor for one number",
            x.get_type().name()?
        )));
    }
    // Data is cut down to the dtype here, where `tensor` would refuse what does not fit.
    let t = from_data(x, None)?;
    run(py, t.numel(), || t.to_dtype(made))
}

/// `Tensor(...)`, also of a class derived from it.
pub fn construct(args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<Tensor> {
    legacy(args.py(), None, args, kwargs)
}

/// `LongTensor(...)` and its like.
#[pyfunction]
#[pyo3(signature = (dtype, args, kwargs=None))]
fn _legacy_tensor(
    dtype: &Bound<'_, crate::dtype::PyDType>,
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
) -> PyResult<Py<PyAny>> {
    let py = dtype.py();
    wrap(py, legacy(py, Some(dtype.get().0), args, kwargs)?)
}

#[pymethods]
impl PyTensor {
    /// An object of `cls`, a class derived from Tensor, over the memory of `data` and outside its graph.
    #[staticmethod]
    #[pyo3(signature = (cls, data, require_grad=false))]
    fn _make_subclass<'py>(
        cls: &Bound<'py, PyType>,
        data: &Bound<'py, PyTensor>,
        require_grad: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = cls.py();
        let alias = data.get().get(py).detach().map_err(|e| raise(py, e))?;
        let object = of_class(cls, alias.clone())?;
        alias.requires_grad_(require_grad).map_err(|e| raise(py, e))?;
        Ok(object)
    }

    /// The same tensor as an object of `cls`, a class derived from Tensor; gradients flow through.
    fn as_subclass<'py>(slf: &Bound<'py, Self>, cls: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
        let (py, t) = (slf.py(), slf.get().get(slf.py()));
        let alias = match t.requires_grad() {
            true => t.view_as(&t),
            false => t.detach(),
        };
        of_class(cls, alias.map_err(|e| raise(py, e))?)
    }
}

/// A new object of a class derived from Tensor that stands for `t`; its `__init__` is not called.
fn of_class<'py>(cls: &Bound<'py, PyType>, t: Tensor) -> PyResult<Bound<'py, PyAny>> {
    let py = cls.py();
    let base = py.get_type::<PyTensor>();
    if !cls.is_subclass(&base)? {
        return Err(PyTypeError::new_err(format!(
            "as_subclass: {} is no class derived from Tensor",
            cls.name()?
        )));
    }
    let object = base.call_method1(intern!(py, "__new__"), (cls,))?;
    PyTensor::exchange(object.cast::<PyTensor>()?, t);
    Ok(object)
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(_legacy_tensor, m)?)
}
