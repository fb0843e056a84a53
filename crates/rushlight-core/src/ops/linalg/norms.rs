//! Norms of vectors and matrices, and the condition numbers made of them.

use super::samples::{rectangles, squares, with};
use super::{matrix, square};
use crate::backend::{ReduceOp, Stage};
use crate::grad::{GradCx, Grads};
use crate::layout::existing_dim;
use crate::op::{Dims, Sample, Value, samples};
use crate::ops::reduce::{Plan, axes, reduce, spread};
use crate::program::{Sort, trace};
use crate::{DType, Number, Result, Tensor, bail, ensure};
use smallvec::smallvec;

ops! { NORMS;
    /// `sum(|x|^ord)^(1/ord)` over `dim` (all dimensions by default); the largest or smallest `|x|` for infinite `ord`,
    /// the count of what is not 0 for 0. The result is real; `dtype` is converted to first. Gradients are 0 at 0.
    fn linalg_vector_norm / linalg_vector_norm_with [out] (input: Tensor, ord: Number = 2, dim: Dims = (), keepdim: Bool = false; dtype: OptDType = None) -> Tensor {
        run: in_dtype("linalg_vector_norm", input, *dtype)?.vector_norm_of(order("linalg_vector_norm", *ord)?, dim.clone(), *keepdim),
        samples: vector_norm_samples,
    }
    /// The `ord`-norm of the elements over `dim`, without conversions: what the other norms are made of.
    fn vector_norm_of as internal (input: Tensor, ord: Float, dim: Dims, keepdim: Bool) -> Tensor {
        run: vector_norm(input, *ord, dim, *keepdim),
        grad: [reads inputs 0; outputs 0] |cx| vector_norm_grad(cx),
        samples: plain_samples,
    }
    /// A norm of the matrices in two dimensions `dim`: 2 and -2 are the largest and smallest singular value, 1 and -1
    /// the largest and smallest sum of a column's `|x|`, infinity and its negative those of a row.
    fn linalg_matrix_norm / linalg_matrix_norm_with [out] (input: Tensor, ord: Number, dim: Dims = [-2, -1], keepdim: Bool = false; dtype: OptDType = None) -> Tensor {
        run: matrix_norm(input, order("linalg_matrix_norm", *ord)?, dim, *keepdim, *dtype),
        samples: matrix_norm_samples,
    }
    /// A norm of matrices by name: "fro", the root of the sum of squares, or "nuc", the sum of singular values.
    fn matrix_norm_named as linalg_matrix_norm / matrix_norm_named_with [out] (input: Tensor, ord: Text = "fro", dim: Dims = [-2, -1], keepdim: Bool = false; dtype: OptDType = None) -> Tensor {
        run: named_norm(input, ord, dim, *keepdim, *dtype),
        samples: named_samples,
    }
    /// A norm of vectors over one dimension of `dim`, of matrices over two. Without `ord` the 2-norm of all elements
    /// that `dim` names; without `dim` the tensor is one vector or one matrix.
    fn linalg_norm / linalg_norm_with [out] (input: Tensor, ord: OptNumber = None, dim: Dims = (), keepdim: Bool = false; dtype: OptDType = None) -> Tensor {
        run: any_norm(input, *ord, dim, *keepdim, *dtype),
        samples: any_norm_samples,
    }
    /// A norm of matrices by name, over two dimensions or the whole matrix.
    fn norm_named as linalg_norm / norm_named_with [out] (input: Tensor, ord: Text, dim: Dims = (), keepdim: Bool = false; dtype: OptDType = None) -> Tensor {
        run: {
            let whole = Dims::from([-2, -1]);
            ensure!(!matches!(dim, Dims::All) || input.dim() == 2, Runtime, "linalg_norm", "\"{ord}\" without dim takes a matrix, not shape {:?}", input.shape());
            named_norm(input, ord, if matches!(dim, Dims::All) { &whole } else { dim }, *keepdim, *dtype)
        },
        samples: named_norm_samples,
    }
    /// Sum of singular values over two dimensions.
    fn nuclear_norm [out] (input: Tensor, dim: Dims = [-2, -1], keepdim: Bool = false) -> Tensor {
        run: named_norm(input, "nuc", dim, *keepdim, None).map_err(|e| e.in_op("nuclear_norm")),
        samples: nuclear_samples,
    }
    /// Root of the sum of squares over `dim`.
    fn frobenius_norm [out] (input: Tensor, dim: Dims, keepdim: Bool = false) -> Tensor {
        run: input.vector_norm_of(2.0, dim.clone(), *keepdim).map_err(|e| e.in_op("frobenius_norm")),
        samples: frobenius_samples,
    }
    /// How much relative errors grow in a system of these matrices: the ratio of the extreme singular values (`p` none
    /// or 2; -2 its inverse), or the norm times that of the inverse, infinite for a singular matrix.
    fn linalg_cond [out] (input: Tensor, p: OptNumber = None) -> Tensor {
        run: cond(input, *p),
        samples: cond_samples,
    }
    /// The condition number by a named norm, "fro" or "nuc".
    fn cond_named as linalg_cond [out] (input: Tensor, p: Text) -> Tensor {
        run: by_inverse(input, |x| x.matrix_norm_named(p, [-2, -1], false)),
        samples: cond_named_samples,
    }
}

