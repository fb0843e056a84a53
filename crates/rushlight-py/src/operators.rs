//! Python's operators: which row each one is.

use crate::args::operand;
use crate::call::results;
use crate::gate;
use crate::object::{PyTensor, tensor_of};
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyNotImplementedError, PyTypeError};
use pyo3::prelude::*;
use rushlight::op::{self, Args, OpDef, ParamType, Value};
use rushlight::{DType, Operand};
use std::sync::LazyLock;

type Row = LazyLock<Option<&'static OpDef>>;

fn count(o: &Operand) -> usize {
    match o {
        Operand::Tensor(t) => t.numel(),
        Operand::Number(_) => 0,
    }
}

fn value(o: Operand, def: &OpDef, k: usize) -> Value {
    match (o, def.params[k].ty) {
        (Operand::Tensor(t), ParamType::Tensor) => Value::Tensor(t),
        (o, _) => Value::Operand(o),
    }
}

/// Two operands, and the defaults of the row's other parameters.
fn filled(def: &OpDef, operands: [Value; 2]) -> Args {
    let mut args: Args = operands.into_iter().collect();
    for p in def.params.iter().skip(2) {
        if let Some((_, make)) = p.default {
            args.push(make());
        }
    }
    args
}

/// `left op right`, or NotImplemented where an operand is neither tensor nor number.
fn binary(py: Python<'_>, row: &Row, left: Option<Operand>, right: Option<Operand>) -> PyResult<Py<PyAny>> {
    let (Some(def), Some(a), Some(b)) = (**row, left, right) else { return Ok(py.NotImplemented()) };
    let work = count(&a).max(count(&b));
    let args = filled(def, [value(a, def, 0), value(b, def, 1)]);
    let outs = gate::run(py, work, || op::dispatch(def, &args))?;
    results(py, def, outs)
}

/// `left op= right`.
fn inplace(slf: &Bound<'_, PyTensor>, row: &Row, symbol: &str, right: Right) -> PyResult<()> {
    let (py, b) = (slf.py(), right.0);
    let Some(def) = **row else {
        return Err(PyTypeError::new_err(format!("{symbol} is not to be had")));
    };
    let t = slf.get().get(py);
    let args = filled(def, [Value::Tensor(t.clone()), value(b, def, 1)]);
    gate::run(py, t.numel(), || op::dispatch_inplace(def, &args)).map(drop)
}

/// What stands right of `op=`. Where it is neither tensor nor number, Python goes on to try `left op
/// right`, which an array on the right answers.
struct Right(Operand);

impl<'a, 'py> FromPyObject<'a, 'py> for Right {
    type Error = PyErr;
    fn extract(x: Borrowed<'a, 'py, PyAny>) -> PyResult<Right> {
        match operand(&x)? {
            Some(o) => Ok(Right(o)),
            None => Err(PyTypeError::new_err("takes a tensor or a number on its right")),
        }
    }
}

/// The elements of an array, for questions of equality; `None` where it holds what no tensor does.
fn array(x: &Bound<'_, PyAny>) -> PyResult<Option<Operand>> {
    match crate::numpy::from_array(x, true) {
        Ok(t) => Ok(t.map(Operand::Tensor)),
        Err(e) if e.is_instance_of::<PyTypeError>(x.py()) => Ok(None),
        Err(e) => Err(e),
    }
}

fn own(slf: &Bound<'_, PyTensor>) -> Option<Operand> {
    Some(Operand::Tensor(slf.get().get(slf.py())))
}

fn unary(slf: &Bound<'_, PyTensor>, row: &Row) -> PyResult<Py<PyAny>> {
    let py = slf.py();
    let Some(def) = **row else { return Ok(py.NotImplemented()) };
    let t = slf.get().get(py);
    let (n, args) = (t.numel(), [Value::Tensor(t)]);
    let outs = gate::run(py, n, || op::dispatch(def, &args))?;
    results(py, def, outs)
}

