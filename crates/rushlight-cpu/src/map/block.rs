//! A program made ready for one call, and the walk through one block of elements.

use super::kernels::{Kernel3, kernel};
use crate::access::Ptr;
use crate::load_store::{Move, Mover, ctype_size, is_native, loader, splat, storer};
use rushlight_core::layout::Nest;
use rushlight_core::program::{Program, Sort, Src};
use rushlight_core::{CType, DType, Number, Result};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::ops::Range;

/// Elements of a block: its scratch stays in L1 for a handful of registers.
pub(crate) const BLOCK: usize = 1024;

/// An operand or result of the program.
struct Port {
    mover: Mover,
    native: bool,
}

/// A step with its kernel found.
struct Ready<'a> {
    run: Kernel3,
    dst: usize,
    args: &'a [Src],
}

/// A program, its kernels and conversions for one combination of dtypes.
pub(crate) struct Plan<'a> {
    program: &'a Program,
    params: &'a [Number],
    ctype: CType,
    outs: SmallVec<[Port; 2]>,
    ins: SmallVec<[Port; 4]>,
    steps: SmallVec<[Ready<'a>; 4]>,
}

thread_local! {
    /// Scratch, reused from call to call; taken out while in use.
    static SCRATCH: RefCell<Vec<Line>> = const { RefCell::new(Vec::new()) };
}

/// Scratch is counted in cache lines, which keeps it aligned.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[allow(dead_code, reason = "only its bytes are used")] [u8; 64]);

impl<'a> Plan<'a> {
    /// # Errors
    /// `NotImplemented` for an opcode that the compute type has no meaning for.
    pub(crate) fn new(
        program: &'a Program,
        params: &'a [Number],
        ctype: CType,
        outs: impl Iterator<Item = DType>,
        ins: impl Iterator<Item = DType>,
    ) -> Result<Plan<'a>> {
        let typed = |sort: Sort| if sort == Sort::Truth { CType::Bool } else { ctype };
        let mut steps = SmallVec::new();
        for s in program.steps() {
            steps.push(Ready { run: kernel(s.op, ctype)?, dst: usize::from(s.dst), args: s.args() });
        }
        let port_out = |(dtype, (_, sort)): (DType, &(Src, Sort))| Port {
            mover: storer(typed(*sort), dtype),
            native: is_native(dtype, typed(*sort)),
        };
        let port_in = |(dtype, sort): (DType, &Sort)| Port {
            mover: loader(dtype, typed(*sort)),
            native: is_native(dtype, typed(*sort)),
        };
        Ok(Plan {
            program,
            params,
            ctype,
            outs: outs.zip(program.outputs()).map(port_out).collect(),
            ins: ins.zip(program.inputs()).map(port_in).collect(),
            steps,
        })
    }

    /// Roughly how many elementary steps an element takes.
    pub(crate) fn cost(&self) -> usize {
        self.steps.len()
    }

    /// Runs `f` with scratch at hand.
    pub(crate) fn with_block<R>(&self, f: impl FnOnce(&mut Block<'_, '_>) -> R) -> R {
        let slots =
            self.ins.len() + self.program.registers() + self.params.len() + self.program.literals().len();
        let slot = BLOCK * ctype_size(self.ctype);
        let mut lines = SCRATCH.with_borrow_mut(std::mem::take);
        let need = (slots * slot).div_ceil(64);
        if lines.len() < need {
            lines.resize(need, Line([0; 64]));
        }
        let result = f(&mut Block {
            plan: self,
            base: lines.as_mut_ptr().cast(),
            slot,
            constants: 0,
            splats: SmallVec::from_elem(None, self.ins.len()),
        });
        SCRATCH.with_borrow_mut(|s| *s = lines);
        result
    }
}

/// Scratch laid out for a plan: inputs, registers, parameters, literals.
pub(crate) struct Block<'p, 'a> {
    plan: &'p Plan<'a>,
    base: *mut u8,
    slot: usize,
    /// How many elements of the constants are filled in.
    constants: usize,
    /// For each input, the address of the single element its scratch is full of.
    splats: SmallVec<[Option<(usize, usize)>; 4]>,
}

impl Block<'_, '_> {
    fn at(&self, slot: usize) -> *mut u8 {
        self.base.wrapping_add(slot * self.slot)
    }
    fn register(&self, r: usize) -> *mut u8 {
        self.at(self.plan.ins.len() + r)
    }

    /// Parameters and literals are spread once, for as many elements as a block will need.
    fn constants(&mut self, n: usize) {
        if self.constants >= n {
            return;
        }
        let first = self.plan.ins.len() + self.plan.program.registers();
        let all = self.plan.params.iter().chain(self.plan.program.literals());
        for (k, value) in all.enumerate() {
            splat(self.plan.ctype, *value, self.at(first + k), n);
        }
        self.constants = n;
    }

