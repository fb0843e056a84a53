//! Python's arguments as those of a row: by position, by name, by default.

use crate::dtype::{as_device, as_dtype};
use crate::number::{Ints, all_ints, int, int_list, is_numpy_scalar, number, plain_number};
use crate::object::tensor_of;
use crate::random::as_generator;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyList, PyString, PyTuple};
use rushlight::op::{Args, OpDef, OptOperand, Param, ParamType, Run, Value};
use rushlight::{DType, Dims, Operand, Size, Tensor};
use smallvec::SmallVec;

/// A row as one form of a name that Python calls.
pub struct Form {
    pub def: &'static OpDef,
    /// Writes over its first argument.
    pub inplace: bool,
    /// Takes `f(2, 3)` for `f((2, 3))`: its only positional parameter is a list of integers.
    spread: Option<usize>,
    /// Makes a tensor from nothing: takes `requires_grad` and what torch's factories take.
    pub factory: bool,
    /// Positions where another form of the name takes a tensor: one there is no integer for this form.
    pub contested: u64,
    /// Its first operand may be a number, as torch's binary functions take it.
    takes_numbers: bool,
}

impl Form {
    pub fn new(def: &'static OpDef, inplace: bool) -> Form {
        let positional: SmallVec<[usize; 8]> = (0..def.params.len())
            .filter(|k| !(def.params[*k].keyword_only || def.method && *k == 0))
            .collect();
        let spread = match positional.as_slice() {
            [k] if matches!(def.params[*k].ty, ParamType::Size | ParamType::Dims) => Some(*k),
            _ => None,
        };
        let binary = def.params.get(1).is_some_and(|p| p.ty == ParamType::Operand);
        let takes_numbers = matches!(def.run, Run::Pointwise(_)) && binary && !inplace;
        let named = |name| def.params.iter().any(|p: &Param| p.name == name);
        Form { def, inplace, spread, factory: named("dtype") && named("device"), contested: 0, takes_numbers }
    }

    /// Positions where it takes a tensor or a number.
    pub fn operands(&self) -> u64 {
        let takes = |p: &Param| matches!(p.ty, ParamType::Operand | ParamType::OptOperand);
        self.def.params.iter().enumerate().filter(|(_, p)| takes(p)).map(|(k, _)| 1 << k).sum()
    }
}

/// A call as CPython's fast protocol hands it over.
#[derive(Clone, Copy)]
pub struct Call<'a, 'py> {
    pub py: Python<'py>,
    /// What stands before the dot, if anything does.
    pub slf: Option<Borrowed<'a, 'py, PyAny>>,
    args: &'a [*mut ffi::PyObject],
    positional: usize,
    names: Option<Borrowed<'a, 'py, PyTuple>>,
}

impl<'a, 'py> Call<'a, 'py> {
    /// # Safety
    /// As CPython calls a `METH_FASTCALL | METH_KEYWORDS` function: `args` holds `nargs` arguments
    /// and then one for each of `names`, all alive during the call.
    pub unsafe fn new(
        py: Python<'py>,
        slf: *mut ffi::PyObject,
        args: *const *mut ffi::PyObject,
        nargs: ffi::Py_ssize_t,
        names: *mut ffi::PyObject,
    ) -> Self {
        // SAFETY: the caller's promise; a tuple of names is what CPython passes or null.
        unsafe {
            let names = Borrowed::from_ptr_or_opt(py, names).map(|n| n.cast_unchecked::<PyTuple>());
            let positional = usize::try_from(nargs).unwrap_or(0);
            let count = positional + names.as_ref().map_or(0, |n| n.len());
            let args = if count == 0 { &[] } else { std::slice::from_raw_parts(args, count) };
            Call { py, slf: Borrowed::from_ptr_or_opt(py, slf), args, positional, names }
        }
    }

    fn arg(&self, k: usize) -> Borrowed<'a, 'py, PyAny> {
        // SAFETY: `new` was promised that all of `args` live during the call.
        unsafe { Borrowed::from_ptr(self.py, self.args[k]) }
    }

    /// Positional arguments, what stands before the dot included.
    fn len(&self) -> usize {
        self.positional + usize::from(self.slf.is_some())
    }