macro_rules! operators {
    (binary { $($row:ident $name:literal $symbol:literal $method:ident $mirrored:ident $inplace:ident;)* }
     unary { $($urow:ident $uname:literal $umethod:ident;)* }
     compare { $($crow:ident $cname:literal $cop:ident;)* }) => {
        $( static $row: Row = LazyLock::new(|| op::find($name)); )*
        $( static $urow: Row = LazyLock::new(|| op::find($uname)); )*
        $( static $crow: Row = LazyLock::new(|| op::find($cname)); )*
        #[pymethods]
        impl PyTensor {
            $(
                fn $method(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                    binary(slf.py(), &$row, own(slf), operand(other)?)
                }
                fn $mirrored(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                    binary(slf.py(), &$row, operand(other)?, own(slf))
                }
                fn $inplace(slf: &Bound<'_, Self>, other: Right) -> PyResult<()> {
                    inplace(slf, &$row, concat!($symbol, "="), other)
                }
            )*
            $( fn $umethod(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> { unary(slf, &$urow) } )*
            fn __richcmp__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>, op: CompareOp) -> PyResult<Py<PyAny>> {
                let row = match op { $( CompareOp::$cop => &$crow, )* };
                // Anything else is simply not equal, which Python finds out by identity.
                let right = match operand(other)? {
                    None if matches!(op, CompareOp::Eq | CompareOp::Ne) => array(other)?,
                    right => right,
                };
                binary(slf.py(), row, own(slf), right)
            }
        }
    };
}

operators! {
    binary {
        ADD "add" "+" __add__ __radd__ __iadd__;
        SUB "sub" "-" __sub__ __rsub__ __isub__;
        MUL "mul" "*" __mul__ __rmul__ __imul__;
        DIV "div" "/" __truediv__ __rtruediv__ __itruediv__;
        FLOOR_DIVIDE "floor_divide" "//" __floordiv__ __rfloordiv__ __ifloordiv__;
        REMAINDER "remainder" "%" __mod__ __rmod__ __imod__;
        AND "bitwise_and" "&" __and__ __rand__ __iand__;
        OR "bitwise_or" "|" __or__ __ror__ __ior__;
        XOR "bitwise_xor" "^" __xor__ __rxor__ __ixor__;
        SHIFT_LEFT "bitwise_left_shift" "<<" __lshift__ __rlshift__ __ilshift__;
        SHIFT_RIGHT "bitwise_right_shift" ">>" __rshift__ __rrshift__ __irshift__;
    } unary {
        NEG "neg" __neg__;
        ABS "abs" __abs__;
        NOT "bitwise_not" __invert__;
    } compare {
        EQ "eq" Eq;
        NE "ne" Ne;
        LT "lt" Lt;
        LE "le" Le;
        GT "gt" Gt;
        GE "ge" Ge;
    }
}

static POW: Row = LazyLock::new(|| op::find("pow"));
static MATMUL: Row = LazyLock::new(|| op::find("matmul"));

#[pymethods]
impl PyTensor {
    fn __pow__(
        slf: &Bound<'_, Self>,
        other: &Bound<'_, PyAny>,
        _modulo: &Bound<'_, PyAny>,
    ) -> PyResult<Py<PyAny>> {
        binary(slf.py(), &POW, own(slf), operand(other)?)
    }
    fn __rpow__(
        slf: &Bound<'_, Self>,
        other: &Bound<'_, PyAny>,
        _modulo: &Bound<'_, PyAny>,
    ) -> PyResult<Py<PyAny>> {
        binary(slf.py(), &POW, operand(other)?, own(slf))
    }
    fn __ipow__(slf: &Bound<'_, Self>, other: Right, _modulo: &Bound<'_, PyAny>) -> PyResult<()> {
        inplace(slf, &POW, "**=", other)
    }
    fn __matmul__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        binary(slf.py(), &MATMUL, own(slf), tensor_of(other).map(Operand::Tensor))
    }
    fn __rmatmul__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        binary(slf.py(), &MATMUL, tensor_of(other).map(Operand::Tensor), own(slf))
    }
    fn __pos__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        if slf.get().get(slf.py()).dtype() == DType::Bool {
            return Err(PyNotImplementedError::new_err(
                "positive: bool has no sign; convert it to an integer first",
            ));
        }
        Ok(slf.clone())
    }
    fn __hash__(slf: &Bound<'_, Self>) -> usize {
        slf.as_ptr().addr() // Python's id
    }
}
