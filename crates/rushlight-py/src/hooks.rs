//! Hooks in Python: on tensors, on leaves, on steps of the graph, on what is saved for backward.

use crate::gate::{pass, raise};
use crate::object::{PyTensor, tensor_of, wrap};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use rushlight::grad::{self, Grads, HookId, Kept, Node, SavedHooks, WeakTensor};
use rushlight::{Result, Tensor};
use std::sync::{Arc, Weak};

/// A Python object inside the graph; the collector sees it through the tensor that owns the graph.
pub struct PyKept(pub Py<PyAny>);

/// Keeps a callable, or says what else it is.
fn callable(hook: &Bound<'_, PyAny>, what: &str) -> PyResult<Arc<PyKept>> {
    match hook.is_callable() {
        true => Ok(Arc::new(PyKept(hook.clone().unbind()))),
        false => {
            Err(PyTypeError::new_err(format!("{what}: takes a function, not {}", hook.get_type().name()?)))
        }
    }
}

/// What a hook in Python returned, as a gradient.
fn answer(py: Python<'_>, x: PyResult<Py<PyAny>>) -> Result<Option<Tensor>> {
    let x = x.map_err(pass)?;
    let x = x.bind(py);
    match tensor_of(x) {
        Some(t) => Ok(Some(t)),
        None if x.is_none() => Ok(None),
        None => Err(pass(PyTypeError::new_err("a hook must return a tensor, or None to keep the gradient"))),
    }
}

/// Gradients as a tuple with None in the gaps.
pub fn tuple<'py>(py: Python<'py>, grads: &[Option<Tensor>]) -> PyResult<Bound<'py, PyTuple>> {
    let items = grads.iter().map(|g| g.clone().map(|g| wrap(py, g)).transpose());
    PyTuple::new(py, items.collect::<PyResult<Vec<Option<Py<PyAny>>>>>()?)
}

/// What a node's hook returned, as gradients.
fn answers(py: Python<'_>, x: PyResult<Py<PyAny>>) -> Result<Option<Grads>> {
    let read = || -> PyResult<Option<Grads>> {
        let x = x?;
        let x = x.bind(py);
        if x.is_none() {
            return Ok(None);
        }
        let wrong = || PyTypeError::new_err("a node's hook must return None, a tensor, or a tuple of both");
        let one = |x: &Bound<'_, PyAny>| match tensor_of(x) {
            Some(t) => Ok(Some(t)),
            None if x.is_none() => Ok(None),
            None => Err(wrong()),
        };
        let items: Vec<Bound<'_, PyAny>> = match (x.cast::<PyTuple>(), x.cast::<PyList>()) {
            (Ok(t), _) => t.iter().collect(),
            (_, Ok(l)) => l.iter().collect(),
            _ => vec![x.clone()],
        };
        items.iter().map(one).collect::<PyResult<Grads>>().map(Some)
    };
    read().map_err(pass)
}

#[pymethods]
impl PyTensor {
    /// Runs `hook(grad)` when backward reaches this tensor; a tensor it returns replaces the gradient.
    fn register_hook(slf: &Bound<'_, Self>, hook: &Bound<'_, PyAny>) -> PyResult<PyHandle> {
        let (py, t) = (slf.py(), slf.get().get(slf.py()));
        let hook = callable(hook, "register_hook")?;
        let kept: Kept = hook.clone();
        let run = move |g: &Tensor| {
            Python::attach(|py| answer(py, wrap(py, g.clone()).and_then(|g| hook.0.call1(py, (g,)))))
        };
        let id = t.register_hook_keeping(run, Some(kept)).map_err(|e| raise(py, e))?;
        PyHandle::of_tensor(py, &t, id)
    }
    /// Runs `hook(leaf)` each time this leaf's `grad` was updated.
    fn register_post_accumulate_grad_hook(
        slf: &Bound<'_, Self>,
        hook: &Bound<'_, PyAny>,
    ) -> PyResult<PyHandle> {
        let (py, t) = (slf.py(), slf.get().get(slf.py()));
        let hook = callable(hook, "register_post_accumulate_grad_hook")?;
        let kept: Kept = hook.clone();
        let run = move |leaf: &Tensor| {
            Python::attach(|py| {
                let result = wrap(py, leaf.clone()).and_then(|t| hook.0.call1(py, (t,)));
                match result.map_err(pass)?.is_none(py) {
                    true => Ok(()),
                    false => {
                        Err(pass(PyRuntimeError::new_err("a post accumulate grad hook must return None")))
                    }
                }
            })
        };
        let id = t.register_post_accumulate_grad_hook_keeping(run, Some(kept)).map_err(|e| raise(py, e))?;
        PyHandle::of_tensor(py, &t, id)
    }
}

