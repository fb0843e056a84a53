//! Which function runs an opcode on a compute type: a loop over dense blocks, one for each level.

use super::ops::*;
use crate::isa::{Isa, Kernel, dispatch, portable};
use crate::load_store::Truth;
use crate::math::{double, wide};
use num_complex::Complex;
use rushlight_core::program::{Function, Opcode};
use rushlight_core::{CType, Result, bail};
use std::marker::PhantomData;

/// `dst = op(args)` over `n` dense values. `dst` is none of the operands; where it is one, values are
/// replaced one by one, which is right but slow.
#[derive(Clone, Copy)]
pub(super) struct Args {
    dst: *mut u8,
    args: [*const u8; 3],
    n: usize,
    special: Function,
}

/// Calls a function with each place: a plain loop, as iterators may stay calls where the functions
/// around them have more instructions than the standard library was compiled for.
macro_rules! each {
    ($n:expr, |$i:ident| $body:expr) => {{
        let mut $i = 0;
        while $i < $n {
            $body;
            $i += 1;
        }
    }};
}

/// A kernel found.
#[derive(Clone, Copy)]
pub(super) struct Found(unsafe fn(Args), Function);

/// What stands for a special function where there is none.
const NONE: Function = Function::One(f64::abs);

/// As [`Found`], callable with plain arguments.
pub(super) type Kernel3 = Found;

impl Found {
    /// # Safety
    /// Operands are dense and aligned for `n` values. `dst` overlaps none of them, or is one of them
    /// whose values have the size of a result.
    #[inline]
    pub(super) unsafe fn call(self, dst: *mut u8, args: [*const u8; 3], n: usize) {
        // SAFETY: the caller's promise.
        unsafe { (self.0)(Args { dst, args, n, special: self.1 }) }
    }
}

struct One<O, T, R>(PhantomData<(O, T, R)>);
struct Two<O, T, R>(PhantomData<(O, T, R)>);
struct Choose<T>(PhantomData<T>);
/// Sine, cosine or tangent: blocks with large arguments go to the platform's library.
struct Trig<O, T>(PhantomData<(O, T)>);

impl<O: Op1<T, R>, T: Copy, R: Copy> Kernel<Args> for One<O, T, R> {
    #[inline(always)]
    unsafe fn run<I: Isa>(k: Args) {
        let (dst, a) = (k.dst.cast::<R>(), k.args[0].cast::<T>());
        // SAFETY: the caller promises n aligned values at each address; each is read before it is written.
        each!(k.n, |i| unsafe { *dst.add(i) = O::f::<I>(*a.add(i)) })
    }
}
impl<O: Op2<T, R>, T: Copy, R: Copy> Kernel<Args> for Two<O, T, R> {
    #[inline(always)]
    unsafe fn run<I: Isa>(k: Args) {
        let (dst, a, b) = (k.dst.cast::<R>(), k.args[0].cast::<T>(), k.args[1].cast::<T>());
        // SAFETY: as in `One`.
        each!(k.n, |i| unsafe { *dst.add(i) = O::f::<I>(*a.add(i), *b.add(i)) })
    }
}
impl<T: Copy> Kernel<Args> for Choose<T> {
    #[inline(always)]
    unsafe fn run<I: Isa>(k: Args) {
        let (dst, c) = (k.dst.cast::<T>(), k.args[0].cast::<Truth>());
        let (a, b) = (k.args[1].cast::<T>(), k.args[2].cast::<T>());
        // SAFETY: as in `One`; the condition is one byte a value.
        each!(k.n, |i| unsafe {
            let (yes, no) = (*a.add(i), *b.add(i));
            *dst.add(i) = if (*c.add(i)).0 != 0 { yes } else { no }
        })
    }
}
/// Up to where an opcode's function holds, and the platform's function for beyond.
trait Library<T> {
    fn near(x: T) -> bool;
    fn far(x: T) -> T;
}
macro_rules! library {
    ($($o:ident $t:ty, $limit:expr, |$x:ident| $far:expr;)*) => { $(
        impl Library<$t> for $o {
            #[inline(always)]
            fn near($x: $t) -> bool { $x.abs() <= $limit }
            fn far($x: $t) -> $t { $far }
        }
    )* };
}
library! {
    Sin f32, wide::TRIG_LIMIT, |x| f64::from(x).sin() as f32;
    Cos f32, wide::TRIG_LIMIT, |x| f64::from(x).cos() as f32;
    Tan f32, wide::TRIG_LIMIT, |x| f64::from(x).tan() as f32;
    Sin f64, double::TRIG_LIMIT, |x| x.sin();
    Cos f64, double::TRIG_LIMIT, |x| x.cos();
}
impl<T: Copy, O: Op1<T, T> + Library<T>> Kernel<Args> for Trig<O, T> {
    #[inline(always)]
    unsafe fn run<I: Isa>(k: Args) {
        let (dst, a) = (k.dst.cast::<T>(), k.args[0].cast::<T>());
        let mut near = true;
        // SAFETY: as in `One`.
        each!(k.n, |i| near &= unsafe { O::near(*a.add(i)) });
        if near {
            // SAFETY: as in `One`.
            each!(k.n, |i| unsafe { *dst.add(i) = O::f::<I>(*a.add(i)) })
        } else {
            // Each for itself: a result does not depend on what lies beside it.
            // SAFETY: as in `One`.
            each!(k.n, |i| unsafe {
                let x = *a.add(i);
                *dst.add(i) = if O::near(x) { O::f::<I>(x) } else { O::far(x) }
            })
        }
    }
}

