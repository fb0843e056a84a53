//! Elementary functions as branch-free code that compilers turn into vector instructions.
//!
//! - `single`: the hot f32 functions, in f32;
//! - `wide`: the other f32 functions, computed in f64 and rounded once;
//! - `double`: f64 functions; those not here are the platform's, one element at a time;
//! - `divide`: remainders and floor division.
//!
//! Coefficients are Taylor's, or our own minimax fits (Remez exchange, relative error stated).
#![allow(clippy::excessive_precision, reason = "coefficients keep all digits of their fit")]

mod divide;
pub(crate) mod double;
pub(crate) mod single;
pub(crate) mod wide;

#[cfg(test)]
mod tests;

pub(crate) use divide::{floor_div_f32, floor_div_f64, rem_f32, rem_f64};

use crate::isa::Isa;

/// Horner's rule in f64, highest coefficient first.
#[inline(always)]
fn poly<I: Isa, const N: usize>(x: f64, c: [f64; N]) -> f64 {
    let mut sum = c[0];
    let mut k = 1;
    while k < N {
        sum = I::fma(sum, x, c[k]);
        k += 1;
    }
    sum
}

/// Horner's rule in f32.
#[inline(always)]
fn poly32<I: Isa, const N: usize>(x: f32, c: [f32; N]) -> f32 {
    let mut sum = c[0];
    let mut k = 1;
    while k < N {
        sum = I::fma32(sum, x, c[k]);
        k += 1;
    }
    sum
}
