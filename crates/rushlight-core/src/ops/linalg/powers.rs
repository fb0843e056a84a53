//! Powers, exponentials and products of matrices, and of vectors.

use super::samples::{squares, with};
use super::{adjoint, matrix, unit};
use crate::op::{Sample, Value, samples};
use crate::{DType, Device, Result, Tensor, bail, ensure};
use smallvec::smallvec;

ops! { POWERS;
    /// The `n`-th power of square matrices, by repeated squaring; of their inverse for a negative `n`.
    fn matrix_power as matrix_power | linalg_matrix_power [out] (input: Tensor, n: Int) -> Tensor {
        run: super::matrix_power(input, *n),
        samples: power_samples,
    }
    /// The exponential of square matrices: a Padé quotient of the matrix over a power of two, squared as often
    /// (Higham, SIAM J. Matrix Anal. Appl. 26, 2005).
    fn matrix_exp as matrix_exp | linalg_matrix_exp (input: Tensor) -> Tensor {
        run: exponential(input),
        grad: [reads inputs 0; outputs] |cx| {
            // The derivative stands beside the diagonal of the exponential of a matrix of blocks.
            let (a, g) = (adjoint(&cx.input(0)?)?, cx.grad(0)?);
            let n = a.shape()[a.dim() - 1] as i64;
            let (top, low) = (Tensor::cat(&[&a, &g], -1)?, Tensor::cat(&[&Tensor::zeros_like(&a)?, &a], -1)?);
            let whole = Tensor::cat(&[&top, &low], -2)?.matrix_exp()?;
            Ok(smallvec![Some(whole.narrow(-2, 0, n)?.narrow(-1, n, n)?)])
        },
        samples: exp_samples,
    }
    /// The product of two or more matrices in the order that takes the fewest multiplications; the first and the last may be vectors.
    fn linalg_multi_dot [out] (tensors: Tensors) -> Tensor {
        run: multi_dot("linalg_multi_dot", tensors),
        samples: chain_samples,
    }
    /// The product of matrices in the order that takes the fewest multiplications.
    fn chain_matmul [out] (matrices: Tensors) -> Tensor {
        run: {
            let flat = matrices.iter().find(|t| t.dim() != 2);
            ensure!(flat.is_none(), Runtime, "chain_matmul", "takes matrices, not shape {:?}", flat.map_or(&[][..], |t| t.shape()));
            match matrices.as_slice() {
                [one] => Ok(one.clone()),
                all => multi_dot("chain_matmul", all),
            }
        },
        samples: chain_samples,
    }
    /// Rising powers of each element from 0 to `N - 1` (`N` is the length by default), a row to an element.
    fn linalg_vander / linalg_vander_with (input: Tensor; N: OptInt = None) -> Tensor {
        run: vandermonde("linalg_vander", input, *N),
        samples: vander_samples,
    }
    /// Powers of the elements of a vector, a row to an element: falling to 0, or rising with `increasing`.
    fn vander (x: Tensor, N: OptInt = None, increasing: Bool = false) -> Tensor {
        run: {
            ensure!(x.dim() == 1, Runtime, "vander", "takes a vector, not shape {:?}", x.shape());
            let rising = powers_of("vander", x, N.unwrap_or(x.numel() as i64))?;
            if *increasing { Ok(rising) } else { rising.flip(-1) }
        },
        samples: old_vander_samples,
    }
    /// Inner products along `dim`, the first operand conjugated; shapes broadcast.
    fn linalg_vecdot / linalg_vecdot_with [out] (input: Tensor, y: Tensor; dim: Int = -1) -> Tensor {
        run: vecdot(input, y, *dim),
        samples: vecdot_samples,
    }
    /// The cross product of vectors of 3 along `dim`; shapes broadcast.
    fn linalg_cross / linalg_cross_with [out] (input: Tensor, other: Tensor; dim: Int = -1) -> Tensor {
        run: input.cross(other, Some(*dim)).map_err(|e| e.in_op("linalg_cross")),
        samples: cross_samples,
    }
    /// The diagonals of the matrices in two dimensions, as the last dimension of a view.
    fn linalg_diagonal / linalg_diagonal_with (input: Tensor; offset: Int = 0, dim1: Int = -2, dim2: Int = -1) -> Tensor {
        view: input.diagonal(*offset as isize, *dim1 as isize, *dim2 as isize),
        samples: diagonal_samples,
    }
}

