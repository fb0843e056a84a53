//! The two containers, and tensors made from what they hold.

use super::pickle::run;
use super::tree::{Id, Node, StorageRef, TensorRef, Tree};
use crate::body;
use crate::fault::{Fault, Parsed, refuse};
use crate::map::Mapped;
use rushlight_core::mem::{Block, Storage};
use rushlight_core::{DType, Layout, Result, Tensor};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use zip::{CompressionMethod, ZipArchive};

/// Deflate turns no byte into more than this many.
const DEFLATE_LIMIT: u64 = 1032;
/// What files before torch 1.6 begin with: 0x1950a86a20f9469cfc6c.
const MAGIC: [u8; 10] = [0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19];

trait Source: Read + Seek + Send {}
impl<T: Read + Seek + Send> Source for T {}
type Zip = ZipArchive<Box<dyn Source>>;

/// An open file of torch's.
pub struct Archive {
    place: String,
    tree: Tree,
    container: Container,
    /// Storages made so far, by key.
    made: Mutex<HashMap<String, Storage>>,
}

enum Container {
    Zip {
        zip: Mutex<Zip>,
        length: u64,
        folder: String,
        big: bool,
        mapped: Option<(Mapped, HashMap<String, usize>)>,
    },
    Legacy {
        bytes: Vec<u8>,
        parts: HashMap<String, Range<usize>>,
        big: bool,
    },
}

impl Archive {
    /// Opens a file and reads its pickle, but no tensor's memory yet. With `mmap`, tensors use the pages of the
    /// file, copy on write, as those of [`safetensors`](crate::safetensors) do; only files of today's format can.
    ///
    /// # Errors
    /// `Io`, naming the file: it cannot be read, is none of torch's, is damaged, or names what is no data.
    pub fn open(path: impl AsRef<Path>, mmap: bool) -> Result<Archive> {
        let path = path.as_ref();
        let open = || {
            let file = File::open(path)?;
            let mapping = if mmap { Some(file.try_clone()?) } else { None };
            Archive::new(Box::new(BufReader::new(file)), mapping)
        };
        let place = path.display().to_string();
        open().map(|a| Archive { place: place.clone(), ..a }).map_err(|fault| fault.at("load", place))
    }

