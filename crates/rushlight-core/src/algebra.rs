//! What a backend is asked about matrices, and how its operands lie in memory.

use crate::layout::{Strides, contiguous_strides};
use crate::mem::SpanMut;
use crate::{Result, ensure};

/// A decomposition of matrices, or a system solved from one. What each does to its operands is said
/// at [`Algebra`]; `m`, `n` are the rows and columns of `a`, `k` the smaller of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlgebraTask {
    /// `a = L`, lower triangular with zeros above, of the Hermitian `a = L L^H`, whose lower triangle is read.
    Cholesky,
    /// `a = P L U`: `a` holds `L` below its diagonal of ones and `U`; `pivots[i]` (of `k`) is the row,
    /// counted from 1, that row `i` was exchanged with.
    Lu,
    /// `b = a^-1 b`, or `a^-H b`, from the `a` and `pivots` of `Lu`.
    LuSolve {
        /// With the conjugate transpose.
        adjoint: bool,
    },
    /// `b = a^-1 b` for a triangular `a`, of which the other triangle is not read.
    SolveTriangular {
        /// The upper triangle counts.
        upper: bool,
        /// Ones stand for the diagonal.
        unit: bool,
        /// With the conjugate transpose of `a`.
        adjoint: bool,
    },
    /// `a = Q R`: `a` becomes `R` and, below the diagonal, the tails of the reflections
    /// `I - tau v v^H` whose product is `Q`; `b`, of shape `[k, 1]`, gets their `tau`.
    Qr,
    /// `a = b diag(values) c^H`, values falling. `b` and `c` have `m` and `n`, or `k`, columns, or are
    /// absent. `a` is overwritten.
    Svd,
    /// Eigenvalues, rising, of a Hermitian matrix, whose lower triangle is read; `a` becomes its
    /// eigenvectors.
    Eigh {
        /// Eigenvectors are wanted; without, `a` is overwritten.
        vectors: bool,
    },
    /// Eigenvalues and, unless `vectors` is absent, right eigenvectors of length 1; both are complex.
    Eig,
    /// `a = P L D L^H P^T` (or `L^T`, for symmetric matrices) with blocks of 1 or 2 in `D`; `a` and
    /// `pivots` in the layout of LAPACK's `hetrf` and `sytrf` for lower triangles.
    Ldl {
        /// The other triangle is the conjugate of this one.
        hermitian: bool,
    },
    /// `b = a^-1 b` from the `a` and `pivots` of `Ldl`.
    LdlSolve {
        /// As it was for the factorization.
        hermitian: bool,
    },
}

/// A task for every matrix of a batch.
///
/// The operands have the same batch dimensions in front, then rows and columns; each lies densely
/// in row-major order but for its matrices, which lie column after column. `a`, `b` and `c` have one
/// dtype, a float or complex one; `values` that of their real part; `vectors` and the `values` of
/// `Eig` are complex; `pivots` and `info` are int32. A list counts as a matrix with one column.
pub struct Algebra<'a> {
    /// What to do.
    pub task: AlgebraTask,
    /// The matrix.
    pub a: SpanMut<'a>,
    /// A right-hand side, left singular vectors, or `tau`.
    pub b: Option<SpanMut<'a>>,
    /// Right singular vectors.
    pub c: Option<SpanMut<'a>>,
    /// Singular values or eigenvalues.
    pub values: Option<SpanMut<'a>>,
    /// Eigenvectors of `Eig`.
    pub vectors: Option<SpanMut<'a>>,
    /// Exchanges of rows.
    pub pivots: Option<SpanMut<'a>>,
    /// How it went, one number a matrix: 0 when well, `i` when the `i`-th pivot (counted from 1) is 0 or
    /// not positive, above `k` when iterations did not converge, -1 for numbers that are not finite
    /// where they must be, -2 for pivots that no factorization gives.
    pub info: SpanMut<'a>,
}

/// The strides of dense matrices, each column after column, batch dimensions row-major in front.
pub fn column_major(shape: &[usize]) -> Strides {
    let mut strides = contiguous_strides(shape);
    if let [.., m, _] = shape {
        let r = strides.len();
        (strides[r - 2], strides[r - 1]) = (1, (*m).max(1) as isize);
    }
    strides
}

impl Algebra<'_> {
    /// Rows and columns of `a`.
    pub fn size(&self) -> [usize; 2] {
        match self.a.layout().shape() {
            [.., m, n] => [*m, *n],
            _ => [0, 0],
        }
    }
    /// How many matrices there are.
    pub fn batches(&self) -> usize {
        let shape = self.a.layout().shape();
        shape[..shape.len().saturating_sub(2)].iter().product()
    }
    /// Columns of a right-hand side or of singular vectors; 0 for one that is absent.
    pub fn columns(span: Option<&SpanMut<'_>>) -> usize {
        span.and_then(|s| s.layout().shape().last().copied()).unwrap_or(0)
    }
    /// Every operand: the matrices first.
    pub fn operands(&self) -> impl Iterator<Item = &SpanMut<'_>> {
        let rest = [&self.b, &self.c, &self.vectors, &self.values, &self.pivots];
        std::iter::once(&self.a).chain(rest.into_iter().flatten()).chain([&self.info])
    }
    /// Sees that the operands lie as the type's documentation says, so that matrix `i` of a batch is
    /// the `i`-th of equal stretches of memory.
    ///
    /// # Errors
    /// `Runtime` when one does not.
    pub fn check(&self) -> Result<()> {
        let batches = self.batches();
        let matrices = [Some(&self.a), self.b.as_ref(), self.c.as_ref(), self.vectors.as_ref()];
        let lists = [self.values.as_ref(), self.pivots.as_ref(), Some(&self.info)];
        let all = matrices
            .iter()
            .flatten()
            .map(|s| (*s, true))
            .chain(lists.into_iter().flatten().map(|s| (s, false)));
        for (span, matrix) in all {
            let shape = span.layout().shape();
            let strides = if matrix { column_major(shape) } else { contiguous_strides(shape) };
            let dense = span.layout().strides() == strides.as_slice() && span.is_aligned();
            let fits = batches == 0 || span.numel() % batches == 0;
            ensure!(
                dense && fits,
                Runtime,
                "linalg",
                "an operand of shape {shape:?} and strides {:?} is not as {:?} wants it",
                span.layout().strides(),
                self.task
            );
        }
        Ok(())
    }
}
