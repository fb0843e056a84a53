//! Matrix products: one primitive row, and torch's names made of it.
//!
//! Operands are never copied for their strides; batch dimensions are broadcast by stride 0.

use crate::backend::Matmul;
use crate::exec;
use crate::grad::{GradCx, Grads, sum_to};
use crate::layout::broadcast_shapes;
use crate::mem::Place;
use crate::op::{Sample, Value, samples};
use crate::{DType, Layout, Number, Result, Shape, Tensor, ensure};
use smallvec::{SmallVec, smallvec};

ops! { MATMUL;
    /// `input @ other`. Vectors are rows on the left and columns on the right; batch dimensions
    /// broadcast. Both operands have one dtype, bool excepted.
    ///
    /// ```
    /// # use rushlight::Tensor;
    /// let a = Tensor::from_vec(vec![1f32, 2., 3., 4.], [2, 2])?;
    /// let v = Tensor::from_vec(vec![1f32, 10.], [2])?;
    /// assert_eq!(a.matmul(&v)?.to_vec::<f32>()?, [21., 43.]);
    /// assert_eq!(a.matmul(&a.t()?)?.to_vec::<f32>()?, [5., 11., 11., 25.]);
    /// # Ok::<(), rushlight::Error>(())
    /// ```
    fn matmul as matmul | linalg_matmul [out] (input: Tensor, other: Tensor) -> Tensor {
        run: super::matmul(input, other),
        grad: [reads inputs 0 1; outputs; cross] |cx| matmul_grad(cx),
        samples: matmul_samples,
    }
    /// Product of two matrices.
    fn mm [out] (input: Tensor, mat2: Tensor) -> Tensor {
        run: ranked("mm", input, mat2, 2, 2),
        samples: mm_samples,
    }
    /// Products of two equally long batches of matrices.
    fn bmm [out] (input: Tensor, mat2: Tensor) -> Tensor {
        run: super::bmm(input, mat2),
        samples: bmm_samples,
    }
    /// Product of a matrix and a vector.
    fn mv [out] (input: Tensor, vec: Tensor) -> Tensor {
        run: ranked("mv", input, vec, 2, 1),
        samples: mv_samples,
    }
    /// Inner product of two vectors.
    fn dot [out] (input: Tensor, tensor: Tensor) -> Tensor {
        run: ranked("dot", input, tensor, 1, 1),
        samples: dot_samples,
    }
    /// Every product of an element of one vector with an element of the other.
    fn outer as outer | ger [out casts] (input: Tensor, vec2: Tensor) -> Tensor {
        run: super::outer(input, vec2),
        samples: dot_samples,
    }
    /// `beta * input + alpha * (mat1 @ mat2)`; `input` broadcasts.
    fn addmm / addmm_with, inplace addmm_ [out] (input: Tensor, mat1: Tensor, mat2: Tensor; beta: Number = 1, alpha: Number = 1) -> Tensor {
        run: scaled("addmm", input, &mat1.mm(mat2)?, *beta, *alpha),
        samples: addmm_samples,
    }
    /// `beta * input + alpha * (mat @ vec)`; `input` broadcasts.
    fn addmv / addmv_with, inplace addmv_ [out] (input: Tensor, mat: Tensor, vec: Tensor; beta: Number = 1, alpha: Number = 1) -> Tensor {
        run: scaled("addmv", input, &mat.mv(vec)?, *beta, *alpha),
        samples: addmv_samples,
    }
    /// `beta * input + alpha * (batch1 @ batch2)` for batches of matrices; `input` broadcasts.
    fn baddbmm / baddbmm_with, inplace baddbmm_ [out] (input: Tensor, batch1: Tensor, batch2: Tensor; beta: Number = 1, alpha: Number = 1) -> Tensor {
        run: scaled("baddbmm", input, &batch1.bmm(batch2)?, *beta, *alpha),
        samples: baddbmm_samples,
    }
    /// `input @ weight.t() + bias`, weights as rows: `[.., in] x [out, in] -> [.., out]`.
    fn linear [out] (input: Tensor, weight: Tensor, bias: OptTensor = None) -> Tensor {
        run: super::linear(input, weight, bias.as_ref()),
        samples: linear_samples,
    }
}

/// Operand shapes as matrices with batch dimensions in front.
struct Plan {
    /// Layouts broadcast to the common batch.
    a: Layout,
    b: Layout,
    /// Shape of the product with both matrix dimensions.
    full: Shape,
    /// The same without those that vectors lack.
    result: Shape,
}

