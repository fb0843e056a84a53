//! Dtypes, halves, NaN and the edges of functions.

use super::{count, f, l, same};
use rushlight::DType::{Bool, F16, F32, F64, I32, I64};
use rushlight::{Kind, Result, Tensor};

#[test]
fn byte_positions_reach_the_last_of_256() -> Result<()> {
    let i = Tensor::from_vec(vec![255u8, 0], [2])?.to_dtype(I64)?;
    same(&count(256, &[256])?.index_select(0, &i)?, F32, &[2], &[255., 0.])
}

#[test]
fn halves_do_not_saturate() -> Result<()> {
    let ones = Tensor::ones_with([3000], Some(F16), None)?;
    same(&ones.sum((), false)?, F16, &[], &[3000.])?;
    same(&ones.mean((), false)?, F16, &[], &[1.])?;
    let p = Tensor::zeros_with([1, 3000], Some(F16), None)?.softmax(-1)?;
    same(&p.i((0, 0))?, F16, &[], &[0.000333309174])?;
    same(&p.to_dtype(F32)?.sum((), false)?, F32, &[], &[0.999927521])
}

#[test]
fn int32_computes_converts_and_selects() -> Result<()> {
    let a = Tensor::from_vec(vec![1i32, -2, 3], [3])?;
    let b = Tensor::from_vec(vec![4i32, 5, 6], [3])?;
    same(&(&a + &b)?, I32, &[3], &[5., 3., 9.])?;
    same(&(&a * &b)?, I32, &[3], &[4., -10., 18.])?;
    same(&a.to_dtype(F32)?, F32, &[3], &[1., -2., 3.])?;
    same(&a.to_dtype(I64)?, I64, &[3], &[1., -2., 3.])?;
    let i = Tensor::from_vec(vec![2i32, 0], [2])?;
    same(&f(&[3], &[10., 20., 30.])?.index_select(0, &i)?, F32, &[2], &[30., 10.])
}

#[test]
fn nan_is_never_swallowed() -> Result<()> {
    const N: f32 = f32::NAN;
    let (a, b) = (f(&[2], &[N, 1.])?, f(&[2], &[1., N])?);
    same(&a.maximum(&b)?, F32, &[2], &[f64::NAN, f64::NAN])?;
    same(&a.minimum(&b)?, F32, &[2], &[f64::NAN, f64::NAN])?;
    same(&f(&[1], &[N])?.relu()?, F32, &[1], &[f64::NAN])?;
    let x = f(&[3], &[1., N, 2.])?;
    same(&x.amax((), false)?, F32, &[], &[f64::NAN])?;
    same(&x.argmax(None, false)?, I64, &[], &[1.])
}

#[test]
fn sums_of_small_integers_are_int64() -> Result<()> {
    same(&Tensor::from_vec(vec![200u8, 100], [2])?.sum((), false)?, I64, &[], &[300.])?;
    same(&Tensor::from_vec(vec![true, true, false], [3])?.sum((), false)?, I64, &[], &[2.])
}

#[test]
fn functions_of_integers() -> Result<()> {
    same(&l(&[2], &[0, 1])?.exp()?, F32, &[2], &[1., 2.71828175])?;
    same(&(-l(&[2], &[1, -2])?)?, I64, &[2], &[-1., 2.])?;
    same(&Tensor::from_vec(vec![-3i32], [1])?.abs()?, I32, &[1], &[3.])
}

#[test]
fn powers_of_negative_bases() -> Result<()> {
    let y = f(&[5], &[-2., -2., 0., 0., 2.])?.pow(f(&[5], &[3., 2., 0., 2., -1.])?)?;
    same(&y, F32, &[5], &[-8., 4., 1., 0., 0.5])
}

#[test]
fn entropy_of_large_logits_keeps_its_tail() -> Result<()> {
    let (x, t) = (f(&[3], &[100., -100., 100.])?, f(&[3], &[0., 1., 1.])?);
    let y = x.binary_cross_entropy_with_logits_with(&t, None, "none", None)?.to_vec::<f32>()?;
    assert_eq!(y[..2], [100., 100.]);
    // A subnormal: the smallest few bits of float32. 0 would have lost the loss.
    assert!((y[2] - 3.9e-44).abs() <= 2e-45, "{}", y[2]);
    Ok(())
}

#[test]
fn twenty_thousand_are_sorted() -> Result<()> {
    let i = Tensor::arange_with(20_000, 0, -1, Some(F32), None)?.argsort(-1, false)?;
    assert_eq!((i.i(0)?.item()?.to_i64(), i.i(-1)?.item()?.to_i64()), (19_999, 0));
    Ok(())
}

#[test]
fn negative_positions() -> Result<()> {
    let x = l(&[3], &[10, 20, 30])?;
    same(&x.i(-1)?, I64, &[], &[30.])?;
    same(&x.i(l(&[2], &[-1, 0])?)?, I64, &[2], &[30., 10.])?;
    let e = x.index_select(0, &l(&[1], &[-1])?).unwrap_err();
    assert_eq!(e.kind(), Kind::Index);
    Ok(())
}

#[test]
fn seeds_repeat() -> Result<()> {
    // A generator of its own: the shared one is drawn from by other tests at the same time.
    let g = rushlight::random::Generator::new(7);
    let a = Tensor::rand_with([3], None, None, Some(&g))?;
    let next = Tensor::rand_with([3], None, None, Some(&g))?;
    g.manual_seed(7);
    assert!(a.equal(&Tensor::rand_with([3], None, None, Some(&g))?)?);
    assert!(!a.equal(&next)?);
    Ok(())
}

#[test]
fn empty_operands_still_promote() -> Result<()> {
    let y = (l(&[0], &[])? + f(&[0], &[])?)?;
    same(&y, F32, &[0], &[])
}

#[test]
fn messages_name_what_was_wrong() -> Result<()> {
    let x = f(&[3], &[0.; 3])?;
    let e = x.index_select(0, &l(&[1], &[-1])?).unwrap_err();
    assert_eq!(e.kind(), Kind::Index);
    for part in ["index_select", "-1", "3"] {
        assert!(e.to_string().contains(part), "{e}");
    }
    let e = x.scatter(0, &l(&[1], &[5])?, f(&[1], &[1.])?).err();
    let e = e.unwrap_or_else(|| panic!("5 of 3 was written"));
    assert_eq!(e.kind(), Kind::Runtime);
    for part in ["scatter", "5", "3"] {
        assert!(e.to_string().contains(part), "{e}");
    }
    let e = f(&[2, 3], &[0.; 6])?.add(f(&[2, 4], &[0.; 8])?).err();
    let text = e.map(|e| (e.kind(), e.to_string()));
    let Some((Kind::Runtime, text)) = text else { panic!("{text:?}") };
    for part in ["add", "2, 3", "2, 4"] {
        assert!(text.contains(part), "{text}");
    }
    Ok(())
}

#[test]
fn comparisons_give_truth() -> Result<()> {
    same(&f(&[2], &[1., 2.])?.gt(1.5)?, Bool, &[2], &[0., 1.])?;
    same(&Tensor::from_vec(vec![0.1f64], [1])?.gt(f(&[1], &[0.1])?)?, Bool, &[1], &[0.])?;
    same(&Tensor::from_vec(vec![0.5f64], [1])?.add(f(&[], &[1.])?)?, F64, &[1], &[1.5])
}
