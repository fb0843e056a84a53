//! Linear systems, and the inverses that they give.

use super::factor::{INDEFINITE, SINGULAR, lu_factor_ex};
use super::samples::squares;
use super::systems::*;
use super::{
    Parts, adjoint, batch, broadcast_batches, check, compute, fitting, matrix, own, own_list, same_dtype,
    square, unit,
};
use crate::backend::AlgebraTask;
use crate::grad::{GradCx, Grads};
use crate::op::Dims;
use crate::{DType, Kind, Result, Shape, Tensor, ensure};
use smallvec::smallvec;

ops! { SOLVE;
    /// The solution of `input X = B`, with its factors: what `linalg_solve` is made of.
    fn solve_parts as internal (input: Tensor, B: Tensor) -> (Tensor, Tensor, Tensor, Tensor) [result LU pivots info] {
        run: super::solve_parts(input, B),
        grad: [reads inputs 0; outputs 0 1 2] |cx| solve_grad(cx),
        samples: system_samples,
    }
    /// The solution of `input X = B` (with `left = false`, of `X input = B`), and an int32 that is not 0 where a matrix
    /// is singular. `B` is a vector to each matrix if it has one dimension less or only one; batches broadcast.
    fn linalg_solve_ex / linalg_solve_ex_with [out] (input: Tensor, B: Tensor; left: Bool = true, check_errors: Bool = false) -> (Tensor, Tensor) [result info] {
        run: solve_ex("linalg_solve_ex", input, B, *left, *check_errors),
        samples: solve_ex_samples,
    }
    /// The solution of `input X = B`, or of `X input = B` with `left = false`; as `linalg_solve_ex`.
    ///
    /// # Errors
    /// `LinAlg` for a singular matrix; `Runtime` for shapes that do not fit.
    fn linalg_solve / linalg_solve_with [out] (input: Tensor, B: Tensor; left: Bool = true) -> Tensor {
        run: Ok(solve_ex("linalg_solve", input, B, *left, true)?.0),
        samples: solve_samples,
    }
    /// The inverse, and an int32 that is not 0 where a matrix is singular.
    fn linalg_inv_ex / linalg_inv_ex_with [out] (input: Tensor; check_errors: Bool = false) -> (Tensor, Tensor) [inverse info] {
        run: inv_ex("linalg_inv_ex", input, *check_errors),
        grad: [reads inputs; outputs 0] |cx| {
            let back = adjoint(&cx.output(0)?)?;
            Ok(smallvec![Some(back.matmul(&cx.grad(0)?)?.matmul(&back)?.neg()?)])
        },
        samples: inv_ex_samples,
    }
    /// The inverse of square matrices.
    ///
    /// ```
    /// # use rushlight::Tensor;
    /// let a = Tensor::from_vec(vec![2f32, 0., 1., 4.], [2, 2])?;
    /// assert_eq!(a.inverse()?.to_vec::<f32>()?, [0.5, 0., -0.125, 0.25]);
    /// # Ok::<(), rushlight::Error>(())
    /// ```
    ///
    /// # Errors
    /// `LinAlg` for a singular matrix.
    fn inverse as inverse | linalg_inv [out] (input: Tensor) -> Tensor {
        run: Ok(input.linalg_inv_ex_with(true).map_err(|e| e.in_op("inverse"))?.0),
        samples: || squares(&[], true),
    }
    /// One triangle solved from the left, batches alike: `input` is `upper` or lower, has ones for its diagonal
    /// with `unit`, and stands for its conjugate transpose with `adjoint`.
    fn solve_triangular_by as internal (input: Tensor, B: Tensor, upper: Bool, unit: Bool, adjoint: Bool) -> Tensor {
        run: triangular(input, B, *upper, *unit, *adjoint),
        grad: [reads inputs 0; outputs 0] |cx| triangular_grad(cx),
        samples: triangular_samples,
    }
    /// The solution of `input X = B` (or of `X input = B` with `left = false`) for triangular matrices, of which the other
    /// triangle is not read. A zero on the diagonal gives infinities.
    fn linalg_solve_triangular / linalg_solve_triangular_with [out] (input: Tensor, B: Tensor; upper: Bool = false, left: Bool = true, unitriangular: Bool = false) -> Tensor {
        run: solve_triangular(input, B, *upper, *left, *unitriangular),
        samples: solve_triangular_samples,
    }
    /// The solution `X` of `A X = input` for a triangular `A` (or of its transpose), and a copy of `A`.
    fn triangular_solve [out] (input: Tensor, A: Tensor, upper: Bool = true, transpose: Bool = false, unitriangular: Bool = false) -> (Tensor, Tensor) [solution cloned_coefficient] {
        run: triangular_solve_of(input, A, *upper, *transpose, *unitriangular),
        samples: triangular_solve_samples,
    }
    /// A system solved from the left from its factors, batches alike.
    fn lu_solve_by as internal (input: Tensor, pivots: Tensor, B: Tensor, adjoint: Bool) -> Tensor {
        run: lu_solved(input, pivots, B, *adjoint),
        grad: [reads inputs 0 1; outputs 0] |cx| lu_solve_grad(cx),
        samples: lu_by_samples,
    }
    /// The solution of `A X = B` (or `X A = B`; with `adjoint`, of the conjugate transpose of `A`) from the `LU` and
    /// `pivots` of `linalg_lu_factor`.
    fn linalg_lu_solve / linalg_lu_solve_with [out] (input: Tensor, pivots: Tensor, B: Tensor; left: Bool = true, adjoint: Bool = false) -> Tensor {
        run: super::lu_solve("linalg_lu_solve", input, pivots, B, *left, *adjoint),
        samples: lu_solve_samples,
    }
    /// The solution of `A X = input` from the factors of `A`.
    fn lu_solve [out] (input: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor {
        run: super::lu_solve("lu_solve", LU_data, LU_pivots, input, true, false),
        samples: old_lu_solve_samples,
    }
    /// The solution of `A X = input`, from the Cholesky factor of `A`.
    fn cholesky_solve [out] (input: Tensor, L: Tensor, upper: Bool = false) -> Tensor {
        run: super::cholesky_solve(input, L, *upper),
        grad: [reads inputs 1; outputs 0] |cx| cholesky_solve_grad(cx),
        samples: cholesky_solve_samples,
    }
    /// The inverse of a matrix, from its Cholesky factor.
    fn cholesky_inverse [out] (input: Tensor, upper: Bool = false) -> Tensor {
        run: {
            let n = square("cholesky_inverse", input)?;
            let shape = input.shape().to_vec();
            super::cholesky_solve(&unit(n, n, input)?.expand(shape)?, input, *upper).map_err(|e| e.in_op("cholesky_inverse"))
        },
        grad: [reads inputs 0; outputs 0] |cx| {
            let (l, x, g) = (cx.input(0)?, cx.output(0)?, cx.grad(0)?);
            let inner = x.matmul(&g.add(&adjoint(&g)?)?)?.matmul(&x)?;
            Ok(smallvec![Some(by_factor(&l, &inner, *cx.arg::<bool>(1)?)?)])
        },
        samples: cholesky_inverse_samples,
    }
    /// The solution of `A X = B` from the `LD` and `pivots` of `linalg_ldl_factor`.
    fn linalg_ldl_solve / linalg_ldl_solve_with [out] (input: Tensor, pivots: Tensor, B: Tensor; hermitian: Bool = false) -> Tensor {
        run: ldl_solve(input, pivots, B, *hermitian),
        samples: ldl_solve_samples,
    }
    /// The tensor `X` of `tensordot(input, X, X.dim()) = B`; `dims` of `input` are moved to its end first.
    fn linalg_tensorsolve [out] (input: Tensor, B: Tensor, dims: Dims = ()) -> Tensor {
        run: tensorsolve(input, B, dims),
        samples: tensorsolve_samples,
    }
    /// The inverse under `tensordot` over `ind` dimensions.
    fn linalg_tensorinv [out] (input: Tensor, ind: Int = 2) -> Tensor {
        run: tensorinv(input, *ind),
        samples: tensorinv_samples,
    }
}

fn solve_parts(a: &Tensor, b: &Tensor) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
    let (lu, pivots, info) = lu_factor_ex(a, true, false)?;
    let x = own("linalg_solve", b)?;
    let parts = Parts { b: Some(&x), pivots: Some(&pivots), ..Parts::default() };
    compute("linalg_solve", AlgebraTask::LuSolve { adjoint: false }, &lu, parts)?;
    Ok((x, lu, pivots, info))
}

