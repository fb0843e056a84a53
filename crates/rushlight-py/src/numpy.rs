//! Memory shared with NumPy, by the array interface that both sides speak.

use crate::attributes::Arg;
use crate::gate::raise;
use crate::object::{PyTensor, wrap};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rushlight::mem::Storage;
use rushlight::{DType, Layout, Shape, Strides, Tensor};

/// Whether it is a NumPy array; NumPy is not imported for that.
pub fn is_array(x: &Bound<'_, PyAny>) -> bool {
    let class = x.get_type();
    class.name().is_ok_and(|n| n == "ndarray")
        && class
            .getattr(intern!(x.py(), "__module__"))
            .is_ok_and(|m| m.extract::<&str>().is_ok_and(|m| m == "numpy"))
}

/// Keeps the array that lends memory.
struct Lender(#[allow(dead_code)] Py<PyAny>);

/// A tensor over an array's memory; `None` for what is no array. `subclasses` too, and array scalars.
pub fn from_array(x: &Bound<'_, PyAny>, quiet: bool) -> PyResult<Option<Tensor>> {
    let py = x.py();
    let _ = quiet;
    if crate::object::tensor_of(x).is_some() {
        return Ok(None);
    }
    if !is_array(x) {
        let derived = py
            .import("sys")?
            .getattr("modules")?
            .get_item("numpy")
            .ok()
            .and_then(|n| n.getattr("ndarray").ok());
        if !derived.is_some_and(|c| x.is_instance(&c).unwrap_or(false)) {
            return Ok(None);
        }
    }
    let interface = x.getattr(intern!(py, "__array_interface__"))?;
    let interface: &Bound<'_, PyDict> = interface.cast()?;
    let get = |k: &str| {
        interface
            .get_item(k)
            .and_then(|v| v.ok_or_else(|| PyTypeError::new_err(format!("from_numpy: the array lacks {k}"))))
    };
    let text: String = get("typestr")?.extract()?;
    let dtype = dtype_of(&text, interface)?;
    let shape: Vec<usize> = get("shape")?.extract()?;
    let (address, _readonly): (usize, bool) = get("data")?.extract()?;
    let bytes: Option<Vec<isize>> = match interface.get_item("strides")? {
        Some(s) if !s.is_none() => Some(s.extract()?),
        _ => None,
    };
    let item = dtype.size() as isize;
    let strides: Strides = match bytes {
        None => Layout::contiguous(shape.as_slice()).map_err(|e| raise(py, e))?.strides().into(),
        Some(list) => {
            for s in &list {
                if *s < 0 {
                    return Err(PyValueError::new_err(
                        "from_numpy: the array has a negative stride; copy it with array.copy()",
                    ));
                }
                if s % item != 0 {
                    return Err(PyValueError::new_err(
                        "from_numpy: a stride is no multiple of the element's size; copy the array",
                    ));
                }
            }
            list.iter().map(|s| s / item).collect()
        }
    };
    let shape: Shape = shape.as_slice().into();
    let made = (|| {
        let layout = Layout::new(shape, strides, 0)?;
        let reach = layout.storage_elements().checked_mul(dtype.size());
        let Some(reach) = reach else {
            return Err(rushlight::err!(Runtime, "from_numpy", "the array reaches past any memory"));
        };
        // SAFETY: NumPy says that an array with this interface lies at that address with that shape and
        // these strides, all of it initialised, and the array is kept until the storage goes. Python
        // code that writes to it from another thread races as it does with NumPy alone.
        let storage = unsafe {
            Storage::from_foreign(
                address as *mut u8,
                reach,
                false,
                Box::new(Lender(x.clone().unbind())),
                "numpy",
            )
        };
        Tensor::from_storage(storage, layout, dtype)
    })();
    made.map(Some).map_err(|e| raise(py, e))
}

fn dtype_of(text: &str, interface: &Bound<'_, PyDict>) -> PyResult<DType> {
    let fields = interface.get_item("descr")?.and_then(|d| d.len().ok()).unwrap_or(1);
    if text.starts_with('>') {
        return Err(PyValueError::new_err(
            "from_numpy: the array is not in this machine's byte order; use array.astype",
        ));
    }
    let native = text.get(1..).unwrap_or("");
    DType::ALL
        .iter()
        .find(|d| d.npy_name().is_some_and(|n| n.get(1..) == Some(native)))
        .copied()
        .filter(|_| fields <= 1)
        .ok_or_else(|| {
            PyTypeError::new_err(format!(
                "from_numpy: no dtype holds elements of type {text}; bool, integers, floats and complex numbers can be shared"
            ))
        })
}

/// Lends a tensor's memory: NumPy makes an array of whatever has this attribute, and keeps it.
#[pyclass(name = "_Lent", module = "rushlight._C", frozen)]
struct Lent(Tensor);

#[pymethods]
impl Lent {
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let t = &self.0;
        let name = t.dtype().npy_name().ok_or_else(|| no_array(t.dtype()))?;
        let size = t.element_size() as isize;
        // The address of a storage is final once it cannot be resized.
        t.storage().set_resizable(false);
        let d = PyDict::new(py);
        d.set_item("version", 3)?;
        d.set_item("typestr", name)?;
        d.set_item("shape", PyTuple::new(py, t.shape())?)?;
        d.set_item("strides", PyTuple::new(py, t.strides().iter().map(|s| s * size))?)?;
        d.set_item(
            "data",
            (t.storage().data_ptr() + t.storage_offset() * t.element_size(), t.storage().is_readonly()),
        )?;
        Ok(d)
    }
}

