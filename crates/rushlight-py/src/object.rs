//! The Python object of a tensor.
//!
//! One tensor has one object: the tensor remembers it (see `Tensor::binding`), so that in-place ops,
//! `to` without a change, `.grad` and the like give back the very object they were called on.

use pyo3::ffi;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use rushlight::Tensor;
use rushlight::grad::visit_kept;
use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::Ordering::Relaxed;

/// An n-dimensional array of one dtype.
#[pyclass(name = "Tensor", module = "rushlight", subclass, dict, weakref, frozen)]
pub struct PyTensor(UnsafeCell<State>, Cell<usize>);

struct State {
    now: Tensor,
    /// The root that it was before `t_()` and the like; views of that still know it.
    former: Vec<Tensor>,
    /// The object of the tensor it is a view of: attributes set on it live as long. Only kept.
    _base: Option<Py<PyAny>>,
}

// SAFETY: the cells are only touched through methods that take a `Python` token, so by the thread
// that holds the interpreter (the module asks for the GIL), and none of them runs Python code or
// gives out a reference into the cell.
unsafe impl Sync for PyTensor {}
// SAFETY: as above; what is inside is Send.
unsafe impl Send for PyTensor {}

impl PyTensor {
    /// A handle of the tensor.
    #[inline]
    pub fn get(&self, _: Python<'_>) -> Tensor {
        // SAFETY: the token shows that this thread holds the interpreter; see the type.
        unsafe { (*self.0.get()).now.clone() }
    }

    /// Makes this object stand for `new`.
    pub fn exchange(slf: &Bound<'_, PyTensor>, new: Tensor) {
        let (this, me) = (slf.get(), slf.as_ptr().addr());
        new.binding().store(me, Relaxed);
        this.1.set(me);
        // Only a root that `new` is a view of is remembered: it lives anyway. All else may go, or a
        // loop that sets `data` would keep every value that there ever was.
        let is_root = |old: &Tensor| new.base().is_some_and(|b| b.is(old));
        // SAFETY: the token in `slf` shows that this thread holds the interpreter; see the type.
        let state = unsafe { &mut *this.0.get() };
        let remember = is_root(&state.now);
        let old = std::mem::replace(&mut state.now, new);
        if remember {
            state.former.push(old);
        } else {
            let _ = old.binding().compare_exchange(me, 0, Relaxed, Relaxed);
            drop(old); // nothing of the cell is borrowed any more
        }
    }

    /// Whether `t` is, or was, the tensor of this object.
    pub fn stands_for(&self, _: Python<'_>, t: &Tensor) -> bool {
        // SAFETY: the token shows that this thread holds the interpreter; see the type.
        let state = unsafe { &*self.0.get() };
        state.now.is(t) || state.former.iter().any(|f| f.is(t))
    }

    /// An object of a class that derives from Tensor, before it has its address.
    pub fn bare(now: Tensor) -> PyTensor {
        PyTensor(UnsafeCell::new(State { now, former: Vec::new(), _base: None }), Cell::new(0))
    }
}

impl Drop for PyTensor {
    fn drop(&mut self) {
        let me = self.1.get();
        let state = self.0.get_mut();
        for t in std::iter::once(&state.now).chain(&state.former) {
            // Another object may have been made for it while this one was dying.
            let _ = t.binding().compare_exchange(me, 0, Relaxed, Relaxed);
        }
    }
}

/// The object of a tensor: the one it has, or a new one.
#[inline]
pub fn wrap(py: Python<'_>, t: Tensor) -> PyResult<Py<PyAny>> {
    let known = t.binding().load(Relaxed);
    if known != 0 {
        // SAFETY: an object clears the word before its memory goes.
        if let Some(object) = unsafe { alive(py, known) } {
            return Ok(object.unbind());
        }
    }
    fresh(py, t)
}

/// The object at an address that was remembered; `None` while it is being torn down, when its count
/// is 0 and it must not be revived.
///
/// # Safety
/// The object's memory is still its own: whoever remembers the address forgets it before that goes.
#[inline]
pub unsafe fn alive(py: Python<'_>, address: usize) -> Option<Bound<'_, PyAny>> {
    let ptr = address as *mut ffi::PyObject;
    // SAFETY: the caller's promise; the token shows that the count does not change meanwhile.
    unsafe { (ffi::Py_REFCNT(ptr) > 0).then(|| Bound::from_borrowed_ptr(py, ptr)) }
}

fn fresh(py: Python<'_>, t: Tensor) -> PyResult<Py<PyAny>> {
    let base = match t.base() {
        Some(b) => {
            let at = b.binding().load(Relaxed);
            if at == 0 { None } else { Some(wrap(py, b.clone())?) }
        }
        None => None,
    };
    let object = Py::new(
        py,
        PyTensor(UnsafeCell::new(State { now: t, former: Vec::new(), _base: base }), Cell::new(0)),
    )?;
    adopt(object.bind(py));
    Ok(object.into_any())
}

/// Tells the tensor about its object, once the object has its address.
#[inline]
pub fn adopt(object: &Bound<'_, PyTensor>) {
    let this = object.get();
    this.1.set(object.as_ptr().addr());
    this.get(object.py()).binding().store(object.as_ptr().addr(), Relaxed);
}

/// The tensor of an object, if it is one.
#[inline]
pub fn tensor_of(x: &Bound<'_, PyAny>) -> Option<Tensor> {
    x.cast::<PyTensor>().ok().map(|t| {
        if t.get().1.get() == 0 {
            adopt(t); // made by a derived class
        }
        t.get().get(x.py())
    })
}

#[pymethods]
impl PyTensor {
    #[new]
    #[pyo3(signature = (*args, **kwargs))]
    fn new(
        args: &Bound<'_, pyo3::types::PyTuple>,
        kwargs: Option<&Bound<'_, pyo3::types::PyDict>>,
    ) -> PyResult<PyTensor> {
        crate::legacy::construct(args, kwargs).map(PyTensor::bare)
    }
    /// What the collector must see: the base's object, and hooks that only this object leads to.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // CPython may collect while it still makes this very object, as it allocates the `__dict__`
        // after the object: all of it is zero then, the address too.
        if self.1.get() == 0 {
            return Ok(());
        }
        // SAFETY: the collector runs with the interpreter held; see the type.
        let state = unsafe { &*self.0.get() };
        visit.call(&state._base)?;
        let mut result = Ok(());
        visit_kept(&state.now, &mut |kept| {
            if let (Some(kept), Ok(())) = (kept.downcast_ref::<crate::hooks::PyKept>(), &result) {
                result = visit.call(&kept.0);
            }
        });
        result
    }
    /// Hooks need no clearing: the functions and contexts they lead to are cleared themselves.
    fn __clear__(&self) {
        // SAFETY: the collector runs with the interpreter held; see the type.
        let base = unsafe { (*self.0.get())._base.take() };
        drop(base);
    }
    #[pyo3(signature = (*_args, **_kwargs))]
    fn __init__(
        &self,
        _args: &Bound<'_, pyo3::types::PyTuple>,
        _kwargs: Option<&Bound<'_, pyo3::types::PyDict>>,
    ) {
    }
}
