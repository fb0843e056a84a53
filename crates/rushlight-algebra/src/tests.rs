//! Each factorization multiplied out again, where slices and pivots are easy to get wrong.

use super::*;

/// An `m` by `n` matrix of irregular numbers.
fn matrix(m: usize, n: usize, salt: usize) -> Vec<f64> {
    (0..m * n).map(|i| ((i * i * 37 + salt * 11 + i * 5) % 101) as f64 / 27.0 - 1.87).collect()
}

fn product(a: &[f64], b: &[f64], m: usize, k: usize, n: usize) -> Vec<f64> {
    let at = |i: usize, j: usize| (0..k).map(|l| a[i + l * m] * b[l + j * k]).sum();
    (0..m * n).map(|i| at(i % m, i / m)).collect()
}

fn close(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    assert!(a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-9), "{a:?}\n{b:?}");
}

/// Runs a task; the second matrix has `b_cols` columns.
fn call(
    task: Task,
    a: &mut [f64],
    [rows, cols]: [usize; 2],
    b: &mut [f64],
    b_cols: usize,
    pivots: &mut [i32],
) -> i32 {
    let mut operands = Operands {
        a,
        rows,
        cols,
        b,
        b_cols,
        c: &mut [],
        c_cols: 0,
        values: &mut [],
        vectors: &mut [],
        pivots,
    };
    run(task, &mut operands).unwrap()
}

fn lu_of(original: &[f64], m: usize, n: usize) -> i32 {
    let k = m.min(n);
    let (mut a, mut pivots) = (original.to_vec(), vec![0; k]);
    let info = call(Task::Lu, &mut a, [m, n], &mut [], 0, &mut pivots);
    let l: Vec<f64> = (0..m * k)
        .map(|i| match (i % m).cmp(&(i / m)) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => 1.0,
            std::cmp::Ordering::Greater => a[i],
        })
        .collect();
    let u: Vec<f64> = (0..k * n).map(|i| if i % k <= i / k { a[i % k + i / k * m] } else { 0.0 }).collect();
    let mut back = product(&l, &u, m, k, n);
    for i in (0..k).rev() {
        back.chunks_exact_mut(m).for_each(|c| c.swap(i, pivots[i] as usize - 1));
    }
    close(&back, original);
    info
}

#[test]
fn lu_multiplies_out_also_where_a_pivot_is_zero() {
    for (m, n) in [(1, 1), (4, 4), (5, 3), (3, 5), (40, 40), (0, 3)] {
        assert_eq!(lu_of(&matrix(m, n, m), m, n), 0);
    }
    assert_eq!(lu_of(&[0.0; 9], 3, 3), 1);
    let mut half = matrix(6, 6, 3);
    half[12..18].fill(0.0);
    assert_eq!(lu_of(&half, 6, 6), 3);
}

#[test]
fn systems_from_lu_and_their_adjoint() {
    for adjoint in [false, true] {
        let (mut a, x) = (matrix(4, 4, 1), matrix(4, 2, 9));
        (0..4).for_each(|i| a[i * 5] += 4.0);
        let turned: Vec<f64> = (0..16).map(|i| a[i / 4 + i % 4 * 4]).collect();
        let mut b = product(if adjoint { &turned } else { &a }, &x, 4, 4, 2);
        let (mut lu, mut pivots) = (a.clone(), vec![0; 4]);
        call(Task::Lu, &mut lu, [4, 4], &mut [], 0, &mut pivots);
        call(Task::LuSolve { adjoint }, &mut lu, [4, 4], &mut b, 2, &mut pivots);
        close(&b, &x);
        assert_eq!(
            call(Task::LuSolve { adjoint }, &mut lu, [4, 4], &mut b, 2, &mut [0, 9, 1, 1]),
            BAD_PIVOTS
        );
    }
}

#[test]
fn systems_from_ldl_of_an_indefinite_matrix() {
    for n in [1, 2, 5, 9, 70] {
        let half = matrix(n, n, 4);
        let a: Vec<f64> = (0..n * n)
            .map(|i| if i % n == i / n { 0.0 } else { half[i] + half[i / n + i % n * n] })
            .collect();
        let a = if n == 1 { vec![-2.0] } else { a };
        let x = matrix(n, 2, 5);
        let mut b = product(&a, &x, n, n, 2);
        let (mut ld, mut pivots) = (a.clone(), vec![0; n]);
        assert_eq!(call(Task::Ldl { hermitian: true }, &mut ld, [n, n], &mut [], 0, &mut pivots), 0);
        assert_eq!(call(Task::LdlSolve { hermitian: true }, &mut ld, [n, n], &mut b, 2, &mut pivots), 0);
        close(&b, &x);
    }
}

#[test]
fn systems_from_ldl_of_complex_matrices() {
    let n = 9;
    let number = |i: usize, j: usize| {
        num_complex::Complex64::new(
            ((i * i * 7 + j * 11) % 13) as f64 - 6.0,
            ((i * 5 + j * j) % 7) as f64 - 3.0,
        )
    };
    for hermitian in [false, true] {
        let element = |i: usize, j: usize| match (i == j, hermitian) {
            (true, _) => num_complex::Complex64::default(),
            (false, true) => number(i, j) + number(j, i).conj(),
            (false, false) => number(i, j) + number(j, i),
        };
        let mut a: Vec<_> = (0..n * n).map(|i| element(i % n, i / n)).collect();
        let x: Vec<_> = (0..n).map(|i| number(i, 3)).collect();
        let mut b: Vec<_> = (0..n).map(|i| (0..n).map(|j| element(i, j) * x[j]).sum()).collect();
        let mut pivots = vec![0; n];
        for task in [Task::Ldl { hermitian }, Task::LdlSolve { hermitian }] {
            let (rows, cols, b_cols) = (n, n, 1);
            let mut operands = Operands {
                a: &mut a,
                rows,
                cols,
                b: &mut b,
                b_cols,
                c: &mut [],
                c_cols: 0,
                values: &mut [],
                vectors: &mut [],
                pivots: &mut pivots,
            };
            assert_eq!(run(task, &mut operands), Ok(0));
        }
        assert!(b.iter().zip(&x).all(|(b, x)| (b - x).norm() < 1e-9), "{b:?}");
    }
}

#[test]
fn what_is_not_finite_is_an_answer() {
    let mut a = [1.0, f64::NAN, f64::NAN, 1.0];
    for task in [Task::Svd, Task::Eig, Task::Eigh { vectors: true }] {
        assert_eq!(call(task, &mut a, [2, 2], &mut [], 0, &mut []), NOT_FINITE);
    }
    assert!(call(Task::Cholesky, &mut a, [2, 2], &mut [], 0, &mut []) > 0);
}
