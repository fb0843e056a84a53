//! `UntypedStorage`: the bytes under tensors, as an object; and tensors over given storages.
//!
//! A storage has one object as long as somebody holds it, so that `is` and pickles see what is shared.

use crate::dtype::{PyDType, PyDevice};
use crate::gate::raise;
use crate::number::{int, int_list};
use crate::object::{PyTensor, wrap};
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PySlice, PyTuple};
use rushlight::mem::{Storage, with_bytes, with_bytes_mut};
use rushlight::{DType, Device, Layout, Tensor};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// The bytes that tensors share.
#[pyclass(name = "UntypedStorage", module = "rushlight", weakref, frozen)]
pub struct PyStorage(pub Storage);

/// Where the object of a storage is. Only looked at by the thread that holds the interpreter.
static OBJECTS: LazyLock<Mutex<HashMap<usize, usize>>> = LazyLock::new(Mutex::default);

fn objects() -> MutexGuard<'static, HashMap<usize, usize>> {
    OBJECTS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for PyStorage {
    fn drop(&mut self) {
        // Should another object have come in its place, that one is merely forgotten.
        objects().remove(&self.0.id());
    }
}

/// The object of a storage: the one it has, or a new one.
pub fn object<'py>(py: Python<'py>, storage: &Storage) -> PyResult<Bound<'py, PyStorage>> {
    let known = objects().get(&storage.id()).copied();
    if let Some(address) = known {
        // SAFETY: an object leaves the table before its memory goes.
        if let Some(found) = unsafe { crate::object::alive(py, address) } {
            return Ok(found.cast_into::<PyStorage>()?);
        }
    }
    let new = Bound::new(py, PyStorage(storage.clone()))?;
    objects().insert(storage.id(), new.as_ptr().addr());
    Ok(new)
}

/// The storage of an object, which stays its object though a program made it.
fn known(object: &Bound<'_, PyStorage>) -> Storage {
    let storage = object.get().0.clone();
    objects().entry(storage.id()).or_insert(object.as_ptr().addr());
    storage
}

/// A storage, and the dtype of a typed one.
pub fn storage_of(x: &Bound<'_, PyAny>) -> PyResult<Option<(Storage, Option<DType>)>> {
    if let Ok(s) = x.cast::<PyStorage>() {
        return Ok(Some((known(s), None)));
    }
    let Ok(inner) = x.getattr(intern!(x.py(), "_untyped_storage")) else { return Ok(None) };
    let Ok(s) = inner.cast::<PyStorage>() else { return Ok(None) };
    let dtype = x.getattr(intern!(x.py(), "dtype"))?;
    let dtype = dtype.cast::<PyDType>().ok().map(|d| d.get().0);
    Ok(Some((s.get().0.clone(), dtype)))
}

/// The address of a tensor's first element for others to keep: from now on the storage cannot be
/// resized. An error text when the tensor reaches past it.
pub fn lend(t: &Tensor) -> Result<usize, String> {
    let reach = t.layout().storage_elements().saturating_mul(t.element_size());
    if reach <= t.storage().nbytes() {
        t.storage().set_resizable(false);
        // Another thread may have been quicker; now nobody can be.
        if reach <= t.storage().nbytes() {
            return Ok(t.data_ptr());
        }
    }
    let (shape, bytes) = (t.shape(), t.storage().nbytes());
    Err(format!("shape {shape:?} reaches past the storage, which was resized to {bytes} bytes"))
}

/// All bytes as numbers.
fn bytes_of(storage: &Storage) -> rushlight::Result<Tensor> {
    Tensor::from_storage(storage.clone(), Layout::contiguous(&[storage.nbytes()][..])?, DType::U8)
}

fn byte(value: &Bound<'_, PyAny>) -> PyResult<u8> {
    match int(value)? {
        Some(i) => Ok(i as u8), // wraps, as a cast to uint8 does
        None => Err(PyTypeError::new_err(format!(
            "UntypedStorage: a byte is an integer, not {}",
            value.get_type().name()?
        ))),
    }
}

impl PyStorage {
    fn fail(op: &str, what: impl std::fmt::Display) -> PyErr {
        PyRuntimeError::new_err(format!("{op}: {what}"))
    }

    /// First byte and one past the last of what a key means, and whether it is a slice.
    fn range(&self, key: &Bound<'_, PyAny>) -> PyResult<(usize, usize, bool)> {
        let n = self.0.nbytes();
        if let Ok(slice) = key.cast::<PySlice>() {
            let part = slice.indices(n as isize)?;
            if part.step != 1 {
                return Err(Self::fail(
                    "UntypedStorage",
                    format!("a slice has steps of 1, not {}", part.step),
                ));
            }
            let (start, stop) = (part.start.unsigned_abs(), part.stop.unsigned_abs());
            return Ok((start, stop.max(start), true));
        }
        let Some(i) = int(key)? else {
            return Err(PyTypeError::new_err(format!(
                "UntypedStorage: a {} is no index; use an integer or a slice",
                key.get_type().name()?
            )));
        };
        let at = if i < 0 { i + n as i64 } else { i };
        match usize::try_from(at) {
            Ok(at) if at < n => Ok((at, at + 1, false)),
            _ => Err(PyIndexError::new_err(format!("UntypedStorage: {i} is out of range for {n} bytes"))),
        }
    }
}