    fn source(&self, src: Src, inputs: &[*const u8]) -> *const u8 {
        let after = self.plan.ins.len() + self.plan.program.registers();
        match src {
            Src::Input(i) => inputs[usize::from(i)],
            Src::Reg(r) => self.register(usize::from(r)),
            Src::Param(i) => self.at(after + usize::from(i)),
            Src::Literal(i) => self.at(after + self.plan.params.len() + usize::from(i)),
        }
    }

    /// Elements that lie at a fixed stride for every operand: outputs first, then inputs.
    pub(crate) fn row(&mut self, ptrs: &[Ptr], offsets: &[isize], strides: &[isize], len: usize) {
        let outs = self.plan.outs.len();
        let mut done = 0;
        while done < len {
            let n = (len - done).min(BLOCK);
            let mut inputs: SmallVec<[*const u8; 6]> = SmallVec::new();
            for k in 0..self.plan.ins.len() {
                let (p, stride) = (ptrs[outs + k], strides[outs + k]);
                let memory = p.offset(offsets[outs + k] + done as isize * stride);
                inputs.push(self.fetch(k, memory, stride, n));
            }
            let mut direct: SmallVec<[Option<*mut u8>; 2]> = SmallVec::new();
            for k in 0..outs {
                let memory = ptrs[k].offset(offsets[k] + done as isize * strides[k]);
                // Where an input of this block is read in place, the result must not overwrite it yet.
                let end = memory.addr() + n * ptrs[k].dtype.size();
                let free = !inputs
                    .iter()
                    .any(|i| i.addr() < end && i.addr() + n * self.slot / BLOCK > memory.addr());
                let aligned = memory.addr() % ptrs[k].dtype.size().min(8) == 0;
                direct
                    .push((self.plan.outs[k].native && strides[k] == 1 && free && aligned).then_some(memory));
            }
            self.compute(&inputs, &direct, n);
            for k in 0..outs {
                let memory = ptrs[k].offset(offsets[k] + done as isize * strides[k]);
                self.put(k, &inputs, direct[k], memory, strides[k], n);
            }
            done += n;
        }
    }

    /// Any elements: short runs are packed together until a block is full.
    pub(crate) fn range(&mut self, ptrs: &[Ptr], nest: &Nest, range: Range<usize>) {
        let strides: SmallVec<[isize; 6]> = nest.inner_strides().into();
        if nest.inner_len() >= 128 {
            nest.for_each_run(range, |offsets, len| self.row(ptrs, offsets, &strides, len));
            return;
        }
        let outs = self.plan.outs.len();
        let size = self.slot / BLOCK;
        let mut start = range.start;
        while start < range.end {
            let n = (range.end - start).min(BLOCK);
            self.pack(
                start..start + n,
                nest,
                |k, offsets| ptrs[outs + k].offset(offsets[outs + k]),
                &strides[outs..],
            );
            let inputs: SmallVec<[*const u8; 6]> =
                (0..self.plan.ins.len()).map(|k| self.at(k).cast_const()).collect();
            let direct: SmallVec<[Option<*mut u8>; 2]> = SmallVec::from_elem(None, outs);
            self.compute(&inputs, &direct, n);
            let mut at = 0;
            nest.for_each_run(start..start + n, |offsets, len| {
                for k in 0..outs {
                    let (src, sort) = self.plan.program.outputs()[k];
                    let wide = if sort == Sort::Truth { 1 } else { size };
                    let scratch = self.source(src, &inputs).wrapping_add(at * wide).cast_mut();
                    // SAFETY: as above, for the output.
                    unsafe {
                        (self.plan.outs[k].mover)(Move {
                            scratch,
                            memory: ptrs[k].offset(offsets[k]),
                            stride: strides[k],
                            n: len,
                        })
                    };
                }
                at += len;
            });
            start += n;
        }
    }

    /// The address where input `k`'s block can be read densely in the compute type.
    fn fetch(&mut self, k: usize, memory: *mut u8, stride: isize, n: usize) -> *const u8 {
        let port = &self.plan.ins[k];
        let scratch = self.at(k);
        if port.native && stride == 1 && memory.addr() % 8.min(self.slot / BLOCK) == 0 {
            return memory;
        }
        if stride == 0 {
            if self.splats[k].is_some_and(|(at, filled)| at == memory.addr() && filled >= n) {
                return scratch;
            }
            self.splats[k] = Some((memory.addr(), n));
        }
        // SAFETY: the block lies inside the operand, and scratch has room for BLOCK values.
        unsafe { (port.mover)(Move { scratch, memory, stride, n }) };
        scratch
    }