    fn position(&self, k: usize) -> Option<Borrowed<'a, 'py, PyAny>> {
        match self.slf {
            Some(s) if k == 0 => Some(s),
            Some(_) => (k - 1 < self.positional).then(|| self.arg(k - 1)),
            None => (k < self.positional).then(|| self.arg(k)),
        }
    }

    /// The argument called `name`, or as NumPy calls the same.
    fn keyword(&self, name: &str) -> PyResult<Option<(usize, Borrowed<'a, 'py, PyAny>)>> {
        let Some(names) = self.names else { return Ok(None) };
        for (k, given) in names.iter_borrowed().enumerate() {
            // SAFETY: keyword names are strings in CPython's protocol.
            let given = unsafe { given.cast_unchecked::<PyString>() };
            let given = given.to_str()?;
            if given == name || alias(given) == Some(name) {
                return Ok(Some((k, self.arg(self.positional + k))));
            }
        }
        Ok(None)
    }

    fn keywords(&self) -> usize {
        self.names.map_or(0, |n| n.len())
    }

    /// All arguments: those by position, then those by name.
    #[allow(clippy::type_complexity)]
    pub fn items(&self) -> PyResult<(Vec<Bound<'py, PyAny>>, Vec<(String, Bound<'py, PyAny>)>)> {
        let positional = (0..self.len()).filter_map(|k| self.position(k)).map(|x| x.to_owned()).collect();
        let mut named = Vec::new();
        for k in 0..self.keywords() {
            if let Some(name) = self.names.map(|n| n.get_item(k)).transpose()? {
                named.push((name.extract()?, self.arg(self.positional + k).to_owned()));
            }
        }
        Ok((positional, named))
    }

    /// What was given, for messages: `(Tensor, int, dim=str)`.
    pub fn describe(&self) -> String {
        let kind =
            |x: Borrowed<'_, '_, PyAny>| x.get_type().name().map_or_else(|_| "?".into(), |n| n.to_string());
        let mut parts: Vec<String> = (0..self.len()).filter_map(|k| self.position(k)).map(kind).collect();
        for k in 0..self.keywords() {
            let name =
                self.names.and_then(|n| n.get_item(k).ok()).map_or_else(String::new, |n| n.to_string());
            parts.push(format!("{name}={}", kind(self.arg(self.positional + k))));
        }
        format!("({})", parts.join(", "))
    }
}

/// Names that NumPy, or torch.linalg, has for a parameter.
fn alias(given: &str) -> Option<&'static str> {
    Some(match given {
        "axis" => "dim",
        "keepdims" => "keepdim",
        "x" | "a" | "x1" | "A" => "input",
        "x2" => "other",
        "split_size" => "split_sizes",
        _ => return None,
    })
}

/// What a form takes besides its row's parameters.
#[derive(Default)]
pub struct Extras<'py> {
    pub out: Option<Bound<'py, PyAny>>,
    pub requires_grad: bool,
    pub memory_format: Option<Bound<'py, PyAny>>,
}

/// The call's arguments as this form takes them; `None` when it does not.
pub fn parse<'py>(form: &Form, call: &Call<'_, 'py>) -> PyResult<Option<(Args, Extras<'py>)>> {
    let params = form.def.params;
    let mut args = Args::new();
    let (mut taken, mut named) = (0, 0u64);
    for (k, p) in params.iter().enumerate() {
        let position = if p.keyword_only { None } else { call.position(k) };
        if form.spread == Some(k) && spreads(call, k) {
            let Some(list) =
                all_ints((k..call.len()).filter_map(|i| call.position(i)).map(|x| x.to_owned()))?
            else {
                return Ok(None);
            };
            taken = call.len();
            args.push(if p.ty == ParamType::Size {
                Value::Size(Size(list))
            } else {
                Value::Dims(Dims::List(list))
            });
            continue;
        }
        let found = match position {
            Some(x) => {
                taken += 1;
                Some(x)
            }
            None if call.keywords() == 0 => None,
            None => call.keyword(p.name)?.map(|(at, x)| {
                named |= 1 << at;
                x
            }),
        };
        let value = match (found, &p.default) {
            (Some(x), _)
                if p.ty == ParamType::Int && form.contested >> k & 1 == 1 && tensor_of(&x).is_some() =>
            {
                None
            }
            (Some(x), _) => match convert(p.ty, &x)? {
                None if k == 0 && form.takes_numbers => leading_number(call, &x)?,
                // Masks of old programs are uint8.
                Some(Value::Operand(Operand::Tensor(t)))
                    if p.name == "condition" && t.dtype() == DType::U8 =>
                {
                    Some(Value::Operand(Operand::Tensor(
                        t.to_dtype(DType::Bool).map_err(|e| crate::gate::raise(call.py, e))?,
                    )))
                }
                value => value,
            },
            (None, Some((_, make))) => Some(make()),
            (None, None) => None,
        };
        match value {
            Some(v) => args.push(v),
            None => return Ok(None),
        }
    }
    if taken != call.len() {
        return Ok(None);
    }
    let mut extras = Extras::default();
    if named.count_ones() as usize != call.keywords() && !extra(form, call, named, &mut extras)? {
        return Ok(None);
    }
    Ok(Some((args, extras)))
}

