//! `out=`: results written into tensors that the caller has.

use crate::gate;
use crate::object::tensor_of;
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
    gate::run_long(py, || rushlight::op::dispatch_out(def, args, &outs))?;
    Ok(out.clone().unbind())
}
