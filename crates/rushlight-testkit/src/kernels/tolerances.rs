//! How exact each opcode has to be, and which ones a backend may leave out: the one table.

use super::is_complex;
use crate::Tolerance;
use rushlight_core::program::Opcode;
use rushlight_core::{CType, DType};

/// Whether a result has only one right value, but for the sign of zero.
pub(crate) fn is_exact(op: Opcode) -> bool {
    use Opcode as O;
    !matches!(
        op,
        O::Rsqrt
            | O::Exp
            | O::Exp2
            | O::Expm1
            | O::Log
            | O::Log2
            | O::Log10
            | O::Log1p
            | O::Sin
            | O::Cos
            | O::Tan
            | O::Asin
            | O::Acos
            | O::Atan
            | O::Sinh
            | O::Cosh
            | O::Tanh
            | O::Asinh
            | O::Acosh
            | O::Atanh
            | O::Sigmoid
            | O::Erf
            | O::Erfc
            | O::Pow
            | O::Atan2
    )
}

/// How far a result of `op` on numbers computed as `ctype` may be from the definition's, stored as
/// `stored`.
///
/// - integers, truth values, and opcodes that IEEE 754 rounds correctly: not at all;
/// - singles: 2 ulps, the definition being correctly rounded;
/// - doubles: 4 ulps, as both sides are computed as doubles; 16 where the definition itself adds
///   up several functions;
/// - complex numbers: 16 ulps of the modulus or of 1, for whose parts cancellation sets no bound;
/// - halves: what the single may be off is below half a unit, so 1 ulp.
pub fn opcode_tolerance(op: Opcode, ctype: CType, stored: DType) -> Tolerance {
    use Opcode as O;
    // IEEE 754 and torch leave the sign of these zeros open.
    let zero_is_zero = matches!(op, O::Max | O::Min | O::Relu | O::Sign) || is_complex(ctype);
    let exact = if zero_is_zero { Tolerance::EXACT.any_zero() } else { Tolerance::EXACT };
    let inexact = |ulps: f64| Tolerance { ulps, ..exact };
    if stored.is_half() && (!is_exact(op) || ctype == CType::F64) {
        return inexact(1.0);
    }
    match ctype {
        CType::F32 if !is_exact(op) => inexact(2.0),
        CType::F64 if matches!(op, O::Erf | O::Erfc | O::Acosh | O::Asinh | O::Atanh | O::Sigmoid) => {
            inexact(16.0)
        }
        CType::F64 if !is_exact(op) => inexact(4.0),
        CType::C64 | CType::C128 if !matches!(op, O::Neg | O::Add | O::Sub | O::Select) => {
            let epsilon = if ctype == CType::C64 { f64::from(f32::EPSILON) } else { f64::EPSILON };
            Tolerance { absolute: 16.0 * epsilon, ..inexact(16.0) }
        }
        _ => exact,
    }
}

/// Whether a backend must have `op` for `ctype`, if the definition has it. What no op computes may
/// be left out: arithmetic on bool itself (which ops compute as 0 and 1), the rarer functions of
/// complex numbers.
pub fn required(op: Opcode, ctype: CType) -> bool {
    use Opcode as O;
    let logic = matches!(op, O::And | O::Or | O::Xor | O::Not | O::Select);
    match ctype {
        CType::Bool => logic,
        CType::C64 | CType::C128 => {
            logic
                || matches!(
                    op,
                    O::Neg
                        | O::Add
                        | O::Sub
                        | O::Mul
                        | O::Div
                        | O::Recip
                        | O::Sqrt
                        | O::Exp
                        | O::Log
                        | O::Sin
                        | O::Cos
                        | O::Tanh
                        | O::Pow
                        | O::Eq
                        | O::Ne
                        | O::ToTruth
                        | O::FromTruth
                )
        }
        _ => true,
    }
}
