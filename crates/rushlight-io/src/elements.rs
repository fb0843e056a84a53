//! The bytes of tensors on their way out: from where they lie, through no copy of the whole.

use crate::fault::{Fault, Parsed};
use rushlight_core::layout::Nest;
use rushlight_core::mem::with_bytes;
use rushlight_core::{Kind, Layout, Tensor};
use std::io::Write;

/// Elements that do not lie in a row are put in order in pieces of this many bytes.
const PIECE: usize = 64 << 10;

/// Whether elements lie in column-major order without gaps.
pub(crate) fn is_fortran(layout: &Layout) -> bool {
    layout.reverse_dims().is_contiguous()
}

/// In which order elements go out.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Order {
    RowMajor,
    /// For a tensor that [`is_fortran`].
    ColumnMajor,
}

/// Writes all elements of a tensor. Only memory that the host cannot address is copied as a whole.
pub(crate) fn write(op: &'static str, tensor: &Tensor, order: Order, out: &mut impl Write) -> Parsed<()> {
    if !tensor.device().is_host() {
        return Ok(out.write_all(&tensor.to_bytes()?)?);
    }
    let layout = match order {
        Order::RowMajor => tensor.layout().clone(),
        Order::ColumnMajor => tensor.layout().reverse_dims(),
    };
    let size = tensor.element_size();
    with_bytes(op, tensor.storage(), |bytes| {
        // The layout fitted when the tensor was made, but a storage can be resized.
        let end = layout.storage_elements().checked_mul(size).filter(|end| *end <= bytes.len());
        match end {
            Some(_) if layout.is_empty() => Ok(()),
            Some(end) if layout.is_contiguous() => Ok(out.write_all(&bytes[layout.offset() * size..end])?),
            Some(_) => gather(bytes, &layout, size, out),
            None => Err(Fault::misuse(
                Kind::Runtime,
                format!("the storage was resized and no longer holds shape {:?}", tensor.shape()),
            )),
        }
    })?
}

/// Writes elements of `size` bytes in row-major order; `bytes` holds all of them.
fn gather(bytes: &[u8], layout: &Layout, size: usize, out: &mut impl Write) -> Parsed<()> {
    let nest = Nest::in_order(layout.shape(), &[layout.strides()]);
    let step = nest.inner_strides()[0];
    let mut piece = Vec::with_capacity(PIECE);
    let mut result = Ok(());
    nest.for_each_run(0..nest.numel(), |starts, len| {
        if result.is_err() {
            return;
        }
        let start = layout.offset() as isize + starts[0];
        let row = Row { start, step, len };
        result = match size {
            1 => row.write::<1>(bytes, &mut piece, out),
            2 => row.write::<2>(bytes, &mut piece, out),
            4 => row.write::<4>(bytes, &mut piece, out),
            8 => row.write::<8>(bytes, &mut piece, out),
            _ => row.write::<16>(bytes, &mut piece, out),
        };
    });
    result?;
    Ok(out.write_all(&piece)?)
}

/// `len` elements, `step` elements apart.
struct Row {
    start: isize,
    step: isize,
    len: usize,
}

impl Row {
    /// Appends the row to `piece`, which is written out as often as it is full.
    fn write<const SIZE: usize>(
        &self,
        bytes: &[u8],
        piece: &mut Vec<u8>,
        out: &mut impl Write,
    ) -> Parsed<()> {
        let (items, _) = bytes.as_chunks::<SIZE>();
        let mut at = self.start;
        for _ in 0..self.len {
            piece.extend_from_slice(&items[at as usize]);
            at += self.step;
            if piece.len() >= PIECE {
                out.write_all(piece)?;
                piece.clear();
            }
        }
        Ok(())
    }
}
