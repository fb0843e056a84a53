//! Which calls share memory, and which copy: one (3, 4) tensor and what comes of it.
//!
//! `cargo run --example share`

use rushlight::{DType, Result, Tensor};

/// A call and what it gave.
pub struct Row {
    /// The call.
    pub call: &'static str,
    /// Its result.
    pub tensor: Tensor,
}

/// The base and the results of the calls.
pub fn rows() -> Result<(Tensor, Vec<Row>)> {
    let base = Tensor::arange_with(0, 12, 1, Some(DType::F32), None)?.reshape([3, 4])?;
    let turned = base.t()?;
    let calls = vec![
        ("x.clone()", base.clone()),
        ("x.reshape([4, 3])", base.reshape([4, 3])?),
        ("x.narrow(0, 1, 2)", base.narrow(0, 1, 2)?),
        ("x.t()", turned.clone()),
        ("x.t().contiguous()", turned.contiguous()?),
        ("x.t().reshape([12])", turned.reshape([12])?),
        ("x.broadcast_to([2, 3, 4])", base.broadcast_to([2, 3, 4])?),
        ("x.unsqueeze(0)", base.unsqueeze(0)?),
        ("x.detach()", base.detach()?),
        ("x.contiguous()", base.contiguous()?),
        ("x.to_dtype(F32)", base.to_dtype(DType::F32)?),
        ("x.copy()", base.copy()?),
        ("x * 2 + 1", ((&base * 2.0)? + 1.0)?),
    ];
    Ok((base, calls.into_iter().map(|(call, tensor)| Row { call, tensor }).collect()))
}

/// How a result relates to the base.
pub fn relation(base: &Tensor, t: &Tensor) -> &'static str {
    match (t.is(base), t.shares_storage(base)) {
        (true, _) => "the same tensor",
        (false, true) => "shares memory",
        (false, false) => "memory of its own",
    }
}

#[allow(dead_code, reason = "the tests include this file for the functions above")]
fn main() -> Result<()> {
    let (base, rows) = rows()?;
    println!(
        "{:<26} {:>14} {:>7} {:<10} {:<10} {:>6}  relation to x",
        "call", "address", "bytes", "shape", "strides", "offset"
    );
    for Row { call, tensor: t } in rows {
        println!(
            "{call:<26} {:>#14x} {:>7} {:<10} {:<10} {:>6}  {}",
            t.data_ptr(),
            t.storage().nbytes(),
            format!("{:?}", t.shape()),
            format!("{:?}", t.strides()),
            t.storage_offset(),
            relation(&base, &t)
        );
    }
    Ok(())
}
