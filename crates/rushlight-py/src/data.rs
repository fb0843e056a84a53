//! Tensors from Python's data and back: `tensor`, `tolist`.

use crate::dtype::{as_device, as_dtype};
use crate::gate::{raise, run};
use crate::number::{is_numpy_scalar, plain_number, to_python};
use crate::object::{tensor_of, wrap};
use num_complex::Complex;
use pyo3::exceptions::{
    PyMemoryError, PyNotImplementedError, PyOverflowError, PyRuntimeError, PyTypeError, PyValueError,
};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use rushlight::{Category, DType, Device, Number, Size, Tensor};

/// Lists nested deeper than this are refused: a tensor has at most 64 dimensions.
const DEEPEST: usize = 64;

/// Values read from nested sequences.
#[derive(Default)]
struct Reader {
    shape: Vec<usize>,
    values: Vec<Number>,
    dtype: Option<DType>,
}

/// The length of what is read item by item; `None` for what is one element.
pub fn sequence<'py>(x: &Bound<'py, PyAny>) -> Option<usize> {
    if x.is_instance_of::<PyString>() || x.is_instance_of::<PyBytes>() || tensor_of(x).is_some() {
        return None;
    }
    if let Ok(l) = x.cast::<PyList>() {
        return Some(l.len());
    }
    if let Ok(t) = x.cast::<PyTuple>() {
        return Some(t.len());
    }
    let py = x.py();
    let get = x.hasattr(intern!(py, "__getitem__")).unwrap_or(false) && !x.is_instance_of::<PyDict>();
    if get && !is_numpy_scalar(x) { x.len().ok() } else { None }
}

impl Reader {
    /// Whether it has read integers only, some of them too large for int64.
    fn huge(&self) -> bool {
        let large = |n: &Number| matches!(n, Number::UInt(_) | Number::Float(_));
        self.dtype == Some(DType::I64) && self.values.iter().any(large)
    }

    fn see(&mut self, dtype: DType) -> PyResult<()> {
        self.dtype = Some(match self.dtype {
            None => dtype,
            Some(d) if d == dtype => d,
            Some(d) => d.promote(dtype).map_err(|e| PyTypeError::new_err(e.to_string()))?,
        });
        Ok(())
    }

    fn read(&mut self, x: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        if let Some((n, dtype)) = simple(x)
            && depth == self.shape.len()
        {
            if self.dtype != Some(dtype) {
                self.see(dtype)?;
            }
            self.values.push(n);
            return Ok(());
        }
        if let Some(n) = sequence(x) {
            if depth == DEEPEST {
                return Err(PyValueError::new_err(
                    "tensor: the lists are nested deeper than a tensor has dimensions",
                ));
            }
            if self.shape.len() == depth {
                if !self.values.is_empty() {
                    return Err(ragged(depth));
                }
                self.shape.push(n);
            } else if self.shape[depth] != n {
                return Err(PyValueError::new_err(format!(
                    "tensor: expected a sequence of length {} at dimension {depth}, got one of {n}",
                    self.shape[depth]
                )));
            }
            if let Ok(list) = x.cast::<PyList>() {
                return list.iter().try_for_each(|item| self.read(&item, depth + 1));
            }
            return x.try_iter()?.try_for_each(|item| self.read(&item?, depth + 1));
        }
        if depth != self.shape.len() {
            return Err(ragged(depth));
        }
        let (value, dtype) = element(x, depth)?;
        self.see(dtype)?;
        self.values.push(value);
        Ok(())
    }
}

/// What most elements are, one of Python's own numbers, and the dtype it suggests.
fn simple(x: &Bound<'_, PyAny>) -> Option<(Number, DType)> {
    if x.is_exact_instance_of::<PyFloat>() {
        let value = x.cast::<PyFloat>().ok()?.value();
        return Some((Number::Float(value), rushlight::default_dtype()));
    }
    if x.is_exact_instance_of::<PyInt>() {
        return Some((Number::Int(x.extract().ok()?), DType::I64));
    }
    None
}

fn ragged(depth: usize) -> PyErr {
    PyTypeError::new_err(format!("tensor: lists and numbers are mixed at dimension {depth}"))
}