/// `gB = A^-H g` and `gA = -gB X^H`, from the factors that there are unless these are differentiated too.
fn solve_grad(cx: &GradCx<'_>) -> Result<Grads> {
    let (g, x) = (cx.grad(0)?, cx.output(0)?);
    let gb = if crate::grad::is_grad_enabled() {
        adjoint(&cx.input(0)?)?.solve_parts(&g)?.0
    } else {
        cx.output(1)?.lu_solve_by(&cx.output(2)?, &g, true)?
    };
    let ga = if cx.needs(0) { Some(gb.matmul(&adjoint(&x)?)?.neg()?) } else { None };
    Ok(smallvec![ga, Some(gb)])
}

/// Whether `b` holds a vector to each matrix of `a`.
fn is_vector(a: &Tensor, b: &Tensor) -> bool {
    b.dim() == 1 || (b.dim() + 1 == a.dim() && b.shape() == &a.shape()[..a.dim() - 1])
}

fn solve_ex(
    op: &'static str,
    a: &Tensor,
    b: &Tensor,
    left: bool,
    check_errors: bool,
) -> Result<(Tensor, Tensor)> {
    let n = square(op, a)?;
    same_dtype(op, a, b)?;
    let vector = is_vector(a, b);
    ensure!(b.dim() > 0, Runtime, op, "the right-hand side is a number; give it rows");
    ensure!(
        !vector || left,
        Runtime,
        op,
        "vectors are solved for from the left; give B columns, shape {:?} has none",
        b.shape()
    );
    let rhs = if vector { b.unsqueeze(-1)? } else { b.clone() };
    let [rows, cols] = matrix(op, &rhs)?;
    ensure!(
        n == if left { rows } else { cols },
        Runtime,
        op,
        "matrices of shape {:?} and right-hand sides of shape {:?} do not fit",
        a.shape(),
        b.shape()
    );
    let turned = |t: &Tensor| if left { Ok(t.clone()) } else { t.transpose(-2, -1) };
    let (x, info) = solved(op, &turned(a)?, &turned(&rhs)?)?;
    if check_errors {
        check(op, &info, SINGULAR)?;
    }
    let x = turned(&x)?;
    Ok((if vector { x.squeeze(-1)? } else { x }, info))
}

