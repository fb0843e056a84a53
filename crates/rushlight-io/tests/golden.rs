//! Files made by NumPy and by the safetensors package, see `golden/make.py`, and by torch, see `golden/make_torch.py`.

mod common;

use common::{golden, logical_bytes};
use rushlight_core::{DType, Kind, Layout, Result, Tensor};
use rushlight_io::{npy, npz, pt, safetensors};

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

#[test]
fn torchs_files_of_both_formats() -> Result<()> {
    for (name, mmap) in [("zip.pt", false), ("zip.pt", true), ("legacy.pt", false)] {
        let all = pt::Archive::open(golden(name), mmap)?.tensors()?;
        let names: Vec<_> = all.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            ["model.weight", "model.part", "model.turned", "steps.0", "steps.1", "scale"],
            "{name}"
        );
        let numbers = le!(f32: 0., 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11.);
        check(&all[0].1, DType::F32, &[3, 4], &numbers);
        check(&all[1].1, DType::F32, &[2, 2], &le!(f32: 4., 6., 8., 10.));
        assert_eq!((all[1].1.strides(), all[1].1.storage_offset()), (&[4, 2][..], 4));
        check(&all[2].1, DType::F32, &[4, 3], &le!(f32: 0., 4., 8., 1., 5., 9., 2., 6., 10., 3., 7., 11.));
        assert!(all[0].1.shares_storage(&all[1].1) && all[0].1.shares_storage(&all[2].1));
        assert!(all[0].1.requires_grad() && !all[3].1.requires_grad());
        check(&all[3].1, DType::I64, &[2], &le!(i64: 7, -1));
        check(&all[4].1, DType::BF16, &[], &le!(u16: 0x3fc0));
        check(&all[5].1, DType::C64, &[1], &le!(f32: 1., -2.));
    }
    Ok(())
}

#[test]
fn what_is_written_reads_the_same() -> Result<()> {
    let folder = common::Folder::new("pt");
    let base = Tensor::from_vec((0..12).map(|i| i as f32).collect(), [3, 4])?;
    let given = [
        ("a", base.clone()),
        ("b", base.t()?),
        ("c.d", base.select(1, 2)?),
        ("e", common::counting(DType::U16, Layout::contiguous(&[3][..])?)),
        ("f", common::counting(DType::F32, Layout::contiguous(&[0, 2][..])?).requires_grad_(true)?),
    ];
    pt::write(folder.path("x.pt"), &given)?;
    for mmap in [false, true] {
        let read = pt::Archive::open(folder.path("x.pt"), mmap)?.tensors()?;
        for ((name, want), (found, got)) in given.iter().zip(&read) {
            assert_eq!(
                (name, want.strides(), want.requires_grad()),
                (&found.as_str(), got.strides(), got.requires_grad())
            );
            check(got, want.dtype(), want.shape(), &logical_bytes(want));
        }
        assert!(read[0].1.shares_storage(&read[2].1) && !read[0].1.shares_storage(&read[3].1));
    }
    assert_eq!(
        pt::write(folder.path("y.pt"), &[("a", &base), ("a", &base)]).err().map(|e| e.kind()),
        Some(Kind::Value)
    );
    assert_eq!(folder.names(), ["x.pt"]);
    Ok(())
}
