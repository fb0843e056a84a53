//! Linear algebra: rows over the decompositions that a backend has, gradients written with ops.
//!
//! `factor` and `solve` hold elimination, `orthogonal` QR and reflections, `spectrum` singular
//! values and eigenvalues, `determinant`, `norms`, `inverses` and `powers` what is made of them.

#![allow(non_snake_case, reason = "parameters have the names that torch gives them")]

pub mod determinant;
pub mod factor;
pub mod inverses;
pub mod lowrank;
pub mod norms;
pub mod orthogonal;
pub mod powers;
mod samples;
pub mod solve;
pub mod spectrum;
mod systems;

use crate::backend::{Algebra, AlgebraTask};
use crate::exec;
use crate::layout::contiguous_strides;
use crate::{DType, Device, Layout, Result, Shape, Tensor, bail, ensure};
use smallvec::SmallVec;

/// The dtypes that have decompositions.
pub(crate) fn decomposable(op: &'static str, t: &Tensor) -> Result<()> {
    ensure!(
        matches!(t.dtype(), DType::F32 | DType::F64 | DType::C64 | DType::C128),
        NotImplemented,
        op,
        "takes matrices of float32, float64, complex64 or complex128, not of {}; convert with to_dtype",
        t.dtype()
    );
    Ok(())
}

/// Rows and columns of a matrix or of each in a batch.
pub(crate) fn matrix(op: &'static str, t: &Tensor) -> Result<[usize; 2]> {
    match t.shape() {
        [.., m, n] => Ok([*m, *n]),
        shape => bail!(Runtime, op, "takes a matrix or a batch of them, not shape {shape:?}"),
    }
}

/// The size of square matrices that have decompositions.
pub(crate) fn square(op: &'static str, t: &Tensor) -> Result<usize> {
    let [m, n] = matrix(op, t)?;
    ensure!(m == n, Runtime, op, "takes square matrices, not shape {:?}", t.shape());
    decomposable(op, t)?;
    Ok(n)
}

/// The dimensions before rows and columns.
pub(crate) fn batch(t: &Tensor) -> &[usize] {
    &t.shape()[..t.dim().saturating_sub(2)]
}

/// The conjugate transpose of each matrix.
pub(crate) fn adjoint(t: &Tensor) -> Result<Tensor> {
    t.transpose(-2, -1)?.conj()
}

/// The dtype of absolute values.
pub(crate) fn real_dtype(dtype: DType) -> DType {
    match dtype {
        DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        other => other,
    }
}

/// The dtype of eigenvalues.
pub(crate) fn complex_dtype(dtype: DType) -> DType {
    match dtype {
        DType::F32 => DType::C64,
        DType::F64 => DType::C128,
        other => other,
    }
}

/// The unit matrix, of `like`'s dtype and device.
pub(crate) fn unit(n: usize, m: usize, like: &Tensor) -> Result<Tensor> {
    Tensor::eye_with(n as i64, Some(m as i64), Some(like.dtype()), Some(like.device()))
}

/// Whether gradients of `t` will be asked for.
pub(crate) fn tracked(t: &Tensor) -> bool {
    t.requires_grad() && crate::grad::is_grad_enabled()
}

/// Memory for matrices, each column after column.
pub(crate) fn columns(batch: &[usize], tail: [usize; 2], dtype: DType, device: Device) -> Result<Tensor> {
    let shape: Shape = batch.iter().copied().chain(tail).collect();
    let layout = Layout::new(shape.as_slice(), crate::algebra::column_major(&shape), 0)?;
    Tensor::alloc(layout, dtype, device)
}

/// Memory for a list to each matrix.
pub(crate) fn list(batch: &[usize], n: usize, dtype: DType, device: Device) -> Result<Tensor> {
    let shape: Shape = batch.iter().copied().chain([n]).collect();
    Tensor::alloc(Layout::new(shape.as_slice(), contiguous_strides(&shape), 0)?, dtype, device)
}

/// A copy of the matrices, each column after column, to be worked on.
pub(crate) fn own(op: &'static str, t: &Tensor) -> Result<Tensor> {
    let layout = Layout::new(t.shape(), crate::algebra::column_major(t.shape()), 0)?;
    exec::copy_as(op, &t.detach()?, layout, t.dtype(), "decompositions work in place, on columns")
}

/// A dense copy of the lists, as a task reads them.
pub(crate) fn own_list(op: &'static str, t: &Tensor) -> Result<Tensor> {
    exec::copy_as(
        op,
        &t.detach()?,
        Layout::contiguous(t.shape())?,
        t.dtype(),
        "decompositions read dense lists",
    )
}

