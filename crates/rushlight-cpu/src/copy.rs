//! The identity program on one dtype: memory moves instead of loads and stores.
//!
//! Dense to dense is a memory copy; a pair of layouts whose fast dimensions differ (a transpose)
//! goes tile by tile, so that both sides use whole cache lines.

use crate::access::Ptr;
use crate::isa::{Isa, Kernel, dispatch};
use crate::pool;
use rushlight_core::layout::Nest;
use rushlight_core::mem::{Span, SpanMut};

/// Side of a tile: at least a cache line of elements, so that no line is touched by two tiles.
const fn side(size: usize) -> usize {
    if size < 4 { 64 / size } else { 16 }
}

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

/// A whole tile that is dense along its rows in the target and along its columns in the source.
///
/// Lines are read whole, turned in a buffer and written whole: where strides are powers of two, the
/// lines of a tile fall into one set of the cache and would push each other out.
struct Turn<T, const N: usize>(std::marker::PhantomData<T>);

impl<T: Copy + Default, const N: usize> Kernel<Plane> for Turn<T, N> {
    #[inline(always)]
    unsafe fn run<I: Isa>(p: Plane) {
        let (dst, src) = (p.dst.cast::<T>(), p.src.cast_const().cast::<T>());
        let (mut a, mut b) = ([[T::default(); N]; N], [[T::default(); N]; N]);
        for (r, line) in a.iter_mut().enumerate() {
            let from = src.wrapping_offset(r as isize * p.src_strides[0]);
            // SAFETY: the caller promises N rows of N dense elements in the source.
            unsafe {
                std::ptr::copy_nonoverlapping(from.cast::<u8>(), line.as_mut_ptr().cast(), N * size_of::<T>())
            };
        }
        // Zipping the upper with the lower half of the rows, log2(N) times, turns the square.
        let mut width = 1;
        while width < N {
            for i in 0..N / 2 {
                for j in 0..N / 2 {
                    b[2 * i][2 * j] = a[i][j];
                    b[2 * i][2 * j + 1] = a[i + N / 2][j];
                }
                for j in 0..N / 2 {
                    b[2 * i + 1][2 * j] = a[i][j + N / 2];
                    b[2 * i + 1][2 * j + 1] = a[i + N / 2][j + N / 2];
                }
            }
            std::mem::swap(&mut a, &mut b);
            width *= 2;
        }
        for (c, line) in a.iter().enumerate() {
            let to = dst.wrapping_offset(c as isize * p.dst_strides[1]);
            // SAFETY: the caller promises N rows of N dense elements in the target.
            unsafe {
                std::ptr::copy_nonoverlapping(line.as_ptr().cast::<u8>(), to.cast(), N * size_of::<T>())
            };
        }
    }
}

impl Plane {
    /// Copies a tile of [`side`] by side, or a part of one at the border.
    ///
    /// # Safety
    /// As [`Plane::copy`].
    unsafe fn tile(self, size: usize) {
        let whole = self.rows == side(size) && self.columns == self.rows;
        // SAFETY: passed on; the tile is whole and dense on both sides where it is turned.
        unsafe {
            match size {
                1 if whole && self.turns() => dispatch::<Turn<u8, { side(1) }>, Plane>(self),
                2 if whole && self.turns() => dispatch::<Turn<u16, { side(2) }>, Plane>(self),
                4 if whole && self.turns() => dispatch::<Turn<u32, { side(4) }>, Plane>(self),
                8 if whole && self.turns() => dispatch::<Turn<u64, { side(8) }>, Plane>(self),
                16 if whole && self.turns() => dispatch::<Turn<u128, { side(16) }>, Plane>(self),
                _ => self.copy(size),
            }
        }
    }