/// A special function, which comes with the call.
struct Special<T>(PhantomData<T>);
macro_rules! special {
    ($($t:ty, |$x:ident, $y:ident, $f:ident| $two:expr, $($case:pat => $one:expr),+;)*) => { $(
        impl Kernel<Args> for Special<$t> {
            unsafe fn run<I: Isa>(k: Args) {
                let (dst, a, b) = (k.dst.cast::<$t>(), k.args[0].cast::<$t>(), k.args[1].cast::<$t>());
                let $f = k.special;
                // SAFETY: as in `One`; a function of one number has one operand.
                each!(k.n, |i| unsafe {
                    let $x = *a.add(i);
                    *dst.add(i) = match $f {
                        $($case => $one,)+
                        _ => { let $y = *b.add(i); $two }
                    }
                })
            }
        }
    )* };
}
special! {
    f32, |x, y, f| match f {
        Function::Two(f) => f(x.into(), y.into()) as f32,
        Function::Each(f, _) => f(x, y),
        _ => x,
    }, Function::One(f) => f(x.into()) as f32;
    f64, |x, y, f| match f {
        Function::Two(f) | Function::Each(_, f) => f(x, y),
        _ => x,
    }, Function::One(f) => f(x);
    i32, |x, y, f| if let Function::Whole(f, _) = f { f(x.into(), y.into()) as i32 } else { x }, Function::One(_) => x;
    i64, |x, y, f| if let Function::Whole(f, _) = f { f(x, y) } else { x }, Function::One(_) => x;
    u64, |x, y, f| if let Function::Whole(_, f) = f { f(x, y) } else { x }, Function::One(_) => x;
}

/// The kernel of a special function.
fn special(function: Function, ctype: CType) -> Option<Kernel3> {
    let whole = matches!(function, Function::Whole(..));
    let run = match ctype {
        CType::F32 if !whole => portable::<Special<f32>, Args>,
        CType::F64 if !whole => portable::<Special<f64>, Args>,
        CType::I32 if whole => portable::<Special<i32>, Args>,
        CType::I64 if whole => portable::<Special<i64>, Args>,
        CType::U64 if whole => portable::<Special<u64>, Args>,
        _ => return None,
    };
    Some(Found(run, function))
}

