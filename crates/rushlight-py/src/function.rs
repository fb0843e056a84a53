//! `autograd.Function`: calls a user's forward, records it, and calls the user's backward.

use crate::gate::{pass, raise};
use crate::hooks::{PyKept, tuple};
use crate::object::{tensor_of, wrap};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rushlight::grad::{self, Call, Context, Custom, Kept, Node};
use rushlight::{Result, Tensor};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// The part of a function's context that is not Python: the way to its step of the graph.
#[pyclass(name = "_Context", module = "rushlight._C", subclass, dict, weakref, frozen)]
pub struct PyContext {
    node: OnceLock<Weak<Node>>,
}

#[pymethods]
impl PyContext {
    #[new]
    fn new() -> PyContext {
        PyContext { node: OnceLock::new() }
    }
    /// The tensors saved, checked for in-place changes.
    fn _saved(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        let Some(node) = self.node.get() else { return Ok(Vec::new()) };
        let Some(node) = node.upgrade() else {
            return Err(PyRuntimeError::new_err("saved_tensors: the graph that kept them is gone"));
        };
        // Unpacking may run hooks, which wait for nothing that this thread holds.
        let tensors = crate::gate::run_long(py, || node.saved_tensors())?;
        tensors.into_iter().map(|t| wrap(py, t)).collect()
    }
    /// The step of the graph, while it lives.
    fn _node(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let node = self.node.get().and_then(Weak::upgrade);
        node.map(|n| crate::node::of(py, n)).transpose()
    }
}

/// A name for as long as the process lives; there are as many as there are functions' names.
fn intern_name(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    match names.get(name) {
        Some(known) => known,
        None => {
            let new: &'static str = String::leak(name.to_string());
            names.insert(new);
            new
        }
    }
}

/// The backward half: the context, and which arguments were tensors.
struct Backward {
    context: Kept,
    name: &'static str,
    slots: Vec<usize>,
    arguments: usize,
    /// Which results of forward are tensors.
    results: Vec<bool>,
}

impl Custom for Backward {
    fn backward(&self, _: &Context, grads: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
        Python::attach(|py| self.run(py, grads).map_err(pass))
    }
    fn kept(&self) -> Option<&Kept> {
        Some(&self.context)
    }
    fn fetches_saved(&self) -> bool {
        true
    }
}

impl Backward {
    fn run(&self, py: Python<'_>, grads: &[Option<Tensor>]) -> PyResult<Vec<Option<Tensor>>> {
        let Some(context) = self.context.downcast_ref::<PyKept>() else { return Ok(Vec::new()) };
        // What is no tensor among the results has no gradient, but its place is kept.
        let mut grads = grads.iter();
        let grads: Vec<Option<Tensor>> =
            self.results.iter().map(|t| if *t { grads.next().cloned().flatten() } else { None }).collect();
        let given = context.0.call_method1(py, intern!(py, "_backward"), tuple(py, &grads)?)?;
        let given = given.bind(py);
        let given = match given.cast::<PyTuple>() {
            Ok(t) => t.clone(),
            Err(_) => PyTuple::new(py, [given])?,
        };
        let spare = (self.arguments..given.len()).all(|k| given.get_item(k).is_ok_and(|x| x.is_none()));
        if given.len() < self.arguments || !spare {
            return Err(PyRuntimeError::new_err(format!(
                "{}: backward returned {} gradients for {} arguments of forward; return one for each, None where there is none",
                self.name,
                given.len(),
                self.arguments
            )));
        }
        let mut result = Vec::with_capacity(self.slots.len());
        for k in 0..self.arguments {
            let x = given.get_item(k)?;
            let tensor = tensor_of(&x);
            if tensor.is_none() && !x.is_none() {
                return Err(PyRuntimeError::new_err(format!(
                    "{}: backward returned a {} as gradient {k}; it must be a tensor or None",
                    self.name,
                    x.get_type().name()?
                )));
            }
            if self.slots.contains(&k) {
                result.push(tensor);
            } else if tensor.is_some() {
                return Err(PyRuntimeError::new_err(format!(
                    "{}: backward returned a gradient for argument {k} of forward, which is no tensor; return None there",
                    self.name
                )));
            }
        }
        Ok(result)
    }
}