fn order(op: &'static str, ord: Number) -> Result<f64> {
    match ord {
        Number::Complex(..) => bail!(Runtime, op, "the order of a norm must be real"),
        n => Ok(n.to_f64()),
    }
}

/// The operand in the dtype that a norm is asked for.
fn in_dtype(op: &'static str, x: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
    let Some(dtype) = dtype else { return Ok(x.clone()) };
    ensure!(dtype.is_differentiable(), Runtime, op, "dtype must be a float or complex one, not {dtype}");
    ensure!(
        dtype.is_complex() == x.dtype().is_complex(),
        Runtime,
        op,
        "dtype {dtype} and an input of {} must be both real or both complex",
        x.dtype()
    );
    let narrows = dtype.size() < x.dtype().size();
    ensure!(!narrows, Runtime, op, "dtype {dtype} holds less than the input's {}", x.dtype());
    x.to_dtype(dtype)
}

/// `|x|` with a gradient that is 0 at 0.
pub(super) fn modulus(x: &Tensor) -> Result<Tensor> {
    if !x.dtype().is_complex() {
        return x.abs();
    }
    x.unsqueeze(-1)?.vector_norm_of(2.0, -1, false)
}

/// `x / |x|`, 0 at 0.
pub(super) fn direction(x: &Tensor) -> Result<Tensor> {
    if !x.dtype().is_complex() {
        return x.sign();
    }
    let size = modulus(x)?;
    let zero = size.detach()?.eq(0.0)?;
    x.div(&Tensor::where_cond(&zero, 1.0, &size)?.to_dtype(size.dtype())?)
}

fn vector_norm(x: &Tensor, p: f64, dim: &Dims, keepdim: bool) -> Result<Tensor> {
    let op = "linalg_vector_norm";
    ensure!(
        x.dtype().is_differentiable(),
        NotImplemented,
        op,
        "is not defined for {}; convert with to_dtype to a float",
        x.dtype()
    );
    let mask = axes(op, x.dim(), dim)?;
    let empty = x.shape().iter().enumerate().any(|(d, n)| *n == 0 && mask >> d & 1 == 1);
    ensure!(
        !empty || (p >= 0.0 && p.is_finite()),
        Runtime,
        op,
        "the norm of order {p} has no value over a dimension without elements, as in shape {:?}",
        x.shape()
    );
    // Squares of real and imaginary part add up alike.
    if x.dtype().is_complex() && p == 2.0 {
        let parts = x.detach()?.view_as_real()?;
        let mut dims: Vec<usize> = (0..x.dim()).filter(|d| mask >> d & 1 == 1).collect();
        dims.push(x.dim());
        let norm = vector_norm(&parts, p, &dims.into(), keepdim)?;
        return if keepdim { norm.squeeze(-1) } else { Ok(norm) };
    }
    let size = match x.dtype().is_complex() {
        true => vector_norm(&x.detach()?.view_as_real()?, 2.0, &Dims::from(-1), false)?,
        false => x.detach()?,
    };
    let pre = trace(&[Sort::Num], 0, |x| {
        vec![match p {
            0.0 => x[0].ne(0.0).from_truth(),
            2.0 => x[0] * x[0],
            p if p == 1.0 || p.is_infinite() => x[0].abs(),
            p => x[0].abs().pow(p),
        }]
    })?;
    let post = match p {
        p if p == 0.0 || p == 1.0 || p.is_infinite() => None,
        2.0 => Some(trace(&[Sort::Num], 0, |x| vec![x[0].sqrt()])?),
        p => Some(trace(&[Sort::Num], 0, |x| vec![x[0].pow(1.0 / p)])?),
    };
    let plan = Plan {
        op,
        kind: match p {
            f64::INFINITY => ReduceOp::Max,
            f64::NEG_INFINITY => ReduceOp::Min,
            _ => ReduceOp::Sum,
        },
        common: size.dtype(),
        result: size.dtype(),
        axes: mask,
        keepdim,
        pre: Some(Stage { program: &pre, params: &[] }),
        post: post.as_ref().map(|program| Stage { program, params: &[] }),
    };
    reduce(&plan, &[&size])
}