fn no_array(dtype: DType) -> PyErr {
    PyTypeError::new_err(format!("numpy: NumPy has no {dtype}; convert it first, with .float()"))
}

#[pymethods]
impl PyTensor {
    /// An array over the same memory.
    #[pyo3(signature = (*, force=false))]
    fn numpy(slf: &Bound<'_, Self>, force: bool) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        let mut t = slf.get().get(py);
        if force {
            t = t.detach().and_then(|t| t.to_device(rushlight::Device::CPU)).map_err(|e| raise(py, e))?;
        }
        if t.requires_grad() && rushlight::grad::is_grad_enabled() {
            return Err(PyRuntimeError::new_err(
                "numpy: the tensor requires grad, and NumPy cannot record; use t.detach().numpy()",
            ));
        }
        if !t.device().is_host() {
            return Err(PyTypeError::new_err(format!(
                "numpy: the tensor is on {}; use t.cpu().numpy()",
                t.device()
            )));
        }
        if t.dtype().npy_name().is_none() {
            return Err(no_array(t.dtype()));
        }
        if t.numel() == 0 {
            let empty = py
                .import("numpy")?
                .call_method1("empty", (PyTuple::new(py, t.shape())?, t.dtype().npy_name()))?;
            return Ok(empty.unbind());
        }
        let lent = Py::new(py, Lent(t))?;
        Ok(py.import("numpy")?.call_method1("asarray", (lent,))?.unbind())
    }
}

/// A tensor over an array's memory: nothing is copied, writes on one side show on the other.
#[pyfunction]
fn from_numpy(ndarray: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    match from_array(ndarray, false)? {
        Some(t) => wrap(ndarray.py(), t),
        None => Err(PyTypeError::new_err(format!(
            "from_numpy: takes a NumPy array, not {}",
            ndarray.get_type().name()?
        ))),
    }
}

/// The tensor of a NumPy array, or none.
#[pyfunction]
fn _maybe_numpy(x: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
    from_array(x, true)?.map(|t| wrap(x.py(), t)).transpose()
}

/// A tensor's memory as bytes, in row-major order.
#[pyfunction]
fn _to_bytes(t: Arg) -> PyResult<Vec<u8>> {
    t.to_bytes().map_err(|e| PyRuntimeError::new_err(e.to_string()))
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(from_numpy, m)?)?;
    m.add_function(wrap_pyfunction!(_maybe_numpy, m)?)?;
    m.add_function(wrap_pyfunction!(_to_bytes, m)?)?;
    m.add_class::<Lent>()
}
