//! Symbolic numbers: what the arguments of a user's formula are while `pointwise` traces it.
//!
//! Their methods and functions are the pointwise rows of the op table.

use crate::args::{Call, operand};
use crate::call::{Entry, entries};
use crate::gate::raise;
use crate::number::plain_number;
use crate::object::wrap;
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyTuple};
use rushlight::op::{PointRow, Rule, Run, Traced};
use rushlight::{Operand, Scalar};
use std::cell::{Cell, RefCell};

thread_local! {
    /// Whether the formula that is being traced used an op that gives floats for integers.
    static FRACTIONAL: Cell<bool> = const { Cell::new(false) };
}

/// A number of a formula that is being traced: it records what is done to it.
#[pyclass(name = "Scalar", module = "rushlight", frozen)]
pub struct PyScalar(Scalar);

type Item<'py> = Bound<'py, PyAny>;

/// A symbolic number, or a plain one as part of the formula.
fn scalar(x: &Item<'_>) -> PyResult<Option<Scalar>> {
    if let Ok(s) = x.cast::<PyScalar>() {
        return Ok(Some(s.get().0));
    }
    Ok(plain_number(x)?.map(Scalar::number))
}

fn rows(entry: &Entry) -> impl Iterator<Item = &'static PointRow> + '_ {
    entry.forms.iter().filter(|f| !f.inplace).filter_map(|f| match &f.def.run {
        Run::Pointwise(row) => Some(*row),
        _ => None,
    })
}

/// A row's formula on arguments given by position and by name; none when they do not fit it.
fn on_row(
    row: &PointRow,
    names: &[&str],
    args: &[Item<'_>],
    named: &[(String, Item<'_>)],
) -> PyResult<Option<Scalar>> {
    let operands = row.operands.len();
    if args.len() > operands {
        return Ok(None);
    }
    let mut used = 0;
    let mut values = Vec::with_capacity(operands + row.defaults().len());
    for (k, name) in names.iter().enumerate() {
        let by_name = named.iter().find(|(n, _)| n == name).map(|(_, x)| x);
        used += usize::from(by_name.is_some());
        let given = if k < operands { args.get(k).or(by_name) } else { by_name };
        let value = match given {
            Some(x) => scalar(x)?,
            None if k < operands => None,
            None => Some(Scalar::number(row.defaults()[k - operands])),
        };
        let Some(value) = value else { return Ok(None) };
        values.push(value);
    }
    if used != named.len() {
        return Ok(None);
    }
    if row.rule == Rule::Float {
        FRACTIONAL.with(|f| f.set(true));
    }
    Ok(row.on_scalars(&values))
}

/// The op called `name` on symbolic numbers.
fn on_scalars(entry: &Entry, args: &[Item<'_>], named: &[(String, Item<'_>)]) -> PyResult<Option<Scalar>> {
    for form in entry.forms.iter().filter(|f| !f.inplace) {
        let Run::Pointwise(row) = &form.def.run else { continue };
        let names: Vec<&str> = form.def.params.iter().map(|p| p.name).collect();
        if let Some(s) = on_row(row, &names, args, named)? {
            return Ok(Some(s));
        }
    }
    Ok(None)
}

fn entry(name: &str) -> Option<&'static Entry> {
    let all = entries();
    all.binary_search_by(|e| e.name.as_str().cmp(name)).ok().map(|k| &all[k])
}

/// A function of the module called on symbolic numbers, if it is.
#[cold]
pub fn function(entry: &Entry, call: &Call<'_, '_>) -> PyResult<Option<Py<PyAny>>> {
    let (args, named) = call.items()?;
    let symbolic = |x: &Item<'_>| x.is_instance_of::<PyScalar>();
    if !args.iter().chain(named.iter().map(|(_, x)| x)).any(symbolic) {
        return Ok(None);
    }
    let result = match entry.name.as_str() {
        // Its bounds may be absent, so it is no formula but a choice of them.
        "clamp" | "clip" => clamp(&args, &named)?,
        _ => on_scalars(entry, &args, &named)?,
    };
    match result {
        Some(s) => Ok(Some(Py::new(call.py, PyScalar(s))?.into_any())),
        None => Err(untraceable(&entry.name)),
    }
}

fn clamp(args: &[Item<'_>], named: &[(String, Item<'_>)]) -> PyResult<Option<Scalar>> {
    let find = |k: usize, name: &str| args.get(k).or(named.iter().find(|(n, _)| n == name).map(|(_, x)| x));
    let (Some(x), low, high) = (find(0, "input"), find(1, "min"), find(2, "max")) else { return Ok(None) };
    let Some(mut x) = scalar(x)? else { return Ok(None) };
    if let Some(low) = low.filter(|b| !b.is_none()).map(scalar).transpose()?.flatten() {
        x = x.le(low).select(low, x);
    }
    if let Some(high) = high.filter(|b| !b.is_none()).map(scalar).transpose()?.flatten() {
        x = x.ge(high).select(high, x);
    }
    Ok(Some(x))
}

