//! The identity program on one dtype: memory moves instead of loads and stores.
//!
//! Dense to dense is a memory copy; a pair of layouts whose fast dimensions differ (a transpose)
//! goes tile by tile, so that both sides use whole cache lines.

use crate::access::Ptr;
use crate::isa::{Isa, Kernel, dispatch};
use crate::pool;
use rushlight_core::layout::Nest;
use rushlight_core::mem::{Span, SpanMut};

/// Side of a tile: 32 rows of 32 four-byte elements are 4 KiB, well inside L1 with both sides.
const TILE: usize = 32;

/// Copies when both sides have one dtype; says whether it did.
pub(crate) fn run(out: &SpanMut<'_>, input: &Span<'_>) -> bool {
    if out.dtype() != input.dtype() {
        return false;
    }
    let (dst, src) = (Ptr::write(out), Ptr::read(input));
    let (size, n) = (out.dtype().size(), out.numel());
    if dst.at == src.at && out.layout().strides() == input.layout().strides() {
        return true;
    }
    let nest = Nest::new(out.layout().shape(), &[out.layout().strides(), input.layout().strides()]);
    let inner = nest.inner_strides();
    if inner == [1, 1] {
        pool::parallel_for(n, (1 << 20) / size, |range| {
            nest.for_each_run(range, |offsets, len| {
                // SAFETY: the run lies inside both operands; `copy` allows them to overlap.
                unsafe { std::ptr::copy(src.offset(offsets[1]), dst.offset(offsets[0]), len * size) }
            });
        });
        return true;
    }
    let overlap = out.storage().same(input.storage());
    if overlap || !matches!(size, 1 | 2 | 4 | 8 | 16) {
        return false;
    }
    // A dimension along which the source is dense, where the innermost one is not.
    let dims = nest.dims();
    let across =
        (0..dims.len().saturating_sub(1)).find(|d| nest.dim_strides(*d)[1].abs() == 1 && dims[*d] >= 8);
    match across {
        Some(d) if dims[dims.len() - 1] >= 8 => tiles(&nest, d, dst, src, size),
        _ => {
            let strides = [inner[0], inner[1]];
            pool::parallel_for(n, pool::GRAIN, |range| {
                nest.for_each_run(range, |offsets, len| {
                    let plane = Plane {
                        dst: dst.offset(offsets[0]),
                        src: src.offset(offsets[1]),
                        rows: 1,
                        columns: len,
                        dst_strides: [0, strides[0]],
                        src_strides: [0, strides[1]],
                    };
                    // SAFETY: the run lies inside both operands, which do not overlap.
                    unsafe { plane.copy(size) }
                });
            });
        }
    }
    true
}

/// A rectangle of elements on both sides; strides in elements, rows first.
#[derive(Clone, Copy)]
struct Plane {
    dst: *mut u8,
    src: *mut u8,
    rows: usize,
    columns: usize,
    dst_strides: [isize; 2],
    src_strides: [isize; 2],
}

struct Move<T>(std::marker::PhantomData<T>);

impl<T: Copy> Kernel<Plane> for Move<T> {
    #[inline(always)]
    unsafe fn run<I: Isa>(p: Plane) {
        let (dst, src) = (p.dst.cast::<T>(), p.src.cast::<T>());
        for r in 0..p.rows as isize {
            let (dst, src) =
                (dst.wrapping_offset(r * p.dst_strides[0]), src.wrapping_offset(r * p.src_strides[0]));
            for c in 0..p.columns as isize {
                // SAFETY: the caller promises that the rectangle lies inside both operands.
                unsafe {
                    let v = src.wrapping_offset(c * p.src_strides[1]).read_unaligned();
                    dst.wrapping_offset(c * p.dst_strides[1]).write_unaligned(v);
                }
            }
        }
    }
}

impl Plane {
    /// # Safety
    /// The rectangle lies inside both operands, and they do not overlap.
    unsafe fn copy(self, size: usize) {
        // SAFETY: passed on; integers of the same size move any element.
        unsafe {
            match size {
                1 => dispatch::<Move<u8>, Plane>(self),
                2 => dispatch::<Move<u16>, Plane>(self),
                4 => dispatch::<Move<u32>, Plane>(self),
                8 => dispatch::<Move<u64>, Plane>(self),
                _ => dispatch::<Move<u128>, Plane>(self),
            }
        }
    }
}

/// Walks the plane of dimension `d` and the innermost one in tiles, all others around it.
fn tiles(nest: &Nest, d: usize, dst: Ptr, src: Ptr, size: usize) {
    let dims = nest.dims();
    let last = dims.len() - 1;
    let (rows, columns) = (dims[d], dims[last]);
    let (row, column) = (nest.dim_strides(d), nest.dim_strides(last));
    let others: Vec<usize> = (0..last).filter(|k| *k != d).collect();
    let planes: usize = others.iter().map(|k| dims[*k]).product();
    let bands = rows.div_ceil(TILE);
    let per_task = (pool::GRAIN / (TILE * columns).max(1)).max(1);
    pool::parallel_for(planes * bands, per_task, |range| {
        for task in range {
            let (mut plane, band) = (task / bands, task % bands);
            let mut at = [0isize; 2];
            for k in others.iter().rev() {
                let i = (plane % dims[*k]) as isize;
                plane /= dims[*k];
                at[0] += i * nest.dim_strides(*k)[0];
                at[1] += i * nest.dim_strides(*k)[1];
            }
            let first = band * TILE;
            let height = TILE.min(rows - first);
            for c in (0..columns).step_by(TILE) {
                let start = |side: usize| at[side] + first as isize * row[side] + c as isize * column[side];
                let plane = Plane {
                    dst: dst.offset(start(0)),
                    src: src.offset(start(1)),
                    rows: TILE.min(columns - c),
                    columns: height,
                    // The source is read densely; writes go to TILE lines that stay in L1.
                    dst_strides: [column[0], row[0]],
                    src_strides: [column[1], row[1]],
                };
                // SAFETY: the tile lies inside both operands (its borders are cut to their sizes),
                // and they are in different storages.
                unsafe { plane.copy(size) }
            }
        }
    });
}
