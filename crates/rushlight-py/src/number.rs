//! Python's numbers, NumPy's scalars and small lists of integers.

use crate::object::tensor_of;
use num_complex::Complex;
use pyo3::exceptions::{PyOverflowError, PyRuntimeError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyList, PyTuple};
use rushlight::Number;
use smallvec::SmallVec;

/// What a conversion found: the value, or that the object is of another kind.
pub type Maybe<T> = PyResult<Option<T>>;

/// A Python number, a NumPy scalar or a tensor of one element.
pub fn number(x: &Bound<'_, PyAny>) -> Maybe<Number> {
    if let Some(n) = plain_number(x)? {
        return Ok(Some(n));
    }
    match tensor_of(x) {
        Some(t) if t.numel() == 1 && !t.requires_grad() => {
            t.item().map(Some).map_err(|e| crate::gate::raise(x.py(), e))
        }
        _ => Ok(None),
    }
}

/// A Python number or a NumPy scalar.
pub fn plain_number(x: &Bound<'_, PyAny>) -> Maybe<Number> {
    if let Ok(f) = x.cast::<PyFloat>() {
        return Ok(Some(Number::Float(f.value())));
    }
    if let Ok(b) = x.cast::<PyBool>() {
        return Ok(Some(Number::Bool(b.is_true())));
    }
    if let Ok(i) = x.cast::<PyInt>() {
        return whole(i).map(Some);
    }
    if let Ok(c) = x.cast::<PyComplex>() {
        return Ok(Some(Number::from(Complex::new(c.real(), c.imag()))));
    }
    if is_numpy_scalar(x) {
        return plain_number(&x.call_method0(intern!(x.py(), "item"))?);
    }
    Ok(None)
}

fn whole(i: &Bound<'_, PyInt>) -> PyResult<Number> {
    if let Ok(v) = i.extract::<i64>() {
        return Ok(Number::Int(v));
    }
    match i.extract::<u64>() {
        Ok(v) => Ok(Number::UInt(v)),
        Err(_) => Err(PyOverflowError::new_err(format!("{i} does not fit into 64 bits"))),
    }
}

/// Whether it is one of NumPy's scalars; NumPy itself is not imported for that.
pub fn is_numpy_scalar(x: &Bound<'_, PyAny>) -> bool {
    let class = x.get_type();
    let Ok(module) = class.getattr(intern!(x.py(), "__module__")) else { return false };
    module.extract::<&str>().is_ok_and(|m| m == "numpy")
        && class.hasattr(intern!(x.py(), "item")).unwrap_or(false)
        && !class.name().is_ok_and(|n| n == "ndarray")
}

/// An integer; bools are none. What has `__index__`, integer tensors of one element included.
pub fn int(x: &Bound<'_, PyAny>) -> Maybe<i64> {
    if let Ok(i) = x.cast::<PyInt>() {
        if x.is_instance_of::<PyBool>() {
            return Ok(None);
        }
        return fits(i).map(Some);
    }
    if x.is_instance_of::<PyFloat>() || x.is_instance_of::<PyList>() || x.is_instance_of::<PyTuple>() {
        return Ok(None);
    }
    if let Some(t) = tensor_of(x) {
        if t.numel() != 1 || !t.dtype().is_integral() {
            return Ok(None);
        }
        return t.item().map(|n| Some(n.to_i64())).map_err(|e| crate::gate::raise(x.py(), e));
    }
    let Ok(index) = x.call_method0(intern!(x.py(), "__index__")) else { return Ok(None) };
    fits(index.cast::<PyInt>()?).map(Some)
}

fn fits(i: &Bound<'_, PyInt>) -> PyResult<i64> {
    i.extract::<i64>()
        .map_err(|_| PyRuntimeError::new_err(format!("{i} is out of range for a 64-bit integer")))
}

pub type Ints = SmallVec<[isize; 6]>;

/// A list or tuple of integers.
pub fn int_list(x: &Bound<'_, PyAny>) -> Maybe<Ints> {
    if let Ok(tuple) = x.cast::<PyTuple>() {
        return all_ints(tuple.iter());
    }
    match x.cast::<PyList>() {
        Ok(list) => all_ints(list.iter()),
        Err(_) => Ok(None),
    }
}

/// The integers that objects are; `None` when one of them is none.
pub fn all_ints<'py>(items: impl Iterator<Item = Bound<'py, PyAny>>) -> Maybe<Ints> {
    items.map(|x| Ok(int(&x)?.map(|i| i as isize))).collect()
}

/// A number of rushlight as Python's.
pub fn to_python(py: Python<'_>, n: Number) -> PyResult<Py<PyAny>> {
    Ok(match n {
        Number::Bool(b) => PyBool::new(py, b).to_owned().into_any().unbind(),
        Number::Int(i) => i.into_pyobject(py)?.into_any().unbind(),
        Number::UInt(u) => u.into_pyobject(py)?.into_any().unbind(),
        Number::Float(f) => PyFloat::new(py, f).into_any().unbind(),
        Number::Complex(re, im) => PyComplex::from_doubles(py, re, im).into_any().unbind(),
    })
}

/// A sequence given as `f(1, 2)` or `f((1, 2))`.
pub fn spread_ints(args: &Bound<'_, PyTuple>, what: &str) -> PyResult<Ints> {
    let found = match args.len() {
        1 => match int_list(&args.get_item(0)?)? {
            None => int_list(args.as_any())?,
            some => some,
        },
        _ => int_list(args.as_any())?,
    };
    found.ok_or_else(|| PyTypeError::new_err(format!("{what}: takes integers, or one sequence of them")))
}
