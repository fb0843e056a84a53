//! Pooling over the last one to three dimensions of [N, C, *spatial] or [C, *spatial].

use super::conv::spread;
use crate::backend::{Reduce, ReduceOp};
use crate::exec;
use crate::grad::{GradCx, Grads};
use crate::mem::Place;
use crate::op::{Sample, Size, Value, compute_type, samples};
use crate::{DType, Layout, Number, Result, Shape, Strides, Tensor, ensure};
use smallvec::{SmallVec, smallvec};

pub mod adaptive;
pub mod unpool;

ops! { POOL;
    /// Largest element of each window over the last two dimensions.
    fn max_pool2d / max_pool2d_with (input: Tensor, kernel_size: Size, stride: Size = (); padding: Size = 0, dilation: Size = 1, ceil_mode: Bool = false) -> Tensor {
        run: Ok::<_, crate::Error>(input.max_pool(2, kernel_size.clone(), stride.clone(), padding.clone(), dilation.clone(), *ceil_mode)?.0),
        samples: max2d_samples,
    }
    /// Largest element of each window over the last three dimensions.
    fn max_pool3d / max_pool3d_with (input: Tensor, kernel_size: Size, stride: Size = (); padding: Size = 0, dilation: Size = 1, ceil_mode: Bool = false) -> Tensor {
        run: Ok::<_, crate::Error>(input.max_pool(3, kernel_size.clone(), stride.clone(), padding.clone(), dilation.clone(), *ceil_mode)?.0),
        samples: max3d_samples,
    }
    /// Largest element of each window over the last dimension.
    fn max_pool1d / max_pool1d_with (input: Tensor, kernel_size: Size, stride: Size = (); padding: Size = 0, dilation: Size = 1, ceil_mode: Bool = false) -> Tensor {
        run: Ok::<_, crate::Error>(input.max_pool(1, kernel_size.clone(), stride.clone(), padding.clone(), dilation.clone(), *ceil_mode)?.0),
        samples: max1d_samples,
    }
    /// Largest element of each window over the last `spatial` dimensions, and its flat position
    /// among them. The gradient goes to the first largest.
    fn max_pool as _max_pool (input: Tensor, spatial: Int, kernel_size: Size, stride: Size, padding: Size, dilation: Size, ceil_mode: Bool) -> (Tensor, Tensor) {
        run: super::max_pool(input, *spatial as usize, [kernel_size, stride, padding, dilation], *ceil_mode),
        grad: [reads inputs; outputs 1] |cx| max_backward(cx),
        samples: no_samples,
    }
    /// Mean of each window over the last two dimensions; `divisor_override` divides its sum instead of its size.
    fn avg_pool2d / avg_pool2d_with (input: Tensor, kernel_size: Size, stride: Size = (); padding: Size = 0, ceil_mode: Bool = false, count_include_pad: Bool = true, divisor_override: OptInt = None) -> Tensor {
        run: average(input, 2, [kernel_size, stride, padding], *ceil_mode, *count_include_pad, *divisor_override),
        samples: avg2d_samples,
    }
    /// Mean of each window over the last three dimensions.
    fn avg_pool3d / avg_pool3d_with (input: Tensor, kernel_size: Size, stride: Size = (); padding: Size = 0, ceil_mode: Bool = false, count_include_pad: Bool = true, divisor_override: OptInt = None) -> Tensor {
        run: average(input, 3, [kernel_size, stride, padding], *ceil_mode, *count_include_pad, *divisor_override),
        samples: avg3d_samples,
    }
    /// Mean of each window over the last dimension.
    fn avg_pool1d / avg_pool1d_with (input: Tensor, kernel_size: Size, stride: Size = (); padding: Size = 0, ceil_mode: Bool = false, count_include_pad: Bool = true, divisor_override: OptInt = None) -> Tensor {
        run: average(input, 1, [kernel_size, stride, padding], *ceil_mode, *count_include_pad, *divisor_override),
        samples: avg1d_samples,
    }
    /// `p`-norm of each window over the last `spatial` dimensions.
    fn lp_pool as _lp_pool (input: Tensor, spatial: Int, norm_type: Float, kernel_size: Size, stride: Size = (), ceil_mode: Bool = false) -> Tensor {
        run: powers(input, *spatial, *norm_type, kernel_size, stride, *ceil_mode),
        samples: lp_samples,
    }
}

