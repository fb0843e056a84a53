//! New tensors without memory, and counts beyond it.

use super::{refused, t};
use rushlight::{DType, Device, Generator, Kind, Result, Tensor};

const META: Option<Device> = Some(Device::META);
/// Elements that no machine holds, of a number of bytes that can still be said.
const MANY: i64 = 1 << 50;

#[test]
fn tensors_without_memory_have_any_size() -> Result<()> {
    let rng = Generator::new(7);
    let all = [
        Tensor::arange_with(0, MANY, 1, None, META)?,
        Tensor::arange_with(0.0, MANY as f64, 1.0, None, META)?.to_dtype(DType::I64)?,
        Tensor::linspace_with(0.0, 1.0, MANY, Some(DType::I64), META)?,
        Tensor::rand_with(MANY, None, META, Some(&rng))?.to_dtype(DType::I64)?,
        Tensor::randn_with(MANY, None, META, Some(&rng))?.to_dtype(DType::I64)?,
        Tensor::randint_with(0, 5, MANY, None, META, Some(&rng))?,
        Tensor::randperm_with(MANY, None, META, Some(&rng))?,
        Tensor::zeros_with(MANY, Some(DType::I64), META)?,
        Tensor::empty_with(MANY, Some(DType::I64), META)?,
    ];
    for x in &all {
        assert_eq!((x.shape(), x.dtype(), x.device()), (&[MANY as usize][..], DType::I64, Device::META));
    }
    let p = Tensor::empty_with([3, MANY], Some(DType::F32), META)?;
    assert_eq!(p.bernoulli()?.shape(), p.shape());
    assert_eq!(p.multinomial(5, true)?.shape(), [3, 5]);
    assert_eq!(p.multinomial_with(MANY, true, Some(&rng))?.shape(), [3, MANY as usize]);
    assert!(p.uniform_(0.0, 1.0)?.is(&p) && p.normal_(0.0, 1.0)?.version() == 2);
    assert_eq!(Tensor::eye_with(1 << 25, Some(1 << 25), Some(DType::U8), META)?.shape(), [1 << 25, 1 << 25]);
    // The stream has not moved: nothing was drawn.
    let first = Tensor::rand_with(4, None, None, Some(&rng))?.to_vec::<f32>()?;
    assert_eq!(first, Tensor::rand_with(4, None, None, Some(&Generator::new(7)))?.to_vec::<f32>()?);
    // Beyond the address space there is nothing, not even a shape.
    assert!(Tensor::arange_with(i64::MIN, i64::MAX, 1, None, META).is_err());
    assert!(Tensor::rand_with([MANY, MANY], None, META, None).is_err());
    Ok(())
}

#[test]
fn draws_beyond_memory_are_refused_before_the_first() {
    let w = t(&[1.0, 2.0], &[2]);
    for n in [MANY, 1 << 58, i64::MAX] {
        refused(Kind::Runtime, "", w.multinomial(n, true));
        refused(Kind::Runtime, "", t(&[1.0; 6], &[3, 2]).multinomial(n, true));
    }
    refused(Kind::Runtime, "replacement", w.multinomial(3, false));
    refused(Kind::Runtime, "at least one", w.multinomial(0, true));
    assert_eq!(w.multinomial(1000, true).unwrap().shape(), [1000]);
}

#[test]
fn empty_takes_options() -> Result<()> {
    let x = Tensor::empty_with([2, 0, 3], Some(DType::C64), Some(Device::REF))?;
    assert_eq!((x.shape(), x.dtype(), x.device()), (&[2, 0, 3][..], DType::C64, Device::REF));
    assert_eq!(Tensor::empty(3)?.dtype(), DType::F32);
    refused(Kind::Runtime, "negative", Tensor::empty_with(-1, None, None));
    Ok(())
}