/// One element, found so many lists deep, and the dtype it suggests.
fn element(x: &Bound<'_, PyAny>, depth: usize) -> PyResult<(Number, DType)> {
    let py = x.py();
    if let Some(t) = tensor_of(x) {
        if t.numel() != 1 {
            return Err(PyValueError::new_err(format!(
                "tensor: a tensor of shape {:?} is no single element; use stack or cat",
                t.shape()
            )));
        }
        return Ok((t.item().map_err(|e| raise(py, e))?, t.dtype()));
    }
    let value = match plain_number(x) {
        Ok(v) => v,
        // Good for floats, and seen by `Reader::huge` where it is to be an integer.
        Err(e) if e.is_instance_of::<PyOverflowError>(py) => {
            let wide = x.call_method0(intern!(py, "__float__"))?.extract()?;
            return Ok((Number::Float(wide), DType::I64));
        }
        Err(e) => return Err(e),
    };
    let Some(n) = value else {
        let kind = x.get_type().name()?.to_string();
        let text = x.is_instance_of::<PyString>() || x.is_instance_of::<PyBytes>();
        return Err(match text {
            true if depth > 0 => PyValueError::new_err(format!(
                "tensor: a {kind} at dimension {depth} is no number; tensors hold numbers and truth values"
            )),
            true => PyTypeError::new_err(format!("tensor: a {kind} is no number")),
            false => PyRuntimeError::new_err(format!("tensor: cannot tell the dtype of a {kind}")),
        });
    };
    if !x.is_exact_instance_of::<PyFloat>() && is_numpy_scalar(x) {
        let name: String = x.getattr(intern!(py, "dtype"))?.getattr(intern!(py, "name"))?.extract()?;
        if let Ok(d) = DType::parse(&name) {
            return Ok((n, d));
        }
    }
    if matches!(n, Number::UInt(_)) {
        return Ok((n, DType::I64));
    }
    Ok((n, n.default_dtype(rushlight::default_dtype())))
}

/// Numbers as a contiguous tensor.
fn build(py: Python<'_>, values: &[Number], shape: &[usize], dtype: DType) -> PyResult<Tensor> {
    let size = Size::from(shape);
    if dtype.is_float()
        && let Some(n) = values.iter().find(|n| matches!(n, Number::Complex(..)))
    {
        return Err(PyTypeError::new_err(format!(
            "tensor: {n:?} is no value of {dtype}; use a complex dtype"
        )));
    }
    let made = match dtype.category() {
        Category::Complex => {
            Tensor::from_vec(values.iter().map(|n| n.to_complex()).collect::<Vec<Complex<f64>>>(), size)
        }
        Category::Float if dtype == DType::F32 => {
            Tensor::from_vec(values.iter().map(|n| n.to_f32()).collect::<Vec<f32>>(), size)
        }
        Category::Float => Tensor::from_vec(values.iter().map(|n| n.to_f64()).collect::<Vec<f64>>(), size),
        Category::Bool => Tensor::from_vec(values.iter().map(|n| n.to_bool()).collect::<Vec<bool>>(), size),
        Category::Int => {
            if let Some(n) = values.iter().find(|n| matches!(n, Number::Complex(..))) {
                return Err(PyTypeError::new_err(format!("tensor: {n:?} is no value of {dtype}")));
            }
            if let Some(n) = values.iter().find(|n| !fits(**n, dtype)) {
                return Err(PyRuntimeError::new_err(format!("tensor: {n:?} does not fit into {dtype}")));
            }
            if dtype == DType::U64 {
                Tensor::from_vec(values.iter().map(|n| n.to_u64()).collect::<Vec<u64>>(), size)
            } else {
                Tensor::from_vec(values.iter().map(|n| n.to_i64()).collect::<Vec<i64>>(), size)
            }
        }
    };
    made.and_then(|t| t.to_dtype(dtype)).map_err(|e| raise(py, e))
}

/// Whether an integer dtype can hold a number; those without a sign take negative ones too, and wrap.
fn fits(n: Number, dtype: DType) -> bool {
    let Some((low, high)) = dtype.integer_range() else { return true };
    let low = if low == 0 { -high } else { low };
    match n {
        Number::Int(i) => (low..=high).contains(&i128::from(i)),
        Number::UInt(u) => (low..=high).contains(&i128::from(u)),
        Number::Float(f) => f.is_finite() && (low..=high).contains(&(f as i128)),
        _ => true,
    }
}

