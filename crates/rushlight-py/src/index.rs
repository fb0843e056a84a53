//! What stands between the brackets.

use crate::gate;
use crate::number::{int, plain_number};
use crate::object::{PyTensor, tensor_of, wrap};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyFloat, PyInt, PyList, PySlice, PyString, PyTuple};
use rushlight::{DType, Index, Operand};

fn parts(key: &Bound<'_, PyAny>) -> PyResult<Vec<Index>> {
    match key.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter_borrowed().map(|k| part(&k)).collect(),
        Err(_) => Ok(vec![part(key)?]),
    }
}

fn part(key: &Bound<'_, PyAny>) -> PyResult<Index> {
    if let Ok(s) = key.cast::<PySlice>() {
        return slice(s);
    }
    if let Ok(b) = key.cast::<PyBool>() {
        return Ok(Index::Bool(b.is_true()));
    }
    if let Ok(i) = key.cast::<PyInt>() {
        return match i.extract::<isize>() {
            Ok(i) => Ok(Index::Int(i)),
            Err(_) => Err(PyIndexError::new_err(format!("index: {i} is out of range for any dimension"))),
        };
    }
    if key.is_none() {
        return Ok(Index::None);
    }
    if key.is_instance_of::<PyEllipsis>() {
        return Ok(Index::Ellipsis);
    }
    if let Some(t) = tensor_of(key) {
        return Ok(Index::Tensor(t));
    }
    if key.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(
            "index: a str does not index a tensor; use integers, slices, None, ... or tensors",
        ));
    }
    if key.is_instance_of::<PyFloat>() {
        return Err(PyIndexError::new_err(
            "index: a float does not index a tensor; convert it to an integer",
        ));
    }
    if let Some(t) = crate::numpy::from_array(key, true)? {
        return match t.dim() {
            0 => part(crate::data::to_list(key.py(), &t)?.bind(key.py())),
            _ => Ok(Index::Tensor(t)),
        };
    }
    if key.is_instance_of::<PyList>()
        || key.is_instance_of::<PyTuple>()
        || key.hasattr(intern!(key.py(), "__getitem__"))?
    {
        return list(key);
    }
    match int(key)? {
        Some(i) => Ok(Index::Int(i as isize)),
        None => Err(PyIndexError::new_err(format!(
            "index: a {} does not index a tensor; use integers, slices, None, ... or tensors",
            key.get_type().name()?
        ))),
    }
}

/// A list is a tensor of positions, or a mask.
fn list(key: &Bound<'_, PyAny>) -> PyResult<Index> {
    let t =
        crate::data::from_data(key, None).map_err(|e| match e.is_instance_of::<PyValueError>(key.py()) {
            true => e,
            false => PyTypeError::new_err(format!("index: the list is no tensor of positions: {e}")),
        })?;
    match t.dtype() {
        d if t.numel() == 0 && d.is_float() => {
            t.to_dtype(DType::I64).map(Index::Tensor).map_err(|e| gate::raise(key.py(), e))
        }
        _ => Ok(Index::Tensor(t)),
    }
}

fn slice(s: &Bound<'_, PySlice>) -> PyResult<Index> {
    let py = s.py();
    let step = match bound(&s.getattr(intern!(py, "step"))?)? {
        None => 1,
        Some(0) => return Err(PyValueError::new_err("slice: the step must not be 0")),
        Some(n) => n,
    };
    Ok(Index::Slice {
        start: bound(&s.getattr(intern!(py, "start"))?)?,
        end: bound(&s.getattr(intern!(py, "stop"))?)?,
        step,
    })
}

/// A bound of a slice; what is out of range is as good as the end.
fn bound(x: &Bound<'_, PyAny>) -> PyResult<Option<isize>> {
    if x.is_none() {
        return Ok(None);
    }
    if let Ok(i) = x.cast::<PyInt>() {
        return Ok(Some(
            i.extract::<isize>()
                .unwrap_or_else(|_| if i.lt(0).unwrap_or(false) { isize::MIN / 2 } else { isize::MAX / 2 }),
        ));
    }
    match int(x)? {
        Some(i) => Ok(Some(i as isize)),
        None => {
            Err(PyTypeError::new_err(format!("slice: bounds must be integers, not {}", x.get_type().name()?)))
        }
    }
}

#[pymethods]
impl PyTensor {
    fn __getitem__(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        let (t, index) = (slf.get().get(py), parts(key)?);
        let work = if index.iter().any(|i| matches!(i, Index::Tensor(_))) { t.numel() } else { 0 };
        wrap(py, gate::run(py, work, || t.i(index))?)
    }

    fn __setitem__(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = slf.py();
        let value = match tensor_of(value) {
            Some(t) => Operand::Tensor(t),
            None => match plain_number(value)? {
                Some(n) => Operand::Number(n),
                None => {
                    return Err(PyTypeError::new_err(format!(
                        "index: a {} cannot be assigned; use a number or a tensor",
                        value.get_type().name()?
                    )));
                }
            },
        };
        let (t, index) = (slf.get().get(py), parts(key)?);
        gate::run(py, t.numel(), || t.set(index, value))
    }

    fn __delitem__(_slf: &Bound<'_, Self>, _key: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err("index: elements of a tensor cannot be deleted; use narrow or index_select"))
    }
}
