//! DLPack: tensors to and from other libraries without a copy.
//!
//! The structs are those of DLPack 1.0, `dlpack.h`. A capsule carries one of the two managed forms;
//! whoever takes the tensor out of it renames the capsule, so that nobody takes it twice.

use crate::dtype::as_device;
use crate::gate::raise;
use crate::object::{PyTensor, wrap};
use pyo3::exceptions::{
    PyAssertionError, PyBufferError, PyNotImplementedError, PyRuntimeError, PyTypeError, PyValueError,
};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyDict, PyInt};
use rushlight::mem::Storage;
use rushlight::{DType, Device, DeviceKind, Layout, Shape, Strides, Tensor};
use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

const CPU: i32 = 1;
const READ_ONLY: u64 = 1;
const IS_COPIED: u64 = 2;

#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    /// In elements; null for row-major.
    strides: *mut i64,
    byte_offset: u64,
}

/// The form of old: a tensor and who frees it.
#[repr(C)]
struct Managed {
    tensor: DlTensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// The form since DLPack 1.0.
#[repr(C)]
struct Versioned {
    major: u32,
    minor: u32,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: DlTensor,
}

/// What the two forms have in common.
trait Form: Sized + 'static {
    const NAME: &'static CStr;
    const USED: &'static CStr;
    fn new(tensor: DlTensor, context: *mut c_void, flags: u64) -> Self;
    fn tensor(&self) -> &DlTensor;
    fn context(&self) -> *mut c_void;
    fn deleter(&self) -> Option<unsafe extern "C" fn(*mut Self)>;
    fn flags(&self) -> u64 {
        0
    }
}

impl Form for Managed {
    const NAME: &'static CStr = c"dltensor";
    const USED: &'static CStr = c"used_dltensor";
    fn new(tensor: DlTensor, context: *mut c_void, _flags: u64) -> Managed {
        Managed { tensor, context, deleter: Some(delete::<Managed>) }
    }
    fn tensor(&self) -> &DlTensor {
        &self.tensor
    }
    fn context(&self) -> *mut c_void {
        self.context
    }
    fn deleter(&self) -> Option<unsafe extern "C" fn(*mut Self)> {
        self.deleter
    }
}

impl Form for Versioned {
    const NAME: &'static CStr = c"dltensor_versioned";
    const USED: &'static CStr = c"used_dltensor_versioned";
    fn new(tensor: DlTensor, context: *mut c_void, flags: u64) -> Versioned {
        Versioned { major: 1, minor: 0, context, deleter: Some(delete::<Versioned>), flags, tensor }
    }
    fn tensor(&self) -> &DlTensor {
        &self.tensor
    }
    fn context(&self) -> *mut c_void {
        self.context
    }
    fn deleter(&self) -> Option<unsafe extern "C" fn(*mut Self)> {
        self.deleter
    }
    fn flags(&self) -> u64 {
        self.flags
    }
}

/// What an exported tensor needs while others use it.
struct Exported {
    _keep: Tensor,
    shape: Vec<i64>,
    strides: Vec<i64>,
}

/// Frees what [`export`] made.
unsafe extern "C" fn delete<F: Form>(managed: *mut F) {
    // SAFETY: `export` made both boxes and gave this function for this pointer alone; DLPack says
    // that it is called once.
    unsafe {
        let managed = Box::from_raw(managed);
        drop(Box::from_raw(managed.context().cast::<Exported>()));
    }
}

/// Frees a capsule's tensor if nobody took it out.
unsafe extern "C" fn destroy<F: Form>(capsule: *mut ffi::PyObject) {
    // SAFETY: CPython calls this once, with the interpreter held and the capsule that `export` made.
    // Under its first name it still owns the managed tensor.
    unsafe {
        Python::attach_unchecked(|_| {
            if ffi::PyCapsule_IsValid(capsule, F::NAME.as_ptr()) == 1 {
                let managed = ffi::PyCapsule_GetPointer(capsule, F::NAME.as_ptr()).cast::<F>();
                if let Some(deleter) = (*managed).deleter() {
                    deleter(managed);
                }
            }
        });
    }
}

/// DLPack's code and bits of a dtype.
fn code(dtype: DType) -> (u8, u8) {
    let code = match dtype {
        DType::Bool => 6,
        DType::BF16 => 4,
        d if d.is_complex() => 5,
        d if d.is_float() => 2,
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => 1,
        _ => 0,
    };
    (code, (dtype.size() * 8) as u8)
}

