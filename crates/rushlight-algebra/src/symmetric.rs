//! Hermitian matrices: Cholesky and eigenvalues.

use crate::{Field, NOT_FINITE, NoMemory, Operands, scratch};
use faer::diag::DiagMut;
use faer::dyn_stack::MemStack;
use faer::linalg::cholesky::llt::factor as by_llt;
use faer::linalg::evd::{self as by_evd, ComputeEigenvectors};
use faer::{Mat, MatMut, MatRef, Par};

pub(crate) fn cholesky<T: Field>(x: &mut Operands<'_, T>) -> Result<i32, NoMemory> {
    let n = x.rows;
    if n == 0 {
        return Ok(0);
    }
    let mut memory = scratch(by_llt::cholesky_in_place_scratch::<T>(n, Par::Seq, Default::default()))?;
    let a = MatMut::from_column_major_slice_mut(&mut x.a[..n * n], n, n);
    let done = by_llt::cholesky_in_place(
        a,
        Default::default(),
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    );
    (0..n).for_each(|j| x.a[j * n..j * n + j].fill(T::default()));
    Ok(match done {
        Ok(_) => 0,
        Err(by_llt::LltError::NonPositivePivot { index }) => index as i32 + 1,
    })
}

pub(crate) fn eigh<T: Field>(x: &mut Operands<'_, T>, vectors: bool) -> Result<i32, NoMemory> {
    let n = x.rows;
    if n == 0 {
        return Ok(0);
    }
    for j in 0..n {
        // A Hermitian matrix has a real diagonal; what stands beside it does not count.
        x.a[j + j * n] = T::of(x.a[j + j * n].re());
        if x.a[j + j * n..(j + 1) * n].iter().any(|v| !v.finite()) {
            return Ok(NOT_FINITE);
        }
    }
    let want = if vectors { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
    let mut memory = scratch(by_evd::self_adjoint_evd_scratch::<T>(n, want, Par::Seq, Default::default()))?;
    let mut values = vec![T::default(); n];
    let mut space = Mat::<T>::zeros(n, if vectors { n } else { 0 });
    let done = by_evd::self_adjoint_evd(
        MatRef::from_column_major_slice(&x.a[..n * n], n, n),
        DiagMut::from_slice_mut(&mut values),
        vectors.then(|| space.as_mut()),
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    );
    if vectors {
        MatMut::from_column_major_slice_mut(&mut x.a[..n * n], n, n).copy_from(&space);
    }
    x.values.iter_mut().zip(&values).for_each(|(to, from)| *to = from.re());
    Ok(if done.is_ok() { 0 } else { n as i32 + 1 })
}
