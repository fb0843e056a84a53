//! Writes whose source, target or neighbour is the same memory.

use super::{count, f, same};
use rushlight::DType::F32;
use rushlight::op::{OperandRef, find, pointwise_out};
use rushlight::{Kind, Number, Result, Tensor};

#[test]
fn disjoint_views_of_one_storage() -> Result<()> {
    let x = count(8, &[8])?;
    x.i(0..4)?.add_(x.i(4..8)?)?;
    same(&x, F32, &[8], &[4., 6., 8., 10., 4., 5., 6., 7.])
}

#[test]
fn a_tensor_added_to_itself() -> Result<()> {
    let x = count(4, &[4])?;
    x.add_(&x)?;
    same(&x, F32, &[4], &[0., 2., 4., 6.])
}

#[test]
fn a_partial_overlap_is_refused_before_anything_is_written() -> Result<()> {
    let x = count(6, &[6])?;
    let e = x.i(1..5)?.add_(x.i(0..4)?).map(|_| ()).unwrap_err();
    assert_eq!((e.kind(), e.op()), (Kind::Runtime, "add"));
    same(&x, F32, &[6], &[0., 1., 2., 3., 4., 5.])?;
    assert_eq!(x.version(), 0);
    Ok(())
}

#[test]
fn a_copy_is_deep() -> Result<()> {
    let x = f(&[2], &[1., 2.])?;
    x.copy()?.fill_(7)?;
    same(&x, F32, &[2], &[1., 2.])
}

#[test]
fn ops_that_change_nothing_still_copy() -> Result<()> {
    let a = f(&[2], &[1., 2.])?;
    Tensor::cat(&[&a], 0)?.fill_(5)?;
    a.repeat([1])?.fill_(5)?;
    a.roll(0, 0)?.fill_(5)?;
    a.pad([0, 0], "constant", 0)?.fill_(5)?;
    a.flip([0usize; 0])?.fill_(5)?;
    same(&a, F32, &[2], &[1., 2.])
}

#[test]
fn a_row_is_scaled_in_place() -> Result<()> {
    let t = count(6, &[2, 3])?;
    t.i(1)?.mul_(3)?;
    same(&t, F32, &[2, 3], &[0., 1., 2., 9., 12., 15.])
}

#[test]
fn a_block_is_assigned() -> Result<()> {
    let t = Tensor::zeros_with([3, 4], Some(F32), None)?;
    t.set((0..2, 2..4), f(&[2, 2], &[1., 2., 3., 4.])?)?;
    same(&t, F32, &[3, 4], &[0., 0., 1., 2., 0., 0., 3., 4., 0., 0., 0., 0.])
}

#[test]
fn out_keeps_its_memory() -> Result<()> {
    let dst = Tensor::empty([2, 2])?;
    let place = dst.data_ptr();
    let (a, b) = (f(&[2, 2], &[1.; 4])?, f(&[2, 2], &[2.; 4])?);
    let add = find("add").unwrap_or_else(|| panic!("no row named add"));
    pointwise_out(add, &[OperandRef::Tensor(&a), OperandRef::Tensor(&b)], &[Number::Int(1)], &dst)?;
    same(&dst, F32, &[2, 2], &[3.; 4])?;
    assert_eq!((dst.data_ptr(), dst.version()), (place, 1));
    Ok(())
}
