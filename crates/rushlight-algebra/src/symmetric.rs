//! Hermitian matrices: Cholesky, eigenvalues, and `L D L^H` with its systems.

use crate::{BAD_PIVOTS, Field, NOT_FINITE, NoMemory, Operands, scratch};
use faer::diag::{Diag, DiagMut};
use faer::dyn_stack::MemStack;
use faer::linalg::cholesky::lblt::{factor as by_ldl, solve as by_ldl_solve};
use faer::linalg::cholesky::llt::factor as by_llt;
use faer::linalg::evd::{self as by_evd, ComputeEigenvectors};
use faer::perm::PermRef;
use faer::{Conj, Mat, MatMut, MatRef, Par};

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

/// One step of the elimination, as LAPACK numbers it.
#[derive(Clone, Copy)]
struct Step {
    /// The first row it settles.
    at: usize,
    /// The row it exchanges, the last of its own, and the one that takes its place.
    from: usize,
    to: usize,
}

pub(crate) fn ldl<T: Field>(x: &mut Operands<'_, T>) -> Result<i32, NoMemory> {
    let n = x.rows;
    if n == 0 {
        return Ok(0);
    }
    let how = by_ldl::LbltParams {
        pivoting: by_ldl::PivotingStrategy::Partial,
        ..<by_ldl::LbltParams as faer::Auto<T>>::auto()
    };
    let mut memory = scratch(by_ldl::cholesky_in_place_scratch::<usize, T>(n, Par::Seq, how.into()))?;
    let mut beside = Diag::<T>::zeros(n);
    let (mut order, mut places) = (vec![0usize; n], vec![0usize; n]);
    let a = MatMut::from_column_major_slice_mut(&mut x.a[..n * n], n, n);
    by_ldl::cholesky_in_place(
        a,
        beside.as_mut(),
        &mut order,
        &mut places,
        Par::Seq,
        MemStack::new(&mut memory),
        how.into(),
    );
    let (mut rows, mut steps): (Vec<usize>, Vec<Step>) = ((0..n).collect(), Vec::new());
    let (mut k, mut singular) = (0, 0);
    while k < n {
        let pair = beside[k] != T::default() && k + 1 < n;
        let from = if pair { k + 1 } else { k };
        let to = (from..n).find(|i| rows[*i] == order[from]).unwrap_or(from);
        rows.swap(from, to);
        let pivot = to as i32 + 1;
        x.pivots[k] = if pair { -pivot } else { pivot };
        if pair {
            x.pivots[k + 1] = -pivot;
            x.a[k + 1 + k * n] = beside[k];
        } else if x.a[k + k * n] == T::default() && singular == 0 {
            singular = k as i32 + 1;
        }
        steps.push(Step { at: k, from, to });
        k = from + 1;
    }
    // LAPACK leaves the columns before a step as they were; faer exchanges their rows too.
    for step in steps.iter().rev().filter(|s| s.from != s.to) {
        (0..step.at).for_each(|j| x.a.swap(step.from + j * n, step.to + j * n));
    }
    (0..n).for_each(|j| x.a[j * n..j * n + j].fill(T::default()));
    Ok(singular)
}

pub(crate) fn ldl_solve<T: Field>(x: &mut Operands<'_, T>) -> Result<i32, NoMemory> {
    let n = x.rows;
    if n == 0 || x.b_cols == 0 {
        return Ok(0);
    }
    let Some(steps) = steps(&x.pivots[..n]) else { return Ok(BAD_PIVOTS) };
    let mut l = x.a[..n * n].to_vec();
    let (mut main, mut beside) = (vec![T::default(); n], vec![T::default(); n]);
    let mut order: Vec<usize> = (0..n).collect();
    (0..n).for_each(|j| main[j] = l[j + j * n]);
    for step in &steps {
        order.swap(step.from, step.to);
        (0..step.at).for_each(|j| l.swap(step.from + j * n, step.to + j * n));
        let first = step.at + step.at * n;
        if step.from > step.at {
            beside[step.at] = std::mem::take(&mut l[first + 1]);
        }
    }
    let mut places = vec![0usize; n];
    order.iter().enumerate().for_each(|(i, row)| places[*row] = i);
    let mut memory = scratch(by_ldl_solve::solve_in_place_scratch::<usize, T>(n, x.b_cols, Par::Seq))?;
    by_ldl_solve::solve_in_place_with_conj(
        MatRef::from_column_major_slice(&l, n, n),
        faer::diag::DiagRef::from_slice(&main),
        faer::diag::DiagRef::from_slice(&beside),
        Conj::No,
        PermRef::new_checked(&order, &places, n),
        MatMut::from_column_major_slice_mut(&mut x.b[..n * x.b_cols], n, x.b_cols),
        Par::Seq,
        MemStack::new(&mut memory),
    );
    Ok(0)
}

/// The steps that LAPACK's pivots stand for, if they do for any.
fn steps(pivots: &[i32]) -> Option<Vec<Step>> {
    let (n, mut at, mut all) = (pivots.len(), 0, Vec::new());
    while at < n {
        let p = pivots[at];
        let from = if p < 0 { at + 1 } else { at };
        let to = (p.unsigned_abs() as usize).checked_sub(1)?;
        if to >= n || to < from || from >= n || pivots[from] != p {
            return None;
        }
        all.push(Step { at, from, to });
        at = from + 1;
    }
    Some(all)
}
