//! Matrix products, convolutions and gathers over layouts that are not plain.

use super::{count, f, l, same};
use rushlight::{DType::F32, Result, Tensor};

#[test]
fn the_right_side_is_expanded_and_the_left_transposed() -> Result<()> {
    let x = count(12, &[2, 3, 2])?.transpose(1, 2)?;
    let w = f(&[2, 3], &[1., 2., 3., 4., 5., 6.])?.expand([2, 2, 3])?.transpose(1, 2)?;
    assert_eq!((x.strides(), w.strides()[0]), (&[6isize, 1, 2][..], 0));
    same(&x.matmul(&w)?, F32, &[2, 2, 2], &[16., 34., 22., 49., 52., 124., 58., 139.])
}

#[test]
fn a_middle_batch_dimension_broadcasts() -> Result<()> {
    let (q, k) = (count(12, &[1, 2, 2, 1, 3])?, count(12, &[1, 2, 1, 3, 2])?);
    same(&q.matmul(&k)?, F32, &[1, 2, 2, 1, 2], &[10., 13., 28., 40., 172., 193., 244., 274.])
}

#[test]
fn permuted_operands_need_no_contiguous() -> Result<()> {
    let x = count(24, &[1, 2, 3, 4])?.permute([0, 2, 1, 3])?;
    let y = x.matmul(&Tensor::ones_with([1, 3, 4, 1], Some(F32), None)?)?;
    same(&y, F32, &[1, 3, 2, 1], &[6., 54., 22., 70., 38., 86.])
}

#[test]
fn a_row_picked_from_three_dimensions() -> Result<()> {
    let x = count(24, &[1, 8, 3])?.i((.., 7, ..))?;
    assert_eq!((x.shape(), x.strides()), (&[1usize, 3][..], &[24isize, 1][..]));
    let w = f(&[2, 3], &[1., 0., 0., 0., 1., 0.])?;
    same(&x.matmul(&w.t()?)?, F32, &[1, 2], &[21., 22.])
}

#[test]
fn gather_with_a_smaller_index() -> Result<()> {
    let index = l(&[2, 2, 1], &[0, 1, 2, 3])?;
    same(&count(24, &[2, 3, 4])?.gather(2, &index)?, F32, &[2, 2, 1], &[0., 5., 14., 19.])
}

#[test]
fn transposed_convolution_of_two_batches() -> Result<()> {
    let x = count(8, &[2, 2, 2])?.add(1.0)?;
    let w = f(&[2, 1, 2], &[1., 2., 3., 4.])?;
    let y = x.conv_transpose1d(&w, None, 1, 0, 0, 1, 1)?;
    same(&y, F32, &[2, 1, 3], &[10., 28., 20., 26., 68., 44.])
}

#[test]
fn a_sliced_one_by_one_kernel() -> Result<()> {
    let x = count(8, &[1, 2, 2, 2])?.add(1.0)?;
    let w = count(12, &[2, 6, 1, 1])?.i((.., 3..5))?;
    assert_eq!(w.storage_offset(), 3);
    same(&x.conv2d(&w, None, 2, 0, 1, 1)?, F32, &[1, 2, 1, 1], &[23., 59.])
}

#[test]
fn a_depthwise_convolution() -> Result<()> {
    let w = f(&[3, 1, 2], &[1., 1., 2., 1., 3., 1.])?;
    same(&count(6, &[1, 3, 2])?.conv1d(&w, None, 1, 0, 1, 3)?, F32, &[1, 3, 1], &[1., 7., 17.])
}

#[test]
fn extremes_over_an_expanded_dimension() -> Result<()> {
    let x = f(&[3], &[1., 2., 3.])?.expand([1, 3])?;
    same(&x.amax(0, false)?, F32, &[3], &[1., 2., 3.])?;
    same(&x.argmax(Some(0), false)?, rushlight::DType::I64, &[3], &[0., 0., 0.])
}

#[test]
fn operators_broadcast() -> Result<()> {
    let y = (Tensor::ones_with([2, 1, 3], Some(F32), None)? + count(2, &[2, 1])?)?;
    same(&y, F32, &[2, 2, 3], &[1., 1., 1., 2., 2., 2., 1., 1., 1., 2., 2., 2.])
}

#[test]
fn a_row_is_added_to_a_thousand() -> Result<()> {
    let a = Tensor::zeros_with([1024, 1024], Some(F32), None)?;
    let row = count(1024, &[1024])?;
    let y = a.add(&row)?;
    assert!(y.i(0)?.equal(&row)? && y.i(1023)?.equal(&row)?);
    Ok(())
}

#[test]
fn threads_do_not_change_a_bit() -> Result<()> {
    let x = Tensor::linspace(-3.0, 5.0, 300_000)?.reshape([300, 1000])?;
    let sums = || x.mul(2.0)?.add(1.0)?.sum(-1, false)?.to_vec::<f32>();
    let before = rushlight::num_threads();
    rushlight::set_num_threads(1);
    let one = sums()?;
    for n in [2, 4] {
        rushlight::set_num_threads(n);
        assert_eq!(sums()?, one, "{n} threads");
    }
    rushlight::set_num_threads(before);
    Ok(())
}