/// Windows along the last `n` dimensions.
struct Windows {
    kernel: SmallVec<[usize; 3]>,
    stride: SmallVec<[usize; 3]>,
    padding: SmallVec<[usize; 3]>,
    dilation: SmallVec<[usize; 3]>,
    out: SmallVec<[usize; 3]>,
}

impl Windows {
    fn new(
        op: &'static str,
        x: &Tensor,
        n: usize,
        [kernel, stride, padding, dilation]: [&Size; 4],
        ceil: bool,
    ) -> Result<Windows> {
        ensure!(
            (1..=3).contains(&n) && (x.dim() == n + 1 || x.dim() == n + 2),
            Runtime,
            op,
            "the input has shape {:?}; it must be [N, C] or [C] and {n} spatial sizes",
            x.shape()
        );
        ensure!(
            x.shape()[x.dim() - n - 1..].iter().all(|s| *s > 0),
            Runtime,
            op,
            "the input has shape {:?}; only its batch may be empty",
            x.shape()
        );
        let kernel = spread(op, "kernel_size", kernel, n, 1)?;
        let stride = if stride.0.is_empty() { kernel.clone() } else { spread(op, "stride", stride, n, 1)? };
        let padding = spread(op, "padding", padding, n, 0)?;
        let dilation = spread(op, "dilation", dilation, n, 1)?;
        let sizes = &x.shape()[x.dim() - n..];
        let mut out = SmallVec::new();
        for d in 0..n {
            ensure!(
                padding[d].saturating_mul(2) <= kernel[d],
                Runtime,
                op,
                "padding {padding:?} must be at most half of the kernel {kernel:?}"
            );
            // What saturates is larger than any tensor, and refused as that.
            let reach = dilation[d].saturating_mul(kernel[d].saturating_sub(1)).saturating_add(1);
            let wide = sizes[d].saturating_add(padding[d].saturating_mul(2));
            ensure!(
                wide >= reach,
                Runtime,
                op,
                "spatial sizes {sizes:?}, padded by {padding:?}, are smaller than the window {kernel:?}"
            );
            let room = wide - reach;
            let mut count = room / stride[d] + 1;
            // A last partial window must still start inside the input or the padding before it.
            if ceil && !room.is_multiple_of(stride[d]) && (count * stride[d]) < sizes[d] + padding[d] {
                count += 1;
            }
            out.push(count);
        }
        Ok(Windows { kernel, stride, padding, dilation, out })
    }

    /// `x` with `value` around its spatial dimensions, far enough for the last window.
    fn pad(&self, x: &Tensor, value: Number) -> Result<Tensor> {
        let n = self.kernel.len();
        let lead = x.dim() - n;
        let need =
            |d: usize| (self.out[d] - 1) * self.stride[d] + self.dilation[d] * (self.kernel[d] - 1) + 1;
        let sizes: Shape = (0..x.dim())
            .map(|d| {
                if d < lead {
                    x.shape()[d]
                } else {
                    need(d - lead).max(x.shape()[d] + self.padding[d - lead])
                }
            })
            .collect();
        if sizes.as_slice() == x.shape() && self.padding.iter().all(|p| *p == 0) {
            return Ok(x.clone());
        }
        let mut pads: Vec<i64> = Vec::new();
        for d in (0..n).rev() {
            let after = sizes[lead + d] as i64 - x.shape()[lead + d] as i64 - self.padding[d] as i64;
            pads.extend([self.padding[d] as i64, after]);
        }
        x.pad(pads, "constant", value)
    }

    /// Every window of a padded tensor: [.., *out, *kernel], cells overlap.
    fn of(&self, x: &Tensor) -> Result<Layout> {
        let lead = x.dim() - self.kernel.len();
        let (mut shape, mut strides): (Shape, Strides) =
            (x.shape()[..lead].into(), x.strides()[..lead].into());
        shape.extend(self.out.iter().copied());
        shape.extend(self.kernel.iter().copied());
        let spatial = &x.strides()[lead..];
        strides.extend(spatial.iter().zip(&self.stride).map(|(t, s)| t * *s as isize));
        strides.extend(spatial.iter().zip(&self.dilation).map(|(t, s)| t * *s as isize));
        Layout::new(shape, strides, x.storage_offset())
    }
}

