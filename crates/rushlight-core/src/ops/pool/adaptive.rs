//! Pools whose windows follow from the sizes that the result shall have.

use super::super::arrange::host_list;
use super::super::conv::spread;
use super::super::create::room;
use crate::op::{Sample, Size, Value, samples};
use crate::{DType, Result, Tensor, ensure};
use smallvec::SmallVec;

ops! { ADAPTIVE;
    /// Means over windows chosen so that the last dimension gets the size asked for.
    fn adaptive_avg_pool1d (input: Tensor, output_size: Size) -> Tensor {
        run: means(input, 1, output_size),
        samples: samples1,
    }
    /// Largest elements of windows chosen so that the last dimension gets the size asked for.
    fn adaptive_max_pool1d (input: Tensor, output_size: Size) -> Tensor {
        run: Ok::<_, crate::Error>(input.adaptive_max_pool(1, output_size.clone())?.0),
        samples: samples1,
    }
    /// Means over windows chosen so that the last two dimensions get the sizes asked for.
    fn adaptive_avg_pool2d (input: Tensor, output_size: Size) -> Tensor {
        run: means(input, 2, output_size),
        samples: samples2,
    }
    /// Largest elements of windows chosen so that the last two dimensions get the sizes asked for.
    fn adaptive_max_pool2d (input: Tensor, output_size: Size) -> Tensor {
        run: Ok::<_, crate::Error>(input.adaptive_max_pool(2, output_size.clone())?.0),
        samples: samples2,
    }
    /// Means over windows chosen so that the last three dimensions get the sizes asked for.
    fn adaptive_avg_pool3d (input: Tensor, output_size: Size) -> Tensor {
        run: means(input, 3, output_size),
        samples: samples3,
    }
    /// Largest elements of windows chosen so that the last three dimensions get the sizes asked for.
    fn adaptive_max_pool3d (input: Tensor, output_size: Size) -> Tensor {
        run: Ok::<_, crate::Error>(input.adaptive_max_pool(3, output_size.clone())?.0),
        samples: samples3,
    }
    /// As `adaptive_max_pool2d` over the last `spatial` dimensions, with the flat positions among
    /// them of what was found. The gradient goes there.
    fn adaptive_max_pool as _adaptive_max_pool (input: Tensor, spatial: Int, output_size: Size) -> (Tensor, Tensor) {
        run: largest(input, *spatial, output_size),
        samples: samples_of_pairs,
    }
}

fn checked(op: &'static str, x: &Tensor, n: usize, size: &Size) -> Result<SmallVec<[usize; 3]>> {
    ensure!(
        (x.dim() == n + 1 || x.dim() == n + 2) && x.shape()[x.dim() - n..].iter().all(|s| *s > 0),
        Runtime,
        op,
        "the input has shape {:?}; it must be [N, C] or [C] and {n} spatial sizes, none of them 0",
        x.shape()
    );
    spread(op, "output_size", size, n, 0)
}

/// Output place `i` of `want` covers `floor(i * have / want)` to `ceil((i + 1) * have / want)`.
fn part(i: usize, have: usize, want: usize) -> (usize, usize) {
    let (have, want, i) = (have as u128, want as u128, i as u128);
    ((i * have / want) as usize, ((i + 1) * have).div_ceil(want) as usize)
}

fn means(x: &Tensor, n: usize, size: &Size) -> Result<Tensor> {
    let op = "adaptive_avg_pool";
    let out = checked(op, x, n, size)?;
    ensure!(
        x.dtype().is_float(),
        NotImplemented,
        op,
        "is not defined for {}; convert with to_dtype",
        x.dtype()
    );
    if x.dtype().is_half() {
        return means(&x.to_dtype(DType::F32)?, n, size)?.to_dtype(x.dtype());
    }
    let mut t = x.clone();
    for (k, want) in out.iter().enumerate() {
        let d = x.dim() - n + k;
        let have = t.shape()[d];
        if *want == have {
            continue;
        }
        if *want == 0 {
            t = t.narrow(d as i64, 0, 0)?;
            continue;
        }
        if have.is_multiple_of(*want) {
            // Windows of one size that do not overlap are a dimension of their own.
            t = t.unflatten(d as i64, [*want as i64, (have / want) as i64])?.mean(d as i64 + 1, false)?;
            continue;
        }
        room(op, *want)?;
        let parts: Result<Vec<Tensor>> = (0..*want)
            .map(|i| {
                let (from, to) = part(i, have, *want);
                t.narrow(d as i64, from as i64, (to - from) as i64)?.mean(d as i64, true)
            })
            .collect();
        t = Tensor::cat(&parts?.iter().collect::<Vec<_>>(), d as i64)?;
    }
    if t.is(x) { x.copy() } else { Ok(t) }
}

