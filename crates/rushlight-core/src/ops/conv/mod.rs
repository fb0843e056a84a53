//! Convolutions of any number of spatial dimensions.
//!
//! Three bilinear maps, each the adjoint of another with respect to one operand: a convolution
//! `C(x, w)`, a transposed convolution `T(g, w)`, and the weight map `W(x, g)`. Their gradients are
//! one another, so double backward is free. All run as one packed matrix product per call.

use crate::exec;
use crate::grad::{GradCx, Grads, below};
use crate::op::Size;
use crate::{DType, Layout, Number, Result, Shape, Strides, Tensor, ensure};
use smallvec::{SmallVec, smallvec};

pub mod fold;
mod padded;
mod samples;
use samples::*;

ops! { CONV;
    /// The general convolution: `input` [N, C, *spatial], `weight` [O, C/groups, *kernel], or for a
    /// transposed one [C, O/groups, *kernel]. Lists have one number per spatial dimension.
    fn convolution (input: Tensor, weight: Tensor, bias: OptTensor, stride: Size, padding: Size, dilation: Size,
                    transposed: Bool, output_padding: Size, groups: Int) -> Tensor {
        run: forward(input, weight, bias.as_ref(), &Geometry::of("convolution", weight.shape(), stride, padding, dilation, *groups)?, transposed.then_some(output_padding)),
        grad: [reads inputs 0 1; outputs; cross] |cx| backward(cx),
        samples: convolution_samples,
    }
    /// The weight gradient of a convolution of `input` whose result has the gradient `grad`.
    fn convolution_weight as internal (input: Tensor, grad: Tensor, weight_size: Size, stride: Size, padding: Size, dilation: Size, groups: Int) -> Tensor {
        run: weight_map(input, grad, weight_size, &[stride, padding, dilation], *groups),
        grad: [reads inputs 0 1; outputs; cross] |cx| weight_backward(cx),
        samples: no_samples,
    }
    /// Convolution over one spatial dimension: `input` [N, C, L] or [C, L], `weight` [O, C/groups, K].
    fn conv1d (input: Tensor, weight: Tensor, bias: OptTensor = None, stride: Size = 1, padding: Size = 0, dilation: Size = 1, groups: Int = 1) -> Tensor {
        run: batched(1, input, |x| x.convolution(weight, bias.as_ref(), stride.clone(), padding.clone(), dilation.clone(), false, 0, *groups)),
        samples: conv1d_samples,
    }
    /// Convolution over two spatial dimensions: `input` [N, C, H, W] or [C, H, W], `weight` [O, C/groups, kH, kW].
    fn conv2d (input: Tensor, weight: Tensor, bias: OptTensor = None, stride: Size = 1, padding: Size = 0, dilation: Size = 1, groups: Int = 1) -> Tensor {
        run: batched(2, input, |x| x.convolution(weight, bias.as_ref(), stride.clone(), padding.clone(), dilation.clone(), false, 0, *groups)),
        samples: conv2d_samples,
    }
    /// Convolution over three spatial dimensions: `input` [N, C, D, H, W] or [C, D, H, W], `weight` [O, C/groups, kD, kH, kW].
    fn conv3d (input: Tensor, weight: Tensor, bias: OptTensor = None, stride: Size = 1, padding: Size = 0, dilation: Size = 1, groups: Int = 1) -> Tensor {
        run: batched(3, input, |x| x.convolution(weight, bias.as_ref(), stride.clone(), padding.clone(), dilation.clone(), false, 0, *groups)),
        samples: conv3d_samples,
    }
    /// As `conv1d`, with the padding by name: "valid" for none, "same" for a result of the input's
    /// sizes (where it is odd, one more zero behind); that needs a stride of 1.
    fn conv1d_padded as conv1d (input: Tensor, weight: Tensor, bias: OptTensor = None, stride: Size = 1, padding: Text = "valid", dilation: Size = 1, groups: Int = 1) -> Tensor {
        run: batched(1, input, |x| padded::convolve("conv1d", x, weight, bias.as_ref(), stride, padding, dilation, *groups)),
        samples: padded::conv1d_samples,
    }
    /// As `conv2d`, with the padding by name: "valid" for none, "same" for a result of the input's
    /// sizes (where it is odd, one more zero behind); that needs a stride of 1.
    fn conv2d_padded as conv2d (input: Tensor, weight: Tensor, bias: OptTensor = None, stride: Size = 1, padding: Text = "valid", dilation: Size = 1, groups: Int = 1) -> Tensor {
        run: batched(2, input, |x| padded::convolve("conv2d", x, weight, bias.as_ref(), stride, padding, dilation, *groups)),
        samples: padded::conv2d_samples,
    }
    /// As `conv3d`, with the padding by name: "valid" for none, "same" for a result of the input's
    /// sizes (where it is odd, one more zero behind); that needs a stride of 1.
    fn conv3d_padded as conv3d (input: Tensor, weight: Tensor, bias: OptTensor = None, stride: Size = 1, padding: Text = "valid", dilation: Size = 1, groups: Int = 1) -> Tensor {
        run: batched(3, input, |x| padded::convolve("conv3d", x, weight, bias.as_ref(), stride, padding, dilation, *groups)),
        samples: padded::conv3d_samples,
    }
    /// Transposed convolution over one spatial dimension: `weight` [C, O/groups, K].
    fn conv_transpose1d (input: Tensor, weight: Tensor, bias: OptTensor = None, stride: Size = 1, padding: Size = 0, output_padding: Size = 0, groups: Int = 1, dilation: Size = 1) -> Tensor {
        run: batched(1, input, |x| x.convolution(weight, bias.as_ref(), stride.clone(), padding.clone(), dilation.clone(), true, output_padding.clone(), *groups)),
        samples: conv_transpose1d_samples,
    }
    /// Transposed convolution over two spatial dimensions: `weight` [C, O/groups, kH, kW].
    fn conv_transpose2d (input: Tensor, weight: Tensor, bias: OptTensor = None, stride: Size = 1, padding: Size = 0, output_padding: Size = 0, groups: Int = 1, dilation: Size = 1) -> Tensor {
        run: batched(2, input, |x| x.convolution(weight, bias.as_ref(), stride.clone(), padding.clone(), dilation.clone(), true, output_padding.clone(), *groups)),
        samples: conv_transpose2d_samples,
    }
    /// Transposed convolution over three spatial dimensions: `weight` [C, O/groups, kD, kH, kW].
    fn conv_transpose3d (input: Tensor, weight: Tensor, bias: OptTensor = None, stride: Size = 1, padding: Size = 0, output_padding: Size = 0, groups: Int = 1, dilation: Size = 1) -> Tensor {
        run: batched(3, input, |x| x.convolution(weight, bias.as_ref(), stride.clone(), padding.clone(), dilation.clone(), true, output_padding.clone(), *groups)),
        samples: conv_transpose3d_samples,
    }
    /// Convolution of `input` [time, batch, C] with `weight` [K, C, O] and `bias` [O]: `conv1d` with time first.
    fn conv_tbc (input: Tensor, weight: Tensor, bias: Tensor, pad: Int = 0) -> Tensor {
        run: time_first(input, weight, bias, *pad),
        samples: tbc_samples,
    }
}

