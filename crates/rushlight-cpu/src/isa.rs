//! Which instructions kernels may use: chosen once at run time, never at compile time.
//!
//! A kernel body is one `#[inline(always)]` function, generic over [`Isa`]; [`dispatch`] compiles it
//! for each level behind `#[target_feature]`. `RUSHLIGHT_CPU=scalar|avx2|avx512` caps the level.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// A level of instructions, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// What every CPU of the target has.
    Scalar = 1,
    /// AVX2, FMA and F16C.
    Avx2 = 2,
    /// AVX-512 F, BW, DQ and VL.
    Avx512 = 3,
}

/// Chosen level; 0 until first asked.
static LEVEL: AtomicU8 = AtomicU8::new(0);

/// The level in force.
#[inline]
pub fn level() -> Level {
    match LEVEL.load(Relaxed) {
        1 => Level::Scalar,
        2 => Level::Avx2,
        3 => Level::Avx512,
        _ => choose(),
    }
}

#[cold]
fn choose() -> Level {
    let cap = match std::env::var("RUSHLIGHT_CPU").as_deref() {
        Ok("scalar") => Level::Scalar,
        Ok("avx2") => Level::Avx2,
        _ => Level::Avx512,
    };
    let level = best().min(cap);
    LEVEL.store(level as u8, Relaxed);
    level
}

/// The highest level this CPU has.
pub fn best() -> Level {
    #[cfg(target_arch = "x86_64")]
    {
        let avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c");
        let avx512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        if avx2 && avx512 {
            return Level::Avx512;
        }
        if avx2 {
            return Level::Avx2;
        }
    }
    Level::Scalar
}

/// Caps the level for the process, so that tests reach every path the machine has.
pub fn set_level(level: Level) {
    LEVEL.store(level.min(best()) as u8, Relaxed);
}

/// What a body may assume: whether a fused multiply-add is one instruction.
pub trait Isa: Copy + 'static {
    /// `a * b + c`, fused where that is one instruction (elsewhere `mul_add` would call a library).
    fn fma(a: f64, b: f64, c: f64) -> f64;
    /// The same in single precision.
    fn fma32(a: f32, b: f32, c: f32) -> f32;
}

/// Without fused multiply-add.
#[derive(Clone, Copy)]
pub struct Plain;
/// With it.
#[derive(Clone, Copy)]
pub struct Fused;

impl Isa for Plain {
    #[inline(always)]
    fn fma(a: f64, b: f64, c: f64) -> f64 {
        a * b + c
    }
    #[inline(always)]
    fn fma32(a: f32, b: f32, c: f32) -> f32 {
        a * b + c
    }
}
impl Isa for Fused {
    #[inline(always)]
    fn fma(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }
    #[inline(always)]
    fn fma32(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

/// A kernel body, compiled once for each level. `run` must be `#[inline(always)]`, so that it is
/// compiled with the features of the function around it.
pub trait Kernel<A> {
    /// Does the work.
    ///
    /// # Safety
    /// As the kernel says of its arguments.
    unsafe fn run<I: Isa>(args: A);
}

/// Runs a kernel at the level in force.
///
/// # Safety
/// That of the kernel.
pub unsafe fn dispatch<K: Kernel<A>, A>(args: A) {
    #[cfg(target_arch = "x86_64")]
    match level() {
        // SAFETY: the level says that the CPU has these features; the rest is the caller's promise.
        Level::Avx512 => return unsafe { avx512::<K, A>(args) },
        // SAFETY: as above.
        Level::Avx2 => return unsafe { avx2::<K, A>(args) },
        Level::Scalar => {}
    }
    // SAFETY: the caller's promise is passed on.
    unsafe { K::run::<Plain>(args) }
}

/// Runs a kernel with what every CPU has: for loops that wider instructions do not help, as they
/// call libraries or divide integers, and for conversions that nobody waits for. One copy of the
/// code instead of three.
///
/// # Safety
/// That of the kernel.
pub unsafe fn portable<K: Kernel<A>, A>(args: A) {
    // SAFETY: the caller's promise is passed on.
    unsafe { K::run::<Plain>(args) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
unsafe fn avx512<K: Kernel<A>, A>(args: A) {
    // SAFETY: the caller's promise is passed on.
    unsafe { K::run::<Fused>(args) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn avx2<K: Kernel<A>, A>(args: A) {
    // SAFETY: the caller's promise is passed on.
    unsafe { K::run::<Fused>(args) }
}
