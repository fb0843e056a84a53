//! Tensors over memory that others own, by whatever they speak: `as_tensor`, `asarray`, `frombuffer`.

use crate::data::{device_argument, dtype_argument, from_data};
use crate::gate::{raise, run};
use crate::numpy::{check_array, from_array, warn_readonly};
use crate::object::{tensor_of, wrap};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyString};
use rushlight::mem::Storage;
use rushlight::{DType, Device, Layout, Tensor};

/// What a tensor is to be: dtype, device, and whether a copy must, may or must not be made.
#[derive(Clone, Copy)]
struct Wish {
    dtype: Option<DType>,
    device: Option<Device>,
    copy: Option<bool>,
}

impl Wish {
    /// The tensor as wished; itself where nothing changes.
    fn apply(self, py: Python<'_>, op: &str, t: &Tensor) -> PyResult<Tensor> {
        let (dtype, device) = (self.dtype.unwrap_or(t.dtype()), self.device.unwrap_or(t.device()));
        if dtype == t.dtype() && device == t.device() && self.copy != Some(true) {
            return Ok(t.clone());
        }
        if self.copy == Some(false) {
            return Err(PyValueError::new_err(format!(
                "{op}: {} on {} cannot become {dtype} on {device} without a copy; leave copy=False out",
                t.dtype(),
                t.device()
            )));
        }
        run(py, t.numel(), || {
            let new = t.to_device(device)?.to_dtype(dtype)?;
            if self.copy == Some(true) && new.is(t) { new.copy() } else { Ok(new) }
        })
    }
}

/// Sets `requires_grad` on what was made, which may be someone else's tensor.
fn with_grad(py: Python<'_>, t: Tensor, wanted: Option<bool>) -> PyResult<Py<PyAny>> {
    let t = match wanted {
        Some(on) if on != t.requires_grad() => {
            let leaf = t.grad_fn().map_err(|e| raise(py, e))?.is_none();
            let t = if leaf { t } else { t.detach().map_err(|e| raise(py, e))? };
            t.requires_grad_(on).map_err(|e| raise(py, e))?
        }
        _ => t,
    };
    wrap(py, t)
}

/// `data` itself where it is a tensor that fits, a tensor over its memory where it is an array that
/// fits, else a copy.
#[pyfunction]
#[pyo3(signature = (data, dtype=None, device=None))]
fn as_tensor(
    data: &Bound<'_, PyAny>,
    dtype: Option<&Bound<'_, PyAny>>,
    device: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let py = data.py();
    let dtype = dtype_argument("as_tensor", dtype)?;
    let wish = Wish { dtype, device: device_argument(device)?, copy: None };
    let t = match tensor_of(data) {
        Some(t) => t,
        None => match from_array(data, false)? {
            Some(t) => t,
            None => from_data(data, dtype)?,
        },
    };
    wrap(py, wish.apply(py, "as_tensor", &t)?)
}

/// A tensor of `obj`: over its memory where it is a tensor, an array, speaks DLPack or the buffer
/// protocol; a copy of a number or sequence. `copy` True always copies, False never.
#[pyfunction]
#[pyo3(signature = (obj, *, dtype=None, device=None, copy=None, requires_grad=None))]
fn asarray(
    obj: &Bound<'_, PyAny>,
    dtype: Option<&Bound<'_, PyAny>>,
    device: Option<&Bound<'_, PyAny>>,
    copy: Option<bool>,
    requires_grad: Option<bool>,
) -> PyResult<Py<PyAny>> {
    let py = obj.py();
    let dtype = dtype_argument("asarray", dtype)?;
    let wish = Wish { dtype, device: device_argument(device)?, copy };
    let t = match lent(obj, wish)? {
        Some(t) => wish.apply(py, "asarray", &t)?,
        None if copy == Some(false) => {
            return Err(PyValueError::new_err(format!(
                "asarray: a {} has no memory that a tensor could share; leave copy=False out",
                obj.get_type().name()?
            )));
        }
        None => Wish { copy: None, ..wish }.apply(py, "asarray", &from_data(obj, dtype)?)?,
    };
    with_grad(py, t, requires_grad)
}