/// Adds the batch dimension that an unbatched input lacks, and takes it off again.
fn batched(spatial: usize, x: &Tensor, run: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    ensure!(
        x.dim() == spatial + 1 || x.dim() == spatial + 2,
        Runtime,
        "convolution",
        "the input has shape {:?}; it must be [N, C] or [C] and {spatial} spatial sizes",
        x.shape()
    );
    if x.dim() == spatial + 2 { run(x) } else { run(&x.unsqueeze(0)?)?.squeeze(0) }
}

fn time_first(x: &Tensor, weight: &Tensor, bias: &Tensor, pad: i64) -> Result<Tensor> {
    ensure!(
        x.dim() == 3 && weight.dim() == 3 && bias.dim() == 1,
        Runtime,
        "conv_tbc",
        "takes an input [time, batch, C], a weight [K, C, O] and a bias [O], not {:?}, {:?} and {:?}",
        x.shape(),
        weight.shape(),
        bias.shape()
    );
    let (x, weight) = (x.permute([1, 2, 0])?, weight.permute([2, 1, 0])?);
    let made = x.conv1d(&weight, Some(bias), 1, pad, 1, 1).map_err(|e| e.in_op("conv_tbc"))?;
    made.permute([2, 0, 1])
}

/// One number per spatial dimension; a single one stands for all.
pub(crate) fn spread(
    op: &'static str,
    name: &str,
    list: &Size,
    n: usize,
    least: isize,
) -> Result<SmallVec<[usize; 3]>> {
    let ok = (list.0.len() == n || list.0.len() == 1) && list.0.iter().all(|v| *v >= least && *v < 1 << 31);
    ensure!(
        ok,
        Runtime,
        op,
        "{name} {:?} must be one number or {n}, each at least {least}",
        list.0.as_slice()
    );
    Ok((0..n).map(|i| list.0[if list.0.len() == 1 { 0 } else { i }] as usize).collect())
}

