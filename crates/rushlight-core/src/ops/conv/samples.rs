//! Sample calls of the convolution rows.

use crate::op::{Sample, Value, samples};

pub(super) fn no_samples() -> Vec<Sample> {
    Vec::new()
}

/// Input shape, weight shape, stride, padding, dilation, groups.
type Case = (&'static [usize], &'static [usize], i64, i64, i64, i64);

fn cases(list: &[Case], order: impl Fn(Value, Value, Value, Case) -> Vec<Value>) -> Vec<Sample> {
    list.iter()
        .enumerate()
        .filter_map(|(k, case)| {
            let x = Value::Tensor(samples::values(case.0, k).ok()?);
            let w = Value::Tensor(samples::values(case.1, k + 3).ok()?);
            Some((k, x, w, *case))
        })
        .map(|(k, x, w, case)| {
            let bias = if k % 2 == 0 { None } else { samples::values(&[case.1[0]], k).ok() };
            Sample { args: order(x, w, Value::OptTensor(bias), case).into_iter().collect(), grad: true }
        })
        .collect()
}

fn plain(x: Value, w: Value, b: Value, (_, _, s, p, d, g): Case) -> Vec<Value> {
    vec![x, w, b, Value::Size(s.into()), Value::Size(p.into()), Value::Size(d.into()), Value::Int(g)]
}
pub(super) fn conv1d_samples() -> Vec<Sample> {
    cases(
        &[
            (&[2, 3, 7], &[2, 3, 3], 1, 1, 1, 1),
            (&[2, 4, 8], &[4, 2, 2], 2, 0, 2, 2),
            (&[3, 5], &[2, 3, 2], 1, 0, 1, 1),
        ],
        plain,
    )
}
pub(super) fn conv2d_samples() -> Vec<Sample> {
    cases(
        &[
            (&[2, 3, 5, 4], &[4, 3, 3, 3], 1, 1, 1, 1),
            (&[2, 2, 6, 5], &[4, 1, 2, 3], 2, 1, 1, 2),
            (&[1, 2, 6, 6], &[2, 2, 2, 2], 3, 0, 2, 1),
            (&[2, 3, 3, 3], &[2, 3, 1, 1], 1, 0, 1, 1),
            (&[3, 4, 4], &[3, 1, 3, 3], 1, 1, 1, 3),
        ],
        plain,
    )
}
pub(super) fn conv3d_samples() -> Vec<Sample> {
    cases(
        &[
            (&[2, 2, 3, 4, 3], &[2, 2, 2, 3, 2], 1, 1, 1, 1),
            (&[1, 2, 4, 3, 5], &[2, 1, 2, 2, 3], 2, 0, 1, 2),
            (&[2, 3, 3, 3], &[1, 2, 2, 2, 2], 1, 0, 2, 1),
        ],
        plain,
    )
}
pub(super) fn tbc_samples() -> Vec<Sample> {
    let make = |t, b, c, k, o, pad: i64| {
        let tensor = |s: &[usize], salt| samples::values(s, salt).ok().map(Value::Tensor);
        Some(samples::sample(
            [tensor(&[t, b, c], 1)?, tensor(&[k, c, o], 2)?, tensor(&[o], 3)?, pad.into()],
            true,
        ))
    };
    [make(5, 2, 3, 2, 4, 0), make(3, 1, 2, 3, 2, 1)].into_iter().flatten().collect()
}
pub(super) fn convolution_samples() -> Vec<Sample> {
    cases(
        &[(&[2, 2, 4, 5], &[2, 2, 2, 3], 2, 1, 1, 1), (&[1, 2, 5, 5], &[4, 1, 3, 2], 1, 0, 1, 2)],
        |x, w, b, (_, _, s, p, d, g)| {
            vec![
                x,
                w,
                b,
                Value::Size(s.into()),
                Value::Size(p.into()),
                Value::Size(d.into()),
                Value::Bool(false),
                Value::Size(0.into()),
                Value::Int(g),
            ]
        },
    )
}
pub(super) fn conv_transpose1d_samples() -> Vec<Sample> {
    turned(&[(&[2, 3, 4], &[3, 2, 3], 2, 1, 1, 1), (&[4, 3], &[4, 1, 2], 1, 0, 2, 2)])
}
pub(super) fn conv_transpose2d_samples() -> Vec<Sample> {
    turned(&[(&[2, 3, 3, 4], &[3, 2, 3, 2], 2, 1, 1, 1), (&[2, 4, 3, 3], &[4, 4, 2, 2], 1, 0, 2, 1)])
}
pub(super) fn conv_transpose3d_samples() -> Vec<Sample> {
    turned(&[(&[1, 2, 2, 3, 2], &[2, 2, 2, 3, 2], 2, 1, 1, 1), (&[2, 2, 1, 2], &[2, 1, 1, 2, 2], 1, 0, 2, 2)])
}
fn turned(list: &[Case]) -> Vec<Sample> {
    cases(list, |x, w, _, (_, _, s, p, d, g)| {
        vec![
            x,
            w,
            Value::OptTensor(None),
            Value::Size(s.into()),
            Value::Size(p.into()),
            Value::Size(0.into()),
            Value::Int(g),
            Value::Size(d.into()),
        ]
    })
}
