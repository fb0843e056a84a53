//! Margins around a tensor.

use super::arrange::{fresh, host_list, through};
use super::view::one;
use crate::exec;
use crate::op::{Sample, Size, Value};
use crate::{Layout, Number, Result, Shape, Tensor, bail, ensure};
use smallvec::{SmallVec, smallvec};

ops! { PAD;
    /// Margins around the last dimensions: `padding` lists (before, after) for the last dimension, then
    /// for the one before it, and so on; negative margins cut. `mode` is "constant" (filled with
    /// `value`), "reflect" (mirrored without the edge), "replicate" (the edge) or "circular".
    fn pad (input: Tensor, padding: Size, mode: Text = "constant", value: Number = 0) -> Tensor {
        run: super::pad(input, padding, mode, *value),
        samples: pad_samples,
    }
    /// `pad` with a constant.
    fn constant_pad_nd (input: Tensor, padding: Size, value: Number = 0) -> Tensor {
        run: constant(input, padding, *value),
        grad: [reads inputs; outputs] |cx| {
            let back: SmallVec<[isize; 6]> = cx.arg::<Size>(1)?.0.iter().map(|n| n.wrapping_neg()).collect();
            Ok(smallvec![Some(cx.grad(0)?.constant_pad_nd(Size(back), 0)?)])
        },
        samples: constant_samples,
    }
}

/// (before, after) by dimension.
fn margins(x: &Tensor, pad: &Size) -> Result<SmallVec<[(isize, isize); 6]>> {
    ensure!(
        pad.0.len().is_multiple_of(2) && pad.0.len() / 2 <= x.dim(),
        Runtime,
        "pad",
        "pad {:?} must list two margins for each of at most {} dimensions",
        pad.0,
        x.dim()
    );
    let mut by: SmallVec<[(isize, isize); 6]> = smallvec![(0, 0); x.dim()];
    for (k, pair) in pad.0.chunks(2).enumerate() {
        by[x.dim() - 1 - k] = (pair[0], pair[1]);
    }
    Ok(by)
}

fn pad(x: &Tensor, pad: &Size, mode: &str, value: Number) -> Result<Tensor> {
    let place: fn(isize, isize) -> Option<isize> = match mode {
        "constant" => return x.constant_pad_nd(pad.clone(), value),
        "reflect" => |i, n| Some(if i < 0 { -i } else { 2 * (n - 1) - i }).filter(|j| (0..n).contains(j)),
        "replicate" => |i, n| (n > 0).then(|| i.clamp(0, n - 1)),
        "circular" => |i, n| Some(if i < 0 { i + n } else { i - n }).filter(|j| (0..n).contains(j)),
        _ => bail!(
            NotImplemented,
            "pad",
            "mode is \"constant\", \"reflect\", \"replicate\" or \"circular\", not {mode:?}"
        ),
    };
    let mut out = x.clone();
    for (d, (before, after)) in margins(x, pad)?.into_iter().enumerate() {
        if (before, after) == (0, 0) {
            continue;
        }
        let mut n = x.shape()[d] as isize;
        let (mut before, mut after) = (before, after);
        if mode == "circular" && (before < 0 || after < 0) {
            // What is cut off is not wrapped around either.
            let (first, last) = (before.min(0).saturating_neg(), n.saturating_add(after.min(0)));
            ensure!(
                first <= last,
                Runtime,
                "pad",
                "margins ({before}, {after}) cut off more than dimension {d} of size {n} has"
            );
            n = last - first;
            out = out.narrow(d as i64, first as i64, n as i64)?;
            (before, after) = (before.max(0), after.max(0));
        }
        let end = n.checked_add(after).filter(|end| end.checked_add(before).is_some());
        if mode == "replicate" {
            super::create::room("pad", end.map_or(usize::MAX, |end| (end + before).max(0) as usize))?;
        }
        let positions: Option<Vec<i64>> = end.filter(|end| *end + before >= 0).and_then(|end| {
            (-before..end)
                .map(|i| if (0..n).contains(&i) { Some(i) } else { place(i, n) }.map(|i| i as i64))
                .collect()
        });
        let Some(positions) = positions else {
            bail!(
                Runtime,
                "pad",
                "margins ({before}, {after}) of dimension {d} are too large for its size {n} in mode {mode:?}"
            )
        };
        let index = host_list(&positions, &[positions.len()], x)?;
        out = out.index_select(d as i64, &index)?;
    }
    if out.is(x) { x.copy() } else { Ok(out) }
}

fn constant(x: &Tensor, pad: &Size, value: Number) -> Result<Tensor> {
    let (mut from, mut inner): (Layout, SmallVec<[(isize, isize); 6]>) = (x.layout().clone(), smallvec![]);
    let mut shape = Shape::new();
    for (d, (before, after)) in margins(x, pad)?.into_iter().enumerate() {
        let n = x.shape()[d] as isize;
        let total = n.checked_add(before).and_then(|m| m.checked_add(after)).filter(|m| *m >= 0);
        let Some(total) = total else {
            bail!(
                Runtime,
                "pad",
                "margins ({before}, {after}) leave nothing of dimension {d}, which has size {n}"
            )
        };
        // The part of the input that stays, and where it goes.
        let start = before.saturating_neg().clamp(0, n);
        let kept = (n - start).saturating_sub(after.saturating_neg().max(0)).clamp(0, n);
        from = from.narrow(d as isize, start, kept)?;
        inner.push((before.clamp(0, total), kept));
        shape.push(total as usize);
    }
    crate::layout::checked_numel("pad", &shape)?;
    let out = fresh(x, &shape)?;
    crate::trace::copying("pad", out.nbytes(), out.shape(), "margins need new memory")?;
    exec::fill(&out, value)?;
    if from.numel() > 0 {
        let mut to = out.layout().clone();
        for (d, (at, n)) in inner.into_iter().enumerate() {
            to = to.narrow(d as isize, at, n)?;
        }
        exec::copy(&through(&out, to), &through(x, from))?;
    }
    Ok(out)
}

fn constant_samples() -> Vec<Sample> {
    let cases: [(&[usize], Size, f64); 5] = [
        (&[3], [1, 2].into(), 0.5),
        (&[2, 3], [0, 1, 2, 0].into(), 0.0),
        (&[2, 4], [-1, -1].into(), 1.0),
        (&[2, 2], ().into(), 0.0),
        (&[0, 2], [0, 0, 1, 0].into(), 2.0),
    ];
    cases
        .into_iter()
        .filter_map(|(s, p, v)| one(s, [Value::Size(p), Value::Number(Number::Float(v))]))
        .collect()
}

fn pad_samples() -> Vec<Sample> {
    let cases: [(&[usize], Size, &str); 5] = [
        (&[2, 3], [1, 2].into(), "constant"),
        (&[1, 2, 4], [2, 1].into(), "reflect"),
        (&[1, 2, 3], [2, 1].into(), "replicate"),
        (&[1, 2, 3, 3], [1, 2, 1, 0].into(), "circular"),
        (&[1, 2, 5], [-1, 2].into(), "circular"),
    ];
    cases
        .into_iter()
        .filter_map(|(s, p, m)| {
            one(s, [Value::Size(p), Value::Text(m.into()), Value::Number(Number::Int(0))])
        })
        .collect()
}