#[cold]
fn untraceable(name: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "pointwise: {name} is no operation of single numbers with these arguments, so a formula cannot use it"
    ))
}

#[cold]
fn no_value(what: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "pointwise: {what} needs a value, and an argument of a formula has none while it is traced; choose with where(condition, a, b), and compute with rushlight's functions"
    ))
}

/// Calls the op `name`, or says that Python should try the other operand.
fn operator(py: Python<'_>, name: &str, args: &[Item<'_>]) -> PyResult<Py<PyAny>> {
    let found = match entry(name) {
        Some(e) => on_scalars(e, args, &[])?,
        None => None,
    };
    match found {
        Some(s) => Ok(Py::new(py, PyScalar(s))?.into_any()),
        None => Ok(py.NotImplemented()),
    }
}

/// `&`, `|` and `^`: logic for truth values, bits for numbers.
fn logic(slf: &Bound<'_, PyScalar>, other: &Item<'_>, op: &str) -> PyResult<Py<PyAny>> {
    // A plain True or False beside a truth value is one too.
    let both = other.is_instance_of::<PyBool>() || scalar(other)?.is_some_and(Scalar::is_truth);
    let truth = slf.get().0.is_truth() && both;
    let name = format!("{}_{op}", if truth { "logical" } else { "bitwise" });
    operator(slf.py(), &name, &[slf.as_any().clone(), other.clone()])
}

macro_rules! operators {
    ($($method:ident $reflected:ident $name:literal;)*) => {
        #[pymethods]
        impl PyScalar {
            $(
                fn $method(slf: &Bound<'_, Self>, other: &Item<'_>) -> PyResult<Py<PyAny>> {
                    operator(slf.py(), $name, &[slf.as_any().clone(), other.clone()])
                }
                fn $reflected(slf: &Bound<'_, Self>, other: &Item<'_>) -> PyResult<Py<PyAny>> {
                    operator(slf.py(), $name, &[other.clone(), slf.as_any().clone()])
                }
            )*
        }
    };
}
operators! {
    __add__ __radd__ "add";
    __sub__ __rsub__ "sub";
    __mul__ __rmul__ "mul";
    __truediv__ __rtruediv__ "div";
    __floordiv__ __rfloordiv__ "floor_divide";
    __mod__ __rmod__ "remainder";
    __lshift__ __rlshift__ "bitwise_left_shift";
    __rshift__ __rrshift__ "bitwise_right_shift";
}

