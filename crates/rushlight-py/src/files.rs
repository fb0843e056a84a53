//! Files: torch's `.pt` and safetensors. What a pickle holds goes to Python as a list of nodes, which
//! `rushlight.serialization` puts together.

use crate::dtype::dtype_object;
use crate::gate::{raise, run_long};
use crate::object::{tensor_of, wrap};
use crate::storage::{PyStorage, object};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyComplex, PyDict, PyList, PyString, PyTuple};
use rushlight::Tensor;
use rushlight::io::pt::{Archive, MapKind, Node, TensorRef};
use rushlight::io::{npy, npz, pt, safetensors};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Reads torch's format from a path or from bytes: (nodes, root), each node a kind and what belongs to it.
#[pyfunction]
fn _pt_load<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    mmap: bool,
) -> PyResult<(Bound<'py, PyList>, usize)> {
    let archive = match source.cast::<PyBytes>() {
        Ok(bytes) => {
            let bytes = bytes.as_bytes().to_vec();
            run_long(py, || Archive::from_bytes(bytes))?
        }
        Err(_) => {
            let path: PathBuf = source.extract()?;
            run_long(py, || Archive::open(path, mmap))?
        }
    };
    // All memory first, outside the interpreter; what follows only looks it up.
    run_long(py, || {
        archive.tree().nodes.iter().enumerate().try_for_each(|(id, _)| archive.storage(id).map(drop))
    })?;
    let tree = archive.tree();
    let nodes = PyList::empty(py);
    for (id, node) in tree.nodes.iter().enumerate() {
        nodes.append(convert(py, &archive, id, node)?)?;
    }
    Ok((nodes, tree.root))
}

fn convert<'py>(py: Python<'py>, archive: &Archive, id: usize, node: &Node) -> PyResult<Bound<'py, PyTuple>> {
    let value = |x: Bound<'py, PyAny>| ("value", x).into_pyobject(py);
    match node {
        Node::None => ("value", py.None()).into_pyobject(py),
        Node::Bool(b) => ("value", *b).into_pyobject(py),
        Node::Int(n) => ("value", *n).into_pyobject(py),
        Node::Big(bytes) => {
            let options = PyDict::new(py);
            options.set_item("signed", true)?;
            let int = py.get_type::<pyo3::types::PyInt>();
            value(int.call_method("from_bytes", (PyBytes::new(py, bytes), "little"), Some(&options))?)
        }
        Node::Float(x) => ("value", *x).into_pyobject(py),
        Node::Complex(re, im) => value(PyComplex::from_doubles(py, *re, *im).into_any()),
        Node::Text(text) => value(PyString::new(py, text).into_any()),
        Node::Bytes(bytes) => value(PyBytes::new(py, bytes).into_any()),
        Node::ByteArray(bytes) => value(PyByteArray::new(py, bytes).into_any()),
        Node::List(items) => ("list", items.clone()).into_pyobject(py),
        Node::Tuple(items) => ("tuple", items.clone()).into_pyobject(py),
        Node::Set(items) => ("set", items.clone()).into_pyobject(py),
        Node::FrozenSet(items) => ("frozenset", items.clone()).into_pyobject(py),
        Node::Dict(map) => {
            let (kind, factory) = match map.kind {
                MapKind::Dict => ("dict", None),
                MapKind::Ordered => ("OrderedDict", None),
                MapKind::Counter => ("Counter", None),
                MapKind::Default(factory) => ("defaultdict", factory),
            };
            (kind, factory, map.items.clone(), map.attributes).into_pyobject(py)
        }
        Node::Storage(s) => {
            let dtype = s.dtype.map(|d| dtype_object(py, d)).transpose()?;
            let made = archive.storage(id).map_err(|e| raise(py, e))?;
            let made = made.map(|s| object(py, &s)).transpose()?;
            ("storage", made, dtype, s.device.as_str()).into_pyobject(py)
        }
        Node::Tensor(t) => {
            let made = archive.tensor(t).map_err(|e| raise(py, e))?;
            ("value", wrap(py, made)?).into_pyobject(py)
        }
        Node::Parameter { data, requires_grad } => ("parameter", *data, *requires_grad).into_pyobject(py),
        Node::DType(dtype) => ("value", dtype_object(py, *dtype)?).into_pyobject(py),
        Node::Size(sizes) => ("size", sizes.clone()).into_pyobject(py),
        Node::Device(name) => ("device", name.as_str()).into_pyobject(py),
        Node::ArrayType { code, big } => ("dtype", code.as_str(), *big).into_pyobject(py),
        Node::Array(a) => {
            let (code, big) = match a.dtype.map(|id| &archive.tree().nodes[id]) {
                Some(Node::ArrayType { code, big }) => (code.as_str(), *big),
                _ => ("f8", false),
            };
            ("array", code, big, a.shape.clone(), a.fortran, PyBytes::new(py, &a.bytes)).into_pyobject(py)
        }
        Node::Named(name) => ("class", *name).into_pyobject(py),
    }
}

/// What is in a file of torch's, without its memory: name, dtype, shape, strides, offset, storage.
#[pyfunction]
#[allow(clippy::type_complexity, reason = "a tuple for Python")]
fn _pt_names(
    py: Python<'_>,
    path: PathBuf,
) -> PyResult<Vec<(String, Py<PyAny>, Vec<usize>, Vec<isize>, usize, String)>> {
    let archive = run_long(py, || Archive::open(path, false))?;
    let key = |id: usize| match archive.tree().nodes.get(id) {
        Some(Node::Storage(s)) => s.key.clone(),
        _ => String::new(),
    };
    let row = |(name, t): (String, TensorRef)| {
        Ok((name, dtype_object(py, t.dtype)?.into_any(), t.size, t.stride, t.offset, key(t.storage)))
    };
    archive.names().map_err(|e| raise(py, e))?.into_iter().map(row).collect()
}

