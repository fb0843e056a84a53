//! Each opcode on each compute type, as inlinable functions.

use crate::isa::Isa;
use crate::load_store::Truth;
use crate::math::{self, double, single, wide};
use num_complex::Complex;
use rushlight_special::complex;

/// An opcode of one operand.
pub(super) trait Op1<T, R> {
    fn f<I: Isa>(x: T) -> R;
}
/// Of two.
pub(super) trait Op2<T, R> {
    fn f<I: Isa>(a: T, b: T) -> R;
}

macro_rules! names {
    ($($n:ident)*) => { $( pub(super) struct $n; )* };
}
names!(Neg Abs Sign Recip Sqrt Rsqrt Exp Exp2 Expm1 Log Log2 Log10 Log1p Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh
    Asinh Acosh Atanh Sigmoid Erf Erfc Floor Ceil Round Trunc Relu BitNot Add Sub Mul Div FloorDiv Rem Fmod Pow Atan2
    Max Min Copysign BitAnd BitOr BitXor Shl Shr Eq Ne Lt Le Gt Ge IsNan IsInf And Or Xor Not ToTruth FromTruth);

macro_rules! one {
    ($($n:ident $t:ty => $r:ty = |$x:ident, $i:ident| $e:expr;)*) => { $(
        impl Op1<$t, $r> for $n { #[inline(always)] fn f<$i: Isa>($x: $t) -> $r { $e } }
    )* };
}
macro_rules! two {
    ($($n:ident $t:ty => $r:ty = |$a:ident, $b:ident| $e:expr;)*) => { $(
        impl Op2<$t, $r> for $n { #[inline(always)] fn f<I: Isa>($a: $t, $b: $t) -> $r { $e } }
    )* };
}
fn truth(b: bool) -> Truth {
    Truth(u8::from(b))
}

macro_rules! compare {
    ($($t:ty)*) => { $( two! {
        Eq $t => Truth = |a, b| truth(a == b);
        Ne $t => Truth = |a, b| truth(a != b);
        Lt $t => Truth = |a, b| truth(a < b);
        Le $t => Truth = |a, b| truth(a <= b);
        Gt $t => Truth = |a, b| truth(a > b);
        Ge $t => Truth = |a, b| truth(a >= b);
    } )* };
}
compare!(i32 i64 u64 f32 f64);

macro_rules! integers {
    ($($t:ty, $signed:expr;)*) => { $(
        one! {
            Neg $t => $t = |x, I| x.wrapping_neg();
            BitNot $t => $t = |x, I| !x;
            Floor $t => $t = |x, I| x;
            Ceil $t => $t = |x, I| x;
            Round $t => $t = |x, I| x;
            Trunc $t => $t = |x, I| x;
            Relu $t => $t = |x, I| x.max(0);
            IsNan $t => Truth = |_x, I| truth(false);
            IsInf $t => Truth = |_x, I| truth(false);
            ToTruth $t => Truth = |x, I| truth(x != 0);
        }
        two! {
            Add $t => $t = |a, b| a.wrapping_add(b);
            Sub $t => $t = |a, b| a.wrapping_sub(b);
            Mul $t => $t = |a, b| a.wrapping_mul(b);
            Div $t => $t = |a, b| if b == 0 { 0 } else { a.wrapping_div(b) };
            FloorDiv $t => $t = |a, b| if b == 0 { 0 } else {
                let q = a.wrapping_div(b);
                if $signed && a.wrapping_rem(b) != 0 && ((a < 0 as $t) != (b < 0 as $t)) { q.wrapping_sub(1) } else { q }
            };
            Rem $t => $t = |a, b| if b == 0 { 0 } else {
                let r = a.wrapping_rem(b);
                if $signed && r != 0 && ((r < 0 as $t) != (b < 0 as $t)) { r.wrapping_add(b) } else { r }
            };
            Fmod $t => $t = |a, b| if b == 0 { 0 } else { a.wrapping_rem(b) };
            Max $t => $t = |a, b| a.max(b);
            Min $t => $t = |a, b| a.min(b);
            BitAnd $t => $t = |a, b| a & b;
            BitOr $t => $t = |a, b| a | b;
            BitXor $t => $t = |a, b| a ^ b;
            Shl $t => $t = |a, b| if b < 0 as $t || b as u64 >= <$t>::BITS as u64 { 0 } else { a << b };
            Shr $t => $t = |a, b| if b < 0 as $t || b as u64 >= <$t>::BITS as u64 { if a < 0 as $t { !0 } else { 0 } } else { a >> b };
            Pow $t => $t = |a, b| if b < 0 as $t {
                // 1 / a^|b|, cut: only 1 and -1 have a whole inverse.
                if a == 1 { 1 } else if $signed && a.wrapping_add(1) == 0 { if b & 1 == 0 { 1 } else { a } } else { 0 }
            } else {
                let (mut base, mut e, mut y) = (a, b as u64, 1 as $t);
                while e > 0 {
                    if e & 1 == 1 { y = y.wrapping_mul(base); }
                    base = base.wrapping_mul(base);
                    e >>= 1;
                }
                y
            };
        }
        impl Op1<Truth, $t> for FromTruth { #[inline(always)] fn f<I: Isa>(x: Truth) -> $t { <$t>::from(x.0 != 0) } }
    )* };
}
integers! { i32, true; i64, true; u64, false; }
one! {
    Abs i32 => i32 = |x, I| x.wrapping_abs();
    Abs i64 => i64 = |x, I| x.wrapping_abs();
    Abs u64 => u64 = |x, I| x;
    Sign i32 => i32 = |x, I| x.signum();
    Sign i64 => i64 = |x, I| x.signum();
    Sign u64 => u64 = |x, I| x.min(1);
}

macro_rules! floats {
    ($t:ty, $floor_div:ident, $rem:ident) => {
        one! {
            Neg $t => $t = |x, I| -x;
            Abs $t => $t = |x, I| x.abs();
            Sign $t => $t = |x, I| if x > 0.0 { 1.0 } else if x < 0.0 { -1.0 } else if x == 0.0 { 0.0 } else { x };
            Recip $t => $t = |x, I| 1.0 / x;
            Sqrt $t => $t = |x, I| x.sqrt();
            Rsqrt $t => $t = |x, I| 1.0 / x.sqrt();
            Floor $t => $t = |x, I| x.floor();
            Ceil $t => $t = |x, I| x.ceil();
            Round $t => $t = |x, I| x.round_ties_even();
            Trunc $t => $t = |x, I| x.trunc();
            Relu $t => $t = |x, I| if x < 0.0 { 0.0 } else { x };
            IsNan $t => Truth = |x, I| truth(x.is_nan());
            IsInf $t => Truth = |x, I| truth(x.is_infinite());
            ToTruth $t => Truth = |x, I| truth(x != 0.0);
        }
        two! {
            Add $t => $t = |a, b| a + b;
            Sub $t => $t = |a, b| a - b;
            Mul $t => $t = |a, b| a * b;
            Div $t => $t = |a, b| a / b;
            FloorDiv $t => $t = |a, b| math::$floor_div(a, b);
            Rem $t => $t = |a, b| math::$rem(a, b);
            Fmod $t => $t = |a, b| a % b;
            Max $t => $t = |a, b| if a > b || a.is_nan() { a } else { b };
            Min $t => $t = |a, b| if a < b || a.is_nan() { a } else { b };
            Copysign $t => $t = |a, b| a.copysign(b);
        }
        impl Op1<Truth, $t> for FromTruth { #[inline(always)] fn f<I: Isa>(x: Truth) -> $t { if x.0 != 0 { 1.0 } else { 0.0 } } }
    };
}
floats!(f32, floor_div_f32, rem_f32);
floats!(f64, floor_div_f64, rem_f64);
one! {
    Exp f32 => f32 = |x, I| single::exp::<I>(x);
    Expm1 f32 => f32 = |x, I| single::expm1::<I>(x);
    Log f32 => f32 = |x, I| single::log::<I>(x);
    Tanh f32 => f32 = |x, I| single::tanh::<I>(x);
    Sigmoid f32 => f32 = |x, I| single::sigmoid::<I>(x);
    Erf f32 => f32 = |x, I| single::erf::<I>(x);
    Exp2 f32 => f32 = |x, I| wide::exp2::<I>(x);
    Log1p f32 => f32 = |x, I| wide::log1p::<I>(x);
    Log2 f32 => f32 = |x, I| wide::log2::<I>(x);
    Log10 f32 => f32 = |x, I| wide::log10::<I>(x);
    Sin f32 => f32 = |x, I| wide::sin::<I>(x);
    Cos f32 => f32 = |x, I| wide::cos::<I>(x);
    Tan f32 => f32 = |x, I| wide::tan::<I>(x);
    Asin f32 => f32 = |x, I| wide::asin::<I>(x);
    Acos f32 => f32 = |x, I| wide::acos::<I>(x);
    Atan f32 => f32 = |x, I| wide::atan::<I>(x);
    Sinh f32 => f32 = |x, I| wide::sinh::<I>(x);
    Cosh f32 => f32 = |x, I| wide::cosh::<I>(x);
    Asinh f32 => f32 = |x, I| wide::asinh::<I>(x);
    Acosh f32 => f32 = |x, I| wide::acosh::<I>(x);
    Atanh f32 => f32 = |x, I| wide::atanh::<I>(x);
    Erfc f32 => f32 = |x, I| wide::erfc::<I>(x);
    Exp f64 => f64 = |x, I| double::exp::<I>(x);
    Expm1 f64 => f64 = |x, I| double::expm1::<I>(x);
    Log f64 => f64 = |x, I| double::log::<I>(x);
    Tanh f64 => f64 = |x, I| double::tanh::<I>(x);
    Sigmoid f64 => f64 = |x, I| double::sigmoid::<I>(x);
    Sin f64 => f64 = |x, I| double::sin::<I>(x);
    Cos f64 => f64 = |x, I| double::cos::<I>(x);
    Exp2 f64 => f64 = |x, I| x.exp2();
    Log1p f64 => f64 = |x, I| x.ln_1p();
    Log2 f64 => f64 = |x, I| x.log2();
    Log10 f64 => f64 = |x, I| x.log10();
    Tan f64 => f64 = |x, I| x.tan();
    Asin f64 => f64 = |x, I| x.asin();
    Acos f64 => f64 = |x, I| x.acos();
    Atan f64 => f64 = |x, I| x.atan();
    Sinh f64 => f64 = |x, I| x.sinh();
    Cosh f64 => f64 = |x, I| x.cosh();
    Asinh f64 => f64 = |x, I| libm::asinh(x);
    // libm's is wrong below -1.
    Acosh f64 => f64 = |x, I| if x < 1.0 { f64::NAN } else { libm::acosh(x) };
    Atanh f64 => f64 = |x, I| libm::atanh(x);
    Erf f64 => f64 = |x, I| libm::erf(x);
    Erfc f64 => f64 = |x, I| libm::erfc(x);
}
two! {
    Pow f32 => f32 = |a, b| wide::pow::<I>(a, b);
    Pow f64 => f64 = |a, b| if b == 2.0 { a * a } else { a.powf(b) };
    Atan2 f32 => f32 = |a, b| wide::atan2::<I>(a, b);
    Atan2 f64 => f64 = |a, b| a.atan2(b);
}

fn pair(z: Complex<f64>) -> Complex<f32> {
    Complex::new(z.re as f32, z.im as f32)
}
fn wide_pair(z: Complex<f32>) -> Complex<f64> {
    Complex::new(z.re.into(), z.im.into())
}
const ONE: Complex<f64> = Complex::new(1.0, 0.0);

macro_rules! complex {
    ($t:ty, $up:expr, $down:expr) => {
        complex! { @functions $t, $up, $down;
            Recip |z| ONE / z;
            Sqrt |z| complex::sqrt(z);
            Rsqrt |z| ONE / complex::sqrt(z);
            Exp |z| complex::exp(z);
            Exp2 |z| complex::exp(z * std::f64::consts::LN_2);
            Expm1 |z| complex::expm1(z);
            Log |z| complex::log(z);
            Log2 |z| complex::log2(z);
            Log10 |z| complex::log10(z);
            Log1p |z| complex::log1p(z);
            Sin |z| complex::sin(z);
            Cos |z| complex::cos(z);
            Tan |z| complex::tan(z);
            Asin |z| complex::asin(z);
            Acos |z| complex::acos(z);
            Atan |z| complex::atan(z);
            Sinh |z| complex::sinh(z);
            Cosh |z| complex::cosh(z);
            Tanh |z| complex::tanh(z);
            Asinh |z| complex::asinh(z);
            Acosh |z| complex::acosh(z);
            Atanh |z| complex::atanh(z);
            Sigmoid |z| ONE / (ONE + complex::exp(-z));
            Abs |z| Complex::new(z.re.hypot(z.im), 0.0);
            Sign |z| complex::sign(z);
        }
        one! {
            Neg Complex<$t> => Complex<$t> = |x, I| -x;
            ToTruth Complex<$t> => Truth = |x, I| truth(x.re != 0.0 || x.im != 0.0);
            IsNan Complex<$t> => Truth = |x, I| truth(x.re.is_nan() || x.im.is_nan());
            IsInf Complex<$t> => Truth = |x, I| truth(x.re.is_infinite() || x.im.is_infinite());
        }
        two! {
            Add Complex<$t> => Complex<$t> = |a, b| a + b;
            Sub Complex<$t> => Complex<$t> = |a, b| a - b;
            Mul Complex<$t> => Complex<$t> = |a, b| a * b;
            Div Complex<$t> => Complex<$t> = |a, b| $down($up(a) / $up(b));
            Pow Complex<$t> => Complex<$t> = |a, b| $down(complex::pow($up(a), $up(b)));
            Eq Complex<$t> => Truth = |a, b| truth(a == b);
            Ne Complex<$t> => Truth = |a, b| truth(a != b);
        }
        impl Op1<Truth, Complex<$t>> for FromTruth {
            #[inline(always)]
            fn f<I: Isa>(x: Truth) -> Complex<$t> { Complex::new(if x.0 != 0 { 1.0 } else { 0.0 }, 0.0) }
        }
    };
    (@functions $t:ty, $up:expr, $down:expr; $($n:ident |$z:ident| $e:expr;)*) => {
        one! { $( $n Complex<$t> => Complex<$t> = |x, I| { let $z: Complex<f64> = $up(x); $down($e) }; )* }
    };
}
complex!(f32, wide_pair, pair);
complex!(f64, std::convert::identity, std::convert::identity);

two! {
    And Truth => Truth = |a, b| truth(a.0 != 0 && b.0 != 0);
    Or Truth => Truth = |a, b| truth(a.0 != 0 || b.0 != 0);
    Xor Truth => Truth = |a, b| truth((a.0 != 0) != (b.0 != 0));
}
one! {
    Not Truth => Truth = |x, I| truth(x.0 == 0);
}
