//! Writing to a view writes to its base: there, and nowhere else.
//!
//! `cargo run --example write_through`

use rushlight::{DType, Result, Tensor};

/// A 3 by 4 tensor of ones whose second column was zeroed through a view.
pub fn column_zeroed() -> Result<Tensor> {
    let base = Tensor::ones_with([3, 4], Some(DType::F32), None)?;
    base.select(1, 1)?.zero_()?;
    Ok(base)
}

#[allow(dead_code, reason = "the tests include this file for the function above")]
fn main() -> Result<()> {
    let base = column_zeroed()?;
    for row in base.to_vec::<f32>()?.chunks(4) {
        println!("{row:?}");
    }
    println!("version {}", base.version());
    Ok(())
}
