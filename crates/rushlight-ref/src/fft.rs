//! Fourier transforms by their sums: the definition.

use num_complex::Complex;
use rushlight_core::backend::Fft;
use rushlight_core::{Number, Result};
use std::f64::consts::PI;

pub(crate) fn run(call: &Fft<'_>) -> Result<()> {
    let n = call.input.layout().shape().last().copied().unwrap_or(1);
    let sign = if call.inverse { 1.0 } else { -1.0 };
    for line in 0..call.input.numel().checked_div(n).unwrap_or(0) {
        let start = (line * n) as isize;
        let values: Vec<Complex<f64>> =
            (0..n).map(|j| call.input.load(start + j as isize).to_complex()).collect();
        for k in 0..n {
            let mut sum = Complex::ZERO;
            for (j, z) in values.iter().enumerate() {
                // The turns as a whole number first, so that large products lose no digits.
                let turns = (j as u128 * k as u128 % n as u128) as f64 / n as f64;
                sum += z * Complex::from_polar(1.0, sign * 2.0 * PI * turns);
            }
            let sum = sum * call.scale;
            call.out.store(start + k as isize, Number::Complex(sum.re, sum.im));
        }
    }
    Ok(())
}
