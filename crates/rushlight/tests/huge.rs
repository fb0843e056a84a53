//! Sizes beyond memory or beyond the address space: errors that name the op, never an abort.

use rushlight::{DType, Kind, Result, Tensor};

const HUGE: i64 = 1 << 45;

#[track_caller]
fn refused<T>(op: &str, result: Result<T>) {
    match result {
        Err(e) => assert_eq!((e.kind(), e.op()), (Kind::Runtime, op), "{e}"),
        Ok(_) => panic!("{op} claims to have made it"),
    }
}

#[test]
fn new_tensors() {
    refused("arange", Tensor::arange(0, HUGE, 1));
    refused("arange", Tensor::arange(0.0, HUGE as f64, 1.0));
    refused("arange", Tensor::arange(i64::MIN, i64::MAX, 1));
    refused("linspace", Tensor::linspace(0.0, 1.0, HUGE));
    refused("linspace", Tensor::linspace(0.0, 1.0, i64::MAX));
    refused("rand", Tensor::rand(HUGE));
    refused("randn", Tensor::randn([HUGE, HUGE]));
    refused("randint", Tensor::randint(0, 5, HUGE));
    refused("randperm", Tensor::randperm(i64::MAX));
    for n in [HUGE, i64::MAX] {
        assert!(Tensor::zeros(n).is_err() && Tensor::empty(n).is_err());
        assert!(Tensor::eye(n, Some(1)).is_err() && Tensor::full([n, 2], 1.5).is_err());
    }
}

#[test]
fn expanded_tensors() -> Result<()> {
    let x = Tensor::from_vec(vec![1f64], [1])?.expand(i64::MAX)?;
    assert_eq!((x.numel(), x.nbytes()), (isize::MAX as usize, usize::MAX));
    refused("to_vec", x.to_vec::<f64>());
    assert!(x.contiguous().is_err() && x.to_bytes().is_err() && x.copy().is_err());
    assert!(x.to_dtype(DType::F32).is_err() && x.add(1.0).is_err());
    assert!(x.reshape([7, -1]).is_ok_and(|y| y.shape() == [7, i64::MAX as usize / 7]));
    refused("normal_", x.normal_(0.0, 1.0));
    assert!(format!("{x}").contains("1.,  ..., 1.") && format!("{x:?}").contains("Tensor("));
    Ok(())
}

#[test]
fn integer_ranges_are_exact_beyond_doubles() -> Result<()> {
    let a = 1i64 << 60;
    assert_eq!(Tensor::arange(a, a + 3, 1)?.to_vec::<i64>()?, [a, a + 1, a + 2]);
    assert_eq!(Tensor::arange(a + 5, a, -2)?.to_vec::<i64>()?, [a + 5, a + 3, a + 1]);
    assert_eq!(Tensor::arange(0, 7, 3)?.to_vec::<i64>()?, [0, 3, 6]);
    assert_eq!(Tensor::arange(i64::MAX - 1, i64::MAX, 5)?.to_vec::<i64>()?, [i64::MAX - 1]);
    assert_eq!(Tensor::arange(3, 3, 1)?.shape(), [0]);
    Ok(())
}
