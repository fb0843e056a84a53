//! Pools undone, and pools of random windows.

use super::super::conv::spread;
use super::super::create::room;
use crate::op::{Sample, Size, Value, samples};
use crate::{DType, Result, Tensor, ensure};
use smallvec::SmallVec;

ops! { UNPOOL;
    /// Zeros of `output_size` in the last `spatial` dimensions with the elements of `input` at
    /// `indices`, which are flat positions among them, as a pool gives them.
    fn max_unpool as _max_unpool (input: Tensor, indices: Tensor, spatial: Int, output_size: Size) -> Tensor {
        run: unpool(input, indices, *spatial, output_size),
        samples: unpool_samples,
    }
    /// Largest elements and their flat positions, over windows of `kernel_size` in the last `spatial`
    /// dimensions whose places the `samples` [N, C, spatial], in [0, 1), choose; as in Graham,
    /// "Fractional Max-Pooling" (2014).
    fn fractional_max_pool as _fractional_max_pool (input: Tensor, samples: Tensor, spatial: Int, kernel_size: Size, output_size: Size) -> (Tensor, Tensor) {
        run: fractional(input, samples, *spatial, kernel_size, output_size),
        samples: fractional_samples,
    }
}

fn unpool(x: &Tensor, at: &Tensor, spatial: i64, size: &Size) -> Result<Tensor> {
    let op = "max_unpool";
    ensure!((1..=3).contains(&spatial), Runtime, op, "goes over 1 to 3 dimensions, not {spatial}");
    let n = spatial as usize;
    ensure!(
        (x.dim() == n + 1 || x.dim() == n + 2) && x.shape()[x.dim() - n - 1..].iter().all(|s| *s > 0),
        Runtime,
        op,
        "the input has shape {:?}; it must be [N, C] or [C] and {n} spatial sizes, none but N being 0",
        x.shape()
    );
    ensure!(at.dtype() == DType::I64, Runtime, op, "indices must be int64, not {}", at.dtype());
    ensure!(
        at.shape() == x.shape(),
        Runtime,
        op,
        "indices of shape {:?} do not belong to an input of shape {:?}",
        at.shape(),
        x.shape()
    );
    let out = spread(op, "output_size", size, n, 0)?;
    let (rows, sizes) = x.shape().split_at(x.dim() - n);
    let with = |rest: &[usize]| rows.iter().chain(rest).copied().collect::<Vec<usize>>();
    let whole = out.iter().fold(1usize, |a, s| a.saturating_mul(*s));
    room(op, rows.iter().fold(whole, |a, s| a.saturating_mul(*s)))?;
    let flat = with(&[sizes.iter().product()]);
    let zeros = Tensor::zeros_with(with(&[whole]), Some(x.dtype()), Some(x.device()))?;
    let placed = zeros.scatter(rows.len() as i64, &at.reshape(flat.clone())?, &x.reshape(flat)?);
    placed.map_err(|e| e.in_op(op))?.reshape(with(&out))
}

