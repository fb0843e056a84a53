use super::*;
use crate::{Kind, Number};
use num_complex::Complex;

#[test]
fn numbers_survive_every_dtype_as_cast_says() {
    let numbers = [
        Number::Bool(true),
        Number::Int(0),
        Number::Int(-1),
        Number::Int(300),
        Number::Int(i64::MAX),
        Number::UInt(u64::MAX),
        Number::Float(0.1),
        Number::Float(-2.5),
        Number::Float(1e300),
        Number::Float(f64::NEG_INFINITY),
        Number::Complex(0.1, -7.25),
    ];
    for &dtype in DType::ALL {
        let storage = Storage::heap(dtype.size() * 3, Device::CPU).unwrap();
        let layout = strided(&[2], &[-1], 2);
        for number in numbers {
            with_plan("store", &[place(&storage, &layout, dtype)], &[], |outs, _| {
                outs[0].store(-1, number);
                assert_eq!(outs[0].load(-1), number.cast(dtype), "{number:?} as {dtype}");
                assert_eq!(outs[0].read().load(-1), number.cast(dtype));
                outs[0].store(0, Number::Float(f64::NAN));
                let stored = outs[0].load(0);
                match dtype.is_differentiable() {
                    true => assert!(stored.to_f64().is_nan(), "{dtype}"),
                    false => assert_eq!(stored, Number::Float(f64::NAN).cast(dtype)),
                }
                Ok(())
            })
            .unwrap();
        }
    }
}

#[test]
fn any_byte_but_zero_is_true() {
    let storage = of(&[0u8, 1, 2, 255]);
    assert_eq!(read::<bool>(&storage), [false, true, true, true]);
    let layout = row(4);
    with_plan("set", &[place(&storage, &layout, DType::Bool)], &[], |outs, _| {
        let value: bool = outs[0].get(3);
        outs[0].set(3, value);
        Ok(())
    })
    .unwrap();
    assert_eq!(read::<u8>(&storage), [0, 1, 2, 1]);
}

#[test]
fn positions_count_from_the_offset_as_strides_do() {
    let storage = of(&[0i32, 10, 20, 30, 40, 50]);
    let flipped = strided(&[2, 3], &[3, -1], 2);
    let sub = strided(&[2], &[2], 1);
    with_plan("read", &[], &[place(&storage, &flipped, DType::I32)], |_, ins| {
        let span = ins[0];
        assert_eq!((span.get::<i32>(0), span.get::<i32>(-2), span.get::<i32>(3)), (20, 0, 50));
        assert_eq!(span.ptr().addr(), storage.data_ptr() + 8);
        assert_eq!((span.numel(), span.dtype(), span.layout().offset()), (6, DType::I32, 2));
        assert!(span.storage().same(&storage) && span.is_aligned());
        let again = span.with_layout(&sub)?;
        assert_eq!((again.get::<i32>(0), again.get::<i32>(2)), (10, 30));
        let (long, wide) = (row(7), row(3));
        assert_eq!(span.with_layout(&long).unwrap_err().kind(), Kind::Runtime);
        assert_eq!(span.reinterpret(&wide, DType::I64)?.get::<i64>(0), 10 << 32);
        assert!(span.reinterpret(&row(4), DType::I64).is_err());
        Ok(())
    })
    .unwrap();
}

#[test]
fn complex_numbers_are_pairs() {
    let storage = of(&[Complex::new(1.0f32, 2.0), Complex::new(3.0, 4.0)]);
    let layout = row(2);
    let pairs = row(4);
    with_plan("imag", &[place(&storage, &layout, DType::C64)], &[], |outs, _| {
        outs[0].reinterpret(&pairs, DType::F32)?.set(3, 9f32);
        assert_eq!(outs[0].load(1), Number::Complex(3.0, 9.0));
        Ok(())
    })
    .unwrap();
}

#[test]
fn foreign_memory_may_be_unaligned() {
    let bytes: Vec<u8> = [vec![0u8; 1], 1.5f64.to_ne_bytes().to_vec(), vec![0u8; 8]].concat();
    struct Tail(Vec<u8>);
    impl AsMut<[u8]> for Tail {
        fn as_mut(&mut self) -> &mut [u8] {
            &mut self.0[1..]
        }
    }
    let storage = Storage::from_owner_mut(Tail(bytes), "tail");
    let layout = row(2);
    with_plan("odd", &[place(&storage, &layout, DType::F64)], &[], |outs, _| {
        assert!(!outs[0].is_aligned());
        outs[0].set(1, outs[0].get::<f64>(0) * 2.0);
        Ok(())
    })
    .unwrap();
    assert_eq!(read::<f64>(&storage), [1.5, 3.0]);
}

fn panics(f: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let payload = std::panic::catch_unwind(f).expect_err("no panic");
    payload.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[test]
fn a_kernel_with_a_wrong_index_is_stopped_and_the_storage_stays_usable() {
    let storage = of(&[1i16, 2, 3]);
    let layout = strided(&[2], &[1], 1);
    let meta = Storage::meta(6);
    for index in [-2, 2, isize::MAX, isize::MIN] {
        let text = panics(|| {
            let _ = with_plan("bad", &[place(&storage, &layout, DType::I16)], &[], |outs, _| {
                outs[0].set(index, 0i16);
                Ok(())
            });
        });
        assert!(text.contains("outside"), "{text}");
    }
    let text = panics(|| {
        let _ =
            with_plan("bad", &[], &[place(&storage, &layout, DType::I16)], |_, ins| Ok(ins[0].get::<u16>(0)));
    });
    assert!(text.contains("uint16"), "{text}");
    let text = panics(|| {
        let _ = with_plan("bad", &[], &[place(&meta, &layout, DType::I16)], |_, ins| Ok(ins[0].load(0)));
    });
    assert!(text.contains("meta"), "{text}");
    assert_eq!(read::<i16>(&storage), [1, 2, 3], "lock and mark were released, nothing was written");
}
