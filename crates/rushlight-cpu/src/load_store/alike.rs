//! Which pairs of dtype and compute type have code of their own, and how many copies of it.

use super::{Cast, Load, Move, Mover, Store, Truth};
use crate::isa::{dispatch, portable};
use half::{bf16, f16};
use num_complex::Complex;
use rushlight_core::{CType, DType};

/// A type of storage or computing, by name.
pub(super) trait Named {
    const DTYPE: DType;
}
macro_rules! named {
    ($($t:ty => $dtype:ident)*) => { $( impl Named for $t { const DTYPE: DType = DType::$dtype; } )* };
}
named! {
    Truth => Bool u8 => U8 u16 => U16 u32 => U32 u64 => U64 i8 => I8 i16 => I16 i32 => I32 i64 => I64
    f16 => F16 bf16 => BF16 f32 => F32 f64 => F64 Complex<f32> => C64 Complex<f64> => C128
}

const fn is_whole(d: DType) -> bool {
    use DType::*;
    matches!(d, Bool | U8 | U16 | U32 | U64 | I8 | I16 | I32 | I64)
}

/// Loads that give the same bits share code: whose code is used for a dtype and a compute type.
pub(super) const fn load_alike(from: DType, to: CType) -> (DType, CType) {
    let to = if matches!(to, CType::U64) && is_whole(from) { CType::I64 } else { to };
    match (from, to) {
        (DType::F32, CType::F32) | (DType::U32, CType::I32) => (DType::I32, CType::I32),
        (DType::F64, CType::F64) => (DType::I64, CType::I64),
        (DType::U64, CType::I32 | CType::I64) => (DType::I64, to),
        pair => pair,
    }
}

/// As [`load_alike`], of stores.
pub(super) const fn store_alike(from: CType, to: DType) -> (CType, DType) {
    let from = if matches!(from, CType::U64) && is_whole(to) { CType::I64 } else { from };
    let whole = matches!(from, CType::Bool | CType::I32 | CType::I64);
    match (from, to) {
        (CType::F32, DType::F32) => (CType::I32, DType::I32),
        (CType::F64, DType::F64) => (CType::I64, DType::I64),
        (_, DType::I8) => (from, DType::U8),
        (_, DType::I16) => (from, DType::U16),
        (_, DType::U32) if whole => (from, DType::I32),
        (_, DType::U64) if whole => (from, DType::I64),
        pair => pair,
    }
}

/// Pairs that come up so seldom that they have one copy of code for all levels of instructions.
const fn is_rare(stored: DType, computed: CType) -> bool {
    use DType::*;
    let complex = matches!(computed, CType::C64 | CType::C128);
    matches!(stored, U16 | U32 | U64)
        || matches!(computed, CType::U64)
        || complex != matches!(stored, C64 | C128)
        || matches!(computed, CType::Bool) && !matches!(stored, Bool)
        || matches!(computed, CType::I32 | CType::I64) && matches!(stored, F16 | BF16)
}

/// The code of pairs that use another's.
///
/// # Safety
/// None is needed: it does nothing, and nobody gets to call it.
unsafe fn elsewhere(_: Move) {}

pub(super) fn load<S: Named + Cast<T>, T: Named + Copy>() -> Mover {
    if const { !is_same(load_alike(S::DTYPE, T::DTYPE.ctype()), (S::DTYPE, T::DTYPE.ctype())) } {
        elsewhere
    } else if const { is_rare(S::DTYPE, T::DTYPE.ctype()) } {
        portable::<Load<S, T>, Move>
    } else {
        dispatch::<Load<S, T>, Move>
    }
}

pub(super) fn store<S: Named + Cast<T>, T: Named + Copy>() -> Mover {
    if const {
        let (c, d) = store_alike(S::DTYPE.ctype(), T::DTYPE);
        !is_same((d, c), (T::DTYPE, S::DTYPE.ctype()))
    } {
        elsewhere
    } else if const { is_rare(T::DTYPE, S::DTYPE.ctype()) } {
        portable::<Store<S, T>, Move>
    } else {
        dispatch::<Store<S, T>, Move>
    }
}

const fn is_same(a: (DType, CType), b: (DType, CType)) -> bool {
    a.0 as u8 == b.0 as u8 && a.1 as u8 == b.1 as u8
}
