//! Autograd: flags, gradients, hooks, modes.

use crate::attributes::Arg;
use crate::gate::{pass, raise, run_long};
use crate::object::{PyTensor, tensor_of, wrap};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use rushlight::grad::{self, BackwardOptions, GradOptions, HookId, ModeGuard};
use rushlight::{Result, Tensor};
use std::cell::RefCell;

fn of(slf: &Bound<'_, PyTensor>) -> Tensor {
    slf.get().get(slf.py())
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

#[pymethods]
impl PyTensor {
    #[getter]
    fn requires_grad(slf: &Bound<'_, Self>) -> bool {
        of(slf).requires_grad()
    }
    #[setter]
    fn set_requires_grad(slf: &Bound<'_, Self>, on: bool) -> PyResult<()> {
        of(slf).requires_grad_(on).map(drop).map_err(|e| raise(slf.py(), e))
    }
    #[pyo3(signature = (requires_grad=true))]
    fn requires_grad_<'py>(slf: &Bound<'py, Self>, requires_grad: bool) -> PyResult<Bound<'py, Self>> {
        of(slf).requires_grad_(requires_grad).map_err(|e| raise(slf.py(), e))?;
        Ok(slf.clone())
    }
    #[getter]
    fn is_leaf(slf: &Bound<'_, Self>) -> PyResult<bool> {
        let t = of(slf);
        Ok(!t.requires_grad() || t.grad_fn().map_err(|e| raise(slf.py(), e))?.is_none())
    }
    #[getter]
    fn grad(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        of(slf).grad().map(|g| wrap(slf.py(), g)).transpose()
    }
    #[setter]
    fn set_grad(slf: &Bound<'_, Self>, grad: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let grad = match grad {
            None => None,
            Some(g) => match tensor_of(g) {
                Some(t) => Some(t),
                None => return Err(PyTypeError::new_err("grad: must be a tensor or None")),
            },
        };
        of(slf).set_grad(grad).map_err(|e| raise(slf.py(), e))
    }
    #[deleter]
    fn delete_grad(slf: &Bound<'_, Self>) -> PyResult<()> {
        of(slf).set_grad(None).map_err(|e| raise(slf.py(), e))
    }
    #[getter]
    fn grad_fn(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let edge = of(slf).grad_fn().map_err(|e| raise(slf.py(), e))?;
        edge.map(|e| crate::node::object(slf.py(), e)).transpose()
    }
    #[getter]
    fn output_nr(slf: &Bound<'_, Self>) -> PyResult<usize> {
        Ok(of(slf).grad_fn().map_err(|e| raise(slf.py(), e))?.map_or(0, |e| e.output))
    }
    fn detach(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        wrap(slf.py(), of(slf).detach().map_err(|e| raise(slf.py(), e))?)
    }
    fn detach_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        of(slf).detach_().map_err(|e| raise(slf.py(), e))?;
        Ok(slf.clone())
    }
    fn retain_grad(slf: &Bound<'_, Self>) -> PyResult<()> {
        of(slf).retain_grad().map_err(|e| raise(slf.py(), e))
    }
    #[getter]
    fn retains_grad(slf: &Bound<'_, Self>) -> bool {
        of(slf).retains_grad()
    }
    fn _add_hook(slf: &Bound<'_, Self>, hook: Py<PyAny>) -> PyResult<PyHook> {
        let t = of(slf);
        let id = t
            .register_hook(move |g| {
                Python::attach(|py| answer(py, wrap(py, g.clone()).and_then(|g| hook.call1(py, (g,)))))
            })
            .map_err(|e| raise(slf.py(), e))?;
        Ok(PyHook { tensor: t, id })
    }
    fn _add_post_hook(slf: &Bound<'_, Self>, hook: Py<PyAny>) -> PyResult<PyHook> {
        let t = of(slf);
        let id = t
            .register_post_accumulate_grad_hook(move |leaf| {
                Python::attach(|py| {
                    wrap(py, leaf.clone()).and_then(|t| hook.call1(py, (t,))).map(drop).map_err(pass)
                })
            })
            .map_err(|e| raise(slf.py(), e))?;
        Ok(PyHook { tensor: t, id })
    }
}