/// A number where a tensor should be, as in `pow(2, x)`: a tensor of no dimensions, of the dtype that
/// leaves the other operand's as it is where it can.
fn leading_number(call: &Call<'_, '_>, x: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    let other = match call.position(1) {
        Some(other) => Some(other),
        None => call.keyword("other")?.or(call.keyword("exponent")?).map(|(_, other)| other),
    };
    let (Some(other), Some(number)) = (other.and_then(|o| tensor_of(&o)), number(x)?) else {
        return Ok(None);
    };
    let own = number.default_dtype(rushlight::default_dtype());
    let dtype = if own.category() <= other.dtype().category() { other.dtype() } else { own };
    let made = Tensor::full_with(Size([].into_iter().collect()), number, Some(dtype), Some(other.device()));
    made.map(|t| Some(Value::Tensor(t))).map_err(|e| crate::gate::raise(call.py, e))
}

/// Whether the arguments from `k` on are to be read as one list.
fn spreads(call: &Call<'_, '_>, k: usize) -> bool {
    match call.len().saturating_sub(k) {
        0 => false,
        1 => call
            .position(k)
            .is_some_and(|x| !x.is_none() && !x.is_instance_of::<PyTuple>() && !x.is_instance_of::<PyList>()),
        _ => true,
    }
}

/// Reads the keywords that are no parameters; false when one is unknown.
fn extra<'py>(form: &Form, call: &Call<'_, 'py>, named: u64, extras: &mut Extras<'py>) -> PyResult<bool> {
    let Some(names) = call.names else { return Ok(true) };
    for (k, name) in names.iter().enumerate().filter(|(k, _)| named >> k & 1 == 0) {
        let value = call.arg(call.positional + k);
        let name: Bound<'_, PyString> = name.cast_into()?;
        match name.to_str()? {
            "out" if !form.inplace => {
                if !value.is_none() {
                    extras.out = Some(value.to_owned());
                }
            }
            "requires_grad" if form.factory => match value.cast::<PyBool>() {
                Ok(b) => extras.requires_grad = b.is_true(),
                Err(_) => return Ok(false),
            },
            "layout" | "pin_memory" if form.factory => {}
            "non_blocking" if form.def.name == "copy_" => {}
            "memory_format" if form.factory || form.def.name == "clone_of" => {
                if !value.is_none() {
                    extras.memory_format = Some(value.to_owned());
                }
            }
            _ => return Ok(false),
        }
    }
    Ok(true)
}

fn tensors(x: &Bound<'_, PyAny>) -> Option<Vec<Tensor>> {
    if let Ok(t) = x.cast::<PyTuple>() {
        return t.iter_borrowed().map(|x| tensor_of(&x)).collect();
    }
    x.cast::<PyList>().ok()?.iter().map(|x| tensor_of(&x)).collect()
}