/// The solution, each matrix factored once, however many right-hand sides it is repeated for.
fn solved(op: &'static str, a: &Tensor, b: &Tensor) -> Result<(Tensor, Tensor)> {
    let joint = crate::layout::broadcast_shapes(op, &[batch(a), batch(b)])?;
    if batch(a) == joint.as_slice() {
        let shape: Shape = joint.iter().chain(&b.shape()[b.dim() - 2..]).copied().collect();
        let (x, _, _, info) = a.solve_parts(&b.expand(shape)?)?;
        return Ok((x, info));
    }
    let (lu, pivots, info) = a.linalg_lu_factor_ex()?;
    let (wide, b) = broadcast_batches(op, &lu, b)?;
    let shape: Shape = wide.shape()[..wide.dim() - 1].into();
    Ok((wide.lu_solve_by(&pivots.expand(shape)?, &b, false)?, info))
}

fn inv_ex(op: &'static str, a: &Tensor, check_errors: bool) -> Result<(Tensor, Tensor)> {
    let n = square(op, a)?;
    let eye = unit(n, n, a)?.expand(a.shape())?;
    let (x, _, _, info) = solve_parts(a, &eye)?;
    if check_errors {
        check(op, &info, SINGULAR)?;
    }
    Ok((x, info))
}

