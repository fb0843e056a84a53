//! Truth values: logic, and bool as a number (1 or 0) where that is of use.

use rushlight_core::program::Opcode;

/// Adding is "or", multiplying is "and"; `None` where bool has no such operation.
pub(super) fn apply(op: Opcode, x: bool, y: bool) -> Option<bool> {
    use Opcode as O;
    Some(match op {
        O::And | O::Mul | O::Min | O::BitAnd => x & y,
        O::Or | O::Add | O::Max | O::BitOr => x | y,
        O::Xor | O::BitXor | O::Ne => x ^ y,
        O::Eq => x == y,
        O::Not | O::BitNot => !x,
        O::Lt => !x & y,
        O::Le => !x | y,
        O::Gt => x & !y,
        O::Ge => x | !y,
        O::IsNan | O::IsInf => false,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bool_is_one_or_zero() {
        for (x, y) in [(false, false), (false, true), (true, false), (true, true)] {
            let (a, b) = (u8::from(x), u8::from(y));
            let expect = [
                (Opcode::Add, a + b > 0),
                (Opcode::Mul, a * b > 0),
                (Opcode::Max, a.max(b) > 0),
                (Opcode::Min, a.min(b) > 0),
                (Opcode::Lt, a < b),
                (Opcode::Le, a <= b),
                (Opcode::Gt, a > b),
                (Opcode::Ge, a >= b),
                (Opcode::Xor, a != b),
            ];
            for (op, result) in expect {
                assert_eq!(apply(op, x, y), Some(result), "{op:?} {x} {y}");
            }
        }
        assert_eq!(apply(Opcode::Sub, true, true), None);
    }
}
