//! Decompositions of single matrices over plain slices, computed by `faer`.
//!
//! A matrix is a dense slice, column after column. Nothing here knows of tensors, batches or
//! threads: a backend calls [`run`] once for each matrix, from as many threads as it likes.
#![forbid(unsafe_code)]

mod eigen;
mod field;
mod ldl;
mod lu;
mod orthogonal;
mod symmetric;
mod triangular;

pub use field::Field;

/// What to compute. `m`, `n` are the rows and columns of the first matrix, `k` the smaller of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// `a = L`, lower triangular with zeros above, of the Hermitian `a = L L^H`, whose lower triangle is read.
    Cholesky,
    /// `a = P L U` by row exchanges: `a` becomes `L` below the diagonal (ones on it) and `U`;
    /// `pivots[i]` (of `k`) is the row, counted from 1, that row `i` was exchanged with.
    Lu,
    /// `b = a^-1 b`, or `a^-H b`, from what [`Task::Lu`] left in `a` and `pivots`.
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
    /// `I - tau v v^H` whose product is `Q`; `b` (`k` numbers) gets their `tau`.
    Qr,
    /// `a = b diag(values) c^H`, values falling. `b` and `c` are left alone where they have no
    /// columns, and have `m` and `n`, or `k`, columns else. `a` is overwritten.
    Svd,
    /// Eigenvalues, rising, of a Hermitian matrix, whose lower triangle is read; `a` becomes its
    /// eigenvectors.
    Eigh {
        /// Eigenvectors are wanted; without, `a` is overwritten.
        vectors: bool,
    },
    /// Eigenvalues and right eigenvectors of length 1, both as pairs of real and imaginary part;
    /// `vectors` may be empty. `a` is left as it is.
    Eig,
    /// `a = P L D L^H P^T` (or `L^T`, for symmetric matrices) with blocks of 1 or 2 in `D`, in the layout
    /// of LAPACK's `hetrf` and `sytrf` for lower triangles; `pivots` as there.
    Ldl {
        /// The other triangle is the conjugate of this one.
        hermitian: bool,
    },
    /// `b = a^-1 b` from what [`Task::Ldl`] left in `a` and `pivots`.
    LdlSolve {
        /// As it was for the factorization.
        hermitian: bool,
    },
}

/// The operands of one call; a task leaves alone what it does not name.
pub struct Operands<'a, T: Field> {
    /// The first matrix.
    pub a: &'a mut [T],
    /// Its rows.
    pub rows: usize,
    /// Its columns.
    pub cols: usize,
    /// A right-hand side with as many rows as `a`, left singular vectors, or `tau`.
    pub b: &'a mut [T],
    /// Its columns.
    pub b_cols: usize,
    /// Right singular vectors.
    pub c: &'a mut [T],
    /// Its columns.
    pub c_cols: usize,
    /// Singular values or eigenvalues.
    pub values: &'a mut [T::Real],
    /// Eigenvectors.
    pub vectors: &'a mut [T::Real],
    /// Row exchanges.
    pub pivots: &'a mut [i32],
}

/// No memory for what a task needs on the side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoMemory;

/// The answer of a task that met numbers which are not finite, where it needs finite ones.
pub const NOT_FINITE: i32 = -1;
/// The answer of a solver to row exchanges that no factorization gives.
pub const BAD_PIVOTS: i32 = -2;

/// Runs `task` and says how it went: 0 when well; `i > 0` when the `i`-th pivot (counted from 1) is 0 or
/// not positive, or when iterations did not converge; else [`NOT_FINITE`] or [`BAD_PIVOTS`].
///
/// # Errors
/// [`NoMemory`].
///
/// # Panics
/// When a slice is shorter than its matrix.
pub fn run<T: Field>(task: Task, x: &mut Operands<'_, T>) -> Result<i32, NoMemory> {
    match task {
        Task::Cholesky => symmetric::cholesky(x),
        Task::Lu => lu::factor(x),
        Task::LuSolve { adjoint } => Ok(lu::solve(x, adjoint)),
        Task::SolveTriangular { upper, unit, adjoint } => {
            triangular::solve(x.a, x.rows, x.b, x.b_cols, triangular::How { upper, unit, adjoint });
            Ok(0)
        }
        Task::Qr => orthogonal::qr(x),
        Task::Svd => orthogonal::svd(x),
        Task::Eigh { vectors } => symmetric::eigh(x, vectors),
        Task::Eig => eigen::eig(x),
        Task::Ldl { hermitian } => Ok(ldl::factor(x, hermitian)),
        Task::LdlSolve { hermitian } => Ok(ldl::solve(x, hermitian)),
    }
}

fn scratch(need: faer::dyn_stack::StackReq) -> Result<faer::dyn_stack::MemBuffer, NoMemory> {
    faer::dyn_stack::MemBuffer::try_new(need).map_err(|_| NoMemory)
}

#[cfg(test)]
mod tests;
