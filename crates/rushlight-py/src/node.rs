//! Steps of the graph as Python sees them.

use crate::object::wrap;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rushlight::grad::{Edge, Node};
use std::sync::Arc;

/// A step of the graph: an op that ran, or the end at a leaf.
#[pyclass(name = "Node", module = "rushlight.autograd.graph", frozen)]
pub struct PyNode(Arc<Node>);

/// The node that an edge leads to.
pub fn object(py: Python<'_>, edge: Edge) -> PyResult<Py<PyAny>> {
    Ok(Py::new(py, PyNode(edge.node))?.into_any())
}

#[pymethods]
impl PyNode {
    fn name(&self) -> String {
        self.0.title()
    }
    #[getter]
    fn next_functions(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let mut parts: Vec<(Option<Py<PyAny>>, usize)> = Vec::new();
        for edge in self.0.next_functions() {
            parts.push(match edge {
                Some(e) => (Some(object(py, e.clone())?), e.output),
                None => (None, 0),
            });
        }
        Ok(PyTuple::new(py, parts)?.into_any().unbind())
    }
    #[getter]
    fn variable(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.0.variable().map(|t| wrap(py, t)).transpose()
    }
    fn _sequence_nr(&self) -> u64 {
        self.0.sequence()
    }
    fn __repr__(&self) -> String {
        format!("<{} object at {:#x}>", self.0.title(), Arc::as_ptr(&self.0).addr())
    }
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyNode>().is_ok_and(|o| Arc::ptr_eq(&o.get().0, &self.0))
    }
    fn __hash__(&self) -> usize {
        Arc::as_ptr(&self.0).addr() >> 4
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyNode>()
}