fn matrix_power(a: &Tensor, n: i64) -> Result<Tensor> {
    let op = "matrix_power";
    let [rows, cols] = matrix(op, a)?;
    ensure!(rows == cols, Runtime, op, "takes square matrices, not shape {:?}", a.shape());
    ensure!(a.dtype() != DType::Bool, NotImplemented, op, "is not defined for bool; convert with to_dtype");
    if n == 0 {
        // Part of the graph, with a gradient of 0.
        return a.copy()?.copy_(&unit(rows, rows, a)?.expand(a.shape())?);
    }
    let mut base = if n < 0 { a.inverse().map_err(|e| e.in_op(op))? } else { a.clone() };
    let (mut left, mut result): (u64, Option<Tensor>) = (n.unsigned_abs(), None);
    while left > 0 {
        if left & 1 == 1 {
            result = Some(match result {
                Some(r) => r.matmul(&base)?,
                None => base.clone(),
            });
        }
        left >>= 1;
        if left > 0 {
            base = base.matmul(&base)?;
        }
    }
    match result {
        // The first power is a copy, as all others are.
        Some(r) if r.is(a) => r.copy(),
        Some(r) => Ok(r),
        None => bail!(Runtime, op, "no power {n}"),
    }
}

/// Coefficients of the numerator of the quotient of degree 13, and up to which norm it serves.
const THIRTEEN: [f64; 14] = [
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
];
const REACH: f64 = 5.371920351148152;

fn exponential(a: &Tensor) -> Result<Tensor> {
    let op = "matrix_exp";
    let [n, cols] = matrix(op, a)?;
    ensure!(n == cols, Runtime, op, "takes square matrices, not shape {:?}", a.shape());
    ensure!(
        a.dtype().is_differentiable(),
        NotImplemented,
        op,
        "is not defined for {}; convert with to_dtype to a float",
        a.dtype()
    );
    // What is squared again and again loses digits: singles are computed in double precision.
    let wide = match a.dtype() {
        DType::F64 | DType::C128 => None,
        DType::C64 => Some(DType::C128),
        _ => Some(DType::F64),
    };
    if let Some(wide) = wide {
        return exponential(&a.to_dtype(wide)?)?.to_dtype(a.dtype());
    }
    if a.numel() == 0 || a.device() == Device::META {
        return Tensor::empty_with(a.shape(), Some(a.dtype()), Some(a.device()));
    }
    let a = a.detach()?;
    let norm = a.linalg_matrix_norm(1, [-2, -1], true)?;
    // How often each matrix is halved; one that is not finite stays.
    let halvings = norm.div(REACH)?.log2()?.ceil()?.clamp_min(0.0)?;
    let halvings = Tensor::where_cond(&halvings.isfinite()?, &halvings, 0.0)?;
    let scale = Tensor::exp2(&halvings.neg()?)?;
    let small = a.mul(&scale)?;
    let mut x = quotient(&small)?;
    let most = halvings.amax((), false)?.item()?.to_f64();
    let mut done = 0.0;
    while done < most {
        let again = halvings.gt(done)?;
        x = Tensor::where_cond(&again, &x.matmul(&x)?, &x)?;
        done += 1.0;
    }
    x.contiguous()
}

/// `(V - U)^-1 (V + U)`, where `U` has the odd powers and `V` the even ones.
fn quotient(a: &Tensor) -> Result<Tensor> {
    let n = a.shape()[a.dim() - 1];
    let square = a.matmul(a)?;
    let mut power = unit(n, n, a)?.expand(a.shape())?;
    let b = &THIRTEEN;
    let (mut odd, mut even) = (power.mul(b[1])?, power.mul(b[0])?);
    for pair in b[2..].chunks_exact(2) {
        power = power.matmul(&square)?;
        even = even.add(&power.mul(pair[0])?)?;
        odd = odd.add(&power.mul(pair[1])?)?;
    }
    let odd = a.matmul(&odd)?;
    Ok(even.sub(&odd)?.solve_parts(&even.add(&odd)?)?.0)
}

