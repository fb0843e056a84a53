//! Files made by NumPy and by the safetensors package, see `golden/make.py`.

mod common;

use common::logical_bytes;
use rushlight_core::{DType, Kind, Result, Tensor};
use rushlight_io::{npy, npz, safetensors};
use std::path::PathBuf;

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

#[track_caller]
fn check(tensor: &Tensor, dtype: DType, shape: &[usize], bytes: &[u8]) {
    assert_eq!((tensor.dtype(), tensor.shape()), (dtype, shape));
    assert_eq!(logical_bytes(tensor), bytes);
}

/// Little-endian bytes of numbers.
macro_rules! le {
    ($ty:ty: $($x:expr),*) => { [$( <$ty>::to_le_bytes($x) ),*].concat() };
}

#[test]
fn npy_of_each_sort() -> Result<()> {
    let read = |name: &str| npy::read(golden(name));
    check(&read("c_order.npy")?, DType::F32, &[2, 3], &le!(f32: 0., 1., 2., 3., 4., 5.));
    check(&read("rank0.npy")?, DType::I64, &[], &le!(i64: -7));
    check(&read("empty.npy")?, DType::I32, &[0, 3], &[]);
    check(&read("bool.npy")?, DType::Bool, &[3], &[1, 0, 1]);
    check(&read("half.npy")?, DType::F16, &[3], &le!(u16: 0x3e00, 0xc000, 0x7c00));
    check(&read("complex.npy")?, DType::C128, &[2, 1], &le!(f64: 1., 2., 3., -4.));
    check(&read("uint64.npy")?, DType::U64, &[2], &le!(u64: 0, u64::MAX));
    check(&read("int8.npy")?, DType::I8, &[2], &le!(i8: -128, 127));
    check(&read("version2.npy")?, DType::U16, &[2, 3], &le!(u16: 0, 1, 2, 3, 4, 5));
    check(&read("version3.npy")?, DType::U16, &[2, 3], &le!(u16: 0, 1, 2, 3, 4, 5));
    Ok(())
}

#[test]
fn npy_in_the_other_byte_order() -> Result<()> {
    check(&npy::read(golden("big_i4.npy"))?, DType::I32, &[2, 3], &le!(i32: -3, -2, -1, 0, 1, 2));
    check(&npy::read(golden("big_f2.npy"))?, DType::F16, &[2], &le!(u16: 0x3800, 0xbc00));
    let pairs = le!(f32: 0., 3., 1., 4., 2., 5., 3., 0., 4., 1., 5., 2.);
    check(&npy::read(golden("big_c8.npy"))?, DType::C64, &[2, 3], &pairs);
    Ok(())
}

#[test]
fn npy_in_fortran_order_is_a_view_of_the_bytes_as_they_lie() -> Result<()> {
    let tensor = npy::read(golden("fortran.npy"))?;
    assert_eq!(tensor.strides(), [1, 2]);
    assert_eq!(tensor.storage().nbytes(), 6 * 8);
    check(&tensor, DType::F64, &[2, 3], &le!(f64: 0., 1., 2., 3., 4., 5.));
    Ok(())
}

#[test]
fn npy_arrays_in_a_row_come_one_by_one() -> Result<()> {
    let file = std::fs::read(golden("two_in_a_row.npy")).unwrap();
    let mut rest = file.as_slice();
    check(&npy::read_from(&mut rest)?, DType::U8, &[2], &[1, 2]);
    check(&npy::read_from(&mut rest)?, DType::F32, &[1], &le!(f32: 3.));
    assert!(rest.is_empty());
    // A file gives its first.
    check(&npy::read(golden("two_in_a_row.npy"))?, DType::U8, &[2], &[1, 2]);
    Ok(())
}

