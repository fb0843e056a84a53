//! Channels traded for places, and channels between groups.

use super::view::one;
use crate::op::{Sample, Value};
use crate::{Result, Tensor, ensure};

ops! { SHUFFLE;
    /// [.., C * r * r, H, W] as [.., C, H * r, W * r]: each channel's r * r parts become a square of places.
    fn pixel_shuffle (input: Tensor, upscale_factor: Int) -> Tensor {
        run: spread_pixels(input, *upscale_factor),
        samples: pixel_samples,
    }
    /// [.., C, H * r, W * r] as [.., C * r * r, H, W]: undoes `pixel_shuffle`.
    fn pixel_unshuffle (input: Tensor, downscale_factor: Int) -> Tensor {
        run: gather_pixels(input, *downscale_factor),
        samples: unpixel_samples,
    }
    /// Channels of [N, C, ..], which stand in `groups` groups, dealt out in turn from each group.
    fn channel_shuffle as channel_shuffle | native_channel_shuffle (input: Tensor, groups: Int) -> Tensor {
        run: deal(input, *groups),
        samples: channel_samples,
    }
}

/// The leading sizes, and channels, height and width.
fn image<'a>(op: &'static str, x: &'a Tensor, factor: i64) -> Result<(&'a [usize], [usize; 3], usize)> {
    ensure!(
        x.dim() >= 3,
        Runtime,
        op,
        "the input has shape {:?}; it needs channels, height and width",
        x.shape()
    );
    ensure!(factor > 0, Runtime, op, "the factor is {factor}; it must be positive");
    let (lead, last) = x.shape().split_at(x.dim() - 3);
    Ok((lead, [last[0], last[1], last[2]], factor as usize))
}

fn with(lead: &[usize], rest: &[usize]) -> Vec<usize> {
    lead.iter().chain(rest).copied().collect()
}

/// Where nothing moved, a copy: results are no views.
fn own(x: &Tensor, made: Tensor) -> Result<Tensor> {
    if made.shares_storage(x) { made.copy() } else { Ok(made) }
}

fn order(lead: usize, rest: [usize; 5]) -> Vec<usize> {
    (0..lead).chain(rest.map(|d| lead + d)).collect()
}

fn spread_pixels(x: &Tensor, factor: i64) -> Result<Tensor> {
    let (lead, [c, h, w], r) = image("pixel_shuffle", x, factor)?;
    let square = r.checked_mul(r).filter(|s| c.is_multiple_of(*s));
    let Some(square) = square else {
        crate::bail!(
            Runtime,
            "pixel_shuffle",
            "{c} channels are no multiple of the factor's square, {r} * {r}"
        )
    };
    let parts = x.reshape(with(lead, &[c / square, r, r, h, w]))?;
    let moved = parts.permute(order(lead.len(), [0, 3, 1, 4, 2]))?.contiguous()?;
    own(x, moved.reshape(with(lead, &[c / square, h.saturating_mul(r), w.saturating_mul(r)]))?)
}

fn gather_pixels(x: &Tensor, factor: i64) -> Result<Tensor> {
    let (lead, [c, h, w], r) = image("pixel_unshuffle", x, factor)?;
    ensure!(
        h.is_multiple_of(r) && w.is_multiple_of(r),
        Runtime,
        "pixel_unshuffle",
        "height {h} and width {w} must be multiples of the factor {r}"
    );
    let parts = x.reshape(with(lead, &[c, h / r, r, w / r, r]))?;
    let moved = parts.permute(order(lead.len(), [0, 2, 4, 1, 3]))?.contiguous()?;
    own(x, moved.reshape(with(lead, &[c.saturating_mul(r).saturating_mul(r), h / r, w / r]))?)
}

fn deal(x: &Tensor, groups: i64) -> Result<Tensor> {
    let op = "channel_shuffle";
    ensure!(x.dim() > 2, Runtime, op, "the input has shape {:?}; it must be [N, C, ..]", x.shape());
    ensure!(groups > 0, Runtime, op, "{groups} groups; there must be at least one");
    let (c, g) = (x.shape()[1], groups as usize);
    ensure!(c.is_multiple_of(g), Runtime, op, "{c} channels cannot stand in {g} groups");
    let rest = &x.shape()[2..];
    let parts = x.reshape(with(&[x.shape()[0], g, c / g], rest))?;
    own(x, parts.transpose(1, 2)?.contiguous()?.reshape(x.shape())?)
}

fn pixel_samples() -> Vec<Sample> {
    let cases: [(&[usize], i64); 4] =
        [(&[2, 8, 2, 3], 2), (&[9, 1, 2], 3), (&[1, 2, 1, 2], 1), (&[0, 4, 2, 2], 2)];
    cases.into_iter().filter_map(|(s, r)| one(s, [Value::Int(r)])).collect()
}
fn unpixel_samples() -> Vec<Sample> {
    let cases: [(&[usize], i64); 3] = [(&[2, 2, 4, 6], 2), (&[1, 3, 3], 3), (&[0, 1, 2, 2], 2)];
    cases.into_iter().filter_map(|(s, r)| one(s, [Value::Int(r)])).collect()
}
fn channel_samples() -> Vec<Sample> {
    let cases: [(&[usize], i64); 4] = [(&[2, 6, 2], 3), (&[1, 4, 2, 2], 2), (&[1, 3, 2], 1), (&[0, 2, 3], 2)];
    cases.into_iter().filter_map(|(s, g)| one(s, [Value::Int(g)])).collect()
}
