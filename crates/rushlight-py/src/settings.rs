//! What holds for the whole process (default dtype, threads), and questions about types.

use crate::args::operand;
use crate::attributes::Arg;
use crate::dtype::{PyDType, dtype_object};
use crate::gate::{raise, run};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rushlight::op::AsOperand;
use rushlight::op::Returns;

/// The float dtype that results get when integers meet floats.
#[pyfunction]
fn get_default_dtype(py: Python<'_>) -> PyResult<Py<PyDType>> {
    dtype_object(py, rushlight::default_dtype())
}

/// Changes the default dtype, for the whole process.
#[pyfunction]
fn _set_default_dtype(py: Python<'_>, dtype: &Bound<'_, PyDType>) -> PyResult<()> {
    rushlight::set_default_dtype(dtype.get().0).map_err(|e| raise(py, e))
}

/// The smallest dtype that both can be cast to.
#[pyfunction]
fn promote_types(
    py: Python<'_>,
    type1: &Bound<'_, PyDType>,
    type2: &Bound<'_, PyDType>,
) -> PyResult<Py<PyDType>> {
    let (a, b) = (type1.get().0, type2.get().0);
    dtype_object(py, if a == b { a } else { a.promote(b).map_err(|e| raise(py, e))? })
}

/// The dtype that arithmetic between two tensors or numbers has.
#[pyfunction]
fn result_type(
    py: Python<'_>,
    tensor1: &Bound<'_, PyAny>,
    tensor2: &Bound<'_, PyAny>,
) -> PyResult<Py<PyDType>> {
    let mut operands = Vec::with_capacity(2);
    for x in [tensor1, tensor2] {
        operands.push(operand(x)?.ok_or_else(|| {
            PyTypeError::new_err(format!(
                "result_type: takes tensors and numbers, not {}",
                x.get_type().name().map_or_else(|_| "?".into(), |n| n.to_string())
            ))
        })?);
    }
    let operands: Vec<_> = operands.iter().map(AsOperand::as_operand).collect();
    dtype_object(py, rushlight::op::result_type(&operands).map_err(|e| raise(py, e))?)
}

/// Whether a result of dtype `from_` may be written into a tensor of dtype `to`.
#[pyfunction]
fn can_cast(from_: &Bound<'_, PyDType>, to: &Bound<'_, PyDType>) -> bool {
    from_.get().0.category() <= to.get().0.category()
}

/// Whether shape and every element are equal; NaN equals nothing.
#[pyfunction]
fn equal(py: Python<'_>, input: Arg, other: Arg) -> PyResult<bool> {
    run(py, input.numel(), || input.equal(&other))
}

/// Threads that an op may use.
#[pyfunction]
fn get_num_threads() -> usize {
    rushlight::num_threads()
}

/// Sets how many threads an op may use.
#[pyfunction]
fn set_num_threads(int: usize) -> PyResult<()> {
    if int == 0 {
        return Err(PyRuntimeError::new_err("set_num_threads: takes a positive number"));
    }
    rushlight::set_num_threads(int);
    Ok(())
}

/// On this thread products run in `dtype` (float16 or bfloat16) from now on, or in their own for
/// `None`; gives the one before.
#[pyfunction]
#[pyo3(signature = (dtype))]
fn _set_autocast(py: Python<'_>, dtype: Option<&Bound<'_, PyDType>>) -> PyResult<Option<Py<PyDType>>> {
    let before = rushlight::op::set_autocast(dtype.map(|d| d.get().0)).map_err(|e| raise(py, e))?;
    before.map(|d| dtype_object(py, d)).transpose()
}

/// The dtype that products run in on this thread, if another than their own.
#[pyfunction]
fn _autocast_dtype(py: Python<'_>) -> PyResult<Option<Py<PyDType>>> {
    rushlight::op::autocast_dtype().map(|d| dtype_object(py, d)).transpose()
}

/// What the op table says of every public name, for stubs and the table in the documentation: for each
/// form its parameters as (name, type, default or None, keyword only), what it gives, and flags.
#[pyfunction]
fn _table(py: Python<'_>) -> PyResult<Py<PyList>> {
    let list = PyList::empty(py);
    for entry in crate::call::entries() {
        let forms = PyList::empty(py);
        for form in &entry.forms {
            let def = form.def;
            let about = PyDict::new(py);
            let params: Vec<_> = def
                .params
                .iter()
                .map(|p| {
                    let default = p.default.map(|(text, _)| crate::docs::python_default(text));
                    (p.name, p.ty.name(), default, p.keyword_only)
                })
                .collect();
            about.set_item("params", params)?;
            about.set_item("method", def.method)?;
            about.set_item("inplace", form.inplace)?;
            about.set_item("factory", form.factory)?;
            about.set_item("differentiable", def.grad.is_some())?;
            about.set_item("out", def.out.is_some())?;
            about.set_item("doc", def.doc)?;
            match def.returns {
                Returns::One => about.set_item("returns", "Tensor")?,
                Returns::List => about.set_item("returns", "tuple[Tensor, ...]")?,
                Returns::Tuple(fields) => about.set_item("returns", fields.to_vec())?,
            }
            forms.append(about)?;
        }
        list.append((&entry.name, forms))?;
    }
    Ok(list.unbind())
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add_function(wrap_pyfunction!(get_default_dtype, m)?)?;
    m.add_function(wrap_pyfunction!(_set_default_dtype, m)?)?;
    m.add_function(wrap_pyfunction!(promote_types, m)?)?;
    m.add_function(wrap_pyfunction!(result_type, m)?)?;
    m.add_function(wrap_pyfunction!(can_cast, m)?)?;
    m.add_function(wrap_pyfunction!(equal, m)?)?;
    m.add_function(wrap_pyfunction!(get_num_threads, m)?)?;
    m.add_function(wrap_pyfunction!(set_num_threads, m)?)?;
    m.add_function(wrap_pyfunction!(_set_autocast, m)?)?;
    m.add_function(wrap_pyfunction!(_autocast_dtype, m)?)?;
    m.add_function(wrap_pyfunction!(_table, m)?)
}