/// `hook(grad_inputs, grad_outputs)` after a step of the graph ran.
pub fn after_node(node: &Arc<Node>, hook: &Bound<'_, PyAny>) -> PyResult<PyHandle> {
    let hook = callable(hook, "register_hook")?;
    let kept: Kept = hook.clone();
    let run = move |sent: &[Option<Tensor>], got: &[Option<Tensor>]| {
        Python::attach(|py| {
            let call = || hook.0.call1(py, (tuple(py, sent)?, tuple(py, got)?));
            answers(py, call())
        })
    };
    let id = node.register_hook(Arc::new(run), Some(kept));
    Ok(PyHandle { tensor: None, node: Some(Arc::downgrade(node)), id })
}

/// `hook(grad_outputs)` before a step of the graph runs.
pub fn before_node(node: &Arc<Node>, hook: &Bound<'_, PyAny>) -> PyResult<PyHandle> {
    let hook = callable(hook, "register_prehook")?;
    let kept: Kept = hook.clone();
    let run = move |got: &[Option<Tensor>]| {
        Python::attach(|py| {
            let call = || hook.0.call1(py, (tuple(py, got)?,));
            answers(py, call())
        })
    };
    let id = node.register_prehook(Arc::new(run), Some(kept));
    Ok(PyHandle { tensor: None, node: Some(Arc::downgrade(node)), id })
}

/// A registered hook; `remove()` ends it, and so does leaving it as a context manager.
#[pyclass(name = "RemovableHandle", module = "rushlight.utils.hooks", frozen, weakref)]
pub struct PyHandle {
    /// Neither is kept alive: a handle is often stored beside what it belongs to.
    tensor: Option<WeakTensor>,
    node: Option<Weak<Node>>,
    id: HookId,
}

impl PyHandle {
    fn of_tensor(py: Python<'_>, t: &Tensor, id: HookId) -> PyResult<PyHandle> {
        let edge = t.grad_fn().map_err(|e| raise(py, e))?;
        Ok(PyHandle { tensor: Some(t.downgrade()), node: edge.map(|e| Arc::downgrade(&e.node)), id })
    }
}

#[pymethods]
impl PyHandle {
    fn remove(&self, py: Python<'_>) -> PyResult<()> {
        if let Some(t) = self.tensor.as_ref().and_then(WeakTensor::upgrade) {
            t.remove_hook(self.id).map_err(|e| raise(py, e))?;
        }
        if let Some(node) = self.node.as_ref().and_then(Weak::upgrade) {
            node.remove_hook(self.id);
        }
        Ok(())
    }
    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }
    #[pyo3(signature = (*_exc))]
    fn __exit__(&self, py: Python<'_>, _exc: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.remove(py)
    }
}

/// A pair of functions of Python through which saved tensors go.
struct Packing {
    pack: Py<PyAny>,
    unpack: Py<PyAny>,
}

impl SavedHooks for Packing {
    fn pack(&self, tensor: &Tensor) -> Result<Kept> {
        Python::attach(|py| {
            let packed = wrap(py, tensor.clone()).and_then(|t| self.pack.call1(py, (t,)));
            packed.map(|p| Arc::new(PyKept(p)) as Kept).map_err(pass)
        })
    }
    fn unpack(&self, kept: &Kept) -> Result<Tensor> {
        Python::attach(|py| {
            let packed = kept.downcast_ref::<PyKept>().map(|p| p.0.clone_ref(py));
            let result = self.unpack.call1(py, (packed,)).map_err(pass)?;
            tensor_of(result.bind(py)).ok_or_else(|| {
                pass(PyTypeError::new_err("an unpack hook of saved tensors must return a tensor"))
            })
        })
    }
}

#[pyfunction]
fn _push_saved_tensors_hooks(pack: &Bound<'_, PyAny>, unpack: &Bound<'_, PyAny>) {
    grad::push_saved_hooks(Arc::new(Packing {
        pack: pack.clone().unbind(),
        unpack: unpack.clone().unbind(),
    }));
}

#[pyfunction]
fn _pop_saved_tensors_hooks() {
    grad::pop_saved_hooks();
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(_push_saved_tensors_hooks, m)?)?;
    m.add_function(wrap_pyfunction!(_pop_saved_tensors_hooks, m)?)?;
    m.add_class::<PyHandle>()
}
