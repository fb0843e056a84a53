//! Memory shared with NumPy, by the array interface that both sides speak: no copy, no link to NumPy.

use crate::gate::{raise, run};
use crate::object::{PyTensor, tensor_of, wrap};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyUserWarning, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyDict, PyString, PyTuple, PyType};
use rushlight::mem::Storage;
use rushlight::{DType, Device, Layout, Shape, Strides, Tensor};
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What is asked of NumPy's class, past anything a class derived from it says.
struct Numpy {
    ndarray: Py<PyType>,
    face: Py<PyAny>,
    base: Py<PyAny>,
    flags: Py<PyAny>,
}

/// NumPy, once the program has imported it: before that nothing is an array.
fn numpy(py: Python<'_>) -> PyResult<Option<&'static Numpy>> {
    static NUMPY: PyOnceLock<Numpy> = PyOnceLock::new();
    if let Some(known) = NUMPY.get(py) {
        return Ok(Some(known));
    }
    let modules = py.import("sys")?.getattr("modules")?;
    let Ok(ndarray) = modules.get_item("numpy").and_then(|n| n.getattr("ndarray")) else { return Ok(None) };
    let class: Bound<'_, PyType> = ndarray.cast_into()?;
    let found = Numpy {
        face: class.getattr("__array_struct__")?.unbind(),
        base: class.getattr("base")?.unbind(),
        flags: class.getattr("flags")?.unbind(),
        ndarray: class.unbind(),
    };
    Ok(Some(NUMPY.get_or_init(py, || found)))
}

impl Numpy {
    fn is_array(&self, x: &Bound<'_, PyAny>) -> PyResult<bool> {
        x.is_instance(self.ndarray.bind(x.py()))
    }
    fn get<'py>(descriptor: &Py<PyAny>, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        descriptor.bind(x.py()).call_method1(intern!(x.py(), "__get__"), (x,))
    }
}

/// Whether it is a NumPy array; NumPy is not imported for that.
pub fn is_array(x: &Bound<'_, PyAny>) -> bool {
    numpy(x.py()).is_ok_and(|n| n.is_some_and(|n| n.is_array(x).unwrap_or(false)))
}