#[pymethods]
impl PyStorage {
    /// So many bytes, of any content, or those of a sequence; none without arguments.
    #[new]
    #[pyo3(signature = (*args, device=None))]
    fn new(args: &Bound<'_, PyTuple>, device: Option<&Bound<'_, PyAny>>) -> PyResult<PyStorage> {
        let py = args.py();
        let device = crate::data::device_argument(device)?.unwrap_or(Device::CPU);
        let first = args.get_item(0).ok();
        if args.len() > 1 {
            return Err(PyTypeError::new_err("UntypedStorage: takes a size or a sequence of bytes"));
        }
        let list = match &first {
            None => Vec::new(),
            Some(x) => match int(x)? {
                Some(n) if n < 0 => return Err(Self::fail("UntypedStorage", format!("{n} is no size"))),
                Some(n) if device == Device::META => return Ok(PyStorage(Storage::meta(n as usize))),
                Some(n) => {
                    let made = Storage::heap(n as usize, device);
                    return made.map(PyStorage).map_err(|e| raise(py, e));
                }
                None => match int_list(x)? {
                    Some(l) => l.iter().map(|i| *i as u8).collect(),
                    None => match x.cast::<PyBytes>() {
                        Ok(b) => b.as_bytes().to_vec(),
                        Err(_) => {
                            let kind = x.get_type().name()?.to_string();
                            return Err(Self::fail(
                                "UntypedStorage",
                                format!("a {kind} is no sequence of bytes"),
                            ));
                        }
                    },
                },
            },
        };
        let storage = Storage::heap(list.len(), device).map_err(|e| raise(py, e))?;
        with_bytes_mut("UntypedStorage", &storage, |b| b.copy_from_slice(&list)).map_err(|e| raise(py, e))?;
        Ok(PyStorage(storage))
    }
    fn nbytes(&self) -> usize {
        self.0.nbytes()
    }
    fn size(&self) -> usize {
        self.0.nbytes()
    }
    fn __len__(&self) -> usize {
        self.0.nbytes()
    }
    fn element_size(&self) -> usize {
        1
    }
    fn data_ptr(&self) -> usize {
        self.0.data_ptr()
    }
    /// Whether `resize_` is allowed: memory of others, and memory lent to others, keeps its size.
    fn resizable(&self) -> bool {
        self.0.is_resizable()
    }
    /// Changes the length; bytes that both lengths have stay, new ones are zero.
    fn resize_<'py>(slf: &Bound<'py, Self>, size: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let bytes = match int(size)? {
            Some(n) => usize::try_from(n).map_err(|_| Self::fail("resize_", format!("{n} is no size")))?,
            None => return Err(Self::fail("resize_", format!("a {} is no size", size.get_type().name()?))),
        };
        slf.get().0.resize(bytes).map_err(|e| raise(slf.py(), e))?;
        Ok(slf.clone())
    }
    #[getter]
    fn device(&self) -> PyDevice {
        PyDevice::of(self.0.device())
    }
    #[getter]
    fn is_cuda(&self) -> bool {
        !matches!(self.0.device(), Device::META) && !self.0.device().is_host()
    }
    fn is_shared(&self) -> bool {
        false
    }
    fn is_pinned(&self) -> bool {
        false
    }
    fn untyped(slf: &Bound<'_, Self>) -> Py<Self> {
        slf.clone().unbind()
    }
    fn cpu(slf: &Bound<'_, Self>) -> Py<Self> {
        slf.clone().unbind()
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
        wrap(py, bytes_of(&self.0).map_err(|e| raise(py, e))?)
    }
    /// A byte, or a storage over part of the same memory.
    fn __getitem__(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let (py, this) = (slf.py(), &slf.get().0);
        let (start, stop, slice) = slf.get().range(key)?;
        if !slice {
            let read =
                with_bytes("UntypedStorage", this, |b| b.get(start).copied()).map_err(|e| raise(py, e))?;
            return match read {
                Some(b) => Ok(b.into_pyobject(py)?.into_any().unbind()),
                None => Err(PyIndexError::new_err("UntypedStorage: the index is out of range")),
            };
        }
        // The address is final once the whole cannot be resized.
        this.set_resizable(false);
        let (base, len) = (this.data_ptr(), this.nbytes());
        if base == 0 || stop > len {
            let empty = Storage::heap(0, Device::CPU).map_err(|e| raise(py, e))?;
            return Ok(object(py, &empty)?.into_any().unbind());
        }
        // SAFETY: the bytes from `start` to `stop` lie inside the whole, which stays where it is and
        // is held by the part.
        let part = unsafe {
            let ptr = (base + start) as *mut u8;
            Storage::from_foreign(ptr, stop - start, this.is_readonly(), Box::new(this.clone()), "part")
        };
        Ok(object(py, &part)?.into_any().unbind())
    }
    fn __setitem__(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let (start, stop, _) = slf.get().range(key)?;
        let value = byte(value)?;
        with_bytes_mut("UntypedStorage", &slf.get().0, |b| {
            if let Some(part) = b.get_mut(start..stop) {
                part.fill(value);
            }
        })
        .map_err(|e| raise(slf.py(), e))
    }
    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Ok(Self::_to_bytes(slf)?.as_any().try_iter()?.into_any())
    }
    fn tolist(slf: &Bound<'_, Self>) -> PyResult<Vec<u32>> {
        // Not u8, which Python would see as bytes.
        Ok(Self::_to_bytes(slf)?.as_bytes().iter().map(|b| u32::from(*b)).collect())
    }
    fn _to_bytes<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
        let py = slf.py();
        with_bytes("UntypedStorage", &slf.get().0, |b| PyBytes::new(py, b)).map_err(|e| raise(py, e))
    }
    fn fill_<'py>(slf: &Bound<'py, Self>, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let value = byte(value)?;
        with_bytes_mut("fill_", &slf.get().0, |b| b.fill(value)).map_err(|e| raise(slf.py(), e))?;
        Ok(slf.clone())
    }
    /// Takes over the bytes of `source`, which must have as many.
    #[pyo3(signature = (source, non_blocking=None))]
    fn copy_<'py>(
        slf: &Bound<'py, Self>,
        source: &Bound<'py, PyAny>,
        non_blocking: Option<bool>,
    ) -> PyResult<Bound<'py, Self>> {
        let _ = non_blocking;
        let (py, this) = (slf.py(), &slf.get().0);
        let Some((source, _)) = storage_of(source)? else {
            return Err(PyTypeError::new_err("copy_: takes a storage"));
        };
        if source.nbytes() != this.nbytes() {
            let what = format!("the source has {} bytes, the storage {}", source.nbytes(), this.nbytes());
            return Err(Self::fail("copy_", what));
        }
        let done = (|| {
            let bytes = with_bytes("copy_", &source, <[u8]>::to_vec)?;
            with_bytes_mut("copy_", this, |b| b.iter_mut().zip(&bytes).for_each(|(to, from)| *to = *from))
        })();
        done.map_err(|e| raise(py, e))?;
        Ok(slf.clone())
    }
    #[pyo3(name = "clone")]
    fn copy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        let (py, this) = (slf.py(), &slf.get().0);
        let made = match this.device() {
            Device::META => Ok(Storage::meta(this.nbytes())),
            _ => with_bytes("clone", this, <[u8]>::to_vec).and_then(|bytes| {
                let new = Storage::heap(bytes.len(), Device::CPU)?;
                with_bytes_mut("clone", &new, |b| b.copy_from_slice(&bytes))?;
                Ok(new)
            }),
        };
        object(py, &made.map_err(|e| raise(py, e))?)
    }
    fn __copy__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        Self::copy(slf)
    }
    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, memo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let key = slf.as_ptr().addr();
        if let Ok(known) = memo.get_item(key) {
            return Ok(known);
        }
        let new = Self::copy(slf)?;
        memo.set_item(key, &new)?;
        Ok(new.into_any())
    }
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let class = py.get_type::<PyStorage>().into_any();
        if slf.get().0.device() == Device::META {
            let build = py.import("rushlight.storage")?.getattr("_meta")?;
            return Ok((build, PyTuple::new(py, [slf.get().0.nbytes()])?));
        }
        Ok((class, PyTuple::new(py, [Self::_to_bytes(slf)?])?))
    }
    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let s = &slf.get().0;
        let text = match s.device() {
            Device::META => "...".to_string(),
            _ => Self::_to_bytes(slf)?.as_bytes().iter().map(u8::to_string).collect::<Vec<_>>().join("\n "),
        };
        Ok(format!(" {text}\n[torch.storage.UntypedStorage(device={}) of size {}]", s.device(), s.nbytes()))
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
    /// The bytes underneath, shared with every view.
    fn untyped_storage<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyStorage>> {
        object(slf.py(), slf.get().get(slf.py()).storage())
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
    dtype: &Bound<'_, PyDType>,
) -> PyResult<Py<PyAny>> {
    if let Some(s) = stride.iter().find(|s| **s < 0) {
        return Err(PyRuntimeError::new_err(format!(
            "from_storage: a tensor has no negative stride, such as {s}"
        )));
    }
    let made = Layout::new(size.as_slice(), stride.as_slice(), offset)
        .and_then(|l| Tensor::from_storage(known(storage), l, dtype.get().0));
    wrap(py, made.map_err(|e| raise(py, e))?)
}

/// A storage that has a length and no memory.
#[pyfunction]
fn _meta_storage(nbytes: usize) -> PyStorage {
    PyStorage(Storage::meta(nbytes))
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyStorage>()?;
    m.add_function(wrap_pyfunction!(_from_storage, m)?)?;
    m.add_function(wrap_pyfunction!(_meta_storage, m)?)
}