    /// Opens a file that is in memory.
    ///
    /// # Errors
    /// As [`Archive::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Archive> {
        Archive::new(Box::new(Cursor::new(bytes)), None).map_err(|fault| fault.at("load", "the bytes"))
    }

    fn new(mut source: Box<dyn Source>, mapping: Option<File>) -> Parsed<Archive> {
        let length = source.seek(SeekFrom::End(0))?;
        source.seek(SeekFrom::Start(0))?;
        let mut head = Vec::new();
        source.by_ref().take(4).read_to_end(&mut head)?;
        source.seek(SeekFrom::Start(0))?;
        let (tree, container) = match head.as_slice() {
            b"PK\x03\x04" => zipped(ZipArchive::new(source)?, length, mapping)?,
            _ if mapping.is_some() => {
                refuse!(
                    "cannot be mapped: it is no zip file, as torch writes since 1.6; load it without mmap"
                )
            }
            [0x80, ..] => legacy(source)?,
            _ => refuse!("is no file of torch's: it begins neither as a zip archive nor as a pickle"),
        };
        let made = Mutex::new(HashMap::new());
        Ok(Archive { place: "the bytes".into(), tree, container, made })
    }

    /// What was saved.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The name and description of every tensor, without its memory.
    ///
    /// # Errors
    /// `Io` for a file whose values have more names than could be listed.
    pub fn names(&self) -> Result<Vec<(String, TensorRef)>> {
        self.tree.tensors().map_err(|fault| fault.at("load", &self.place))
    }

    /// Every tensor under its name.
    ///
    /// # Errors
    /// As [`Archive::names`] and [`Archive::tensor`].
    pub fn tensors(&self) -> Result<Vec<(String, Tensor)>> {
        let make = |(name, t): (String, TensorRef)| {
            let made = self.make(&t).map_err(|fault| fault.within(&name).at("load", &self.place))?;
            Ok((name, made))
        };
        self.names()?.into_iter().map(make).collect()
    }

    /// A tensor of the [tree](Archive::tree). Those over one storage share it.
    ///
    /// # Errors
    /// `Io`, naming the file and the entry: memory is missing or damaged, or the tensor reaches beyond it.
    pub fn tensor(&self, t: &TensorRef) -> Result<Tensor> {
        self.make(t).map_err(|fault| fault.at("load", &self.place))
    }

    /// The memory that a node is; `None` if it is none.
    ///
    /// # Errors
    /// As [`Archive::tensor`].
    pub fn storage(&self, id: Id) -> Result<Option<Storage>> {
        match self.tree.nodes.get(id) {
            Some(Node::Storage(s)) => self.memory(s).map(Some).map_err(|fault| fault.at("load", &self.place)),
            _ => Ok(None),
        }
    }

    fn make(&self, t: &TensorRef) -> Parsed<Tensor> {
        let Node::Storage(s) = &self.tree.nodes[t.storage] else { refuse!("a tensor without memory") };
        let storage = self.memory(s).map_err(|fault| fault.within(&format!("data/{}", s.key)))?;
        if t.stride.iter().any(|s| *s < 0) {
            refuse!("strides {:?} go backwards", t.stride);
        }
        let Some(offset) = t.offset.checked_add(s.start) else { refuse!("an offset of {}", t.offset) };
        let made = Layout::new(t.size.as_slice(), t.stride.as_slice(), offset)
            .and_then(|layout| Tensor::from_storage(storage, layout, t.dtype));
        let tensor = made.map_err(|e| Fault::bad(e.text()))?;
        let trains = t.requires_grad && (t.dtype.is_float() || t.dtype.is_complex());
        Ok(if trains { tensor.requires_grad_(true)? } else { tensor })
    }

    fn memory(&self, s: &StorageRef) -> Parsed<Storage> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = made.get(&s.key) {
            return Ok(found.clone());
        }
        let width = s.dtype.map_or(1, DType::size);
        let storage = match &self.container {
            Container::Zip { mapped: Some((mapped, parts)), big: false, .. } => match parts.get(&s.key) {
                Some(part) => mapped.storage(*part, s.dtype.map_or(16, |d| d.real().size()))?,
                None => refuse!("is not in the file"),
            },
            Container::Zip { zip, length, folder, big, .. } => {
                let mut zip = zip.lock().unwrap_or_else(PoisonError::into_inner);
                let mut block = entry(&mut zip, *length, &format!("{folder}data/{}", s.key))?;
                if *big {
                    body::swap_bytes(block.as_mut_slice(), s.dtype.map_or(1, |d| d.real().size()));
                }
                body::storage(block)?
            }
            Container::Legacy { bytes, parts, big } => {
                let Some(part) = parts.get(&s.key) else { refuse!("is not in the file") };
                let mut block = Block::new(part.len())?;
                block.as_mut_slice().copy_from_slice(&bytes[part.clone()]);
                if *big {
                    body::swap_bytes(block.as_mut_slice(), s.dtype.map_or(1, |d| d.real().size()));
                }
                body::storage(block)?
            }
        };
        let needed = s.start.checked_add(s.len).and_then(|n| n.checked_mul(width));
        if needed.is_none_or(|n| n > storage.nbytes()) {
            refuse!(
                "has {} bytes where {} elements of {width} bytes are said to be",
                storage.nbytes(),
                s.len
            );
        }
        made.insert(s.key.clone(), storage.clone());
        Ok(storage)
    }
}

/// One entry's bytes, checked against what the file can hold and against its checksum.
fn entry(zip: &mut Zip, length: u64, name: &str) -> Parsed<Block> {
    let mut entry = match zip.by_name(name) {
        Ok(entry) => entry,
        Err(zip::result::ZipError::FileNotFound) => refuse!("has no entry {name:?}"),
        Err(error) => return Err(error.into()),
    };
    let size = entry.size();
    let limit = if entry.compression() == CompressionMethod::Stored { 1 } else { DEFLATE_LIMIT };
    let possible = entry.compressed_size().min(length).saturating_mul(limit);
    if size > possible {
        refuse!(
            "entry {name:?} claims to have {size} bytes, and what is in the file makes {possible} at most"
        );
    }
    let Ok(bytes) = usize::try_from(size) else { refuse!("entry {name:?} is larger than memory") };
    let block = body::read_block(&mut entry, bytes, Some(size)).map_err(|fault| fault.within(name))?;
    // The checksum is looked at where the data ends, so that end must be seen.
    if entry.read(&mut [0]).map_err(|e| Fault::from(e).within(name))? != 0 {
        refuse!("entry {name:?} has more bytes than it says");
    }
    Ok(block)
}