/// Each order's derivative of `|x|` times the direction of `x`; what is 0 has none.
fn vector_norm_grad(cx: &GradCx<'_>) -> Result<Grads> {
    let (x, p) = (cx.input(0)?, *cx.arg::<f64>(1)?);
    let (dim, keepdim) = (cx.arg::<Dims>(2)?, *cx.arg::<bool>(3)?);
    let wide = |t: &Tensor| spread(t, x.shape(), dim, keepdim);
    let g = wide(&cx.grad(0)?)?;
    let norm = wide(&cx.output(0)?)?;
    let none = |t: &Tensor| t.detach()?.eq(0.0);
    let whole = |t: &Tensor| -> Result<Tensor> { Tensor::where_cond(&none(t)?, 1.0, t)?.to_dtype(t.dtype()) };
    if p == 0.0 {
        return Ok(smallvec![None]);
    }
    if p == 1.0 {
        return Ok(smallvec![Some(direction(&x)?.mul(&g)?)]);
    }
    if p == 2.0 {
        let ratio = g.div(&whole(&norm)?)?.masked_fill(&none(&norm)?, 0)?;
        return Ok(smallvec![Some(x.mul(&ratio)?)]);
    }
    let size = modulus(&x)?;
    if p.is_infinite() {
        let nan = size.detach()?.isnan()?.logical_and(&norm.detach()?.isnan()?)?;
        let hit = size.detach()?.eq(&norm.detach()?)?.logical_or(&nan)?.to_dtype(size.dtype())?;
        let share = hit.sum(dim.clone(), true)?;
        return Ok(smallvec![Some(direction(&x)?.mul(&hit.div(&share)?.mul(&g)?)?)]);
    }
    let power = whole(&size)?.pow(p - 1.0)?.mul(&g)?.div(&whole(&norm)?.pow(p - 1.0)?)?;
    let power = power.masked_fill(&none(&size)?, 0)?.masked_fill(&none(&norm)?, 0)?;
    Ok(smallvec![Some(direction(&x)?.mul(&power)?)])
}

/// The two dimensions of matrices, both named and different.
fn two_dims(op: &'static str, x: &Tensor, dim: &Dims) -> Result<[i64; 2]> {
    ensure!(x.dim() > 1, Runtime, op, "takes matrices, not shape {:?}", x.shape());
    let Dims::List(list) = dim else { return Ok([x.dim() as i64 - 2, x.dim() as i64 - 1]) };
    let [a, b] = list.as_slice() else {
        bail!(Runtime, op, "a matrix has two dimensions; dim names {}", list.len())
    };
    let (a, b) = (existing_dim(op, *a, x.dim())?, existing_dim(op, *b, x.dim())?);
    ensure!(a != b, Runtime, op, "dims {list:?} are the same dimension");
    Ok([a as i64, b as i64])
}

