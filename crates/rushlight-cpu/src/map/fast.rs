//! The short way for the commonest calls: one opcode, dense operands, nothing to convert.
//!
//! An addition of eight numbers should cost little more than the addition: no scratch is set up, no
//! nest is built, the kernel is called on the operands' own memory.

use super::kernels::{Kernel3, kernel};
use super::{BLOCK, cost, grain};
use crate::access::Ptr;
use crate::load_store::{ctype_size, is_native, repeat, splat, stores_native};
use crate::pool;
use rushlight_core::backend::Map;
use rushlight_core::layout::Layout;
use rushlight_core::mem::Span;
use rushlight_core::program::{Sort, Src};
use rushlight_core::{CType, Number, Result};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Elements of a call that is not worth cutting, whatever it computes: the smallest grain.
const SMALL: usize = pool::GRAIN / 16;

/// Elements below which a kernel may write what it reads: it does so one by one, which is slow.
const ONE_BY_ONE: usize = 32;

/// Scratch for `N` bytes.
#[repr(align(64))]
struct Buffer<const N: usize>(MaybeUninit<[u8; N]>);

impl<const N: usize> Buffer<N> {
    const NEW: Self = Buffer(MaybeUninit::uninit());
    fn ptr(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// A step's operand: dense elements, or one number for all.
#[derive(Clone, Copy)]
struct Arg<'a> {
    /// The first element; null if the number is not in memory.
    at: *mut u8,
    /// Bytes from one element to the next; 0 for a number.
    size: usize,
    number: Option<&'a Number>,
}

impl Arg<'_> {
    const NONE: Self = Arg { at: std::ptr::null_mut(), size: 0, number: None };

    fn is_number(&self) -> bool {
        self.size == 0 && (self.number.is_some() || !self.at.is_null())
    }
}

// SAFETY: as for `Ptr`, whose address it holds.
unsafe impl Sync for Arg<'_> {}

/// Does the call if it is of this kind; says whether it was.
///
/// # Errors
/// As [`kernel`].
#[inline]
pub(super) fn run(call: &Map<'_>, n: usize) -> Result<bool> {
    let ([out], [step], [(Src::Reg(result), _)]) = (call.outs, call.program.steps(), call.program.outputs())
    else {
        return Ok(false);
    };
    let wide = match step.op.output() {
        Sort::Num => call.ctype,
        Sort::Truth => CType::Bool,
    };
    let size = out.dtype().size();
    if step.dst != *result
        || !stores_native(out.dtype(), wide)
        || !is_dense(out.layout())
        || !is_aligned(out.ptr(), size)
    {
        return Ok(false);
    }
    let mut args = [Arg::NONE; 3];
    for ((src, sort), arg) in step.args().iter().zip(step.op.inputs()).zip(&mut args) {
        if *sort == Sort::Truth {
            return Ok(false);
        }
        let number = match src {
            Src::Input(i) => match operand(&call.ins[usize::from(*i)], call.ctype) {
                Some(memory) => {
                    *arg = memory;
                    continue;
                }
                None => return Ok(false),
            },
            Src::Param(i) => &call.params[usize::from(*i)],
            Src::Literal(i) => &call.program.literals()[usize::from(*i)],
            Src::Reg(_) => return Ok(false),
        };
        arg.number = Some(number);
    }
    let job =
        Job { kernel: kernel(step.op, call.ctype)?, dst: Ptr::write(out), size, args, ctype: call.ctype };
    let buffered = job.args.iter().any(Arg::is_number) || job.must_not_write_what_it_reads(n);
    match (n <= SMALL, buffered) {
        (true, false) => job.direct(0..n),
        (true, true) if n <= 64 => job.buffered::<{ 64 * 16 }>(0..n, n),
        (true, true) => job.buffered::<{ BLOCK * 16 }>(0..n, n),
        (false, false) => pool::parallel_for(n, grain(cost(call)), |range| job.direct(range)),
        (false, true) => {
            pool::parallel_for(n, grain(cost(call)), |range| job.buffered::<{ BLOCK * 16 }>(range, n));
        }
    }
    Ok(true)
}