fn lowest(dtype: DType) -> Number {
    match dtype {
        DType::U8 | DType::U16 | DType::U32 | DType::U64 | DType::Bool => Number::Int(0),
        DType::I8 => Number::Int(i8::MIN.into()),
        DType::I16 => Number::Int(i16::MIN.into()),
        DType::I32 => Number::Int(i32::MIN.into()),
        DType::I64 => Number::Int(i64::MIN),
        _ => Number::Float(f64::NEG_INFINITY),
    }
}

fn max_pool(x: &Tensor, n: usize, sizes: [&Size; 4], ceil: bool) -> Result<(Tensor, Tensor)> {
    ensure!(
        !x.dtype().is_complex() && x.dtype() != DType::Bool,
        NotImplemented,
        "max_pool",
        "is not defined for {}",
        x.dtype()
    );
    let w = Windows::new("max_pool", x, n, sizes, ceil)?;
    let lead = x.dim() - n;
    let padded = w.pad(x, lowest(x.dtype()))?;
    let layout = w.of(&padded)?;
    let shape: Shape = layout.shape()[..lead + n].into();
    let mut kept = shape.clone();
    kept.extend(std::iter::repeat_n(1, n));
    let at = Tensor::alloc(Layout::contiguous(kept)?, DType::I64, x.device())?;
    if at.numel() > 0 {
        let axes = ((1u64 << n) - 1) << (lead + n);
        exec::call(
            "max_pool",
            &[&at],
            &[Place { layout: &layout, ..padded.place() }],
            |backend, outs, ins| {
                backend.reduce(&Reduce {
                    op: ReduceOp::ArgMax,
                    ctype: compute_type(x.dtype()),
                    pre: None,
                    post: None,
                    out: outs[0],
                    ins,
                    axes,
                })
            },
        )?;
    }
    let flat = positions(&at.reshape(shape)?, &w, &x.shape()[lead..])?;
    let spatial: i64 = x.shape()[lead..].iter().product::<usize>() as i64;
    let rows: Vec<i64> = x.shape()[..lead].iter().map(|s| *s as i64).collect();
    let with = |last: i64| rows.iter().copied().chain([last]).collect::<Vec<i64>>();
    let count: i64 = w.out.iter().product::<usize>() as i64;
    let values = x.reshape(with(spatial))?.gather(lead as i64, &flat.reshape(with(count))?)?;
    Ok((values.reshape(flat.shape())?, flat))
}

/// Positions inside windows as flat positions in the input's spatial dimensions.
fn positions(at: &Tensor, w: &Windows, sizes: &[usize]) -> Result<Tensor> {
    let n = sizes.len();
    let lead = at.dim() - n;
    let mut rest = at.clone();
    let mut flat: Option<Tensor> = None;
    let mut scale = 1i64;
    for d in (0..n).rev() {
        let within = rest.remainder(w.kernel[d] as i64)?;
        rest = rest.floor_divide(w.kernel[d] as i64)?;
        let mut shape = vec![1i64; at.dim()];
        shape[lead + d] = w.out[d] as i64;
        let start = Tensor::arange_with(0, w.out[d], 1, Some(DType::I64), Some(at.device()))?
            .mul(w.stride[d] as i64)?
            .sub(w.padding[d] as i64)?;
        let place = within.mul(w.dilation[d] as i64)?.add(&start.reshape(shape)?)?;
        let place = place.mul(scale)?;
        flat = Some(match flat {
            Some(f) => f.add(&place)?,
            None => place,
        });
        scale *= sizes[d] as i64;
    }
    flat.map_or_else(|| Ok(at.clone()), |f| f.contiguous())
}

