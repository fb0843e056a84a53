//! Functions and methods from the op table: every public name becomes a built-in function and, for
//! rows called on a tensor, a method; each tries the rows that share the name.

use crate::args::{Call, Extras, Form, parse};
use crate::gate;
use crate::object::wrap;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rushlight::Tensor;
use rushlight::op::{self, Args, OpDef, Outputs, Returns, Run, Value};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::OnceLock;

/// A public name and the rows behind it.
pub struct Entry {
    pub name: String,
    pub forms: Vec<Form>,
}

/// Every public name, sorted.
pub fn entries() -> &'static [Entry] {
    static ENTRIES: OnceLock<Vec<Entry>> = OnceLock::new();
    ENTRIES.get_or_init(|| {
        let mut by_name: BTreeMap<String, Vec<Form>> = BTreeMap::new();
        for def in op::table() {
            for name in def.names {
                by_name.entry((*name).to_string()).or_default().push(Form::new(def, false));
                if def.inplace.is_some() {
                    by_name.entry(format!("{name}_")).or_default().push(Form::new(def, true));
                }
            }
        }
        by_name
            .into_iter()
            .map(|(name, mut forms)| {
                // Those that take less for an argument are tried first.
                forms.sort_by_key(|f| f.operands().count_ones());
                let operands = forms.iter().fold(0, |all, f| all | f.operands());
                forms.iter_mut().for_each(|f| f.contested = operands);
                Entry { name, forms }
            })
            .collect()
    })
}

impl Entry {
    /// Whether it is called on a tensor too.
    pub fn is_method(&self) -> bool {
        self.forms.iter().any(|f| f.def.method)
    }
}

/// One C function for each entry, as CPython's built-ins carry no data of their own where they are
/// called on an object. They differ only in the number that they pass on.
unsafe extern "C" fn trampoline<const K: usize>(
    slf: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargs: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython calls this with the interpreter held and arguments as the protocol says.
    unsafe { enter(K, slf, args, nargs, names) }
}

/// # Safety
/// As for a `METH_FASTCALL | METH_KEYWORDS` function of CPython.
unsafe fn enter(
    k: usize,
    slf: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargs: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython calls with the interpreter held.
    let body = |py: Python<'_>| {
        // SAFETY: the arguments are as CPython passes them to such a function.
        let call = unsafe { Call::new(py, slf, args, nargs, names) };
        match entries().get(k) {
            Some(entry) => invoke(entry, &call),
            None => Err(PyTypeError::new_err("no such function")),
        }
    };
    // SAFETY: as above.
    unsafe { crate::guard::guarded(body) }
}

type Trampoline = unsafe extern "C" fn(
    *mut ffi::PyObject,
    *const *mut ffi::PyObject,
    ffi::Py_ssize_t,
    *mut ffi::PyObject,
) -> *mut ffi::PyObject;

macro_rules! sixteen {
    ($f:ident, $base:expr) => {
        [
            $f::<{ $base }>,
            $f::<{ $base + 1 }>,
            $f::<{ $base + 2 }>,
            $f::<{ $base + 3 }>,
            $f::<{ $base + 4 }>,
            $f::<{ $base + 5 }>,
            $f::<{ $base + 6 }>,
            $f::<{ $base + 7 }>,
            $f::<{ $base + 8 }>,
            $f::<{ $base + 9 }>,
            $f::<{ $base + 10 }>,
            $f::<{ $base + 11 }>,
            $f::<{ $base + 12 }>,
            $f::<{ $base + 13 }>,
            $f::<{ $base + 14 }>,
            $f::<{ $base + 15 }>,
        ]
    };
}
macro_rules! blocks {
    ($($k:literal)*) => { [$(sixteen!(trampoline, $k * 16) as [Trampoline; 16]),*] };
}

/// Enough for every name; `register` says so if not.
static TRAMPOLINES: &[[Trampoline; 16]] = &blocks!(
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
    64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95
);

/// Calls the first form that takes the arguments.
fn invoke(entry: &Entry, call: &Call<'_, '_>) -> PyResult<Py<PyAny>> {
    for form in &entry.forms {
        if let Some((args, extras)) = parse(form, call)? {
            return execute(call.py, form, args, extras);
        }
    }
    match crate::scalar::function(entry, call)? {
        Some(symbolic) => Ok(symbolic),
        None => Err(refusal(entry, call)),
    }
}

#[cold]
fn refusal(entry: &Entry, call: &Call<'_, '_>) -> PyErr {
    let forms: Vec<String> =
        entry.forms.iter().map(|f| format!("{}{}", entry.name, crate::docs::signature(f.def))).collect();
    PyTypeError::new_err(format!(
        "{}: no form takes {}; there is {}",
        entry.name,
        call.describe(),
        forms.join(", or ")
    ))
}

