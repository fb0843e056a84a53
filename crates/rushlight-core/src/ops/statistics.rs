//! Spread, norms and extrema with positions, built on reductions.

use super::reduce::{Plan, axes, reduce, spread};
use crate::backend::{ReduceOp, Stage};
use crate::exec;
use crate::op::{Dims, Sample, Value, samples};
use crate::program::{Program, Sort, trace};
use crate::{DType, Number, Result, Tensor, ensure};
use smallvec::smallvec;
use std::iter::once;
use std::sync::LazyLock;

ops! { STATISTICS;
    /// Variance over `dim`, divided by `n - correction`. Two passes: the mean, then squared distances from it.
    fn var / var_with [out casts] (input: Tensor, dim: Dims = (); correction: Float = 1.0, keepdim: Bool = false) -> Tensor {
        run: super::var(input, dim, *correction, *keepdim),
        grad: [reads inputs 0; outputs] |cx| {
            let x = cx.input(0)?;
            let (dim, correction, keepdim) = (cx.arg::<Dims>(1)?, *cx.arg::<f64>(2)?, *cx.arg::<bool>(3)?);
            let n = count(&x, dim)?;
            let g = spread(&cx.grad(0)?, x.shape(), dim, keepdim)?.to_dtype(x.dtype())?;
            let away = x.sub(&x.mean(dim.clone(), true)?)?;
            Ok(smallvec![Some(g.mul(&away)?.mul(2.0 / (n - correction).max(0.0))?)])
        },
        samples: var_samples,
    }
    /// Standard deviation over `dim`: the root of [`Tensor::var`].
    fn std / std_with [out casts] (input: Tensor, dim: Dims = (); correction: Float = 1.0, keepdim: Bool = false) -> Tensor {
        run: input.var_with(dim.clone(), *correction, *keepdim)?.sqrt(),
        samples: var_samples,
    }
    /// `p`-norm of the elements over `dim`; `p` may be infinite. The gradient at a zero 2-norm is 0.
    fn norm [out] (input: Tensor, p: Float = 2.0, dim: Dims = (), keepdim: Bool = false) -> Tensor {
        run: input.vector_norm_of(*p, dim.clone(), *keepdim).map_err(|e| e.in_op("norm")),
        samples: norm_samples,
    }
    /// Logarithm of the sum of exponentials over `dim`; exact for large inputs, -inf where all are -inf.
    fn logsumexp [out casts] (input: Tensor, dim: Dims, keepdim: Bool = false) -> Tensor {
        run: super::logsumexp(input, dim, *keepdim),
        samples: logsumexp_samples,
    }
    /// Largest elements along `dim` and their positions; the gradient goes to the first.
    fn max_dim as max [out] (input: Tensor, dim: Int, keepdim: Bool = false) -> (Tensor, Tensor) {
        run: choose(input, *dim, *keepdim, true),
        samples: choose_samples,
    }
    /// Smallest elements along `dim` and their positions; the gradient goes to the first.
    fn min_dim as min [out] (input: Tensor, dim: Int, keepdim: Bool = false) -> (Tensor, Tensor) {
        run: choose(input, *dim, *keepdim, false),
        samples: choose_samples,
    }
}

static SQUARED_DISTANCE: LazyLock<Program> = LazyLock::new(|| {
    exec::fixed(trace(&[Sort::Num, Sort::Num], 0, |x| {
        let d = x[0] - x[1];
        vec![d * d]
    }))
});
static DIVIDE: LazyLock<Program> =
    LazyLock::new(|| exec::fixed(trace(&[Sort::Num], 1, |x| vec![x[0] / x[1]])));

/// How many elements make one result.
fn count(x: &Tensor, dim: &Dims) -> Result<f64> {
    let mask = axes("var", x.dim(), dim)?;
    Ok(x.shape().iter().enumerate().filter(|(d, _)| mask >> d & 1 == 1).map(|(_, n)| *n as f64).product())
}

fn var(x: &Tensor, dim: &Dims, correction: f64, keepdim: bool) -> Result<Tensor> {
    if x.dtype().is_complex() {
        // Squared distances in the plane: the parts' variances together.
        let mask = axes("var", x.dim(), dim)?;
        let axes: Vec<usize> = (0..x.dim()).filter(|d| mask >> d & 1 == 1).collect();
        let parts = x.detach()?.view_as_real()?;
        let each = parts.unsqueeze(0)?.var_with(
            once(0).chain(axes.into_iter().map(|d| d + 1)).collect::<Vec<usize>>(),
            correction,
            keepdim,
        )?;
        let sum = each.sum(-1, false)?;
        return if keepdim { sum.squeeze(0) } else { Ok(sum) };
    }
    ensure!(
        x.dtype().is_float(),
        NotImplemented,
        "var",
        "is not defined for {}; convert with to_dtype to a float",
        x.dtype()
    );
    let mean = x.mean(dim.clone(), true)?;
    let n = count(x, dim)?;
    let plan = Plan {
        op: "var",
        kind: ReduceOp::Sum,
        common: x.dtype(),
        result: x.dtype(),
        axes: axes("var", x.dim(), dim)?,
        keepdim,
        pre: Some(Stage { program: &SQUARED_DISTANCE, params: &[] }),
        post: Some(Stage { program: &DIVIDE, params: &[Number::Float((n - correction).max(0.0))] }),
    };
    reduce(&plan, &[x, &mean])
}

