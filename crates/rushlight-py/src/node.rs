//! Steps of the graph as Python sees them.

use crate::hooks::{PyHandle, PyKept, after_node, before_node};
use crate::object::wrap;
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};
use rushlight::grad::{Edge, Kept, Node};
use std::cell::RefCell;
use std::sync::Arc;

/// A step of the graph: an op that ran, or the end at a leaf.
#[pyclass(name = "Node", module = "rushlight.autograd.graph", frozen, subclass, weakref)]
pub struct PyNode(Arc<Node>);

thread_local! {
    /// The step that the object being made stands for.
    static MAKING: RefCell<Option<Arc<Node>>> = const { RefCell::new(None) };
}

/// The node that an edge leads to.
pub fn object(py: Python<'_>, edge: Edge) -> PyResult<Py<PyAny>> {
    of(py, edge.node)
}

/// The object of a step: the one it has, or a new one.
pub fn of(py: Python<'_>, node: Arc<Node>) -> PyResult<Py<PyAny>> {
    static LIVING: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let living = LIVING
        .get_or_try_init(py, || {
            PyResult::Ok(py.import("weakref")?.getattr("WeakValueDictionary")?.call0()?.unbind())
        })?
        .bind(py);
    // An object keeps its step alive, so no other step has its address meanwhile.
    let key = Arc::as_ptr(&node).addr();
    let known = living.call_method1(intern!(py, "get"), (key,))?;
    if !known.is_none() {
        return Ok(known.unbind());
    }
    let class = class(py, &node.title())?;
    MAKING.with_borrow_mut(|m| *m = Some(node));
    let object = class.call0(py)?;
    living.set_item(key, &object)?;
    Ok(object)
}

/// The class of the steps with this title: people look at its name.
fn class(py: Python<'_>, title: &str) -> PyResult<Py<PyAny>> {
    static CLASSES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let classes = CLASSES.get_or_init(py, || PyDict::new(py).unbind()).bind(py);
    if let Some(known) = classes.get_item(title)? {
        return Ok(known.unbind());
    }
    let body = PyDict::new(py);
    // torch's have no module either.
    body.set_item("__module__", "builtins")?;
    body.set_item("__slots__", PyTuple::empty(py))?;
    let new = py.get_type::<PyType>().call1((title, (py.get_type::<PyNode>(),), body))?;
    classes.set_item(title, &new)?;
    Ok(new.unbind())
}

#[pymethods]
impl PyNode {
    #[new]
    fn new() -> PyResult<PyNode> {
        let node = MAKING.with_borrow_mut(Option::take);
        node.map(PyNode).ok_or_else(|| PyTypeError::new_err("Node: steps of the graph come from ops alone"))
    }
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
