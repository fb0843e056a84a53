//! Remainders and floor division of floats, as Python and torch define them.

macro_rules! divide {
    ($t:ty, $fmod:ident, $rem:ident, $div:ident) => {
        /// Remainder with the dividend's sign; exact.
        #[inline(always)]
        pub(crate) fn $fmod(a: $t, b: $t) -> $t {
            a % b
        }
        /// Remainder with the divisor's sign, which also a zero takes.
        #[inline(always)]
        pub(crate) fn $rem(a: $t, b: $t) -> $t {
            let r = $fmod(a, b);
            if r == 0.0 {
                (0.0 as $t).copysign(b)
            } else if (r < 0.0) != (b < 0.0) {
                r + b
            } else {
                r
            }
        }
        /// `floor(a / b)` from the exact remainder, so that it agrees with the remainder above.
        #[inline(always)]
        pub(crate) fn $div(a: $t, b: $t) -> $t {
            if b == 0.0 {
                return a / b;
            }
            let r = $fmod(a, b);
            let mut q = (a - r) / b;
            if r != 0.0 && (b < 0.0) != (r < 0.0) {
                q -= 1.0;
            }
            if q == 0.0 {
                return (0.0 as $t).copysign(a / b);
            }
            let f = q.floor();
            if q - f > 0.5 { f + 1.0 } else { f }
        }
    };
}
divide!(f32, fmod_f32, rem_f32, floor_div_f32);
divide!(f64, fmod_f64, rem_f64, floor_div_f64);
