//! Elementary functions as branch-free code that compilers turn into vector instructions.
//!
//! The f32 functions compute in f64 with short polynomials: within about half a unit in the last
//! place, with no tables. f64 itself calls the platform's library, which is exact to the bit but
//! one element at a time.

mod single;

pub(crate) use single::{TRIG_LIMIT, cos, exp, expm1, log, log1p, sigmoid, sin, tanh};

/// Remainder with the divisor's sign, as Python and torch define it.
macro_rules! rem {
    ($name:ident, $div:ident, $t:ty) => {
        #[inline(always)]
        pub(crate) fn $name(a: $t, b: $t) -> $t {
            let r = a % b;
            if r != 0.0 && (r < 0.0) != (b < 0.0) { r + b } else { r }
        }
        /// `floor(a / b)` from the exact remainder, so that it agrees with [`rem`].
        #[inline(always)]
        pub(crate) fn $div(a: $t, b: $t) -> $t {
            if b == 0.0 {
                return a / b;
            }
            let r = a % b;
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
rem!(rem_f32, floor_div_f32, f32);
rem!(rem_f64, floor_div_f64, f64);