/// Sizes beyond this could overflow when a padding or a stride is added.
const FAR: usize = 1 << 60;

struct Geometry {
    kernel: SmallVec<[usize; 3]>,
    stride: SmallVec<[usize; 3]>,
    padding: SmallVec<[usize; 3]>,
    dilation: SmallVec<[usize; 3]>,
    groups: usize,
}

impl Geometry {
    fn of(
        op: &'static str,
        weight: &[usize],
        stride: &Size,
        padding: &Size,
        dilation: &Size,
        groups: i64,
    ) -> Result<Geometry> {
        ensure!(
            weight.len() >= 3,
            Runtime,
            op,
            "the weight has shape {weight:?}; it needs spatial dimensions"
        );
        let kernel: SmallVec<[usize; 3]> = weight[2..].into();
        let n = kernel.len();
        ensure!(
            groups > 0 && weight[0].is_multiple_of(groups as usize),
            Runtime,
            op,
            "{groups} groups do not divide the weight's {} first channels",
            weight[0]
        );
        ensure!(kernel.iter().all(|k| *k > 0), Runtime, op, "the kernel {kernel:?} has no elements");
        let dilation = spread(op, "dilation", dilation, n, 1)?;
        // The reach and all that is added to it must be a number.
        let reach = |(k, d): (&usize, &usize)| (k - 1).checked_mul(*d).is_some_and(|r| r < FAR);
        ensure!(
            kernel.iter().zip(&dilation).all(reach),
            Runtime,
            op,
            "the kernel {kernel:?} with dilation {dilation:?} reaches too far"
        );
        Ok(Geometry {
            stride: spread(op, "stride", stride, n, 1)?,
            padding: spread(op, "padding", padding, n, 0)?,
            dilation,
            kernel,
            groups: groups as usize,
        })
    }
    /// How far the kernel reaches along dimension `d`.
    fn reach(&self, d: usize) -> usize {
        self.dilation[d] * (self.kernel[d] - 1) + 1
    }
    /// Spatial sizes of a convolution's result.
    fn output(&self, input: &[usize]) -> Result<SmallVec<[usize; 3]>> {
        (0..self.kernel.len())
            .map(|d| {
                let padded = input[d].saturating_add(2 * self.padding[d]);
                ensure!(
                    padded >= self.reach(d),
                    Runtime, "convolution", "an input of spatial sizes {input:?}, padded by {:?}, is smaller than the kernel {:?} with dilation {:?}", self.padding, self.kernel, self.dilation
                );
                Ok((padded - self.reach(d)) / self.stride[d] + 1)
            })
            .collect()
    }
    /// `x` with zeros around its spatial dimensions; itself when none are asked for.
    fn pad(&self, x: &Tensor) -> Result<Tensor> {
        if self.padding.iter().all(|p| *p == 0) {
            return Ok(x.clone());
        }
        let shape: Shape = x.shape()[..2]
            .iter()
            .copied()
            .chain((0..self.kernel.len()).map(|d| x.shape()[d + 2].saturating_add(2 * self.padding[d])))
            .collect();
        let wide = Tensor::alloc(Layout::contiguous(shape)?, x.dtype(), x.device())?;
        exec::fill(&wide, Number::Int(0))?;
        exec::copy(&self.crop(&wide, &x.shape()[2..])?, x)?;
        Ok(wide)
    }
    /// The part of a padded tensor inside the padding.
    fn crop(&self, wide: &Tensor, spatial: &[usize]) -> Result<Tensor> {
        let mut layout = wide.layout().clone();
        for (d, n) in spatial.iter().enumerate() {
            layout = layout.narrow(d as isize + 2, self.padding[d] as isize, *n as isize)?;
        }
        Ok(Tensor::assemble(wide.storage().clone(), layout, wide.dtype(), None, None))
    }
    /// The windows of a padded tensor, as [N, groups, C/groups, *kernel, *out]; cells overlap.
    fn windows(&self, x: &Tensor, out: &[usize]) -> Result<Tensor> {
        let (shape, strides) = x.layout().parts();
        let per_group = shape[1] / self.groups;
        let mut s: Shape = smallvec![shape[0], self.groups, per_group];
        let mut t: Strides = smallvec![strides[0], strides[1] * per_group as isize, strides[1]];
        s.extend(self.kernel.iter().copied());
        t.extend((0..self.kernel.len()).map(|d| strides[d + 2] * self.dilation[d] as isize));
        s.extend(out.iter().copied());
        t.extend((0..self.kernel.len()).map(|d| strides[d + 2] * self.stride[d] as isize));
        let layout = Layout::new(s, t, x.storage_offset())?;
        Ok(Tensor::assemble(x.storage().clone(), layout, x.dtype(), None, None))
    }
    /// The windows as the columns of matrices: [N, groups, C/groups * kernel, out].
    fn columns(&self, x: &Tensor, out: &[usize]) -> Result<Tensor> {
        let windows = self.windows(x, out)?;
        let rows = windows.shape()[2] * self.kernel.iter().product::<usize>();
        let matrix: Shape = smallvec![windows.shape()[0], self.groups, rows, out.iter().product()];
        if let Some(strides) = windows.layout().try_view(&matrix) {
            let layout = Layout::new(matrix, strides, windows.storage_offset())?;
            return Ok(Tensor::assemble(windows.storage().clone(), layout, x.dtype(), None, None));
        }
        let packed = Tensor::alloc(Layout::contiguous(windows.shape())?, x.dtype(), x.device())?;
        exec::copy(&packed, &windows)?;
        packed.reshape(matrix)
    }
}

