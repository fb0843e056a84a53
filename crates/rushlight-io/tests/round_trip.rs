//! What is written is read again, whatever the dtype and the layout.

mod common;

use common::{Folder, counting, layouts, logical_bytes};
use rushlight_core::mem::{OwnerKind, with_bytes_mut};
use rushlight_core::{DType, Kind, Layout, Result, Tensor};
use rushlight_io::{npy, npz, safetensors};
use std::collections::BTreeMap;
use std::fs;

#[track_caller]
fn same(read: &Tensor, written: &Tensor) {
    assert_eq!((read.dtype(), read.shape()), (written.dtype(), written.shape()));
    assert_eq!(logical_bytes(read), logical_bytes(written), "{:?}", written.layout());
}

fn no_metadata() -> BTreeMap<String, String> {
    BTreeMap::new()
}

/// Tensors of all layouts and of the dtypes that `named` accepts.
fn tensors(named: impl Fn(DType) -> bool) -> Vec<(String, Tensor)> {
    let mut all = Vec::new();
    for &dtype in DType::ALL.iter().filter(|dtype| named(**dtype)) {
        for (i, layout) in layouts().into_iter().enumerate() {
            all.push((format!("{dtype}/{i}"), counting(dtype, layout)));
        }
    }
    all
}

#[test]
fn npy_of_every_dtype_and_layout() -> Result<()> {
    let folder = Folder::new("npy");
    for (_, tensor) in tensors(|dtype| dtype.npy_name().is_some()) {
        npy::write(folder.path("x.npy"), &tensor)?;
        same(&npy::read(folder.path("x.npy"))?, &tensor);
        let mut bytes = Vec::new();
        npy::write_to(&mut bytes, &tensor)?;
        assert_eq!(bytes, fs::read(folder.path("x.npy")).unwrap());
        same(&npy::read_from(bytes.as_slice())?, &tensor);
    }
    assert_eq!(folder.names(), ["x.npy"]);
    Ok(())
}

#[test]
fn npy_keeps_column_major_order() -> Result<()> {
    let tensor = counting(DType::F32, Layout::new(&[3, 2][..], &[1, 3][..], 2)?);
    let mut bytes = Vec::new();
    npy::write_to(&mut bytes, &tensor)?;
    let read = npy::read_from(bytes.as_slice())?;
    assert_eq!(read.strides(), [1, 3]);
    same(&read, &tensor);
    Ok(())
}

#[test]
fn npz_of_every_dtype_and_layout() -> Result<()> {
    let folder = Folder::new("npz");
    let all = tensors(|dtype| dtype.npy_name().is_some());
    npz::write(folder.path("stored.npz"), &all)?;
    npz::write_compressed(folder.path("deflated.npz"), &all)?;
    for name in ["stored.npz", "deflated.npz"] {
        let read = npz::read(folder.path(name))?;
        assert_eq!(read.len(), all.len());
        for ((read_name, read), (name, tensor)) in read.iter().zip(&all) {
            assert_eq!(read_name, name);
            same(read, tensor);
        }
    }
    Ok(())
}

#[test]
fn safetensors_of_every_dtype_and_layout() -> Result<()> {
    let folder = Folder::new("safetensors");
    let path = folder.path("x.safetensors");
    let all = tensors(|dtype| dtype.safetensors_name().is_some());
    let metadata =
        BTreeMap::from([("format".to_string(), "pt".to_string()), ("ü\"\\".to_string(), String::new())]);
    safetensors::save(&path, &all, &metadata)?;
    let archive = safetensors::open(&path)?;
    assert_eq!(archive.metadata(), &metadata);
    assert_eq!(archive.len(), all.len());
    for (name, tensor) in &all {
        let read = archive.get(name)?;
        same(&read, tensor);
        assert!(
            read.numel() == 0 || read.storage().owner_kind() == OwnerKind::Foreign("mmap"),
            "{name} was copied"
        );
        assert_eq!((archive.shape(name), archive.dtype(name)), (Some(tensor.shape()), Some(tensor.dtype())));
    }
    Ok(())
}

#[test]
fn equal_tensors_give_equal_files_in_any_order() -> Result<()> {
    let folder = Folder::new("equal");
    let (a, b) = (
        counting(DType::U8, Layout::contiguous(&[3][..])?),
        counting(DType::F32, Layout::contiguous(&[2][..])?),
    );
    let metadata = (0..20).map(|i| (i.to_string(), "x".to_string())).collect();
    safetensors::save(folder.path("1"), &[("a", &a), ("b", &b)], &metadata)?;
    safetensors::save(folder.path("2"), &[("b", &b), ("a", &a)], &metadata)?;
    assert_eq!(fs::read(folder.path("1")).unwrap(), fs::read(folder.path("2")).unwrap());
    npz::write(folder.path("3"), &[("a", &a), ("b", &b)])?;
    npz::write(folder.path("4"), &[("a", &a), ("b", &b)])?;
    assert_eq!(fs::read(folder.path("3")).unwrap(), fs::read(folder.path("4")).unwrap());
    Ok(())
}

#[test]
fn nothing_at_all_is_a_file_too() -> Result<()> {
    let folder = Folder::new("nothing");
    let none: [(&str, &Tensor); 0] = [];
    safetensors::save(folder.path("s"), &none, &no_metadata())?;
    assert!(safetensors::load(folder.path("s"))?.is_empty());
    npz::write(folder.path("z"), &none)?;
    assert!(npz::read(folder.path("z"))?.is_empty());
    Ok(())
}