fn zipped(mut zip: Zip, length: u64, mapping: Option<File>) -> Parsed<(Tree, Container)> {
    if zip.has_duplicate_names() {
        refuse!("has two entries of one name");
    }
    let mut folder = None;
    for name in zip.file_names() {
        let name = name?;
        if let Some(before) = name.strip_suffix("data.pkl").filter(|f| f.is_empty() || f.ends_with('/')) {
            folder = Some(before.to_string());
            break;
        }
    }
    let Some(folder) = folder else {
        refuse!(
            "is a zip archive without a data.pkl, so none of torch's (NumPy's .npz, or a scripted module?)"
        )
    };
    if zip.index_for_name(&format!("{folder}constants.pkl")).is_some() {
        refuse!("is a scripted module (torch.jit.save), which is a program; save its state_dict() instead");
    }
    let pickle = entry(&mut zip, length, &format!("{folder}data.pkl"))?;
    let (tree, _) = run(pickle.as_slice()).map_err(|fault| fault.within("data.pkl"))?;
    let order = format!("{folder}byteorder");
    let big = zip.index_for_name(&order).is_some() && entry(&mut zip, length, &order)?.as_slice() == b"big";
    let mapped = match mapping {
        Some(file) => Some(map(&mut zip, &file, &folder)?),
        None => None,
    };
    Ok((tree, Container::Zip { zip: Mutex::new(zip), length, folder, big, mapped }))
}

/// Maps the memory of all storages.
fn map(zip: &mut Zip, file: &File, folder: &str) -> Parsed<(Mapped, HashMap<String, usize>)> {
    let prefix = format!("{folder}data/");
    let mut places = BTreeMap::new();
    for i in 0..zip.len() {
        let entry = zip.by_index_raw(i)?;
        let name = entry.name()?.to_string();
        let Some(key) = name.strip_prefix(&prefix).map(str::to_string) else { continue };
        if entry.compression() != CompressionMethod::Stored {
            refuse!(
                "entry {:?} is compressed, so that it cannot be mapped; load it without mmap",
                entry.name()
            );
        }
        let (start, size) = (entry.data_start().unwrap_or(u64::MAX), entry.size());
        let range =
            usize::try_from(start).ok().zip(start.checked_add(size).and_then(|e| usize::try_from(e).ok()));
        let Some((from, to)) = range else { refuse!("entry {key:?} lies beyond all memory") };
        places.insert((from, to), key);
    }
    let parts = places.keys().map(|(from, to)| *from..*to).collect();
    let mapped = Mapped::new(file, 0, parts)?;
    Ok((mapped, places.into_values().enumerate().map(|(i, key)| (key, i)).collect()))
}

/// A magic number, a version, what kind of machine wrote it, the value, the storages' names, and for each
/// of them its length and elements.
fn legacy(mut source: Box<dyn Source>) -> Parsed<(Tree, Container)> {
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes)?;
    let mut at = 0;
    let mut next = |what: &str| -> Parsed<Tree> {
        let (tree, taken) = run(&bytes[at..]).map_err(|fault| fault.within(what))?;
        at += taken;
        Ok(tree)
    };
    let magic = next("the first value")?;
    match &magic.nodes[magic.root] {
        Node::Big(found) if found.as_slice() == MAGIC => {}
        // A pickle and nothing else: data all the same, if there is data only in it.
        _ => return Ok((magic, Container::Legacy { bytes: Vec::new(), parts: HashMap::new(), big: false })),
    }
    let version = next("the version")?;
    if !matches!(version.nodes[version.root], Node::Int(1001)) {
        refuse!("is of a version of torch's old format that is not known");
    }
    let system = next("the system's description")?;
    let big = match &system.nodes[system.root] {
        Node::Dict(map) => map.items.iter().any(|(key, value)| {
            matches!(&system.nodes[*key], Node::Text(t) if t == "little_endian")
                && matches!(system.nodes[*value], Node::Bool(false))
        }),
        _ => false,
    };
    let tree = next("the value")?;
    let keys = next("the storages' names")?;
    let Node::List(list) = &keys.nodes[keys.root] else { refuse!("the storages' names are no list") };
    let widths: HashMap<&str, usize> = tree
        .nodes
        .iter()
        .filter_map(|node| match node {
            Node::Storage(s) => Some((s.key.as_str(), s.dtype.map_or(1, DType::size))),
            _ => None,
        })
        .collect();
    let mut parts = HashMap::new();
    for id in list {
        let key = match &keys.nodes[*id] {
            Node::Text(key) => key.clone(),
            Node::Int(n) => n.to_string(),
            _ => refuse!("a storage's name is no text"),
        };
        let width = widths.get(key.as_str()).copied().unwrap_or(1);
        let part = |at: usize| -> Option<Range<usize>> {
            let start = at.checked_add(8)?;
            let count = u64::from_le_bytes(bytes.get(at..start)?.try_into().ok()?);
            let count = if big { count.swap_bytes() } else { count };
            let end = start.checked_add(usize::try_from(count).ok()?.checked_mul(width)?)?;
            (end <= bytes.len()).then_some(start..end)
        };
        let Some(range) = part(at) else { refuse!("ends before the memory of storage {key:?} does") };
        at = range.end;
        parts.insert(key, range);
    }
    Ok((tree, Container::Legacy { bytes, parts, big }))
}
