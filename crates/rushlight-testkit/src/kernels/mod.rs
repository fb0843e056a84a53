//! A law for each method of a backend: random calls agree with the definition.
//!
//! Each law takes a [`Pair`](crate::Pair) and a seed, and gives a [`Report`](crate::Report). Layouts,
//! dtypes, shapes and values are drawn; the same seed draws the same calls.

mod casts;
mod index;
mod map;
mod matmul;
mod order;
mod programs;
mod reduce;
mod scan;
mod tolerances;

pub use casts::casts;
pub use index::{gather, scatter};
pub use map::{in_place, opcodes};
pub use matmul::matmul;
pub use order::{nonzero, sort};
pub use programs::programs;
pub use reduce::reduce;
pub use scan::scan;
pub use tolerances::{opcode_tolerance, required};

use crate::{Operand, Rng, Values, variants, writable_variants};
use rushlight_core::{CType, DType};

/// Shapes that kernels treat differently: empty, rank 0, blocks of any length, many axes.
pub(crate) const SHAPES: &[&[usize]] = &[
    &[],
    &[0],
    &[1],
    &[7],
    &[3, 5],
    &[0, 3],
    &[1, 6],
    &[6, 1],
    &[2, 3, 4],
    &[1, 5, 1],
    &[4, 1, 3, 2],
    &[2, 1, 2, 3, 2],
    &[2, 2, 1, 2, 3, 2],
    &[33, 17],
    &[1025],
    &[2, 700],
    &[300, 3],
];

/// A shape of [`SHAPES`] with at least `rank` axes.
pub(crate) fn shape(rng: &mut Rng, rank: usize) -> Vec<usize> {
    let fitting: Vec<&&[usize]> = SHAPES.iter().filter(|s| s.len() >= rank).collect();
    rng.pick(&fitting).to_vec()
}

/// An operand to read, in any layout.
pub(crate) fn input(rng: &mut Rng, shape: &[usize], dtype: DType, values: Values) -> Operand {
    let all = variants(shape, rng);
    Operand::new(rng.pick(&all), dtype, values, rng)
}

/// An operand to write, in any layout without overlap.
pub(crate) fn output(rng: &mut Rng, shape: &[usize], dtype: DType) -> Operand {
    let all = writable_variants(shape, rng);
    Operand::new(rng.pick(&all), dtype, Values::Moderate, rng)
}

/// The dtypes that are computed as `ctype`.
pub(crate) fn dtypes_of(ctype: CType) -> &'static [DType] {
    match ctype {
        CType::Bool => &[DType::Bool],
        CType::I32 => &[DType::I32, DType::U8, DType::I8, DType::I16, DType::U16, DType::Bool],
        CType::I64 => &[DType::I64, DType::U32],
        CType::U64 => &[DType::U64],
        CType::F32 => &[DType::F32, DType::F16, DType::BF16],
        CType::F64 => &[DType::F64],
        CType::C64 => &[DType::C64],
        CType::C128 => &[DType::C128],
    }
}

/// All compute types.
pub(crate) const CTYPES: [CType; 8] =
    [CType::Bool, CType::I32, CType::I64, CType::U64, CType::F32, CType::F64, CType::C64, CType::C128];

pub(crate) fn is_complex(ctype: CType) -> bool {
    matches!(ctype, CType::C64 | CType::C128)
}

/// What an operand is, for messages.
pub(crate) fn told(operand: &Operand) -> String {
    format!("{} {} {:?}/{:?}", operand.name, operand.dtype, operand.layout.shape(), operand.layout.strides())
}

pub(crate) fn told_all<'a>(operands: impl IntoIterator<Item = &'a Operand>) -> String {
    operands.into_iter().map(told).collect::<Vec<_>>().join(", ")
}