/// A capsule with the tensor.
fn export<'py, F: Form>(py: Python<'py>, t: Tensor, flags: u64) -> PyResult<Bound<'py, PyCapsule>> {
    let data = crate::storage::lend(&t).map_err(|e| PyBufferError::new_err(format!("__dlpack__: {e}")))?;
    let (code, bits) = code(t.dtype());
    let flags = flags | if t.storage().is_readonly() { READ_ONLY } else { 0 };
    let shape = t.shape().iter().map(|n| *n as i64).collect();
    let strides = t.strides().iter().map(|n| *n as i64).collect();
    let mut exported = Box::new(Exported { _keep: t, shape, strides });
    let tensor = DlTensor {
        data: data as *mut c_void,
        device_type: CPU,
        device_id: 0,
        ndim: exported.shape.len() as i32,
        code,
        bits,
        lanes: 1,
        shape: exported.shape.as_mut_ptr(),
        strides: exported.strides.as_mut_ptr(),
        byte_offset: 0,
    };
    let managed = Box::new(F::new(tensor, Box::into_raw(exported).cast(), flags));
    let at = NonNull::from(Box::leak(managed));
    // SAFETY: `destroy` is for capsules of this form and runs with the interpreter held; the managed
    // tensor owns all that it points to.
    let made =
        unsafe { PyCapsule::new_with_pointer_and_destructor(py, at.cast(), F::NAME, Some(destroy::<F>)) };
    if made.is_err() {
        // SAFETY: no capsule was made that would free it.
        unsafe { delete(at.as_ptr()) };
    }
    made
}

#[pymethods]
impl PyTensor {
    /// The tensor as a DLPack capsule over the same memory, for `from_dlpack` of any library. With
    /// `max_version` of (1, 0) and up it is one of the form that knows read-only and copied memory.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        slf: &Bound<'py, Self>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(i64, i64)>,
        dl_device: Option<(Bound<'py, PyAny>, i64)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let (py, mut t) = (slf.py(), slf.get().get(slf.py()));
        if let Some(s) = stream {
            if !s.is_instance_of::<PyInt>() || s.is_instance_of::<PyBool>() {
                return Err(PyTypeError::new_err("__dlpack__: stream must be an integer or None"));
            }
            if s.extract::<i64>().ok() != Some(-1) {
                return Err(PyAssertionError::new_err(
                    "__dlpack__: the cpu has no streams; stream must be None",
                ));
            }
        }
        if t.requires_grad() {
            return Err(PyBufferError::new_err(
                "__dlpack__: the tensor requires grad, which others cannot record; export t.detach()",
            ));
        }
        if !t.device().is_host() {
            let device = t.device();
            return Err(PyBufferError::new_err(format!(
                "__dlpack__: the tensor is on {device}, which others cannot reach; export t.cpu()"
            )));
        }
        if let Some((kind, id)) = dl_device
            && kind.call_method0(intern!(py, "__index__"))?.extract::<i64>()? != i64::from(CPU)
        {
            return Err(PyBufferError::new_err(format!(
                "__dlpack__: there is no way to the device ({kind}, {id}); only the cpu, (1, 0)"
            )));
        }
        let mut flags = 0;
        if copy == Some(true) {
            (t, flags) = (crate::gate::run(py, t.numel(), || t.copy())?, IS_COPIED);
        }
        match max_version {
            Some((major, _)) if major >= 1 => export::<Versioned>(py, t, flags),
            _ => export::<Managed>(py, t, flags),
        }
    }

    /// Kind and number of the device that DLPack will find the tensor on: (1, 0), the cpu.
    fn __dlpack_device__(slf: &Bound<'_, Self>) -> PyResult<(i32, i32)> {
        match slf.get().get(slf.py()).device() {
            d if d.is_host() => Ok((CPU, 0)),
            d => Err(PyValueError::new_err(format!("__dlpack_device__: DLPack has no number for {d}"))),
        }
    }
}

/// A managed tensor of another library, freed with the storage over it.
struct Taken<F: Form>(NonNull<F>);

// SAFETY: DLPack lets the deleter be called on any thread; nothing else is done with the pointer.
unsafe impl<F: Form> Send for Taken<F> {}
// SAFETY: as above; a shared reference gives out nothing.
unsafe impl<F: Form> Sync for Taken<F> {}

impl<F: Form> Drop for Taken<F> {
    fn drop(&mut self) {
        let managed = self.0.as_ptr();
        // Producers written for Python may count on the interpreter being held.
        Python::try_attach(|_| {
            // SAFETY: this is the one owner since the capsule was renamed, and drops once.
            unsafe {
                if let Some(deleter) = (*managed).deleter() {
                    deleter(managed);
                }
            }
        });
    }
}

