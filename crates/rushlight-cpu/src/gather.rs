//! Reads at computed places; also how `scatter` finds its places.

use crate::access::Ptr;
use crate::pool;
use rushlight_core::backend::{Gather, Indexed};
use rushlight_core::layout::Nest;
use rushlight_core::{DType, Result, bail};
use smallvec::SmallVec;

/// Refuses a position outside its axis, before anything is written.
pub(crate) fn check(indices: &[Indexed<'_>], wrap: bool) -> Result<()> {
    for index in indices {
        let layout = index.index.layout();
        let nest = Nest::new(layout.shape(), &[layout.strides()]);
        let (p, stride, n) = (Ptr::read(&index.index), nest.inner_strides()[0], index.size as i64);
        let low = if wrap { -n } else { 0 };
        let mut bad = None;
        nest.for_each_run(0..nest.numel(), |offsets, len| {
            // A stride of 0 repeats one position.
            for i in 0..if stride == 0 { 1 } else { len } {
                let v = position(p, offsets[0] + i as isize * stride);
                if v < low || v >= n {
                    bad.get_or_insert(v);
                }
            }
        });
        if let Some(v) = bad {
            bail!(Index, "index", "index {v} is out of range for dimension {} of size {n}", index.axis)
        }
    }
    Ok(())
}

#[inline(always)]
pub(crate) fn position(p: Ptr, offset: isize) -> i64 {
    let at = p.offset(offset);
    // SAFETY: the nest of the caller walks the index tensor's own shape.
    unsafe {
        match p.dtype {
            DType::I32 => i64::from(at.cast::<i32>().read_unaligned()),
            _ => at.cast::<i64>().read_unaligned(),
        }
    }
}

/// Elements to move on in the indexed tensor for the position at `offset`; checked before.
#[inline(always)]
pub(crate) fn step(p: Ptr, offset: isize, stride: isize, size: usize) -> isize {
    let v = position(p, offset);
    let v = if v < 0 { v + size as i64 } else { v };
    v as isize * stride
}

pub(crate) fn run(call: &Gather<'_>) -> Result<()> {
    if call.out.numel() == 0 {
        return Ok(());
    }
    check(call.indices, call.wrap)?;
    let (dst, src) = (Ptr::write(&call.out), Ptr::read(&call.src));
    let size = dst.dtype.size();
    let ptrs: SmallVec<[Ptr; 4]> = call.indices.iter().map(|i| Ptr::read(&i.index)).collect();
    let mut strides: SmallVec<[&[isize]; 6]> = SmallVec::new();
    strides.push(call.out.layout().strides());
    strides.push(call.src.layout().strides());
    strides.extend(call.indices.iter().map(|i| i.index.layout().strides()));
    let nest = Nest::new(call.out.layout().shape(), &strides);
    let inner: SmallVec<[isize; 6]> = nest.inner_strides().into();
    let axes: SmallVec<[(isize, usize); 4]> = call.indices.iter().map(|i| (i.stride, i.size)).collect();
    // A row whose positions do not change is one block of memory.
    let whole = inner[2..].iter().all(|s| *s == 0);
    pool::parallel_for(nest.numel(), pool::GRAIN, |range| {
        nest.for_each_run(range, |offsets, len| {
            let shift = |i: isize| -> isize {
                axes.iter()
                    .zip(&ptrs)
                    .enumerate()
                    .map(|(k, ((stride, size), p))| {
                        step(*p, offsets[k + 2] + i * inner[k + 2], *stride, *size)
                    })
                    .sum()
            };
            let (to, from) = (dst.offset(offsets[0]), src.offset(offsets[1]));
            let strides = [inner[0], inner[1]];
            // For all four: positions were checked, so source elements lie inside the operand; the
            // nest walks the output's own shape; a gather's output overlaps no input.
            match (&ptrs[..], &axes[..]) {
                _ if whole && strides == [1, 1] => {
                    let from = src.offset(offsets[1] + shift(0));
                    // SAFETY: `check` above, as said.
                    unsafe { std::ptr::copy_nonoverlapping(from, to, len * size) }
                }
                _ if whole => {
                    let shift = shift(0);
                    // SAFETY: `check` above, as said.
                    unsafe { elements(size, to, from, strides, len, |_| shift) }
                }
                // One index tensor, the common case, without a loop over index tensors.
                ([p], [(stride, n)]) => {
                    let shift = |i| step(*p, offsets[2] + i * inner[2], *stride, *n);
                    // SAFETY: `check` above, as said.
                    unsafe { elements(size, to, from, strides, len, shift) }
                }
                // SAFETY: `check` above, as said.
                _ => unsafe { elements(size, to, from, strides, len, shift) },
            }
        });
    });
    Ok(())
}

/// Moves `n` elements of `size` bytes, the `i`-th from `shift(i)` elements further on.
///
/// # Safety
/// All of those elements exist, and what is written is not read.
#[inline(always)]
unsafe fn elements(
    size: usize,
    to: *mut u8,
    from: *const u8,
    strides: [isize; 2],
    n: usize,
    shift: impl Fn(isize) -> isize,
) {
    macro_rules! go {
        ($t:ty) => {
            for i in 0..n as isize {
                let from = from.cast::<$t>().wrapping_offset(i * strides[1] + shift(i));
                let to = to.cast::<$t>().wrapping_offset(i * strides[0]);
                // SAFETY: the caller's promise; integers of the same size move any element.
                unsafe { to.write_unaligned(from.read_unaligned()) };
            }
        };
    }
    match size {
        1 => go!(u8),
        2 => go!(u16),
        4 => go!(u32),
        8 => go!(u64),
        _ => go!(u128),
    }
}

/// # Safety
/// Both addresses hold an element of `size` bytes.
#[inline(always)]
pub(crate) unsafe fn copy_one(from: *const u8, to: *mut u8, size: usize) {
    // SAFETY: the caller's promise; fixed sizes let the compiler use plain moves.
    unsafe {
        match size {
            1 => *to = *from,
            2 => to.cast::<u16>().write_unaligned(from.cast::<u16>().read_unaligned()),
            4 => to.cast::<u32>().write_unaligned(from.cast::<u32>().read_unaligned()),
            8 => to.cast::<u64>().write_unaligned(from.cast::<u64>().read_unaligned()),
            _ => to.cast::<u128>().write_unaligned(from.cast::<u128>().read_unaligned()),
        }
    }
}
