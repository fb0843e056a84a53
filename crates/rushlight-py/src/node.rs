//! Steps of the graph as Python sees them.

use crate::hooks::{PyHandle, PyKept, after_node, before_node};
use crate::object::wrap;
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rushlight::grad::{Edge, Kept, Node};
use std::sync::Arc;

/// A step of the graph: an op that ran, or the end at a leaf.
#[pyclass(name = "Node", module = "rushlight.autograd.graph", frozen)]
pub struct PyNode(Arc<Node>);

/// The node that an edge leads to.
pub fn object(py: Python<'_>, edge: Edge) -> PyResult<Py<PyAny>> {
    of(py, edge.node)
}

pub fn of(py: Python<'_>, node: Arc<Node>) -> PyResult<Py<PyAny>> {
    Ok(Py::new(py, PyNode(node))?.into_any())
}

#[pymethods]
impl PyNode {
    fn name(&self) -> String {
        match self.0.title() {
            // torch's name has the path of its C++ class for this one.
            leaf if leaf == "AccumulateGrad" => "torch::autograd::AccumulateGrad".into(),
            title => title,
        }
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
    fn variable(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match self.0.variable() {
            Some(t) => wrap(py, t),
            None => {
                Err(PyAttributeError::new_err(format!("{} accumulates into no variable", self.0.title())))
            }
        }
    }
    /// A dict of the user's own.
    #[getter]
    fn metadata(&self, py: Python<'_>) -> Py<PyAny> {
        let kept = self.0.companion(|| Arc::new(PyKept(PyDict::new(py).into_any().unbind())) as Kept);
        kept.downcast_ref::<PyKept>().map_or_else(|| py.None(), |k| k.0.clone_ref(py))
    }
    /// Runs `hook(grad_inputs, grad_outputs)` after this step; what it returns replaces `grad_inputs`.
    fn register_hook(&self, hook: &Bound<'_, PyAny>) -> PyResult<PyHandle> {
        after_node(&self.0, hook)
    }
    /// Runs `hook(grad_outputs)` before this step; what it returns replaces `grad_outputs`.
    fn register_prehook(&self, hook: &Bound<'_, PyAny>) -> PyResult<PyHandle> {
        before_node(&self.0, hook)
    }
    /// What was saved for backward (`_saved_other`), and attributes of a function's context.
    fn __getattr__(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        if let Some(saved) = name.strip_prefix("_saved_").and_then(|n| self.0.saved_named(n)) {
            return wrap(py, saved.map_err(|e| crate::gate::raise(py, e))?);
        }
        if let Some(context) = self.0.kept()
            && let Some(context) = context.downcast_ref::<PyKept>()
        {
            return context.0.getattr(py, name);
        }
        Err(PyAttributeError::new_err(format!("{} has no attribute {name}", self.0.title())))
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
