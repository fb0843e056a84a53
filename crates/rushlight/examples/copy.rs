//! A copy owns its own elements and no more, on every backend.
//!
//! `cargo run --example copy`

use rushlight::{DType, Device, Result, Tensor};

/// Bytes of the base's storage, and of the storage of a copy of two of its elements.
pub fn sizes(device: Device) -> Result<(usize, usize)> {
    let base = Tensor::zeros_with([1_000_000], Some(DType::F32), Some(device))?;
    let two = base.narrow(0, 10, 2)?.copy()?;
    Ok((base.storage().nbytes(), two.storage().nbytes()))
}

/// The original after its copy was zeroed.
pub fn zeroed_copy(device: Device) -> Result<Vec<f32>> {
    let base = Tensor::ones_with([4], Some(DType::F32), Some(device))?;
    base.copy()?.zero_()?;
    base.to_vec()
}

#[allow(dead_code, reason = "the tests include this file for the functions above")]
fn main() -> Result<()> {
    for device in [Device::CPU, Device::REF] {
        let (whole, part) = sizes(device)?;
        println!("{device}: a copy of 2 of 1,000,000 elements owns {part} bytes (the base has {whole})");
        println!("{device}: ones, after zeroing a copy of them: {:?}", zeroed_copy(device)?);
    }
    Ok(())
}