fn execute(py: Python<'_>, form: &Form, args: Args, extras: Extras<'_>) -> PyResult<Py<PyAny>> {
    let def = form.def;
    let work = args.iter().map(weight).fold(0, usize::saturating_add);
    if form.inplace {
        let t = gate::run(py, work, || op::dispatch_inplace(def, &args))?;
        return wrap(py, t);
    }
    if let Some(out) = &extras.out {
        return crate::out::into(py, def, &args, out);
    }
    // Views and factories know no size beforehand; only a large result is worth letting others run.
    let free = match def.run {
        Run::View(_) => true,
        Run::ViewOrCopy(_) => matches!(args.first(), Some(Value::Tensor(t)) if t.is_contiguous()),
        _ => false,
    };
    let work = if free { 0 } else { work };
    let mut outs = gate::run(py, work, || op::dispatch(def, &args))?;
    if let Some(format) = &extras.memory_format {
        outs = outs
            .into_iter()
            .map(|t| crate::layouts::in_format(py, t, format))
            .collect::<PyResult<Outputs>>()?;
    }
    if extras.requires_grad {
        for t in &outs {
            t.requires_grad_(true).map_err(|e| gate::raise(py, e))?;
        }
    }
    results(py, def, outs)
}

/// About how many elements an argument brings.
fn weight(v: &Value) -> usize {
    match v {
        Value::Tensor(t) | Value::OptTensor(Some(t)) => t.numel(),
        Value::Operand(rushlight::Operand::Tensor(t)) => t.numel(),
        Value::Tensors(list) => list.iter().map(Tensor::numel).fold(0, usize::saturating_add),
        Value::Size(s) => s.0.iter().fold(1, |n, d| usize::try_from(*d).unwrap_or(1).saturating_mul(n)),
        _ => 0,
    }
}

/// What an op gave, as torch shows it: a tensor, a named tuple or a tuple.
pub fn results(py: Python<'_>, def: &OpDef, mut outs: Outputs) -> PyResult<Py<PyAny>> {
    match def.returns {
        Returns::One => outs.pop().map_or_else(|| Ok(py.None()), |t| wrap(py, t)),
        Returns::List => tuple(py, outs),
        Returns::Tuple(fields) => {
            let plain = tuple(py, outs)?;
            let name = def.names.first().copied().unwrap_or(def.name);
            named(py, name, fields)?.call1(py, (plain,))
        }
    }
}

fn tuple(py: Python<'_>, outs: Outputs) -> PyResult<Py<PyAny>> {
    let items = outs.into_iter().map(|t| wrap(py, t)).collect::<PyResult<Vec<_>>>()?;
    Ok(PyTuple::new(py, items)?.into_any().unbind())
}

/// The class `rushlight.return_types.NAME`.
fn named(py: Python<'_>, name: &str, fields: &[&str]) -> PyResult<Py<PyAny>> {
    static MAKE: pyo3::sync::PyOnceLock<Py<PyAny>> = pyo3::sync::PyOnceLock::new();
    let make = MAKE.get_or_try_init(py, || {
        PyResult::Ok(py.import("rushlight.return_types")?.getattr("_class")?.unbind())
    })?;
    make.call1(py, (name, fields.to_vec()))
}

/// A built-in function for each name in the module, and a method for those called on a tensor.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    let class = py.get_type::<crate::object::PyTensor>();
    let functions = PyDict::new(py);
    for (k, entry) in entries().iter().enumerate() {
        let Some(meth) = TRAMPOLINES.get(k / 16).map(|b| b[k % 16]) else {
            return Err(PyTypeError::new_err("more names than trampolines: add a block in call.rs"));
        };
        let text = crate::docs::method_doc(entry);
        // Method tables live as long as the process, as those of any built-in do.
        let definition = Box::leak(Box::new(ffi::PyMethodDef {
            ml_name: leak(&entry.name)?,
            ml_meth: ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: meth },
            ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
            ml_doc: leak(&text)?,
        }));
        // SAFETY: the definition lives forever and says rightly how the function is called.
        let function = unsafe {
            Bound::from_owned_ptr_or_err(
                py,
                ffi::PyCFunction_NewEx(definition, std::ptr::null_mut(), m.name()?.as_ptr()),
            )?
        };
        functions.set_item(&entry.name, function)?;
        if entry.is_method() {
            // SAFETY: as above; the class is a heap type, and `enter` checks what it is called on.
            let method = unsafe {
                Bound::from_owned_ptr_or_err(py, ffi::PyDescr_NewMethod(class.as_type_ptr(), definition))?
            };
            class.setattr(&*entry.name, method)?;
        }
    }
    m.add("_functions", functions)
}

fn leak(text: &str) -> PyResult<*const std::ffi::c_char> {
    Ok(CString::new(text)?.into_raw().cast_const())
}
