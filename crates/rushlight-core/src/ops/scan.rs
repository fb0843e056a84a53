//! Running sums and products, and softmax.

use crate::backend::{Fused, ReduceOp, Scan};
use crate::exec;
use crate::grad::GradCx;
use crate::layout::dim_index;
use crate::op::{Sample, Value, compute_type, samples};
use crate::{DType, Layout, Result, Tensor, ensure};
use smallvec::smallvec;

ops! { SCAN;
    /// Running sum along `dim`. Bool and integers sum to int64.
    fn cumsum / cumsum_with, inplace cumsum_ [out] (input: Tensor, dim: Int; dtype: OptDType = None) -> Tensor {
        run: running("cumsum", ReduceOp::Sum, input, *dim, *dtype),
        grad: [reads inputs; outputs] |cx| {
            let dim = *cx.arg::<i64>(1)?;
            let g = cx.grad(0)?;
            Ok(smallvec![Some(if g.dim() == 0 { g } else { g.flip(dim)?.cumsum(dim)?.flip(dim)? })])
        },
        samples: scan_samples,
    }
    /// Running product along `dim`. Bool and integers give int64.
    fn cumprod / cumprod_with, inplace cumprod_ [out] (input: Tensor, dim: Int; dtype: OptDType = None) -> Tensor {
        run: running("cumprod", ReduceOp::Prod, input, *dim, *dtype),
        grad: [reads inputs 0; outputs] |cx| Ok(smallvec![Some(cumprod_grad(cx)?)]),
        samples: scan_samples,
    }
    /// `exp(input) / sum(exp(input))` along `dim`, computed from the largest element down. Floats only.
    fn softmax / softmax_with [out] (input: Tensor, dim: Int; dtype: OptDType = None) -> Tensor {
        run: normalized("softmax", input, *dim, *dtype, false),
        grad: [reads inputs; outputs 0] |cx| {
            let (g, y, dim) = (cx.grad(0)?, cx.output(0)?, *cx.arg::<i64>(1)?);
            let gy = g.mul(&y)?;
            let sum = if gy.dim() == 0 { gy.clone() } else { gy.sum(dim, true)? };
            Ok(smallvec![Some(gy.sub(&y.mul(&sum)?)?)])
        },
        samples: softmax_samples,
    }
    /// Logarithm of [`Tensor::softmax`], exact where that is tiny.
    fn log_softmax / log_softmax_with [out] (input: Tensor, dim: Int; dtype: OptDType = None) -> Tensor {
        run: normalized("log_softmax", input, *dim, *dtype, true),
        grad: [reads inputs; outputs 0] |cx| {
            let (g, y, dim) = (cx.grad(0)?, cx.output(0)?, *cx.arg::<i64>(1)?);
            let sum = if g.dim() == 0 { g.clone() } else { g.sum(dim, true)? };
            Ok(smallvec![Some(g.sub(&y.exp()?.mul(&sum)?)?)])
        },
        samples: softmax_samples,
    }
}

fn running(op: &'static str, kind: ReduceOp, x: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    let axis = dim_index(op, dim as isize, x.dim())?;
    let result = dtype.unwrap_or(x.dtype().accumulated());
    let x = if result == x.dtype() { x.clone() } else { x.to_dtype(result)? };
    let out = Tensor::alloc(Layout::contiguous(x.shape())?, result, x.device())?;
    if x.numel() > 0 {
        exec::call(op, &[&out], &[x.place()], |backend, outs, ins| {
            backend.scan(&Scan { op: kind, ctype: compute_type(result), out: outs[0], input: ins[0], axis })
        })?;
    }
    Ok(out)
}

