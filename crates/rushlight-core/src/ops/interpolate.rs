//! Images of other sizes. Every mode is separable: along one dimension a result's place is a sum of a
//! few places of the input with weights, so a resize is one such pass a dimension.
//!
//! Cubic weights are Keys's, "Cubic convolution interpolation for digital image processing" (1981),
//! with -0.75, and -0.5 where `antialias` widens them.

use super::arrange::host_list;
use super::create::room;
use crate::op::{Sample, Size, Value, samples};
use crate::{DType, Result, Tensor, bail, ensure};

ops! { INTERPOLATE;
    /// `input` [N, C, *spatial] with other spatial sizes. `mode` is "nearest" (as OpenCV counts),
    /// "nearest-exact", "linear", "bilinear", "trilinear", "bicubic" or "area"; `align_corners` puts the
    /// corners' centres upon each other; `antialias` widens the filter where the image shrinks.
    /// `scale1` to `scale3` are the factors by which the dimensions grow, where they differ from the
    /// ratio of sizes.
    fn interpolate as _interpolate (input: Tensor, size: Size, mode: Text, align_corners: Bool = false, antialias: Bool = false,
                       scale1: OptFloat = None, scale2: OptFloat = None, scale3: OptFloat = None) -> Tensor {
        run: resize(input, size, mode, (*align_corners, *antialias), [*scale1, *scale2, *scale3]),
        samples: resize_samples,
    }
}

/// What a place of the result takes along one dimension: as many places for each, tap by tap.
struct Taps {
    index: Vec<Vec<i64>>,
    weight: Vec<Vec<f64>>,
}

fn resize(
    x: &Tensor,
    size: &Size,
    mode: &str,
    (align, antialias): (bool, bool),
    scales: [Option<f64>; 3],
) -> Result<Tensor> {
    let op = "interpolate";
    let n = size.0.len();
    ensure!(
        (1..=3).contains(&n) && x.dim() == n + 2,
        Value,
        op,
        "an input of shape {:?} has {} spatial dimensions, {:?} has sizes for {n}",
        x.shape(),
        x.dim().saturating_sub(2),
        size.0
    );
    let known = match mode {
        "nearest" | "nearest-exact" | "area" => true,
        "linear" => n == 1,
        "bilinear" | "bicubic" => n == 2,
        "trilinear" => n == 3,
        _ => false,
    };
    ensure!(known, NotImplemented, op, "mode {mode:?} is not defined for {n} spatial dimensions");
    ensure!(
        !antialias || mode == "bilinear" || mode == "bicubic",
        Value,
        op,
        "antialias is for the modes \"bilinear\" and \"bicubic\", not {mode:?}"
    );
    let sizes = &x.shape()[2..];
    ensure!(
        size.0.iter().all(|s| *s > 0) && sizes.iter().all(|s| *s > 0) && x.shape()[1] > 0,
        Runtime,
        op,
        "from shape {:?} to sizes {:?}; all but the batch must be positive",
        x.shape(),
        size.0
    );
    let dtype = x.dtype();
    let bytes =
        dtype == DType::U8 && n == 2 && mode != "area" || dtype == DType::U8 && mode.starts_with("nearest");
    ensure!(
        dtype.is_float() || bytes,
        NotImplemented,
        op,
        "mode {mode:?} is not defined for {dtype}; convert with to_dtype"
    );
    if mode == "area" {
        return match n {
            1 => x.adaptive_avg_pool1d(size.clone()),
            2 => x.adaptive_avg_pool2d(size.clone()),
            _ => x.adaptive_avg_pool3d(size.clone()),
        };
    }
    for s in &size.0 {
        room(op, s.unsigned_abs())?;
    }
    // Halves round once, at the end; bytes after each pass.
    let exact = mode.starts_with("nearest");
    let mut t = if exact || !(dtype.is_half() || bytes) { x.clone() } else { x.to_dtype(DType::F32)? };
    for d in (0..n).rev() {
        let (have, want) = (sizes[d], size.0[d] as usize);
        if exact {
            let index = nearest(have, want, scales[d], mode == "nearest-exact");
            if have != want || !index.iter().enumerate().all(|(k, i)| k as i64 == *i) {
                t = t.index_select(d as i64 + 2, &host_list(&index, &[want], x)?)?;
            }
            continue;
        }
        let step = step(have, want, align, scales[d]);
        if have == want && step == 1.0 {
            continue;
        }
        let taps = match (mode == "bicubic", antialias) {
            (false, false) => linear(have, want, step, align),
            (true, false) => cubic(have, want, step, align),
            (cubic, true) => filtered(op, have, want, step, cubic)?,
        };
        t = apply(&t, d + 2, &taps)?;
        if bytes {
            t = t.add(0.5)?.floor()?.clamp(0, 255)?;
        }
    }
    if t.is(x) { t.copy() } else { t.to_dtype(dtype) }
}

/// How far apart in the input two neighbours of the result are.
fn step(have: usize, want: usize, align: bool, scale: Option<f64>) -> f64 {
    match scale {
        _ if align => {
            if want > 1 {
                (have - 1) as f64 / (want - 1) as f64
            } else {
                0.0
            }
        }
        Some(s) if s > 0.0 => 1.0 / s,
        _ => have as f64 / want as f64,
    }
}

/// Positions of single precision, as torch's are whatever the dtype: they decide which place is taken.
fn nearest(have: usize, want: usize, scale: Option<f64>, exact: bool) -> Vec<i64> {
    let step = match scale {
        Some(s) if s > 0.0 => (1.0 / s) as f32,
        _ => have as f32 / want as f32,
    };
    let half = if exact { 0.5 } else { 0.0 };
    (0..want).map(|i| (((i as f32 + half) * step).floor() as i64).min(have as i64 - 1)).collect()
}

