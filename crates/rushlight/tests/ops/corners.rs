//! Every family on a tensor whose size-1 dimension has a stride of no meaning, on an empty one and on
//! a number, with torch's results. Where torch loses a channel (a convolution over none gives a result
//! of none) or refuses one that is empty (pools), what the definition gives is wanted.

#![allow(clippy::approx_constant, reason = "values are as torch gives them")]

use super::{i, of};
use Want::{Is, No};
use rushlight::Kind::{Index, Runtime};
use rushlight::{DType, Device, Kind, Layout, Result, Tensor};

const NAN: f64 = f64::NAN;

/// What torch makes of it.
enum Want {
    Is(&'static [usize], &'static [f64]),
    No(Kind),
}

struct Row {
    family: &'static str,
    run: fn(&Tensor) -> Result<Tensor>,
    /// Of shape (2, 1, 3), of shape (2, 0, 3), and of rank 0.
    want: [Want; 3],
}

fn row(family: &'static str, run: fn(&Tensor) -> Result<Tensor>, want: [Want; 3]) -> Row {
    Row { family, run, want }
}

fn one(shape: &[usize]) -> Result<Tensor> {
    Tensor::ones_with(shape, Some(DType::F64), None)
}

fn rows() -> Vec<Row> {
    vec![
        row(
            "activation",
            |x| x.relu(),
            [Is(&[2, 1, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), Is(&[2, 0, 3], &[]), Is(&[], &[0.5])],
        ),
        row(
            "activation",
            |x| x.gelu(),
            [
                Is(
                    &[2, 1, 3],
                    &[
                        0.0,
                        0.841344746068543,
                        1.9544997361036416,
                        2.99595030590511,
                        3.9998733150326675,
                        4.999998566742141,
                    ],
                ),
                Is(&[2, 0, 3], &[]),
                Is(&[], &[0.34573123063700656]),
            ],
        ),
        row(
            "arithmetic",
            |x| x.add(1.5),
            [Is(&[2, 1, 3], &[1.5, 2.5, 3.5, 4.5, 5.5, 6.5]), Is(&[2, 0, 3], &[]), Is(&[], &[2.0])],
        ),
        row(
            "arithmetic",
            |x| x.mul(x),
            [Is(&[2, 1, 3], &[0.0, 1.0, 4.0, 9.0, 16.0, 25.0]), Is(&[2, 0, 3], &[]), Is(&[], &[0.25])],
        ),
        row(
            "arrange",
            |x| x.roll(1, ()),
            [Is(&[2, 1, 3], &[5.0, 0.0, 1.0, 2.0, 3.0, 4.0]), Is(&[2, 0, 3], &[]), Is(&[], &[0.5])],
        ),
        row(
            "arrange",
            |x| x.flip(-1),
            [Is(&[2, 1, 3], &[2.0, 1.0, 0.0, 5.0, 4.0, 3.0]), Is(&[2, 0, 3], &[]), Is(&[], &[0.5])],
        ),
        row(
            "arrange",
            |x| x.tril(0),
            [Is(&[2, 1, 3], &[0.0, 0.0, 0.0, 3.0, 0.0, 0.0]), Is(&[2, 0, 3], &[]), No(Runtime)],
        ),
        row(
            "arrange",
            |x| x.diag_embed(0, -2, -1),
            [
                Is(
                    &[2, 1, 3, 3],
                    &[
                        0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0,
                        5.0,
                    ],
                ),
                Is(&[2, 0, 3, 3], &[]),
                No(Index),
            ],
        ),
        row(
            "binary",
            |x| x.maximum(1.0),
            [Is(&[2, 1, 3], &[1.0, 1.0, 2.0, 3.0, 4.0, 5.0]), Is(&[2, 0, 3], &[]), Is(&[], &[1.0])],
        ),
        row(
            "bits",
            |x| x.to_dtype(DType::I64)?.bitwise_and(3),
            [Is(&[2, 1, 3], &[0.0, 1.0, 2.0, 3.0, 0.0, 1.0]), Is(&[2, 0, 3], &[]), Is(&[], &[0.0])],
        ),
        row(
            "clamp",
            |x| x.clamp(0.25, 2.0),
            [Is(&[2, 1, 3], &[0.25, 1.0, 2.0, 2.0, 2.0, 2.0]), Is(&[2, 0, 3], &[]), Is(&[], &[0.5])],
        ),
        row(
            "compare",
            |x| x.gt(0.75),
            [Is(&[2, 1, 3], &[0.0, 1.0, 1.0, 1.0, 1.0, 1.0]), Is(&[2, 0, 3], &[]), Is(&[], &[0.0])],
        ),
        row(
            "conv",
            |x| x.conv1d(&one(&[1, x.shape().get(1).copied().unwrap_or(1), 1])?, None, 1, 0, 1, 1),
            [Is(&[2, 1, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), Is(&[2, 1, 3], &[0.0; 6]), No(Runtime)],
        ),
        row(
            "copy",
            |x| x.copy(),
            [Is(&[2, 1, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), Is(&[2, 0, 3], &[]), Is(&[], &[0.5])],
        ),
        row(
            "copy",
            |x| x.to_dtype(DType::I32),
            [Is(&[2, 1, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), Is(&[2, 0, 3], &[]), Is(&[], &[0.0])],
        ),
        row(
            "create",
            |x| Tensor::zeros_like(x),
            [Is(&[2, 1, 3], &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0]), Is(&[2, 0, 3], &[]), Is(&[], &[0.0])],
        ),
        row(
            "einsum",
            |x| Tensor::einsum("...->...", &[x]),
            [Is(&[2, 1, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), Is(&[2, 0, 3], &[]), Is(&[], &[0.5])],
        ),
        row(
            "index",
            |x| x.index_select(0, &i(&[0, 0], &[2])),
            [Is(&[2, 1, 3], &[0.0, 1.0, 2.0, 0.0, 1.0, 2.0]), Is(&[2, 0, 3], &[]), No(Runtime)],
        ),
        row(
            "index",
            |x| x.gather(0, &i(&[0], &[1, 1, 1])),
            [Is(&[1, 1, 1], &[0.0]), No(Runtime), No(Runtime)],
        ),
        row(
            "index",
            |x| x.take(&i(&[0, -1], &[2])),
            [Is(&[2], &[0.0, 5.0]), No(Index), Is(&[2], &[0.5, 0.5])],
        ),
        row(
            "index",
            |x| x.index_add(0, &i(&[0], &[1]), &x.narrow(0, 0, 1)?),
            [Is(&[2, 1, 3], &[0.0, 2.0, 4.0, 3.0, 4.0, 5.0]), Is(&[2, 0, 3], &[]), No(Runtime)],
        ),
        row(
            "index",
            |x| x.masked_fill(&x.gt(1.0)?, 9.0),
            [Is(&[2, 1, 3], &[0.0, 1.0, 9.0, 9.0, 9.0, 9.0]), Is(&[2, 0, 3], &[]), Is(&[], &[0.5])],
        ),
        row(
            "index",
            |x| x.masked_select(&x.lt(2.0)?),
            [Is(&[2], &[0.0, 1.0]), Is(&[0], &[]), Is(&[1], &[0.5])],
        ),
        row(
            "index",
            |x| x.nonzero(),
            [
                Is(&[5, 3], &[0.0, 0.0, 1.0, 0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 2.0]),
                Is(&[0, 3], &[]),
                Is(&[1, 0], &[]),
            ],
        ),
        row(
            "index",
            |x| x.scatter(0, &i(&[0], &[1, 1, 1]), 7.0),
            [Is(&[2, 1, 3], &[7.0, 1.0, 2.0, 3.0, 4.0, 5.0]), No(Runtime), No(Runtime)],
        ),
        row(
            "join",
            |x| Tensor::cat(&[x, x], 0),
            [
                Is(&[4, 1, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
                Is(&[4, 0, 3], &[]),
                No(Runtime),
            ],
        ),
        row(
            "join",
            |x| Tensor::stack(&[x, x], -1),
            [
                Is(&[2, 1, 3, 2], &[0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 5.0, 5.0]),
                Is(&[2, 0, 3, 2], &[]),
                Is(&[2], &[0.5, 0.5]),
            ],
        ),
        row(
            "join",
            |x| x.tile([2, 1]),
            [
                Is(&[2, 2, 3], &[0.0, 1.0, 2.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 3.0, 4.0, 5.0]),
                Is(&[2, 0, 3], &[]),
                Is(&[2, 1], &[0.5, 0.5]),
            ],
        ),
        row(
            "join",
            |x| Tensor::hstack(&[x, x]),
            [
                Is(&[2, 2, 3], &[0.0, 1.0, 2.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 3.0, 4.0, 5.0]),
                Is(&[2, 0, 3], &[]),
                Is(&[2], &[0.5, 0.5]),
            ],
        ),
        row("loss", |x| x.mse_loss(&x.add(2.0)?), [Is(&[], &[4.0]), Is(&[], &[NAN]), Is(&[], &[4.0])]),
        row(
            "loss",
            |x| x.l1_loss_with(&x.sub(3.0)?, "sum"),
            [Is(&[], &[18.0]), Is(&[], &[0.0]), Is(&[], &[3.0])],
        ),
        row(
            "matmul",
            |x| x.matmul(&x.transpose(-1, -2)?),
            [Is(&[2, 1, 1], &[5.0, 50.0]), Is(&[2, 0, 0], &[]), No(Index)],
        ),
        row(
            "matmul",
            |x| x.linear(&one(&[2, 3])?, None),
            [Is(&[2, 1, 2], &[3.0, 3.0, 12.0, 12.0]), Is(&[2, 0, 2], &[]), No(Runtime)],
        ),
        row(
            "product",
            |x| x.inner(x),
            [Is(&[2, 1, 2, 1], &[5.0, 14.0, 14.0, 50.0]), Is(&[2, 0, 2, 0], &[]), Is(&[], &[0.25])],
        ),
        row(
            "product",
            |x| x.kron(&one(&[2])?),
            [
                Is(&[2, 1, 6], &[0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 5.0, 5.0]),
                Is(&[2, 0, 6], &[]),
                Is(&[2], &[0.5, 0.5]),
            ],
        ),
        row(
            "norm",
            |x| x.layer_norm(3, None, None, 1e-5),
            [
                Is(
                    &[2, 1, 3],
                    &[
                        -1.2247356859083902,
                        0.0,
                        1.2247356859083902,
                        -1.2247356859083902,
                        0.0,
                        1.2247356859083902,
                    ],
                ),
                Is(&[2, 0, 3], &[]),
                No(Runtime),
            ],
        ),
        row(
            "norm",
            |x| x.dropout_with(0.5, false, None),
            [Is(&[2, 1, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), Is(&[2, 0, 3], &[]), Is(&[], &[0.5])],
        ),
        row(
            "order",
            |x| x.sort(-1, true).map(|(v, _)| v),
            [Is(&[2, 1, 3], &[2.0, 1.0, 0.0, 5.0, 4.0, 3.0]), Is(&[2, 0, 3], &[]), Is(&[], &[0.5])],
        ),
        row(
            "order",
            |x| x.argsort(-1, false),
            [Is(&[2, 1, 3], &[0.0, 1.0, 2.0, 0.0, 1.0, 2.0]), Is(&[2, 0, 3], &[]), Is(&[], &[0.0])],
        ),
        row(
            "order",
            |x| x.topk(1, -1, true).map(|(v, _)| v),
            [Is(&[2, 1, 1], &[2.0, 5.0]), Is(&[2, 0, 1], &[]), Is(&[], &[0.5])],
        ),
        row(
            "pad",
            |x| x.constant_pad_nd([1, 0], 5.0),
            [Is(&[2, 1, 4], &[5.0, 0.0, 1.0, 2.0, 5.0, 3.0, 4.0, 5.0]), Is(&[2, 0, 4], &[]), No(Runtime)],
        ),
        row(
            "pool",
            |x| x.avg_pool1d(1, ()),
            [Is(&[2, 1, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), No(Runtime), No(Runtime)],
        ),
        row(
            "pool",
            |x| x.max_pool1d(1, ()),
            [Is(&[2, 1, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), No(Runtime), No(Runtime)],
        ),
        row("reduce", |x| x.sum((), false), [Is(&[], &[15.0]), Is(&[], &[0.0]), Is(&[], &[0.5])]),
        row(
            "reduce",
            |x| x.mean(-1, true),
            [Is(&[2, 1, 1], &[1.0, 4.0]), Is(&[2, 0, 1], &[]), Is(&[], &[0.5])],
        ),
        row(
            "reduce",
            |x| x.prod(0, false),
            [Is(&[1, 3], &[0.0, 4.0, 10.0]), Is(&[0, 3], &[]), Is(&[], &[0.5])],
        ),
        row(
            "reduce",
            |x| x.amax(0, false),
            [Is(&[1, 3], &[3.0, 4.0, 5.0]), Is(&[0, 3], &[]), Is(&[], &[0.5])],
        ),
        row("reduce", |x| x.amax((), false), [Is(&[], &[5.0]), No(Runtime), Is(&[], &[0.5])]),
        row(
            "reduce",
            |x| x.amin(1, false),
            [Is(&[2, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), No(Index), No(Index)],
        ),
        row("reduce", |x| x.argmax(None, false), [Is(&[], &[5.0]), No(Index), Is(&[], &[0.0])]),
        row("reduce", |x| x.all((), false), [Is(&[], &[0.0]), Is(&[], &[1.0]), Is(&[], &[1.0])]),
        row(
            "scan",
            |x| x.cumsum(-1),
            [Is(&[2, 1, 3], &[0.0, 1.0, 3.0, 3.0, 7.0, 12.0]), Is(&[2, 0, 3], &[]), Is(&[], &[0.5])],
        ),
        row(
            "scan",
            |x| x.cumprod(0),
            [Is(&[2, 1, 3], &[0.0, 1.0, 2.0, 0.0, 4.0, 10.0]), Is(&[2, 0, 3], &[]), Is(&[], &[0.5])],
        ),
        row(
            "scan",
            |x| x.softmax(-1),
            [
                Is(
                    &[2, 1, 3],
                    &[
                        0.09003057317038045,
                        0.2447284710547976,
                        0.6652409557748218,
                        0.09003057317038045,
                        0.2447284710547976,
                        0.6652409557748218,
                    ],
                ),
                Is(&[2, 0, 3], &[]),
                Is(&[], &[1.0]),
            ],
        ),
        row("statistics", |x| x.var(()), [Is(&[], &[3.5]), Is(&[], &[NAN]), Is(&[], &[NAN])]),
        row(
            "statistics",
            |x| x.norm(2.0, (), false),
            [Is(&[], &[7.416198487095663]), Is(&[], &[0.0]), Is(&[], &[0.5])],
        ),
        row(
            "statistics",
            |x| x.logsumexp(-1, false),
            [Is(&[2, 1], &[2.4076059644443806, 5.407605964444381]), Is(&[2, 0], &[]), Is(&[], &[0.5])],
        ),
        row(
            "statistics",
            |x| x.max_dim(0, false).map(|(v, _)| v),
            [Is(&[1, 3], &[3.0, 4.0, 5.0]), Is(&[0, 3], &[]), Is(&[], &[0.5])],
        ),
        row(
            "unary",
            |x| x.exp(),
            [
                Is(
                    &[2, 1, 3],
                    &[
                        1.0,
                        2.718281828459045,
                        7.38905609893065,
                        20.085536923187668,
                        54.598150033144236,
                        148.4131591025766,
                    ],
                ),
                Is(&[2, 0, 3], &[]),
                Is(&[], &[1.6487212707001282]),
            ],
        ),
        row(
            "unary",
            |x| x.sqrt(),
            [
                Is(&[2, 1, 3], &[0.0, 1.0, 1.4142135623730951, 1.7320508075688772, 2.0, 2.23606797749979]),
                Is(&[2, 0, 3], &[]),
                Is(&[], &[0.7071067811865476]),
            ],
        ),
        row(
            "view",
            |x| x.reshape(-1),
            [Is(&[6], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), Is(&[0], &[]), Is(&[1], &[0.5])],
        ),
        row(
            "view",
            |x| x.squeeze(()),
            [Is(&[2, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), Is(&[2, 0, 3], &[]), Is(&[], &[0.5])],
        ),
        row(
            "view",
            |x| x.unsqueeze(0),
            [Is(&[1, 2, 1, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), Is(&[1, 2, 0, 3], &[]), Is(&[1], &[0.5])],
        ),
        row(
            "view",
            |x| x.flatten(0, -1),
            [Is(&[6], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), Is(&[0], &[]), Is(&[1], &[0.5])],
        ),
        row("view", |x| x.select(0, 0), [Is(&[1, 3], &[0.0, 1.0, 2.0]), Is(&[0, 3], &[]), No(Index)]),
        row(
            "view",
            |x| x.narrow(0, 0, 1),
            [Is(&[1, 1, 3], &[0.0, 1.0, 2.0]), Is(&[1, 0, 3], &[]), No(Runtime)],
        ),
        row("view", |x| x.diagonal(0, 0, 1), [Is(&[3, 1], &[0.0, 1.0, 2.0]), Is(&[3, 0], &[]), No(Index)]),
        row(
            "view",
            |x| x.unfold(0, 1, 1),
            [Is(&[2, 1, 3, 1], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), Is(&[2, 0, 3, 1], &[]), Is(&[1], &[0.5])],
        ),
        row(
            "view",
            |x| x.permute([2, 0, 1]),
            [Is(&[3, 2, 1], &[0.0, 3.0, 1.0, 4.0, 2.0, 5.0]), Is(&[3, 2, 0], &[]), No(Runtime)],
        ),
        row(
            "view",
            |x| x.chunk(2, 0).map(|mut p| p.remove(0)),
            [Is(&[1, 1, 3], &[0.0, 1.0, 2.0]), Is(&[1, 0, 3], &[]), No(Runtime)],
        ),
        row(
            "view",
            |x| x.unbind(0).map(|mut p| p.remove(0)),
            [Is(&[1, 3], &[0.0, 1.0, 2.0]), Is(&[0, 3], &[]), No(Index)],
        ),
    ]
}

/// The same elements in the middle of a larger storage, with strides of 77 where they do not matter.
fn odd(values: &[f64], shape: &[usize], strides: &[isize]) -> Result<Tensor> {
    let mut cells = vec![-1e9; 40];
    let layout = Layout::new(shape, strides, 3)?;
    let mut k = 0;
    for a in 0..shape.first().copied().unwrap_or(1) {
        for b in 0..shape.get(2).copied().unwrap_or(1) {
            if let Some(v) = values.get(k) {
                let step = |d: usize, n: usize| strides.get(d).map_or(0, |s| s.unsigned_abs() * n);
                cells[3 + step(0, a) + step(2, b)] = *v;
                k += 1;
            }
        }
    }
    let n = cells.len();
    Tensor::from_storage(Tensor::from_vec(cells, [n])?.storage().clone(), layout, DType::F64)
}

fn close(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-12 * b.abs().max(1.0)
}

#[test]
fn odd_strides_nothing_and_numbers() -> Result<()> {
    let six = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    let operands: [Vec<Tensor>; 3] = [
        vec![
            Tensor::from_vec(six.to_vec(), [2, 1, 3])?,
            odd(&six, &[2, 1, 3], &[3, 77, 1])?,
            odd(&six, &[2, 1, 3], &[1, 77, 2])?,
            odd(&six, &[2, 1, 3], &[12, 0, 5])?,
        ],
        vec![
            Tensor::from_vec(Vec::<f64>::new(), [2, 0, 3])?,
            odd(&[], &[2, 0, 3], &[0, 77, 0])?,
            odd(&[], &[2, 0, 3], &[77, 77, 77])?,
        ],
        vec![Tensor::from_vec(vec![0.5], ())?, odd(&[0.5], &[], &[])?],
    ];
    let mut families = std::collections::BTreeSet::new();
    let mut wrong = Vec::new();
    for (at, Row { family, run, want }) in rows().into_iter().enumerate() {
        families.insert(family);
        for (want, xs) in want.iter().zip(&operands) {
            for x in xs {
                let place = format!("row {at} ({family}) of {:?} with strides {:?}", x.shape(), x.strides());
                match (run(x), want) {
                    (Ok(y), Is(shape, values)) => {
                        let got = of(&y);
                        let same =
                            got.len() == values.len() && got.iter().zip(*values).all(|(a, b)| close(*a, *b));
                        if y.shape() != *shape || !same {
                            wrong.push(format!(
                                "{place}: {:?} {got:?}, torch {shape:?} {values:?}",
                                y.shape()
                            ));
                        }
                    }
                    (Err(e), No(kind)) if e.kind() == *kind => {}
                    (Err(e), _) => wrong.push(format!("{place}: {e:?}")),
                    (Ok(y), No(kind)) => wrong.push(format!("{place}: {:?}, torch {kind:?}", y.shape())),
                }
                // Shapes and refusals need no values; where they do, the meta device says so.
                let (there, values_decide) = (run(&x.to_device(Device::META)?), ["nonzero", "mask"]);
                match (there, want) {
                    (Ok(y), Is(shape, _)) if y.shape() == *shape => {}
                    (Err(e), No(_)) if !values_decide.contains(&e.op()) => {}
                    (Err(e), _) if e.text().contains("meta") || e.text().contains("device") => {}
                    (r, _) => wrong.push(format!("{place}, meta: {:?}", r.map(|y| y.shape().to_vec()))),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
    assert!(families.len() >= 23, "{families:?}");
    Ok(())
}

#[test]
fn hypotenuses_neither_overflow_nor_lose_infinity() -> Result<()> {
    let of = |a: f32, b: f32| Tensor::scalar(f64::from(a))?.to_dtype(DType::F32)?.hypot(b)?.item();
    assert_eq!(of(3e30, 4e30)?.to_f64() as f32, 5e30);
    assert_eq!(of(3e-30, 4e-30)?.to_f64() as f32, 5e-30);
    assert_eq!(of(0.0, 0.0)?.to_f64(), 0.0);
    assert_eq!(of(f32::NEG_INFINITY, f32::NAN)?.to_f64(), f64::INFINITY);
    assert!(of(1.0, f32::NAN)?.to_f64().is_nan());
    Ok(())
}