#[pymethods]
impl PyScalar {
    fn __pow__(slf: &Bound<'_, Self>, other: &Item<'_>, _modulo: &Item<'_>) -> PyResult<Py<PyAny>> {
        operator(slf.py(), "pow", &[slf.as_any().clone(), other.clone()])
    }
    fn __rpow__(slf: &Bound<'_, Self>, other: &Item<'_>, _modulo: &Item<'_>) -> PyResult<Py<PyAny>> {
        operator(slf.py(), "pow", &[other.clone(), slf.as_any().clone()])
    }
    fn __and__(slf: &Bound<'_, Self>, other: &Item<'_>) -> PyResult<Py<PyAny>> {
        logic(slf, other, "and")
    }
    fn __or__(slf: &Bound<'_, Self>, other: &Item<'_>) -> PyResult<Py<PyAny>> {
        logic(slf, other, "or")
    }
    fn __xor__(slf: &Bound<'_, Self>, other: &Item<'_>) -> PyResult<Py<PyAny>> {
        logic(slf, other, "xor")
    }
    fn __invert__(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let name = if slf.get().0.is_truth() { "logical_not" } else { "bitwise_not" };
        operator(slf.py(), name, &[slf.as_any().clone()])
    }
    fn __neg__(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        operator(slf.py(), "neg", &[slf.as_any().clone()])
    }
    fn __abs__(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        operator(slf.py(), "abs", &[slf.as_any().clone()])
    }
    fn __pos__(slf: Py<Self>) -> Py<Self> {
        slf
    }
    fn __richcmp__(slf: &Bound<'_, Self>, other: &Item<'_>, op: CompareOp) -> PyResult<Py<PyAny>> {
        let name = match op {
            CompareOp::Eq => "eq",
            CompareOp::Ne => "ne",
            CompareOp::Lt => "lt",
            CompareOp::Le => "le",
            CompareOp::Gt => "gt",
            CompareOp::Ge => "ge",
        };
        operator(slf.py(), name, &[slf.as_any().clone(), other.clone()])
    }
    fn __hash__(slf: &Bound<'_, Self>) -> usize {
        slf.as_ptr().addr() >> 4
    }
    fn __bool__(&self) -> PyResult<bool> {
        Err(no_value("a truth test (if, while, and, or, not)"))
    }
    fn __float__(&self) -> PyResult<f64> {
        Err(no_value("float()"))
    }
    fn __int__(&self) -> PyResult<i64> {
        Err(no_value("int()"))
    }
    fn __index__(&self) -> PyResult<i64> {
        Err(no_value("an index"))
    }
    fn __len__(&self) -> PyResult<usize> {
        Err(no_value("len()"))
    }
    fn __iter__(&self) -> PyResult<Py<PyAny>> {
        Err(no_value("iteration"))
    }
    fn __getitem__(&self, _key: &Item<'_>) -> PyResult<Py<PyAny>> {
        Err(no_value("indexing"))
    }
    fn __repr__(&self) -> &'static str {
        "<an argument of a formula that is being traced>"
    }
    /// `self` where `condition`, else `other`.
    fn r#where(slf: &Bound<'_, Self>, condition: &Item<'_>, other: &Item<'_>) -> PyResult<Py<PyAny>> {
        operator(slf.py(), "where", &[condition.clone(), slf.as_any().clone(), other.clone()])
    }
    /// Between `min` and `max`, where given.
    #[pyo3(signature = (min=None, max=None))]
    fn clamp(slf: &Bound<'_, Self>, min: Option<Item<'_>>, max: Option<Item<'_>>) -> PyResult<PyScalar> {
        let none = || slf.py().None().into_bound(slf.py());
        let args = [slf.as_any().clone(), min.unwrap_or_else(none), max.unwrap_or_else(none)];
        clamp(&args, &[])?.map(PyScalar).ok_or_else(|| untraceable("clamp"))
    }
    /// Every pointwise op of the table is a method.
    fn __getattr__(slf: &Bound<'_, Self>, name: &str) -> PyResult<Method> {
        match entry(name).filter(|e| e.is_method() && rows(e).next().is_some()) {
            Some(entry) => Ok(Method { entry, slf: slf.clone().unbind() }),
            None => Err(PyAttributeError::new_err(format!(
                "pointwise: {name} is no operation of single numbers, so a formula cannot use it"
            ))),
        }
    }
}

