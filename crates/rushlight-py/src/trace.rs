//! Copies made visible: logs of them, their prohibition, and the line of Python they come from.

use pyo3::exceptions::PyIndexError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use rushlight::trace::{Line, Log, Observer, set_line_finder};
use std::cell::RefCell;
use std::sync::PoisonError;

/// The line that Python is at: the innermost that is not of the package itself.
fn find_line() -> Option<Line> {
    Python::attach(|py| search(py).ok().flatten())
}

fn search(py: Python<'_>) -> PyResult<Option<Line>> {
    static FRAME: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static FOLDER: PyOnceLock<String> = PyOnceLock::new();
    let first =
        FRAME.get_or_try_init(py, || PyResult::Ok(py.import("sys")?.getattr("_getframe")?.unbind()))?;
    let folder = FOLDER.get_or_try_init(py, || -> PyResult<String> {
        py.import("rushlight")?.getattr("__path__")?.get_item(0)?.extract()
    })?;
    let mut frame = first.bind(py).call0()?;
    while !frame.is_none() {
        let file: String =
            frame.getattr(intern!(py, "f_code"))?.getattr(intern!(py, "co_filename"))?.extract()?;
        let own = file.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with(['/', '\\']));
        if !own {
            // A frame that is being left has no line.
            let line: Option<u32> = frame.getattr(intern!(py, "f_lineno"))?.extract()?;
            return Ok(Some(Line::new(file, line.unwrap_or(0))));
        }
        frame = frame.getattr(intern!(py, "f_back"))?;
    }
    Ok(None)
}

thread_local! {
    /// What Python's context managers observe on this thread, innermost last.
    static OBSERVERS: RefCell<Vec<Observer>> = const { RefCell::new(Vec::new()) };
}

/// The copies seen so far.
#[pyclass(name = "_Log", module = "rushlight._C", frozen)]
struct PyLog(Log);

#[pymethods]
impl PyLog {
    #[new]
    fn new() -> PyLog {
        PyLog(Log::default())
    }
    fn __len__(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
    /// `(op, bytes, shape, reason, file, line)` of copy `k`.
    fn get<'py>(&self, py: Python<'py>, k: usize) -> PyResult<Bound<'py, PyTuple>> {
        let copy = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(k).cloned();
        let Some(c) = copy else { return Err(PyIndexError::new_err("no such copy")) };
        let shape = crate::attributes::size(py, &c.shape)?;
        (c.op, c.bytes, shape, c.reason, c.location.file(), c.location.line()).into_pyobject(py)
    }
}

/// Begins to log this thread's copies.
#[pyfunction]
fn _log_copies(log: &PyLog) {
    let observer = Observer::logging(log.0.clone());
    OBSERVERS.with_borrow_mut(|o| o.push(observer));
}

/// Begins to refuse this thread's copies.
#[pyfunction]
fn _forbid_copies() {
    let observer = Observer::forbidding();
    OBSERVERS.with_borrow_mut(|o| o.push(observer));
}

/// Ends what was begun last on this thread.
#[pyfunction]
fn _end_observing() {
    drop(OBSERVERS.with_borrow_mut(Vec::pop));
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    set_line_finder(find_line);
    m.add_class::<PyLog>()?;
    m.add_function(wrap_pyfunction!(_log_copies, m)?)?;
    m.add_function(wrap_pyfunction!(_forbid_copies, m)?)?;
    m.add_function(wrap_pyfunction!(_end_observing, m)?)
}