fn plan(x: &Tensor, y: &Tensor) -> Result<Plan> {
    ensure!(
        x.dim() > 0 && y.dim() > 0,
        Runtime,
        "matmul",
        "shapes {:?} and {:?}: a number has no rows or columns; multiply with mul",
        x.shape(),
        y.shape()
    );
    let a = if x.dim() == 1 { x.layout().unsqueeze(0)? } else { x.layout().clone() };
    let b = if y.dim() == 1 { y.layout().unsqueeze(1)? } else { y.layout().clone() };
    let (ra, rb) = (a.rank() - 2, b.rank() - 2);
    let (m, k, n) = (a.shape()[ra], a.shape()[ra + 1], b.shape()[rb + 1]);
    ensure!(
        b.shape()[rb] == k,
        Runtime,
        "matmul",
        "shapes {:?} and {:?} do not fit: {k} columns meet {} rows",
        x.shape(),
        y.shape(),
        b.shape()[rb]
    );
    let batch = broadcast_shapes("matmul", &[&a.shape()[..ra], &b.shape()[..rb]])?;
    let with = |tail: [usize; 2]| -> Shape { batch.iter().copied().chain(tail).collect() };
    let full = with([m, n]);
    let mut result = full.clone();
    if y.dim() == 1 {
        result.pop();
    }
    if x.dim() == 1 {
        result.remove(batch.len());
    }
    Ok(Plan { a: a.broadcast_to(&with([m, k]))?, b: b.broadcast_to(&with([k, n]))?, full, result })
}

fn matmul(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    ensure!(
        x.dtype() == y.dtype(),
        Runtime,
        "matmul",
        "operands of {} and {}; products do not promote, convert one with to_dtype",
        x.dtype(),
        y.dtype()
    );
    ensure!(
        x.dtype() != DType::Bool,
        NotImplemented,
        "matmul",
        "is not defined for bool; convert with to_dtype"
    );
    exec::common_device("matmul", [x, y])?;
    let plan = plan(x, y)?;
    let out = Tensor::alloc(Layout::contiguous(plan.full)?, x.dtype(), x.device())?;
    if out.numel() > 0 {
        let places = [Place { layout: &plan.a, ..x.place() }, Place { layout: &plan.b, ..y.place() }];
        exec::call("matmul", &[&out], &places, |backend, outs, ins| {
            backend.matmul(&Matmul {
                out: outs[0],
                a: ins[0],
                b: ins[1],
                alpha: Number::Int(1),
                beta: Number::Int(0),
            })
        })?;
    }
    Ok(Tensor::assemble(out.storage().clone(), Layout::contiguous(plan.result)?, x.dtype(), None, None))
}

/// `g @ b^H` and `a^H @ g`, summed over broadcast batches; vectors as the matrices they stand for.
fn matmul_grad(cx: &GradCx<'_>) -> Result<Grads> {
    let (sa, sb) = (cx.info(0)?.shape, cx.info(1)?.shape);
    let mut g = cx.grad(0)?;
    if sb.len() == 1 {
        g = g.unsqueeze(-1)?;
    }
    if sa.len() == 1 {
        g = g.unsqueeze(-2)?;
    }
    let fit = |t: Tensor, shape: &[usize], matrix: SmallVec<[usize; 6]>| -> Result<Tensor> {
        let t = sum_to(&t, &matrix)?;
        if shape.len() == 1 { t.reshape(shape) } else { Ok(t) }
    };
    let mut grads: Grads = smallvec![None, None];
    if cx.needs(0) {
        let b = cx.input(1)?;
        let b = if sb.len() == 1 { b.unsqueeze(1)? } else { b };
        let matrix = if sa.len() == 1 { smallvec![1, sa[0]] } else { sa.clone() };
        grads[0] = Some(fit(g.matmul(&b.transpose(-1, -2)?.conj_physical()?)?, &sa, matrix)?);
    }
    if cx.needs(1) {
        let a = cx.input(0)?;
        let a = if sa.len() == 1 { a.unsqueeze(0)? } else { a };
        let matrix = if sb.len() == 1 { smallvec![sb[0], 1] } else { sb.clone() };
        grads[1] = Some(fit(a.transpose(-1, -2)?.conj_physical()?.matmul(&g)?, &sb, matrix)?);
    }
    Ok(grads)
}

fn ranked(op: &'static str, x: &Tensor, y: &Tensor, a: usize, b: usize) -> Result<Tensor> {
    ensure!(
        x.dim() == a && y.dim() == b,
        Runtime,
        op,
        "takes operands of {a} and {b} dimensions, not of shapes {:?} and {:?}; matmul takes any",
        x.shape(),
        y.shape()
    );
    x.matmul(y).map_err(|e| e.in_op(op))
}

fn bmm(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    let batches = x.dim() == 3 && y.dim() == 3 && x.shape()[0] == y.shape()[0];
    ensure!(
        batches,
        Runtime,
        "bmm",
        "takes two batches of as many matrices, not shapes {:?} and {:?}; matmul broadcasts",
        x.shape(),
        y.shape()
    );
    ranked("bmm", x, y, 3, 3)
}

fn outer(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    ensure!(
        x.dim() == 1 && y.dim() == 1,
        Runtime,
        "outer",
        "takes two vectors, not shapes {:?} and {:?}",
        x.shape(),
        y.shape()
    );
    x.unsqueeze(1)?.mul(y)
}