/// The operands of a task besides its matrix.
#[derive(Default)]
pub(crate) struct Parts<'a> {
    pub b: Option<&'a Tensor>,
    pub c: Option<&'a Tensor>,
    pub values: Option<&'a Tensor>,
    pub vectors: Option<&'a Tensor>,
    pub pivots: Option<&'a Tensor>,
}

/// Refuses right-hand sides that are not of `a`'s size and dtype.
pub(crate) fn fitting(op: &'static str, a: &Tensor, b: &Tensor) -> Result<()> {
    let n = square(op, a)?;
    same_dtype(op, a, b)?;
    let [rows, _] = matrix(op, b)?;
    let (a, b) = (a.shape(), b.shape());
    ensure!(
        n == rows,
        Runtime,
        op,
        "right-hand sides of shape {b:?} have not the rows of matrices of shape {a:?}"
    );
    Ok(())
}

/// Runs a task in place and says for each matrix how it went.
pub(crate) fn compute(op: &'static str, task: AlgebraTask, a: &Tensor, parts: Parts<'_>) -> Result<Tensor> {
    use AlgebraTask::{LdlSolve, LuSolve, SolveTriangular};
    let shape = batch(a);
    if let (LuSolve { .. } | SolveTriangular { .. } | LdlSolve { .. }, Some(b)) = (task, parts.b) {
        fitting(op, a, b)?;
        ensure!(batch(b) == shape, Runtime, op, "batches of shapes {shape:?} and {:?} differ", batch(b));
        let listed = |p: &Tensor| p.shape() == &a.shape()[..a.dim() - 1];
        ensure!(
            parts.pivots.is_none_or(listed),
            Runtime,
            op,
            "pivots of shape {:?} do not go with factors of shape {:?}",
            parts.pivots.map(|p| p.shape()),
            a.shape()
        );
    }
    let info = Tensor::alloc(Layout::contiguous(shape)?, DType::I32, a.device())?;
    if info.numel() == 0 {
        return Ok(info);
    }
    let all = [Some(a), parts.b, parts.c, parts.values, parts.vectors, parts.pivots, Some(&info)];
    {
        let given: SmallVec<[&Tensor; 7]> = all.iter().flatten().copied().collect();
        exec::common_device(op, given.iter().copied())?;
        exec::call(op, &given, &[], |backend, spans, _| {
            let mut next = spans.iter().copied();
            let mut take = |part: Option<&Tensor>| if part.is_some() { next.next() } else { None };
            let [a, b, c, values, vectors, pivots, info] = all.map(&mut take);
            let (Some(a), Some(info)) = (a, info) else { bail!(Runtime, op, "an operand is missing") };
            backend.algebra(&Algebra { task, a, b, c, values, vectors, pivots, info })
        })
        .map_err(|e| e.in_op(op))?;
    }
    Ok(info)
}

/// Raises what the first matrix that failed suffers from; `what` says it for a pivot or an iteration.
pub(crate) fn check(op: &'static str, info: &Tensor, what: &str) -> Result<()> {
    if info.device() == Device::META || info.numel() == 0 {
        return Ok(());
    }
    let codes = info.detach()?.to_vec::<i32>()?;
    let Some((at, code)) = codes.iter().enumerate().find(|(_, code)| **code != 0) else { return Ok(()) };
    let place = if info.dim() == 0 { String::new() } else { format!("matrix {at} of the batch: ") };
    match *code {
        -1 => bail!(LinAlg, op, "{place}some of the numbers are infinite or NaN"),
        -2 => bail!(Runtime, op, "{place}the pivots are not those of a factorization of this size"),
        code => bail!(LinAlg, op, "{place}{what} ({code})"),
    }
}

/// The operands with one batch shape.
pub(crate) fn broadcast_batches(op: &'static str, a: &Tensor, b: &Tensor) -> Result<(Tensor, Tensor)> {
    let joint = crate::layout::broadcast_shapes(op, &[batch(a), batch(b)])?;
    let with = |t: &Tensor| -> Result<Tensor> {
        let shape: Shape = joint.iter().chain(&t.shape()[t.dim() - 2..]).copied().collect();
        if shape.as_slice() == t.shape() { Ok(t.clone()) } else { t.expand(shape) }
    };
    Ok((with(a)?, with(b)?))
}

/// Refuses operands of two dtypes.
pub(crate) fn same_dtype(op: &'static str, a: &Tensor, b: &Tensor) -> Result<()> {
    ensure!(
        a.dtype() == b.dtype(),
        Runtime,
        op,
        "operands hold {} and {}; convert one with to_dtype",
        a.dtype(),
        b.dtype()
    );
    Ok(())
}