#[test]
fn writes_to_a_mapped_tensor_stay_in_memory() -> Result<()> {
    let folder = Folder::new("private");
    let path = folder.path("x.safetensors");
    let [a, b] = [4, 6].map(|n| counting(DType::F32, Layout::contiguous(&[n][..]).unwrap()));
    safetensors::save(&path, &[("a", &a), ("b", &b)], &no_metadata())?;
    let before = fs::read(&path).unwrap();
    let archive = safetensors::open(&path)?;
    let (first, again) = (archive.get("a")?, archive.get("a")?);
    with_bytes_mut("test", first.storage(), |bytes| bytes.fill(9))?;
    assert_eq!(logical_bytes(&again), [9; 16], "one archive gives one memory for one name");
    same(&archive.get("b")?, &b);
    assert_eq!(fs::read(&path).unwrap(), before);
    drop(archive);
    assert_eq!(logical_bytes(&first), [9; 16]);
    same(&safetensors::open(&path)?.get("a")?, &a);
    Ok(())
}

#[test]
fn saving_over_the_file_that_tensors_are_mapped_from() -> Result<()> {
    let folder = Folder::new("over");
    let path = folder.path("x.safetensors");
    let tensor = counting(DType::I64, Layout::contiguous(&[1000][..])?);
    safetensors::save(&path, &[("x", &tensor)], &no_metadata())?;
    let loaded = safetensors::load(&path)?;
    safetensors::save(&path, &loaded, &no_metadata())?;
    safetensors::save(&path, &[("x", &counting(DType::U8, Layout::scalar()))], &no_metadata())?;
    same(&loaded[0].1, &tensor);
    assert_eq!(folder.names(), ["x.safetensors"]);
    Ok(())
}

#[test]
fn tensors_that_lie_askew_are_copied_once() -> Result<()> {
    let folder = Folder::new("askew");
    let path = folder.path("x.safetensors");
    let header = br#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}}"#;
    let data = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    fs::write(&path, [&(header.len() as u64).to_le_bytes()[..], header, &data].concat()).unwrap();
    let archive = safetensors::open(&path)?;
    assert_eq!(archive.get("a")?.storage().owner_kind(), OwnerKind::Foreign("mmap"));
    let b = archive.get("b")?;
    let start = 8 + header.len() + 1;
    let mapped = start.is_multiple_of(4);
    assert_eq!(b.storage().owner_kind() == OwnerKind::Foreign("mmap"), mapped);
    assert_eq!(logical_bytes(&b), data[1..]);
    assert!(b.storage().same(archive.get("b")?.storage()));
    assert!(!mapped, "the header of this test must put b askew");
    Ok(())
}

#[test]
fn what_a_format_cannot_hold_is_refused_and_leaves_no_file() -> Result<()> {
    let folder = Folder::new("refused");
    let (half, wave) = (counting(DType::BF16, Layout::scalar()), counting(DType::C128, Layout::scalar()));
    let fine = counting(DType::F32, Layout::scalar());
    let path = folder.path("x");
    let results = [
        (Kind::Type, npy::write(&path, &half)),
        (Kind::Type, npz::write(&path, &[("half", &half)])),
        (Kind::Type, safetensors::save(&path, &[("wave", &wave)], &no_metadata())),
        (Kind::Value, npz::write(&path, &[("a", &fine), ("a", &fine)])),
        (Kind::Value, safetensors::save(&path, &[("a", &fine), ("a", &fine)], &no_metadata())),
        (Kind::Value, safetensors::save(&path, &[("__metadata__", &fine)], &no_metadata())),
        (Kind::Io, npy::write(folder.path("no/folder"), &fine)),
        (Kind::Io, npy::write(&folder, &fine)),
    ];
    for (kind, result) in results {
        let error = result.err().unwrap();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.text().contains("rushlight-io-refused"), "names the file: {error}");
    }
    assert!(folder.names().is_empty());
    Ok(())
}

#[test]
fn a_tensor_whose_storage_shrank_is_refused() -> Result<()> {
    let folder = Folder::new("shrank");
    let tensor = counting(DType::F32, Layout::new(&[2, 3][..], &[1, 2][..], 1)?);
    tensor.storage().resize(24)?;
    let error = npy::write(folder.path("x"), &tensor).err().unwrap();
    assert_eq!(error.kind(), Kind::Runtime);
    assert!(folder.names().is_empty());
    Ok(())
}

#[test]
fn large_tensors_without_order_go_out_in_pieces() -> Result<()> {
    let tensor = counting(DType::U16, Layout::new(&[100, 999, 3][..], &[1, 100, 99_900][..], 3)?);
    let tensor =
        Tensor::from_storage(tensor.storage().clone(), tensor.layout().permute(&[1, 0, 2])?, DType::U16)?;
    let mut bytes = Vec::new();
    npy::write_to(&mut bytes, &tensor)?;
    same(&npy::read_from(bytes.as_slice())?, &tensor);
    Ok(())
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let folder = Folder::new("absent");
    let path = folder.path("absent.file");
    let errors = [
        npy::read(&path).err(),
        npz::Archive::open(&path).err(),
        npz::read(&path).err(),
        safetensors::open(&path).err(),
        safetensors::load(&path).err(),
    ];
    for error in errors {
        let error = error.unwrap();
        assert_eq!(error.kind(), Kind::Io);
        assert!(error.text().contains("absent.file"), "{error}");
    }
}
