//! Products of vectors, batches and tensors; tensors joined along a diagonal.

use super::{i, of, range, refused, t};
use rushlight::{DType, Kind, Result, Tensor};

#[test]
fn sums_of_products_over_any_dimensions() -> Result<()> {
    let (a, b) = (range(&[2, 3, 4]), range(&[4, 3, 2]));
    let want = [880., 946., 2464., 2674.];
    assert_eq!(of(&a.tensordot(&b, [1, 2], [1, 0])?), want);
    // Strides do not matter.
    let turned = a.permute([2, 0, 1])?.contiguous()?.permute([1, 2, 0])?;
    assert_eq!(of(&turned.tensordot(&b.permute([1, 0, 2])?, [1, 2], [0, 1])?), want);
    let m = range(&[2, 3]);
    assert_eq!(m.tensordot(&m, Vec::<i64>::new(), Vec::<i64>::new())?.shape(), [2, 3, 2, 3]);
    assert_eq!(of(&m.tensordot(&m, [0, 1], [0, 1])?), [55.0]);
    // A size of 1 meets each place of the other.
    let ones = Tensor::ones_with([2, 3], Some(DType::F64), None)?;
    assert_eq!(of(&ones.narrow(0, 0, 1)?.tensordot(&ones, [0, 1], [0, 1])?), [6.0]);
    let empty = range(&[2, 0]).tensordot(&range(&[0, 3]), 1, 0)?;
    assert_eq!((empty.shape(), of(&empty)), (&[2, 3][..], vec![0.0; 6]));
    refused(Kind::Runtime, "must be equal", m.tensordot(&m, 1, 0));
    refused(Kind::Runtime, "as many", m.tensordot(&m, [0, 1], 0));
    refused(Kind::Runtime, "", m.tensordot(&m, [0, 0], [0, 1]));
    refused(Kind::Index, "", m.tensordot(&m, 2, 0));
    refused(Kind::Runtime, "convert", m.tensordot(&m.to_dtype(DType::F32)?, 1, 1));
    Ok(())
}

#[test]
fn inner_and_outer_products() -> Result<()> {
    let m = range(&[2, 3]);
    assert_eq!(of(&m.inner(&m)?), [5., 14., 14., 50.]);
    assert_eq!(of(&m.inner(&Tensor::scalar(2.0)?)?), [0., 2., 4., 6., 8., 10.]);
    assert_eq!(m.inner(&range(&[4, 5, 3]))?.shape(), [2, 4, 5]);
    refused(Kind::Runtime, "must be equal", m.inner(&range(&[2])));
    let pair = |v: &[f64]| t(v, &[2, 2]).view_as_complex();
    let (z, w) = (pair(&[1., 2., 3., -1.])?, pair(&[2., -1., 0., 1.])?);
    let number = |x: Tensor| x.view_as_real()?.to_vec::<f64>();
    assert_eq!(number(z.vdot(&w)?)?, [-1.0, -2.0]);
    assert_eq!(number(z.dot(&w)?)?, [5.0, 6.0]);
    assert_eq!(of(&range(&[3]).vdot(&range(&[3]))?), [5.0]);
    refused(Kind::Runtime, "", z.vdot(&range(&[2])));
    refused(Kind::Runtime, "", m.vdot(&m));
    let k = t(&[1., 2., 3., 4.], &[2, 2]).kron(&t(&[0., 5., 6., 7.], &[2, 2]))?;
    assert_eq!(of(&k), [0., 5., 0., 10., 6., 7., 12., 14., 0., 15., 0., 20., 18., 21., 24., 28.]);
    assert_eq!(range(&[2]).kron(&range(&[3, 2, 2]))?.shape(), [3, 2, 4]);
    assert_eq!(of(&Tensor::scalar(2.0)?.kron(&i(&[1, 2], &[2]))?), [2.0, 4.0]);
    let wide = Tensor::scalar(1.0)?.expand([1i64 << 40])?;
    refused(Kind::Runtime, "", wide.kron(&wide));
    Ok(())
}

#[test]
fn products_added_to_a_tensor() -> Result<()> {
    let (a, b) = (range(&[2, 2, 3]), range(&[2, 3, 2]));
    let ones = Tensor::ones_with([2, 2], Some(DType::F64), None)?;
    assert_eq!(of(&ones.addbmm_with(&a, &b, 2, 0.5)?), [93., 105., 138., 159.]);
    let nan = Tensor::full_with([2, 2], f64::NAN, None, None)?.to_dtype(DType::F64)?;
    assert_eq!(of(&nan.addbmm_with(&a, &b, 0, 1)?), [182., 206., 272., 314.]);
    assert!(ones.addbmm_(&a, &b)?.is(&ones) && ones.version() == 1);
    assert_eq!(of(&ones), [183., 207., 273., 315.]);
    refused(Kind::Runtime, "broadcast", range(&[2, 2, 2]).addbmm(&a, &b));
    refused(Kind::Runtime, "batches", range(&[2, 2]).addbmm(&a, &a));
    // Sums of halves round once, over the batch too.
    let half = |s: &[usize]| Tensor::ones(s)?.to_dtype(DType::F16);
    let sum =
        Tensor::zeros([1, 1])?.to_dtype(DType::F16)?.addbmm(&half(&[5000, 1, 1])?, &half(&[5000, 1, 1])?)?;
    assert_eq!(of(&sum), [5000.0]);
    let (u, v) = (t(&[1., 2.], &[2]), t(&[1., 2., 3.], &[3]));
    let base = Tensor::ones_with([2, 3], Some(DType::F64), None)?;
    assert_eq!(of(&base.addr_with(&u, &v, 2, 3)?), [5., 8., 11., 8., 14., 20.]);
    let mixed = base.to_dtype(DType::F32)?.addr(&u.to_dtype(DType::I64)?, &v)?;
    assert_eq!((mixed.dtype(), of(&mixed)), (DType::F64, vec![2., 3., 4., 3., 5., 7.]));
    refused(Kind::Runtime, "broadcast", ones.addr(&u, &v));
    let whole = i(&[1; 6], &[2, 3]);
    let list = |x: &Tensor| x.to_dtype(DType::I64);
    refused(Kind::Runtime, "integers", whole.addr_with(&list(&u)?, &list(&v)?, 0.5, 1));
    // Matrix products take the whole part of a factor.
    let (two, three) = (i(&[2], &[1, 1]), i(&[3], &[1, 1]));
    assert_eq!(two.addmm_with(&two, &three, 1.9, 2.9)?.to_vec::<i64>()?, [14]);
    // In place, with the operands themselves.
    let m = t(&[1., 2., 3., 4.], &[2, 2]);
    m.addmm_(&m.copy()?, &m.copy()?)?;
    assert_eq!(of(&m), [8., 12., 18., 26.]);
    Ok(())
}