/// A hook that can be removed.
#[pyclass(name = "_Hook", module = "rushlight._C", frozen)]
struct PyHook {
    tensor: Tensor,
    id: HookId,
}

#[pymethods]
impl PyHook {
    fn remove(&self, py: Python<'_>) -> PyResult<()> {
        self.tensor.remove_hook(self.id).map_err(|e| raise(py, e))
    }
}

type Gradients<'py> = Vec<Option<Arg>>;

fn plain(list: Gradients<'_>) -> Vec<Option<Tensor>> {
    list.into_iter().map(|g| g.map(|a| a.0)).collect()
}

/// Accumulates into leaves (all, or `inputs` only).
#[pyfunction]
fn _backward(
    py: Python<'_>,
    outputs: Vec<Arg>,
    gradients: Gradients<'_>,
    retain_graph: bool,
    create_graph: bool,
    inputs: Option<Vec<Arg>>,
) -> PyResult<()> {
    let gradients = plain(gradients);
    run_long(py, || {
        let outs: Vec<&Tensor> = outputs.iter().map(|a| &a.0).collect();
        let options = BackwardOptions { retain_graph, create_graph };
        match &inputs {
            None => grad::backward(&outs, &gradients, options),
            Some(ins) => {
                let ins: Vec<&Tensor> = ins.iter().map(|a| &a.0).collect();
                grad::backward_into(&outs, &ins, &gradients, options)
            }
        }
    })
}

/// The gradients themselves.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
fn _grad(
    py: Python<'_>,
    outputs: Vec<Arg>,
    inputs: Vec<Arg>,
    gradients: Gradients<'_>,
    retain_graph: bool,
    create_graph: bool,
    allow_unused: bool,
    materialize_grads: bool,
) -> PyResult<Vec<Option<Py<PyAny>>>> {
    let gradients = plain(gradients);
    let options = GradOptions { retain_graph, create_graph, allow_unused, materialize_grads };
    let grads = run_long(py, || {
        let outs: Vec<&Tensor> = outputs.iter().map(|a| &a.0).collect();
        let ins: Vec<&Tensor> = inputs.iter().map(|a| &a.0).collect();
        grad::grad(&outs, &ins, &gradients, options)
    })?;
    grads.into_iter().map(|g| g.map(|g| wrap(py, g)).transpose()).collect()
}

thread_local! {
    /// The modes that Python's context managers entered on this thread, innermost last.
    static MODES: RefCell<Vec<ModeGuard>> = const { RefCell::new(Vec::new()) };
}

/// Enters a mode: 0 no_grad, 1 enable_grad, 2 inference_mode, 3 leaves inference mode.
#[pyfunction]
fn _push_mode(kind: u8) {
    let guard = match kind {
        0 => grad::set_grad_enabled(false),
        1 => grad::set_grad_enabled(true),
        k => grad::set_inference_mode(k == 2),
    };
    MODES.with_borrow_mut(|m| m.push(guard));
}

/// Leaves the mode entered last.
#[pyfunction]
fn _pop_mode() {
    drop(MODES.with_borrow_mut(Vec::pop));
}

/// Changes the mode for good.
#[pyfunction]
fn _set_grad_enabled(on: bool) {
    std::mem::forget(grad::set_grad_enabled(on));
}

#[pyfunction]
fn is_grad_enabled() -> bool {
    grad::is_grad_enabled()
}

#[pyfunction]
fn is_inference_mode_enabled() -> bool {
    grad::is_inference_mode_enabled()
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(_backward, m)?)?;
    m.add_function(wrap_pyfunction!(_grad, m)?)?;
    m.add_function(wrap_pyfunction!(_push_mode, m)?)?;
    m.add_function(wrap_pyfunction!(_pop_mode, m)?)?;
    m.add_function(wrap_pyfunction!(_set_grad_enabled, m)?)?;
    m.add_function(wrap_pyfunction!(is_grad_enabled, m)?)?;
    m.add_function(wrap_pyfunction!(is_inference_mode_enabled, m)?)?;
    m.add_class::<PyHook>()
}
