//! Attention.

use crate::op::{Sample, Value, samples};
use crate::{DType, Result, Tensor, ensure};

ops! { ATTENTION;
    /// `softmax(query @ key^T * scale + mask) @ value`: query [.., L, E], key [.., S, E], value [.., S, V].
    ///
    /// `attn_mask` broadcasts to [.., L, S]: true where a key takes part, or floats that are added.
    /// `is_causal` lets query `i` see keys up to `i`. `scale` is `1 / sqrt(E)` unless given. With
    /// `enable_gqa` each head of key and value serves several heads of query. A query that sees no key
    /// gives zeros.
    fn scaled_dot_product_attention / scaled_dot_product_attention_with (query: Tensor, key: Tensor, value: Tensor, attn_mask: OptTensor = None, dropout_p: Float = 0.0, is_causal: Bool = false; scale: OptFloat = None, enable_gqa: Bool = false) -> Tensor {
        run: attention([query, key, value], attn_mask.as_ref(), *dropout_p, *is_causal, *scale, *enable_gqa),
        samples: attention_samples,
    }
}

const OP: &str = "scaled_dot_product_attention";

fn attention(
    [q, k, v]: [&Tensor; 3],
    mask: Option<&Tensor>,
    dropout: f64,
    causal: bool,
    scale: Option<f64>,
    grouped: bool,
) -> Result<Tensor> {
    check(q, k, v)?;
    ensure!(!(causal && mask.is_some()), Runtime, OP, "a mask and is_causal=True exclude each other");
    if let Some(m) = mask {
        ensure!(
            m.dtype() == DType::Bool || m.dtype() == q.dtype(),
            Runtime,
            OP,
            "the mask holds {}; it must be bool or {}, as the query",
            m.dtype(),
            q.dtype()
        );
    }
    let (q, k, v, heads) = match grouped {
        true => grouped_heads(q, k, v)?,
        false => (q.clone(), k.clone(), v.clone(), None),
    };
    let scale = scale.unwrap_or_else(|| 1.0 / (q.shape()[q.dim() - 1] as f64).sqrt());
    // Halves round once, at the end.
    let wide = |t: &Tensor| if t.dtype().is_half() { t.to_dtype(DType::F32) } else { Ok(t.clone()) };
    let (wq, wk, wv) = (wide(&q)?, wide(&k)?, wide(&v)?);
    let mut scores = wq.mul(scale)?.matmul(&wk.transpose(-2, -1)?)?;
    let (rows, columns) = (q.shape()[q.dim() - 2] as i64, k.shape()[k.dim() - 2] as i64);
    let seen = match mask {
        Some(m) => {
            let m = match (heads, m.dim()) {
                // The head dimension of the mask is split like the query's.
                (Some([groups, each]), d) if d >= 3 && m.shape()[d - 3] != 1 => {
                    m.unflatten(-3, [groups as i64, each as i64])?
                }
                (Some(_), d) if d >= 3 => m.unsqueeze(-3)?,
                _ => m.clone(),
            };
            if m.dtype() == DType::Bool {
                Some(m)
            } else {
                scores = scores.add(&wide(&m)?)?;
                None
            }
        }
        None if causal => {
            let at = |n| Tensor::arange_with(0, n, 1, Some(DType::I64), Some(q.device()));
            Some(at(columns)?.le(&at(rows)?.unsqueeze(1)?)?)
        }
        None => None,
    };
    if let Some(seen) = seen {
        scores = Tensor::where_cond(&seen, &scores, f64::NEG_INFINITY)?;
    }
    let blind = mask.is_some().then(|| scores.eq(f64::NEG_INFINITY)?.all(-1, true)).transpose()?;
    let mut weights = scores.softmax(-1)?;
    if let Some(blind) = blind {
        weights = Tensor::where_cond(&blind, 0.0, &weights)?;
    }
    if dropout > 0.0 {
        weights = Tensor::dropout(&weights, dropout, true)?;
    }
    let out = weights.matmul(&wv)?.to_dtype(v.dtype())?;
    if heads.is_some() { out.flatten(-4, -3) } else { Ok(out) }
}

fn check(q: &Tensor, k: &Tensor, v: &Tensor) -> Result<()> {
    ensure!(
        q.dim() >= 2 && k.dim() >= 2 && v.dim() >= 2,
        Runtime,
        OP,
        "query, key and value have shapes {:?}, {:?} and {:?}; each needs two dimensions at least",
        q.shape(),
        k.shape(),
        v.shape()
    );
    ensure!(
        q.dtype() == k.dtype() && q.dtype() == v.dtype() && q.dtype().is_float(),
        Runtime,
        OP,
        "query, key and value hold {}, {} and {}; they must be of one float dtype",
        q.dtype(),
        k.dtype(),
        v.dtype()
    );
    ensure!(
        q.device() == k.device() && q.device() == v.device(),
        Runtime,
        OP,
        "query, key and value are on {}, {} and {}",
        q.device(),
        k.device(),
        v.device()
    );
    Ok(())
}

/// Query as [.., groups, each, L, E], key and value as [.., groups, 1, S, E]: views, no copies.
fn grouped_heads(q: &Tensor, k: &Tensor, v: &Tensor) -> Result<(Tensor, Tensor, Tensor, Option<[usize; 2]>)> {
    ensure!(
        q.dim() >= 3 && k.dim() >= 3 && v.dim() >= 3,
        Runtime,
        OP,
        "enable_gqa needs a dimension of heads"
    );
    let heads = |t: &Tensor| t.shape()[t.dim() - 3];
    let groups = heads(k);
    ensure!(
        groups > 0 && heads(v) == groups && heads(q) % groups == 0,
        Runtime,
        OP,
        "{} heads of query do not divide among {} of key and {} of value",
        heads(q),
        heads(k),
        heads(v)
    );
    let each = heads(q) / groups;
    let split = q.unflatten(-3, [groups as i64, each as i64])?;
    Ok((split, k.unsqueeze(-3)?, v.unsqueeze(-3)?, Some([groups, each])))
}

fn attention_samples() -> Vec<Sample> {
    let t = |shape: &[usize], salt| samples::values(shape, salt).ok().map(Value::Tensor);
    let make = |q: &[usize], k: &[usize], mask: Option<Tensor>, causal: bool, gqa: bool| {
        let mut args = crate::op::Args::new();
        args.extend([t(q, 1)?, t(k, 2)?, t(k, 5)?]);
        args.extend([Value::OptTensor(mask), Value::Float(0.0), Value::Bool(causal)]);
        args.extend([Value::OptFloat(None), Value::Bool(gqa)]);
        Some(Sample { args, grad: true })
    };
    let floats = samples::values(&[3, 5], 4).ok();
    let truths = floats.as_ref().and_then(|m| m.gt(0.3).ok());
    [
        make(&[2, 3, 4], &[2, 5, 4], None, false, false),
        make(&[2, 3, 4], &[2, 5, 4], floats, false, false),
        make(&[2, 3, 4], &[5, 4], truths, false, false),
        make(&[4, 4], &[4, 4], None, true, false),
        make(&[1, 4, 3, 2], &[1, 2, 3, 2], None, true, true),
    ]
    .into_iter()
    .flatten()
    .collect()
}