fn triangular(a: &Tensor, b: &Tensor, upper: bool, unit: bool, adjoint: bool) -> Result<Tensor> {
    let op = "linalg_solve_triangular";
    fitting(op, a, b)?;
    let (a, b) = broadcast_batches(op, a, b)?;
    let (a, x) = (own(op, &a)?, own(op, &b)?);
    let task = AlgebraTask::SolveTriangular { upper, unit, adjoint };
    compute(op, task, &a, Parts { b: Some(&x), ..Parts::default() })?;
    Ok(x)
}

/// `gB = A^-H g` and the triangle of `gA = -gB X^H`; for the adjoint the same with sides exchanged.
fn triangular_grad(cx: &GradCx<'_>) -> Result<Grads> {
    let (g, a, x) = (cx.grad(0)?, cx.input(0)?, cx.output(0)?);
    let (upper, unit, turned) = (*cx.arg::<bool>(2)?, *cx.arg::<bool>(3)?, *cx.arg::<bool>(4)?);
    let gb = a.solve_triangular_by(&g, upper, unit, !turned)?;
    let mut grads: Grads = smallvec![None, None];
    if cx.needs(0) {
        let full = if turned { x.matmul(&adjoint(&gb)?)? } else { gb.matmul(&adjoint(&x)?)? }.neg()?;
        let off = i64::from(unit);
        let part = if upper { full.triu(off)? } else { full.tril(-off)? };
        grads[0] = Some(crate::grad::sum_to(&part, a.shape())?);
    }
    grads[1] = Some(crate::grad::sum_to(&gb, &cx.info(1)?.shape)?);
    Ok(grads)
}

fn solve_triangular(a: &Tensor, b: &Tensor, upper: bool, left: bool, unit: bool) -> Result<Tensor> {
    let op = "linalg_solve_triangular";
    let n = square(op, a)?;
    same_dtype(op, a, b)?;
    let [rows, cols] = matrix(op, b)?;
    ensure!(
        n == if left { rows } else { cols },
        Runtime,
        op,
        "matrices of shape {:?} and right-hand sides of shape {:?} do not fit",
        a.shape(),
        b.shape()
    );
    crate::layout::broadcast_shapes(op, &[batch(a), batch(b)])?;
    if left {
        return a.solve_triangular_by(b, upper, unit, false);
    }
    let turned = a.transpose(-2, -1)?.solve_triangular_by(&b.transpose(-2, -1)?, !upper, unit, false)?;
    turned.transpose(-2, -1)
}

fn triangular_solve_of(
    b: &Tensor,
    a: &Tensor,
    upper: bool,
    transpose: bool,
    unit: bool,
) -> Result<(Tensor, Tensor)> {
    let op = "triangular_solve";
    square(op, a)?;
    matrix(op, b)?;
    let (a, b) = broadcast_batches(op, a, b)?;
    let (m, up) = if transpose { (a.transpose(-2, -1)?, !upper) } else { (a.clone(), upper) };
    let x = m.linalg_solve_triangular_with(&b, up, true, unit).map_err(|e| e.in_op(op))?;
    Ok((x, a.copy()?))
}