fn max_backward(cx: &GradCx<'_>) -> Result<Grads> {
    let (g, at, info) = (cx.grad(0)?, cx.output(1)?.detach()?, cx.info(0)?);
    let lead = info.shape.len() - *cx.arg::<i64>(1)? as usize;
    let rows: Vec<i64> = info.shape[..lead].iter().map(|s| *s as i64).collect();
    let spatial = info.shape[lead..].iter().product::<usize>() as i64;
    let with = |last: i64| rows.iter().copied().chain([last]).collect::<Vec<i64>>();
    let zeros = Tensor::zeros_with(with(spatial), Some(info.dtype), Some(info.device))?;
    let count = at.shape()[lead..].iter().product::<usize>() as i64;
    let sum = zeros.scatter_add(lead as i64, &at.reshape(with(count))?, &g.reshape(with(count))?)?;
    Ok(smallvec![Some(sum.reshape(&info.shape)?)])
}

fn average(
    x: &Tensor,
    n: usize,
    [kernel, stride, padding]: [&Size; 3],
    ceil: bool,
    include_pad: bool,
    divisor: Option<i64>,
) -> Result<Tensor> {
    ensure!(
        x.dtype().is_float() || x.dtype() == DType::I64,
        NotImplemented,
        "avg_pool",
        "is not defined for {}; convert with to_dtype",
        x.dtype()
    );
    let w = Windows::new("avg_pool", x, n, [kernel, stride, padding, &1.into()], ceil)?;
    ensure!(divisor != Some(0), Runtime, "avg_pool", "divisor_override must not be 0");
    if x.dtype().is_half() {
        // Sums of halves round once, after the division.
        let wide = x.to_dtype(DType::F32)?;
        return average(&wide, n, [kernel, stride, padding], ceil, include_pad, divisor)?.to_dtype(x.dtype());
    }
    let sums = window_sums(&w.pad(x, Number::Int(0))?, &w)?;
    if let Some(divisor) = divisor {
        return shares(&sums, &Tensor::full_with((), divisor, Some(x.dtype()), Some(x.device()))?);
    }
    // Cells that count: those of the input, and of the padding if asked; never those of ceil_mode.
    let lead = x.dim() - n;
    let mut ones = Tensor::ones_with(&x.shape()[lead..], Some(x.dtype()), Some(x.device()))?;
    if include_pad {
        let pads: Vec<i64> = (0..n).rev().flat_map(|d| [w.padding[d] as i64; 2]).collect();
        ones = ones.pad(pads, "constant", 1)?;
        let flat = Windows {
            padding: smallvec![0; n],
            kernel: w.kernel.clone(),
            stride: w.stride.clone(),
            dilation: w.dilation.clone(),
            out: w.out.clone(),
        };
        return shares(&sums, &window_sums(&flat.pad(&ones, Number::Int(0))?, &flat)?);
    }
    shares(&sums, &window_sums(&w.pad(&ones, Number::Int(0))?, &w)?)
}

/// Sums by their counts; integers are cut off towards 0.
fn shares(sums: &Tensor, count: &Tensor) -> Result<Tensor> {
    if sums.dtype().is_float() {
        return sums.div(count);
    }
    let whole = sums.abs()?.floor_divide(&count.abs()?)?;
    whole.mul(&sums.sign()?)?.mul(&count.sign()?)
}

/// Sums of windows through `unfold` views, dimension by dimension.
fn window_sums(x: &Tensor, w: &Windows) -> Result<Tensor> {
    let n = w.kernel.len();
    let lead = x.dim() - n;
    let mut t = x.clone();
    for d in 0..n {
        let reach = (w.out[d] - 1) * w.stride[d] + w.kernel[d];
        t = t.narrow((lead + d) as i64, 0, reach as i64)?.unfold(
            (lead + d) as i64,
            w.kernel[d] as i64,
            w.stride[d] as i64,
        )?;
    }
    let dims: Vec<isize> = (1..=n as isize).map(|d| -d).collect();
    t.sum(dims, false)
}

fn powers(x: &Tensor, spatial: i64, p: f64, kernel: &Size, stride: &Size, ceil: bool) -> Result<Tensor> {
    let op = "lp_pool";
    ensure!((1..=3).contains(&spatial), Runtime, op, "pools over 1 to 3 dimensions, not {spatial}");
    ensure!(p != 0.0, Runtime, op, "norm_type must not be 0");
    let n = spatial as usize;
    let size: usize = spread(op, "kernel_size", kernel, n, 1)?.iter().fold(1, |a, k| a.saturating_mul(*k));
    let mean =
        average(&x.pow(p)?, n, [kernel, stride, &0.into()], ceil, true, None).map_err(|e| e.in_op(op))?;
    // Sums below 0, of odd powers, keep their sign, and give NaN to even roots as torch's do.
    mean.sign()?.mul(&mean.abs()?.relu()?)?.mul(size as f64)?.pow(p.recip())
}