fn logsumexp(x: &Tensor, dim: &Dims, keepdim: bool) -> Result<Tensor> {
    let x = if x.dtype().is_integral() { x.to_dtype(crate::default_dtype())? } else { x.clone() };
    if x.numel() == 0 {
        return x.exp()?.sum(dim.clone(), keepdim)?.log();
    }
    let peak = x.detach()?.amax(dim.clone(), true)?;
    // An infinite peak would give inf - inf: leave such rows where they are.
    let shift = Tensor::where_cond(&peak.isinf()?, 0.0, &peak)?.to_dtype(x.dtype())?;
    let sum = x.sub(&shift)?.exp()?.sum(dim.clone(), true)?.log()?.add(&shift)?;
    if keepdim { Ok(sum) } else { sum.sum(dim.clone(), false) }
}

fn choose(x: &Tensor, dim: i64, keepdim: bool, largest: bool) -> Result<(Tensor, Tensor)> {
    let op = if largest { "max" } else { "min" };
    if x.dim() == 0 {
        crate::layout::dim_index(op, dim as isize, 0)?;
        let zero = Tensor::scalar_of(Number::Int(0), DType::I64, x.device())?;
        return Ok((x.copy()?, zero));
    }
    let bits = if x.dtype() == DType::Bool { x.to_dtype(DType::U8)? } else { x.clone() };
    let at = if largest { bits.argmax(Some(dim), true)? } else { bits.argmin(Some(dim), true)? };
    let values = x.gather(dim, &at)?;
    if keepdim { Ok((values, at)) } else { Ok((values.squeeze(dim)?, at.squeeze(dim)?)) }
}

fn var_samples() -> Vec<Sample> {
    let cases: [(&[usize], Dims); 5] = [
        (&[3, 4], Dims::All),
        (&[3, 4], 0.into()),
        (&[2, 3, 4], [0, 2].into()),
        (&[5], 0.into()),
        (&[2, 3], (-1).into()),
    ];
    let mut all = Vec::new();
    for (salt, (shape, dim)) in cases.into_iter().enumerate() {
        let Ok(x) = samples::values(shape, salt) else { continue };
        for (correction, keepdim) in [(1.0, false), (0.0, true)] {
            let args = smallvec![
                Value::Tensor(x.clone()),
                Value::Dims(dim.clone()),
                Value::Float(correction),
                Value::Bool(keepdim)
            ];
            all.push(Sample { args, grad: true });
        }
    }
    all
}

fn norm_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for (salt, p) in [2.0, 1.0, 3.0, f64::INFINITY, 0.0].into_iter().enumerate() {
        for (shape, dim) in
            [(&[3, 4][..], Dims::All), (&[3, 4], Dims::from(0)), (&[2, 3, 2], Dims::from([0, 2]))]
        {
            let Ok(x) = samples::values(shape, salt) else { continue };
            let args =
                smallvec![Value::Tensor(x), Value::Float(p), Value::Dims(dim), Value::Bool(salt % 2 == 0)];
            all.push(Sample { args, grad: true });
        }
    }
    all
}

fn logsumexp_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for (salt, (shape, dim)) in
        [(&[3, 4][..], Dims::from(1)), (&[2, 3, 4], Dims::from([0, 2])), (&[5], Dims::from(0))]
            .into_iter()
            .enumerate()
    {
        let Ok(x) = samples::values(shape, salt) else { continue };
        for keepdim in [false, true] {
            all.push(Sample {
                args: smallvec![Value::Tensor(x.clone()), Value::Dims(dim.clone()), Value::Bool(keepdim)],
                grad: true,
            });
        }
    }
    all
}

fn choose_samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for (salt, (shape, dim)) in
        [(&[3, 4][..], 1), (&[2, 3, 4], 0), (&[5], -1), (&[], 0)].into_iter().enumerate()
    {
        let Ok(x) = samples::values(shape, salt) else { continue };
        for keepdim in [false, true] {
            all.push(Sample {
                args: smallvec![Value::Tensor(x.clone()), Value::Int(dim), Value::Bool(keepdim)],
                grad: true,
            });
        }
    }
    all
}