/// Where in the input the centre of the result's place `i` lies.
fn centre(i: usize, step: f64, align: bool) -> f64 {
    if align { i as f64 * step } else { (i as f64 + 0.5) * step - 0.5 }
}

fn linear(have: usize, want: usize, step: f64, align: bool) -> Taps {
    let mut taps = Taps { index: vec![vec![]; 2], weight: vec![vec![]; 2] };
    for i in 0..want {
        let at = centre(i, step, align).max(0.0);
        let low = (at as usize).min(have - 1);
        let part = (at - low as f64).clamp(0.0, 1.0);
        taps.index[0].push(low as i64);
        taps.index[1].push((low + 1).min(have - 1) as i64);
        taps.weight[0].push(1.0 - part);
        taps.weight[1].push(part);
    }
    taps
}

/// Keys's kernel at distance `x`.
pub(super) fn keys(x: f64, a: f64) -> f64 {
    let x = x.abs();
    match x {
        x if x <= 1.0 => ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0,
        x if x < 2.0 => ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a,
        _ => 0.0,
    }
}

fn cubic(have: usize, want: usize, step: f64, align: bool) -> Taps {
    let mut taps = Taps { index: vec![vec![]; 4], weight: vec![vec![]; 4] };
    for i in 0..want {
        let at = centre(i, step, align);
        let low = at.floor();
        for k in 0..4 {
            let place = low as i64 + k - 1;
            taps.index[k as usize].push(place.clamp(0, have as i64 - 1));
            taps.weight[k as usize].push(keys(at - low - (k - 1) as f64, -0.75));
        }
    }
    taps
}

/// A filter as wide as the step, where that is above 1.
fn filtered(op: &'static str, have: usize, want: usize, step: f64, cubic: bool) -> Result<Taps> {
    let radius = if cubic { 2.0 } else { 1.0 };
    let wide = step.max(1.0);
    let support = radius * wide;
    let count = ((support.ceil() as usize).saturating_mul(2) + 1).min(have);
    room(op, count.saturating_mul(want))?;
    let mut taps = Taps { index: vec![vec![]; count], weight: vec![vec![]; count] };
    for i in 0..want {
        let at = step * (i as f64 + 0.5);
        let first = ((at - support + 0.5) as i64).clamp(0, have as i64 - 1);
        let end = ((at + support + 0.5) as i64).clamp(first + 1, have as i64);
        let kernel = |j: i64| {
            let x = ((j as f64) - at + 0.5) / wide;
            if cubic { keys(x, -0.5) } else { (1.0 - x.abs()).max(0.0) }
        };
        let sum: f64 = (first..end).map(kernel).sum();
        let sum = if sum == 0.0 { 1.0 } else { sum };
        for k in 0..count {
            let place = first + k as i64;
            taps.index[k].push(place.min(end - 1));
            taps.weight[k].push(if place < end { kernel(place) / sum } else { 0.0 });
        }
    }
    Ok(taps)
}

fn apply(x: &Tensor, d: usize, taps: &Taps) -> Result<Tensor> {
    let mut sum: Option<Tensor> = None;
    let mut shape = vec![1i64; x.dim() - d];
    for (index, weight) in taps.index.iter().zip(&taps.weight) {
        shape[0] = index.len() as i64;
        let part = x.index_select(d as i64, &host_list(index, &[index.len()], x)?)?;
        let weight = weights(weight, x)?.reshape(shape.as_slice())?;
        sum = Some(match sum {
            Some(sum) => sum.addcmul(&part, &weight, 1)?,
            None => part.mul(&weight)?,
        });
    }
    match sum {
        Some(sum) => Ok(sum),
        None => bail!(Runtime, "interpolate", "dimension {d} of shape {:?} has no places", x.shape()),
    }
}

fn weights(list: &[f64], like: &Tensor) -> Result<Tensor> {
    Tensor::from_slice(list, list.len())?.to_dtype(like.dtype())?.to_device(like.device())
}

fn resize_samples() -> Vec<Sample> {
    type Case = (&'static [usize], &'static [i64], &'static str, bool, bool, Option<f64>);
    let cases: [Case; 12] = [
        (&[2, 3, 5], &[8], "nearest", false, false, None),
        (&[1, 2, 6], &[4], "nearest-exact", false, false, None),
        (&[2, 3, 5], &[8], "linear", false, false, None),
        (&[1, 2, 4, 3], &[7, 2], "bilinear", false, false, Some(1.7)),
        (&[1, 2, 4, 3], &[7, 5], "bilinear", true, false, None),
        (&[0, 2, 4, 3], &[2, 5], "bilinear", true, false, None),
        (&[2, 1, 4, 5], &[6, 3], "bicubic", false, false, None),
        (&[1, 1, 3, 4], &[1, 6], "bicubic", true, false, None),
        (&[1, 2, 7, 6], &[3, 4], "bilinear", false, true, None),
        (&[1, 1, 5, 9], &[7, 4], "bicubic", false, true, None),
        (&[1, 2, 2, 3, 2], &[3, 4, 4], "trilinear", false, false, None),
        (&[1, 2, 5, 4], &[2, 3], "area", false, false, None),
    ];
    let one = |(k, (shape, size, mode, align, anti, scale)): (usize, Case)| {
        let x = Value::Tensor(samples::values(shape, k).ok()?);
        let rest = [
            Value::Size(size.into()),
            Value::Text(mode.into()),
            Value::Bool(align),
            Value::Bool(anti),
            Value::OptFloat(scale),
            Value::OptFloat(None),
            Value::OptFloat(None),
        ];
        Some(samples::sample([x].into_iter().chain(rest), true))
    };
    cases.into_iter().enumerate().filter_map(one).collect()
}