fn check(x: &Tensor, weight: &Tensor, geometry: &Geometry, channels: usize) -> Result<()> {
    ensure!(
        x.dim() == weight.dim(),
        Runtime,
        "convolution",
        "an input of shape {:?} and a weight of shape {:?}; both need {} dimensions",
        x.shape(),
        weight.shape(),
        weight.dim()
    );
    ensure!(
        x.dtype() == weight.dtype(),
        Runtime,
        "convolution",
        "an input of {} and a weight of {}; convert one with to_dtype",
        x.dtype(),
        weight.dtype()
    );
    ensure!(
        x.shape()[1] == channels,
        Runtime,
        "convolution",
        "the input of shape {:?} has {} channels; a weight of shape {:?} with {} groups takes {channels}",
        x.shape(),
        x.shape()[1],
        weight.shape(),
        geometry.groups
    );
    exec::common_device("convolution", [x, weight])?;
    Ok(())
}

fn forward(
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    geometry: &Geometry,
    transposed: Option<&Size>,
) -> Result<Tensor> {
    // Halves round once, at the end: overlapping windows and the bias are added in float32.
    if x.dtype().is_half() && weight.dtype() == x.dtype() {
        return below(|| {
            let wide = |t: &Tensor| t.detach()?.to_dtype(DType::F32);
            let bias = bias.map(wide).transpose()?;
            forward(&wide(x)?, &wide(weight)?, bias.as_ref(), geometry, transposed)?.to_dtype(x.dtype())
        });
    }
    let out = below(|| {
        let (x, weight) = (x.detach()?, weight.detach()?);
        match transposed {
            None => convolve(&x, &weight, geometry),
            Some(extra) => transpose(&x, &weight, geometry, extra),
        }
    })?;
    let Some(bias) = bias else { return Ok(out) };
    ensure!(
        bias.shape() == [out.shape()[1]],
        Runtime,
        "convolution",
        "the bias has shape {:?}; the result has {} channels",
        bias.shape(),
        out.shape()[1]
    );
    let mut shape: SmallVec<[isize; 6]> = smallvec![1; out.dim()];
    shape[1] = -1;
    below(|| out.add_(&bias.detach()?.reshape(Size(shape))?))
}

fn convolve(x: &Tensor, weight: &Tensor, geometry: &Geometry) -> Result<Tensor> {
    let groups = geometry.groups;
    check(x, weight, geometry, weight.shape()[1] * groups)?;
    let out = geometry.output(&x.shape()[2..])?;
    let columns = geometry.columns(&geometry.pad(x)?, &out)?;
    let per_group = weight.shape()[0] / groups;
    let weight2 = weight.reshape([groups, per_group, columns.shape()[2]])?;
    let shape: Shape = [x.shape()[0], weight.shape()[0]].into_iter().chain(out).collect();
    weight2.matmul(&columns)?.reshape(shape)
}

