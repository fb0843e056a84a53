//! The number types that matrices may hold.

use faer::traits::{ComplexField, RealField};
use num_complex::{Complex32, Complex64};
use std::ops::{Add, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// f32, f64 and the complex numbers of them.
pub trait Field:
    ComplexField<Real: RealField + Copy + PartialOrd>
    + Copy
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + SubAssign
    + MulAssign
    + DivAssign
    + Default
{
    /// Eigenvalues and vectors as [`crate::Task::Eig`] lays them out.
    #[doc(hidden)]
    fn eig(
        a: &[Self],
        n: usize,
        values: &mut [Self::Real],
        vectors: &mut [Self::Real],
    ) -> Result<i32, crate::NoMemory>;
    /// Whether it is neither infinite nor NaN.
    #[doc(hidden)]
    fn finite(self) -> bool;
    /// `|re| + |im|`, which LAPACK compares pivots by.
    #[doc(hidden)]
    fn size(self) -> f64;
    /// The complex conjugate.
    #[doc(hidden)]
    fn conjugate(self) -> Self;
    /// A real number as this type.
    #[doc(hidden)]
    fn of(x: Self::Real) -> Self;
    /// The real part.
    #[doc(hidden)]
    fn re(self) -> Self::Real;
    /// Real and imaginary part.
    #[doc(hidden)]
    fn parts(self) -> (f64, f64);
    /// The number of these parts; a real type keeps the first.
    #[doc(hidden)]
    fn from_parts(re: f64, im: f64) -> Self;
    /// Whether the reciprocal of a number this small may overflow.
    #[doc(hidden)]
    fn tiny(self) -> bool;
}

macro_rules! real {
    ($t:ty) => {
        impl Field for $t {
            fn eig(
                a: &[$t],
                n: usize,
                values: &mut [$t],
                vectors: &mut [$t],
            ) -> Result<i32, crate::NoMemory> {
                crate::eigen::real(a, n, values, vectors)
            }
            fn finite(self) -> bool {
                self.is_finite()
            }
            fn size(self) -> f64 {
                self.abs().into()
            }
            fn conjugate(self) -> $t {
                self
            }
            fn of(x: $t) -> $t {
                x
            }
            fn re(self) -> $t {
                self
            }
            fn parts(self) -> (f64, f64) {
                (self.into(), 0.0)
            }
            fn from_parts(re: f64, _im: f64) -> $t {
                re as $t
            }
            fn tiny(self) -> bool {
                self.abs() < <$t>::MIN_POSITIVE * 4.0
            }
        }
    };
}
real!(f32);
real!(f64);

macro_rules! complex {
    ($t:ty, $r:ty) => {
        impl Field for $t {
            fn eig(
                a: &[$t],
                n: usize,
                values: &mut [$r],
                vectors: &mut [$r],
            ) -> Result<i32, crate::NoMemory> {
                crate::eigen::complex(
                    a,
                    n,
                    bytemuck::cast_slice_mut(values),
                    bytemuck::cast_slice_mut(vectors),
                )
            }
            fn finite(self) -> bool {
                self.re.is_finite() && self.im.is_finite()
            }
            fn size(self) -> f64 {
                f64::from(self.re).abs() + f64::from(self.im).abs()
            }
            fn conjugate(self) -> $t {
                self.conj()
            }
            fn of(x: $r) -> $t {
                <$t>::new(x, 0.0)
            }
            fn re(self) -> $r {
                self.re
            }
            fn parts(self) -> (f64, f64) {
                (self.re.into(), self.im.into())
            }
            fn from_parts(re: f64, im: f64) -> $t {
                <$t>::new(re as $r, im as $r)
            }
            fn tiny(self) -> bool {
                self.re.abs() + self.im.abs() < <$r>::MIN_POSITIVE * 4.0
            }
        }
    };
}
complex!(Complex32, f32);
complex!(Complex64, f64);