/// Matrices in the last two dimensions, and the result's places where they were.
fn over_matrices(
    x: &Tensor,
    [a, b]: [i64; 2],
    keepdim: bool,
    norm: impl FnOnce(&Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    let y = norm(&x.movedim([a, b], [-2, -1])?)?;
    if !keepdim {
        return Ok(y);
    }
    y.unsqueeze(a.min(b))?.unsqueeze(a.max(b))
}

fn matrix_norm(x: &Tensor, p: f64, dim: &Dims, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    let op = "linalg_matrix_norm";
    let x = in_dtype(op, x, dtype)?;
    ensure!(
        x.dtype().is_differentiable(),
        NotImplemented,
        op,
        "is not defined for {}; convert with to_dtype to a float",
        x.dtype()
    );
    let [a, b] = two_dims(op, &x, dim)?;
    if p.abs() == 2.0 {
        return over_matrices(&x, [a, b], keepdim, |x| {
            extreme(&x.linalg_svdvals().map_err(|e| e.in_op(op))?, -1, false, p)
        });
    }
    ensure!(p.abs() == 1.0 || p.is_infinite(), Runtime, op, "orders are 1, -1, 2, -2, inf and -inf, not {p}");
    let (summed, kept) = if p.abs() == 1.0 { (a, b) } else { (b, a) };
    let sums = x.vector_norm_of(1.0, summed, true).map_err(|e| e.in_op(op))?;
    let y = extreme(&sums, kept, true, p)?;
    if keepdim { Ok(y) } else { y.squeeze([a, b]) }
}

/// The largest or, for a negative order, the smallest of what is not negative: 0 where there is nothing.
fn extreme(sizes: &Tensor, dim: i64, keepdim: bool, p: f64) -> Result<Tensor> {
    if p < 0.0 {
        return sizes.amin(dim, keepdim).map_err(|e| e.in_op("linalg_matrix_norm"));
    }
    if sizes.size(dim as isize)? == 0 { sizes.sum(dim, keepdim) } else { sizes.amax(dim, keepdim) }
}

fn named_norm(x: &Tensor, name: &str, dim: &Dims, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    let op = "linalg_matrix_norm";
    let x = in_dtype(op, x, dtype)?;
    let dims = two_dims(op, &x, dim)?;
    match name {
        "fro" => x.vector_norm_of(2.0, dims, keepdim),
        "nuc" => {
            over_matrices(&x, dims, keepdim, |x| x.linalg_svdvals().map_err(|e| e.in_op(op))?.sum(-1, false))
        }
        _ => bail!(Runtime, op, "named norms are \"fro\" and \"nuc\", not {name:?}"),
    }
}

fn any_norm(
    x: &Tensor,
    ord: Option<Number>,
    dim: &Dims,
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Tensor> {
    let op = "linalg_norm";
    let x = in_dtype(op, x, dtype)?;
    let Some(ord) = ord else { return x.vector_norm_of(2.0, dim.clone(), keepdim).map_err(|e| e.in_op(op)) };
    let p = order(op, ord)?;
    let count = match dim {
        Dims::All => x.dim(),
        Dims::List(list) => list.len(),
    };
    match count {
        1 => x.vector_norm_of(p, dim.clone(), keepdim).map_err(|e| e.in_op(op)),
        2 => matrix_norm(&x, p, dim, keepdim, None),
        n => bail!(Runtime, op, "with ord there are one or two dimensions to reduce, not {n}"),
    }
}

/// The norm of a matrix times that of its inverse.
fn by_inverse(x: &Tensor, norm: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let op = "linalg_cond";
    if square(op, x)? == 0 {
        let shape = super::batch(x).to_vec();
        return Tensor::zeros_with(shape, Some(super::real_dtype(x.dtype())), Some(x.device()));
    }
    let (inverse, info) = x.linalg_inv_ex().map_err(|e| e.in_op(op))?;
    let product = norm(x)?.mul(&norm(&inverse)?)?;
    let singular = info.gt(0)?;
    Tensor::where_cond(&singular, f64::INFINITY, &product)?.to_dtype(product.dtype())
}

fn cond(x: &Tensor, p: Option<Number>) -> Result<Tensor> {
    let op = "linalg_cond";
    matrix(op, x)?;
    let p = p.map_or(Ok(2.0), |p| order(op, p))?;
    if p.abs() == 2.0 {
        let s = x.linalg_svdvals().map_err(|e| e.in_op(op))?;
        let n = s.shape()[s.dim() - 1] as i64;
        if n == 0 {
            return s.sum(-1, false);
        }
        let (first, last) = (s.select(-1, 0)?, s.select(-1, n - 1)?);
        return if p > 0.0 { first.div(&last) } else { last.div(&first) };
    }
    ensure!(p.abs() == 1.0 || p.is_infinite(), Runtime, op, "orders are 1, -1, 2, -2, inf and -inf, not {p}");
    by_inverse(x, |x| x.linalg_matrix_norm(p, [-2, -1], false))
}

const ORDERS: [f64; 8] = [2.0, 1.0, 0.0, f64::INFINITY, f64::NEG_INFINITY, 3.0, 0.5, -1.5];

/// Vectors of norms with the rest of their arguments.
fn vectors(rest: &[Value], number: impl Fn(f64) -> Value) -> Vec<Sample> {
    let mut all = Vec::new();
    let cases: [(&[usize], Dims); 5] = [
        (&[4], Dims::All),
        (&[3, 4], Dims::All),
        (&[3, 4], 0.into()),
        (&[2, 3, 2], [0, -1].into()),
        (&[], Dims::All),
    ];
    for (k, p) in ORDERS.into_iter().enumerate() {
        for (shape, dim) in cases.iter().skip(k % 2) {
            let args = [number(p), Value::Dims(dim.clone()), Value::Bool(k % 3 == 1)];
            all.extend(with(samples::values(shape, k), args.into_iter().chain(rest.iter().cloned()), true));
        }
    }
    let nothing = [number(2.0), Value::Dims(1.into()), Value::Bool(false)];
    all.extend(with(samples::values(&[2, 0], 1), nothing.into_iter().chain(rest.iter().cloned()), false));
    all
}
fn vector_norm_samples() -> Vec<Sample> {
    vectors(&[Value::OptDType(None)], |p| Value::Number(Number::Float(p)))
}
fn plain_samples() -> Vec<Sample> {
    vectors(&[], Value::Float)
}
fn matrices(rest: impl Fn(Dims, bool) -> Vec<Value>) -> Vec<Sample> {
    let cases: [(&[usize], Dims); 3] =
        [(&[3, 4], [-2, -1].into()), (&[2, 3, 3], [0, 2].into()), (&[4, 2], [1, 0].into())];
    cases
        .into_iter()
        .enumerate()
        .filter_map(|(k, (s, d))| with(super::samples::regular(s, k + 1), rest(d, k == 1), true))
        .collect()
}
fn matrix_norm_samples() -> Vec<Sample> {
    let orders = [1.0, -1.0, 2.0, -2.0, f64::INFINITY, f64::NEG_INFINITY];
    let each = |p: f64| {
        matrices(move |d, keep| {
            vec![Value::Number(Number::Float(p)), Value::Dims(d), Value::Bool(keep), Value::OptDType(None)]
        })
    };
    orders.into_iter().flat_map(each).collect()
}
fn by_name(name: &'static str) -> Vec<Sample> {
    matrices(|d, keep| {
        vec![Value::Text(name.into()), Value::Dims(d), Value::Bool(keep), Value::OptDType(None)]
    })
}
fn named_samples() -> Vec<Sample> {
    [by_name("fro"), by_name("nuc")].concat()
}
fn named_norm_samples() -> Vec<Sample> {
    by_name("nuc")
}
fn any_norm_samples() -> Vec<Sample> {
    let args = |p: Option<f64>, d: Dims| {
        [Value::OptNumber(p.map(Number::Float)), Value::Dims(d), Value::Bool(false), Value::OptDType(None)]
    };
    let cases: [(&[usize], Option<f64>, Dims); 5] = [
        (&[2, 3, 2], None, Dims::All),
        (&[3, 4], Some(2.0), Dims::All),
        (&[3, 4], Some(1.0), 1.into()),
        (&[4], Some(3.0), Dims::All),
        (&[2, 3, 2], Some(1.0), [0, 1].into()),
    ];
    cases.into_iter().filter_map(|(s, p, d)| with(samples::values(s, 2), args(p, d), true)).collect()
}
fn nuclear_samples() -> Vec<Sample> {
    matrices(|d, keep| vec![Value::Dims(d), Value::Bool(keep)])
}
fn frobenius_samples() -> Vec<Sample> {
    nuclear_samples()
}
fn cond_samples() -> Vec<Sample> {
    let mut all = squares(&[Value::OptNumber(Some(Number::Float(1.0)))], true);
    all.extend(squares(&[Value::OptNumber(Some(Number::Float(f64::NEG_INFINITY)))], true));
    all.extend(rectangles(&[Value::OptNumber(None)], true));
    all.extend(rectangles(&[Value::OptNumber(Some(Number::Int(-2)))], true));
    all
}
fn cond_named_samples() -> Vec<Sample> {
    squares(&[Value::Text("fro".into())], true)
}