/// A tensor with a copy of `data`: numbers, nested sequences, a tensor, an array.
pub fn from_data(data: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<Tensor> {
    let py = data.py();
    if let Some(t) = tensor_of(data) {
        return run(py, t.numel(), || {
            let t = t.detach()?;
            match dtype {
                Some(d) if d != t.dtype() => t.to_dtype(d),
                _ => t.copy(),
            }
        });
    }
    if let Some(t) = crate::numpy::from_array(data, true)? {
        return run(py, t.numel(), || match dtype {
            Some(d) if d != t.dtype() => t.to_dtype(d),
            _ => t.copy(),
        });
    }
    if let Ok(list) = data.cast::<PyList>()
        && list.len() > 1
        && list.iter().all(|x| crate::numpy::is_array(&x))
    {
        // NumPy joins arrays faster than reading them number by number would.
        let joined = py.import("numpy")?.call_method1("stack", (data,));
        return match joined {
            Ok(joined) => from_data(&joined, dtype),
            Err(e) => {
                Err(PyValueError::new_err(format!("tensor: {e}; arrays in a list must agree in shape")))
            }
        };
    }
    let mut reader = Reader::default();
    reader.read(data, 0)?;
    if dtype.is_none() && reader.huge() {
        return Err(PyValueError::new_err("tensor: a value is too large for int64; give dtype=uint64"));
    }
    let dtype = dtype.or(reader.dtype).unwrap_or(rushlight::default_dtype());
    let known = reader.shape.iter().product::<usize>();
    if known != reader.values.len() {
        return Err(ragged(reader.shape.len()));
    }
    build(py, &reader.values, &reader.shape, dtype)
}

/// A tensor with a copy of `data`.
#[pyfunction]
#[pyo3(signature = (data, *, dtype=None, device=None, requires_grad=false, pin_memory=false))]
fn tensor(
    data: &Bound<'_, PyAny>,
    dtype: Option<&Bound<'_, PyAny>>,
    device: Option<&Bound<'_, PyAny>>,
    requires_grad: bool,
    pin_memory: bool,
) -> PyResult<Py<PyAny>> {
    let _ = pin_memory;
    let py = data.py();
    let mut t = from_data(data, dtype_argument("tensor", dtype)?)?;
    if let Some(device) = device_argument(device)? {
        t = t.to_device(device).map_err(|e| raise(py, e))?;
    }
    if requires_grad {
        t = t.requires_grad_(true).map_err(|e| raise(py, e))?;
    }
    wrap(py, t)
}

/// A dtype argument; refuses what is none.
pub fn dtype_argument(op: &str, x: Option<&Bound<'_, PyAny>>) -> PyResult<Option<DType>> {
    match x {
        None => Ok(None),
        Some(x) => match as_dtype(x) {
            Some(d) => Ok(Some(d)),
            None => Err(PyTypeError::new_err(format!(
                "{op}: dtype must be a rushlight.dtype, not {}",
                x.get_type().name()?
            ))),
        },
    }
}

/// A device argument; refuses what is none.
pub fn device_argument(x: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Device>> {
    match x {
        None => Ok(None),
        Some(x) => match as_device(x)? {
            Some(d) => Ok(Some(d)),
            None => Err(PyTypeError::new_err(format!(
                "device must be a name or a device, not {}",
                x.get_type().name()?
            ))),
        },
    }
}

/// Nested lists of Python numbers.
pub fn to_list(py: Python<'_>, t: &Tensor) -> PyResult<Py<PyAny>> {
    if t.dim() == 0 {
        return to_python(py, t.item().map_err(|e| raise(py, e))?);
    }
    if t.device() == Device::META {
        return Err(PyNotImplementedError::new_err("tolist: a tensor on the meta device has no data"));
    }
    let flat = t.to_numbers().map_err(|e| raise(py, e))?;
    let mut at = 0;
    nest(py, &flat, t.shape(), &mut at)
}

fn nest(py: Python<'_>, flat: &[Number], shape: &[usize], at: &mut usize) -> PyResult<Py<PyAny>> {
    let Some((n, inner)) = shape.split_first() else {
        *at += 1;
        return to_python(py, flat[*at - 1]);
    };
    // A shape such as (huge, 0) has no elements and yet a list of huge length.
    let mut items = Vec::new();
    if items.try_reserve_exact(*n).is_err() {
        return Err(PyMemoryError::new_err(format!("tolist: there is no memory for a list of {n} items")));
    }
    for _ in 0..*n {
        items.push(nest(py, flat, inner, at)?);
    }
    let list = PyList::new(py, items)?;
    Ok(list.into_any().unbind())
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(tensor, m)?)
}
