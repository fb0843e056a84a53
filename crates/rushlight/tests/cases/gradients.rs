//! Gradients that were missing, wrong or not refused.

use super::{count, f, grad, l, same};
use rushlight::DType::F32;
use rushlight::grad::{BackwardOptions, GradOptions};
use rushlight::{Kind, Result, Tensor, mem};

fn leaf(shape: &[usize], values: &[f32]) -> Result<Tensor> {
    f(shape, values)?.requires_grad_(true)
}

#[test]
fn average_pooling_leaves_the_rest_at_zero() -> Result<()> {
    let x = count(9, &[1, 1, 3, 3])?.requires_grad_(true)?;
    x.avg_pool2d(2, ())?.sum((), false)?.backward()?;
    same(&grad(&x), F32, &[1, 1, 3, 3], &[0.25, 0.25, 0., 0.25, 0.25, 0., 0., 0., 0.])
}

#[test]
fn scatter_reaches_both_sides() -> Result<()> {
    let index = l(&[1, 2], &[0, 2])?;
    let weight = f(&[1, 3], &[1., 10., 100.])?;
    let (a, s) = (leaf(&[1, 3], &[1., 2., 3.])?, leaf(&[1, 2], &[7., 8.])?);
    a.scatter(1, &index, &s)?.mul(&weight)?.sum((), false)?.backward()?;
    same(&grad(&a), F32, &[1, 3], &[0., 10., 0.])?;
    same(&grad(&s), F32, &[1, 2], &[1., 100.])?;
    let (a, s) = (leaf(&[1, 3], &[1., 2., 3.])?, leaf(&[1, 2], &[7., 8.])?);
    a.scatter_add(1, &index, &s)?.mul(&weight)?.sum((), false)?.backward()?;
    same(&grad(&a), F32, &[1, 3], &[1., 10., 100.])?;
    same(&grad(&s), F32, &[1, 2], &[1., 100.])
}

#[test]
fn convolution_of_two_batches() -> Result<()> {
    let x = leaf(&[2, 1, 3], &[1., 2., 3., 4., 5., 6.])?;
    let w = leaf(&[2, 1, 2], &[1., 2., 3., 4.])?;
    let g = count(8, &[2, 2, 2])?.add(1.0)?;
    x.conv1d(&w, None, 1, 0, 1, 1)?.mul(&g)?.sum((), false)?.backward()?;
    same(&grad(&x), F32, &[2, 1, 3], &[10., 28., 20., 26., 68., 44.])?;
    same(&grad(&w), F32, &[2, 1, 2], &[55., 69., 79., 101.])
}

/// Asserts values to the error of a few float32 operations on numbers near 1.
#[track_caller]
fn near(x: &Tensor, values: &[f32]) -> Result<()> {
    let got = x.to_vec::<f32>()?;
    assert!(got.iter().zip(values).all(|(a, b)| (a - b).abs() < 2e-6), "{got:?}, expected {values:?}");
    assert_eq!(got.len(), values.len());
    Ok(())
}

#[test]
fn layer_norm() -> Result<()> {
    let (x, w, b) = (leaf(&[1, 3], &[1., 2., 4.])?, leaf(&[3], &[1.; 3])?, leaf(&[3], &[0.; 3])?);
    let y = x.layer_norm(3, Some(&w), Some(&b), 1e-5)?;
    y.mul(f(&[1, 3], &[1., 2., 3.])?)?.sum((), false)?.backward()?;
    near(&grad(&x), &[-0.11454463, 0.17180908, -0.057264686])?;
    near(&grad(&w), &[-1.0690414, -0.5345206, 4.0089054])?;
    near(&grad(&b), &[1., 2., 3.])
}

#[test]
fn rms_norm() -> Result<()> {
    let (x, w) = (leaf(&[1, 3], &[1., 2., 4.])?, leaf(&[3], &[1.; 3])?);
    let y = x.rms_norm(3, Some(&w), Some(1e-5))?;
    y.mul(f(&[1, 3], &[1., 2., 3.])?)?.sum((), false)?.backward()?;
    near(&grad(&x), &[0.07199362, 0.14398724, -0.08998978])?;
    near(&grad(&w), &[0.3779642, 1.5118568, 4.53557])
}

