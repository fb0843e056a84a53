//! The short way for the commonest calls: rows of a dense operand, with nothing to convert.

use super::combine::{Rows, into_one};
use super::fold::{DENSE_GRAIN, PIECE};
use super::reads_in_place;
use crate::access::Ptr;
use crate::load_store::stores_native;
use crate::pool;
use rushlight_core::CType;
use rushlight_core::backend::{Reduce, ReduceOp};

/// Does the call if it is of this kind; says whether it was.
pub(super) fn run(call: &Reduce<'_>, ctype: CType) -> bool {
    let ([input], None, None) = (call.ins, call.pre, call.post) else { return false };
    if matches!(call.op, ReduceOp::ArgMax | ReduceOp::ArgMin)
        || !input.layout().is_contiguous()
        || !call.out.layout().is_contiguous()
        || !reads_in_place(input, ctype)
        || !stores_native(call.out.dtype(), ctype)
        || !call.out.ptr().addr().is_multiple_of(call.out.dtype().size().min(8))
    {
        return false;
    }
    let Some((outs, n)) = rows(input.layout().shape(), call.axes) else { return false };
    if n == 0 || n > PIECE {
        return false;
    }
    let (from, to) = (Ptr::read(input), Ptr::write(&call.out));
    let join = into_one(call.op, ctype);
    pool::parallel_for(outs, (DENSE_GRAIN / n).max(1), |range| {
        let totals = to.offset(range.start as isize);
        let values = from.offset((range.start * n) as isize);
        // SAFETY: both operands are dense, aligned and of the compute type; the input has `outs` rows
        // of n values and the output a place for each; they do not overlap.
        unsafe { join(Rows { totals, values, n, rows: range.len(), stride: n as isize }) }
    });
    true
}

/// Rows and their length, if no kept axis lies inside a reduced one.
fn rows(shape: &[usize], axes: u64) -> Option<(usize, usize)> {
    let (mut rows, mut len, mut inside) = (1, 1, false);
    for (d, &size) in shape.iter().enumerate().filter(|(_, size)| **size != 1) {
        match axes >> d & 1 == 1 {
            true => (len, inside) = (len * size, true),
            false if inside => return None,
            false => rows *= size,
        }
    }
    Some((rows, len))
}
