//! Autograd: flags, gradients, modes.

use crate::attributes::Arg;
use crate::gate::{raise, run_long};
use crate::object::{PyTensor, tensor_of, wrap};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyUserWarning};
use pyo3::prelude::*;
use rushlight::Tensor;
use rushlight::grad::{self, Anomaly, BackwardOptions, GradOptions};
use std::ffi::CString;

fn of(slf: &Bound<'_, PyTensor>) -> Tensor {
    slf.get().get(slf.py())
}

#[pymethods]
impl PyTensor {
    #[getter]
    fn requires_grad(slf: &Bound<'_, Self>) -> bool {
        of(slf).requires_grad()
    }
    #[setter]
    fn set_requires_grad(slf: &Bound<'_, Self>, on: bool) -> PyResult<()> {
        if !of(slf).is_leaf() {
            return Err(PyRuntimeError::new_err(
                "requires_grad: only leaves can be changed; use detach() to get a tensor outside the graph",
            ));
        }
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
        let (py, t) = (slf.py(), of(slf));
        match t.grad() {
            Some(g) => wrap(py, g).map(Some),
            None if t.is_leaf() || t.retains_grad() => Ok(None),
            None => {
                let text = c"grad: only leaves keep their gradient; this tensor is the result of an op. Call retain_grad() on it before backward, or read the leaf's";
                PyErr::warn(py, &py.get_type::<PyUserWarning>(), text, 1)?;
                Ok(None)
            }
        }
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
    .inspect_err(|_| warn_of_failure(py))
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
    })
    .inspect_err(|_| warn_of_failure(py))?;
    grads.into_iter().map(|g| g.map(|g| wrap(py, g)).transpose()).collect()
}

/// In anomaly mode, tells which step of the graph failed and which line recorded it.
#[cold]
fn warn_of_failure(py: Python<'_>) {
    let Some(node) = grad::take_failed() else { return };
    let text = match node.line() {
        Some(line) => format!("Error detected in {}. The forward call was at {line}", node.title()),
        None => format!("Error detected in {}. It was recorded before anomaly mode was on", node.title()),
    };
    if let Ok(text) = CString::new(text) {
        // A warning that the user made an error gives way to the error itself.
        let _ = PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 3);
    }
}

/// Sets recording and inference mode of this thread; gives what they were.
#[pyfunction]
fn _set_modes(grad: bool, inference: bool) -> (bool, bool) {
    let before = (grad::is_grad_enabled(), grad::is_inference_mode_enabled());
    // Python restores the modes itself.
    std::mem::forget(grad::set_inference_mode(inference));
    std::mem::forget(grad::set_grad_enabled(grad));
    before
}

/// Sets anomaly mode: 0 off, 1 lines, 2 lines and NaN.
#[pyfunction]
fn _set_anomaly(mode: u8) {
    grad::set_anomaly_mode(match mode {
        0 => Anomaly::Off,
        1 => Anomaly::Lines,
        _ => Anomaly::Nan,
    });
}

#[pyfunction]
fn _anomaly() -> u8 {
    grad::anomaly_mode() as u8
}

/// A number that names the backward run this thread is in; None outside.
#[pyfunction]
fn _current_run() -> Option<u64> {
    grad::current_run()
}

/// Counts as an in-place write to the tensor.
#[pyfunction]
fn _increment_version(tensor: Arg) {
    tensor.0.increment_version();
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
    m.add_function(wrap_pyfunction!(_set_modes, m)?)?;
    m.add_function(wrap_pyfunction!(_set_anomaly, m)?)?;
    m.add_function(wrap_pyfunction!(_anomaly, m)?)?;
    m.add_function(wrap_pyfunction!(_current_run, m)?)?;
    m.add_function(wrap_pyfunction!(_increment_version, m)?)?;
    m.add_function(wrap_pyfunction!(is_grad_enabled, m)?)?;
    m.add_function(wrap_pyfunction!(is_inference_mode_enabled, m)?)
}
