//! Running sums, products and extrema along one axis, in linear time.
//!
//! Values are converted to the compute type block by block and the total stays in it, so halves
//! round on store only.

use crate::access::Ptr;
use crate::load_store::{Move, Mover, loader, storer};
use crate::map::BLOCK;
use crate::pool;
use crate::reduce::{Cell, Dense, Join, begin, into_many, running};
use rushlight_core::backend::Scan;
use rushlight_core::layout::{Layout, Nest};
use rushlight_core::{CType, Result};
use std::ops::Range;

/// One call: how values get in and out, and how they join.
struct Walk {
    dst: Ptr,
    src: Ptr,
    /// Steps along the axis, of the output and of the operand.
    steps: [isize; 2],
    n: usize,
    load: Mover,
    store: Mover,
    begin: Join,
    join: Join,
    running: Join,
}

pub(crate) fn run(call: &Scan<'_>) -> Result<()> {
    if call.out.numel() == 0 {
        return Ok(());
    }
    // Bool computes as 0 and 1.
    let ctype = if call.ctype == CType::Bool { CType::I32 } else { call.ctype };
    let line = |l: &Layout| -> Result<(Layout, isize, usize)> {
        if l.rank() == 0 {
            return Ok((l.clone(), 0, 1));
        }
        Ok((l.narrow(call.axis as isize, 0, 1)?, l.strides()[call.axis], l.shape()[call.axis]))
    };
    let (out, out_step, n) = line(call.out.layout())?;
    let (input, step, _) = line(call.input.layout())?;
    let nest = Nest::new(out.shape(), &[out.strides(), input.strides()]);
    let walk = Walk {
        dst: Ptr::write(&call.out),
        src: Ptr::read(&call.input),
        steps: [out_step, step],
        n,
        load: loader(call.input.dtype(), ctype),
        store: storer(ctype, call.out.dtype()),
        begin: begin(call.op, ctype),
        join: into_many(call.op, ctype),
        running: running(call.op, ctype),
    };
    let width = nest.inner_len();
    // Neighbouring lines together, unless each lies densely by itself.
    if width >= 8 && (step != 1 || out_step != 1) {
        let bands = width.div_ceil(BLOCK);
        let grain = (pool::GRAIN / (n * width.min(BLOCK))).max(1);
        pool::parallel_for(nest.rows() * bands, grain, |tasks| {
            tasks.for_each(|task| walk.columns(&nest, task / bands, task % bands * BLOCK));
        });
    } else {
        pool::parallel_for(nest.numel(), (pool::GRAIN / n).max(1), |range| walk.lines(&nest, range));
    }
    Ok(())
}

fn buffer() -> Vec<Cell> {
    vec![Cell::default(); BLOCK]
}

impl Walk {
    /// Line by line.
    fn lines(&self, nest: &Nest, range: Range<usize>) {
        let mut scratch = buffer();
        let scratch = scratch.as_mut_ptr().cast::<u8>();
        let inner = nest.inner_strides();
        nest.for_each_run(range, |offsets, len| {
            for i in 0..len as isize {
                let mut total = Cell::default();
                let total = total.ptr();
                // SAFETY: the cell has room for one value of any compute type.
                unsafe { (self.begin)(Dense { total, values: std::ptr::null(), n: 1 }) };
                for done in (0..self.n).step_by(BLOCK) {
                    let n = (self.n - done).min(BLOCK);
                    let place = |p: Ptr, k: usize| {
                        p.offset(offsets[k] + i * inner[k] + done as isize * self.steps[k])
                    };
                    // SAFETY: these n elements lie inside both operands, as the axis has them, and
                    // scratch has room for a block.
                    unsafe {
                        (self.load)(Move::row(scratch, place(self.src, 1), self.steps[1], n));
                        (self.running)(Dense { total, values: scratch, n });
                        (self.store)(Move::row(scratch, place(self.dst, 0), self.steps[0], n));
                    }
                }
            }
        });
    }

    /// A block of neighbouring lines, one step of the axis after the other.
    fn columns(&self, nest: &Nest, row: usize, first: usize) {
        let (mut scratch, mut totals) = (buffer(), buffer());
        let (scratch, total) = (scratch.as_mut_ptr().cast::<u8>(), totals.as_mut_ptr().cast::<u8>());
        let n = (nest.inner_len() - first).min(BLOCK);
        let rows = nest.rows_from(row);
        let inner = nest.inner_strides();
        // SAFETY: there is room for BLOCK values of any compute type.
        unsafe { (self.begin)(Dense { total, values: std::ptr::null(), n }) };
        for i in 0..self.n as isize {
            let place = |p: Ptr, k: usize| {
                p.offset(rows.offsets()[k] + first as isize * inner[k] + i * self.steps[k])
            };
            // SAFETY: these n elements lie inside both operands: the nest walks the lines, and i is
            // below the length of the axis; both buffers have room for a block.
            unsafe {
                (self.load)(Move::row(scratch, place(self.src, 1), inner[1], n));
                (self.join)(Dense { total, values: scratch, n });
                (self.store)(Move::row(total, place(self.dst, 0), inner[0], n));
            }
        }
    }
}
