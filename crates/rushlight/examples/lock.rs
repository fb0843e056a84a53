//! Tensors that meet themselves, and each other on two threads: nothing hangs.
//!
//! `cargo run --release --example lock`

use rushlight::{DType, Result, Tensor};
use std::time::Instant;

/// Rounds of the two-thread cases.
pub const ROUNDS: usize = 20_000;

/// `a += a`.
pub fn onto_itself() -> Result<Vec<f32>> {
    let a = Tensor::from_vec(vec![1f32, 2., 3., 4.], [2, 2])?;
    a.add_(&a)?;
    a.to_vec()
}

/// `a += a.t()`: some cells would be read after they were written, so it is refused, not guessed.
pub fn onto_its_transpose() -> Result<String> {
    let a = Tensor::from_vec(vec![1f32, 2., 3., 4.], [2, 2])?;
    let refused = a.add_(&a.t()?);
    // The way that works: a copy of one side.
    a.add_(&a.t()?.copy()?)?;
    assert_eq!(a.to_vec::<f32>()?, [2., 5., 5., 8.]);
    Ok(refused.map_or_else(|e| e.to_string(), |_| "accepted".into()))
}

/// One thread does `a += b`, the other `b += a`, a third reads both.
pub fn crosswise(rounds: usize) -> Result<()> {
    let a = Tensor::zeros_with([64], Some(DType::F32), None)?;
    let b = Tensor::ones_with([64], Some(DType::F32), None)?;
    std::thread::scope(|s| {
        let forth =
            s.spawn(|| (0..rounds).try_for_each(|_| a.add_(&b).and_then(|t| t.clamp_(-1.0, 1.0)).map(drop)));
        let back =
            s.spawn(|| (0..rounds).try_for_each(|_| b.add_(&a).and_then(|t| t.clamp_(-1.0, 1.0)).map(drop)));
        let read = s.spawn(|| {
            (0..rounds).try_for_each(|_| a.sum((), false).and_then(|_| b.sum((), false)).map(drop))
        });
        for t in [forth, back, read] {
            t.join().map_err(|_| rushlight::err!(Runtime, "lock", "a thread panicked"))??;
        }
        Ok(())
    })
}

#[allow(dead_code, reason = "the tests include this file for the functions above")]
fn main() -> Result<()> {
    println!("a.add_(&a)             gives {:?}", onto_itself()?);
    println!("a.add_(&a.t()?)        says  {}", onto_its_transpose()?);
    let start = Instant::now();
    crosswise(ROUNDS)?;
    println!(
        "a += b against b += a  {ROUNDS} rounds on three threads in {:.2} s",
        start.elapsed().as_secs_f64()
    );
    Ok(())
}
