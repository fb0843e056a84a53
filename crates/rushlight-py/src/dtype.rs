//! `rushlight.dtype` and `rushlight.device`.

use crate::gate::raise;
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyString, PyTuple, PyType};
use rushlight::{DType, Device, DeviceKind};

/// The type of a tensor's elements; one object each.
#[pyclass(name = "dtype", module = "rushlight", frozen)]
pub struct PyDType(pub DType);

static DTYPES: PyOnceLock<Vec<Py<PyDType>>> = PyOnceLock::new();

/// The one object of a dtype.
pub fn dtype_object(py: Python<'_>, d: DType) -> PyResult<Py<PyDType>> {
    let all = DTYPES.get_or_try_init(py, || {
        DType::ALL.iter().map(|d| Py::new(py, PyDType(*d))).collect::<PyResult<Vec<_>>>()
    })?;
    Ok(all[d as usize].clone_ref(py))
}

#[pymethods]
impl PyDType {
    #[getter]
    fn itemsize(&self) -> usize {
        self.0.size()
    }
    #[getter]
    fn is_floating_point(&self) -> bool {
        self.0.is_float()
    }
    #[getter]
    fn is_complex(&self) -> bool {
        self.0.is_complex()
    }
    #[getter]
    fn is_signed(&self) -> bool {
        !(self.0 == DType::Bool || self.0.is_unsigned())
    }
    fn to_real(&self, py: Python<'_>) -> PyResult<Py<Self>> {
        dtype_object(py, self.0.real())
    }
    fn to_complex(&self, py: Python<'_>) -> PyResult<Py<Self>> {
        dtype_object(py, if matches!(self.0, DType::F64 | DType::C128) { DType::C128 } else { DType::C64 })
    }
    fn __repr__(&self) -> String {
        format!("torch.{}", self.0.name())
    }
    fn __reduce__(&self) -> &'static str {
        self.0.name()
    }
}

/// A dtype, or the Python type that stands for one; `None` for anything else.
pub fn as_dtype(x: &Bound<'_, PyAny>) -> Option<DType> {
    if let Ok(d) = x.cast::<PyDType>() {
        return Some(d.get().0);
    }
    let class = x.cast::<PyType>().ok()?;
    let py = x.py();
    if class.is(py.get_type::<PyFloat>()) {
        Some(DType::F64)
    } else if class.is(py.get_type::<PyBool>()) {
        Some(DType::Bool)
    } else if class.is(py.get_type::<PyInt>()) {
        Some(DType::I64)
    } else if class.is(py.get_type::<PyComplex>()) {
        Some(DType::C128)
    } else {
        None
    }
}

/// Where a tensor's memory is.
#[pyclass(name = "device", module = "rushlight", frozen, from_py_object)]
#[derive(Clone, Copy)]
pub struct PyDevice {
    pub device: Device,
    indexed: bool,
}

impl PyDevice {
    pub fn of(device: Device) -> PyDevice {
        let indexed = !matches!(device.kind, DeviceKind::Cpu | DeviceKind::Meta | DeviceKind::Ref);
        PyDevice { device, indexed }
    }
    fn parse(py: Python<'_>, text: &str) -> PyResult<PyDevice> {
        let device = Device::parse(text).map_err(|e| raise(py, e))?;
        Ok(PyDevice { device, indexed: text.contains(':') })
    }
}

#[pymethods]
impl PyDevice {
    #[new]
    #[pyo3(signature = (r#type, index=None))]
    fn new(r#type: &Bound<'_, PyAny>, index: Option<u8>) -> PyResult<PyDevice> {
        let py = r#type.py();
        if let Ok(d) = r#type.cast::<PyDevice>() {
            return Ok(*d.get());
        }
        let text: &Bound<'_, PyString> = r#type.cast().map_err(|_| {
            PyTypeError::new_err("device: takes a name such as 'cpu' or 'cuda:1', or a device")
        })?;
        match index {
            Some(i) => PyDevice::parse(py, &format!("{}:{i}", text.to_str()?)),
            None => PyDevice::parse(py, text.to_str()?),
        }
    }
    #[getter]
    fn r#type(&self) -> &'static str {
        self.device.kind.name()
    }
    #[getter]
    fn index(&self) -> Option<u8> {
        self.indexed.then_some(self.device.index)
    }
    fn __str__(&self) -> String {
        match self.index() {
            Some(i) => format!("{}:{i}", self.r#type()),
            None => self.r#type().to_string(),
        }
    }
    fn __repr__(&self) -> String {
        match self.index() {
            Some(i) => format!("device(type='{}', index={i})", self.r#type()),
            None => format!("device(type='{}')", self.r#type()),
        }
    }
    fn __hash__(&self) -> u64 {
        self.device.kind as u64 * 1024 + u64::from(self.device.index) * 2 + u64::from(self.indexed)
    }
    fn __richcmp__(&self, other: &Bound<'_, PyAny>, op: CompareOp) -> Py<PyAny> {
        let py = other.py();
        let same = other.cast::<PyDevice>().ok().map(|o| {
            let o = o.get();
            o.device == self.device && o.indexed == self.indexed
        });
        let answer = match (same, op) {
            (Some(s), CompareOp::Eq) => s,
            (Some(s), CompareOp::Ne) => !s,
            _ => return py.NotImplemented(),
        };
        PyBool::new(py, answer).to_owned().into_any().unbind()
    }
    /// In a block, the device that new tensors are made on, which only the CPU can be.
    fn __enter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        match slf.get().device.kind {
            DeviceKind::Cpu => Ok(slf.clone()),
            other => Err(PyRuntimeError::new_err(format!(
                "device: {} cannot be the default of a block; pass device= where a tensor is made",
                other.name()
            ))),
        }
    }
    #[pyo3(signature = (*_exc))]
    fn __exit__(&self, _exc: &Bound<'_, PyTuple>) {}
    fn __reduce__(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, (String,))> {
        Ok((py.get_type::<PyDevice>().into_any().unbind(), (self.__str__(),)))
    }
}

/// A device, or text that names one; `None` for anything else.
pub fn as_device(x: &Bound<'_, PyAny>) -> PyResult<Option<Device>> {
    if let Ok(d) = x.cast::<PyDevice>() {
        return Ok(Some(d.get().device));
    }
    match x.cast::<PyString>() {
        Ok(text) => PyDevice::parse(x.py(), text.to_str()?).map(|d| Some(d.device)),
        Err(_) => Ok(None),
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyDType>()?;
    m.add_class::<PyDevice>()?;
    for d in DType::ALL {
        m.add(d.name(), dtype_object(m.py(), *d)?)?;
    }
    Ok(())
}