fn no_samples() -> Vec<Sample> {
    Vec::new()
}

fn windows(cases: &[(&[usize], i64, i64, i64)], rest: &[Value]) -> Vec<Sample> {
    cases
        .iter()
        .enumerate()
        .filter_map(|(k, (shape, kernel, stride, padding))| {
            let stride = if *stride == 0 { Size::from(()) } else { Size::from(*stride) };
            let mut args: crate::op::Args = smallvec![
                Value::Tensor(samples::values(shape, k).ok()?),
                Value::Size((*kernel).into()),
                Value::Size(stride),
                Value::Size((*padding).into())
            ];
            args.extend(rest.iter().cloned());
            Some(Sample { args, grad: true })
        })
        .collect()
}
fn max2d_samples() -> Vec<Sample> {
    let cases: [(&[usize], i64, i64, i64); 4] =
        [(&[2, 3, 4, 6], 2, 0, 0), (&[1, 2, 5, 5], 3, 2, 1), (&[2, 5, 4], 2, 1, 0), (&[1, 1, 7, 5], 3, 3, 0)];
    windows(&cases, &[Value::Size(1.into()), Value::Bool(true)])
}
fn max1d_samples() -> Vec<Sample> {
    windows(&[(&[2, 3, 8], 2, 0, 0), (&[3, 7], 3, 2, 1)], &[Value::Size(1.into()), Value::Bool(false)])
}
fn avg2d_samples() -> Vec<Sample> {
    let cases: [(&[usize], i64, i64, i64); 3] =
        [(&[2, 3, 4, 6], 2, 0, 0), (&[1, 2, 5, 5], 3, 2, 1), (&[2, 5, 4], 2, 1, 0)];
    let mut all = windows(&cases, &[Value::Bool(false), Value::Bool(true), Value::OptInt(None)]);
    all.extend(windows(&cases, &[Value::Bool(true), Value::Bool(false), Value::OptInt(Some(5))]));
    all
}
fn avg1d_samples() -> Vec<Sample> {
    windows(
        &[(&[2, 3, 8], 2, 0, 0), (&[3, 7], 3, 2, 1)],
        &[Value::Bool(false), Value::Bool(true), Value::OptInt(None)],
    )
}
fn max3d_samples() -> Vec<Sample> {
    let cases: [(&[usize], i64, i64, i64); 3] =
        [(&[1, 2, 3, 4, 5], 2, 0, 0), (&[2, 4, 3, 5], 3, 2, 1), (&[1, 1, 2, 2, 3], 1, 2, 0)];
    windows(&cases, &[Value::Size(1.into()), Value::Bool(true)])
}
fn avg3d_samples() -> Vec<Sample> {
    let cases: [(&[usize], i64, i64, i64); 2] = [(&[1, 2, 3, 4, 5], 2, 0, 0), (&[2, 4, 3, 5], 3, 2, 1)];
    let mut all = windows(&cases, &[Value::Bool(false), Value::Bool(true), Value::OptInt(Some(3))]);
    all.extend(windows(&cases, &[Value::Bool(true), Value::Bool(false), Value::OptInt(None)]));
    all
}
fn lp_samples() -> Vec<Sample> {
    let one = |(shape, n, p, k): (&[usize], i64, f64, i64)| {
        let x = Value::Tensor(samples::positive(shape, 2).ok()?);
        let rest = [
            Value::Int(n),
            Value::Float(p),
            Value::Size(k.into()),
            Value::Size(().into()),
            Value::Bool(true),
        ];
        Some(samples::sample([x].into_iter().chain(rest), true))
    };
    [(&[2, 3, 7][..], 1, 2.0, 3), (&[2, 4, 5], 2, 3.0, 2), (&[1, 1, 2, 3, 2], 3, 1.0, 2)]
        .into_iter()
        .filter_map(one)
        .collect()
}
