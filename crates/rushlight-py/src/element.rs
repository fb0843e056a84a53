//! A tensor of one element as one of Python's numbers, and what asks a tensor as a container.

use crate::args::operand;
use crate::gate::{raise, run};
use crate::number::to_python;
use crate::object::{PyTensor, wrap};
use pyo3::exceptions::{PyOverflowError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyComplex;
use rushlight::{Number, Operand, Tensor};

/// The one element, for a conversion called `op`.
fn only(slf: &Bound<'_, PyTensor>, op: &str) -> PyResult<Number> {
    let (py, t) = (slf.py(), slf.get().get(slf.py()));
    if t.numel() != 1 {
        return Err(PyValueError::new_err(format!(
            "{op}: a tensor of shape {:?} has {} elements; only one element becomes a number",
            t.shape(),
            t.numel()
        )));
    }
    t.item().map_err(|e| raise(py, e))
}

/// The number without an imaginary part, which must be zero.
fn real(n: Number, op: &str) -> PyResult<Number> {
    match n {
        Number::Complex(re, 0.0) => Ok(Number::Float(re)),
        Number::Complex(re, im) => Err(PyRuntimeError::new_err(format!(
            "{op}: {re}{im:+}j has an imaginary part; use .real, or abs()"
        ))),
        n => Ok(n),
    }
}

#[pymethods]
impl PyTensor {
    fn __int__(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        match real(only(slf, "int")?, "int")? {
            Number::Float(f) if f.is_nan() => Err(PyValueError::new_err("int: NaN is no integer")),
            Number::Float(f) if f.is_infinite() => {
                Err(PyOverflowError::new_err("int: an infinite number is no integer"))
            }
            Number::Bool(b) => to_python(py, Number::Int(i64::from(b))),
            // Python's own conversion: a float may be larger than any machine integer.
            Number::Float(f) => Ok(f.into_pyobject(py)?.call_method0(intern!(py, "__int__"))?.unbind()),
            n => to_python(py, n),
        }
    }

    fn __float__(slf: &Bound<'_, Self>) -> PyResult<f64> {
        Ok(real(only(slf, "float")?, "float")?.to_f64())
    }

    fn __complex__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyComplex>> {
        let z = only(slf, "complex")?.to_complex();
        Ok(PyComplex::from_doubles(slf.py(), z.re, z.im))
    }

    fn __index__(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let (py, t) = (slf.py(), slf.get().get(slf.py()));
        if t.numel() != 1 || !t.dtype().is_integral() {
            return Err(PyTypeError::new_err(format!(
                "index: a {} tensor of {} elements is no index; one integer is",
                t.dtype(),
                t.numel()
            )));
        }
        let n = t.item().map_err(|e| raise(py, e))?;
        to_python(py, if let Number::Bool(b) = n { Number::Int(i64::from(b)) } else { n })
    }

    /// Whether some element equals `element`, a number or a tensor that broadcasts.
    fn __contains__(slf: &Bound<'_, Self>, element: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (py, t) = (slf.py(), slf.get().get(slf.py()));
        let Some(element) = operand(element)? else {
            return Err(PyRuntimeError::new_err(format!(
                "in: a tensor holds numbers; a {} cannot be one of them",
                element.get_type().name()?
            )));
        };
        run(py, t.numel(), || {
            let found = match element {
                Operand::Tensor(e) => t.eq(&e),
                Operand::Number(n) => t.eq(n),
            };
            Ok(found?.any(rushlight::Dims::All, false)?.item()?.to_bool())
        })
    }

    /// The tensor with its first dimension turned around: a copy.
    fn __reversed__(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let (py, t) = (slf.py(), slf.get().get(slf.py()));
        match t.dim() {
            0 => Ok(slf.clone().into_any().unbind()),
            _ => wrap(py, run(py, t.numel(), || t.flip(&[0][..]))?),
        }
    }

    /// A 0-d tensor is formatted as its number; others have no format but the plain one.
    fn __format__<'py>(
        slf: &Bound<'py, Self>,
        format_spec: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, t): (_, Tensor) = (slf.py(), slf.get().get(slf.py()));
        if t.dim() == 0 && t.device() != rushlight::Device::META {
            let number = to_python(py, t.item().map_err(|e| raise(py, e))?)?;
            return number.bind(py).call_method1(intern!(py, "__format__"), (format_spec,));
        }
        if !format_spec.is_truthy()? {
            return Ok(slf.as_any().str()?.into_any());
        }
        Err(PyTypeError::new_err(format!(
            "format: {format_spec} is for one number; a tensor of shape {:?} takes no format but ''",
            t.shape()
        )))
    }
}