/// The tensors of a tuple that the user gave to a method of the context.
fn marked(context: &Bound<'_, PyAny>, list: &str, method: &str) -> PyResult<Vec<Tensor>> {
    let items = context.getattr(list)?;
    let mut tensors = Vec::new();
    for (k, x) in items.try_iter()?.enumerate() {
        let x = x?;
        match tensor_of(&x) {
            Some(t) => tensors.push(t),
            None if x.is_none() && method == "save_for_backward" => {}
            None => {
                let kind = x.get_type().name()?.to_string();
                let text = format!(
                    "{method}: takes tensors; argument {k} is a {kind}. Other things can be attributes of ctx"
                );
                return Err(match method {
                    "save_for_backward" => PyTypeError::new_err(text),
                    _ => PyRuntimeError::new_err(text),
                });
            }
        }
    }
    Ok(tensors)
}

/// Runs `function.forward` on `args` and records the call; what `apply` gives.
#[pyfunction]
fn _apply(
    py: Python<'_>,
    name: &str,
    context: &Bound<'_, PyContext>,
    args: &Bound<'_, PyTuple>,
) -> PyResult<Py<PyAny>> {
    let name = intern_name(name);
    let found: Vec<Option<Tensor>> = args.iter().map(|x| tensor_of(&x)).collect();
    let slots: Vec<usize> = (0..found.len()).filter(|k| found[*k].is_some()).collect();
    let inputs: Vec<&Tensor> = found.iter().flatten().collect();
    let call = Call::start(name, &inputs).map_err(|e| raise(py, e))?;
    let mut cx = call.context();
    let needs = found.iter().map(|t| t.as_ref().is_some_and(Tensor::requires_grad));
    let context = context.as_any();
    context.setattr(intern!(py, "needs_input_grad"), PyTuple::new(py, needs.collect::<Vec<bool>>())?)?;

    let given = {
        let _mode = grad::set_grad_enabled(false);
        context.call_method1(intern!(py, "_forward"), args)?
    };
    let single = !given.is_instance_of::<PyTuple>();
    let given: Vec<Bound<'_, PyAny>> = match given.cast::<PyTuple>() {
        Ok(t) => t.iter().collect(),
        Err(_) => vec![given],
    };
    let outs: Vec<Option<Tensor>> = given.iter().map(tensor_of).collect();

    let saved = marked(context, "_to_save", "save_for_backward")?;
    cx.save_for_backward(&saved.iter().collect::<Vec<_>>());
    marked(context, "_dirty", "mark_dirty")?.iter().for_each(|t| cx.mark_dirty(t));
    marked(context, "_still", "mark_non_differentiable")?.iter().for_each(|t| cx.mark_non_differentiable(t));
    cx.set_materialize_grads(context.getattr("_materialize")?.is_truthy()?);
    context.call_method0(intern!(py, "_forget"))?;

    let kept: Kept = Arc::new(PyKept(context.clone().unbind()));
    let results: Vec<bool> = outs.iter().map(Option::is_some).collect();
    let body = Backward { context: kept, name, slots, arguments: found.len(), results };
    let tensors: Vec<Tensor> = outs.iter().flatten().cloned().collect();
    let (tensors, node) = call.finish(Box::new(body), cx, tensors).map_err(|e| raise(py, e))?;
    if let (Some(node), Ok(context)) = (node, context.cast::<PyContext>()) {
        let _ = context.get().node.set(Arc::downgrade(&node));
    }
    let mut tensors = tensors.into_iter();
    let mut results: Vec<Py<PyAny>> = Vec::with_capacity(given.len());
    for (object, out) in given.into_iter().zip(outs) {
        // Results that are no tensors pass through.
        results.push(match out.and_then(|_| tensors.next()) {
            Some(t) => wrap(py, t)?,
            None => object.unbind(),
        });
    }
    match (single, results.pop()) {
        (true, Some(only)) => Ok(only),
        (_, last) => {
            results.extend(last);
            Ok(PyTuple::new(py, results)?.into_any().unbind())
        }
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(_apply, m)?)?;
    m.add_class::<PyContext>()
}
