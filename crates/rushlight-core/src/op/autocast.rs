//! Mixed precision: while it is on, products run in a half and what needs range or precision in f32.

use super::def::{OpDef, Outputs};
use super::dispatch::dispatch;
use super::value::{Args, Operand, OptOperand, Value};
use crate::{DType, Result, Tensor, ensure};
use std::cell::Cell;

thread_local! {
    static ACTIVE: Cell<Option<DType>> = const { Cell::new(None) };
}

/// Rows that run in the half: nearly all their work is products, which accumulate in f32 anyway.
static LOWER: &[&str] = &[
    "addbmm",
    "addmm",
    "baddbmm",
    "bmm",
    "chain_matmul",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "convolution",
    "einsum",
    "gru",
    "gru_packed",
    "inner",
    "linalg_matmul",
    "linalg_multi_dot",
    "linalg_vecdot",
    "linear",
    "lstm",
    "lstm_packed",
    "matmul",
    "mm",
    "rnn_relu",
    "rnn_relu_packed",
    "rnn_tanh",
    "rnn_tanh_packed",
    "scaled_dot_product_attention",
    "tensordot",
];

/// Rows that run in f32: losses, products of many factors, distances, decompositions, transforms.
static UPPER: &[&str] = &[
    "avg_pool3d",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cdist",
    "cosine_embedding_loss",
    "cross_entropy",
    "ctc_loss",
    "cumprod",
    "grid_sampler",
    "grid_sampler_2d",
    "grid_sampler_3d",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "margin_ranking_loss",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nanquantile",
    "nll_loss",
    "poisson_nll_loss",
    "polar",
    "prod",
    "quantile",
    "smooth_l1_loss",
    "soft_margin_loss",
    "trace",
    "triplet_margin_loss",
    "view_as_complex",
];

/// Rows whose tensors all get the widest dtype among them.
static WIDEST: &[&str] = &["cat", "index_copy", "stack"];

/// From now on, products on this thread run in `dtype`; `None` ends that. Gives what was before.
///
/// # Errors
/// `Runtime` for a dtype that is neither f16 nor bf16.
pub fn set_autocast(dtype: Option<DType>) -> Result<Option<DType>> {
    ensure!(
        matches!(dtype, None | Some(DType::F16 | DType::BF16)),
        Runtime,
        "autocast",
        "lowers to float16 or bfloat16, not to {dtype:?}"
    );
    Ok(ACTIVE.replace(dtype))
}

/// The dtype that products run in on this thread, if another than their own.
#[inline]
pub fn autocast_dtype() -> Option<DType> {
    ACTIVE.get()
}

/// Puts the dtype back when dropped: what an op is made of runs as the op does.
struct Within(Option<DType>);

impl Drop for Within {
    fn drop(&mut self) {
        ACTIVE.set(self.0);
    }
}

/// Runs a row with its tensors cast as its name asks for.
#[cold]
pub(super) fn dispatch_cast(def: &'static OpDef, args: &[Value], half: DType) -> Result<Outputs> {
    let _within = Within(ACTIVE.replace(None));
    let dtype = if LOWER.contains(&def.name) {
        half
    } else if UPPER.contains(&def.name) || def.name.starts_with("fft_") || decomposes(def.name) {
        DType::F32
    } else if WIDEST.contains(&def.name) {
        match args.iter().flat_map(Value::tensors).any(|t| t.dtype() == DType::F32) {
            true => DType::F32,
            false => return dispatch(def, args),
        }
    } else {
        return dispatch(def, args);
    };
    let cast: Result<Args> = args.iter().map(|a| cast_value(a, dtype)).collect();
    dispatch(def, cast?)
}

fn decomposes(name: &str) -> bool {
    name.starts_with("linalg_") && !matches!(name, "linalg_norm" | "linalg_vector_norm" | "linalg_cross")
}

/// Floats up to f32 in the dtype; doubles, integers and complex numbers stay.
fn cast_tensor(t: &Tensor, dtype: DType) -> Result<Tensor> {
    match t.dtype() {
        DType::F32 | DType::F16 | DType::BF16 if t.dtype() != dtype => t.to_dtype(dtype),
        _ => Ok(t.clone()),
    }
}

fn cast_value(value: &Value, dtype: DType) -> Result<Value> {
    let cast = |t: &Tensor| cast_tensor(t, dtype);
    Ok(match value {
        Value::Tensor(t) => Value::Tensor(cast(t)?),
        Value::OptTensor(Some(t)) => Value::OptTensor(Some(cast(t)?)),
        Value::Operand(Operand::Tensor(t)) => Value::Operand(Operand::Tensor(cast(t)?)),
        Value::OptOperand(OptOperand(Some(Operand::Tensor(t)))) => {
            Value::OptOperand(OptOperand(Some(Operand::Tensor(cast(t)?))))
        }
        Value::Tensors(list) => Value::Tensors(list.iter().map(cast).collect::<Result<_>>()?),
        Value::OptTensors(list) => {
            Value::OptTensors(list.iter().map(|t| t.as_ref().map(cast).transpose()).collect::<Result<_>>()?)
        }
        other => other.clone(),
    })
}