/// Keeps the array that lends memory.
struct Lender(#[allow(dead_code)] Py<PyAny>);

/// NumPy's `PyArrayInterface`, which it shows through `__array_struct__`.
#[repr(C)]
struct Interface {
    two: c_int,
    rank: c_int,
    kind: c_char,
    item: c_int,
    flags: c_int,
    shape: *const isize,
    strides: *const isize,
    data: *mut c_void,
}

const NATIVE: c_int = 0x200;
const WRITEABLE: c_int = 0x400;

/// What an array says about itself.
struct Face {
    address: usize,
    readonly: bool,
    native: bool,
    kind: char,
    /// Bytes of an element.
    item: usize,
    shape: Shape,
    /// In bytes.
    strides: Strides,
}

impl Face {
    fn of(numpy: &Numpy, x: &Bound<'_, PyAny>) -> PyResult<Face> {
        let capsule = Numpy::get(&numpy.face, x)?;
        let capsule: &Bound<'_, PyCapsule> = capsule.cast()?;
        let at = capsule.pointer_checked(None)?.cast::<Interface>();
        // SAFETY: NumPy's own attribute, not one of a derived class, gives a capsule of this struct,
        // good as long as the capsule; `two` says so again.
        let seen = unsafe { at.as_ref() };
        let (2, Ok(rank)) = (seen.two, usize::try_from(seen.rank)) else {
            return Err(PyTypeError::new_err(
                "from_numpy: this NumPy describes its arrays in an unknown way",
            ));
        };
        let list = |p: *const isize| match rank {
            0 => &[][..],
            // SAFETY: NumPy keeps `rank` numbers behind both pointers.
            n => unsafe { std::slice::from_raw_parts(p, n) },
        };
        Ok(Face {
            address: seen.data.addr(),
            readonly: seen.flags & WRITEABLE == 0,
            native: seen.flags & NATIVE != 0,
            kind: char::from(seen.kind.to_ne_bytes()[0]),
            item: usize::try_from(seen.item).unwrap_or(0),
            shape: list(seen.shape).iter().map(|n| n.unsigned_abs()).collect(),
            strides: list(seen.strides).iter().copied().collect(),
        })
    }

    fn dtype(&self) -> PyResult<DType> {
        let (kind, item) = (self.kind, self.item);
        // A name such as `<f4`: order, kind, bytes.
        let is = |name: &str| {
            let mut rest = name.chars();
            (rest.next(), rest.next()).1 == Some(kind) && rest.as_str().parse() == Ok(item)
        };
        match DType::ALL.iter().find(|d| d.npy_name().is_some_and(is)) {
            Some(d) if self.native => Ok(*d),
            Some(d) => Err(PyValueError::new_err(format!(
                "from_numpy: the array's {d} elements are not in this machine's byte order; convert them with \
                 array.astype(array.dtype.newbyteorder('='))"
            ))),
            None => Err(PyTypeError::new_err(format!(
                "from_numpy: no dtype holds elements of kind '{kind}' and {item} bytes; bool, integers of 8 to 64 \
                 bits, floats of 16 to 64 and complex numbers of 64 and 128 can be shared"
            ))),
        }
    }

    /// Strides in elements.
    fn strides(&self) -> PyResult<Strides> {
        let (item, list) = (self.item as isize, &self.strides);
        for s in list {
            if *s < 0 {
                return Err(PyValueError::new_err(format!(
                    "from_numpy: the array has strides of {list:?} bytes; tensors have no negative ones, so copy it \
                     with array.copy()"
                )));
            }
            if s % item != 0 {
                return Err(PyValueError::new_err(format!(
                    "from_numpy: strides of {list:?} bytes are no multiples of the element's {item}; copy the array \
                     with array.copy()"
                )));
            }
        }
        Ok(list.iter().map(|s| s / item).collect())
    }

    /// First byte and one past the last.
    fn extent(&self) -> Option<(i128, i128)> {
        if self.shape.contains(&0) {
            return None;
        }
        let (mut low, mut high) = (self.address as i128, self.address as i128);
        for (n, s) in self.shape.iter().zip(&self.strides) {
            let reach = (*n as i128 - 1) * *s as i128;
            if reach < 0 { low += reach } else { high += reach }
        }
        Some((low, high + self.item as i128))
    }
}

/// The array whose memory `x` looks at; `x` itself when it is no view of another.
fn root<'py>(numpy: &Numpy, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let (mut last, mut at) = (x.clone(), Numpy::get(&numpy.base, x)?);
    // Chains are short, as NumPy links a view to the root; classes of others may link in a circle.
    for _ in 0..64 {
        if at.is_none() {
            break;
        }
        if numpy.is_array(&at)? {
            (last, at) = (at.clone(), Numpy::get(&numpy.base, &at)?);
        } else if at.get_type().name()? == "DummyArray" {
            at = at.getattr(intern!(x.py(), "base"))?; // made by as_strided
        } else {
            break;
        }
    }
    Ok(last)
}

/// Refuses a view that reaches outside the array it is a view of, as `as_strided` can make.
fn check_reach(face: &Face, root: &Face) -> PyResult<()> {
    let (Some((low, high)), inside) = (face.extent(), root.extent()) else { return Ok(()) };
    match inside {
        Some((first, end)) if first <= low && high <= end => Ok(()),
        _ => Err(PyValueError::new_err(format!(
            "the array of shape {:?} with strides of {:?} bytes reaches outside the array it is a view of",
            face.shape, face.strides
        ))),
    }
}

/// Refuses an array that reaches outside its memory; for memory that comes another way than by
/// [`from_array`]. Whatever is no array passes.
pub fn check_array(x: &Bound<'_, PyAny>) -> PyResult<()> {
    match numpy(x.py())? {
        Some(numpy) if numpy.is_array(x)? => {
            let owner = root(numpy, x)?;
            if owner.is(x) { Ok(()) } else { check_reach(&Face::of(numpy, x)?, &Face::of(numpy, &owner)?) }
        }
        _ => Ok(()),
    }
}

