//! The short way for the commonest calls: one opcode, dense operands, nothing to convert.
//!
//! An addition of eight numbers should cost little more than the addition: no scratch is set up, no
//! nest is built, the kernel is called on the operands' own memory.

use super::kernels::{Kernel3, kernel};
use super::{BLOCK, grain};
use crate::access::Ptr;
use crate::load_store::{ctype_size, is_native, splat, stores_native};
use crate::pool;
use rushlight_core::backend::Map;
use rushlight_core::mem::Span;
use rushlight_core::program::{Sort, Src};
use rushlight_core::{CType, Number, Result};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Room for a block of the widest compute type.
#[repr(align(64))]
struct Buffer(MaybeUninit<[u8; BLOCK * 16]>);

impl Buffer {
    const NEW: Buffer = Buffer(MaybeUninit::uninit());
    fn ptr(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// Where a step's operand comes from.
#[derive(Clone, Copy)]
enum Arg {
    /// Dense elements of the compute type.
    Memory(Ptr, usize),
    /// One number for all.
    Number(Number),
    None,
}

/// Does the call if it is of this kind; says whether it was.
///
/// # Errors
/// As [`kernel`].
pub(super) fn run(call: &Map<'_>, n: usize) -> Result<bool> {
    let ([out], [step], [(Src::Reg(result), _)]) = (call.outs, call.program.steps(), call.program.outputs())
    else {
        return Ok(false);
    };
    let wide = match step.op.output() {
        Sort::Num => call.ctype,
        Sort::Truth => CType::Bool,
    };
    if step.dst != *result || !stores_native(out.dtype(), wide) || !out.layout().is_contiguous() {
        return Ok(false);
    }
    let mut args = [Arg::None; 3];
    for ((src, sort), arg) in step.args().iter().zip(step.op.inputs()).zip(&mut args) {
        *arg = match (src, sort) {
            (_, Sort::Truth) => return Ok(false),
            (Src::Param(i), _) => Arg::Number(call.params[usize::from(*i)]),
            (Src::Literal(i), _) => Arg::Number(call.program.literals()[usize::from(*i)]),
            (Src::Input(i), _) => match operand(&call.ins[usize::from(*i)], call.ctype) {
                Some(arg) => arg,
                None => return Ok(false),
            },
            (Src::Reg(_), _) => return Ok(false),
        };
    }
    if !aligned(out.ptr(), out.dtype().size()) {
        return Ok(false);
    }
    let job = Job { kernel: kernel(step.op, call.ctype)?, dst: Ptr::write(out), args, ctype: call.ctype };
    let direct = job.reads_memory_only() && !job.writes_what_it_reads(n);
    let grain = grain(super::cost(call));
    match direct {
        true => pool::parallel_for(n, grain, |range| job.direct(range)),
        false => pool::parallel_for(n, grain, |range| job.buffered(range, n)),
    }
    Ok(true)
}

/// A kernel and its operands.
struct Job {
    kernel: Kernel3,
    dst: Ptr,
    args: [Arg; 3],
    ctype: CType,
}

impl Job {
    fn reads_memory_only(&self) -> bool {
        !self.args.iter().any(|a| matches!(a, Arg::Number(_)))
    }

    /// Whether an operand lies where some of the `n` results go.
    fn writes_what_it_reads(&self, n: usize) -> bool {
        let (start, end) = (self.dst.at.addr(), self.dst.at.addr() + n * self.dst.dtype.size());
        self.args.iter().any(|a| match a {
            Arg::Memory(p, size) => p.at.addr() < end && p.at.addr() + n * size > start,
            _ => false,
        })
    }

    fn to(&self, element: usize) -> *mut u8 {
        self.dst.at.wrapping_add(element * self.dst.dtype.size())
    }

    #[inline]
    fn direct(&self, range: Range<usize>) {
        let from = self.args.map(|a| match a {
            Arg::Memory(p, size) => p.at.wrapping_add(range.start * size).cast_const(),
            _ => std::ptr::null(),
        });
        // SAFETY: `run` checked that operands are dense, aligned and of the compute type over the
        // whole shape, and `writes_what_it_reads` that the target is none of them.
        unsafe { self.kernel.call(self.to(range.start), from, range.len()) }
    }

    /// Block by block: numbers are spread over a buffer, and a target that is also an operand is
    /// written by way of one, as kernels may not write what they read.
    #[inline(never)]
    fn buffered(&self, range: Range<usize>, all: usize) {
        let (mut numbers, mut result) = ([Buffer::NEW, Buffer::NEW, Buffer::NEW], Buffer::NEW);
        let most = range.len().min(BLOCK);
        let mut starts = [(std::ptr::null_mut::<u8>(), 0); 3];
        for ((start, arg), buffer) in starts.iter_mut().zip(self.args).zip(&mut numbers) {
            *start = match arg {
                Arg::Memory(p, size) => (p.at.wrapping_add(range.start * size), size),
                Arg::Number(value) => {
                    splat(self.ctype, value, buffer.ptr(), most);
                    (buffer.ptr(), 0)
                }
                Arg::None => continue,
            };
        }
        let meets = self.writes_what_it_reads(all);
        let mut done = 0;
        while done < range.len() {
            let n = (range.len() - done).min(BLOCK);
            let to = self.to(range.start + done);
            let from = starts.map(|(p, size)| p.wrapping_add(done * size).cast_const());
            let target = if meets { result.ptr() } else { to };
            // SAFETY: as in `direct`, where an operand may also be a buffer of BLOCK equal numbers;
            // the target is none of them, or it is the buffer.
            unsafe { self.kernel.call(target, from, n) };
            if meets {
                // SAFETY: n results are in the buffer, and the target has room for them.
                unsafe { std::ptr::copy_nonoverlapping(target, to, n * self.dst.dtype.size()) };
            }
            done += n;
        }
    }
}

/// An input that kernels can read where it is, or that is one number.
fn operand(span: &Span<'_>, ctype: CType) -> Option<Arg> {
    if !is_native(span.dtype(), ctype) {
        return None;
    }
    if span.layout().is_contiguous() {
        let size = ctype_size(ctype);
        return aligned(span.ptr(), size).then(|| Arg::Memory(Ptr::read(span), size));
    }
    // A number that was expanded: a 0-d tensor.
    span.layout().strides().iter().all(|s| *s == 0).then(|| Arg::Number(span.load(0)))
}

/// Whether elements of `size` bytes are aligned there; complex numbers as their parts.
#[inline]
fn aligned(at: *const u8, size: usize) -> bool {
    at.addr() & (size.min(8) - 1) == 0
}
