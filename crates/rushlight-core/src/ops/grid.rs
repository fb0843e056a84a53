//! Images read at points of a grid. Coordinates go from -1 to 1, the last of a point is the width's.

use crate::op::{Sample, Size, Value, samples};
use crate::{DType, Result, Tensor, bail, ensure};

ops! { GRID;
    /// `input` [N, C, *spatial] at the points of `grid` [N, *out, spatial], which has -1 and 1 at the
    /// edges, or with `align_corners` at the centres of the outer places. `mode` is "bilinear",
    /// "nearest" or "bicubic"; outside lie "zeros", the "border" or the "reflection".
    fn grid_sample as _grid_sample (input: Tensor, grid: Tensor, mode: Text = "bilinear", padding_mode: Text = "zeros", align_corners: Bool = false) -> Tensor {
        run: sample(input, grid, mode, padding_mode, *align_corners),
        samples: grid_samples,
    }
    /// `grid_sample` over 2 dimensions with modes as numbers: 0 bilinear, 1 nearest, 2 bicubic; outside
    /// 0 zeros, 1 border, 2 reflection.
    fn grid_sampler_2d (input: Tensor, grid: Tensor, interpolation_mode: Int, padding_mode: Int, align_corners: Bool) -> Tensor {
        run: numbered("grid_sampler_2d", Some(2), input, grid, (*interpolation_mode, *padding_mode, *align_corners)),
        samples: sampler_samples2,
    }
    /// `grid_sample` over 3 dimensions with modes as numbers: 0 bilinear, 1 nearest, 2 bicubic; outside
    /// 0 zeros, 1 border, 2 reflection.
    fn grid_sampler_3d (input: Tensor, grid: Tensor, interpolation_mode: Int, padding_mode: Int, align_corners: Bool) -> Tensor {
        run: numbered("grid_sampler_3d", Some(3), input, grid, (*interpolation_mode, *padding_mode, *align_corners)),
        samples: sampler_samples3,
    }
    /// `grid_sampler_2d` or `grid_sampler_3d`, by the number of dimensions.
    fn grid_sampler (input: Tensor, grid: Tensor, interpolation_mode: Int, padding_mode: Int, align_corners: Bool) -> Tensor {
        run: numbered("grid_sampler", None, input, grid, (*interpolation_mode, *padding_mode, *align_corners)),
        samples: sampler_samples2,
    }
    /// The grid [N, *out, spatial] of the affine maps `theta` [N, spatial, spatial + 1]; `size` is the
    /// result's [N, C, *out].
    fn affine_grid as _affine_grid (theta: Tensor, size: Size, align_corners: Bool = false) -> Tensor {
        run: affine(theta, size, *align_corners),
        samples: affine_samples,
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Outside {
    Zeros,
    Border,
    Reflection,
}

/// One dimension of the input as a grid sees it.
#[derive(Clone, Copy)]
struct Axis {
    size: i64,
    align: bool,
    outside: Outside,
}

impl Axis {
    /// From -1 .. 1 to places.
    fn place(self, x: &Tensor) -> Result<Tensor> {
        let n = self.size as f64;
        match self.align {
            true => x.add(1)?.mul((n - 1.0) / 2.0),
            false => x.add(1)?.mul(n)?.sub(1)?.div(2),
        }
    }
    /// Places outside moved inside, as the padding says; the gradient follows.
    fn inside(self, x: &Tensor) -> Result<Tensor> {
        let last = (self.size - 1) as f64;
        match self.outside {
            Outside::Zeros => Ok(x.clone()),
            Outside::Border => x.clamp(0, last),
            Outside::Reflection => {
                let (low, span) = if self.align { (0.0, last) } else { (-0.5, self.size as f64) };
                if span == 0.0 {
                    return x.mul(0);
                }
                let away = x.sub(low)?.abs()?;
                let turns = away.detach()?.div(span)?.floor()?;
                let rest = away.sub(&turns.mul(span)?)?;
                let odd = turns.remainder(2)?.ne(0)?;
                let back = rest.neg()?.add(span)?;
                Tensor::where_cond(&odd, &back, &rest)?.add(low)?.clamp(0, last)
            }
        }
    }
}

fn sample(x: &Tensor, grid: &Tensor, mode: &str, padding: &str, align: bool) -> Result<Tensor> {
    let op = "grid_sample";
    let n = x.dim().saturating_sub(2);
    ensure!(
        (n == 2 || n == 3)
            && grid.dim() == x.dim()
            && grid.shape()[0] == x.shape()[0]
            && grid.shape()[n + 1] == n,
        Runtime,
        op,
        "an input of shape {:?} and a grid of shape {:?}; they are [N, C, *spatial] and [N, *out, spatial] with 2 or 3 spatial dimensions",
        x.shape(),
        grid.shape()
    );
    ensure!(
        x.dtype() == grid.dtype(),
        Runtime,
        op,
        "an input of {} and a grid of {} must have one dtype",
        x.dtype(),
        grid.dtype()
    );
    ensure!(x.dtype().is_float(), NotImplemented, op, "is not defined for {}", x.dtype());
    ensure!(
        x.shape()[2..].iter().all(|s| *s > 0),
        Runtime,
        op,
        "an input of shape {:?} has no places to read",
        x.shape()
    );
    let outside = match padding {
        "zeros" => Outside::Zeros,
        "border" => Outside::Border,
        "reflection" => Outside::Reflection,
        _ => bail!(Value, op, "padding_mode is \"zeros\", \"border\" or \"reflection\", not {padding:?}"),
    };
    ensure!(
        matches!(mode, "bilinear" | "nearest" | "bicubic"),
        Value,
        op,
        "mode is \"bilinear\", \"nearest\" or \"bicubic\", not {mode:?}"
    );
    if x.dtype().is_half() {
        let wide = sample(&x.to_dtype(DType::F32)?, &grid.to_dtype(DType::F32)?, mode, padding, align)?;
        return wide.to_dtype(x.dtype());
    }
    let axes: Vec<Axis> = x.shape()[2..].iter().map(|s| Axis { size: *s as i64, align, outside }).collect();
    // The last number of a point belongs to the last dimension but one's neighbour: the width first.
    let at: Vec<Tensor> =
        (0..n).map(|d| axes[d].place(&grid.select(-1, (n - 1 - d) as i64)?)).collect::<Result<_>>()?;
    let taps: Vec<Vec<(Tensor, Option<Tensor>)>> =
        axes.iter().zip(&at).map(|(axis, at)| taps(mode, *axis, at)).collect::<Result<_>>()?;
    let flat = x.flatten(2, -1)?;
    let mut shape: Vec<usize> = x.shape()[..2].into();
    shape.push(at[0].numel() / x.shape()[0].max(1));
    let mut sum: Option<Tensor> = None;
    for k in 0..taps.iter().map(Vec::len).product() {
        let part = corner(&flat, &axes, &taps, k, &shape)?;
        sum = Some(match sum {
            Some(sum) => sum.add(&part)?,
            None => part,
        });
    }
    let mut full: Vec<usize> = x.shape()[..2].into();
    full.extend(&grid.shape()[1..=n]);
    match sum {
        Some(sum) => sum.reshape(full),
        None => bail!(Runtime, op, "no mode was chosen"),
    }
}

/// A sample whose modes have numbers.
fn numbered(
    op: &'static str,
    spatial: Option<usize>,
    x: &Tensor,
    grid: &Tensor,
    (mode, padding, align): (i64, i64, bool),
) -> Result<Tensor> {
    ensure!(
        spatial.is_none_or(|n| x.dim() == n + 2),
        Runtime,
        op,
        "the input has shape {:?}; it needs batch, channels and {spatial:?} spatial dimensions",
        x.shape()
    );
    let name = |list: [&'static str; 3], k: i64| usize::try_from(k).ok().and_then(|k| list.get(k).copied());
    let mode = name(["bilinear", "nearest", "bicubic"], mode);
    let padding = name(["zeros", "border", "reflection"], padding);
    let (Some(mode), Some(padding)) = (mode, padding) else {
        bail!(Runtime, op, "interpolation_mode and padding_mode are 0, 1 or 2")
    };
    sample(x, grid, mode, padding, align).map_err(|e| e.in_op(op))
}

/// The places along one dimension that points read, with weights where these are not 1.
fn taps(mode: &str, axis: Axis, at: &Tensor) -> Result<Vec<(Tensor, Option<Tensor>)>> {
    match mode {
        "nearest" => {
            let place = axis.inside(at)?.detach()?.round()?;
            // The grid's gradient is 0, not none: a weight of 1 that the grid has no influence on.
            let one = at.requires_grad().then(|| Tensor::where_cond(&no_place(at)?, at, 1.0));
            Ok(vec![(place, one.transpose()?)])
        }
        "bilinear" => {
            let at = axis.inside(at)?;
            let low = at.detach()?.floor()?;
            let part = at.sub(&low)?;
            Ok(vec![(low.clone(), Some(part.neg()?.add(1)?)), (low.add(1)?, Some(part))])
        }
        _ => {
            // Each of the four is moved inside on its own, so that the weights stay smooth.
            let low = at.detach()?.floor()?;
            let part = at.sub(&low)?;
            (-1..3i64)
                .map(|k| {
                    let place = axis.inside(&low.add(k)?)?;
                    Ok((place, Some(keys(&part.sub(k)?.abs()?, k == 0 || k == 1)?)))
                })
                .collect()
        }
    }
}

fn no_place(like: &Tensor) -> Result<Tensor> {
    Tensor::zeros_with(like.shape(), Some(DType::Bool), Some(like.device()))
}

/// Keys's cubic kernel with -0.75, for distances up to 1 or from 1 to 2.
fn keys(x: &Tensor, near: bool) -> Result<Tensor> {
    let a = -0.75;
    match near {
        true => x.mul(a + 2.0)?.sub(a + 3.0)?.mul(x)?.mul(x)?.add(1),
        false => x.mul(a)?.sub(5.0 * a)?.mul(x)?.add(8.0 * a)?.mul(x)?.sub(4.0 * a),
    }
}

/// One choice of a tap in each dimension: what is read there, times its weights.
fn corner(
    flat: &Tensor,
    axes: &[Axis],
    taps: &[Vec<(Tensor, Option<Tensor>)>],
    mut k: usize,
    shape: &[usize],
) -> Result<Tensor> {
    let mut index: Option<Tensor> = None;
    let mut weight: Option<Tensor> = None;
    let mut valid: Option<Tensor> = None;
    for (axis, taps) in axes.iter().zip(taps) {
        let (place, by) = &taps[k % taps.len()];
        k /= taps.len();
        let last = axis.size - 1;
        if axis.outside == Outside::Zeros || taps.len() == 2 {
            let ok = place.ge(0)?.logical_and(&place.le(last)?)?;
            valid = Some(match valid {
                Some(valid) => valid.logical_and(&ok)?,
                None => ok,
            });
        }
        // A point that is no number reads some place; its weight is none either.
        let place = place.nan_to_num(Some(-1.0), None, None)?.clamp(0, last)?.to_dtype(DType::I64)?;
        index = Some(match index {
            Some(index) => index.mul(axis.size)?.add(&place)?,
            None => place,
        });
        weight = match (weight, by) {
            (Some(weight), Some(by)) => Some(weight.mul(by)?),
            (weight, by) => weight.or_else(|| by.clone()),
        };
    }
    let Some(index) = index else { return Ok(flat.clone()) };
    let row = |t: &Tensor| t.reshape([shape[0] as i64, 1, shape[2] as i64]);
    let mut read = flat.gather(2, &row(&index)?.expand(shape)?)?;
    if let Some(weight) = weight {
        read = read.mul(&row(&weight)?)?;
    }
    match valid {
        Some(valid) => read.masked_fill(&row(&valid.logical_not()?)?, 0),
        None => Ok(read),
    }
}

fn affine(theta: &Tensor, size: &Size, align: bool) -> Result<Tensor> {
    let op = "affine_grid";
    let sizes = size.checked(op)?;
    let n = sizes.len().saturating_sub(2);
    ensure!(
        (n == 2 || n == 3) && theta.shape() == [sizes[0], n, n + 1] && sizes.iter().all(|s| *s > 0),
        Value,
        op,
        "theta of shape {:?} and size {:?}; they are [N, n, n + 1] and [N, C, *out] with n = 2 or 3 sizes",
        theta.shape(),
        size.0
    );
    ensure!(
        theta.dtype().is_float(),
        Value,
        op,
        "theta must be of a floating point dtype, not {}",
        theta.dtype()
    );
    let out = &sizes[2..];
    // Coordinates of places, the width's first, and 1.
    let mut columns: Vec<Tensor> = Vec::new();
    for d in (0..n).rev() {
        let steps = Tensor::linspace_with(-1, 1, out[d] as i64, Some(theta.dtype()), Some(theta.device()))?;
        let steps = match (align, out[d]) {
            (_, 1) => steps.mul(0)?,
            (true, _) => steps,
            (false, m) => steps.mul((m - 1) as f64)?.div(m as f64)?,
        };
        let mut shape = vec![1i64; n];
        shape[d] = out[d] as i64;
        columns.push(steps.reshape(shape)?.expand(out)?.reshape(-1)?);
    }
    columns.push(Tensor::ones_with(columns[0].shape(), Some(theta.dtype()), Some(theta.device()))?);
    let base = Tensor::stack(&columns.iter().collect::<Vec<_>>(), -1)?;
    let mut full: Vec<usize> = vec![sizes[0]];
    full.extend(out);
    full.push(n);
    base.matmul(&theta.transpose(1, 2)?)?.reshape(full)
}

fn grid_samples() -> Vec<Sample> {
    type Case = (&'static [usize], &'static [usize], &'static str, &'static str, bool);
    let cases: [Case; 8] = [
        (&[1, 2, 3, 4], &[1, 2, 3, 2], "bilinear", "zeros", false),
        (&[2, 1, 3, 4], &[2, 2, 3, 2], "bilinear", "border", true),
        (&[1, 2, 4, 3], &[1, 3, 2, 2], "bilinear", "reflection", false),
        (&[1, 2, 3, 4], &[1, 2, 3, 2], "nearest", "reflection", true),
        (&[1, 1, 4, 4], &[1, 2, 3, 2], "bicubic", "zeros", false),
        (&[1, 1, 4, 5], &[1, 2, 2, 2], "bicubic", "reflection", true),
        (&[1, 2, 2, 3, 3], &[1, 1, 2, 2, 3], "bilinear", "zeros", true),
        (&[0, 2, 2, 3], &[0, 1, 2, 2], "bilinear", "zeros", true),
    ];
    let one = |(k, (shape, points, mode, padding, align)): (usize, Case)| {
        let x = Value::Tensor(samples::values(shape, k).ok()?);
        let grid = Value::Tensor(samples::unit(points, k + 4).ok()?);
        let rest = [Value::Text(mode.into()), Value::Text(padding.into()), Value::Bool(align)];
        Some(samples::sample([x, grid].into_iter().chain(rest), true))
    };
    cases.into_iter().enumerate().filter_map(one).collect()
}

fn affine_samples() -> Vec<Sample> {
    let one = |theta: &[usize], size: &[i64], align: bool| {
        let theta = Value::Tensor(samples::values(theta, 2).ok()?);
        Some(samples::sample([theta, Value::Size(size.into()), Value::Bool(align)], true))
    };
    [
        one(&[2, 2, 3], &[2, 1, 3, 4], false),
        one(&[1, 2, 3], &[1, 3, 1, 2], true),
        one(&[1, 3, 4], &[1, 1, 2, 2, 3], false),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn numbers(shape: &[usize], points: &[usize], mode: i64, padding: i64) -> Option<Sample> {
    let x = Value::Tensor(samples::values(shape, 1).ok()?);
    let grid = Value::Tensor(samples::unit(points, 5).ok()?);
    Some(samples::sample([x, grid, Value::Int(mode), Value::Int(padding), Value::Bool(true)], true))
}
fn sampler_samples2() -> Vec<Sample> {
    numbers(&[1, 2, 3, 4], &[1, 2, 3, 2], 0, 1).into_iter().collect()
}
fn sampler_samples3() -> Vec<Sample> {
    numbers(&[1, 2, 2, 3, 3], &[1, 1, 2, 2, 3], 0, 0).into_iter().collect()
}