fn multi_dot(op: &'static str, tensors: &[Tensor]) -> Result<Tensor> {
    let [first, .., last] = tensors else {
        bail!(Runtime, op, "takes two or more tensors, not {}", tensors.len())
    };
    let row = first.dim() == 1;
    let column = last.dim() == 1;
    let mut all: Vec<Tensor> = tensors.to_vec();
    if row {
        all[0] = first.unsqueeze(0)?;
    }
    let end = all.len() - 1;
    if column {
        all[end] = last.unsqueeze(-1)?;
    }
    if let Some(t) = all.iter().find(|t| t.dim() != 2) {
        bail!(Runtime, op, "takes matrices, and vectors at the ends, not shape {:?}", t.shape());
    }
    for pair in all.windows(2) {
        super::same_dtype(op, &pair[0], &pair[1])?;
        let fits = pair[0].shape()[1] == pair[1].shape()[0];
        ensure!(fits, Runtime, op, "shapes {:?} and {:?} do not fit", pair[0].shape(), pair[1].shape());
    }
    let mut sizes: Vec<f64> = all.iter().map(|t| t.shape()[0] as f64).collect();
    sizes.push(all[end].shape()[1] as f64);
    let cuts = best_cuts(&sizes);
    let product = multiply(&all, &cuts, 0, end)?;
    let product = if row { product.squeeze(0)? } else { product };
    if column { product.squeeze(-1) } else { Ok(product) }
}

/// For the product of matrices `i` to `j` the last of its left factor, so that all take the fewest
/// multiplications; matrix `i` is `sizes[i]` by `sizes[i + 1]`.
fn best_cuts(sizes: &[f64]) -> Vec<Vec<usize>> {
    let n = sizes.len() - 1;
    let (mut cost, mut cut) = (vec![vec![0.0; n]; n], vec![vec![0; n]; n]);
    for length in 1..n {
        for i in 0..n - length {
            let j = i + length;
            let price = |k: usize, cost: &[Vec<f64>]| {
                cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
            };
            let best = (i..j).min_by(|a, b| price(*a, &cost).total_cmp(&price(*b, &cost))).unwrap_or(i);
            (cost[i][j], cut[i][j]) = (price(best, &cost), best);
        }
    }
    cut
}

fn multiply(all: &[Tensor], cuts: &[Vec<usize>], i: usize, j: usize) -> Result<Tensor> {
    if i == j {
        return Ok(all[i].clone());
    }
    let k = cuts[i][j];
    multiply(all, cuts, i, k)?.matmul(&multiply(all, cuts, k + 1, j)?)
}

fn vandermonde(op: &'static str, x: &Tensor, count: Option<i64>) -> Result<Tensor> {
    let x = &if x.dim() == 0 { x.unsqueeze(0)? } else { x.clone() };
    let n = count.unwrap_or(x.shape()[x.dim() - 1] as i64);
    ensure!(n > 1, Runtime, op, "N must be greater than 1, not {n}");
    powers_of(op, x, n)
}

/// Running products of 1, x, x, ...
fn powers_of(op: &'static str, x: &Tensor, n: i64) -> Result<Tensor> {
    ensure!(n >= 0, Runtime, op, "N must not be negative, but is {n}");
    ensure!(x.dtype() != DType::Bool, NotImplemented, op, "is not defined for bool; convert with to_dtype");
    let x = if x.dtype().is_integral() { x.to_dtype(DType::I64)? } else { x.clone() };
    let mut shape: Vec<i64> = x.shape().iter().map(|n| *n as i64).collect();
    shape.push(n.min(1));
    let one = Tensor::ones_with(shape.as_slice(), Some(x.dtype()), Some(x.device()))?;
    if n <= 1 {
        return Ok(one);
    }
    if let Some(last) = shape.last_mut() {
        *last = n - 1;
    }
    let rest = x.unsqueeze(-1)?.expand(shape.as_slice())?.cumprod(-1)?;
    Tensor::cat(&[&one, &rest], -1)
}

