//! Products made of matrix products and outer ones.

use super::matmul::{scaled, with_factors};
use super::view::named;
use crate::layout::existing_dim;
use crate::op::{Dims, Sample, Value, samples};
use crate::{Category, Number, Result, Shape, Tensor, ensure};
use smallvec::{SmallVec, smallvec};

ops! { PRODUCT;
    /// `beta * input + alpha * sum(batch1[i] @ batch2[i])`; `input` broadcasts to a matrix.
    fn addbmm / addbmm_with, inplace addbmm_ [out] (input: Tensor, batch1: Tensor, batch2: Tensor; beta: Number = 1, alpha: Number = 1) -> Tensor {
        run: scaled("addbmm", input, &summed(batch1, batch2)?, *beta, *alpha),
        samples: addbmm_samples,
    }
    /// `beta * input + alpha * outer(vec1, vec2)`; promotes, and `input` broadcasts.
    fn addr / addr_with, inplace addr_ [out casts] (input: Tensor, vec1: Tensor, vec2: Tensor; beta: Number = 1, alpha: Number = 1) -> Tensor {
        run: super::addr(input, vec1, vec2, *beta, *alpha),
        samples: addr_samples,
    }
    /// Inner product of two vectors, the first one conjugated.
    fn vdot [out] (input: Tensor, other: Tensor) -> Tensor {
        run: input.conj_physical()?.dot(other).map_err(|e| e.in_op("vdot")),
        samples: vector_samples,
    }
    /// Sums of products over the last dimension of both; with a number, the product.
    fn inner [out] (input: Tensor, other: Tensor) -> Tensor {
        run: super::inner(input, other),
        samples: inner_samples,
    }
    /// Sums of products over dimension `dims_self[k]` of one and `dims_other[k]` of the other, for all
    /// k together. The other dimensions of the first come before those of the second.
    ///
    /// ```
    /// # use rushlight::Tensor;
    /// let (a, b) = (Tensor::ones([2, 3, 4])?, Tensor::ones([4, 5, 3])?);
    /// assert_eq!(a.tensordot(&b, [1, 2], [2, 0])?.shape(), [2, 5]);
    /// # Ok::<(), rushlight::Error>(())
    /// ```
    fn tensordot [out] (input: Tensor, other: Tensor, dims_self: Dims, dims_other: Dims) -> Tensor {
        run: super::tensordot("tensordot", input, other, named("tensordot", dims_self)?, named("tensordot", dims_other)?),
        samples: tensordot_samples,
    }
    /// The Kronecker product: each element of `input` becomes that element times `other`.
    fn kron [out casts] (input: Tensor, other: Tensor) -> Tensor {
        run: super::kron(input, other),
        samples: kron_samples,
    }
}

/// The batch and the inner dimension as one, so that sums of halves round once.
fn summed(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let fits = a.dim() == 3 && b.dim() == 3 && a.shape()[0] == b.shape()[0] && a.shape()[2] == b.shape()[1];
    ensure!(
        fits,
        Runtime,
        "addbmm",
        "takes two batches of as many matrices that fit, not shapes {:?} and {:?}",
        a.shape(),
        b.shape()
    );
    let inner = a.shape()[0].saturating_mul(a.shape()[2]);
    let a = a.permute([1, 0, 2])?.reshape([a.shape()[1], inner])?;
    a.matmul(&b.reshape([inner, b.shape()[2]])?).map_err(|e| e.in_op("addbmm"))
}

fn addr(input: &Tensor, a: &Tensor, b: &Tensor, beta: Number, alpha: Number) -> Result<Tensor> {
    let product = a.outer(b).map_err(|e| e.in_op("addr"))?;
    let dtype = crate::op::result_type(&[input.into(), (&product).into()]).map_err(|e| e.in_op("addr"))?;
    let sum = scaled("addr", &input.to_dtype(dtype)?, &product.to_dtype(dtype)?, beta, alpha)?;
    // Factors would make integers of truth values.
    if dtype == crate::DType::Bool { sum.to_dtype(dtype) } else { Ok(sum) }
}

fn inner(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    if x.dim() == 0 || y.dim() == 0 {
        return x.mul(y).map_err(|e| e.in_op("inner"));
    }
    ensure!(
        x.shape().last() == y.shape().last(),
        Runtime,
        "inner",
        "the last dimensions of shapes {:?} and {:?} must be equal",
        x.shape(),
        y.shape()
    );
    tensordot("inner", x, y, &[-1], &[-1])
}