fn lu_solved(lu: &Tensor, pivots: &Tensor, b: &Tensor, adjoint: bool) -> Result<Tensor> {
    let op = "linalg_lu_solve";
    let (lu, x) = (own(op, lu)?, own(op, b)?);
    let pivots = own_list(op, pivots)?;
    let parts = Parts { b: Some(&x), pivots: Some(&pivots), ..Parts::default() };
    check(op, &compute(op, AlgebraTask::LuSolve { adjoint }, &lu, parts)?, SINGULAR)?;
    Ok(x)
}

/// As for any system, the gradient by the matrix split into those by its factors.
fn lu_solve_grad(cx: &GradCx<'_>) -> Result<Grads> {
    let (g, lu, pivots, x) = (cx.grad(0)?, cx.input(0)?, cx.input(1)?, cx.output(0)?);
    let turned = *cx.arg::<bool>(3)?;
    let gb = lu.lu_solve_by(&pivots, &g, !turned)?;
    let mut grads: Grads = smallvec![None, None, None];
    if cx.needs(0) {
        let n = square("linalg_lu_solve", &lu)?;
        let ga = if turned { x.matmul(&adjoint(&gb)?)? } else { gb.matmul(&adjoint(&x)?)? }.neg()?;
        let [from, _] = super::factor::permutations(&pivots, n)?;
        let rows = ga.gather(-2, &from.unsqueeze(-1)?.expand(ga.shape())?)?;
        let lower = lu.tril(-1)?.add(&unit(n, n, &lu)?)?;
        let gl = rows.matmul(&adjoint(&lu.triu(0)?)?)?.tril(-1)?;
        grads[0] = Some(gl.add(&adjoint(&lower)?.matmul(&rows)?.triu(0)?)?);
    }
    grads[2] = Some(gb);
    Ok(grads)
}

fn lu_solve(
    op: &'static str,
    lu: &Tensor,
    pivots: &Tensor,
    b: &Tensor,
    left: bool,
    turned: bool,
) -> Result<Tensor> {
    let n = square(op, lu)?;
    same_dtype(op, lu, b)?;
    ensure!(pivots.dtype() == DType::I32, Runtime, op, "the pivots must be int32, not {}", pivots.dtype());
    let [rows, cols] = matrix(op, b)?;
    let fits = pivots.shape() == &lu.shape()[..lu.dim() - 1] && n == if left { rows } else { cols };
    ensure!(
        fits,
        Runtime,
        op,
        "factors of shape {:?}, pivots of shape {:?} and right-hand sides of shape {:?} do not fit",
        lu.shape(),
        pivots.shape(),
        b.shape()
    );
    let (lu, b) = broadcast_batches(op, lu, b)?;
    let shape: Shape = batch(&lu).iter().copied().chain([n]).collect();
    let pivots = pivots.expand(shape)?;
    if left {
        return lu.lu_solve_by(&pivots, &b, turned);
    }
    adjoint(&lu.lu_solve_by(&pivots, &adjoint(&b)?, !turned)?)
}

fn cholesky_solve(b: &Tensor, l: &Tensor, upper: bool) -> Result<Tensor> {
    let op = "cholesky_solve";
    let n = square(op, l)?;
    same_dtype(op, b, l)?;
    let [rows, _] = matrix(op, b)?;
    ensure!(n == rows, Runtime, op, "a factor of shape {:?} does not fit shape {:?}", l.shape(), b.shape());
    let (l, b) = broadcast_batches(op, l, b)?;
    let half = l.solve_triangular_by(&b, upper, false, upper)?;
    l.solve_triangular_by(&half, upper, false, !upper)
}

/// What a change of the factor does to its product, as a gradient, both triangles of it.
fn by_factor(l: &Tensor, inner: &Tensor, upper: bool) -> Result<Tensor> {
    if upper { l.matmul(inner)?.neg() } else { inner.matmul(l)?.neg() }
}