/// A method of a symbolic number, before it is called.
#[pyclass(name = "_ScalarMethod", module = "rushlight._C", frozen)]
struct Method {
    entry: &'static Entry,
    slf: Py<PyScalar>,
}

#[pymethods]
impl Method {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyScalar> {
        let mut all = vec![self.slf.bind(py).as_any().clone()];
        all.extend(args.iter());
        let mut named = Vec::new();
        for (k, v) in kwargs.into_iter().flatten() {
            named.push((k.extract::<String>()?, v));
        }
        on_scalars(self.entry, &all, &named)?.map(PyScalar).ok_or_else(|| untraceable(&self.entry.name))
    }
}

/// A formula after tracing.
#[pyclass(name = "_Formula", module = "rushlight._C", frozen)]
struct PyFormula {
    traced: Traced,
    single: bool,
}

/// Calls `function` once on `inputs` symbolic numbers.
#[pyfunction]
fn _trace(py: Python<'_>, function: &Bound<'_, PyAny>, inputs: usize) -> PyResult<PyFormula> {
    let (failed, single) = (RefCell::new(None), Cell::new(true));
    let outer = FRACTIONAL.with(|f| f.replace(false));
    let traced = Traced::new(inputs, |x| {
        let run = || -> PyResult<Vec<Scalar>> {
            let args: Vec<PyScalar> = x.iter().copied().map(PyScalar).collect();
            let result = function.call1(PyTuple::new(py, args)?)?;
            let parts: Vec<Item<'_>> = match result.cast::<PyTuple>() {
                Ok(t) => {
                    single.set(false);
                    t.iter().collect()
                }
                Err(_) => vec![result],
            };
            let wrong = |x: &Item<'_>| match x.get_type().name() {
                Ok(name) => PyTypeError::new_err(format!(
                    "pointwise: the formula returned a {name}; it must return what it computed, or a tuple of that"
                )),
                Err(e) => e,
            };
            parts.iter().map(|p| scalar(p)?.ok_or_else(|| wrong(p))).collect()
        };
        let results = run().unwrap_or_else(|e| {
            *failed.borrow_mut() = Some(e);
            Vec::new()
        });
        (results, FRACTIONAL.with(Cell::get))
    });
    FRACTIONAL.with(|f| f.set(outer));
    match failed.into_inner() {
        Some(e) => Err(e),
        None => Ok(PyFormula { traced: traced.map_err(|e| raise(py, e))?, single: single.get() }),
    }
}

#[pymethods]
impl PyFormula {
    #[pyo3(signature = (*args))]
    fn __call__(&self, py: Python<'_>, args: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
        let mut operands: Vec<Operand> = Vec::with_capacity(args.len());
        for (k, x) in args.iter().enumerate() {
            operands.push(match operand(&x)? {
                Some(o) => o,
                None => {
                    return Err(PyTypeError::new_err(format!(
                        "pointwise: argument {k} must be a tensor or a number, not {}",
                        x.get_type().name()?
                    )));
                }
            });
        }
        let size = |o: &Operand| if let Operand::Tensor(t) = o { t.numel() } else { 0 };
        let work = operands.iter().map(size).fold(0, usize::saturating_add);
        let mut outs = crate::gate::run(py, work, || self.traced.call(&operands))?;
        match (self.single, outs.len()) {
            (true, 1) => outs.pop().map_or_else(|| Ok(py.None()), |t| wrap(py, t)),
            _ => {
                let parts = outs.into_iter().map(|t| wrap(py, t)).collect::<PyResult<Vec<_>>>()?;
                Ok(PyTuple::new(py, parts)?.into_any().unbind())
            }
        }
    }
    /// The steps of the program.
    fn __repr__(&self) -> String {
        self.traced.listing()
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyScalar>()?;
    m.add_class::<PyFormula>()?;
    m.add_function(wrap_pyfunction!(_trace, m)?)
}
