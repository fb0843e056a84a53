//! Windows of images as columns, and columns added back: each the other's gradient.

use super::{Geometry, add_windows, spread};
use crate::exec;
use crate::grad::below;
use crate::op::{Sample, Size, Value, samples};
use crate::{DType, Layout, Number, Result, Shape, Tensor, ensure};
use smallvec::{SmallVec, smallvec};

ops! { FOLD;
    /// Every window of `input` [N, C, H, W] or [C, H, W] as a column: [N, C * kH * kW, windows].
    fn im2col (input: Tensor, kernel_size: Size, dilation: Size = 1, padding: Size = 0, stride: Size = 1) -> Tensor {
        run: columns(input, [kernel_size, dilation, padding, stride]),
        grad: [reads inputs; outputs] |cx| {
            let size = |k: usize| cx.arg::<Size>(k).cloned();
            let shape = cx.info(0)?.shape;
            let sizes = Size::from(&shape[shape.len() - 2..]);
            Ok(smallvec![Some(cx.grad(0)?.col2im(sizes, size(1)?, size(2)?, size(3)?, size(4)?)?)])
        },
        samples: im2col_samples,
    }
    /// Columns [N, C * kH * kW, windows] added into images of `output_size`, where windows overlap.
    fn col2im (input: Tensor, output_size: Size, kernel_size: Size, dilation: Size = 1, padding: Size = 0, stride: Size = 1) -> Tensor {
        run: images(input, output_size, [kernel_size, dilation, padding, stride]),
        grad: [reads inputs; outputs] |cx| {
            let size = |k: usize| cx.arg::<Size>(k).cloned();
            Ok(smallvec![Some(cx.grad(0)?.im2col(size(2)?, size(3)?, size(4)?, size(5)?)?)])
        },
        samples: col2im_samples,
    }
}

/// The geometry of windows over two dimensions and how many there are along each.
fn plan(
    op: &'static str,
    channels: usize,
    image: &[usize],
    [kernel, dilation, padding, stride]: [&Size; 4],
) -> Result<(Geometry, SmallVec<[usize; 3]>)> {
    let kernel = spread(op, "kernel_size", kernel, 2, 1)?;
    let weight = [1, channels, kernel[0], kernel[1]];
    let geometry = Geometry::of(op, &weight, stride, padding, dilation, 1)?;
    let count = geometry.output(image).map_err(|e| e.in_op(op))?;
    Ok((geometry, count))
}

fn columns(x: &Tensor, sizes: [&Size; 4]) -> Result<Tensor> {
    let op = "im2col";
    let n = x.dim();
    ensure!(
        (n == 3 || n == 4) && x.shape()[n - 3..].iter().all(|s| *s > 0),
        Runtime,
        op,
        "the input has shape {:?}; it must be [N, C, H, W] or [C, H, W], none but N being 0",
        x.shape()
    );
    below(|| {
        let images = if n == 4 { x.detach()? } else { x.detach()?.unsqueeze(0)? };
        let (geometry, count) = plan(op, images.shape()[1], &images.shape()[2..], sizes)?;
        let columns = geometry.columns(&geometry.pad(&images)?, &count)?;
        // A view of the input, where nothing overlaps, is not a result.
        let columns = if columns.shares_storage(x) { columns.copy()? } else { columns };
        let columns = columns.squeeze(1)?;
        if n == 4 { Ok(columns) } else { columns.squeeze(0) }
    })
}

fn images(x: &Tensor, output: &Size, sizes: [&Size; 4]) -> Result<Tensor> {
    let op = "col2im";
    let n = x.dim();
    ensure!(
        (n == 2 || n == 3) && x.shape()[n - 2..].iter().all(|s| *s > 0),
        Runtime,
        op,
        "the input has shape {:?}; it must be [N, C * kH * kW, windows] or without N, none but N being 0",
        x.shape()
    );
    // Overlaps of halves round once.
    if x.dtype().is_half() {
        return below(|| images(&x.detach()?.to_dtype(DType::F32)?, output, sizes)?.to_dtype(x.dtype()));
    }
    let image = spread(op, "output_size", output, 2, 1)?;
    let kernel: usize = spread(op, "kernel_size", sizes[0], 2, 1)?.iter().product();
    let rows = x.shape()[n - 2];
    ensure!(
        rows.is_multiple_of(kernel),
        Runtime,
        op,
        "the columns of shape {:?} have {rows} rows, which is no multiple of the kernel's {kernel}",
        x.shape()
    );
    let (geometry, count) = plan(op, rows / kernel, &image, sizes)?;
    let expected: usize = count.iter().product();
    ensure!(
        x.shape()[n - 1] == expected,
        Runtime,
        op,
        "an image of {image:?} has {expected} windows; the columns of shape {:?} are {}",
        x.shape(),
        x.shape()[n - 1]
    );
    below(|| {
        let batch = if n == 3 { x.shape()[0] } else { 1 };
        let channels = rows / kernel;
        let full: Shape = smallvec![
            batch,
            channels,
            image[0].saturating_add(2 * geometry.padding[0]),
            image[1].saturating_add(2 * geometry.padding[1])
        ];
        let wide = Tensor::alloc(Layout::contiguous(full)?, x.dtype(), x.device())?;
        exec::fill(&wide, Number::Int(0))?;
        let mut shape: Shape = smallvec![batch, 1, channels];
        shape.extend(geometry.kernel.iter().chain(&count).copied());
        add_windows(&geometry.windows(&wide, &count)?, &x.detach()?.reshape(&shape)?, 2)?;
        let made = geometry.crop(&wide, &image)?.contiguous()?;
        if n == 3 { Ok(made) } else { made.squeeze(0) }
    })
}

fn im2col_samples() -> Vec<Sample> {
    let cases: [(&[usize], Size, i64, Size, i64); 4] = [
        (&[2, 3, 4, 5], [2, 3].into(), 1, 0.into(), 1),
        (&[1, 2, 5, 5], 2.into(), 2, [1, 0].into(), 2),
        (&[2, 3, 3], 1.into(), 1, 0.into(), 1),
        (&[0, 2, 3, 3], 2.into(), 1, 0.into(), 1),
    ];
    let make = |(shape, k, d, p, s): (&[usize], Size, i64, Size, i64)| {
        let x = Value::Tensor(samples::values(shape, 3).ok()?);
        Some(samples::sample(
            [x, Value::Size(k), Value::Size(d.into()), Value::Size(p), Value::Size(s.into())],
            true,
        ))
    };
    cases.into_iter().filter_map(make).collect()
}

fn col2im_samples() -> Vec<Sample> {
    let cases: [(&[usize], [i64; 2], i64, i64, i64, i64); 3] =
        [(&[2, 12, 12], [4, 5], 2, 1, 0, 1), (&[8, 9], [5, 5], 2, 2, 1, 2), (&[0, 4, 4], [3, 3], 2, 1, 0, 1)];
    let make = |(shape, out, k, d, p, s): (&[usize], [i64; 2], i64, i64, i64, i64)| {
        let x = Value::Tensor(samples::values(shape, 5).ok()?);
        let sizes = [k, d, p, s].map(|n| Value::Size(n.into()));
        Some(samples::sample([x, Value::Size(out.into())].into_iter().chain(sizes), true))
    };
    cases.into_iter().filter_map(make).collect()
}
