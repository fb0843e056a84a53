//! Integers: everything wraps, nothing traps.

use crate::value::Val;
use rushlight_core::program::Opcode;

macro_rules! integer {
    ($name:ident, $t:ty, $v:ident) => {
        /// `None` where integers have no such operation.
        #[allow(unused_comparisons, reason = "one text for signed and unsigned types")]
        pub(super) fn $name(op: Opcode, x: $t, y: $t) -> Option<Val> {
            use Opcode as O;
            // Signs differ: the quotient is negative, and cutting it is not flooring it.
            let crosses = |r: $t| r != 0 && (r < 0) != (y < 0);
            let width = 0..<$t>::BITS as $t;
            let number = match op {
                O::Neg => x.wrapping_neg(),
                O::Abs => {
                    if x < 0 {
                        x.wrapping_neg()
                    } else {
                        x
                    }
                }
                O::Sign => <$t>::from(x > 0).wrapping_sub(<$t>::from(x < 0)),
                O::Floor | O::Ceil | O::Round | O::Trunc => x,
                O::Relu => x.max(0),
                O::BitNot => !x,
                O::Add => x.wrapping_add(y),
                O::Sub => x.wrapping_sub(y),
                O::Mul => x.wrapping_mul(y),
                O::Div | O::FloorDiv | O::Rem | O::Fmod if y == 0 => 0,
                O::Div => x.wrapping_div(y),
                O::FloorDiv => x.wrapping_div(y).wrapping_sub(<$t>::from(crosses(x.wrapping_rem(y)))),
                O::Rem => match x.wrapping_rem(y) {
                    r if crosses(r) => r.wrapping_add(y),
                    r => r,
                },
                O::Fmod => x.wrapping_rem(y),
                // Only 1 and -1 have integer reciprocals.
                O::Pow if y < 0 => match (x == 1, x == !0) {
                    (true, _) => 1,
                    (_, true) => {
                        if y & 1 == 0 {
                            1
                        } else {
                            x
                        }
                    }
                    _ => 0,
                },
                // The low bits of a product depend on the low bits of its factors only.
                O::Pow => power(x as u64, y as u64) as $t,
                O::Max => x.max(y),
                O::Min => x.min(y),
                O::BitAnd => x & y,
                O::BitOr => x | y,
                O::BitXor => x ^ y,
                O::Shl => {
                    if width.contains(&y) {
                        x << y
                    } else {
                        0
                    }
                }
                O::Shr => {
                    if width.contains(&y) {
                        x >> y
                    } else if x < 0 {
                        !0
                    } else {
                        0
                    }
                }
                _ => return compare(op, x, y).map(Val::Bool),
            };
            Some(Val::$v(number))
        }
    };
}

integer!(int32, i32, I32);
integer!(int64, i64, I64);
integer!(uint64, u64, U64);

fn compare<T: PartialOrd>(op: Opcode, x: T, y: T) -> Option<bool> {
    Some(match op {
        Opcode::Eq => x == y,
        Opcode::Ne => x != y,
        Opcode::Lt => x < y,
        Opcode::Le => x <= y,
        Opcode::Gt => x > y,
        Opcode::Ge => x >= y,
        Opcode::IsNan | Opcode::IsInf => false,
        _ => return None,
    })
}

/// `base^exponent`, wrapping.
fn power(base: u64, exponent: u64) -> u64 {
    let (mut result, mut square, mut rest) = (1u64, base, exponent);
    while rest > 0 {
        if rest & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        rest >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn i32s(op: Opcode, x: i32, y: i32) -> i32 {
        match int32(op, x, y) {
            Some(Val::I32(z)) => z,
            other => panic!("{op:?} gave {other:?}"),
        }
    }

    #[test]
    fn quotients_and_remainders() {
        for x in [-7, -6, -1, 0, 1, 6, 7, i32::MAX, i32::MIN + 1] {
            for y in [-3, -2, -1, 1, 2, 3, i32::MAX] {
                let (a, b) = (f64::from(x), f64::from(y));
                assert_eq!(f64::from(i32s(Opcode::Div, x, y)), (a / b).trunc(), "{x} / {y}");
                assert_eq!(f64::from(i32s(Opcode::FloorDiv, x, y)), (a / b).floor(), "{x} // {y}");
                assert_eq!(f64::from(i32s(Opcode::Rem, x, y)), a - b * (a / b).floor(), "{x} % {y}");
                assert_eq!(f64::from(i32s(Opcode::Fmod, x, y)), a - b * (a / b).trunc(), "{x} fmod {y}");
            }
        }
    }

    #[test]
    fn nothing_traps() {
        for op in [Opcode::Div, Opcode::FloorDiv, Opcode::Rem, Opcode::Fmod] {
            assert_eq!(i32s(op, 5, 0), 0);
        }
        assert_eq!(i32s(Opcode::Div, i32::MIN, -1), i32::MIN);
        assert_eq!(i32s(Opcode::FloorDiv, i32::MIN, -1), i32::MIN);
        assert_eq!(i32s(Opcode::Rem, i32::MIN, -1), 0);
        assert_eq!(i32s(Opcode::Abs, i32::MIN, 0), i32::MIN);
        assert_eq!(i32s(Opcode::Neg, i32::MIN, 0), i32::MIN);
    }

    #[test]
    fn powers() {
        for (x, y, z) in [
            (3, 4, 81),
            (-2, 3, -8),
            (0, 0, 1),
            (2, 32, 0),
            (0, -1, 0),
            (1, -5, 1),
            (-1, -2, 1),
            (-1, -3, -1),
            (7, -1, 0),
        ] {
            assert_eq!(i32s(Opcode::Pow, x, y), z, "{x}^{y}");
        }
        assert_eq!(uint64(Opcode::Pow, 3, 40), Some(Val::U64(3u64.wrapping_pow(40))));
    }

    #[test]
    fn shifts() {
        for (x, y, left, right) in [
            (5, 1, 10, 2),
            (-8, 1, -16, -4),
            (1, 31, i32::MIN, 0),
            (-1, 32, 0, -1),
            (9, -1, 0, 0),
            (-9, -1, 0, -1),
        ] {
            assert_eq!(i32s(Opcode::Shl, x, y), left, "{x} << {y}");
            assert_eq!(i32s(Opcode::Shr, x, y), right, "{x} >> {y}");
        }
        assert_eq!(uint64(Opcode::Shr, u64::MAX, 64), Some(Val::U64(0)));
    }

    #[test]
    fn signs() {
        assert_eq!([-9, 0, 4].map(|x| i32s(Opcode::Sign, x, 0)), [-1, 0, 1]);
        assert_eq!(uint64(Opcode::Sign, u64::MAX, 0), Some(Val::U64(1)));
        assert_eq!(uint64(Opcode::Abs, u64::MAX, 0), Some(Val::U64(u64::MAX)));
        assert_eq!(int64(Opcode::Sqrt, 4, 4), None);
    }
}