/// A tensor over the memory of `obj`, if it lends any.
fn lent(obj: &Bound<'_, PyAny>, wish: Wish) -> PyResult<Option<Tensor>> {
    let py = obj.py();
    if let Some(t) = tensor_of(obj) {
        return Ok(Some(t));
    }
    // A copy is of the caller's own, so nobody needs a warning that the source is read-only.
    if let Some(t) = from_array(obj, wish.copy == Some(true))? {
        return Ok(Some(t));
    }
    if obj.is_instance_of::<PyString>() || crate::number::is_numpy_scalar(obj) {
        return Ok(None);
    }
    if obj.is_instance_of::<PyCapsule>() || obj.hasattr(intern!(py, "__dlpack__"))? {
        return crate::dlpack::import(obj, None, wish.copy).map(Some);
    }
    match py.import("builtins")?.getattr("memoryview")?.call1((obj,)) {
        Ok(view) => {
            let whole = Part { dtype: wish.dtype.unwrap_or(DType::U8), count: -1, offset: 0 };
            over_buffer("asarray", &view, whole, wish.copy == Some(true)).map(Some)
        }
        Err(_) => Ok(None),
    }
}

/// Which elements of a buffer.
#[derive(Clone, Copy)]
struct Part {
    dtype: DType,
    count: isize,
    offset: isize,
}

impl Part {
    /// The number of elements in a buffer of `len` bytes.
    fn elements(self, op: &str, len: usize) -> PyResult<usize> {
        let (size, refuse) = (self.dtype.size(), |text: String| Err(PyValueError::new_err(text)));
        if len == 0 || self.count == 0 {
            return refuse(format!(
                "{op}: neither the buffer, here of {len} bytes, nor count, here {}, may be empty",
                self.count
            ));
        }
        let Some(left) =
            usize::try_from(self.offset).ok().and_then(|o| len.checked_sub(o)).filter(|l| *l > 0)
        else {
            return refuse(format!(
                "{op}: offset {} lies outside the buffer of {len} bytes; it must be at least 0 and less than {len}",
                self.offset
            ));
        };
        if self.count < 0 {
            if left % size != 0 {
                return refuse(format!(
                    "{op}: {left} bytes from offset {} on are no whole number of {} elements of {size} bytes",
                    self.offset, self.dtype
                ));
            }
            return Ok(left / size);
        }
        match self.count.unsigned_abs().checked_mul(size) {
            Some(bytes) if bytes <= left => Ok(self.count.unsigned_abs()),
            _ => refuse(format!(
                "{op}: {} elements of {size} bytes do not fit into the {left} bytes from offset {} on",
                self.count, self.offset
            )),
        }
    }
}