/// An argument as its parameter's type; `None` when it is of another.
pub fn convert(ty: ParamType, x: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    let none = x.is_none();
    Ok(match ty {
        ParamType::Tensor => tensor_of(x).map(Value::Tensor),
        ParamType::OptTensor if none => Some(Value::OptTensor(None)),
        ParamType::OptTensor => tensor_of(x).map(|t| Value::OptTensor(Some(t))),
        ParamType::Operand => operand(x)?.map(Value::Operand),
        ParamType::OptOperand if none => Some(Value::OptOperand(OptOperand(None))),
        ParamType::OptOperand => operand(x)?.map(|o| Value::OptOperand(OptOperand(Some(o)))),
        ParamType::Tensors => tensors(x).map(Value::Tensors),
        ParamType::OptTensors => optional_tensors(x)?.map(Value::OptTensors),
        ParamType::Number => number(x)?.map(Value::Number),
        ParamType::OptNumber if none => Some(Value::OptNumber(None)),
        ParamType::OptNumber => number(x)?.map(|n| Value::OptNumber(Some(n))),
        ParamType::Int => int(x)?.map(Value::Int),
        ParamType::OptInt if none => Some(Value::OptInt(None)),
        ParamType::OptInt => int(x)?.map(|i| Value::OptInt(Some(i))),
        ParamType::Float => float(x)?.map(Value::Float),
        ParamType::OptFloat if none => Some(Value::OptFloat(None)),
        ParamType::OptFloat => float(x)?.map(|f| Value::OptFloat(Some(f))),
        ParamType::Bool => truth(x)?.map(Value::Bool),
        ParamType::OptBool if none => Some(Value::OptBool(None)),
        ParamType::OptBool => truth(x)?.map(|b| Value::OptBool(Some(b))),
        ParamType::Dims if none => Some(Value::Dims(Dims::All)),
        ParamType::Dims => ints(x)?.map(|l| Value::Dims(Dims::List(l))),
        ParamType::Size => ints(x)?.map(|l| Value::Size(Size(l))),
        ParamType::DType => as_dtype(x).map(Value::DType),
        ParamType::OptDType if none => Some(Value::OptDType(None)),
        ParamType::OptDType => as_dtype(x).map(|d| Value::OptDType(Some(d))),
        ParamType::OptDevice if none => Some(Value::OptDevice(None)),
        ParamType::OptDevice => as_device(x)?.map(|d| Value::OptDevice(Some(d))),
        ParamType::Text => {
            x.cast::<PyString>().ok().map(|s| s.to_str().map(|s| Value::Text(s.into()))).transpose()?
        }
        ParamType::OptText if none => Some(Value::OptText(None)),
        ParamType::OptText => x
            .cast::<PyString>()
            .ok()
            .map(|s| s.to_str().map(|s| Value::OptText(Some(s.into()))))
            .transpose()?,
        ParamType::OptGenerator if none => Some(Value::OptGenerator(None)),
        ParamType::OptGenerator => as_generator(x).map(|g| Value::OptGenerator(Some(g))),
    })
}

/// A tensor or a number, for arithmetic.
#[inline]
pub fn operand(x: &Bound<'_, PyAny>) -> PyResult<Option<Operand>> {
    match tensor_of(x) {
        Some(t) => Ok(Some(Operand::Tensor(t))),
        None => Ok(plain_number(x)?.map(Operand::Number)),
    }
}

fn ints(x: &Bound<'_, PyAny>) -> PyResult<Option<Ints>> {
    match int_list(x)? {
        Some(list) => Ok(Some(list)),
        None => Ok(int(x)?.map(|i| Ints::from_elem(i as isize, 1))),
    }
}

fn float(x: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    if let Ok(f) = x.cast::<PyFloat>() {
        return Ok(Some(f.value()));
    }
    Ok(match number(x)? {
        Some(rushlight::Number::Complex(..)) | None => None,
        Some(n) => Some(n.to_f64()),
    })
}

fn truth(x: &Bound<'_, PyAny>) -> PyResult<Option<bool>> {
    if let Ok(b) = x.cast::<PyBool>() {
        return Ok(Some(b.is_true()));
    }
    Ok(match is_numpy_scalar(x) {
        true => match plain_number(x)? {
            Some(rushlight::Number::Bool(b)) => Some(b),
            _ => None,
        },
        false => None,
    })
}

fn optional_tensors(x: &Bound<'_, PyAny>) -> PyResult<Option<Vec<Option<Tensor>>>> {
    let mut list = Vec::new();
    if !(x.is_instance_of::<PyTuple>() || x.is_instance_of::<PyList>()) {
        return Ok(None);
    }
    for item in x.try_iter()? {
        let item = item?;
        match tensor_of(&item) {
            Some(t) => list.push(Some(t)),
            None if item.is_none() => list.push(None),
            None => return Ok(None),
        }
    }
    Ok(Some(list))
}
