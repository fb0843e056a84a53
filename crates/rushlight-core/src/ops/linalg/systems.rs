//! Systems for the laws: square matrices with right-hand sides, and their factors.

use super::factor::lu_factor_ex;
use super::samples::{definite, regular, squares, with};
use crate::Tensor;
use crate::op::{Dims, Sample, Value, samples};

/// Matrices with right-hand sides, some of them vectors, one batch broadcast.
const SYSTEMS: [[&[usize]; 2]; 5] = [
    [&[3, 3], &[3, 2]],
    [&[2, 3, 3], &[2, 3, 1]],
    [&[1, 1], &[1, 1]],
    [&[0, 0], &[0, 2]],
    [&[0, 2, 2], &[0, 2, 3]],
];
const BROADCAST: [[&[usize]; 2]; 3] =
    [[&[2, 3, 3], &[3, 2]], [&[3, 3], &[2, 3, 1]], [&[2, 1, 2, 2], &[3, 2, 2]]];

fn systems(cases: &[[&[usize]; 2]], rest: &[Value]) -> Vec<Sample> {
    let each = |[a, b]: &[&[usize]; 2]| {
        let rhs = Value::Tensor(samples::values(b, 5).ok()?);
        with(regular(a, 4), std::iter::once(rhs).chain(rest.iter().cloned()), a.iter().all(|n| *n > 0))
    };
    cases.iter().filter_map(each).collect()
}
pub(super) fn system_samples() -> Vec<Sample> {
    // Only the solution has a gradient; the factors are there for it.
    systems(&SYSTEMS, &[]).into_iter().map(|s| Sample { grad: false, ..s }).collect()
}
pub(super) fn solve_ex_samples() -> Vec<Sample> {
    systems(&BROADCAST, &[Value::Bool(true), Value::Bool(false)])
}
pub(super) fn solve_samples() -> Vec<Sample> {
    let vectors: [[&[usize]; 2]; 3] = [[&[3, 3], &[3]], [&[2, 3, 3], &[2, 3]], [&[2, 3, 3], &[3]]];
    let right: [[&[usize]; 2]; 2] = [[&[3, 3], &[2, 3]], [&[2, 2, 2], &[1, 2]]];
    let yes = [Value::Bool(true)];
    [
        systems(&SYSTEMS, &yes),
        systems(&BROADCAST, &yes),
        systems(&vectors, &yes),
        systems(&right, &[Value::Bool(false)]),
    ]
    .concat()
}
pub(super) fn inv_ex_samples() -> Vec<Sample> {
    squares(&[Value::Bool(false)], true)
}
pub(super) fn triangular_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for k in 0..8 {
        let flags = [k & 1, k & 2, k & 4].map(|bit| Value::Bool(bit != 0));
        all.extend(systems(&SYSTEMS[..if k == 0 { 5 } else { 2 }], &flags));
    }
    all
}
pub(super) fn solve_triangular_samples() -> Vec<Sample> {
    let flags = |upper, left| [Value::Bool(upper), Value::Bool(left), Value::Bool(false)];
    let right: [[&[usize]; 2]; 1] = [[&[3, 3], &[2, 3]]];
    [systems(&BROADCAST, &flags(true, true)), systems(&right, &flags(false, false))].concat()
}
fn swapped(samples: Vec<Sample>) -> Vec<Sample> {
    let swap = |mut s: Sample| {
        s.args.swap(0, 1);
        s
    };
    samples.into_iter().map(swap).collect()
}
pub(super) fn triangular_solve_samples() -> Vec<Sample> {
    let flags = |transpose| [Value::Bool(true), Value::Bool(transpose), Value::Bool(false)];
    let all = swapped([systems(&SYSTEMS, &flags(false)), systems(&BROADCAST, &flags(true))].concat());
    // The copy of A has no gradient here.
    all.into_iter().map(|s| Sample { grad: false, ..s }).collect()
}
/// A matrix's factors in its place.
fn factored(samples: Vec<Sample>) -> Vec<Sample> {
    let each = |mut s: Sample| {
        let a = crate::op::arg::<Tensor>("lu_solve", &s.args, 0).ok()?.clone();
        let (lu, pivots, _) = lu_factor_ex(&a, true, false).ok()?;
        s.args[0] = Value::Tensor(lu);
        s.args.insert(1, Value::Tensor(pivots));
        Some(s)
    };
    samples.into_iter().filter_map(each).collect()
}
pub(super) fn lu_by_samples() -> Vec<Sample> {
    factored([systems(&SYSTEMS, &[Value::Bool(false)]), systems(&SYSTEMS, &[Value::Bool(true)])].concat())
}
pub(super) fn lu_solve_samples() -> Vec<Sample> {
    let right: [[&[usize]; 2]; 1] = [[&[3, 3], &[2, 3]]];
    let flags = |left, adjoint| [Value::Bool(left), Value::Bool(adjoint)];
    factored([systems(&BROADCAST, &flags(true, false)), systems(&right, &flags(false, true))].concat())
}
pub(super) fn old_lu_solve_samples() -> Vec<Sample> {
    let turn = |mut s: Sample| {
        s.args.rotate_right(1);
        s
    };
    factored(systems(&SYSTEMS, &[])).into_iter().map(turn).collect()
}
pub(super) fn cholesky_solve_samples() -> Vec<Sample> {
    // The factor's other triangle is not read, yet has a gradient, as in torch: values only.
    let all = [systems(&SYSTEMS, &[Value::Bool(false)]), systems(&BROADCAST, &[Value::Bool(true)])].concat();
    swapped(all).into_iter().map(|s| Sample { grad: false, ..s }).collect()
}
pub(super) fn cholesky_inverse_samples() -> Vec<Sample> {
    [squares(&[Value::Bool(false)], false), squares(&[Value::Bool(true)], false)].concat()
}
pub(super) fn ldl_solve_samples() -> Vec<Sample> {
    let each = |n: usize| {
        let (ld, pivots) = definite(&[2, n, n], 4).ok()?.linalg_ldl_factor().ok()?;
        let rest =
            [Value::Tensor(pivots), Value::Tensor(samples::values(&[2, n, 2], 1).ok()?), Value::Bool(true)];
        with(Ok(ld), rest, false)
    };
    [3, 1, 6].into_iter().filter_map(each).collect()
}
pub(super) fn tensorsolve_samples() -> Vec<Sample> {
    let each = |(a, b, d): (&[usize], &[usize], Dims)| {
        let system = regular(&[6, 6], 2).and_then(|x| x.reshape(a));
        with(system, [Value::Tensor(samples::values(b, 3).ok()?), Value::Dims(d)], true)
    };
    [(&[2, 3, 6][..], &[2, 3][..], Dims::All), (&[2, 3, 3, 2], &[3, 2], [0, 1].into())]
        .into_iter()
        .filter_map(each)
        .collect()
}
pub(super) fn tensorinv_samples() -> Vec<Sample> {
    [(&[2, 3, 6][..], 2), (&[6, 3, 2], 1)]
        .into_iter()
        .filter_map(|(s, ind)| with(regular(&[6, 6], 6).and_then(|x| x.reshape(s)), [Value::Int(ind)], true))
        .collect()
}
