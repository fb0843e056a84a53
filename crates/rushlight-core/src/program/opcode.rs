//! The closed list of scalar opcodes, and what each takes and gives.
//!
//! Adding one: a row here, its derivative in `derive.rs`, its line in each backend's kernel table.

use super::Special;

/// What a value inside a program is: a number of the program's compute type, or a truth value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sort {
    /// A number of the compute type the program runs in.
    Num,
    /// A truth value, one byte.
    Truth,
}

use Sort::{Num, Truth};

macro_rules! opcodes {
    ($( $(#[$doc:meta])* $name:ident $text:literal ($($input:ident),*) -> $output:ident; )*) => {
        /// One scalar operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Opcode {
            $( $(#[$doc])* $name, )*
            /// One of the special functions.
            Special(Special),
        }

        impl Opcode {
            /// Every opcode of this table, in order; those of [`Special::ALL`] come besides.
            pub const ALL: &'static [Opcode] = &[ $( Opcode::$name, )* ];
            /// The name shown when a program is printed.
            pub const fn name(self) -> &'static str { match self { $( Opcode::$name => $text, )* Opcode::Special(f) => f.name() } }
            /// The sorts of its operands.
            pub const fn inputs(self) -> &'static [Sort] {
                match self {
                    $( Opcode::$name => &[$($input),*], )*
                    Opcode::Special(f) => if f.arity() == 1 { &[Num] } else { &[Num, Num] },
                }
            }
            /// The sort of its result.
            pub const fn output(self) -> Sort { match self { $( Opcode::$name => $output, )* Opcode::Special(_) => Num } }
        }
    };
}

opcodes! {
    /// `-x`, wrapping for integers
    Neg "neg" (Num) -> Num;
    /// `|x|`
    Abs "abs" (Num) -> Num;
    /// -1, 0 or 1; NaN stays NaN
    Sign "sign" (Num) -> Num;
    /// `1 / x`
    Recip "reciprocal" (Num) -> Num;
    /// square root
    Sqrt "sqrt" (Num) -> Num;
    /// `1 / sqrt(x)`
    Rsqrt "rsqrt" (Num) -> Num;
    /// `e^x`
    Exp "exp" (Num) -> Num;
    /// `2^x`
    Exp2 "exp2" (Num) -> Num;
    /// `e^x - 1`, exact near 0
    Expm1 "expm1" (Num) -> Num;
    /// natural logarithm
    Log "log" (Num) -> Num;
    /// logarithm to base 2
    Log2 "log2" (Num) -> Num;
    /// logarithm to base 10
    Log10 "log10" (Num) -> Num;
    /// `log(1 + x)`, exact near 0
    Log1p "log1p" (Num) -> Num;
    /// sine of radians
    Sin "sin" (Num) -> Num;
    /// cosine of radians
    Cos "cos" (Num) -> Num;
    /// tangent of radians
    Tan "tan" (Num) -> Num;
    /// inverse sine
    Asin "asin" (Num) -> Num;
    /// inverse cosine
    Acos "acos" (Num) -> Num;
    /// inverse tangent
    Atan "atan" (Num) -> Num;
    /// hyperbolic sine
    Sinh "sinh" (Num) -> Num;
    /// hyperbolic cosine
    Cosh "cosh" (Num) -> Num;
    /// hyperbolic tangent
    Tanh "tanh" (Num) -> Num;
    /// inverse hyperbolic sine
    Asinh "asinh" (Num) -> Num;
    /// inverse hyperbolic cosine
    Acosh "acosh" (Num) -> Num;
    /// inverse hyperbolic tangent
    Atanh "atanh" (Num) -> Num;
    /// `1 / (1 + e^-x)`
    Sigmoid "sigmoid" (Num) -> Num;
    /// error function
    Erf "erf" (Num) -> Num;
    /// `1 - erf(x)`, exact for large x
    Erfc "erfc" (Num) -> Num;
    /// largest integer not above x
    Floor "floor" (Num) -> Num;
    /// smallest integer not below x
    Ceil "ceil" (Num) -> Num;
    /// nearest integer, ties to even
    Round "round" (Num) -> Num;
    /// x without its fraction
    Trunc "trunc" (Num) -> Num;
    /// `max(x, 0)`, NaN stays NaN; gradient 0 at 0
    Relu "relu" (Num) -> Num;
    /// `!x` bit by bit; integers only
    BitNot "bitwise_not" (Num) -> Num;
    /// `a + b`, wrapping for integers
    Add "add" (Num, Num) -> Num;
    /// `a - b`, wrapping for integers
    Sub "sub" (Num, Num) -> Num;
    /// `a * b`, wrapping for integers
    Mul "mul" (Num, Num) -> Num;
    /// `a / b`; integers are cut towards zero, and x/0 is 0 (ops refuse it before)
    Div "div" (Num, Num) -> Num;
    /// `floor(a / b)` without the double rounding of doing so in two steps; integer x//0 is 0
    FloorDiv "floor_divide" (Num, Num) -> Num;
    /// remainder with the divisor's sign; integer x%0 is 0
    Rem "remainder" (Num, Num) -> Num;
    /// remainder with the dividend's sign; integer x%0 is 0
    Fmod "fmod" (Num, Num) -> Num;
    /// `a^b`; integers to a negative power give 1, -1 or 0
    Pow "pow" (Num, Num) -> Num;
    /// angle of the point (b, a)
    Atan2 "atan2" (Num, Num) -> Num;
    /// the larger; NaN if either is
    Max "maximum" (Num, Num) -> Num;
    /// the smaller; NaN if either is
    Min "minimum" (Num, Num) -> Num;
    /// `|a|` with b's sign
    Copysign "copysign" (Num, Num) -> Num;
    /// bits set in both; integers only
    BitAnd "bitwise_and" (Num, Num) -> Num;
    /// bits set in either; integers only
    BitOr "bitwise_or" (Num, Num) -> Num;
    /// bits set in one; integers only
    BitXor "bitwise_xor" (Num, Num) -> Num;
    /// `a << b`; 0 when b is outside the type's width; integers only
    Shl "bitwise_left_shift" (Num, Num) -> Num;
    /// `a >> b`, arithmetic for signed types; a count outside the width shifts everything out
    Shr "bitwise_right_shift" (Num, Num) -> Num;
    /// `a == b`
    Eq "eq" (Num, Num) -> Truth;
    /// `a != b`
    Ne "ne" (Num, Num) -> Truth;
    /// `a < b`
    Lt "lt" (Num, Num) -> Truth;
    /// `a <= b`
    Le "le" (Num, Num) -> Truth;
    /// `a > b`
    Gt "gt" (Num, Num) -> Truth;
    /// `a >= b`
    Ge "ge" (Num, Num) -> Truth;
    /// whether x is NaN
    IsNan "isnan" (Num) -> Truth;
    /// whether x is infinite
    IsInf "isinf" (Num) -> Truth;
    /// both
    And "logical_and" (Truth, Truth) -> Truth;
    /// either
    Or "logical_or" (Truth, Truth) -> Truth;
    /// exactly one
    Xor "logical_xor" (Truth, Truth) -> Truth;
    /// not
    Not "logical_not" (Truth) -> Truth;
    /// `x != 0`; NaN is true
    ToTruth "to_truth" (Num) -> Truth;
    /// 1 or 0
    FromTruth "from_truth" (Truth) -> Num;
    /// `c ? a : b`
    Select "where" (Truth, Num, Num) -> Num;
}
