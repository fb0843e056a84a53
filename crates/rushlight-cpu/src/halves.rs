//! Half precision to single and back, as integer arithmetic that compilers turn into vector
//! instructions. Rounds to nearest, ties to even; keeps subnormals, infinities and NaN.

use half::{bf16, f16};

const INFINITE: u32 = 0x7f80_0000;

#[inline(always)]
pub(crate) fn from_f16(x: f16) -> f32 {
    let bits = u32::from(x.to_bits());
    let magnitude = (bits & 0x7fff) << 13;
    let exponent = magnitude & 0x0f80_0000;
    let normal = magnitude + (112 << 23);
    // Half's subnormals: the fraction is put behind a leading one, which the subtraction removes.
    let tiny = (f32::from_bits(magnitude + (113 << 23)) - f32::from_bits(113 << 23)).to_bits();
    let y = if exponent == 0 { tiny } else { normal };
    let y = if exponent == 0x0f80_0000 { magnitude + (224 << 23) } else { y };
    f32::from_bits(y | (bits & 0x8000) << 16)
}

#[inline(always)]
pub(crate) fn to_f16(x: f32) -> f16 {
    let bits = x.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    // Rounding may carry into the exponent, and from the largest number into infinity.
    let normal = (magnitude.wrapping_sub(112 << 23).wrapping_add(0xfff + (magnitude >> 13 & 1))) >> 13;
    // Adding 1/2 leaves a multiple of half's smallest number in the low bits, rounded.
    let tiny = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    let y = if magnitude < 113 << 23 { tiny } else { normal };
    let y = if magnitude >= 0x4780_0000 { 0x7c00 } else { y };
    let y = if magnitude > INFINITE { 0x7e00 | (magnitude >> 13 & 0x3ff) } else { y };
    f16::from_bits((y | (bits >> 16 & 0x8000)) as u16)
}

#[inline(always)]
pub(crate) fn to_bf16(x: f32) -> bf16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    // The bit keeps a NaN one whose payload lies in the lower half.
    let nan = bits >> 16 | 0x40;
    let y = if bits & 0x7fff_ffff > INFINITE { nan } else { rounded };
    bf16::from_bits(y as u16)
}

/// A single that rounds to the same half as `x`: what does not fit is cut and the last bit set, so
/// that no tie arises and none is lost.
#[inline(always)]
pub(crate) fn odd_single(x: f64) -> f32 {
    let near = x as f32;
    let wide = f64::from(near);
    let cut = near.to_bits().wrapping_sub(u32::from(wide.abs() > x.abs()));
    if wide == x || x.is_nan() { near } else { f32::from_bits(cut | 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_round_once() {
        // Each tie between neighbouring halves, and a little beside it on either side.
        for bits in 0..0x7bffu16 {
            let (low, high) = (f16::from_bits(bits), f16::from_bits(bits + 1));
            let tie = (low.to_f64() + high.to_f64()) / 2.0;
            let even = if bits & 1 == 0 { low } else { high };
            for (x, want) in [(tie.next_down(), low), (tie, even), (tie.next_up(), high)] {
                assert_eq!(to_f16(odd_single(x)), want, "{x:e}");
                assert_eq!(to_f16(odd_single(-x)), -want, "{x:e}");
            }
        }
        for bits in 0..0x7f7fu16 {
            let (low, high) = (bf16::from_bits(bits), bf16::from_bits(bits + 1));
            let tie = (low.to_f64() + high.to_f64()) / 2.0;
            let even = if bits & 1 == 0 { low } else { high };
            for (x, want) in [(tie.next_down(), low), (tie, even), (tie.next_up(), high)] {
                assert_eq!(to_bf16(odd_single(x)), want, "{x:e}");
                assert_eq!(to_bf16(odd_single(-x)), -want, "{x:e}");
            }
        }
        assert_eq!(to_f16(odd_single(1e300)), f16::INFINITY);
        assert_eq!(to_bf16(odd_single(-1e300)), bf16::NEG_INFINITY);
        assert!(to_f16(odd_single(f64::NAN)).is_nan());
    }

    #[test]
    fn every_half_widens_exactly() {
        for bits in 0..=u16::MAX {
            let (x, y) = (f16::from_bits(bits), from_f16(f16::from_bits(bits)));
            assert!(y.to_bits() == x.to_f32().to_bits() || y.is_nan() && x.is_nan(), "{bits:#x} gave {y}");
        }
    }

    #[test]
    fn singles_round_to_the_nearest_half() {
        let mut xs: Vec<f32> = vec![0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, 1e-45];
        // Every half, the middles between halves, and their neighbours on both sides.
        for bits in 0..=u16::MAX {
            let (low, high) = (f16::from_bits(bits).to_f32(), f16::from_bits(bits.wrapping_add(1)).to_f32());
            let middle = ((f64::from(low) + f64::from(high)) / 2.0) as f32;
            let wide = f32::from_bits(u32::from(bits) << 16);
            for at in [low, middle, wide, f32::from_bits(wide.to_bits() | 0x8000)] {
                let bits = at.to_bits();
                xs.extend([at, f32::from_bits(bits.wrapping_add(1)), f32::from_bits(bits.wrapping_sub(1))]);
            }
        }
        for x in xs {
            let (got, want) = (to_f16(x), f16::from_f32_const(x));
            assert!(
                got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(),
                "{x:e} gave {got}, not {want}"
            );
            assert_eq!(got.is_nan(), x.is_nan());
            let (got, want) = (to_bf16(x), bf16::from_f32_const(x));
            assert!(
                got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(),
                "{x:e} gave {got}, not {want}"
            );
            assert_eq!(got.is_nan(), x.is_nan());
        }
    }
}