#[test]
fn second_derivatives() -> Result<()> {
    let x = leaf(&[2], &[2., 3.])?;
    let keep = GradOptions { create_graph: true, ..Default::default() };
    let first = rushlight::grad::grad(&[&x.pow(3)?.sum((), false)?], &[&x], &[], keep)?.remove(0);
    let first = first.unwrap_or_else(|| panic!("no gradient"));
    same(&first, F32, &[2], &[12., 27.])?;
    let second = rushlight::grad::grad(&[&first.sum((), false)?], &[&x], &[], GradOptions::default())?;
    same(second[0].as_ref().unwrap_or_else(|| panic!("no gradient")), F32, &[2], &[12., 18.])
}

#[test]
fn zeros_arrive_as_zeros() -> Result<()> {
    let x = leaf(&[1], &[1.4])?;
    x.floor()?.sum((), false)?.backward()?;
    same(&grad(&x), F32, &[1], &[0.])?;
    let x = leaf(&[2], &[1., 2.])?;
    x.mul(0)?.sum((), false)?.backward()?;
    same(&grad(&x), F32, &[2], &[0., 0.])?;
    let x = leaf(&[2], &[0., 2.])?;
    x.pow(0)?.sum((), false)?.backward()?;
    same(&grad(&x), F32, &[2], &[0., 0.])
}

#[test]
fn ties_are_shared_or_won() -> Result<()> {
    let x = leaf(&[1, 3], &[2., 2., 1.])?;
    x.amax(1, false)?.sum((), false)?.backward()?;
    same(&grad(&x), F32, &[1, 3], &[0.5, 0.5, 0.])?;
    x.set_grad(None)?;
    x.max_dim(1, false)?.0.sum((), false)?.backward()?;
    same(&grad(&x), F32, &[1, 3], &[1., 0., 0.])
}

#[test]
fn gelu_keeps_double_precision() -> Result<()> {
    let x = Tensor::from_vec(vec![0.7f64], [1])?.requires_grad_(true)?;
    x.gelu_tanh()?.backward()?;
    let g = grad(&x).item()?.to_f64();
    assert!((g - 0.976357218656104).abs() < 1e-14, "{g}");
    Ok(())
}

#[test]
fn a_leaf_is_not_written() -> Result<()> {
    let x = leaf(&[2], &[1., 2.])?;
    assert_eq!(x.add_(1).map(|_| ()).unwrap_err().kind(), Kind::Runtime);
    same(&x, F32, &[2], &[1., 2.])
}

#[test]
fn writes_to_views_are_tracked() -> Result<()> {
    let x = leaf(&[2], &[1., 2.])?;
    let y = x.mul(2)?;
    y.i(0..1)?.mul_(10)?;
    y.sum((), false)?.backward()?;
    same(&y, F32, &[2], &[20., 4.])?;
    same(&grad(&x), F32, &[2], &[20., 2.])
}

#[test]
fn two_hundred_thousand_steps() -> Result<()> {
    let x = leaf(&[], &[1.])?;
    let mut y = x.clone();
    for _ in 0..200_000 {
        y = y.add(1)?;
    }
    y.backward()?;
    drop(y);
    same(&grad(&x), F32, &[], &[1.])
}

#[test]
fn several_elements_need_a_seed() -> Result<()> {
    let x = leaf(&[2], &[1., 2.])?;
    assert_eq!(x.mul(2)?.backward().unwrap_err().kind(), Kind::Runtime);
    x.mul(2)?.backward_with(Some(&f(&[2], &[1., 10.])?), BackwardOptions::default())?;
    same(&grad(&x), F32, &[2], &[2., 20.])
}

#[test]
fn the_first_gradient_is_not_added_to_zeros() -> Result<()> {
    const N: usize = 1_000_000;
    let x = Tensor::ones_with([N], Some(F32), None)?.requires_grad_(true)?;
    let y = Tensor::ones_with([N], Some(F32), None)?;
    let loss = x.mul(&y)?.sum((), false)?;
    mem::reset_peak();
    let before = mem::memory_stats().allocated;
    loss.backward()?;
    // Other tests of this program run meanwhile; all of them together need less than one more.
    let grown = mem::memory_stats().peak.saturating_sub(before);
    assert!(grown < 3 * 4 * N, "{grown} bytes for a gradient of {}", 4 * N);
    Ok(())
}
