//! Matrix products: the `gemm` crate behind blocks of our own pool, vectors and integers by hand.

mod float;
mod integer;

use crate::access::Ptr;
use crate::pool;
use rushlight_core::backend::Matmul;
use rushlight_core::layout::{Layout, Nest};
use rushlight_core::{DType, Number, Result, bail};

/// One product: sizes, and strides of rows and columns in elements.
#[derive(Clone, Copy)]
pub(crate) struct Product {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub out: Ptr,
    pub a: Ptr,
    pub b: Ptr,
    pub out_strides: [isize; 2],
    pub a_strides: [isize; 2],
    pub b_strides: [isize; 2],
    pub alpha: Number,
    pub beta: Number,
}

impl Product {
    /// The part that computes rows `i..i + m` and columns `j..j + n` of the result.
    fn part(&self, i: usize, m: usize, j: usize, n: usize) -> Product {
        let (i, j) = (i as isize, j as isize);
        let out = Ptr { at: self.out.offset(i * self.out_strides[0] + j * self.out_strides[1]), ..self.out };
        let a = Ptr { at: self.a.offset(i * self.a_strides[0]), ..self.a };
        let b = Ptr { at: self.b.offset(j * self.b_strides[1]), ..self.b };
        Product { m, n, out, a, b, ..*self }
    }

    /// The same product as the transposed one, so that the longer side of the result is its rows.
    fn transposed(&self) -> Product {
        let swap = |s: [isize; 2]| [s[1], s[0]];
        Product {
            m: self.n,
            n: self.m,
            a: self.b,
            b: self.a,
            out_strides: swap(self.out_strides),
            a_strides: swap(self.b_strides),
            b_strides: swap(self.a_strides),
            ..*self
        }
    }

    fn flops(&self) -> usize {
        self.m.saturating_mul(self.n).saturating_mul(self.k)
    }

    fn run(&self) {
        match self.out.dtype {
            DType::F32 | DType::F64 | DType::C64 | DType::C128 => float::run(self),
            DType::F16 | DType::BF16 => float::run_half(self),
            _ => integer::run(self),
        }
    }
}

/// Multiplications below which a second thread does not pay.
const PARALLEL: usize = 64 * 64 * 64;

fn split(layout: &Layout) -> (&[usize], &[isize], [usize; 2], [isize; 2]) {
    let (shape, strides) = layout.parts();
    let r = shape.len() - 2;
    (&shape[..r], &strides[..r], [shape[r], shape[r + 1]], [strides[r], strides[r + 1]])
}

pub(crate) fn run(call: &Matmul<'_>) -> Result<()> {
    if call.out.numel() == 0 {
        return Ok(());
    }
    if call.out.dtype() == DType::Bool {
        bail!(NotImplemented, "matmul", "is not defined for bool; convert with to_dtype");
    }
    let (batch, out_batch, [m, n], out_strides) = split(call.out.layout());
    let (_, a_batch, [_, k], a_strides) = split(call.a.layout());
    let (_, b_batch, _, b_strides) = split(call.b.layout());
    let whole = Product {
        m,
        n,
        k,
        out: Ptr::write(&call.out),
        a: Ptr::read(&call.a),
        b: Ptr::read(&call.b),
        out_strides,
        a_strides,
        b_strides,
        alpha: call.alpha,
        beta: call.beta,
    };
    let nest = Nest::new(batch, &[out_batch, a_batch, b_batch]);
    let inner = nest.inner_strides();
    let shifted = |offsets: &[isize], i: isize| {
        let at = |p: Ptr, k: usize| Ptr { at: p.offset(offsets[k] + i * inner[k]), ..p };
        Product { out: at(whole.out, 0), a: at(whole.a, 1), b: at(whole.b, 2), ..whole }
    };
    let batches = nest.numel();
    if batches > 1 {
        let per_task = (PARALLEL / whole.flops().max(1)).max(1);
        pool::parallel_for(batches, per_task, |range| {
            nest.for_each_run(range, |offsets, len| {
                (0..len as isize).for_each(|i| shifted(offsets, i).run())
            });
        });
        return Ok(());
    }
    let one = if m < n { whole.transposed() } else { whole };
    if one.flops() < 2 * PARALLEL {
        one.run();
        return Ok(());
    }
    // Bands of rows of a fixed size, a multiple of every kernel's tile.
    let band = (one.m / 8).next_multiple_of(48).clamp(48, 512);
    pool::parallel_for(one.m, band, |range| one.part(range.start, range.len(), 0, one.n).run());
    Ok(())
}
