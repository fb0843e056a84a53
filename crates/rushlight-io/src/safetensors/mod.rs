//! `.safetensors`: named tensors with a JSON header, made to be mapped into memory.
//!
//! Loading maps the file once, copy on write. Tensors use its pages without a copy, so that loading
//! takes no time and untouched weights no memory of their own; the system brings pages when they are
//! first read. Writing to a tensor changes this process's memory and never the file.
//!
//! **The file must stay as it is while tensors from it live.** If another process cuts it short,
//! reading a page that is gone ends this process with a bus error (`SIGBUS`), and if it writes into it,
//! tensors may change. Replacing the file by a new one under the same name, as [`save`] does, is safe.

mod header;

use crate::elements::{self, Order};
use crate::fault::{Fault, Parsed};
use crate::map::Mapped;
use header::{Entry, Header};
use rushlight_core::{DType, Kind, Layout, Result, Tensor};
use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// All tensors of a file with their names, in the order of their bytes; see the [module](self) on
/// sharing the file's memory.
///
/// A tensor whose bytes do not start at a multiple of its element's alignment is copied; files written
/// by [`save`] and by other current writers have no such tensor.
///
/// # Errors
/// As [`Archive::open`] and [`Archive::get`].
pub fn load(path: impl AsRef<Path>) -> Result<Vec<(String, Tensor)>> {
    let archive = Archive::open(path)?;
    archive.names().map(|name| Ok((name.to_string(), archive.get(name)?))).collect()
}

/// Opens a file for [`Archive::get`]: the same as [`Archive::open`].
///
/// # Errors
/// As [`Archive::open`].
pub fn open(path: impl AsRef<Path>) -> Result<Archive> {
    Archive::open(path)
}

/// A mapped safetensors file whose tensors are made one by one, when asked for.
///
/// Dropping it keeps the mapping as long as a tensor from it lives.
pub struct Archive {
    path: PathBuf,
    metadata: BTreeMap<String, String>,
    entries: Vec<Entry>,
    index: HashMap<String, usize>,
    mapped: Mapped,
}

impl Archive {
    /// Maps a file and checks its header: names, dtypes, shapes and places of all tensors.
    ///
    /// # Errors
    /// `Io`, naming the file and the tensor: it cannot be read or mapped, is shorter or longer than its
    /// header says, or the header is malformed, has a name twice, a shape that does not fit its bytes,
    /// or places that overlap or leave gaps.
    pub fn open(path: impl AsRef<Path>) -> Result<Archive> {
        let path = path.as_ref();
        Archive::new(path).map_err(|fault| fault.at("safetensors::open", path.display()))
    }

    fn new(path: &Path) -> Parsed<Archive> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        // From a copy of its own: what has been checked cannot change any more.
        let Header { metadata, entries, data_start } = Header::read(&mut file, length)?;
        let mapped =
            Mapped::new(&file, data_start, entries.iter().map(|entry| entry.bytes.clone()).collect())?;
        let index = entries.iter().enumerate().map(|(i, entry)| (entry.name.clone(), i)).collect();
        Ok(Archive { path: path.to_path_buf(), metadata, entries, index, mapped })
    }

    /// The names of the tensors, in the order of their bytes.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    /// The number of tensors.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no tensor.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What the writer noted besides the tensors.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// The shape of a tensor, without making it; `None` when there is no such tensor.
    pub fn shape(&self, name: &str) -> Option<&[usize]> {
        self.index.get(name).map(|&i| self.entries[i].shape.as_slice())
    }

    /// The dtype of a tensor, without making it; `None` when there is no such tensor, or none of
    /// rushlight's dtypes is its.
    pub fn dtype(&self, name: &str) -> Option<DType> {
        self.index.get(name).and_then(|&i| self.entries[i].dtype())
    }

    /// The tensor called `name`. All tensors that one archive gives for one name share memory.
    ///
    /// # Errors
    /// `Value` when there is no such tensor; `Io`, naming file and tensor, when its dtype has no
    /// counterpart here.
    pub fn get(&self, name: &str) -> Result<Tensor> {
        self.tensor(name).map_err(|fault| fault.within(name).at("safetensors::get", self.path.display()))
    }

    fn tensor(&self, name: &str) -> Parsed<Tensor> {
        let Some(&i) = self.index.get(name) else {
            let first: Vec<_> = self.names().take(10).collect();
            let text = format!("there is no such tensor; the file has {}, among them {first:?}", self.len());
            return Err(Fault::misuse(Kind::Value, text));
        };
        let entry = &self.entries[i];
        let Some(dtype) = entry.dtype() else {
            return Err(Fault::bad(format!("has dtype {}, which rushlight does not know", entry.stored)));
        };
        let storage = self.mapped.storage(i, dtype.real().size())?;
        Ok(Tensor::from_storage(storage, Layout::contiguous(entry.shape.as_slice())?, dtype)?)
    }
}

/// Writes tensors under their names, and `metadata` beside them; replaces the file at once and only
/// when all went well. The same input gives the same bytes.
///
/// Tensors are ordered by size of element and then by name, and the data starts at a multiple of 64, so
/// that every tensor can be used in place. Tensors that share memory are written one by one, and none is
/// copied as a whole first. Takes
/// `&[(&str, &Tensor)]` as well as what [`load`] gives.
///
/// # Errors
/// `Value` for a name given twice, or the name `__metadata__`; `Type` for `complex128`, which the format
/// cannot name; `Runtime` for a tensor without memory; `Io` when the file cannot be written.
pub fn save(
    path: impl AsRef<Path>,
    tensors: &[(impl AsRef<str>, impl Borrow<Tensor>)],
    metadata: &BTreeMap<String, String>,
) -> Result<()> {
    let path = path.as_ref();
    let mut sorted: Vec<(&str, &Tensor)> = tensors.iter().map(|(n, t)| (n.as_ref(), t.borrow())).collect();
    sorted.sort_by(|(a, x), (b, y)| y.element_size().cmp(&x.element_size()).then(a.cmp(b)));
    let write = || {
        let header = header::format(&sorted, metadata)?;
        crate::atomic::write(path, |out| {
            out.write_all(&header)?;
            for (name, tensor) in &sorted {
                elements::write("safetensors::save", tensor, Order::RowMajor, out)
                    .map_err(|fault| fault.within(name))?;
            }
            Ok(())
        })
    };
    write().map_err(|fault| fault.at("safetensors::save", path.display()))
}
