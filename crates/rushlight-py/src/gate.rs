//! The one gate between Python and rushlight: releases the interpreter around long work, and turns
//! errors into torch's exception classes.

use pyo3::exceptions::{
    PyBufferError, PyIndexError, PyNotImplementedError, PyOSError, PyOverflowError, PyRuntimeError,
    PyTypeError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use rushlight::{Error, Kind};
use std::cell::RefCell;

thread_local! {
    /// An exception on its way through rushlight, which only knows its own errors.
    static PASSING: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Marks the error that stands for an exception on its way.
const PASSING_OP: &str = "python";

/// Elements from which other threads may run Python meanwhile.
const LONG: usize = 1 << 15;

/// `torch._C._LinAlgError`.
static LINALG_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Runs `f`, which works on about `elements` elements.
pub fn run<R: Send>(
    py: Python<'_>,
    elements: usize,
    f: impl FnOnce() -> rushlight::Result<R> + Send,
) -> PyResult<R> {
    if elements < LONG {
        return f().map_err(|e| raise(py, e));
    }
    let result = py.detach(f);
    py.check_signals()?;
    result.map_err(|e| raise(py, e))
}

/// Runs `f`, which may take long or call back into Python, without the interpreter.
pub fn run_long<R: Send>(py: Python<'_>, f: impl FnOnce() -> rushlight::Result<R> + Send) -> PyResult<R> {
    run(py, LONG, f)
}

/// An error of rushlight as the exception torch would raise.
#[cold]
pub fn raise(py: Python<'_>, e: Error) -> PyErr {
    if e.op() == PASSING_OP
        && let Some(passing) = PASSING.with_borrow_mut(Option::take)
    {
        return passing;
    }
    let text = e.to_string();
    match e.kind() {
        Kind::Runtime => PyRuntimeError::new_err(text),
        Kind::Index => PyIndexError::new_err(text),
        Kind::Type => PyTypeError::new_err(text),
        Kind::Value => PyValueError::new_err(text),
        Kind::NotImplemented => PyNotImplementedError::new_err(text),
        Kind::Overflow => PyOverflowError::new_err(text),
        Kind::Buffer => PyBufferError::new_err(text),
        Kind::Io => PyOSError::new_err(text),
        Kind::LinAlg => match linalg_error(py) {
            Ok(class) => PyErr::from_type(class.bind(py).clone(), text),
            Err(e) => e,
        },
    }
}

/// Sends an exception through rushlight; [`raise`] brings it out again.
#[cold]
pub fn pass(e: PyErr) -> Error {
    PASSING.with_borrow_mut(|p| *p = Some(e));
    Error::new(Kind::Runtime, PASSING_OP, "an exception was raised")
}

fn linalg_error(py: Python<'_>) -> PyResult<&'static Py<PyType>> {
    LINALG_ERROR.get_or_try_init(py, || {
        let class = PyErr::new_type(
            py,
            c"rushlight._C._LinAlgError",
            Some(c"A matrix is singular, or not positive definite."),
            Some(&py.get_type::<PyRuntimeError>()),
            None,
        )?;
        Ok(class)
    })
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("_LinAlgError", linalg_error(m.py())?.bind(m.py()))
}