/// A tensor over an array's memory; `None` for what is no array. Read-only arrays bring a warning
/// unless `quiet`, as where the data will be copied.
pub fn from_array(x: &Bound<'_, PyAny>, quiet: bool) -> PyResult<Option<Tensor>> {
    let py = x.py();
    let Some(numpy) = numpy(py)? else { return Ok(None) };
    if !numpy.is_array(x)? {
        return Ok(None);
    }
    let face = Face::of(numpy, x)?;
    let dtype = face.dtype()?;
    let strides = face.strides()?;
    let owner = root(numpy, x)?;
    if !owner.is(x) {
        check_reach(&face, &Face::of(numpy, &owner)?)?;
    }
    // NumPy's own memory can be written even where an array asks not to; that of a mapped file or of
    // bytes cannot.
    let locked = face.readonly && {
        let flags = Numpy::get(&numpy.flags, &owner)?;
        !flags.getattr(intern!(py, "owndata"))?.is_truthy()?
    };
    if face.readonly && !quiet {
        warn_readonly(py)?;
    }
    let made = (|| {
        let layout = Layout::new(face.shape.clone(), strides, 0)?;
        let Some(reach) = layout.storage_elements().checked_mul(dtype.size()) else {
            return Err(rushlight::err!(Runtime, "from_numpy", "the array reaches past any memory"));
        };
        let (ptr, lender) = (face.address as *mut u8, Box::new(Lender(x.clone().unbind())));
        // SAFETY: NumPy itself says, not a class derived from its array, that the array lies at that
        // address with that shape and these strides, all of it initialised; `check_reach` saw that a
        // view stays inside its root; the array is kept until the storage goes. Python code that
        // writes to it from another thread races as it does with NumPy alone.
        let storage = unsafe { Storage::from_foreign(ptr, reach, locked, lender, "numpy") };
        Tensor::from_storage(storage, layout, dtype)
    })();
    made.map(Some).map_err(|e| raise(py, e))
}

/// Says once that memory which asks not to be written is shared.
pub fn warn_readonly(py: Python<'_>) -> PyResult<()> {
    static WARNED: AtomicBool = AtomicBool::new(false);
    if WARNED.swap(true, Relaxed) {
        return Ok(());
    }
    let text =
        c"the memory is read-only and will be shared all the same: do not write to the tensor, or copy \
        the data first; this is said once";
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), text, 1)
}

/// The tensor that an array made by `numpy()` has for its base, and which NumPy asks for the memory.
#[pyclass(name = "_Lent", module = "rushlight._C", extends = PyTensor, frozen)]
struct Lent;

#[pymethods]
impl Lent {
    /// As any tensor: that it is the base of an array is nobody's business.
    fn __repr__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyString>> {
        let py = slf.py();
        match tensor_of(slf.as_any()).map(|t| t.detach()) {
            Some(plain) => wrap(py, plain.map_err(|e| raise(py, e))?)?.bind(py).repr(),
            None => slf.as_any().str(),
        }
    }
    #[getter]
    fn __array_interface__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let py = slf.py();
        let Some(t) = tensor_of(slf.as_any()) else {
            return Err(PyTypeError::new_err("numpy: not a tensor"));
        };
        let name = t.dtype().npy_name().ok_or_else(|| no_array(t.dtype()))?;
        // As NumPy itself has it, no elements have no steps.
        let size = if t.numel() == 0 { 0 } else { t.element_size() as isize };
        let address = crate::storage::lend(&t).map_err(|e| PyRuntimeError::new_err(format!("numpy: {e}")))?;
        // NumPy takes no null address, not even for no elements.
        let address = if t.numel() == 0 { 64 } else { address };
        let d = PyDict::new(py);
        d.set_item(intern!(py, "version"), 3)?;
        d.set_item(intern!(py, "typestr"), name)?;
        d.set_item(intern!(py, "shape"), PyTuple::new(py, t.shape())?)?;
        d.set_item(intern!(py, "strides"), PyTuple::new(py, t.strides().iter().map(|s| s * size))?)?;
        d.set_item(intern!(py, "data"), (address, t.storage().is_readonly()))?;
        Ok(d)
    }
}