#[test]
fn npy_of_what_no_tensor_holds_says_what_it_is() {
    for (name, words) in [
        ("bad_record.npy", "records"),
        ("bad_object.npy", "Python objects"),
        ("bad_string.npy", "strings"),
        ("bad_date.npy", "dates"),
        ("bad_longdouble.npy", "unusual size"),
    ] {
        let error = npy::read(golden(name)).err().unwrap();
        assert_eq!(error.kind(), Kind::Io);
        assert!(error.text().contains(words) && error.text().contains(name), "{error}");
    }
}

#[test]
fn npz_stored_and_deflated() -> Result<()> {
    for name in ["stored.npz", "deflated.npz"] {
        let tensors = npz::read(golden(name))?;
        let get = |wanted: &str| &tensors.iter().find(|(name, _)| name == wanted).unwrap().1;
        check(get("weight"), DType::F32, &[2, 3], &le!(f32: 0., 1., 2., 3., 4., 5.));
        assert_eq!(get("weight").strides(), [1, 2]);
        check(get("bias/0"), DType::I64, &[2], &le!(i64: 1, 2));
        check(get("größe"), DType::F64, &[], &le!(f64: 3.5));
        if name == "deflated.npz" {
            check(get("zeros"), DType::F64, &[100, 1000], &[0; 800_000]);
        }
        assert_eq!(tensors.len(), if name == "stored.npz" { 3 } else { 4 });
    }
    Ok(())
}

#[test]
fn npz_one_by_one() -> Result<()> {
    let archive = npz::Archive::open(golden("stored.npz"))?;
    assert_eq!(archive.names(), ["weight", "bias/0", "größe"]);
    for _ in 0..2 {
        check(&archive.get("bias/0")?, DType::I64, &[2], &le!(i64: 1, 2));
    }
    let error = archive.get("bias").err().unwrap();
    assert_eq!(error.kind(), Kind::Value);
    assert!(error.text().contains("\"bias/0\""), "{error}");
    Ok(())
}

#[test]
fn safetensors_of_each_sort() -> Result<()> {
    let tensors = safetensors::load(golden("sound.safetensors"))?;
    let get = |wanted: &str| &tensors.iter().find(|(name, _)| name == wanted).unwrap().1;
    check(get("weight"), DType::F32, &[2, 3], &le!(f32: 0., 1., 2., 3., 4., 5.));
    check(get("half"), DType::F16, &[3], &le!(u16: 0x3e00, 0xc000, 0x7c00));
    check(get("brain"), DType::BF16, &[2], &le!(u16: 0x3f80, 0xc000));
    check(get("mask"), DType::Bool, &[3], &[1, 0, 1]);
    check(get("count"), DType::I64, &[], &le!(i64: -7));
    check(get("none"), DType::U8, &[0, 4], &[]);
    check(get("wave"), DType::C64, &[1], &le!(f32: 1., -2.));
    assert_eq!(tensors.len(), 7);
    Ok(())
}

#[test]
fn safetensors_one_by_one() -> Result<()> {
    let archive = safetensors::open(golden("sound.safetensors"))?;
    assert_eq!((archive.len(), archive.names().count()), (7, 7));
    assert_eq!(archive.shape("weight"), Some(&[2, 3][..]));
    assert_eq!(archive.dtype("weight"), Some(DType::F32));
    assert_eq!((archive.shape("no"), archive.dtype("no")), (None, None));
    assert_eq!(archive.metadata()["made"], "by safetensors");
    assert_eq!(archive.metadata()["größe"], "ja");
    assert_eq!(archive.get("no").err().unwrap().kind(), Kind::Value);
    Ok(())
}

#[test]
fn safetensors_of_an_unknown_dtype_fail_when_asked_for() -> Result<()> {
    let archive = safetensors::open(golden("bad_float8.safetensors"))?;
    assert_eq!(archive.dtype("x"), None);
    let error = archive.get("x").err().unwrap();
    assert_eq!(error.kind(), Kind::Io);
    assert!(error.text().contains("F8_E4M3") && error.text().contains("\"x\""), "{error}");
    Ok(())
}