    fn compute(&mut self, inputs: &[*const u8], direct: &[Option<*mut u8>], n: usize) {
        self.constants(n);
        let last = self.plan.steps.len().wrapping_sub(1);
        for (at, step) in self.plan.steps.iter().enumerate() {
            let mut dst = self.register(step.dst);
            if at == last
                && let ([Some(out)], (Src::Reg(r), _)) = (direct, self.plan.program.outputs()[0])
                && usize::from(r) == step.dst
            {
                dst = *out;
            }
            let mut args = [std::ptr::null(); 3];
            step.args.iter().zip(&mut args).for_each(|(src, a)| *a = self.source(*src, inputs));
            // SAFETY: all operands are dense and aligned for n values; dst is no operand, since
            // programs never read the register they write and `direct` was checked against inputs.
            unsafe { step.run.call(dst, args, n) };
        }
    }

    /// Writes output `k`, unless the last step already did.
    fn put(
        &self,
        k: usize,
        inputs: &[*const u8],
        direct: Option<*mut u8>,
        memory: *mut u8,
        stride: isize,
        n: usize,
    ) {
        let (src, _) = self.plan.program.outputs()[k];
        let by_step =
            matches!(src, Src::Reg(r) if self.plan.steps.last().is_some_and(|s| s.dst == usize::from(r)));
        if direct.is_some() && by_step && self.plan.outs.len() == 1 {
            return;
        }
        let scratch = self.source(src, inputs).cast_mut();
        // SAFETY: scratch holds n values; the block lies inside the output.
        unsafe { (self.plan.outs[k].mover)(Move { scratch, memory, stride, n }) };
    }

    /// Evaluates a program of one output on dense inputs of the compute type; gives where the result is.
    pub(crate) fn evaluate(&mut self, inputs: &[*const u8], n: usize) -> *const u8 {
        self.compute(inputs, &[None], n);
        self.source(self.plan.program.outputs()[0].0, inputs)
    }

    /// The program's one result over `n` (at most BLOCK) elements that lie densely from `at` on.
    pub(crate) fn dense(&mut self, ptrs: &[Ptr], at: &[isize], n: usize) -> *const u8 {
        let inputs: SmallVec<[*const u8; 6]> =
            (0..ptrs.len()).map(|k| self.fetch(k, ptrs[k].offset(at[k]), 1, n)).collect();
        self.evaluate(&inputs, n)
    }

    /// Hands the program's one result over the elements `range` of a nest to `f`, block by block.
    pub(crate) fn each(
        &mut self,
        ptrs: &[Ptr],
        at: &[isize],
        nest: &Nest,
        range: Range<usize>,
        mut f: impl FnMut(*const u8, usize),
    ) {
        let strides: SmallVec<[isize; 6]> = nest.inner_strides().into();
        if nest.inner_len() >= 64 {
            nest.for_each_run(range, |offsets, len| {
                let mut done = 0;
                while done < len {
                    let n = (len - done).min(BLOCK);
                    let inputs: SmallVec<[*const u8; 6]> = (0..ptrs.len())
                        .map(|k| {
                            self.fetch(
                                k,
                                ptrs[k].offset(at[k] + offsets[k] + done as isize * strides[k]),
                                strides[k],
                                n,
                            )
                        })
                        .collect();
                    f(self.evaluate(&inputs, n), n);
                    done += n;
                }
            });
            return;
        }
        let mut start = range.start;
        while start < range.end {
            let n = (range.end - start).min(BLOCK);
            self.pack(start..start + n, nest, |k, offsets| ptrs[k].offset(at[k] + offsets[k]), &strides);
            let inputs: SmallVec<[*const u8; 6]> = (0..ptrs.len()).map(|k| self.at(k).cast_const()).collect();
            f(self.evaluate(&inputs, n), n);
            start += n;
        }
    }

    /// Gathers short runs of every input into its scratch, one after the other.
    fn pack(
        &mut self,
        range: Range<usize>,
        nest: &Nest,
        address: impl Fn(usize, &[isize]) -> *mut u8,
        strides: &[isize],
    ) {
        let size = self.slot / BLOCK;
        let mut done = 0;
        nest.for_each_run(range, |offsets, len| {
            for k in 0..self.plan.ins.len() {
                let wide = if self.plan.program.inputs()[k] == Sort::Truth { 1 } else { size };
                let scratch = self.at(k).wrapping_add(done * wide);
                // SAFETY: the run lies inside the operand (the nest walks its shape) and the block
                // has room for all of its runs.
                unsafe {
                    (self.plan.ins[k].mover)(Move {
                        scratch,
                        memory: address(k, offsets),
                        stride: strides[k],
                        n: len,
                    })
                };
            }
            done += len;
        });
        self.splats.iter_mut().for_each(|s| *s = None);
    }
}
