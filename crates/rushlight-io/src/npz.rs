//! NumPy's `.npz`: a zip archive of `.npy` files, each a named array.
//!
//! Entries may be stored or deflated. An entry that is no `.npy` file is no array and is passed over.

use crate::fault::{Fault, Parsed, refuse};
use crate::npy;
use rushlight_core::{Kind, Result, Tensor};
use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

const SUFFIX: &str = ".npy";
/// Deflate turns no byte into more than this many: 258 bytes take two bits at least.
const DEFLATE_LIMIT: u64 = 1032;

/// All arrays of a file with their names, in the file's order.
///
/// # Errors
/// As [`Archive::open`] and [`Archive::get`].
pub fn read(path: impl AsRef<Path>) -> Result<Vec<(String, Tensor)>> {
    let archive = Archive::open(path)?;
    archive.names().iter().map(|name| Ok((name.clone(), archive.get(name)?))).collect()
}

/// An npz file whose arrays are read one by one, when asked for.
///
/// Can be used from several threads; they take turns.
pub struct Archive {
    path: PathBuf,
    names: Vec<String>,
    index: BTreeMap<String, usize>,
    /// Of the whole file: no entry has more bytes in it.
    length: u64,
    zip: Mutex<ZipArchive<BufReader<File>>>,
}

impl Archive {
    /// Opens a file and reads its table of contents. Names that are not UTF-8 are taken as code page
    /// 437, zip's first.
    ///
    /// # Errors
    /// `Io`, naming the file: it cannot be read, is no zip archive, or has two entries of one name.
    pub fn open(path: impl AsRef<Path>) -> Result<Archive> {
        let path = path.as_ref();
        Archive::new(path).map_err(|fault| fault.at("npz::open", path.display()))
    }

    fn new(path: &Path) -> Parsed<Archive> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let zip = ZipArchive::new(BufReader::new(file))?;
        if zip.has_duplicate_names() {
            refuse!("has two entries of one name");
        }
        let mut names = Vec::new();
        let mut index = BTreeMap::new();
        for (i, name) in zip.file_names().enumerate() {
            let name = name?;
            let Some(name) = name.strip_suffix(SUFFIX) else { continue };
            // Two spellings of one name in bytes can be one name in text.
            if index.insert(name.to_string(), i).is_some() {
                refuse!("has two entries named {name:?}");
            }
            names.push(name.to_string());
        }
        Ok(Archive { path: path.to_path_buf(), names, index, length, zip: Mutex::new(zip) })
    }

    /// The names of the arrays, without `.npy`, in the file's order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Reads the array called `name`. Each call gives a tensor with memory of its own.
    ///
    /// # Errors
    /// `Value` when there is no such array; `Io`, naming file and array, for what
    /// [`npy::read`] refuses, for sizes that cannot be true and for a wrong checksum.
    pub fn get(&self, name: &str) -> Result<Tensor> {
        self.parse(name).map_err(|fault| fault.within(name).at("npz::get", self.path.display()))
    }

    fn parse(&self, name: &str) -> Parsed<Tensor> {
        let Some(&index) = self.index.get(name) else {
            let text = format!("there is no such array; the file has {:?}", self.names);
            return Err(Fault::misuse(Kind::Value, text));
        };
        // A panic elsewhere leaves the archive usable: every read starts with a seek.
        let mut zip = self.zip.lock().unwrap_or_else(PoisonError::into_inner);
        let mut entry = zip.by_index(index)?;
        let size = entry.size();
        let limit = match entry.compression() {
            CompressionMethod::Stored => 1,
            _ => DEFLATE_LIMIT,
        };
        let possible = entry.compressed_size().min(self.length).saturating_mul(limit);
        if size > possible {
            refuse!("claims to have {size} bytes, and what is in the file makes {possible} at most");
        }
        let tensor = npy::parse(&mut entry, Some(size))?;
        // The checksum is looked at where the data ends, so that end must be seen.
        if entry.read(&mut [0])? != 0 {
            refuse!("has more bytes than its shape {:?} of {} needs", tensor.shape(), tensor.dtype());
        }
        Ok(tensor)
    }
}

/// Writes tensors under their names, uncompressed; replaces the file at once and only when all went
/// well. The same tensors give the same bytes.
///
/// Takes `&[(&str, &Tensor)]` as well as what [`read`] gives.
///
/// # Errors
/// `Value` for a name given twice; else as [`npy::write`].
pub fn write(path: impl AsRef<Path>, tensors: &[(impl AsRef<str>, impl Borrow<Tensor>)]) -> Result<()> {
    save("npz::write", path.as_ref(), tensors, CompressionMethod::Stored)
}

/// As [`write()`], with each array deflated.
///
/// # Errors
/// As [`write()`].
pub fn write_compressed(
    path: impl AsRef<Path>,
    tensors: &[(impl AsRef<str>, impl Borrow<Tensor>)],
) -> Result<()> {
    save("npz::write_compressed", path.as_ref(), tensors, CompressionMethod::Deflated)
}

fn save(
    op: &'static str,
    path: &Path,
    tensors: &[(impl AsRef<str>, impl Borrow<Tensor>)],
    method: CompressionMethod,
) -> Result<()> {
    let fill = |out: &mut _| {
        let mut zip = ZipWriter::new(out);
        let mut seen = BTreeSet::new();
        for (name, tensor) in tensors {
            let (name, tensor) = (name.as_ref(), tensor.borrow());
            if !seen.insert(name) {
                return Err(Fault::misuse(Kind::Value, format!("the name {name:?} is given twice")));
            }
            put(op, &mut zip, name, tensor, method).map_err(|fault| fault.within(name))?;
        }
        zip.finish()?;
        Ok(())
    };
    crate::atomic::write(path, fill).map_err(|fault| fault.at(op, path.display()))
}

fn put<W: std::io::Write + std::io::Seek>(
    op: &'static str,
    zip: &mut ZipWriter<W>,
    name: &str,
    tensor: &Tensor,
    method: CompressionMethod,
) -> Parsed<()> {
    // With room for the header, and for deflate making incompressible data a little longer.
    let large = tensor.nbytes() as u64 > u64::from(u32::MAX) - (32 << 20);
    let options = SimpleFileOptions::default()
        .compression_method(method)
        .last_modified_time(DateTime::default())
        .large_file(large);
    zip.start_file(format!("{name}{SUFFIX}"), options)?;
    npy::put(op, tensor, zip)
}
