//! `P L U` by exchanges of rows, and systems solved from it.

use crate::triangular::{self, How};
use crate::{BAD_PIVOTS, Field, NoMemory, Operands, scratch};
use faer::dyn_stack::MemStack;
use faer::linalg::lu::partial_pivoting::factor as by;
use faer::{MatMut, Par};

pub(crate) fn factor<T: Field>(x: &mut Operands<'_, T>) -> Result<i32, NoMemory> {
    let (m, n) = (x.rows, x.cols);
    let k = m.min(n);
    if k == 0 {
        return Ok(0);
    }
    let original = x.a.to_vec();
    let (mut order, mut places) = (vec![0usize; m], vec![0usize; m]);
    let mut memory = scratch(by::lu_in_place_scratch::<usize, T>(m, n, Par::Seq, Default::default()))?;
    let a = MatMut::from_column_major_slice_mut(&mut x.a[..m * n], m, n);
    by::lu_in_place(a, &mut order, &mut places, Par::Seq, MemStack::new(&mut memory), Default::default());
    exchanges(&order, &mut x.pivots[..k]);
    // faer divides by every pivot; with one of 0 the numbers after it are lost.
    if (0..k).any(|i| x.a[i + i * m].tiny()) {
        x.a.copy_from_slice(&original);
        eliminate(x.a, m, n, &mut x.pivots[..k]);
    }
    let zero = (0..k).find(|i| x.a[i + i * m] == T::default());
    Ok(zero.map_or(0, |i| i as i32 + 1))
}

/// The exchanges, in turn, that bring rows into `order`: `out[i]` is the row that row `i` changes places with.
fn exchanges(order: &[usize], out: &mut [i32]) {
    let mut rows: Vec<usize> = (0..order.len()).collect();
    let mut place = rows.clone();
    for (i, pivot) in out.iter_mut().enumerate() {
        let p = place[order[i]];
        *pivot = p as i32 + 1;
        place.swap(rows[i], rows[p]);
        rows.swap(i, p);
    }
}

/// The textbook elimination, for matrices with a pivot of 0: their column stays as it is.
fn eliminate<T: Field>(a: &mut [T], m: usize, n: usize, pivots: &mut [i32]) {
    for (k, pivot) in pivots.iter_mut().enumerate() {
        let mut p = k;
        for i in k + 1..m {
            if a[i + k * m].size() > a[p + k * m].size() {
                p = i;
            }
        }
        *pivot = p as i32 + 1;
        if p != k {
            (0..n).for_each(|j| a.swap(k + j * m, p + j * m));
        }
        let divisor = a[k + k * m];
        if divisor != T::default() {
            (k + 1..m).for_each(|i| a[i + k * m] /= divisor);
        }
        for j in k + 1..n {
            let (left, right) = a.split_at_mut(j * m);
            let (factors, column) = (&left[k * m..(k + 1) * m], &mut right[..m]);
            let top = column[k];
            if top != T::default() {
                (k + 1..m).for_each(|i| column[i] -= factors[i] * top);
            }
        }
    }
}

pub(crate) fn solve<T: Field>(x: &mut Operands<'_, T>, adjoint: bool) -> i32 {
    let n = x.rows;
    let pivots = &x.pivots[..n];
    if pivots.iter().any(|p| *p < 1 || *p as usize > n) {
        return BAD_PIVOTS;
    }
    let lower = How { upper: false, unit: true, adjoint };
    let upper = How { upper: true, unit: false, adjoint };
    let swap = |b: &mut [T], i: usize| {
        let p = pivots[i] as usize - 1;
        if p != i {
            b.chunks_exact_mut(n).for_each(|column| column.swap(i, p));
        }
    };
    if n == 0 {
        return 0;
    }
    if adjoint {
        triangular::solve(x.a, n, x.b, x.b_cols, upper);
        triangular::solve(x.a, n, x.b, x.b_cols, lower);
        (0..n).rev().for_each(|i| swap(x.b, i));
    } else {
        (0..n).for_each(|i| swap(x.b, i));
        triangular::solve(x.a, n, x.b, x.b_cols, lower);
        triangular::solve(x.a, n, x.b, x.b_cols, upper);
    }
    0
}
