//! `to` and its short forms: other dtypes and devices.

use crate::attributes::Arg;
use crate::dtype::{as_device, as_dtype};
use crate::gate::{raise, run};
use crate::layouts::{Format, format_of, in_format};
use crate::object::{PyTensor, tensor_of, wrap};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString, PyTuple};
use rushlight::{DType, Device, Tensor};

/// What `to` was asked for.
#[derive(Default)]
struct Wish<'py> {
    dtype: Option<DType>,
    device: Option<Device>,
    copy: bool,
    format: Option<Bound<'py, PyAny>>,
}

fn unknown(x: &Bound<'_, PyAny>) -> PyErr {
    let kind = x.get_type().name().map_or_else(|_| "?".into(), |n| n.to_string());
    PyTypeError::new_err(format!("to: takes a dtype, a device or a tensor to be like, not {kind}"))
}

impl<'py> Wish<'py> {
    fn read(args: &Bound<'py, PyTuple>, kwargs: Option<&Bound<'py, PyDict>>) -> PyResult<Wish<'py>> {
        let mut wish = Wish::default();
        // After dtype and device come `non_blocking` and `copy`, in this order.
        let mut flags = 0;
        for x in args.iter() {
            if let Ok(b) = x.cast::<PyBool>() {
                flags += 1;
                if flags == 2 {
                    wish.copy = b.is_true();
                }
            } else {
                wish.like(&x)?;
            }
        }
        for (name, x) in kwargs.iter().flat_map(|k| k.iter()) {
            match name.cast::<PyString>()?.to_str()? {
                _ if x.is_none() => {}
                "dtype" | "device" | "other" => wish.like(&x)?,
                "copy" => wish.copy = x.is_truthy()?,
                "non_blocking" => {}
                "memory_format" => wish.format = Some(x),
                other => {
                    return Err(PyTypeError::new_err(format!("to: there is no argument called {other}")));
                }
            }
        }
        Ok(wish)
    }

    fn like(&mut self, x: &Bound<'py, PyAny>) -> PyResult<()> {
        if let Some(t) = tensor_of(x) {
            (self.dtype, self.device) = (Some(t.dtype()), Some(t.device()));
        } else if let Some(d) = as_dtype(x) {
            self.dtype = Some(d);
        } else if let Some(d) = as_device(x)? {
            self.device = Some(d);
        } else if !x.is_none() {
            return Err(unknown(x));
        }
        Ok(())
    }
}

fn converted(
    t: &Tensor,
    dtype: Option<DType>,
    device: Option<Device>,
    copy: bool,
) -> rushlight::Result<Tensor> {
    let mut new = t.clone();
    if let Some(device) = device {
        new = new.to_device(device)?;
    }
    if let Some(dtype) = dtype {
        new = new.to_dtype(dtype)?;
    }
    if copy && new.is(t) { new.copy() } else { Ok(new) }
}

fn cast(slf: &Bound<'_, PyTensor>, dtype: DType, format: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let (py, t) = (slf.py(), slf.get().get(slf.py()));
    let new = run(py, t.numel(), || t.to_dtype(dtype))?;
    finish(py, &t, new, format)
}

/// The result in the format asked for. Row-major is what a tensor that nothing changed may stay without.
fn finish(
    py: Python<'_>,
    old: &Tensor,
    new: Tensor,
    format: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    match format {
        Some(f) if format_of(f)? != Format::Contiguous || !new.is(old) => wrap(py, in_format(py, new, f)?),
        _ => wrap(py, new),
    }
}

/// `x.float()` and its kin: a method for each dtype's short name.
macro_rules! casts {
    ($($name:ident $dtype:ident;)*) => {
        #[pymethods]
        impl PyTensor {
            $(
                #[pyo3(signature = (memory_format=None))]
                fn $name(slf: &Bound<'_, Self>, memory_format: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
                    cast(slf, DType::$dtype, memory_format)
                }
            )*
        }
    };
}

casts! {
    float F32; double F64; half F16; bfloat16 BF16; long I64; int I32; short I16; char I8; byte U8;
    bool Bool; cfloat C64; cdouble C128;
}

#[pymethods]
impl PyTensor {
    /// This tensor where nothing changes, else a copy of another dtype, on another device, or both.
    #[pyo3(signature = (*args, **kwargs))]
    fn to<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let (py, t) = (slf.py(), slf.get().get(slf.py()));
        let wish = Wish::read(args, kwargs)?;
        let new = run(py, t.numel(), || converted(&t, wish.dtype, wish.device, wish.copy))?;
        finish(py, &t, new, wish.format.as_ref())
    }

    #[pyo3(signature = (other))]
    fn type_as(slf: &Bound<'_, Self>, other: Arg) -> PyResult<Py<PyAny>> {
        cast(slf, other.dtype(), None)
    }
    #[pyo3(signature = (memory_format=None))]
    fn cpu(slf: &Bound<'_, Self>, memory_format: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
        let _ = memory_format;
        let (py, t) = (slf.py(), slf.get().get(slf.py()));
        wrap(py, t.to_device(Device::CPU).map_err(|e| raise(py, e))?)
    }
}