pub(super) fn scaled(
    op: &'static str,
    input: &Tensor,
    product: &Tensor,
    beta: Number,
    alpha: Number,
) -> Result<Tensor> {
    ensure!(
        input.dtype() == product.dtype(),
        Runtime,
        op,
        "input of {} and a product of {}; convert one with to_dtype",
        input.dtype(),
        product.dtype()
    );
    let fits = broadcast_shapes(op, &[input.shape(), product.shape()])
        .is_ok_and(|s| s.as_slice() == product.shape());
    ensure!(
        fits,
        Runtime,
        op,
        "input of shape {:?} does not broadcast to the product's {:?}",
        input.shape(),
        product.shape()
    );
    let [beta, alpha] = super::product::factors(op, product.dtype(), [beta, alpha])?;
    let one = |n: Number| n.category() <= crate::Category::Float && n.to_f64() == 1.0;
    let product = if one(alpha) { product.clone() } else { product.mul(alpha)? };
    // With beta 0 the input counts for nothing, NaN included.
    if !beta.to_bool() {
        if !input.requires_grad() {
            return Ok(product);
        }
        // It still has a gradient, of 0.
        let nothing = Tensor::where_cond(&Tensor::scalar(false)?, input, 0)?;
        return product.add(&nothing);
    }
    if one(beta) { product.add(input) } else { product.add(&input.mul(beta)?) }
}

fn linear(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
    ensure!(
        matches!(weight.dim(), 1 | 2),
        Runtime,
        "linear",
        "the weight has shape {:?}; it must be [out, in] or [in]",
        weight.shape()
    );
    let y = x.matmul(&weight.t()?).map_err(|e| e.in_op("linear"))?;
    match bias {
        Some(b) => y.add(b),
        None => Ok(y),
    }
}

fn pairs(cases: &[(&[usize], &[usize])]) -> Vec<Sample> {
    cases
        .iter()
        .enumerate()
        .filter_map(|(k, (a, b))| {
            let args = smallvec![
                Value::Tensor(samples::values(a, k).ok()?),
                Value::Tensor(samples::values(b, k + 7).ok()?)
            ];
            Some(Sample { args, grad: true })
        })
        .collect()
}
fn matmul_samples() -> Vec<Sample> {
    pairs(&[
        (&[3, 4], &[4, 2]),
        (&[4], &[4]),
        (&[4], &[4, 2]),
        (&[3, 4], &[4]),
        (&[2, 3, 4], &[4, 2]),
        (&[4], &[2, 4, 3]),
        (&[2, 1, 3, 4], &[3, 4, 2]),
        (&[2, 3, 4], &[4]),
        (&[3, 0], &[0, 2]),
        (&[0, 3], &[3, 2]),
        (&[1, 5], &[5, 7]),
    ])
}
fn mm_samples() -> Vec<Sample> {
    pairs(&[(&[3, 4], &[4, 2]), (&[1, 1], &[1, 1])])
}
fn bmm_samples() -> Vec<Sample> {
    pairs(&[(&[2, 3, 4], &[2, 4, 2]), (&[0, 3, 4], &[0, 4, 2])])
}
fn mv_samples() -> Vec<Sample> {
    pairs(&[(&[3, 4], &[4])])
}
fn dot_samples() -> Vec<Sample> {
    pairs(&[(&[4], &[4]), (&[1], &[1])])
}
fn addmm_samples() -> Vec<Sample> {
    with_factors(&[
        (1.0, 1.0, [&[3, 2], &[3, 4], &[4, 2]]),
        (0.5, 2.0, [&[2], &[3, 4], &[4, 2]]),
        (0.0, 1.0, [&[], &[3, 4], &[4, 2]]),
    ])
}
fn addmv_samples() -> Vec<Sample> {
    with_factors(&[(1.0, 1.0, [&[3], &[3, 4], &[4]]), (0.5, 2.0, [&[], &[3, 0], &[0]])])
}
fn baddbmm_samples() -> Vec<Sample> {
    with_factors(&[
        (1.0, 1.0, [&[2, 3, 2], &[2, 3, 4], &[2, 4, 2]]),
        (0.5, 2.0, [&[3, 1], &[2, 3, 4], &[2, 4, 2]]),
    ])
}
/// Factors of the input and the product, and the shapes of the three tensors.
pub(super) fn with_factors(cases: &[(f64, f64, [&[usize]; 3])]) -> Vec<Sample> {
    let number = |x: f64| Value::Number(Number::Float(x));
    cases
        .iter()
        .filter_map(|(beta, alpha, shapes)| {
            let mut args = crate::op::Args::new();
            for (k, s) in shapes.iter().enumerate() {
                args.push(Value::Tensor(samples::values(s, k + 1).ok()?));
            }
            args.extend([number(*beta), number(*alpha)]);
            Some(Sample { args, grad: true })
        })
        .collect()
}
fn linear_samples() -> Vec<Sample> {
    [(&[3, 4][..], true), (&[4], true), (&[2, 3, 4], false)]
        .into_iter()
        .filter_map(|(shape, bias)| {
            let bias = if bias { Some(samples::values(&[2], 3).ok()?) } else { None };
            let args = smallvec![
                Value::Tensor(samples::values(shape, 1).ok()?),
                Value::Tensor(samples::values(&[2, 4], 2).ok()?),
                Value::OptTensor(bias)
            ];
            Some(Sample { args, grad: true })
        })
        .collect()
}