/// Takes the tensor out of a capsule of this form; `None` when it is of another.
fn take<F: Form>(capsule: &Bound<'_, PyCapsule>) -> PyResult<Option<(Tensor, u64)>> {
    let py = capsule.py();
    // SAFETY: the capsule is one, and the names live forever. A capsule under the form's first name
    // carries a managed tensor of that form, as DLPack says, that nobody has taken; renaming it
    // makes it ours to free.
    let taken = unsafe {
        if ffi::PyCapsule_IsValid(capsule.as_ptr(), F::NAME.as_ptr()) != 1 {
            return Ok(None);
        }
        let pointer = ffi::PyCapsule_GetPointer(capsule.as_ptr(), F::NAME.as_ptr());
        let Some(managed) = NonNull::new(pointer.cast::<F>()) else { return Ok(None) };
        if F::NAME == Versioned::NAME && (*managed.as_ptr().cast::<Versioned>()).major > 1 {
            return Err(PyBufferError::new_err("from_dlpack: the capsule is of a later version than 1"));
        }
        if ffi::PyCapsule_SetName(capsule.as_ptr(), F::USED.as_ptr()) != 0 {
            return Err(PyErr::fetch(py));
        }
        Taken(managed)
    };
    // SAFETY: `taken` keeps the managed tensor alive and unchanged.
    let (dl, flags) = unsafe { (taken.0.as_ref().tensor(), taken.0.as_ref().flags()) };
    if dl.device_type != CPU {
        return Err(PyBufferError::new_err(format!(
            "from_dlpack: the tensor is on device ({}, {}), whose memory the cpu cannot reach",
            dl.device_type, dl.device_id
        )));
    }
    let dtype = DType::ALL.iter().find(|d| code(**d) == (dl.code, dl.bits) && dl.lanes == 1);
    let Some(dtype) = dtype.copied() else {
        return Err(PyBufferError::new_err(format!(
            "from_dlpack: no dtype holds elements of code {}, {} bits and {} lanes",
            dl.code, dl.bits, dl.lanes
        )));
    };
    let layout = layout(dl)?;
    let bytes = layout.storage_elements().checked_mul(dtype.size());
    let start = dl.data.addr().checked_add(usize::try_from(dl.byte_offset).unwrap_or(usize::MAX));
    let (Some(bytes), Some(start)) = (bytes, start) else {
        return Err(PyRuntimeError::new_err("from_dlpack: the tensor reaches past any memory"));
    };
    if bytes > 0 && dl.data.is_null() {
        return Err(PyRuntimeError::new_err(format!(
            "from_dlpack: the capsule has no memory for shape {:?}",
            layout.shape()
        )));
    }
    let readonly = flags & READ_ONLY != 0;
    // SAFETY: the producer promises, by DLPack, that elements of this shape and these strides lie from
    // `data + byte_offset` on until the deleter is called, which `taken` does when the storage goes.
    let storage =
        unsafe { Storage::from_foreign(start as *mut u8, bytes, readonly, Box::new(taken), "dlpack") };
    Tensor::from_storage(storage, layout, dtype).map(|t| Some((t, flags))).map_err(|e| raise(py, e))
}

/// Shape and strides of a foreign tensor, checked.
fn layout(dl: &DlTensor) -> PyResult<Layout> {
    let rank = match usize::try_from(dl.ndim) {
        Ok(n) if n <= 64 && (n == 0 || !dl.shape.is_null()) => n,
        _ => {
            return Err(PyRuntimeError::new_err(format!(
                "from_dlpack: {} is no number of dimensions",
                dl.ndim
            )));
        }
    };
    let list = |p: *mut i64| match rank {
        0 => Vec::new(),
        // SAFETY: DLPack promises `ndim` numbers behind each pointer that is not null, as the callers saw.
        n => unsafe { std::slice::from_raw_parts(p, n) }.to_vec(),
    };
    let wrong = |what, list: &[i64]| {
        PyRuntimeError::new_err(format!(
            "from_dlpack: {what} {list:?} has a negative number, which tensors cannot have"
        ))
    };
    let sizes = list(dl.shape);
    let shape: Option<Shape> = sizes.iter().map(|n| usize::try_from(*n).ok()).collect();
    let shape = shape.ok_or_else(|| wrong("shape", &sizes))?;
    let made = if dl.strides.is_null() {
        Layout::contiguous(shape)
    } else {
        let mut steps: Strides = list(dl.strides).into_iter().map(|s| s as isize).collect();
        let empty = shape.contains(&0);
        for d in (0..rank).rev().filter(|d| empty || shape[*d] == 1) {
            // Nothing walks there, so that a negative stride says nothing; it becomes that of dense memory.
            if steps[d] < 0 {
                steps[d] = match d + 1 {
                    next if next < rank => steps[next].saturating_mul(shape[next].max(1) as isize),
                    _ => 1,
                };
            }
        }
        if steps.iter().any(|s| *s < 0) {
            return Err(wrong("the list of strides", &list(dl.strides)));
        }
        Layout::new(shape, steps, 0)
    };
    made.map_err(|e| PyRuntimeError::new_err(e.to_string()))
}