fn no_array(dtype: DType) -> PyErr {
    PyTypeError::new_err(format!("numpy: NumPy has no {dtype}; convert it first, with .float()"))
}

/// An array over the tensor's memory.
fn to_array<'py>(py: Python<'py>, mut t: Tensor, force: bool) -> PyResult<Bound<'py, PyAny>> {
    static AS_ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if force {
        t = t.detach().and_then(|t| t.to_device(Device::CPU)).map_err(|e| raise(py, e))?;
    }
    if t.requires_grad() && rushlight::grad::is_grad_enabled() {
        return Err(PyRuntimeError::new_err(
            "numpy: the tensor requires grad, and NumPy cannot record; use t.detach().numpy()",
        ));
    }
    if !t.device().is_host() {
        let device = t.device();
        return Err(PyTypeError::new_err(format!(
            "numpy: the tensor is on {device}, whose memory NumPy cannot reach; use t.cpu().numpy()"
        )));
    }
    if t.dtype().npy_name().is_none() {
        return Err(no_array(t.dtype()));
    }
    let asarray = AS_ARRAY
        .get_or_try_init(py, || PyResult::Ok(py.import("numpy")?.getattr("asarray")?.unbind()))?
        .bind(py);
    let alias = t.detach().map_err(|e| raise(py, e))?;
    let lent = Py::new(py, PyClassInitializer::from(PyTensor::bare(alias)).add_subclass(Lent))?;
    asarray.call1((lent,))
}

#[pymethods]
impl PyTensor {
    /// An array over the same memory: writes on one side show on the other.
    #[pyo3(signature = (*, force=false))]
    fn numpy<'py>(slf: &Bound<'py, Self>, force: bool) -> PyResult<Bound<'py, PyAny>> {
        to_array(slf.py(), slf.get().get(slf.py()), force)
    }

    /// What NumPy asks for: an array over the same memory where dtype and `copy` allow.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let array = to_array(py, slf.get().get(py), false)?;
        let wanted = match dtype {
            Some(d) if !d.is_none() => d.clone(),
            _ if copy != Some(true) => return Ok(array),
            _ => array.getattr(intern!(py, "dtype"))?,
        };
        let same = array.getattr(intern!(py, "dtype"))?.eq(&wanted)?;
        if copy == Some(false) && !same {
            return Err(PyValueError::new_err(format!(
                "numpy: {} cannot become {wanted} without a copy",
                slf.get().get(py).dtype()
            )));
        }
        let options = PyDict::new(py);
        options.set_item("copy", copy == Some(true))?;
        array.call_method("astype", (wanted,), Some(&options))
    }

    #[classattr]
    fn __array_priority__() -> i32 {
        1000
    }

    /// What a NumPy function made of this tensor, as a tensor again.
    #[pyo3(signature = (array, _context=None, _return_scalar=false))]
    fn __array_wrap__(
        slf: &Bound<'_, Self>,
        array: &Bound<'_, PyAny>,
        _context: Option<&Bound<'_, PyAny>>,
        _return_scalar: bool,
    ) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        let array = match is_array(array) {
            true => array.clone(),
            false => py.import("numpy")?.call_method1("asarray", (array,))?,
        };
        let Some(t) = from_array(&array, false)? else {
            return Err(PyTypeError::new_err("__array_wrap__: takes a NumPy array"));
        };
        // torch, older than NumPy's bool of today, answers with bytes here.
        wrap(py, if t.dtype() == DType::Bool { run(py, t.numel(), || t.to_dtype(DType::U8))? } else { t })
    }
}

/// A tensor over an array's memory: nothing is copied, writes on one side show on the other.
#[pyfunction]
#[pyo3(signature = (ndarray, /))]
fn from_numpy(ndarray: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    match from_array(ndarray, false)? {
        Some(t) => wrap(ndarray.py(), t),
        None => Err(PyTypeError::new_err(format!(
            "from_numpy: takes a NumPy array, not {}",
            ndarray.get_type().name()?
        ))),
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(from_numpy, m)?)?;
    m.add_class::<Lent>()
}
