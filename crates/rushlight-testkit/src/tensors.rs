//! The same tools for whole tensors.

use crate::{Operand, Rng, Tolerance, Values, variants};
use rushlight_core::mem::{Place, Storage, with_plan};
use rushlight_core::{Number, Result, Tensor};

/// Tensors with the values of `x` in every layout that can hold them, each with its variant's name:
/// expanded ones only where the values along an axis are equal. They are leaves without gradient.
///
/// # Errors
/// `Runtime` when `x` is not in memory of the host.
pub fn relayouts(x: &Tensor, seed: u64) -> Result<Vec<(&'static str, Tensor)>> {
    let mut rng = Rng::new(seed);
    let values = elements(x)?;
    let mut all = Vec::new();
    for variant in variants(x.shape(), &mut rng) {
        let mut operand = Operand::new(&variant, x.dtype(), Values::Any, &mut rng);
        let positions = operand.positions();
        let mut cells = operand.values();
        positions.iter().zip(&values).for_each(|(at, value)| cells[*at] = *value);
        // An expanded cell holds one value: the variant fits only if all its elements have it.
        if positions.iter().zip(&values).any(|(at, value)| !same(cells[*at], *value)) {
            continue;
        }
        operand.fill(|i| cells[i]);
        let storage = operand.storage(|bytes| Storage::heap(bytes, x.device()))?;
        all.push((variant.name, Tensor::from_storage(storage, operand.layout, x.dtype())?));
    }
    Ok(all)
}

/// Compares shape, dtype and every element.
///
/// # Errors
/// The first difference, for humans.
pub fn tensors_close(
    got: &Tensor,
    expected: &Tensor,
    tolerance: Tolerance,
) -> std::result::Result<(), String> {
    if (got.shape(), got.dtype()) != (expected.shape(), expected.dtype()) {
        return Err(format!(
            "{} of shape {:?} instead of {} of shape {:?}",
            got.dtype(),
            got.shape(),
            expected.dtype(),
            expected.shape()
        ));
    }
    let values = |t: &Tensor| elements(t).map_err(|e| e.to_string());
    for (flat, (a, b)) in values(got)?.into_iter().zip(values(expected)?).enumerate() {
        tolerance
            .check(a, b, got.dtype())
            .map_err(|e| format!("element {flat} of shape {:?} is {e}", got.shape()))?;
    }
    Ok(())
}

/// The elements in row-major order.
fn elements(x: &Tensor) -> Result<Vec<Number>> {
    let place = Place { storage: x.storage(), layout: x.layout(), dtype: x.dtype() };
    with_plan("elements", &[], &[place], |_, ins| {
        let offsets = offsets(x);
        Ok(offsets.into_iter().map(|at| ins[0].load(at)).collect())
    })
}

fn offsets(x: &Tensor) -> Vec<isize> {
    let mut all = vec![0isize];
    for (size, stride) in x.shape().iter().zip(x.strides()) {
        all = all.iter().flat_map(|at| (0..*size as isize).map(move |i| at + i * stride)).collect();
    }
    all
}

fn same(a: Number, b: Number) -> bool {
    match (a, b) {
        (Number::Float(a), Number::Float(b)) => a.to_bits() == b.to_bits(),
        (a, b) => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_has_the_same_values() {
        let x = Tensor::from_vec(vec![1f32, 2.0, 3.0, 4.0, 5.0, f32::NAN], [2, 3]).unwrap();
        let all = relayouts(&x, 4).unwrap();
        assert!(all.len() >= 7);
        for (name, y) in &all {
            tensors_close(y, &x, Tolerance::EXACT).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
        assert!(all.iter().any(|(_, y)| y.strides() == [1, 2]));
        assert!(!all.iter().any(|(name, _)| *name == "one for all"));
    }

    #[test]
    fn equal_values_may_be_one_cell() {
        let x = Tensor::from_vec(vec![7i64; 4], [2, 2]).unwrap();
        let all = relayouts(&x, 4).unwrap();
        assert!(all.iter().any(|(name, y)| *name == "one for all" && y.strides() == [0, 0]));
    }

    #[test]
    fn differences_are_told() {
        let x = Tensor::from_vec(vec![1i64, 2], [2]).unwrap();
        let y = Tensor::from_vec(vec![1i64, 3], [2]).unwrap();
        let error = tensors_close(&x, &y, Tolerance::EXACT).unwrap_err();
        assert!(error.contains("element 1"), "{error}");
        assert!(tensors_close(&x, &Tensor::from_vec(vec![1i64], [1]).unwrap(), Tolerance::EXACT).is_err());
    }
}