fn fractional(
    x: &Tensor,
    random: &Tensor,
    spatial: i64,
    kernel: &Size,
    size: &Size,
) -> Result<(Tensor, Tensor)> {
    let op = "fractional_max_pool";
    ensure!((2..=3).contains(&spatial), Runtime, op, "pools over 2 or 3 dimensions, not {spatial}");
    let n = spatial as usize;
    ensure!(
        (x.dim() == n + 1 || x.dim() == n + 2) && x.shape()[x.dim() - n - 1..].iter().all(|s| *s > 0),
        Runtime,
        op,
        "the input has shape {:?}; it must be [N, C] or [C] and {n} spatial sizes, none but N being 0",
        x.shape()
    );
    ensure!(
        x.dtype().is_float(),
        NotImplemented,
        op,
        "is not defined for {}; convert with to_dtype",
        x.dtype()
    );
    ensure!(
        random.dtype() == x.dtype(),
        Runtime,
        op,
        "an input of {} and samples of {} must have one dtype",
        x.dtype(),
        random.dtype()
    );
    let kernel = spread(op, "kernel_size", kernel, n, 1)?;
    let out = spread(op, "output_size", size, n, 1)?;
    if x.dim() == n + 1 {
        let (values, at) =
            fractional(&x.unsqueeze(0)?, random, spatial, &kernel_size(&kernel), &kernel_size(&out))?;
        return Ok((values.squeeze(0)?, at.squeeze(0)?));
    }
    let (rows, sizes) = x.shape().split_at(2);
    ensure!(
        random.dim() == 3
            && random.shape()[0] >= rows[0]
            && random.shape()[1] >= rows[1]
            && random.shape()[2] == n,
        Runtime,
        op,
        "samples of shape {:?} do not belong to an input of shape {:?}; they are [N, C, {n}]",
        random.shape(),
        x.shape()
    );
    for d in 0..n {
        ensure!(
            out[d].saturating_add(kernel[d]) <= sizes[d] + 1,
            Runtime,
            op,
            "{} windows of {} are too many for spatial sizes {sizes:?}",
            out[d],
            kernel[d]
        );
    }
    let random = random.detach()?.narrow(0, 0, rows[0] as i64)?.narrow(1, 0, rows[1] as i64)?;
    let whole: usize = sizes.iter().product();
    let mut at: Option<Tensor> = None;
    for d in 0..n {
        // In two dimensions the first sample is the width's.
        let which = if n == 2 { 1 - d } else { d };
        let place = starts(&random.select(2, which as i64)?, sizes[d], out[d], kernel[d])?;
        let mut axes: Vec<i64> = vec![rows[0] as i64, rows[1] as i64];
        axes.extend((0..n).map(|k| if k == d { out[d] as i64 } else { 1 }));
        axes.extend([1].repeat(n));
        let mut within = vec![1i64; n];
        within[d] = kernel[d] as i64;
        let steps = Tensor::arange_with(0, kernel[d] as i64, 1, Some(DType::I64), Some(x.device()))?;
        let scale = sizes[d + 1..].iter().product::<usize>() as i64;
        let place = place.reshape(axes)?.add(&steps.reshape(within)?)?.mul(scale)?;
        at = Some(match at {
            Some(at) => at.add(&place)?,
            None => place,
        });
    }
    let Some(at) = at else { return Ok((x.clone(), x.clone())) };
    let (places, cells) = (out.iter().product::<usize>(), kernel.iter().product::<usize>());
    let with = |rest: &[usize]| rows.iter().chain(rest).copied().collect::<Vec<usize>>();
    let at = at.reshape(with(&[places * cells]))?;
    let flat = x.reshape(with(&[whole]))?;
    let windows = flat.detach()?.gather(2, &at)?.reshape(with(&[places, cells]))?;
    let found = windows.max_dim(-1, true)?.1;
    let at = at.reshape(with(&[places, cells]))?.gather(-1, &found)?.reshape(with(&[places]))?;
    Ok((flat.gather(2, &at)?.reshape(with(&out))?, at.reshape(with(&out))?))
}

fn kernel_size(list: &SmallVec<[usize; 3]>) -> Size {
    Size(list.iter().map(|k| *k as isize).collect())
}

/// First places [N, C, out] of windows along one dimension.
fn starts(sample: &Tensor, size: usize, out: usize, kernel: usize) -> Result<Tensor> {
    let room = (size - kernel) as i64;
    let mut shape = sample.shape().to_vec();
    shape.push(1);
    let last = Tensor::full_with(shape.as_slice(), room, Some(DType::I64), Some(sample.device()))?;
    if out == 1 {
        return Ok(last);
    }
    let alpha = room as f64 / (out - 1) as f64;
    let step = Tensor::arange_with(0, out as i64 - 1, 1, Some(sample.dtype()), Some(sample.device()))?;
    let sample = sample.unsqueeze(-1)?;
    let place = sample.add(&step)?.mul(alpha)?.trunc()?.sub(&sample.mul(alpha)?.trunc()?)?;
    Tensor::cat(&[&place.to_dtype(DType::I64)?, &last], -1)
}

fn unpool_samples() -> Vec<Sample> {
    let one = |shape: &[usize], places: &[i64], n: i64, out: &[i64]| {
        let x = samples::values(shape, 1).ok()?;
        let at = Tensor::from_vec(places.to_vec(), shape).ok()?;
        Some(samples::sample(
            [Value::Tensor(x), Value::Tensor(at), Value::Int(n), Value::Size(out.into())],
            true,
        ))
    };
    [one(&[1, 2, 2], &[0, 3, 1, 4], 1, &[5]), one(&[1, 2, 2], &[0, 3, 8, 10], 2, &[3, 4])]
        .into_iter()
        .flatten()
        .collect()
}

fn fractional_samples() -> Vec<Sample> {
    let one = |shape: &[usize], n: usize, kernel: i64, out: &[i64]| {
        let x = samples::values(shape, 1).ok()?;
        let batch = if shape.len() == n + 2 { shape[0] } else { 1 };
        let random = samples::share(&[batch, shape[shape.len() - n - 1], n], 2).ok()?;
        Some(Sample {
            args: [
                Value::Tensor(x),
                Value::Tensor(random),
                Value::Int(n as i64),
                Value::Size(kernel.into()),
                Value::Size(out.into()),
            ]
            .into_iter()
            .collect(),
            grad: false,
        })
    };
    [one(&[2, 2, 6, 7], 2, 2, &[3, 4]), one(&[2, 5, 4, 6], 3, 2, &[2, 1, 3])].into_iter().flatten().collect()
}
