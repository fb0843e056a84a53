//! Padding by name.

use super::spread;
use crate::op::{Sample, Size, Value, samples};
use crate::{Result, Tensor, bail, ensure};
use smallvec::SmallVec;

/// A convolution of a batch whose padding is called "same" or "valid".
#[allow(clippy::too_many_arguments)]
pub(super) fn convolve(
    op: &'static str,
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    stride: &Size,
    padding: &str,
    dilation: &Size,
    groups: i64,
) -> Result<Tensor> {
    let run = |x: &Tensor, padding: Size| {
        x.convolution(weight, bias, stride.clone(), padding, dilation.clone(), false, 0, groups)
            .map_err(|e| e.in_op(op))
    };
    match padding {
        "valid" => return run(x, 0.into()),
        "same" => {}
        other => bail!(Runtime, op, "padding is a number, \"same\" or \"valid\", not {other:?}"),
    }
    ensure!(
        weight.dim() == x.dim(),
        Runtime,
        op,
        "an input of shape {:?} and a weight of shape {:?}; both need {} dimensions",
        x.shape(),
        weight.shape(),
        x.dim()
    );
    let n = x.dim() - 2;
    ensure!(
        spread(op, "stride", stride, n, 1)?.iter().all(|s| *s == 1),
        Runtime,
        op,
        "padding=\"same\" needs a stride of 1, not {:?}; give the padding as numbers",
        stride.0.as_slice()
    );
    let dilation = spread(op, "dilation", dilation, n, 1)?;
    let missing = weight.shape()[2..].iter().zip(&dilation).map(|(k, d)| k.saturating_sub(1).checked_mul(*d));
    let missing: Option<SmallVec<[usize; 3]>> = missing.collect();
    let Some(missing) = missing.filter(|m| m.iter().all(|m| *m < 1 << 31)) else {
        bail!(
            Runtime,
            op,
            "a kernel of {:?} with dilation {dilation:?} reaches too far",
            &weight.shape()[2..]
        )
    };
    let even = Size(missing.iter().map(|m| (m / 2) as isize).collect());
    if missing.iter().all(|m| m.is_multiple_of(2)) {
        return run(x, even);
    }
    // Margins count from the last dimension on.
    let behind = Size(missing.iter().rev().flat_map(|m| [0, (m % 2) as isize]).collect());
    run(&x.constant_pad_nd(behind, 0)?, even)
}

type Case = (&'static [usize], &'static [usize], &'static str, i64, i64);

fn cases(list: &[Case]) -> Vec<Sample> {
    let one = |(k, (x, w, padding, dilation, groups)): (usize, &Case)| {
        let tensor = |s: &[usize], salt| samples::values(s, salt).ok();
        let bias = if k % 2 == 0 { None } else { Some(tensor(&[w[0]], 5)?) };
        let args = [
            Value::Tensor(tensor(x, k)?),
            Value::Tensor(tensor(w, k + 3)?),
            Value::OptTensor(bias),
            Value::Size(1.into()),
            Value::Text((*padding).into()),
            Value::Size((*dilation).into()),
            Value::Int(*groups),
        ];
        Some(samples::sample(args, true))
    };
    list.iter().enumerate().filter_map(one).collect()
}

pub(super) fn conv1d_samples() -> Vec<Sample> {
    cases(&[
        (&[2, 3, 7], &[2, 3, 3], "same", 1, 1),
        (&[4, 6], &[4, 2, 2], "same", 1, 2),
        (&[1, 2, 5], &[1, 2, 2], "valid", 2, 1),
    ])
}
pub(super) fn conv2d_samples() -> Vec<Sample> {
    cases(&[
        (&[1, 2, 4, 5], &[2, 2, 3, 2], "same", 1, 1),
        (&[2, 2, 4, 4], &[2, 1, 2, 3], "same", 3, 2),
        (&[2, 5, 4], &[1, 2, 2, 2], "valid", 1, 1),
    ])
}
pub(super) fn conv3d_samples() -> Vec<Sample> {
    cases(&[
        (&[1, 2, 3, 2, 3], &[2, 1, 2, 3, 2], "same", 1, 2),
        (&[2, 3, 3, 2], &[1, 2, 2, 2, 1], "valid", 1, 1),
    ])
}