/// Sum over `j >= i` of `g_j * prod(x_0..x_j without x_i)`, by one term per pair of prefix and rest
/// where a zero forbids dividing.
fn cumprod_grad(cx: &GradCx<'_>) -> Result<Tensor> {
    let (g, x, dim) = (cx.grad(0)?, cx.input(0)?, *cx.arg::<i64>(1)?);
    if x.dim() == 0 || x.numel() == 0 {
        return Ok(g);
    }
    // Complex gradients are conjugate: that of a product takes the other factors' conjugates.
    let x = x.conj_physical()?;
    let g = g.to_dtype(x.dtype())?;
    let n = x.size(dim as isize)? as i64;
    let known = x.device() != crate::Device::META;
    let zeros = known && x.detach()?.eq(0.0)?.any((), false)?.item()?.to_bool();
    if !zeros && !crate::grad::is_grad_enabled() {
        let y = x.cumprod(dim)?;
        return g.mul(&y)?.flip(dim)?.cumsum(dim)?.flip(dim)?.div(&x);
    }
    let mut parts = Vec::with_capacity(n as usize);
    for i in 0..n {
        // Products of everything before i times running products of everything after it.
        let before = if i == 0 { None } else { Some(x.narrow(dim, 0, i)?.prod(dim, true)?) };
        let one = Tensor::full_as(&x.narrow(dim, i, 1)?.detach()?, crate::Number::Int(1))?;
        let after = Tensor::cat(&[&one, &x.narrow(dim, i + 1, n - i - 1)?], dim)?.cumprod(dim)?;
        let sum = g.narrow(dim, i, n - i)?.mul(&after)?.sum(dim, true)?;
        parts.push(match before {
            Some(b) => sum.mul(&b)?,
            None => sum,
        });
    }
    Tensor::cat(&parts.iter().collect::<Vec<_>>(), dim)
}

fn normalized(op: &'static str, x: &Tensor, dim: i64, dtype: Option<DType>, log: bool) -> Result<Tensor> {
    let axis = dim_index(op, dim as isize, x.dim())?;
    let result = dtype.unwrap_or(x.dtype());
    ensure!(
        result.is_float(),
        NotImplemented,
        op,
        "is not defined for {result}; convert with to_dtype, or give a float dtype"
    );
    let x = if result == x.dtype() { x.clone() } else { x.to_dtype(result)? };
    if x.dim() == 0 || x.numel() == 0 {
        let value = if log { 0.0 } else { 1.0 };
        let out = Tensor::alloc(Layout::contiguous(x.shape())?, result, x.device())?;
        // NaN stays NaN: x - x is 0 for all else that is finite.
        exec::fill(&out, crate::Number::Float(value))?;
        return if x.numel() == 0 { Ok(out) } else { x.sub(&x)?.add(&out) };
    }
    let out = Tensor::alloc(Layout::contiguous(x.shape())?, result, x.device())?;
    let mut done = false;
    exec::call(op, &[&out], &[x.place()], |backend, outs, ins| {
        done = backend.fused(&Fused::Softmax { out: outs[0], input: ins[0], axis, log })?;
        Ok(())
    })?;
    if done {
        return Ok(out);
    }
    // Halves compute in f32 throughout and round once.
    let wide = if result.is_half() { x.to_dtype(DType::F32)? } else { x };
    let shifted = wide.sub(&wide.amax(dim, true)?)?;
    let y =
        if log { shifted.sub(&shifted.exp()?.sum(dim, true)?.log()?)? } else { softmax_of(&shifted, dim)? };
    let y = y.to_dtype(result)?;
    if y.is_contiguous() { Ok(y) } else { y.contiguous() }
}

fn softmax_of(shifted: &Tensor, dim: i64) -> Result<Tensor> {
    let e = shifted.exp()?;
    e.div(&e.sum(dim, true)?)
}

fn lines(rest: &[Value]) -> Vec<Sample> {
    let mut all = Vec::new();
    for (salt, (shape, dim)) in
        [(&[3, 4][..], 1), (&[3, 4], 0), (&[2, 3, 2], -2), (&[5], 0), (&[], 0)].into_iter().enumerate()
    {
        let Ok(x) = samples::values(shape, salt) else { continue };
        let mut args: crate::op::Args = smallvec![Value::Tensor(x), Value::Int(dim)];
        args.extend(rest.iter().cloned());
        all.push(Sample { args, grad: true });
    }
    all
}

fn scan_samples() -> Vec<Sample> {
    lines(&[Value::OptDType(None)])
}

fn softmax_samples() -> Vec<Sample> {
    lines(&[Value::OptDType(None)])
}