macro_rules! found {
    ($k:ty) => {
        Some(Found(dispatch::<$k, Args>, NONE))
    };
    (portable $k:ty) => {
        Some(Found(portable::<$k, Args>, NONE))
    };
}
macro_rules! table {
    ($kind:ident $o:ident, $ctype:expr; $($c:ident => $t:ty $(=> $r:ty)?),* $(; portable $($p:ident => $pt:ty),*)?) => {
        match $ctype {
            $( CType::$c => found!($kind<$o, $t, table!(@r $t $(=> $r)?)>), )*
            $( $( CType::$p => found!(portable $kind<$o, $pt, $pt>), )* )?
            _ => None,
        }
    };
    (@r $t:ty) => { $t };
    (@r $t:ty => $r:ty) => { $r };
}
/// Numbers with addition and multiplication; see `alike` for uint64.
macro_rules! ring { ($kind:ident $o:ident $c:expr) => { table!($kind $o, $c; I32 => i32, I64 => i64, F32 => f32, F64 => f64, C64 => Complex<f32>, C128 => Complex<f64>) }; }
macro_rules! arith { ($kind:ident $o:ident $c:expr) => { table!($kind $o, $c; I32 => i32, I64 => i64, U64 => u64, F32 => f32, F64 => f64; portable C64 => Complex<f32>, C128 => Complex<f64>) }; }
/// Integers are divided one by one, and remainders of floats are a library's.
macro_rules! divide { ($kind:ident $o:ident $c:expr) => { table!($kind $o, $c; F32 => f32, F64 => f64; portable I32 => i32, I64 => i64, U64 => u64, C64 => Complex<f32>, C128 => Complex<f64>) }; }
macro_rules! remainder { ($kind:ident $o:ident $c:expr) => { table!($kind $o, $c; ; portable I32 => i32, I64 => i64, U64 => u64, F32 => f32, F64 => f64) }; }
macro_rules! real { ($kind:ident $o:ident $c:expr) => { table!($kind $o, $c; I32 => i32, I64 => i64, U64 => u64, F32 => f32, F64 => f64) }; }
macro_rules! whole { ($kind:ident $o:ident $c:expr) => { table!($kind $o, $c; I32 => i32, I64 => i64, F32 => f32, F64 => f64) }; }
macro_rules! float { ($kind:ident $o:ident $c:expr) => { table!($kind $o, $c; F32 => f32, F64 => f64) }; }
macro_rules! analytic { ($kind:ident $o:ident $c:expr) => { table!($kind $o, $c; F32 => f32, F64 => f64; portable C64 => Complex<f32>, C128 => Complex<f64>) }; }
/// In double precision these call the platform's library or libm.
macro_rules! library_f64 { ($kind:ident $o:ident $c:expr) => { table!($kind $o, $c; F32 => f32; portable F64 => f64, C64 => Complex<f32>, C128 => Complex<f64>) }; }
macro_rules! library_real { ($kind:ident $o:ident $c:expr) => { table!($kind $o, $c; F32 => f32; portable F64 => f64) }; }
macro_rules! int { ($kind:ident $o:ident $c:expr) => { table!($kind $o, $c; I32 => i32, I64 => i64, U64 => u64) }; }
macro_rules! bits { ($kind:ident $o:ident $c:expr) => { table!($kind $o, $c; I32 => i32, I64 => i64) }; }
macro_rules! test { ($kind:ident $o:ident $c:expr) => { table!($kind $o, $c; I32 => i32 => Truth, I64 => i64 => Truth, U64 => u64 => Truth, F32 => f32 => Truth, F64 => f64 => Truth) }; }
macro_rules! test_bits { ($kind:ident $o:ident $c:expr) => { table!($kind $o, $c; I32 => i32 => Truth, I64 => i64 => Truth, F32 => f32 => Truth, F64 => f64 => Truth, C64 => Complex<f32> => Truth, C128 => Complex<f64> => Truth) }; }
macro_rules! test_float { ($kind:ident $o:ident $c:expr) => { table!($kind $o, $c; F32 => f32 => Truth, F64 => f64 => Truth, C64 => Complex<f32> => Truth, C128 => Complex<f64> => Truth) }; }

/// Calls whose bits come out alike share a kernel; its table has no entry for the others.
fn alike(op: Opcode, c: CType) -> (Opcode, CType) {
    use Opcode as O;
    let integer = matches!(c, CType::I32 | CType::I64 | CType::U64);
    let signed = if c == CType::U64 { CType::I64 } else { c };
    match op {
        O::Neg | O::Add | O::Sub | O::Mul | O::BitNot | O::BitAnd | O::BitOr | O::BitXor | O::Shl => {
            (op, signed)
        }
        O::Eq | O::Ne | O::ToTruth => (op, signed),
        O::Floor | O::Ceil | O::Round | O::Trunc if integer => (O::Floor, signed),
        O::IsInf if integer => (O::IsNan, signed),
        O::IsNan => (op, signed),
        O::Select => match c {
            CType::F32 => (op, CType::I32),
            CType::F64 | CType::U64 => (op, CType::I64),
            _ => (op, c),
        },
        _ => (op, c),
    }
}

