//! Matrix products: the `gemm` crate behind blocks of our own pool, halves by way of singles,
//! integers and what `gemm` must not see by hand.

mod by_hand;
mod float;
mod half;

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
    /// The part that computes `m` rows of the result from row `i` on.
    fn part(&self, i: usize, m: usize) -> Product {
        let i = i as isize;
        let out = Ptr { at: self.out.offset(i * self.out_strides[0]), ..self.out };
        let a = Ptr { at: self.a.offset(i * self.a_strides[0]), ..self.a };
        Product { m, out, a, ..*self }
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
        let float = self.out.dtype.is_differentiable() && !self.out.dtype.is_half();
        if float && float::suits(self) { float::run(self) } else { by_hand::run(self) }
    }
}

/// Multiplications below which a second thread does not pay.
const PARALLEL: usize = 64 * 64 * 64;

/// Batch dims and their strides, then sizes and strides of the matrices.
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
    let batches = Batches { shape: batch, strides: [out_batch, a_batch, b_batch] };
    if call.out.dtype().is_half() {
        return half::run(&whole, &batches);
    }
    multiply(&whole, &batches);
    Ok(())
}

/// Batch dims, and the strides of the output, `a` and `b` in them.
struct Batches<'a> {
    shape: &'a [usize],
    strides: [&'a [isize]; 3],
}

fn multiply(whole: &Product, batches: &Batches<'_>) {
    let nest = Nest::new(batches.shape, &batches.strides);
    let inner = nest.inner_strides();
    let at = |offsets: &[isize], i: isize| {
        let shift = |p: Ptr, k: usize| Ptr { at: p.offset(offsets[k] + i * inner[k]), ..p };
        Product { out: shift(whole.out, 0), a: shift(whole.a, 1), b: shift(whole.b, 2), ..*whole }
    };
    if nest.numel() >= 8 || whole.flops() < 2 * PARALLEL {
        let per_task = (PARALLEL / whole.flops().max(1)).max(1);
        pool::parallel_for(nest.numel(), per_task, |range| {
            nest.for_each_run(range, |offsets, len| (0..len as isize).for_each(|i| at(offsets, i).run()));
        });
        return;
    }
    nest.for_each_run(0..nest.numel(), |offsets, len| (0..len as isize).for_each(|i| bands(&at(offsets, i))));
}

/// One large product, on all threads: bands of rows of a fixed size, a multiple of every kernel's tile.
fn bands(product: &Product) {
    let one = if product.m < product.n { product.transposed() } else { *product };
    let band = (one.m / 8).next_multiple_of(48).clamp(48, 512);
    pool::parallel_for(one.m, band, |range| one.part(range.start, range.len()).run());
}