fn vecdot(x: &Tensor, y: &Tensor, dim: i64) -> Result<Tensor> {
    let op = "linalg_vecdot";
    ensure!(
        x.dtype().is_differentiable(),
        Runtime,
        op,
        "takes floats and complex numbers, not {}; convert with to_dtype",
        x.dtype()
    );
    super::same_dtype(op, x, y)?;
    let joint = crate::layout::broadcast_shapes(op, &[x.shape(), y.shape()])?;
    crate::layout::existing_dim(op, dim as isize, joint.len())?;
    x.conj()?.mul(y)?.sum(dim, false)
}

fn power_samples() -> Vec<Sample> {
    [0, 1, 2, 5, -1, -3].into_iter().flat_map(|n| squares(&[Value::Int(n)], true)).collect()
}
fn exp_samples() -> Vec<Sample> {
    let mut all = squares(&[], true);
    // One that is halved several times, beside one that is not.
    let apart =
        samples::values(&[2, 2, 2], 1).and_then(|x| x.mul(&Tensor::from_vec(vec![0.1f64, 20.0], [2, 1, 1])?));
    all.extend(with(apart, [], false));
    all
}
fn chain_samples() -> Vec<Sample> {
    let chains: [&[&[usize]]; 3] =
        [&[&[2, 3], &[3, 4]], &[&[2, 3], &[3, 1], &[1, 4], &[4, 2]], &[&[0, 2], &[2, 3], &[3, 0]]];
    let each = |shapes: &&[&[usize]]| {
        let list: Result<Vec<Tensor>> =
            shapes.iter().enumerate().map(|(k, s)| samples::values(s, k)).collect();
        Some(Sample { args: smallvec![Value::Tensors(list.ok()?)], grad: true })
    };
    chains.iter().filter_map(each).collect()
}
fn vander_samples() -> Vec<Sample> {
    [(&[4][..], None), (&[2, 3], Some(2)), (&[3], Some(5))]
        .into_iter()
        .filter_map(|(s, n)| with(samples::values(s, 2), [Value::OptInt(n)], true))
        .collect()
}
fn old_vander_samples() -> Vec<Sample> {
    [(None, false), (Some(2), true), (Some(1), false), (Some(0), false)]
        .into_iter()
        .filter_map(|(n, up)| {
            with(samples::values(&[3], 2), [Value::OptInt(n), Value::Bool(up)], n != Some(0))
        })
        .collect()
}
fn vecdot_samples() -> Vec<Sample> {
    [(&[4][..], &[4][..], -1), (&[2, 3], &[3], 1), (&[2, 3], &[2, 1], 0), (&[2, 0], &[2, 0], 1)]
        .into_iter()
        .filter_map(|(a, b, d)| {
            let other = Value::Tensor(samples::values(b, 4).ok()?);
            with(samples::values(a, 1), [other, Value::Int(d)], true)
        })
        .collect()
}
fn cross_samples() -> Vec<Sample> {
    [(&[2, 3][..], &[2, 3][..], -1), (&[3, 2], &[3, 1], 0), (&[0, 3], &[1, 3], 1)]
        .into_iter()
        .filter_map(|(a, b, d)| {
            let other = Value::Tensor(samples::values(b, 4).ok()?);
            with(samples::values(a, 1), [other, Value::Int(d)], true)
        })
        .collect()
}
fn diagonal_samples() -> Vec<Sample> {
    [(&[2, 3, 4][..], [0, -2, -1]), (&[3, 3], [1, 0, 1]), (&[2, 3, 2], [-1, 0, 2])]
        .into_iter()
        .filter_map(|(s, [k, a, b])| with(samples::values(s, 1), [k, a, b].map(Value::Int), true))
        .collect()
}