/// The kernel of an opcode.
///
/// # Errors
/// `NotImplemented` where the compute type has no meaning for it.
pub(super) fn kernel(op: Opcode, ctype: CType) -> Result<Kernel3> {
    let (op, c) = alike(op, ctype);
    let found = match op {
        Opcode::Special(f) => special(f.function(), c),
        Opcode::Neg => ring!(One Neg c),
        Opcode::Abs => arith!(One Abs c),
        Opcode::Sign => arith!(One Sign c),
        Opcode::Recip => analytic!(One Recip c),
        Opcode::Sqrt => analytic!(One Sqrt c),
        Opcode::Rsqrt => analytic!(One Rsqrt c),
        Opcode::Exp => analytic!(One Exp c),
        Opcode::Exp2 => library_f64!(One Exp2 c),
        Opcode::Expm1 => analytic!(One Expm1 c),
        Opcode::Log => analytic!(One Log c),
        Opcode::Log2 => library_f64!(One Log2 c),
        Opcode::Log10 => library_f64!(One Log10 c),
        Opcode::Log1p => library_f64!(One Log1p c),
        Opcode::Sin if c == CType::F32 => found!(Trig<Sin, f32>),
        Opcode::Cos if c == CType::F32 => found!(Trig<Cos, f32>),
        Opcode::Tan if c == CType::F32 => found!(Trig<Tan, f32>),
        Opcode::Sin if c == CType::F64 => found!(Trig<Sin, f64>),
        Opcode::Cos if c == CType::F64 => found!(Trig<Cos, f64>),
        Opcode::Sin => analytic!(One Sin c),
        Opcode::Cos => analytic!(One Cos c),
        Opcode::Tan => library_f64!(One Tan c),
        Opcode::Asin => library_f64!(One Asin c),
        Opcode::Acos => library_f64!(One Acos c),
        Opcode::Atan => library_f64!(One Atan c),
        Opcode::Sinh => library_f64!(One Sinh c),
        Opcode::Cosh => library_f64!(One Cosh c),
        Opcode::Tanh => analytic!(One Tanh c),
        Opcode::Asinh => library_f64!(One Asinh c),
        Opcode::Acosh => library_f64!(One Acosh c),
        Opcode::Atanh => library_f64!(One Atanh c),
        Opcode::Sigmoid => analytic!(One Sigmoid c),
        Opcode::Erf => library_real!(One Erf c),
        Opcode::Erfc => library_real!(One Erfc c),
        Opcode::Floor => whole!(One Floor c),
        Opcode::Ceil => float!(One Ceil c),
        Opcode::Round => float!(One Round c),
        Opcode::Trunc => float!(One Trunc c),
        Opcode::Relu => real!(One Relu c),
        Opcode::BitNot => bits!(One BitNot c),
        Opcode::Add => ring!(Two Add c),
        Opcode::Sub => ring!(Two Sub c),
        Opcode::Mul => ring!(Two Mul c),
        Opcode::Div => divide!(Two Div c),
        Opcode::FloorDiv => remainder!(Two FloorDiv c),
        Opcode::Rem => remainder!(Two Rem c),
        Opcode::Fmod => remainder!(Two Fmod c),
        Opcode::Pow => {
            table!(Two Pow, c; F32 => f32; portable F64 => f64, I32 => i32, I64 => i64, U64 => u64, C64 => Complex<f32>, C128 => Complex<f64>)
        }
        Opcode::Atan2 => library_real!(Two Atan2 c),
        Opcode::Max => real!(Two Max c),
        Opcode::Min => real!(Two Min c),
        Opcode::Copysign => float!(Two Copysign c),
        Opcode::BitAnd => bits!(Two BitAnd c),
        Opcode::BitOr => bits!(Two BitOr c),
        Opcode::BitXor => bits!(Two BitXor c),
        Opcode::Shl => bits!(Two Shl c),
        Opcode::Shr => int!(Two Shr c),
        Opcode::Eq => test_bits!(Two Eq c),
        Opcode::Ne => test_bits!(Two Ne c),
        Opcode::Lt => test!(Two Lt c),
        Opcode::Le => test!(Two Le c),
        Opcode::Gt => test!(Two Gt c),
        Opcode::Ge => test!(Two Ge c),
        Opcode::IsNan => test_bits!(One IsNan c),
        Opcode::IsInf => test_float!(One IsInf c),
        Opcode::And => found!(Two<And, Truth, Truth>),
        Opcode::Or => found!(Two<Or, Truth, Truth>),
        Opcode::Xor => found!(Two<Xor, Truth, Truth>),
        Opcode::Not => found!(One<Not, Truth, Truth>),
        Opcode::ToTruth => test_bits!(One ToTruth c),
        Opcode::FromTruth => match c {
            CType::I32 => found!(One<FromTruth, Truth, i32>),
            CType::I64 => found!(One<FromTruth, Truth, i64>),
            CType::U64 => found!(One<FromTruth, Truth, u64>),
            CType::F32 => found!(One<FromTruth, Truth, f32>),
            CType::F64 => found!(One<FromTruth, Truth, f64>),
            CType::C64 => found!(One<FromTruth, Truth, Complex<f32>>),
            CType::C128 => found!(One<FromTruth, Truth, Complex<f64>>),
            CType::Bool => None,
        },
        Opcode::Select => match c {
            CType::Bool => found!(Choose<Truth>),
            CType::I32 => found!(Choose<i32>),
            CType::I64 => found!(Choose<i64>),
            CType::C64 => found!(Choose<Complex<f32>>),
            CType::C128 => found!(Choose<Complex<f64>>),
            _ => None,
        },
    };
    match found {
        Some(f) => Ok(f),
        None => bail!(NotImplemented, op.name(), "is not defined for numbers computed as {ctype:?}"),
    }
}
