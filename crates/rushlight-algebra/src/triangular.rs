//! Triangular systems.

use crate::Field;
use faer::linalg::triangular_solve as by;
use faer::{Conj, MatMut, MatRef, Par};

/// Which triangle, and how it is meant.
#[derive(Clone, Copy)]
pub(crate) struct How {
    pub(crate) upper: bool,
    pub(crate) unit: bool,
    pub(crate) adjoint: bool,
}

/// `b = a^-1 b` for the `n` by `n` triangle of `a`.
pub(crate) fn solve<T: Field>(a: &[T], n: usize, b: &mut [T], b_cols: usize, how: How) {
    if n == 0 || b_cols == 0 {
        return;
    }
    let a = MatRef::from_column_major_slice(&a[..n * n], n, n);
    corner(a, MatMut::from_column_major_slice_mut(&mut b[..n * b_cols], n, b_cols), how);
}

/// The same for matrices that are parts of others.
pub(crate) fn corner<T: Field>(a: MatRef<'_, T>, b: MatMut<'_, T>, how: How) {
    let (a, conj) = if how.adjoint { (a.transpose(), Conj::Yes) } else { (a, Conj::No) };
    match (how.upper != how.adjoint, how.unit) {
        (true, true) => by::solve_unit_upper_triangular_in_place_with_conj(a, conj, b, Par::Seq),
        (true, false) => by::solve_upper_triangular_in_place_with_conj(a, conj, b, Par::Seq),
        (false, true) => by::solve_unit_lower_triangular_in_place_with_conj(a, conj, b, Par::Seq),
        (false, false) => by::solve_lower_triangular_in_place_with_conj(a, conj, b, Par::Seq),
    }
}