fn transpose(x: &Tensor, weight: &Tensor, geometry: &Geometry, extra: &Size) -> Result<Tensor> {
    let (groups, n) = (geometry.groups, geometry.kernel.len());
    check(x, weight, geometry, weight.shape()[0])?;
    let extra = spread("convolution", "output_padding", extra, n, 0)?;
    let (batch, per_group) = (x.shape()[0], weight.shape()[1]);
    let mut spatial: SmallVec<[usize; 3]> = SmallVec::new();
    for d in 0..n {
        ensure!(
            extra[d] < geometry.stride[d].max(geometry.dilation[d]),
            Runtime,
            "convolution",
            "output_padding {extra:?} must be smaller than the stride {:?} or the dilation {:?}",
            geometry.stride,
            geometry.dilation
        );
        let steps = (x.shape()[d + 2].max(1) - 1).checked_mul(geometry.stride[d]).filter(|s| *s < FAR);
        let Some(steps) = steps else {
            crate::bail!(
                Runtime,
                "convolution",
                "an input of shape {:?} with stride {:?} gives a result that is too large",
                x.shape(),
                geometry.stride
            )
        };
        let whole = steps + geometry.reach(d) + extra[d];
        ensure!(
            whole > 2 * geometry.padding[d],
            Runtime,
            "convolution",
            "padding {:?} leaves nothing of a transposed result of size {whole}",
            geometry.padding
        );
        spatial.push(whole - 2 * geometry.padding[d]);
    }
    let inner: usize = geometry.kernel.iter().product();
    let positions: usize = x.shape()[2..].iter().product();
    let x2 = x.reshape([batch, groups, x.shape()[1] / groups, positions])?;
    let weight2 =
        weight.reshape([groups, weight.shape()[0] / groups, per_group * inner])?.transpose(-1, -2)?;
    let mut shape: Shape = smallvec![batch, groups, per_group];
    shape.extend(geometry.kernel.iter().copied());
    shape.extend(x.shape()[2..].iter().copied());
    let columns = weight2.matmul(&x2)?.reshape(shape)?;
    let full: Shape = [batch, groups * per_group]
        .into_iter()
        .chain((0..n).map(|d| spatial[d] + 2 * geometry.padding[d]))
        .collect();
    let wide = Tensor::alloc(Layout::contiguous(full)?, x.dtype(), x.device())?;
    exec::fill(&wide, Number::Int(0))?;
    add_windows(&geometry.windows(&wide, &x.shape()[2..])?, &columns, n)?;
    geometry.crop(&wide, &spatial)?.contiguous()
}

/// Adds columns into overlapping windows, one kernel position at a time: within one, none overlap.
fn add_windows(windows: &Tensor, columns: &Tensor, n: usize) -> Result<()> {
    let kernel = &windows.shape()[3..3 + n];
    let position = |t: &Tensor, mut k: usize| -> Result<Tensor> {
        let mut layout = t.layout().clone();
        for d in (0..n).rev() {
            layout = layout.select(3 + d as isize, (k % kernel[d]) as isize)?;
            k /= kernel[d];
        }
        Ok(Tensor::assemble(t.storage().clone(), layout, t.dtype(), None, None))
    };
    for k in 0..kernel.iter().product() {
        position(windows, k)?.add_(&position(columns, k)?)?;
    }
    Ok(())
}

fn weight_map(
    x: &Tensor,
    g: &Tensor,
    size: &Size,
    [stride, padding, dilation]: &[&Size; 3],
    groups: i64,
) -> Result<Tensor> {
    let shape = size.checked("convolution_weight")?;
    let geometry = Geometry::of("convolution_weight", &shape, stride, padding, dilation, groups)?;
    ensure!(
        x.dim() == shape.len() && g.dim() == shape.len() && g.shape()[1].is_multiple_of(geometry.groups),
        Runtime,
        "convolution_weight",
        "an input of shape {:?} and a gradient of shape {:?} do not belong to a weight of shape {shape:?} in {groups} groups",
        x.shape(),
        g.shape()
    );
    if x.dtype().is_half() && g.dtype() == x.dtype() {
        // The sum over the batch rounds once.
        let wide = (x.to_dtype(DType::F32)?, g.to_dtype(DType::F32)?);
        let sum = weight_map(&wide.0, &wide.1, size, &[stride, padding, dilation], groups)?;
        return sum.to_dtype(x.dtype());
    }
    let columns = geometry.columns(&geometry.pad(x)?, &g.shape()[2..])?;
    let (batch, groups) = (x.shape()[0], geometry.groups);
    let g2 = g.reshape([batch, groups, g.shape()[1] / groups, columns.shape()[3]])?;
    g2.matmul(&columns.transpose(-1, -2)?)?.sum(0, false)?.reshape(shape)
}