    fn turns(&self) -> bool {
        self.dst_strides[0] == 1 && self.src_strides[1] == 1
    }

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

/// Writes the rows of `src`, dense and `stride` elements apart, as dense columns of `rows` elements to `dst`.
///
/// # Safety
/// `dst` has room for `rows * columns` elements of `size` bytes, `src` has those, and they do not overlap.
pub(crate) unsafe fn turn(
    dst: *mut u8,
    src: *mut u8,
    [rows, columns]: [usize; 2],
    stride: isize,
    size: usize,
) {
    let side = side(size);
    for r in (0..rows).step_by(side) {
        for c in (0..columns).step_by(side) {
            let plane = Plane {
                dst: dst.wrapping_add((c * rows + r) * size),
                src: src.wrapping_offset((r as isize * stride + c as isize) * size as isize),
                rows: side.min(rows - r),
                columns: side.min(columns - c),
                dst_strides: [1, rows as isize],
                src_strides: [stride, 1],
            };
            // SAFETY: the tile is cut to the sizes of both sides, which the caller promises.
            unsafe { plane.tile(size) }
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
    let side = side(size);
    let bands = rows.div_ceil(side);
    let per_task = (pool::GRAIN / (side * columns).max(1)).max(1);
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
            let first = band * side;
            let height = side.min(rows - first);
            for c in (0..columns).step_by(side) {
                let start = |k: usize| at[k] + first as isize * row[k] + c as isize * column[k];
                let plane = Plane {
                    dst: dst.offset(start(0)),
                    src: src.offset(start(1)),
                    rows: side.min(columns - c),
                    columns: height,
                    // The source is read densely.
                    dst_strides: [column[0], row[0]],
                    src_strides: [column[1], row[1]],
                };
                // SAFETY: the tile lies inside both operands (its borders are cut to their sizes),
                // and they are in different storages.
                unsafe { plane.tile(size) }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use crate::CpuBackend;
    use rushlight_core::backend::{Backend, Map};
    use rushlight_core::mem::{Place, Storage, with_bytes, with_bytes_mut, with_plan};
    use rushlight_core::program::{Sort, trace};
    use rushlight_core::{DType, Device, Layout};

    /// Copies between two layouts of one shape, and compares bytes with what the strides say.
    fn check(shape: &[usize], dst: (&[isize], usize), src: (&[isize], usize), dtype: DType) {
        let layout = |(strides, offset): (&[isize], usize)| Layout::new(shape, strides, offset).unwrap();
        let (to, from, size) = (layout(dst), layout(src), dtype.size());
        let input = Storage::zeroed(from.storage_elements() * size, Device::CPU).unwrap();
        let output = Storage::zeroed(to.storage_elements() * size, Device::CPU).unwrap();
        with_bytes_mut("test", &input, |b| {
            b.iter_mut().enumerate().for_each(|(i, b)| *b = (i * 31 + i / 251) as u8 & 1)
        })
        .unwrap();
        let program = trace(&[Sort::Num], 0, |x| vec![x[0]]).unwrap();
        let place = |storage, layout| Place { storage, layout, dtype };
        with_plan("test", &[place(&output, &to)], &[place(&input, &from)], |outs, ins| {
            CpuBackend.map(&Map { program: &program, params: &[], ctype: dtype.ctype(), outs, ins })
        })
        .unwrap();
        let given = with_bytes("test", &input, <[u8]>::to_vec).unwrap();
        let got = with_bytes("test", &output, <[u8]>::to_vec).unwrap();
        let mut want = vec![0; got.len()];
        for i in 0..to.numel() {
            let (mut left, mut a, mut b) = (i, to.offset() as isize, from.offset() as isize);
            for d in (0..shape.len()).rev() {
                a += (left % shape[d]) as isize * to.strides()[d];
                b += (left % shape[d]) as isize * from.strides()[d];
                left /= shape[d];
            }
            let (a, b) = (a as usize * size, b as usize * size);
            want[a..a + size].copy_from_slice(&given[b..b + size]);
        }
        assert!(got == want, "{dtype} {shape:?} {src:?} to {dst:?}");
    }

    #[test]
    fn transposes_move_every_element() {
        for dtype in [DType::U8, DType::F16, DType::F32, DType::F64, DType::C128] {
            for (m, n) in [(8, 8), (16, 16), (64, 64), (70, 130), (129, 33), (9, 200)] {
                let (r, c) = (m as isize, n as isize);
                check(&[m, n], (&[c, 1], 0), (&[1, r], 0), dtype);
                check(&[m, n], (&[1, r], 0), (&[c, 1], 0), dtype);
                check(&[m, n], (&[c + 3, 1], 2), (&[1, r + 5], 1), dtype);
                check(&[m, n], (&[2 * c, 2], 1), (&[1, r], 0), dtype);
                // Flipped along the one or the other side.
                check(&[m, n], (&[c, 1], 0), (&[-1, r], m - 1), dtype);
                check(&[m, n], (&[c, 1], 0), (&[1, -r], (n - 1) * m), dtype);
                check(&[m, n], (&[c, 1], 0), (&[-c, -1], m * n - 1), dtype);
            }
            check(&[3, 40, 20], (&[800, 20, 1], 0), (&[1, 3, 120], 0), dtype);
            check(&[20, 3, 40], (&[120, 40, 1], 0), (&[1, 800, 20], 0), dtype);
            check(&[5, 6, 7], (&[42, 7, 1], 0), (&[0, 0, 0], 0), dtype);
        }
    }
}