#[test]
fn blocks_and_columns() -> Result<()> {
    let y = Tensor::block_diag(&[&i(&[1, 2], &[1, 2]), &Tensor::scalar(3.5)?, &i(&[4, 5], &[2])])?;
    assert_eq!((y.dtype(), y.shape()), (DType::F32, &[3, 5][..]));
    assert_eq!(of(&y), [1., 2., 0., 0., 0., 0., 0., 3.5, 0., 0., 0., 0., 0., 4., 5.]);
    assert_eq!(Tensor::block_diag(&[])?.shape(), [1, 0]);
    assert_eq!(Tensor::block_diag(&[&range(&[0, 2]), &range(&[1, 1])])?.shape(), [1, 3]);
    refused(Kind::Runtime, "matrices", Tensor::block_diag(&[&range(&[1, 1, 1])]));
    let y = Tensor::column_stack(&[&range(&[2]), &range(&[2, 3])])?;
    assert_eq!((y.shape(), of(&y)), (&[2, 4][..], vec![0., 0., 1., 2., 1., 3., 4., 5.]));
    assert_eq!(Tensor::column_stack(&[&Tensor::scalar(1.0)?, &Tensor::scalar(2.0)?])?.shape(), [1, 2]);
    refused(Kind::Runtime, "at least one", Tensor::column_stack(&[]));
    refused(Kind::Runtime, "", Tensor::column_stack(&[&range(&[2]), &range(&[3, 1])]));
    Ok(())
}

#[test]
fn unsafe_pieces_may_be_written_in_a_graph() -> Result<()> {
    let x = range(&[5, 2]).requires_grad_(true)?;
    let sizes = |list: Vec<Tensor>| list.iter().map(|p| p.shape()[0]).collect::<Vec<_>>();
    assert_eq!(sizes(x.unsafe_chunk(2, 0)?), [3, 2]);
    assert_eq!(sizes(x.unsafe_split(2, 0)?), [2, 2, 1]);
    assert_eq!(sizes(x.unsafe_split_with_sizes([4, 1], 0)?), [4, 1]);
    let y = x.mul(1.0)?;
    y.unsafe_chunk(2, 0)?[1].mul_(3.0)?;
    y.sum((), false)?.backward()?;
    assert_eq!(of(&x.grad().unwrap()), [1., 1., 1., 1., 1., 1., 3., 3., 3., 3.]);
    refused(Kind::Runtime, "several views", x.mul(1.0)?.chunk(2, 0)?[1].mul_(3.0));
    refused(Kind::Runtime, "", x.unsafe_chunk(0, 0));
    refused(Kind::Runtime, "", x.unsafe_split_with_sizes([4, 2], 0));
    Ok(())
}

#[test]
fn places_of_a_number_that_is_not_zero() -> Result<()> {
    for (value, count) in [(3.0, 1usize), (0.0, 0)] {
        let x = Tensor::scalar(value)?;
        assert_eq!((x.nonzero()?.shape(), x.nonzero()?.dtype()), (&[count, 0][..], DType::I64));
        let list = x.nonzero_numpy()?;
        assert_eq!((list.len(), list[0].shape()), (1, &[count][..]));
        // A 0-d mask chooses all or nothing, in a new first dimension.
        let mask = x.to_dtype(DType::Bool)?;
        assert_eq!(Tensor::scalar(4.0)?.masked_select(&mask)?.shape(), [count]);
        assert_eq!(range(&[2, 3]).masked_select(&mask)?.shape(), [6 * count]);
        let y = range(&[2, 3]).masked_scatter(&mask, &t(&[9.0; 9], &[9]))?;
        assert_eq!(of(&y), if count == 1 { vec![9.0; 6] } else { of(&range(&[6])) });
        let there = x.to_device(rushlight::Device::REF)?;
        assert_eq!(there.nonzero()?.shape(), [count, 0]);
        // The count is kept by what is made of it.
        assert_eq!(x.nonzero()?.t()?.shape(), [0, count]);
        assert_eq!(x.nonzero()?.copy()?.shape(), [count, 0]);
    }
    Ok(())
}
