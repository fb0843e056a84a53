//! `rushlight.Generator`.

use pyo3::prelude::*;
use rushlight::random::{Generator, default_generator};

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
    fn manual_seed<'py>(slf: &Bound<'py, Self>, seed: i64) -> Bound<'py, Self> {
        slf.get().0.manual_seed(seed as u64);
        slf.clone()
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
