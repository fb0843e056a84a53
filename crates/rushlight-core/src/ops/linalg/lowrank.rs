//! Singular values of the largest part of a matrix, found by random directions
//! (Halko, Martinsson and Tropp, SIAM Review 53, 2011).

use super::samples::{rectangles, with};
use super::{adjoint, decomposable, matrix, real_dtype};
use crate::op::{Sample, Value};
use crate::{Result, Tensor, ensure};

ops! { LOWRANK;
    /// About the `q` largest singular values of `A - M`, and their vectors as the columns of `U` and `V`; `niter` passes
    /// sharpen the directions. Reproducible after `manual_seed`.
    fn svd_lowrank (A: Tensor, q: OptInt = Some(6), niter: OptInt = Some(2), M: OptTensor = None) -> (Tensor, Tensor, Tensor) [U S V] {
        run: svd_of_part("svd_lowrank", A, q.unwrap_or(6), niter.unwrap_or(2), M.as_ref()),
        samples: svd_samples,
    }
    /// `svd_lowrank` of a matrix whose columns are moved to mean 0 (with `center`): principal components.
    fn pca_lowrank (A: Tensor, q: OptInt = None, center: Bool = true, niter: Int = 2) -> (Tensor, Tensor, Tensor) [U S V] {
        run: {
            let [m, n] = matrix("pca_lowrank", A)?;
            let q = q.unwrap_or(6.min(m).min(n) as i64);
            ensure!(q >= 0 && q <= m.min(n) as i64, Value, "pca_lowrank", "q = {q} must be from 0 to {}", m.min(n));
            ensure!(*niter >= 0, Value, "pca_lowrank", "niter = {niter} must not be negative");
            let a = if *center { A.sub(&A.mean(-2, true)?)? } else { A.clone() };
            svd_of_part("pca_lowrank", &a, q, *niter, None)
        },
        samples: pca_samples,
    }
}

const MOST_PASSES: i64 = 10_000;

fn svd_of_part(
    op: &'static str,
    a: &Tensor,
    q: i64,
    passes: i64,
    m: Option<&Tensor>,
) -> Result<(Tensor, Tensor, Tensor)> {
    // Each pass costs two products and two factorizations; a mistyped count would never return.
    ensure!(
        passes <= MOST_PASSES,
        Value,
        op,
        "niter = {passes} is more than {MOST_PASSES}; two to ten passes suffice"
    );
    let a = match m {
        Some(m) => a.sub(m)?,
        None => a.clone(),
    };
    let [rows, cols] = matrix(op, &a)?;
    decomposable(op, &a)?;
    ensure!(q >= 0, Runtime, op, "q = {q} must not be negative");
    // The shorter side is the one to be spanned.
    if rows < cols {
        let (u, s, v) = svd_of_part(op, &adjoint(&a)?, q, passes, None)?;
        return Ok((v, s, u));
    }
    let q = q.min(cols as i64);
    let start = Tensor::randn_with([cols as i64, q], Some(real_dtype(a.dtype())), Some(a.device()), None)?;
    let span = |x: &Tensor| -> Result<Tensor> { Ok(x.linalg_qr("reduced")?.0) };
    let across = adjoint(&a)?;
    let mut basis = span(&a.matmul(&start.to_dtype(a.dtype())?)?)?;
    for _ in 0..passes {
        basis = span(&a.matmul(&span(&across.matmul(&basis)?)?)?)?;
    }
    let (u, s, vh) = adjoint(&basis)?.matmul(&a)?.linalg_svd_with(false, None).map_err(|e| e.in_op(op))?;
    Ok((basis.matmul(&u)?, s, adjoint(&vh)?))
}

/// With all directions wanted, what is found does not depend on those tried.
fn svd_samples() -> Vec<Sample> {
    let args = [Value::OptInt(Some(0)), Value::OptInt(Some(2)), Value::OptTensor(None)];
    rectangles(&args, false)
}
fn pca_samples() -> Vec<Sample> {
    let args = |q| [Value::OptInt(q), Value::Bool(true), Value::Int(2)];
    let mut all: Vec<Sample> = rectangles(&args(Some(0)), false);
    all.extend(with(Tensor::zeros([3, 2]).and_then(|t| t.to_dtype(crate::DType::F64)), args(None), false));
    all
}
