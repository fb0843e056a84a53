//! Eigenvalues of matrices without symmetry.

use crate::{Field, NOT_FINITE, NoMemory, Operands, scratch};
use faer::diag::DiagMut;
use faer::dyn_stack::MemStack;
use faer::linalg::evd::{self as by, ComputeEigenvectors};
use faer::traits::{ComplexField, RealField};
use faer::{Mat, MatMut, MatRef, Par};
use num_complex::Complex;

pub(crate) fn eig<T: Field>(x: &mut Operands<'_, T>) -> Result<i32, NoMemory> {
    if x.a.iter().any(|v| !v.finite()) {
        return Ok(NOT_FINITE);
    }
    if x.rows == 0 {
        return Ok(0);
    }
    T::eig(x.a, x.rows, x.values, x.vectors)
}

fn needs<T: ComplexField>(n: usize, want: bool) -> Result<faer::dyn_stack::MemBuffer, NoMemory> {
    let right = if want { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
    scratch(by::evd_scratch::<T>(n, ComputeEigenvectors::No, right, Par::Seq, Default::default()))
}

/// A real matrix: eigenvalues that are not real come in pairs, whose two vectors share two columns.
pub(crate) fn real<R>(a: &[R], n: usize, values: &mut [R], vectors: &mut [R]) -> Result<i32, NoMemory>
where
    R: Real,
{
    let want = !vectors.is_empty();
    let mut memory = needs::<R>(n, want)?;
    let (mut re, mut im) = (vec![R::default(); n], vec![R::default(); n]);
    let mut space = Mat::<R>::zeros(n, if want { n } else { 0 });
    let done = by::evd_real(
        MatRef::from_column_major_slice(&a[..n * n], n, n),
        DiagMut::from_slice_mut(&mut re),
        DiagMut::from_slice_mut(&mut im),
        None,
        want.then(|| space.as_mut()),
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    );
    if done.is_err() {
        return Ok(n as i32 + 1);
    }
    (0..n).for_each(|i| (values[2 * i], values[2 * i + 1]) = (re[i], im[i]));
    let mut j = 0;
    while want && j < n {
        let pair = im[j] != R::default() && j + 1 < n;
        for i in 0..n {
            let (x, y) = (space[(i, j)], if pair { space[(i, j + 1)] } else { R::default() });
            let at = 2 * (i + j * n);
            (vectors[at], vectors[at + 1]) = (x, y);
            if pair {
                (vectors[at + 2 * n], vectors[at + 2 * n + 1]) = (x, R::default() - y);
            }
        }
        let columns = if pair { 2 } else { 1 };
        vectors[2 * j * n..2 * (j + columns) * n].chunks_exact_mut(2 * n).for_each(normalise);
        j += columns;
    }
    Ok(0)
}

/// A complex matrix.
pub(crate) fn complex<R>(
    a: &[Complex<R>],
    n: usize,
    values: &mut [Complex<R>],
    vectors: &mut [Complex<R>],
) -> Result<i32, NoMemory>
where
    R: Real,
    Complex<R>: Field<Real = R> + bytemuck::Pod,
{
    let want = !vectors.is_empty();
    let mut memory = needs::<Complex<R>>(n, want)?;
    let done = by::evd_cplx(
        MatRef::from_column_major_slice(&a[..n * n], n, n),
        DiagMut::from_slice_mut(&mut values[..n]),
        None,
        want.then(|| MatMut::from_column_major_slice_mut(&mut vectors[..n * n], n, n)),
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    );
    vectors.chunks_exact_mut(n).for_each(|v| normalise::<R>(bytemuck::cast_slice_mut(v)));
    Ok(if done.is_ok() { 0 } else { n as i32 + 1 })
}

/// What both real types can do here.
pub(crate) trait Real:
    RealField + Field<Real = Self> + bytemuck::Pod + std::ops::MulAssign + Into<f64>
{
    fn from_f64(x: f64) -> Self;
}
impl Real for f32 {
    fn from_f64(x: f64) -> f32 {
        x as f32
    }
}
impl Real for f64 {
    fn from_f64(x: f64) -> f64 {
        x
    }
}

/// Makes a vector (pairs of real and imaginary part) of length 1 with a real largest element.
fn normalise<R: Real>(v: &mut [R]) {
    let as_f64 = |x: R| -> f64 { x.into() };
    let largest = v.iter().fold(0.0f64, |m, x| m.max(as_f64(*x).abs()));
    if largest == 0.0 {
        return;
    }
    let scaled = |x: R| as_f64(x) / largest;
    let length = v.iter().map(|x| scaled(*x) * scaled(*x)).sum::<f64>().sqrt();
    let mut turn = (1.0, 0.0, 0.0);
    for z in v.chunks_exact(2) {
        let (re, im) = (scaled(z[0]), scaled(z[1]));
        let size = re.hypot(im);
        if size > turn.2 {
            turn = (re / size, -im / size, size);
        }
    }
    // A vector that is real already keeps its sign.
    if v.chunks_exact(2).all(|z| z[1] == R::default()) {
        turn = (1.0, 0.0, 1.0);
    }
    for z in v.chunks_exact_mut(2) {
        let (re, im) = (scaled(z[0]) / length, scaled(z[1]) / length);
        (z[0], z[1]) = (R::from_f64(re * turn.0 - im * turn.1), R::from_f64(re * turn.1 + im * turn.0));
    }
}
