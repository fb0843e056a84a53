//! Functions of bits and of integers: exact.

macro_rules! neighbour {
    ($name:ident, $t:ty, $bits:ty) => {
        /// The next number after `x` on the way to `y`; `y` where they are equal, NaN where one is.
        pub fn $name(x: $t, y: $t) -> $t {
            if x.is_nan() || y.is_nan() {
                <$t>::NAN
            } else if x == y {
                y
            } else if x == 0.0 {
                <$t>::from_bits(1).copysign(y)
            } else if (x < y) == (x > 0.0) {
                <$t>::from_bits(x.to_bits() + 1)
            } else {
                <$t>::from_bits(x.to_bits() - 1)
            }
        }
    };
}
neighbour!(next_after, f64, u64);
neighbour!(next_after_single, f32, u32);

/// [`next_after_single`] among bfloat16, which are the upper halves of singles.
pub fn next_after_short(x: f32, y: f32) -> f32 {
    const UNIT: u32 = 1 << 16;
    // The lower half is none of bfloat16's: a number that has bits there counts as the next towards zero.
    let bits = x.to_bits() & !(UNIT - 1);
    if x.is_nan() || y.is_nan() {
        f32::NAN
    } else if x == y {
        y
    } else if bits << 1 == 0 {
        f32::from_bits(UNIT).copysign(y)
    } else if (x < y) == (x > 0.0) {
        f32::from_bits(bits + UNIT)
    } else {
        f32::from_bits(bits - UNIT)
    }
}

/// [`next_after_single`] among float16, whose numbers below 2^-14 have one spacing.
pub fn next_after_half(x: f32, y: f32) -> f32 {
    const UNIT: u32 = 1 << 13;
    const TINY: f32 = 1.0 / 16_777_216.0;
    let away = (x < y) == (x > 0.0);
    if x.is_nan() || y.is_nan() {
        f32::NAN
    } else if x == y {
        y
    } else if x == 0.0 {
        TINY.copysign(y)
    } else if x.abs() < TINY * 1024.0 || x.abs() == TINY * 1024.0 && !away {
        if x < y { x + TINY } else { x - TINY }
    } else if away {
        f32::from_bits(x.to_bits() + UNIT)
    } else {
        f32::from_bits(x.to_bits() - UNIT)
    }
}

/// The part of `x` in [1/2, 1); what is no finite number, and 0, as it is.
pub fn mantissa(x: f64) -> f64 {
    libm::frexp(x).0
}

/// The power of 2 that belongs to [`mantissa`].
pub fn exponent(x: f64) -> f64 {
    if x.is_finite() { libm::frexp(x).1.into() } else { 0.0 }
}

/// The greatest common divisor, not negative but for that of the lowest integer with itself or 0.
pub fn gcd(a: i64, b: i64) -> i64 {
    gcd_unsigned(a.unsigned_abs(), b.unsigned_abs()) as i64
}

/// [`gcd`] of unsigned integers.
pub fn gcd_unsigned(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The least common multiple, not negative, wrapping where it is too large; 0 where one is 0.
pub fn lcm(a: i64, b: i64) -> i64 {
    match gcd(a, b) {
        0 => 0,
        g => (a.wrapping_div(g)).wrapping_mul(b).wrapping_abs(),
    }
}

/// [`lcm`] of unsigned integers.
pub fn lcm_unsigned(a: u64, b: u64) -> u64 {
    match gcd_unsigned(a, b) {
        0 => 0,
        g => (a / g).wrapping_mul(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours() {
        assert_eq!(next_after(1.0, 2.0), 1.0 + f64::EPSILON);
        assert_eq!(next_after(1.0, 0.0), 1.0 - f64::EPSILON / 2.0);
        assert_eq!(next_after(-1.0, 0.0), -1.0 + f64::EPSILON / 2.0);
        assert_eq!(next_after(0.0, -1.0), -5e-324);
        assert_eq!(next_after(f64::MAX, f64::INFINITY), f64::INFINITY);
        assert!(next_after(0.0, -0.0).is_sign_negative());
        assert_eq!(next_after_single(1.0, 2.0), 1.0 + f32::EPSILON);
        assert!(next_after_single(f32::NAN, 1.0).is_nan());
    }

    #[test]
    fn divisors() {
        assert_eq!((gcd(12, -18), gcd(0, -5), gcd(0, 0)), (6, 5, 0));
        assert_eq!((lcm(4, -6), lcm(0, 3), lcm(7, 7)), (12, 0, 7));
        assert_eq!(gcd(i64::MIN, 0), i64::MIN);
        assert_eq!((gcd_unsigned(u64::MAX, 5), lcm_unsigned(6, 4)), (5, 12));
    }
}
