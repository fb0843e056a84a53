//! `rushlight.Generator`.

use crate::gate::raise;
use crate::object::{tensor_of, wrap};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use rushlight::random::{Generator, default_generator};
use rushlight::{DType, Tensor};

/// A source of random numbers that can be seeded.
#[pyclass(name = "Generator", module = "rushlight", frozen)]
pub struct PyGenerator(Generator);

#[pymethods]
impl PyGenerator {
    #[new]
    #[pyo3(signature = (device=None))]
    fn new(device: Option<&Bound<'_, PyAny>>) -> PyResult<PyGenerator> {
        if let Some(d) = device {
            crate::dtype::as_device(d)?;
        }
        Ok(PyGenerator(Generator::new(default_generator().initial_seed())))
    }
    /// Starts anew from `seed`; a negative one counts as its two's complement.
    fn manual_seed<'py>(slf: &Bound<'py, Self>, seed: &Bound<'_, PyAny>) -> PyResult<Bound<'py, Self>> {
        let seed = seed.extract::<i64>().map(|s| s as u64).or_else(|_| seed.extract::<u64>());
        slf.get().0.manual_seed(seed.map_err(|e| match e.is_instance_of::<PyTypeError>(slf.py()) {
            true => e,
            false => PyRuntimeError::new_err("manual_seed: the seed must fit into 64 bits"),
        })?);
        Ok(slf.clone())
    }
    /// Starts anew from a seed that nobody chose, and gives it.
    fn seed(&self) -> u64 {
        self.0.seed()
    }
    /// Where the stream is, as a tensor of bytes.
    fn get_state(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let bytes = self.0.state();
        let t = Tensor::from_vec(bytes.to_vec(), [bytes.len()]).map_err(|e| raise(py, e))?;
        wrap(py, t)
    }
    /// Goes to where a stream was when `get_state` gave this tensor.
    fn set_state<'py>(slf: &Bound<'py, Self>, new_state: &Bound<'_, PyAny>) -> PyResult<Bound<'py, Self>> {
        let py = slf.py();
        let bytes = tensor_of(new_state).filter(|t| t.dtype() == DType::U8);
        let bytes = bytes
            .ok_or_else(|| PyTypeError::new_err("set_state: takes a tensor of uint8, from get_state()"))?;
        let bytes = bytes.to_vec::<u8>().map_err(|e| raise(py, e))?;
        slf.get().0.set_state(&bytes).map_err(|e| raise(py, e))?;
        Ok(slf.clone())
    }
    /// Another generator at the same place.
    fn clone_state(&self, py: Python<'_>) -> PyResult<PyGenerator> {
        let other = Generator::new(0);
        other.set_state(&self.0.state()).map_err(|e| raise(py, e))?;
        Ok(PyGenerator(other))
    }
    fn initial_seed(&self) -> u64 {
        self.0.initial_seed()
    }
    #[getter]
    fn device(&self) -> crate::dtype::PyDevice {
        crate::dtype::PyDevice::of(rushlight::Device::CPU)
    }
}

/// A generator object's generator.
pub fn as_generator(x: &Bound<'_, PyAny>) -> Option<Generator> {
    x.cast::<PyGenerator>().ok().map(|g| g.get().0.clone())
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyGenerator>()?;
    m.add("default_generator", Py::new(m.py(), PyGenerator(default_generator().clone()))?)
}
