//! Writing torch's zip format.

use super::known;
use crate::fault::{Fault, Parsed};
use rushlight_core::mem::{Storage, with_bytes};
use rushlight_core::{DType, Kind, Result, Tensor};
use std::borrow::Borrow;
use std::collections::{BTreeSet, HashMap};
use std::io::{Cursor, Seek, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// torch maps storages where they lie, and wants them so.
const ALIGNMENT: u16 = 64;
const FOLDER: &str = "archive";

/// Writes tensors under their names, as torch's `save` writes a `state_dict`; replaces the file at once and
/// only when all went well. Tensors that share memory still do when they are read.
///
/// # Errors
/// `Value` for a name given twice; `Runtime` for memory that two dtypes share, or that is not the host's; `Io`
/// when the file cannot be written.
pub fn write(path: impl AsRef<Path>, tensors: &[(impl AsRef<str>, impl Borrow<Tensor>)]) -> Result<()> {
    let named: Vec<(&str, &Tensor)> = tensors.iter().map(|(n, t)| (n.as_ref(), t.borrow())).collect();
    let path = path.as_ref();
    let (pickle, storages) = state_dict(&named).map_err(|fault| fault.at("pt::write", path.display()))?;
    pack(Some(path), &pickle, &storages).map(drop)
}

/// torch's name for a storage whose elements are of `dtype`; `None` where it has none.
pub fn storage_name(dtype: DType) -> Option<&'static str> {
    known::storage_name(dtype)
}

/// Writes a pickle and the storages it names to a file, atomically, or to the bytes that are returned.
///
/// # Errors
/// `Io` when the file cannot be written; `Runtime` for memory that is not the host's.
pub fn pack(path: Option<&Path>, pickle: &[u8], storages: &[(String, Storage)]) -> Result<Option<Vec<u8>>> {
    match path {
        Some(path) => {
            let fill = |out: &mut _| fill(out, pickle, storages);
            crate::atomic::write(path, fill).map_err(|fault| fault.at("save", path.display()))?;
            Ok(None)
        }
        None => {
            let mut out = Cursor::new(Vec::new());
            fill(&mut out, pickle, storages).map_err(|fault| fault.at("save", "the buffer"))?;
            Ok(Some(out.into_inner()))
        }
    }
}

fn fill(out: &mut (impl Write + Seek), pickle: &[u8], storages: &[(String, Storage)]) -> Parsed<()> {
    let mut zip = ZipWriter::new(out);
    let mut put = |name: &str, bytes: &[u8]| -> Parsed<()> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(DateTime::default())
            .large_file(bytes.len() as u64 >= u64::from(u32::MAX))
            .with_alignment(ALIGNMENT);
        zip.start_file(format!("{FOLDER}/{name}"), options)?;
        Ok(zip.write_all(bytes)?)
    };
    put("data.pkl", pickle)?;
    put(".format_version", b"1")?;
    put(".storage_alignment", ALIGNMENT.to_string().as_bytes())?;
    put("byteorder", b"little")?;
    for (key, storage) in storages {
        with_bytes("save", storage, |bytes| put(&format!("data/{key}"), bytes))?
            .map_err(|fault: Fault| fault.within(key))?;
    }
    put("version", b"3\n")?;
    zip.finish()?;
    Ok(())
}

/// The pickle of an ordered dictionary of tensors, and the storages it names.
fn state_dict(tensors: &[(&str, &Tensor)]) -> Parsed<(Vec<u8>, Vec<(String, Storage)>)> {
    let mut out = b"\x80\x02ccollections\nOrderedDict\n)R(".to_vec();
    let mut keys: HashMap<usize, (usize, DType)> = HashMap::new();
    let mut storages = Vec::new();
    let mut seen = BTreeSet::new();
    for (name, t) in tensors {
        if !seen.insert(*name) {
            return Err(Fault::misuse(Kind::Value, format!("the name {name:?} is given twice")));
        }
        let next = keys.len();
        let (key, dtype) = *keys.entry(t.storage().id()).or_insert_with(|| {
            storages.push((next.to_string(), t.storage().clone()));
            (next, t.dtype())
        });
        if dtype != t.dtype() {
            let text = format!("{name:?} reads memory as {} that another tensor reads as {dtype}", t.dtype());
            return Err(Fault::misuse(Kind::Runtime, text));
        }
        text(&mut out, name);
        tensor(&mut out, t, key);
    }
    out.extend_from_slice(b"u.");
    Ok((out, storages))
}

fn tensor(out: &mut Vec<u8>, t: &Tensor, key: usize) {
    let named = known::storage_name(t.dtype());
    out.extend_from_slice(b"ctorch._utils\n_rebuild_tensor_");
    out.extend_from_slice(if named.is_some() { b"v2\n((" } else { b"v3\n((" });
    text(out, "storage");
    match named {
        Some(class) => out.extend_from_slice(format!("ctorch\n{class}\n").as_bytes()),
        None => out.extend_from_slice(b"ctorch.storage\nUntypedStorage\n"),
    }
    text(out, &key.to_string());
    text(out, "cpu");
    let width = if named.is_some() { t.element_size() } else { 1 };
    integer(out, (t.storage().nbytes() / width) as i64);
    out.extend_from_slice(b"tQ");
    integer(out, t.layout().offset() as i64);
    for list in [
        t.shape().iter().map(|n| *n as i64).collect::<Vec<_>>(),
        t.strides().iter().map(|s| *s as i64).collect(),
    ] {
        out.push(b'(');
        list.into_iter().for_each(|n| integer(out, n));
        out.push(b't');
    }
    out.push(if t.requires_grad() { 0x88 } else { 0x89 });
    out.extend_from_slice(b"ccollections\nOrderedDict\n)R");
    if named.is_none() {
        out.extend_from_slice(format!("ctorch\n{}\n", t.dtype().name()).as_bytes());
    }
    out.extend_from_slice(b"tR");
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.push(b'X');
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

fn integer(out: &mut Vec<u8>, n: i64) {
    out.extend_from_slice(&[0x8a, 8]);
    out.extend_from_slice(&n.to_le_bytes());
}