/// A kernel and its operands.
struct Job<'a> {
    kernel: Kernel3,
    dst: Ptr,
    /// Bytes of a result.
    size: usize,
    args: [Arg<'a>; 3],
    ctype: CType,
}

impl Job<'_> {
    /// Whether some of the `n` results go where operands lie; elements that replace themselves are
    /// no matter if they are few.
    fn must_not_write_what_it_reads(&self, n: usize) -> bool {
        let (start, end) = (self.dst.at.addr(), self.dst.at.addr() + n * self.size);
        self.args.iter().any(|a| {
            let apart = a.at.addr() >= end || a.at.addr() + n * a.size <= start;
            a.size != 0 && !apart && (n > ONE_BY_ONE || a.at.addr() != start || a.size != self.size)
        })
    }

    fn to(&self, element: usize) -> *mut u8 {
        self.dst.at.wrapping_add(element * self.size)
    }

    #[inline]
    fn direct(&self, range: Range<usize>) {
        let from = self.args.map(|a| a.at.wrapping_add(range.start * a.size).cast_const());
        // SAFETY: `run` checked that operands are dense, aligned and of the compute type over the
        // whole shape, and `must_not_write_what_it_reads` that the target is none of them, or is one
        // of few elements.
        unsafe { self.kernel.call(self.to(range.start), from, range.len()) }
    }

    /// Block by block: numbers are spread over a buffer, and a target that is also an operand is
    /// written by way of one, as kernels may not write what they read. `N` bytes hold a block.
    #[inline(never)]
    fn buffered<const N: usize>(&self, range: Range<usize>, all: usize) {
        let (mut numbers, mut result) = ([const { Buffer::<N>::NEW }; 3], Buffer::<N>::NEW);
        let most = range.len().min(N / 16);
        let mut starts = self.args.map(|a| (a.at.wrapping_add(range.start * a.size), a.size));
        for ((start, arg), buffer) in starts.iter_mut().zip(&self.args).zip(&mut numbers) {
            if arg.is_number() {
                start.0 = buffer.ptr();
                match arg.number {
                    Some(number) => splat(self.ctype, *number, start.0, most),
                    // SAFETY: the operand's one element is aligned and of the compute type; a buffer has
                    // room for as many values of any.
                    None => unsafe { repeat(self.ctype, arg.at, start.0, most) },
                }
            }
        }
        let meets = self.must_not_write_what_it_reads(all);
        let mut done = 0;
        while done < range.len() {
            let n = (range.len() - done).min(most);
            let to = self.to(range.start + done);
            let from = starts.map(|(p, size)| p.wrapping_add(done * size).cast_const());
            let target = if meets { result.ptr() } else { to };
            // SAFETY: as in `direct`, where an operand may also be a buffer of equal numbers, and the
            // target the other one.
            unsafe { self.kernel.call(target, from, n) };
            if meets {
                // SAFETY: n results are in the buffer, and the target has room for them.
                unsafe { std::ptr::copy_nonoverlapping(target, to, n * self.size) };
            }
            done += n;
        }
    }
}

/// An input that kernels can read where it is, or that is one number.
#[inline]
fn operand<'a>(span: &Span<'_>, ctype: CType) -> Option<Arg<'a>> {
    let (at, size) = (span.ptr().cast_mut(), ctype_size(ctype));
    if !is_native(span.dtype(), ctype) || !is_aligned(at, size) {
        return None;
    }
    if is_dense(span.layout()) {
        return Some(Arg { at, size, number: None });
    }
    // A number that was expanded: a 0-d tensor.
    span.layout().strides().iter().all(|s| *s == 0).then_some(Arg { at, size: 0, number: None })
}

/// Whether elements of `size` bytes are aligned there; complex numbers as their parts.
#[inline]
fn is_aligned(at: *const u8, size: usize) -> bool {
    at.addr() & (size.min(8) - 1) == 0
}

/// Whether a layout is contiguous; the commonest ranks are looked at here.
#[inline]
fn is_dense(layout: &Layout) -> bool {
    match layout.parts() {
        ([], []) | (_, [1]) => true,
        _ => layout.is_contiguous(),
    }
}
