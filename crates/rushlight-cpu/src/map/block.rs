//! A program made ready for one call, and the walk through one block of elements.

use super::kernels::{Kernel3, kernel};
use super::walk::Walk;
use crate::access::Ptr;
use crate::load_store::{Move, Mover, ctype_size, is_native, loader, splat, storer, stores_native};
use rushlight_core::layout::Nest;
use rushlight_core::program::{Program, Sort, Src};
use rushlight_core::{CType, DType, Number, Result};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::ops::Range;

/// Elements of a block: its scratch stays in L1 for a handful of registers.
pub(crate) const BLOCK: usize = 1024;

/// Rows shorter than this are packed together before anything is computed.
const SHORT: usize = 128;

/// Where a block of each input can be read densely.
type Inputs = SmallVec<[*const u8; 6]>;

/// An operand or result of the program.
struct Port {
    mover: Mover,
    /// Whether its memory holds values of the compute type.
    native: bool,
    /// Bytes of an element in memory.
    size: usize,
    /// Bytes of a value in scratch.
    wide: usize,
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
    /// Makes numbers of a truth value that is the first result, for those who go on computing.
    widen: Option<Mover>,
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
        let port = |dtype: DType, sort: Sort, write: bool| {
            let wide = typed(sort);
            Port {
                mover: if write { storer(wide, dtype) } else { loader(dtype, wide) },
                native: if write { stores_native(dtype, wide) } else { is_native(dtype, wide) },
                size: dtype.size(),
                wide: ctype_size(wide),
            }
        };
        Ok(Plan {
            program,
            params,
            ctype,
            outs: outs.zip(program.outputs()).map(|(d, (_, sort))| port(d, *sort, true)).collect(),
            ins: ins.zip(program.inputs()).map(|(d, sort)| port(d, *sort, false)).collect(),
            steps,
            widen: match program.outputs() {
                [(_, Sort::Truth), ..] if ctype != CType::Bool => Some(loader(DType::Bool, ctype)),
                _ => None,
            },
        })
    }

    /// Values of a block that are kept at once.
    fn slots(&self) -> usize {
        self.ins.len() + self.program.registers() + self.params.len() + self.program.literals().len()
    }

    /// Runs `f` with scratch at hand.
    pub(crate) fn with_block<R>(&self, f: impl FnOnce(&mut Block<'_, '_>) -> R) -> R {
        let slots = self.slots() + usize::from(self.widen.is_some());
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
            let place = |k: usize| ptrs[k].offset(offsets[k] + done as isize * strides[k]);
            let inputs: Inputs =
                (outs..ptrs.len()).map(|k| self.fetch(k - outs, place(k), strides[k], n)).collect();
            // The last step may write straight to the one output.
            let direct = match outs {
                1 => self.direct(&inputs, place(0), strides[0], n),
                _ => None,
            };
            // With several outputs, none may be written while an input is still read in its place.
            let inputs = if outs > 1 { self.detach(inputs, n) } else { inputs };
            self.compute(&inputs, direct, n);
            if direct.is_none() {
                for (k, (src, _)) in self.plan.program.outputs().iter().enumerate() {
                    let scratch = self.source(*src, &inputs).cast_mut();
                    // SAFETY: scratch holds n values; the block lies inside the output.
                    unsafe { (self.plan.outs[k].mover)(Move::row(scratch, place(k), strides[k], n)) };
                }
            }
            done += n;
        }
    }

    /// Where the last step may write, if the output is dense, native, the last step's result, and
    /// no input of this block is read in its place.
    fn direct(&self, inputs: &Inputs, memory: *mut u8, stride: isize, n: usize) -> Option<*mut u8> {
        let port = &self.plan.outs[0];
        let (start, end) = (memory.addr(), memory.addr() + n * port.size);
        let last = self.plan.steps.last()?;
        let is_last = self.plan.program.outputs()[0].0 == Src::Reg(last.dst as u8);
        let free = is_last
            && port.native
            && stride == 1
            && start.is_multiple_of(port.size.min(8))
            && inputs.iter().all(|i| i.addr() >= end || i.addr() + n * self.slot / BLOCK <= start);
        free.then_some(memory)
    }

    /// Inputs that are read in memory, copied to scratch.
    fn detach(&self, mut inputs: Inputs, n: usize) -> Inputs {
        for (k, input) in inputs.iter_mut().enumerate().filter(|(k, _)| self.plan.ins[*k].native) {
            let own = self.at(k);
            if !std::ptr::eq(*input, own) {
                // SAFETY: n values of the compute type are readable there and fit into scratch.
                unsafe { std::ptr::copy_nonoverlapping(*input, own, n * self.slot / BLOCK) };
                *input = own;
            }
        }
        inputs
    }

    /// Any elements of a nest over outputs and inputs: short rows are packed together until a block is full.
    pub(super) fn range(&mut self, ptrs: &[Ptr], nest: &Nest, walk: &Walk<'_>, range: Range<usize>) {
        if nest.inner_len() >= SHORT {
            let strides = nest.inner_strides();
            nest.for_each_run(range, |offsets, len| self.row(ptrs, offsets, strides, len));
            return;
        }
        let outs = self.plan.outs.len();
        self.splats.iter_mut().for_each(|s| *s = None);
        let mut start = range.start;
        while start < range.end {
            let n = (range.end - start).min(BLOCK);
            for (k, (port, ptr)) in self.plan.ins.iter().zip(&ptrs[outs..]).enumerate() {
                Block::carry(port, self.at(k), *ptr, walk, outs + k, start..start + n);
            }
            let inputs: Inputs = (0..self.plan.ins.len()).map(|k| self.at(k).cast_const()).collect();
            self.compute(&inputs, None, n);
            for (k, ptr) in ptrs.iter().enumerate().take(outs) {
                let scratch = self.source(self.plan.program.outputs()[k].0, &inputs).cast_mut();
                Block::carry(&self.plan.outs[k], scratch, *ptr, walk, k, start..start + n);
            }
            start += n;
        }
    }

    /// Moves a block of operand `k` between its memory and dense scratch.
    fn carry(port: &Port, mut scratch: *mut u8, ptr: Ptr, walk: &Walk<'_>, k: usize, range: Range<usize>) {
        walk.tiles(k, range, |t| {
            let memory = ptr.offset(t.offset);
            let tile =
                Move { scratch, memory, stride: t.stride, n: t.len, row_stride: t.row_stride, rows: t.rows };
            // SAFETY: the tile lies inside the operand, as the nest walks its shape; a block has
            // room for all of its tiles.
            unsafe { (port.mover)(tile) };
            scratch = scratch.wrapping_add(t.rows * t.len * port.wide);
        });
    }

    /// The address where input `k`'s block can be read densely in the compute type.
    fn fetch(&mut self, k: usize, memory: *mut u8, stride: isize, n: usize) -> *const u8 {
        let port = &self.plan.ins[k];
        let scratch = self.at(k);
        if port.native && stride == 1 && memory.addr().is_multiple_of(port.size.min(8)) {
            return memory;
        }
        if stride == 0 {
            if self.splats[k].is_some_and(|(at, filled)| at == memory.addr() && filled >= n) {
                return scratch;
            }
            self.splats[k] = Some((memory.addr(), n));
        }
        // SAFETY: the block lies inside the operand, and scratch has room for BLOCK values.
        unsafe { (port.mover)(Move::row(scratch, memory, stride, n)) };
        scratch
    }

    fn compute(&mut self, inputs: &[*const u8], direct: Option<*mut u8>, n: usize) {
        self.constants(n);
        let last = self.plan.steps.len().wrapping_sub(1);
        for (at, step) in self.plan.steps.iter().enumerate() {
            let dst = match direct {
                Some(memory) if at == last => memory,
                _ => self.register(step.dst),
            };
            let mut args = [std::ptr::null(); 3];
            step.args.iter().zip(&mut args).for_each(|(src, a)| *a = self.source(*src, inputs));
            // SAFETY: all operands are dense and aligned for n values; dst is no operand, since
            // programs never read the register they write and `direct` was checked against inputs.
            unsafe { step.run.call(dst, args, n) };
        }
    }

    /// Evaluates a program of one output on dense inputs of the compute type; gives where the result
    /// is, in the compute type too.
    pub(crate) fn evaluate(&mut self, inputs: &[*const u8], n: usize) -> *const u8 {
        self.compute(inputs, None, n);
        let result = self.source(self.plan.program.outputs()[0].0, inputs);
        let Some(widen) = self.plan.widen else { return result };
        let scratch = self.at(self.plan.slots());
        // SAFETY: the result is n truth values, and a block with `widen` has one more slot of BLOCK
        // values after all others.
        unsafe { widen(Move::row(scratch, result.cast_mut(), 1, n)) };
        scratch
    }

    /// The program's one result over `n` (at most BLOCK) elements that lie at a fixed stride from `at` on.
    pub(crate) fn strided(&mut self, ptrs: &[Ptr], at: &[isize], strides: &[isize], n: usize) -> *const u8 {
        let inputs: Inputs =
            (0..ptrs.len()).map(|k| self.fetch(k, ptrs[k].offset(at[k]), strides[k], n)).collect();
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
                    let inputs: Inputs = (0..ptrs.len())
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
        let walk = Walk::new(nest);
        let ptrs: SmallVec<[Ptr; 4]> =
            ptrs.iter().zip(at).map(|(p, a)| Ptr { at: p.offset(*a), dtype: p.dtype }).collect();
        for start in range.clone().step_by(BLOCK) {
            let n = (range.end - start).min(BLOCK);
            f(self.packed(&ptrs, &walk, start..start + n), n);
        }
    }

    /// The program's one result over the elements `range` (at most BLOCK) of a walk over the inputs.
    pub(crate) fn elements(&mut self, ptrs: &[Ptr], walk: &Walk<'_>, range: Range<usize>) -> *const u8 {
        match walk.line() {
            Some(strides) if !range.is_empty() => {
                let at: SmallVec<[isize; 6]> = strides.iter().map(|s| s * range.start as isize).collect();
                self.strided(ptrs, &at, strides, range.len())
            }
            _ => self.packed(ptrs, walk, range),
        }
    }

    /// As `elements`, by way of scratch for every input.
    fn packed(&mut self, ptrs: &[Ptr], walk: &Walk<'_>, range: Range<usize>) -> *const u8 {
        for (k, (port, ptr)) in self.plan.ins.iter().zip(ptrs).enumerate() {
            Block::carry(port, self.at(k), *ptr, walk, k, range.clone());
        }
        self.splats.iter_mut().for_each(|s| *s = None);
        let inputs: Inputs = (0..ptrs.len()).map(|k| self.at(k).cast_const()).collect();
        self.evaluate(&inputs, range.len())
    }
}