/// `gB = A^-1 g`; by `A = L L^H` it is `-(gB X^H + X gB^H) L`.
fn cholesky_solve_grad(cx: &GradCx<'_>) -> Result<Grads> {
    let (l, x, upper) = (cx.input(1)?, cx.output(0)?, *cx.arg::<bool>(2)?);
    let gb = cx.grad(0)?.cholesky_solve(&l, upper)?;
    let mut grads: Grads = smallvec![None, None];
    if cx.needs(1) {
        let half = gb.matmul(&adjoint(&x)?)?;
        let gl = by_factor(&l, &half.add(&adjoint(&half)?)?, upper)?;
        grads[1] = Some(crate::grad::sum_to(&gl, l.shape())?);
    }
    grads[0] = Some(crate::grad::sum_to(&gb, &cx.info(0)?.shape)?);
    Ok(grads)
}

fn ldl_solve(ld: &Tensor, pivots: &Tensor, b: &Tensor, hermitian: bool) -> Result<Tensor> {
    let op = "linalg_ldl_solve";
    let n = square(op, ld)?;
    same_dtype(op, ld, b)?;
    let [rows, _] = matrix(op, b)?;
    let fits = pivots.shape() == &ld.shape()[..ld.dim() - 1] && pivots.dtype() == DType::I32 && rows == n;
    ensure!(
        fits,
        Runtime,
        op,
        "factors of shape {:?}, pivots of {} and shape {:?} and right-hand sides of shape {:?} do not fit",
        ld.shape(),
        pivots.dtype(),
        pivots.shape(),
        b.shape()
    );
    let (ld, b) = broadcast_batches(op, ld, b)?;
    let shape: Shape = batch(&ld).iter().copied().chain([n]).collect();
    let pivots = own_list(op, &pivots.expand(shape)?)?;
    let (ld, x) = (own(op, &ld)?, own(op, &b)?);
    let parts = Parts { b: Some(&x), pivots: Some(&pivots), ..Parts::default() };
    check(op, &compute(op, AlgebraTask::LdlSolve { hermitian }, &ld, parts)?, INDEFINITE)?;
    Ok(x)
}

fn tensorsolve(a: &Tensor, b: &Tensor, dims: &Dims) -> Result<Tensor> {
    let op = "linalg_tensorsolve";
    let moved = match dims {
        Dims::All => a.clone(),
        Dims::List(list) => {
            let end: Vec<isize> = (0..list.len() as isize).map(|i| i - list.len() as isize).collect();
            a.movedim(dims.clone(), end.as_slice())?
        }
    };
    ensure!(
        moved.dim() >= b.dim(),
        Runtime,
        op,
        "a tensor of shape {:?} is too small for {:?}",
        a.shape(),
        b.shape()
    );
    let tail = moved.shape()[b.dim()..].to_vec();
    let n: usize = tail.iter().product();
    ensure!(
        n == b.numel() && moved.numel() == n * n,
        Runtime,
        op,
        "shape {:?} is no square system for a right-hand side of shape {:?}",
        moved.shape(),
        b.shape()
    );
    let x = moved.reshape([n, n])?.linalg_solve(&b.reshape(n)?).map_err(|e| e.in_op(op))?;
    x.reshape(tail)
}

fn tensorinv(a: &Tensor, ind: i64) -> Result<Tensor> {
    let op = "linalg_tensorinv";
    ensure!(ind > 0, Runtime, op, "ind = {ind} must be positive");
    let cut = usize::try_from(ind).unwrap_or(usize::MAX).min(a.dim());
    let (head, tail) = a.shape().split_at(cut);
    let (m, n): (usize, usize) = (head.iter().product(), tail.iter().product());
    ensure!(m == n, Runtime, op, "shape {:?} is not square when cut after {ind} dimensions", a.shape());
    let shape: Vec<usize> = tail.iter().chain(head).copied().collect();
    let x = a.reshape([m, n])?.linalg_inv_ex_with(true);
    x.map_err(|e| if e.kind() == Kind::LinAlg { e.in_op(op) } else { e })?.0.reshape(shape)
}
