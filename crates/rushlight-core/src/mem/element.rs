//! Numbers into memory.

use super::span::SpanMut;
use crate::{DType, Number};
use half::{bf16, f16};
use num_complex::Complex;

/// Stores a number that was cast to the span's dtype, so that no conversion here loses anything.
pub(super) fn store(span: &SpanMut<'_>, index: isize, value: Number) {
    match span.dtype() {
        DType::Bool => span.set(index, value.to_bool()),
        DType::U8 => span.set(index, value.to_i64() as u8),
        DType::U16 => span.set(index, value.to_i64() as u16),
        DType::U32 => span.set(index, value.to_i64() as u32),
        DType::U64 => span.set(index, value.to_u64()),
        DType::I8 => span.set(index, value.to_i64() as i8),
        DType::I16 => span.set(index, value.to_i64() as i16),
        DType::I32 => span.set(index, value.to_i64() as i32),
        DType::I64 => span.set(index, value.to_i64()),
        DType::F16 => span.set(index, f16::from_f64(value.to_f64())),
        DType::BF16 => span.set(index, bf16::from_f64(value.to_f64())),
        DType::F32 => span.set(index, value.to_f64() as f32),
        DType::F64 => span.set(index, value.to_f64()),
        DType::C64 => {
            let z = value.to_complex();
            span.set(index, Complex::new(z.re as f32, z.im as f32));
        }
        DType::C128 => span.set(index, value.to_complex()),
    }
}