fn backward(cx: &GradCx<'_>) -> Result<Grads> {
    let g = cx.grad(0)?;
    let size = |k: usize| cx.arg::<Size>(k).cloned();
    let (stride, padding, dilation, groups) = (size(3)?, size(4)?, size(5)?, *cx.arg::<i64>(8)?);
    let transposed = *cx.arg::<bool>(6)?;
    let mut grads: Grads = smallvec![None, None, None];
    // Complex gradients are conjugate: each map's adjoint takes the other operand's conjugate.
    if cx.needs(0) {
        let weight = cx.input(1)?.conj_physical()?;
        grads[0] = Some(if transposed {
            let made = g.convolution(
                &weight,
                None,
                stride.clone(),
                padding.clone(),
                dilation.clone(),
                false,
                0,
                groups,
            )?;
            // What output_padding added may hold windows that no element of the input went to.
            let shape = cx.info(0)?.shape;
            (2..shape.len()).try_fold(made, |t, d| {
                if t.shape()[d] == shape[d] { Ok(t) } else { t.narrow(d as i64, 0, shape[d] as i64) }
            })?
        } else {
            back_to_input(&g, &weight, &cx.info(0)?.shape, [&stride, &padding, &dilation], groups)?
        });
    }
    if cx.needs(1) {
        let x = cx.input(0)?.conj_physical()?;
        let shape = cx.info(1)?.shape;
        let (x, g) = if transposed { (&g, &x) } else { (&x, &g) };
        grads[1] = Some(x.convolution_weight(g, &shape, stride, padding, dilation, groups)?);
    }
    if cx.needs(2) {
        let dims: Vec<usize> = (0..g.dim()).filter(|d| *d != 1).collect();
        grads[2] = Some(g.sum(dims, false)?);
    }
    Ok(grads)
}

/// The adjoint of a convolution in its input, which has this shape.
fn back_to_input(
    g: &Tensor,
    weight: &Tensor,
    input: &[usize],
    [stride, padding, dilation]: [&Size; 3],
    groups: i64,
) -> Result<Tensor> {
    let extra = left_over(&input[2..], &g.shape()[2..], weight.shape(), [stride, padding, dilation])?;
    g.convolution(weight, None, stride.clone(), padding.clone(), dilation.clone(), true, extra, groups)
}

/// What the transposed convolution must add so that it gives back the input's sizes.
fn left_over(
    input: &[usize],
    output: &[usize],
    weight: &[usize],
    [stride, padding, dilation]: [&Size; 3],
) -> Result<Size> {
    let geometry = Geometry::of("convolution", weight, stride, padding, dilation, 1)?;
    let extra = (0..input.len()).map(|d| {
        let back = (output[d] - 1) * geometry.stride[d] + geometry.reach(d);
        (input[d] + 2 * geometry.padding[d]).saturating_sub(back) as isize
    });
    Ok(Size(extra.collect()))
}

fn weight_backward(cx: &GradCx<'_>) -> Result<Grads> {
    let w = cx.grad(0)?;
    let size = |k: usize| cx.arg::<Size>(k).cloned();
    let (stride, padding, dilation, groups) = (size(3)?, size(4)?, size(5)?, *cx.arg::<i64>(6)?);
    let mut grads: Grads = smallvec![None, None];
    if cx.needs(0) {
        let g = cx.input(1)?.conj_physical()?;
        grads[0] = Some(back_to_input(&g, &w, &cx.info(0)?.shape, [&stride, &padding, &dilation], groups)?);
    }
    if cx.needs(1) {
        let x = cx.input(0)?.conj_physical()?;
        grads[1] = Some(x.convolution(&w, None, stride, padding, dilation, false, 0, groups)?);
    }
    Ok(grads)
}
