//! How values of a compute type combine: the kernels of reductions.

use crate::isa::{Isa, Kernel, dispatch, portable};
use num_complex::Complex;
use rushlight_core::CType;
use rushlight_core::backend::ReduceOp;
use std::marker::PhantomData;

/// A combining operation on a compute type.
pub(crate) trait Combine<T: Copy> {
    const START: T;
    fn join(a: T, b: T) -> T;
    /// What an element contributes.
    #[inline(always)]
    fn take(x: T) -> T {
        x
    }
}

pub(crate) struct Sum;
pub(crate) struct Prod;
pub(crate) struct Max;
pub(crate) struct Min;
pub(crate) struct Any;
pub(crate) struct All;

macro_rules! combine {
    (ints $($t:ty)*) => { $(
        impl Combine<$t> for Sum { const START: $t = 0; #[inline(always)] fn join(a: $t, b: $t) -> $t { a.wrapping_add(b) } }
        impl Combine<$t> for Prod { const START: $t = 1; #[inline(always)] fn join(a: $t, b: $t) -> $t { a.wrapping_mul(b) } }
        impl Combine<$t> for Max { const START: $t = <$t>::MIN; #[inline(always)] fn join(a: $t, b: $t) -> $t { a.max(b) } }
        impl Combine<$t> for Min { const START: $t = <$t>::MAX; #[inline(always)] fn join(a: $t, b: $t) -> $t { a.min(b) } }
        impl Combine<$t> for Any { const START: $t = 0; #[inline(always)] fn join(a: $t, b: $t) -> $t { a | b } #[inline(always)] fn take(x: $t) -> $t { (x != 0) as $t } }
        impl Combine<$t> for All { const START: $t = 1; #[inline(always)] fn join(a: $t, b: $t) -> $t { a & b } #[inline(always)] fn take(x: $t) -> $t { (x != 0) as $t } }
    )* };
    (floats $($t:ty)*) => { $(
        impl Combine<$t> for Sum { const START: $t = 0.0; #[inline(always)] fn join(a: $t, b: $t) -> $t { a + b } }
        impl Combine<$t> for Prod { const START: $t = 1.0; #[inline(always)] fn join(a: $t, b: $t) -> $t { a * b } }
        impl Combine<$t> for Max { const START: $t = <$t>::NEG_INFINITY; #[inline(always)] fn join(a: $t, b: $t) -> $t { if a > b || a.is_nan() { a } else { b } } }
        impl Combine<$t> for Min { const START: $t = <$t>::INFINITY; #[inline(always)] fn join(a: $t, b: $t) -> $t { if a < b || a.is_nan() { a } else { b } } }
        impl Combine<$t> for Any { const START: $t = 0.0; #[inline(always)] fn join(a: $t, b: $t) -> $t { if a != 0.0 || b != 0.0 { 1.0 } else { 0.0 } } }
        impl Combine<$t> for All { const START: $t = 1.0; #[inline(always)] fn join(a: $t, b: $t) -> $t { if a != 0.0 && b != 0.0 { 1.0 } else { 0.0 } } }
    )* };
    (complex $($t:ty)*) => { $(
        impl Combine<Complex<$t>> for Sum { const START: Complex<$t> = Complex { re: 0.0, im: 0.0 }; #[inline(always)] fn join(a: Complex<$t>, b: Complex<$t>) -> Complex<$t> { a + b } }
        impl Combine<Complex<$t>> for Prod { const START: Complex<$t> = Complex { re: 1.0, im: 0.0 }; #[inline(always)] fn join(a: Complex<$t>, b: Complex<$t>) -> Complex<$t> { a * b } }
        impl Combine<Complex<$t>> for Any { const START: Complex<$t> = Complex { re: 0.0, im: 0.0 }; #[inline(always)] fn join(a: Complex<$t>, b: Complex<$t>) -> Complex<$t> { let t = a.re != 0.0 || a.im != 0.0 || b.re != 0.0 || b.im != 0.0; Complex::new(if t { 1.0 } else { 0.0 }, 0.0) } }
        impl Combine<Complex<$t>> for All { const START: Complex<$t> = Complex { re: 1.0, im: 0.0 }; #[inline(always)] fn join(a: Complex<$t>, b: Complex<$t>) -> Complex<$t> { let t = (a.re != 0.0 || a.im != 0.0) && (b.re != 0.0 || b.im != 0.0); Complex::new(if t { 1.0 } else { 0.0 }, 0.0) } }
    )* };
}
combine!(ints i32 i64 u64);
combine!(floats f32 f64);
combine!(complex f32 f64);

/// Arguments of a kernel: `n` dense values and where the partial result is.
#[derive(Clone, Copy)]
pub(crate) struct Dense {
    pub total: *mut u8,
    pub values: *const u8,
    pub n: usize,
}

/// Arguments of [`into_one`]: `rows` rows of `n` dense values, `stride` values from one row to the
/// next, and room for as many totals.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    pub totals: *mut u8,
    pub values: *const u8,
    pub n: usize,
    pub rows: usize,
    pub stride: isize,
}

/// Writes the join of each row. Rows of more than [`PIECE`](super::fold::PIECE) values are the caller's to cut.
struct IntoOne<O, T>(PhantomData<(O, T)>);
/// Joins a block into as many values, place by place.
struct IntoMany<O, T>(PhantomData<(O, T)>);
/// Sets the start value.
struct Begin<O, T>(PhantomData<(O, T)>);

/// Values that one running value takes one after the other. As many such sums are then added up,
/// so that no sum has more than a few dozen steps.
const STEPS: usize = 16;

/// The join of a row. There are as many running values as fill four of the widest registers, so
/// that additions do not wait for each other; in the end they are joined pairwise.
#[inline(always)]
fn total<O: Combine<T>, T: Copy, const LANES: usize>(values: &[T]) -> T {
    if values.len() < 8 {
        return values.iter().fold(O::START, |t, v| O::join(t, O::take(*v)));
    }
    if values.len() < LANES {
        let (rows, rest) = values.as_chunks::<8>();
        let mut lanes = running_values::<O, T, 8>(rows);
        (0..rest.len()).for_each(|i| lanes[i] = O::join(lanes[i], O::take(rest[i])));
        return halve::<O, T, 8>(lanes);
    }
    let (rows, rest) = values.as_chunks::<LANES>();
    let mut lanes = [O::START; LANES];
    for block in rows.chunks(STEPS) {
        let own = running_values::<O, T, LANES>(block);
        (0..LANES).for_each(|i| lanes[i] = O::join(lanes[i], own[i]));
    }
    (0..rest.len()).for_each(|i| lanes[i] = O::join(lanes[i], O::take(rest[i])));
    halve::<O, T, LANES>(lanes)
}

#[inline(always)]
fn running_values<O: Combine<T>, T: Copy, const LANES: usize>(rows: &[[T; LANES]]) -> [T; LANES] {
    let mut lanes = [O::START; LANES];
    for row in rows {
        (0..LANES).for_each(|i| lanes[i] = O::join(lanes[i], O::take(row[i])));
    }
    lanes
}

#[inline(always)]
fn halve<O: Combine<T>, T: Copy, const LANES: usize>(mut lanes: [T; LANES]) -> T {
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            lanes[i] = O::join(lanes[i], lanes[i + width]);
        }
        width /= 2;
    }
    lanes[0]
}

impl<O: Combine<T>, T: Copy> Kernel<Rows> for IntoOne<O, T> {
    #[inline(always)]
    unsafe fn run<I: Isa>(k: Rows) {
        for r in 0..k.rows {
            let row = k.values.cast::<T>().wrapping_offset(r as isize * k.stride);
            // SAFETY: the caller promises n aligned values in each row.
            let values = unsafe { std::slice::from_raw_parts(row, k.n) };
            let joined = match size_of::<T>() {
                4 => total::<O, T, 64>(values),
                8 => total::<O, T, 32>(values),
                _ => total::<O, T, 16>(values),
            };
            // SAFETY: the caller promises aligned room for a total of each row, apart from the values.
            unsafe { *k.totals.cast::<T>().add(r) = joined };
        }
    }
}
impl<O: Combine<T>, T: Copy> Kernel<Dense> for IntoMany<O, T> {
    #[inline(always)]
    unsafe fn run<I: Isa>(k: Dense) {
        // SAFETY: the caller promises n aligned values at both addresses, which do not overlap.
        let (values, totals) = unsafe {
            (
                std::slice::from_raw_parts(k.values.cast::<T>(), k.n),
                std::slice::from_raw_parts_mut(k.total.cast::<T>(), k.n),
            )
        };
        totals.iter_mut().zip(values).for_each(|(t, v)| *t = O::join(*t, O::take(*v)));
    }
}
/// Replaces each value by the join of it and all before it, `total` first; leaves the last there.
struct Running<O, T>(PhantomData<(O, T)>);

impl<O: Combine<T>, T: Copy> Kernel<Dense> for Running<O, T> {
    #[inline(always)]
    unsafe fn run<I: Isa>(k: Dense) {
        // SAFETY: the caller promises n aligned values that may be written, and one at `total`.
        let (values, total) = unsafe {
            (std::slice::from_raw_parts_mut(k.values.cast_mut().cast::<T>(), k.n), &mut *k.total.cast::<T>())
        };
        let mut sum = *total;
        for v in values {
            sum = O::join(sum, O::take(*v));
            *v = sum;
        }
        *total = sum;
    }
}
impl<O: Combine<T>, T: Copy> Kernel<Dense> for Begin<O, T> {
    #[inline(always)]
    unsafe fn run<I: Isa>(k: Dense) {
        // SAFETY: the caller promises room for n aligned values.
        let totals = unsafe { std::slice::from_raw_parts_mut(k.total.cast::<T>(), k.n) };
        totals.fill(O::START);
    }
}

/// A joining kernel for an operation and compute type.
pub(crate) type Join = unsafe fn(Dense);

macro_rules! pick {
    ($via:ident $kernel:ident, $op:expr, $ctype:expr) => {
        match $op {
            ReduceOp::Sum => pick!(@all $via $via $kernel Sum $ctype),
            // Nobody waits for these of complex numbers.
            ReduceOp::Prod => pick!(@all $via portable $kernel Prod $ctype),
            ReduceOp::Any => pick!(@all $via portable $kernel Any $ctype),
            ReduceOp::All => pick!(@all $via portable $kernel All $ctype),
            ReduceOp::Max | ReduceOp::ArgMax => pick!(@real $via $kernel Max $ctype),
            ReduceOp::Min | ReduceOp::ArgMin => pick!(@real $via $kernel Min $ctype),
        }
    };
    (@all $via:ident $complex:ident $kernel:ident $o:ident $ctype:expr) => {
        match $ctype {
            CType::C64 => $complex::<$kernel<$o, Complex<f32>>, _>,
            CType::C128 => $complex::<$kernel<$o, Complex<f64>>, _>,
            // Signs matter to extrema only.
            CType::I64 | CType::U64 => $via::<$kernel<$o, i64>, _>,
            CType::F32 => $via::<$kernel<$o, f32>, _>,
            CType::F64 => $via::<$kernel<$o, f64>, _>,
            CType::I32 | CType::Bool => $via::<$kernel<$o, i32>, _>,
        }
    };
    (@real $via:ident $kernel:ident $o:ident $ctype:expr) => {
        match $ctype {
            CType::I64 => $via::<$kernel<$o, i64>, _>,
            CType::U64 => $via::<$kernel<$o, u64>, _>,
            CType::F32 => $via::<$kernel<$o, f32>, _>,
            CType::F64 => $via::<$kernel<$o, f64>, _>,
            // Complex extrema are refused by the ops.
            _ => $via::<$kernel<$o, i32>, _>,
        }
    };
}

pub(crate) fn into_one(op: ReduceOp, c: CType) -> unsafe fn(Rows) {
    pick!(dispatch IntoOne, op, c)
}
pub(crate) fn into_many(op: ReduceOp, c: CType) -> Join {
    pick!(dispatch IntoMany, op, c)
}
pub(crate) fn begin(op: ReduceOp, c: CType) -> Join {
    pick!(portable Begin, op, c)
}
/// Writes to its `values`, which must be memory of the caller's own.
pub(crate) fn running(op: ReduceOp, c: CType) -> Join {
    // Each step waits for the one before, in any width.
    pick!(portable Running, op, c)
}