/// The tensor of a capsule, or of an object that exports one; to `device` and with `copy` as there.
pub fn import(x: &Bound<'_, PyAny>, device: Option<Device>, copy: Option<bool>) -> PyResult<Tensor> {
    let py = x.py();
    if let Ok(capsule) = x.cast::<PyCapsule>() {
        let taken = match take::<Versioned>(capsule)? {
            None => take::<Managed>(capsule)?,
            some => some,
        };
        let Some((t, flags)) = taken else {
            return Err(PyRuntimeError::new_err(
                "from_dlpack: this capsule carries no tensor, or it was taken out already: a capsule is good once",
            ));
        };
        return match copy {
            Some(true) if flags & IS_COPIED == 0 => crate::gate::run(py, t.numel(), || t.copy()),
            _ => Ok(t),
        };
    }
    if !x.hasattr(intern!(py, "__dlpack__"))? {
        return Err(PyRuntimeError::new_err(format!(
            "from_dlpack: takes a DLPack capsule, or an object with __dlpack__, not {}",
            x.get_type().name()?
        )));
    }
    if let Some(d) = device.filter(|d| d.kind != DeviceKind::Cpu) {
        return Err(PyBufferError::new_err(format!(
            "from_dlpack: memory of others cannot be taken to {d}; use .to()"
        )));
    }
    crate::numpy::check_array(x)?;
    let capsule = ask(x, device, copy)?;
    let capsule: &Bound<'_, PyCapsule> = capsule
        .cast()
        .map_err(|_| PyTypeError::new_err("from_dlpack: __dlpack__ gave something that is no capsule"))?;
    // A producer that has no `copy` has not copied.
    import(capsule.as_any(), None, copy)
}

/// Asks the producer, first in the words of DLPack 1.0 and then in the old ones.
fn ask<'py>(
    x: &Bound<'py, PyAny>,
    device: Option<Device>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let name = intern!(py, "__dlpack__");
    let options = PyDict::new(py);
    options.set_item("max_version", (1, 0))?;
    if device.is_some() {
        options.set_item("dl_device", (CPU, 0))?;
    }
    if copy.is_some() {
        options.set_item("copy", copy)?;
    }
    match x.call_method(name, (), Some(&options)) {
        Err(e) if e.is_instance_of::<PyTypeError>(py) => {}
        // NumPy may not know of a copy that it is asked for, and says so.
        Err(e) if e.is_instance_of::<PyNotImplementedError>(py) => {}
        asked => return asked,
    }
    if copy == Some(false) {
        return Err(PyValueError::new_err(
            "from_dlpack: this producer does not say whether it copies; leave copy=False out",
        ));
    }
    x.call_method0(name)
}

/// A tensor over the memory of a DLPack capsule or of an object with `__dlpack__`.
#[pyfunction]
#[pyo3(signature = (ext_tensor, *, device=None, copy=None))]
fn from_dlpack(
    ext_tensor: &Bound<'_, PyAny>,
    device: Option<&Bound<'_, PyAny>>,
    copy: Option<bool>,
) -> PyResult<Py<PyAny>> {
    let device = match device {
        None => None,
        Some(d) => match as_device(d)? {
            Some(d) => Some(d),
            None => return Err(PyTypeError::new_err("from_dlpack: device must be a name or a device")),
        },
    };
    wrap(ext_tensor.py(), import(ext_tensor, device, copy)?)
}

/// The tensor as a DLPack capsule, of the old form.
#[pyfunction]
fn to_dlpack<'py>(tensor: &Bound<'py, PyTensor>) -> PyResult<Bound<'py, PyCapsule>> {
    PyTensor::__dlpack__(tensor, None, None, None, None)
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(from_dlpack, m)?)?;
    m.add_function(wrap_pyfunction!(to_dlpack, m)?)
}
