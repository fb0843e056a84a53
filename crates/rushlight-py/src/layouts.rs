//! Memory formats: row-major, and the two orders with channels last.

use crate::gate::raise;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyInt;
use rushlight::Tensor;

/// `torch.memory_format`.
#[pyclass(name = "memory_format", module = "rushlight", frozen, eq, hash)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PyFormat(Format);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    Contiguous,
    Preserve,
    ChannelsLast,
    ChannelsLast3d,
}

impl Format {
    const ALL: [(Format, &'static str); 4] = [
        (Format::Contiguous, "contiguous_format"),
        (Format::Preserve, "preserve_format"),
        (Format::ChannelsLast, "channels_last"),
        (Format::ChannelsLast3d, "channels_last_3d"),
    ];
    fn name(self) -> &'static str {
        Format::ALL.iter().find(|(f, _)| *f == self).map_or("", |(_, n)| n)
    }
}

#[pymethods]
impl PyFormat {
    fn __repr__(&self) -> String {
        format!("torch.{}", self.0.name())
    }
    fn __reduce__(&self) -> &'static str {
        self.0.name()
    }
}

pub fn format_of(x: &Bound<'_, PyAny>) -> PyResult<Format> {
    match x.cast::<PyFormat>() {
        Ok(f) => Ok(f.get().0),
        Err(_) => {
            let kind =
                if x.is_instance_of::<PyInt>() { "int".into() } else { x.get_type().name()?.to_string() };
            Err(PyTypeError::new_err(format!("memory_format must be a rushlight.memory_format, not {kind}")))
        }
    }
}

/// Dimensions from the slowest to the fastest; `None` for row-major.
fn order(t: &Tensor, format: Format) -> PyResult<Option<&'static [isize]>> {
    match (format, t.dim()) {
        (Format::ChannelsLast, 4) => Ok(Some(&[0, 2, 3, 1])),
        (Format::ChannelsLast3d, 5) => Ok(Some(&[0, 2, 3, 4, 1])),
        (Format::Contiguous | Format::Preserve, _) => Ok(None),
        (f, n) => Err(PyRuntimeError::new_err(format!(
            "{} is for {} dimensions; the tensor has {n}",
            f.name(),
            if f == Format::ChannelsLast { 4 } else { 5 }
        ))),
    }
}

pub fn is_in_format(t: &Tensor, format: &Bound<'_, PyAny>) -> PyResult<bool> {
    let format = format_of(format)?;
    let Ok(Some(order)) = order(t, format) else {
        return Ok(!matches!(format, Format::ChannelsLast | Format::ChannelsLast3d) && t.is_contiguous());
    };
    let mut expect = 1;
    for d in order.iter().rev().map(|d| *d as usize) {
        if t.shape()[d] != 1 {
            if t.strides()[d] != expect {
                return Ok(false);
            }
            expect *= t.shape()[d] as isize;
        }
    }
    Ok(true)
}

/// The strides of a dense tensor of this shape in that format.
pub fn in_order(t: &Tensor, format: &Bound<'_, PyAny>) -> PyResult<Vec<isize>> {
    let Some(order) = order(t, format_of(format)?)? else {
        return Ok(rushlight::layout::contiguous_strides(t.shape()).to_vec());
    };
    let (mut strides, mut step) = (vec![0; order.len()], 1isize);
    for d in order.iter().rev().map(|d| *d as usize) {
        strides[d] = step;
        step = step.saturating_mul(t.shape()[d].max(1) as isize);
    }
    Ok(strides)
}

/// The tensor in that format: itself, or a copy.
pub fn in_format(py: Python<'_>, t: Tensor, format: &Bound<'_, PyAny>) -> PyResult<Tensor> {
    if format_of(format)? == Format::Preserve || is_in_format(&t, format)? {
        return Ok(t);
    }
    let made = match order(&t, format_of(format)?)? {
        None => t.contiguous(),
        Some(order) => {
            let mut back = vec![0isize; order.len()];
            for (to, from) in order.iter().enumerate() {
                back[*from as usize] = to as isize;
            }
            t.permute(order).and_then(|p| p.contiguous()).and_then(|p| p.permute(back.as_slice()))
        }
    };
    made.map_err(|e| raise(py, e))
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyFormat>()?;
    for (f, name) in Format::ALL {
        m.add(name, Py::new(m.py(), PyFormat(f))?)?;
    }
    Ok(())
}