/// All arrays of an npz file by name, or the one of an npy file under its name "".
#[pyfunction]
fn _npz_load<'py>(py: Python<'py>, path: PathBuf, one: bool) -> PyResult<Bound<'py, PyDict>> {
    let load = || if one { Ok(vec![(String::new(), npy::read(path)?)]) } else { npz::read(path) };
    let all = PyDict::new(py);
    for (name, tensor) in run_long(py, load)? {
        all.set_item(name, wrap(py, tensor)?)?;
    }
    Ok(all)
}

/// Writes tensors as npz, or the only one as npy.
#[pyfunction]
fn _npz_save(py: Python<'_>, path: PathBuf, tensors: &Bound<'_, PyDict>, one: bool) -> PyResult<()> {
    let all = named(tensors)?;
    run_long(py, || match all.as_slice() {
        [(_, tensor)] if one => npy::write(path, tensor),
        all => npz::write(path, all),
    })
}

/// Names and tensors of a dictionary.
fn named(tensors: &Bound<'_, PyDict>) -> PyResult<Vec<(String, Tensor)>> {
    let mut all = Vec::with_capacity(tensors.len());
    for (name, tensor) in tensors {
        let Some(tensor) = tensor_of(&tensor) else {
            let kind = tensor.get_type().name()?;
            return Err(PyTypeError::new_err(format!("save: {name} is a {kind}, not a tensor")));
        };
        all.push((name.extract::<String>()?, tensor));
    }
    Ok(all)
}

/// Writes a pickle and its storages as torch does, to a path, or to bytes that are returned.
#[pyfunction]
fn _pt_save(
    py: Python<'_>,
    path: Option<PathBuf>,
    pickle: Vec<u8>,
    storages: Vec<(String, Py<PyStorage>)>,
) -> PyResult<Option<Py<PyBytes>>> {
    let storages: Vec<_> = storages.into_iter().map(|(key, s)| (key, s.get().0.clone())).collect();
    let packed = run_long(py, || pt::pack(path.as_deref(), &pickle, &storages))?;
    Ok(packed.map(|bytes| PyBytes::new(py, &bytes).unbind()))
}

/// torch's name of a storage of this dtype, if it has one.
#[pyfunction]
fn _storage_name(dtype: &Bound<'_, PyAny>) -> Option<&'static str> {
    crate::dtype::as_dtype(dtype).and_then(pt::storage_name)
}

/// The names, dtypes (None for those not known here) and shapes of a safetensors file, and its metadata.
#[pyfunction]
#[allow(clippy::type_complexity, reason = "a tuple for Python")]
fn _safetensors_header(
    py: Python<'_>,
    path: PathBuf,
) -> PyResult<(Vec<(String, Option<Py<PyAny>>, Vec<usize>)>, BTreeMap<String, String>)> {
    let archive = run_long(py, || safetensors::open(path))?;
    let row = |name: &str| {
        let dtype = archive.dtype(name).map(|d| dtype_object(py, d)).transpose()?.map(Py::into_any);
        Ok((name.to_string(), dtype, archive.shape(name).unwrap_or_default().to_vec()))
    };
    Ok((archive.names().map(row).collect::<PyResult<_>>()?, archive.metadata().clone()))
}

/// The tensors of these names, or all, over the pages of the file.
#[pyfunction]
fn _safetensors_load<'py>(
    py: Python<'py>,
    path: PathBuf,
    names: Option<Vec<String>>,
) -> PyResult<Bound<'py, PyDict>> {
    let load = || -> rushlight::Result<Vec<(String, Tensor)>> {
        let archive = safetensors::open(path)?;
        let names = names.unwrap_or_else(|| archive.names().map(str::to_string).collect());
        names.into_iter().map(|name| Ok((name.clone(), archive.get(&name)?))).collect()
    };
    let all = PyDict::new(py);
    for (name, tensor) in run_long(py, load)? {
        all.set_item(name, wrap(py, tensor)?)?;
    }
    Ok(all)
}

/// Writes tensors as safetensors.
#[pyfunction]
fn _safetensors_save(
    py: Python<'_>,
    path: PathBuf,
    tensors: &Bound<'_, PyDict>,
    metadata: BTreeMap<String, String>,
) -> PyResult<()> {
    let all = named(tensors)?;
    run_long(py, || safetensors::save(path, &all, &metadata))
}

/// Adds the functions to the module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(_pt_load, m)?)?;
    m.add_function(wrap_pyfunction!(_pt_names, m)?)?;
    m.add_function(wrap_pyfunction!(_npz_load, m)?)?;
    m.add_function(wrap_pyfunction!(_npz_save, m)?)?;
    m.add_function(wrap_pyfunction!(_pt_save, m)?)?;
    m.add_function(wrap_pyfunction!(_storage_name, m)?)?;
    m.add_function(wrap_pyfunction!(_safetensors_header, m)?)?;
    m.add_function(wrap_pyfunction!(_safetensors_load, m)?)?;
    m.add_function(wrap_pyfunction!(_safetensors_save, m)?)
}
