//! Factors with orthonormal columns: `QR` and singular values.

use crate::{Field, NOT_FINITE, NoMemory, Operands, scratch};
use faer::dyn_stack::MemStack;
use faer::linalg::qr::no_pivoting::factor as by_qr;
use faer::linalg::svd::{self as by_svd, ComputeSvdVectors};
use faer::{Mat, MatMut, MatRef, Par};

pub(crate) fn qr<T: Field>(x: &mut Operands<'_, T>) -> Result<i32, NoMemory> {
    let (m, n) = (x.rows, x.cols);
    let k = m.min(n);
    if k == 0 {
        return Ok(0);
    }
    if !T::IS_REAL {
        reflect(x.a, m, n, x.b);
        return Ok(0);
    }
    let block = by_qr::recommended_block_size::<T>(m, n);
    let mut factors = Mat::<T>::zeros(block, k);
    let mut memory = scratch(by_qr::qr_in_place_scratch::<T>(m, n, block, Par::Seq, Default::default()))?;
    let a = MatMut::from_column_major_slice_mut(&mut x.a[..m * n], m, n);
    by_qr::qr_in_place(a, factors.as_mut(), Par::Seq, MemStack::new(&mut memory), Default::default());
    for j in 0..k {
        // faer keeps 1 / tau, infinite where nothing is reflected.
        let inverse = factors[(j % block, j)];
        x.b[j] = if inverse.size().is_infinite() { T::default() } else { T::one_impl() / inverse };
    }
    Ok(0)
}

/// LAPACK's reflections of complex columns, which leave a real diagonal; faer's keep its phase, so
/// that the factors would be others than those everybody knows.
fn reflect<T: Field>(a: &mut [T], m: usize, n: usize, tau: &mut [T]) {
    for (k, tau) in tau.iter_mut().enumerate().take(m.min(n)) {
        let (left, right) = a.split_at_mut((k + 1) * m);
        let column = &mut left[k * m + k..];
        let (re, im) = column[0].parts();
        let tail = length(&column[1..]);
        *tau = T::default();
        if tail == 0.0 && im == 0.0 {
            continue;
        }
        let beta = -re.hypot(im).hypot(tail).copysign(re);
        *tau = T::from_parts((beta - re) / beta, -im / beta);
        let scale = T::one_impl() / (column[0] - T::from_parts(beta, 0.0));
        column[1..].iter_mut().for_each(|x| *x *= scale);
        column[0] = T::from_parts(beta, 0.0);
        let (tail, weight) = (&column[1..], tau.conjugate());
        for other in right.chunks_exact_mut(m) {
            let (head, rest) = other[k..].split_at_mut(1);
            let dot = tail.iter().zip(&*rest).fold(head[0], |sum, (v, x)| sum + v.conjugate() * *x) * weight;
            head[0] -= dot;
            rest.iter_mut().zip(tail).for_each(|(x, v)| *x -= *v * dot);
        }
    }
}

/// The Euclidean length, in the scale of the largest number.
fn length<T: Field>(x: &[T]) -> f64 {
    let largest = x.iter().fold(0.0f64, |m, v| m.max(v.size()));
    if largest == 0.0 || !largest.is_finite() {
        return x.iter().map(|v| v.size()).sum();
    }
    let square = |(re, im): (f64, f64)| (re / largest).powi(2) + (im / largest).powi(2);
    largest * x.iter().map(|v| square(v.parts())).sum::<f64>().sqrt()
}

pub(crate) fn svd<T: Field>(x: &mut Operands<'_, T>) -> Result<i32, NoMemory> {
    let (m, n) = (x.rows, x.cols);
    let k = m.min(n);
    if x.a.iter().any(|v| !v.finite()) {
        return Ok(NOT_FINITE);
    }
    if k == 0 {
        unit_columns(x.b, m, x.b_cols);
        unit_columns(x.c, n, x.c_cols);
        return Ok(0);
    }
    let wanted = |columns: usize| match columns {
        0 => ComputeSvdVectors::No,
        c if c == k => ComputeSvdVectors::Thin,
        _ => ComputeSvdVectors::Full,
    };
    let need =
        by_svd::svd_scratch::<T>(m, n, wanted(x.b_cols), wanted(x.c_cols), Par::Seq, Default::default());
    let mut memory = scratch(need)?;
    let mut values = vec![T::default(); k];
    let a = MatRef::from_column_major_slice(&x.a[..m * n], m, n);
    let part = |slice, rows, columns| {
        (columns > 0).then(|| MatMut::from_column_major_slice_mut(slice, rows, columns))
    };
    let done = by_svd::svd(
        a,
        faer::diag::DiagMut::from_slice_mut(&mut values),
        part(&mut x.b[..m * x.b_cols], m, x.b_cols),
        part(&mut x.c[..n * x.c_cols], n, x.c_cols),
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    );
    x.values.iter_mut().zip(&values).for_each(|(to, from)| *to = from.re());
    Ok(if done.is_ok() { 0 } else { k as i32 + 1 })
}

/// Columns of the unit matrix.
fn unit_columns<T: Field>(b: &mut [T], rows: usize, columns: usize) {
    b.fill(T::default());
    (0..rows.min(columns)).for_each(|i| b[i + i * rows] = T::one_impl());
}
