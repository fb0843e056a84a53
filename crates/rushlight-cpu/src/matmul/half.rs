//! Halves: widened once, multiplied in singles, rounded once.

use super::{Batches, Product, multiply};
use crate::access::Ptr;
use crate::load_store::{Move, Mover, loader, storer};
use crate::pool;
use rushlight_core::layout::Nest;
use rushlight_core::{CType, DType, Result, err};

/// A stack of matrices as dense singles, row-major; broadcast batch dims keep one copy.
struct Wide {
    data: Vec<f32>,
    batch: Vec<isize>,
    rows: isize,
}

impl Wide {
    fn new(shape: &[usize], strides: &[isize], rows: usize, columns: usize) -> Result<Wide> {
        let large =
            || err!(Runtime, "matmul", "a matrix of {rows} by {columns} halves is too large to widen");
        let mut size = rows.checked_mul(columns).ok_or_else(large)?;
        let mut batch = vec![0; shape.len()];
        for d in (0..shape.len()).rev() {
            if strides[d] != 0 {
                batch[d] = size as isize;
                size = size.checked_mul(shape[d]).ok_or_else(large)?;
            }
        }
        Ok(Wide { data: vec![0.0; size], batch, rows: columns as isize })
    }

    fn ptr(&mut self) -> Ptr {
        Ptr { at: self.data.as_mut_ptr().cast(), dtype: DType::F32 }
    }

    /// Moves all elements between the halves at `memory` and here.
    fn convert(&mut self, mover: Mover, memory: Ptr, shape: [&[usize]; 2], strides: [&[isize]; 2]) {
        let own = [&self.batch[..], &[self.rows, 1]].concat();
        let theirs = strides.concat();
        // Broadcast dims are visited once.
        let shape: Vec<usize> = (shape.concat().into_iter().enumerate())
            .map(|(d, n)| if d < self.batch.len() && self.batch[d] == 0 { 1 } else { n })
            .collect();
        let (wide, nest) = (self.ptr(), Nest::new(&shape, &[&own, &theirs]));
        let inner = nest.inner_strides();
        pool::parallel_for(nest.numel(), pool::GRAIN, |range| {
            nest.for_each_run(range, |offsets, len| {
                // Scratch must be dense; where it is not, elements move one by one.
                let (runs, n) = if inner[0] == 1 || len == 1 { (1, len) } else { (len, 1) };
                for i in 0..runs as isize {
                    let scratch = wide.offset(offsets[0] + i * inner[0]);
                    let there = memory.offset(offsets[1] + i * inner[1]);
                    // SAFETY: the nest walks the halves' own shape, whose elements all have a place here.
                    unsafe { mover(Move::row(scratch, there, inner[1], n)) };
                }
            });
        });
    }
}

pub(super) fn run(p: &Product, batches: &Batches<'_>) -> Result<()> {
    let load = loader(p.out.dtype, CType::F32);
    let [out_batch, a_batch, b_batch] = batches.strides;
    let shape = batches.shape;
    let mut a = Wide::new(shape, a_batch, p.m, p.k)?;
    let mut b = Wide::new(shape, b_batch, p.k, p.n)?;
    // The output's batch dims are its own: one of size 1 may have any stride.
    let mut out = Wide::new(shape, out_batch, p.m, p.n)?;
    a.convert(load, p.a, [shape, &[p.m, p.k]], [a_batch, &p.a_strides]);
    b.convert(load, p.b, [shape, &[p.k, p.n]], [b_batch, &p.b_strides]);
    if p.beta.to_bool() {
        out.convert(load, p.out, [shape, &[p.m, p.n]], [out_batch, &p.out_strides]);
    }
    let wide = Product {
        a: a.ptr(),
        b: b.ptr(),
        out: out.ptr(),
        a_strides: [a.rows, 1],
        b_strides: [b.rows, 1],
        out_strides: [out.rows, 1],
        ..*p
    };
    multiply(&wide, &Batches { shape, strides: [&out.batch, &a.batch, &b.batch] });
    let store = storer(CType::F32, p.out.dtype);
    out.convert(store, p.out, [shape, &[p.m, p.n]], [out_batch, &p.out_strides]);
    Ok(())
}