fn tensordot(op: &'static str, x: &Tensor, y: &Tensor, ours: &[isize], theirs: &[isize]) -> Result<Tensor> {
    ensure!(
        ours.len() == theirs.len(),
        Runtime,
        op,
        "{} dimensions of one and {} of the other; name as many of both",
        ours.len(),
        theirs.len()
    );
    let (mut x, mut y) = (x.clone(), y.clone());
    let resolve = |t: &Tensor, dims: &[isize]| -> Result<SmallVec<[usize; 6]>> {
        crate::layout::dims_mask(op, dims, t.dim())?; // none twice
        dims.iter().map(|d| existing_dim(op, *d, t.dim())).collect()
    };
    let (ours, theirs) = (resolve(&x, ours)?, resolve(&y, theirs)?);
    for (a, b) in ours.iter().zip(&theirs) {
        let (m, n) = (x.shape()[*a], y.shape()[*b]);
        // A size of 1 meets each place of the other, as in arithmetic.
        match (m, n) {
            _ if m == n => {}
            (1, _) => y = y.sum(*b, true)?.to_dtype(y.dtype())?,
            (_, 1) => x = x.sum(*a, true)?.to_dtype(x.dtype())?,
            _ => crate::bail!(
                Runtime,
                op,
                "dimension {a} of shape {:?} and dimension {b} of shape {:?} must be equal",
                x.shape(),
                y.shape()
            ),
        }
    }
    let kept = |t: &Tensor, used: &[usize]| -> SmallVec<[usize; 6]> {
        (0..t.dim()).filter(|d| !used.contains(d)).collect()
    };
    let (left, right) = (kept(&x, &ours), kept(&y, &theirs));
    let sizes = |t: &Tensor, dims: &[usize]| -> Shape { dims.iter().map(|d| t.shape()[*d]).collect() };
    let product = |s: &[usize]| s.iter().fold(1usize, |n, k| n.saturating_mul(*k));
    let (rows, columns, between) = (sizes(&x, &left), sizes(&y, &right), product(&sizes(&x, &ours)));
    let order = |a: &[usize], b: &[usize]| -> Vec<usize> { a.iter().chain(b).copied().collect() };
    let a = x.permute(order(&left, &ours))?.reshape([product(&rows), between])?;
    let b = y.permute(order(&theirs, &right))?.reshape([between, product(&columns)])?;
    let shape: Shape = rows.into_iter().chain(columns).collect();
    a.matmul(&b).map_err(|e| e.in_op(op))?.reshape(shape)
}

fn kron(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    let rank = x.dim().max(y.dim());
    let padded = |t: &Tensor| -> Shape {
        std::iter::repeat_n(1, rank - t.dim()).chain(t.shape().iter().copied()).collect()
    };
    let (a, b) = (padded(x), padded(y));
    let spread = |s: &[usize], own_first: bool| -> Shape {
        s.iter().flat_map(|n| if own_first { [*n, 1] } else { [1, *n] }).collect()
    };
    let all =
        x.reshape(spread(&a, true))?.mul(&y.reshape(spread(&b, false))?).map_err(|e| e.in_op("kron"))?;
    let shape: Shape = a.iter().zip(&b).map(|(m, n)| m.saturating_mul(*n)).collect();
    all.reshape(shape)
}

/// The factors of a product of that dtype. Integers are scaled by the whole part of a factor; only
/// `addr` refuses such factors, as torch does.
pub(super) fn factors(op: &'static str, dtype: crate::DType, factors: [Number; 2]) -> Result<[Number; 2]> {
    if !dtype.is_integral() || factors.iter().all(|n| n.category() <= Category::Int) {
        return Ok(factors);
    }
    ensure!(
        op != "addr",
        Runtime,
        op,
        "products of {dtype} can be scaled by integers only; convert the tensors with to_dtype"
    );
    Ok(factors.map(|n| n.cast(dtype)))
}

fn tensors(shapes: &[&[usize]]) -> Option<crate::op::Args> {
    shapes.iter().enumerate().map(|(k, s)| samples::values(s, 3 * k).ok().map(Value::Tensor)).collect()
}

fn addbmm_samples() -> Vec<Sample> {
    with_factors(&[
        (1.0, 1.0, [&[3, 2], &[2, 3, 4], &[2, 4, 2]]),
        (0.5, 2.0, [&[2], &[2, 3, 4], &[2, 4, 2]]),
        (0.0, 1.0, [&[], &[0, 3, 4], &[0, 4, 2]]),
    ])
}
fn addr_samples() -> Vec<Sample> {
    with_factors(&[
        (1.0, 1.0, [&[3, 2], &[3], &[2]]),
        (0.5, 2.0, [&[2], &[3], &[2]]),
        (1.0, 1.0, [&[], &[0], &[2]]),
    ])
}
fn pairs(cases: &[[&[usize]; 2]]) -> Vec<Sample> {
    cases.iter().filter_map(|c| Some(Sample { args: tensors(c)?, grad: true })).collect()
}
fn vector_samples() -> Vec<Sample> {
    pairs(&[[&[4], &[4]], [&[1], &[1]], [&[0], &[0]]])
}
fn inner_samples() -> Vec<Sample> {
    pairs(&[[&[4], &[4]], [&[2, 3], &[4, 2, 3]], [&[2, 3], &[]], [&[2, 0], &[0]]])
}
fn kron_samples() -> Vec<Sample> {
    pairs(&[[&[2, 3], &[2, 1]], [&[2], &[3, 2, 2]], [&[], &[3]], [&[0, 2], &[2, 2]], [&[], &[]]])
}
fn tensordot_samples() -> Vec<Sample> {
    let cases: [(&[usize], &[usize], Dims, Dims); 5] = [
        (&[2, 3, 4], &[4, 2, 3], [0, 1].into(), [1, 2].into()),
        (&[2, 3], &[3, 2], (-1).into(), 0.into()),
        (&[2, 3], &[2], Dims::List(smallvec![]), Dims::List(smallvec![])),
        (&[1, 3], &[2, 3], [0, 1].into(), [0, 1].into()),
        (&[2, 0], &[0, 3], 1.into(), 0.into()),
    ];
    cases
        .into_iter()
        .filter_map(|(a, b, ours, theirs)| {
            let mut args = tensors(&[a, b])?;
            args.extend([Value::Dims(ours), Value::Dims(theirs)]);
            Some(Sample { args, grad: true })
        })
        .collect()
}
