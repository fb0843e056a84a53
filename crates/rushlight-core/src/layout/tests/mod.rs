//! `tables` holds fixed rows; the other files compare each rule with a naive model on random layouts.

mod golden;
mod nest;
mod overlap;
mod random;
mod strides;
mod tables;
mod views;

use super::*;

/// A layout from plain lists.
fn layout(shape: &[usize], strides: &[isize], offset: usize) -> Layout {
    Layout::new(Shape::from_slice(shape), Strides::from_slice(strides), offset).unwrap()
}

fn c_order(shape: &[usize]) -> Layout {
    Layout::contiguous(Shape::from_slice(shape)).unwrap()
}
