//! The Python module's extension, `rushlight._C`.
//!
//! - `call`, `args`, `docs`, `out`: functions and methods made from the op table;
//! - `object`, `attributes`, `operators`, `index`, `convert`, `grad`, `storage`,
//!   `resize`: the class Tensor;
//! - `dtype`, `layouts`, `number`, `random`, `node`, `settings`: the smaller classes;
//! - `hooks`, `function`, `trace`, `scalar`: the user's own code inside autograd, copies, formulas;
//! - `data`, `legacy`, `element`, `numpy`, `dlpack`, `share`: tensors from and to the data of Python, NumPy and others;
//! - `files`: files in torch's format and safetensors;
//! - `gate`, `guard`: the ways in and out.

#![allow(non_snake_case, reason = "Python's name for the extension is _C, as torch's")]

mod args;
mod attributes;
mod call;
#[allow(unsafe_op_in_unsafe_fn, reason = "code of PyO3, for methods that a macro writes")]
mod convert;
mod data;
mod dlpack;
mod docs;
mod dtype;
mod element;
mod files;
mod function;
mod gate;
mod grad;
mod guard;
mod hooks;
mod index;
mod layouts;
mod legacy;
mod node;
mod number;
mod numpy;
mod object;
#[allow(unsafe_op_in_unsafe_fn, reason = "code of PyO3, for methods that a macro writes")]
mod operators;
mod out;
mod random;
mod resize;
#[allow(unsafe_op_in_unsafe_fn, reason = "code of PyO3, for methods that a macro writes")]
mod scalar;
mod settings;
mod share;
mod storage;
mod trace;

use pyo3::prelude::*;

#[pymodule(gil_used = true)]
fn _C(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<object::PyTensor>()?;
    gate::register(m)?;
    dtype::register(m)?;
    layouts::register(m)?;
    random::register(m)?;
    settings::register(m)?;
    data::register(m)?;
    legacy::register(m)?;
    numpy::register(m)?;
    share::register(m)?;
    dlpack::register(m)?;
    grad::register(m)?;
    hooks::register(m)?;
    function::register(m)?;
    trace::register(m)?;
    scalar::register(m)?;
    node::register(m)?;
    storage::register(m)?;
    files::register(m)?;
    call::register(m)
}
