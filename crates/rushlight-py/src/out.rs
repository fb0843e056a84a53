//! `out=`: results written into tensors that the caller has.

use crate::gate;
use crate::object::{PyTensor, tensor_of};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use rushlight::Tensor;
use rushlight::op::{OpDef, Value};

fn targets(out: &Bound<'_, PyAny>) -> Option<Vec<Tensor>> {
    if let Some(t) = tensor_of(out) {
        return Some(vec![t]);
    }
    if let Ok(tuple) = out.cast::<PyTuple>() {
        return tuple.iter_borrowed().map(|t| tensor_of(&t)).collect();
    }
    out.cast::<PyList>().ok()?.iter().map(|t| tensor_of(&t)).collect()
}

/// Calls the row and gives `out` back, which then holds the result.
pub fn into(
    py: Python<'_>,
    def: &'static OpDef,
    args: &[Value],
    out: &Bound<'_, PyAny>,
) -> PyResult<Py<PyAny>> {
    let Some(outs) = targets(out) else {
        return Err(PyTypeError::new_err(format!("{}: out must be a tensor, or a tuple of them", def.name)));
    };
    let results = gate::run_long(py, || rushlight::op::dispatch_out(def, args, &outs))?;
    for (k, (result, target)) in results.into_iter().zip(&outs).enumerate() {
        if !result.is(target) {
            let object = if tensor_of(out).is_some() { out.clone() } else { out.get_item(k)? };
            resized(&object, target, result)?;
        }
    }
    Ok(out.clone().unbind())
}

/// The object of `out=` becomes what the result made of it; torch warns of that, as it is mostly a mistake.
fn resized(object: &Bound<'_, PyAny>, old: &Tensor, new: Tensor) -> PyResult<()> {
    let py = object.py();
    if old.numel() > 0 {
        let text = format!("out= had shape {:?} and was resized to {:?}", old.shape(), new.shape());
        let class = py.get_type::<pyo3::exceptions::PyUserWarning>();
        PyErr::warn(py, &class, &std::ffi::CString::new(text)?, 2)?;
    }
    PyTensor::exchange(object.cast()?, new);
    Ok(())
}
