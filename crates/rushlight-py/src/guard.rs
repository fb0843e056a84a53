//! Entry from CPython into Rust for functions that PyO3 does not make itself.

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `body`; an error becomes the pending exception, and so does a panic, which must not unwind
/// into C.
///
/// # Safety
/// The interpreter is held by this thread, as it is whenever CPython calls.
pub unsafe fn guarded(body: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>>) -> *mut ffi::PyObject {
    // SAFETY: the caller holds the interpreter.
    unsafe {
        Python::attach_unchecked(|py| match catch_unwind(AssertUnwindSafe(|| body(py))) {
            Ok(Ok(object)) => object.into_ptr(),
            Ok(Err(e)) => {
                e.restore(py);
                std::ptr::null_mut()
            }
            Err(_) => {
                PyRuntimeError::new_err("rushlight: a bug in rushlight was caught; please report it")
                    .restore(py);
                std::ptr::null_mut()
            }
        })
    }
}
