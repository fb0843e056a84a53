//! NumPy's `.npy`: one array, a short header and its bytes.
//!
//! Read are format versions 1.0, 2.0 and 3.0, either byte order, C and Fortran order, and the dtypes
//! that have an npy name ([`DType::npy_name`]): all but `bfloat16`, for which NumPy has no name. Written
//! is version 1.0, little-endian.

mod header;
mod literal;

use crate::body;
use crate::elements::{self, Order};
use crate::fault::Parsed;
use header::Header;
use rushlight_core::{Layout, Result, Tensor, layout::checked_bytes};
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::Path;

#[cfg(doc)]
use rushlight_core::DType;

/// Reads the array of a file.
///
/// The tensor has memory of its own. An array in Fortran order becomes a transposed tensor: its bytes
/// stay as they are and its strides say so. Bytes after the array are left alone, as NumPy does.
///
/// # Errors
/// `Io`, naming the file: it cannot be read, is no npy file, is shorter than its header says, or holds
/// what no tensor can (Python objects, strings, dates, records, `longdouble`).
pub fn read(path: impl AsRef<Path>) -> Result<Tensor> {
    let path = path.as_ref();
    open(path).map_err(|fault| fault.at("npy::read", path.display()))
}

fn open(path: &Path) -> Parsed<Tensor> {
    let file = File::open(path)?;
    let meta = file.metadata()?;
    // A pipe has a length of 0 and yet has bytes.
    let length = meta.is_file().then_some(meta.len());
    parse(&mut BufReader::new(file), length)
}

/// Reads one array from bytes (`&[u8]`) or any other reader, and leaves the reader right behind it.
///
/// Memory is asked for as bytes arrive, not as the header says.
///
/// # Errors
/// As [`read`].
pub fn read_from(mut reader: impl Read) -> Result<Tensor> {
    parse(&mut reader, None).map_err(|fault| fault.at("npy::read_from", "the reader"))
}

/// Reads an array from a reader that has `length` bytes, if that is known.
pub(crate) fn parse(reader: &mut impl Read, length: Option<u64>) -> Parsed<Tensor> {
    let header = Header::read(reader)?;
    let bytes = checked_bytes("npy", &header.shape, header.dtype.size())?;
    let there = length.map(|length| length.saturating_sub(header.length));
    let mut block = body::read_block(reader, bytes, there)?;
    if header.big_endian {
        body::swap_bytes(block.as_mut_slice(), header.dtype.real().size());
    }
    let layout = match header.fortran {
        false => Layout::contiguous(header.shape.as_slice())?,
        true => Layout::contiguous(header.shape.iter().rev().copied().collect::<Vec<_>>())?.reverse_dims(),
    };
    Ok(Tensor::from_storage(body::storage(block)?, layout, header.dtype)?)
}

/// Writes a tensor to a file, replacing the file at once and only when all went well.
///
/// A tensor in column-major order is written in that order. No tensor is copied as a whole, whatever
/// its strides.
///
/// # Errors
/// `Type` for `bfloat16`, which npy cannot name; `Runtime` for a tensor without memory; `Io` when the
/// file cannot be written.
pub fn write(path: impl AsRef<Path>, tensor: &Tensor) -> Result<()> {
    let path = path.as_ref();
    crate::atomic::write(path, |out| put("npy::write", tensor, out))
        .map_err(|fault| fault.at("npy::write", path.display()))
}

/// Writes a tensor to any writer, from where it stands.
///
/// # Errors
/// As [`write`].
pub fn write_to(mut writer: impl Write, tensor: &Tensor) -> Result<()> {
    put("npy::write_to", tensor, &mut writer).map_err(|fault| fault.at("npy::write_to", "the writer"))
}

/// Header and elements.
pub(crate) fn put(op: &'static str, tensor: &Tensor, out: &mut impl Write) -> Parsed<()> {
    let fortran = elements::is_fortran(tensor.layout()) && !tensor.is_contiguous();
    let order = if fortran { Order::ColumnMajor } else { Order::RowMajor };
    out.write_all(&header::format(tensor.dtype(), fortran, tensor.shape())?)?;
    elements::write(op, tensor, order, out)
}