/// Keeps a buffer exported: its owner can neither move nor free it meanwhile.
struct Export(#[allow(dead_code)] Py<PyAny>);

/// A 1-d tensor over part of what a `memoryview` shows.
fn over_buffer(op: &'static str, view: &Bound<'_, PyAny>, part: Part, quiet: bool) -> PyResult<Tensor> {
    let py = view.py();
    if !view.getattr(intern!(py, "c_contiguous"))?.is_truthy()? {
        return Err(PyRuntimeError::new_err(format!(
            "{op}: the buffer is not contiguous, and only one run of bytes can be shared; copy it first"
        )));
    }
    check_array(&view.getattr(intern!(py, "obj"))?)?;
    let format: String = view.getattr(intern!(py, "format"))?.extract()?;
    if holds_objects(&format) {
        return Err(PyValueError::new_err(format!(
            "{op}: the buffer holds Python objects ('{format}'), whose addresses are no numbers to read or write"
        )));
    }
    let len: usize = view.getattr(intern!(py, "nbytes"))?.extract()?;
    let readonly: bool = view.getattr(intern!(py, "readonly"))?.extract()?;
    let elements = part.elements(op, len)?;
    if readonly && !quiet {
        warn_readonly(py)?;
    }
    let address = address_of(view)?;
    let start = address + part.offset.unsigned_abs();
    let made = Layout::contiguous(&[elements][..]).and_then(|layout| {
        let owner = Box::new(Export(view.clone().unbind()));
        // SAFETY: `address_of` asked the interpreter where the exported buffer of `len` bytes lies,
        // `Part::elements` saw that the part lies inside, and the export is held until the storage
        // goes, so that the owner keeps the bytes where they are. A read-only buffer is never written.
        let storage = unsafe {
            Storage::from_foreign(start as *mut u8, elements * part.dtype.size(), readonly, owner, "buffer")
        };
        Tensor::from_storage(storage, layout, part.dtype)
    });
    made.map_err(|e| raise(py, e))
}

/// Whether a buffer's format has an `O` outside the names of fields, which stand between colons.
fn holds_objects(format: &str) -> bool {
    format.split(':').step_by(2).any(|part| part.contains('O'))
}

/// Where the bytes of a contiguous `memoryview` lie.
///
/// CPython's stable interface has buffers from 3.11 on only, so that older ones are asked by ctypes.
fn address_of(view: &Bound<'_, PyAny>) -> PyResult<usize> {
    let py = view.py();
    let ctypes = py.import("ctypes")?;
    // A `Py_buffer` is eleven words at most on every platform; its first is the address.
    let words = ctypes.getattr("c_ssize_t")?.mul(16)?.call0()?;
    let (reference, api) = (ctypes.call_method1("byref", (&words,))?, ctypes.getattr("pythonapi")?);
    let object = ctypes.call_method1("py_object", (view,))?;
    api.call_method1("PyObject_GetBuffer", (object, &reference, 0))?;
    let address: isize = words.get_item(0)?.extract()?;
    api.call_method1("PyBuffer_Release", (&reference,))?;
    Ok(address.cast_unsigned())
}

/// A 1-d tensor over the bytes of `buffer` from `offset` (in bytes) on: `count` elements, or all
/// where that is negative. While it lives, the buffer cannot be resized.
#[pyfunction]
#[pyo3(signature = (buffer, *, dtype, count=-1, offset=0, requires_grad=false))]
fn frombuffer(
    buffer: &Bound<'_, PyAny>,
    dtype: &Bound<'_, PyAny>,
    count: isize,
    offset: isize,
    requires_grad: bool,
) -> PyResult<Py<PyAny>> {
    let py = buffer.py();
    let Some(dtype) = dtype_argument("frombuffer", Some(dtype))? else {
        return Err(PyTypeError::new_err("frombuffer: dtype must be given"));
    };
    let view = py.import("builtins")?.getattr("memoryview")?.call1((buffer,)).map_err(|_| {
        let kind = buffer.get_type().name().map_or_else(|_| "object".into(), |n| n.to_string());
        PyValueError::new_err(format!(
            "frombuffer: a {kind} has no buffer; bytes, bytearray, array.array and mmap do"
        ))
    })?;
    let t = over_buffer("frombuffer", &view, Part { dtype, count, offset }, false)?;
    with_grad(py, t, Some(requires_grad))
}

/// The bytes of a tensor in row-major order, for pickles.
#[pyfunction]
fn _to_bytes<'py>(py: Python<'py>, t: crate::attributes::Arg) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = run(py, t.numel(), || t.to_bytes())?;
    Ok(PyBytes::new(py, &bytes))
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(as_tensor, m)?)?;
    m.add_function(wrap_pyfunction!(asarray, m)?)?;
    m.add_function(wrap_pyfunction!(frombuffer, m)?)?;
    m.add_function(wrap_pyfunction!(_to_bytes, m)?)
}