fn largest(x: &Tensor, spatial: i64, size: &Size) -> Result<(Tensor, Tensor)> {
    let op = "adaptive_max_pool";
    ensure!((1..=3).contains(&spatial), Runtime, op, "pools over 1 to 3 dimensions, not {spatial}");
    let n = spatial as usize;
    let out = checked(op, x, n, size)?;
    ensure!(
        x.dtype().is_float(),
        NotImplemented,
        op,
        "is not defined for {}; convert with to_dtype",
        x.dtype()
    );
    let lead = x.dim() - n;
    let (rows, sizes) = x.shape().split_at(lead);
    let with = |rest: &[usize]| rows.iter().chain(rest).copied().collect::<Vec<usize>>();
    let flat = x.reshape(with(&[sizes.iter().product()]))?;
    let places = out.iter().fold(1usize, |a, n| a.saturating_mul(*n));
    room(op, out.iter().fold(places, |a, n| a.max(*n)))?;
    // Windows of different sizes repeat their last place, so that all have as many.
    let width: SmallVec<[usize; 3]> = (0..n)
        .map(|d| {
            (0..out[d]).map(|i| part(i, sizes[d], out[d])).map(|(from, to)| to - from).max().unwrap_or(1)
        })
        .collect();
    let cells = width.iter().product::<usize>();
    room(op, places.saturating_mul(cells))?;
    let mut list = vec![0i64];
    for d in 0..n {
        list = spread_over(&list, &out[..d], &width[..d], (sizes[d], out[d], width[d]));
    }
    let positions = host_list(&list, &[places, cells], x)?;
    let windows = flat.detach()?.index_select(lead as i64, &positions.reshape(-1)?)?;
    let windows = windows.reshape(with(&[places, cells]))?;
    let found = windows.max_dim(-1, true)?.1;
    let at = positions.expand(windows.shape())?.gather(-1, &found)?.reshape(with(&[places]))?;
    let values = flat.gather(lead as i64, &at)?;
    Ok((values.reshape(with(&out))?, at.reshape(with(&out))?))
}

/// A table [places, cells] of positions, and one more dimension: [places * out, cells * width].
fn spread_over(
    table: &[i64],
    out: &[usize],
    width: &[usize],
    (size, more, wide): (usize, usize, usize),
) -> Vec<i64> {
    let (places, cells) = (out.iter().product::<usize>(), width.iter().product::<usize>());
    let mut made = Vec::with_capacity(places * more * cells * wide);
    for place in 0..places {
        for i in 0..more {
            let (from, to) = part(i, size, more);
            for cell in 0..cells {
                let base = table[place * cells + cell] * size as i64;
                made.extend((0..wide).map(|k| base + (from + k).min(to - 1) as i64));
            }
        }
    }
    made
}

fn make(cases: &[(&[usize], &[i64])], spatial: Option<i64>) -> Vec<Sample> {
    let one = |(k, (shape, out)): (usize, &(&[usize], &[i64]))| {
        let x = Value::Tensor(samples::values(shape, k).ok()?);
        let args = [x].into_iter().chain(spatial.map(Value::Int)).chain([Value::Size((*out).into())]);
        Some(samples::sample(args, true))
    };
    cases.iter().enumerate().filter_map(one).collect()
}
fn samples1() -> Vec<Sample> {
    make(&[(&[2, 3, 7], &[3]), (&[2, 6], &[2]), (&[0, 2, 4], &[3])], None)
}
const PLANES: [(&[usize], &[i64]); 4] =
    [(&[2, 3, 5, 4], &[2, 2]), (&[3, 4, 6], &[3, 1]), (&[1, 2, 3, 3], &[5]), (&[1, 2, 3, 4], &[2, 4])];
fn samples2() -> Vec<Sample> {
    make(&PLANES, None)
}
fn samples3() -> Vec<Sample> {
    make(&[(&[1, 2, 3, 4, 5], &[2, 2, 3]), (&[2, 2, 4, 3], &[1])], None)
}
fn samples_of_pairs() -> Vec<Sample> {
    make(&PLANES, Some(2))
}
