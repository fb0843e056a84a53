//! The JSON header of a safetensors file, and everything it must satisfy.

use crate::MAX_RANK;
use crate::fault::{Fault, Parsed, refuse};
use rushlight_core::layout::checked_numel;
use rushlight_core::{DType, Kind, Tensor};
use safetensors::Dtype;
use safetensors::tensor::TensorInfo;
use serde::de::{Deserialize, Deserializer, Error as _, IntoDeserializer, MapAccess, Visitor, value};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::io::Read;
use std::ops::Range;

const METADATA: &str = "__metadata__";
/// Bytes of the number that says how long the header is.
const PREFIX: usize = 8;
/// The format's own limit.
const MAX_LENGTH: usize = 100_000_000;
/// Data starts at a multiple of this, so that a mapped file is aligned for any SIMD.
const ALIGN: usize = 64;

/// What a file says about its tensors, checked.
pub(super) struct Header {
    pub(super) metadata: BTreeMap<String, String>,
    /// In the order of their bytes.
    pub(super) entries: Vec<Entry>,
    /// Where in the file the places of the entries count from.
    pub(super) data_start: usize,
}

/// One tensor.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) stored: Dtype,
    pub(super) shape: Vec<usize>,
    /// Its bytes, counted from the start of the data.
    pub(super) bytes: Range<usize>,
}

impl Entry {
    /// Its dtype, if rushlight has it.
    pub(super) fn dtype(&self) -> Option<DType> {
        let stored = self.stored.to_string();
        DType::ALL.iter().copied().find(|dtype| dtype.safetensors_name() == Some(&stored))
    }
}

impl Header {
    /// Reads the header of a file of `length` bytes.
    pub(super) fn read(file: &mut impl Read, length: u64) -> Parsed<Header> {
        let mut prefix = [0; PREFIX];
        file.read_exact(&mut prefix)?;
        let size = u64::from_le_bytes(prefix);
        let data_start = size.saturating_add(PREFIX as u64);
        if data_start > length || size > MAX_LENGTH as u64 {
            refuse!("is no safetensors file: its header would have {size} bytes and the file has {length}");
        }
        let mut text = vec![0; size as usize];
        file.read_exact(&mut text)?;
        let Ok(text) = str::from_utf8(&text) else {
            refuse!("has a header that is not UTF-8 text");
        };
        let Listing { metadata, mut tensors } = match serde_json::from_str(text) {
            Ok(listing) => listing,
            Err(error) => refuse!("has a malformed header: {error}"),
        };
        tensors.sort_by_key(|(_, info)| info.data_offsets);
        Ok(Header {
            metadata,
            entries: entries(tensors, length - data_start)?,
            data_start: data_start as usize,
        })
    }
}

/// Checks tensors sorted by place: together they cover all `data` bytes, each byte once.
fn entries(tensors: Vec<(String, TensorInfo)>, data: u64) -> Parsed<Vec<Entry>> {
    let mut next = 0;
    let mut entries = Vec::with_capacity(tensors.len());
    for (name, TensorInfo { dtype, shape, data_offsets: (start, end) }) in tensors {
        if start != next || end < start || end as u64 > data {
            refuse!(
                "{name:?}: its bytes {start} to {end} do not follow byte {next} within the {data} there are"
            );
        }
        next = end;
        if shape.len() > MAX_RANK {
            refuse!("{name:?}: has {} dimensions; {MAX_RANK} are possible", shape.len());
        }
        let bits = checked_numel("safetensors", &shape).ok().and_then(|n| n.checked_mul(dtype.bitsize()));
        if bits.is_none_or(|bits| bits % 8 != 0 || bits / 8 != end - start) {
            refuse!("{name:?}: shape {shape:?} of {dtype} does not fit its {} bytes", end - start);
        }
        entries.push(Entry { name, stored: dtype, shape, bytes: start..end });
    }
    if next as u64 != data {
        refuse!("has {data} bytes of data, and its tensors take {next}");
    }
    Ok(entries)
}

/// The header as it stands in the file. The format's own map keeps the last of two equal names; here
/// they are an error.
struct Listing {
    metadata: BTreeMap<String, String>,
    tensors: Vec<(String, TensorInfo)>,
}

impl<'de> Deserialize<'de> for Listing {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(ListingVisitor)
    }
}

struct ListingVisitor;

impl<'de> Visitor<'de> for ListingVisitor {
    type Value = Listing;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Listing, A::Error> {
        let mut listing = Listing { metadata: BTreeMap::new(), tensors: Vec::new() };
        let mut seen = HashSet::new();
        while let Some(name) = map.next_key::<String>()? {
            if !seen.insert(name.clone()) {
                return Err(A::Error::custom(format!("the name {name:?} stands there twice")));
            }
            if name == METADATA {
                listing.metadata = map.next_value::<Option<_>>()?.unwrap_or_default();
            } else {
                let info = map.next_value();
                let info = info.map_err(|error| A::Error::custom(format!("{name:?}: {error}")))?;
                listing.tensors.push((name, info));
            }
        }
        Ok(listing)
    }
}

/// The bytes up to the data of tensors that follow each other in this order.
pub(super) fn format(tensors: &[(&str, &Tensor)], metadata: &BTreeMap<String, String>) -> Parsed<Vec<u8>> {
    let mut seen = HashSet::new();
    let mut listing = Vec::with_capacity(tensors.len());
    let mut start = 0usize;
    for &(name, tensor) in tensors {
        if name == METADATA || !seen.insert(name) {
            let why = if name == METADATA { "reserved by the format" } else { "given twice" };
            return Err(Fault::misuse(Kind::Value, format!("the name {name:?} is {why}; choose another")));
        }
        let Some(end) = start.checked_add(tensor.nbytes()) else {
            return Err(Fault::misuse(Kind::Value, "the tensors have more bytes than a file can"));
        };
        let dtype = stored_dtype(tensor.dtype()).map_err(|fault| fault.within(name))?;
        listing
            .push((name, TensorInfo { dtype, shape: tensor.shape().to_vec(), data_offsets: (start, end) }));
        start = end;
    }
    let mut bytes = vec![0; PREFIX];
    if let Err(error) = serde_json::to_writer(&mut bytes, &Written { metadata, tensors: &listing }) {
        refuse!("the header cannot be written: {error}");
    }
    // The format allows blanks after the JSON text.
    bytes.resize(bytes.len().next_multiple_of(ALIGN), b' ');
    let size = bytes.len() - PREFIX;
    if size > MAX_LENGTH {
        return Err(Fault::misuse(
            Kind::Value,
            format!(
                "names and shapes take {size} bytes; the format allows {MAX_LENGTH}: write several files"
            ),
        ));
    }
    bytes[..PREFIX].copy_from_slice(&(size as u64).to_le_bytes());
    Ok(bytes)
}

fn stored_dtype(dtype: DType) -> Parsed<Dtype> {
    let named = dtype.safetensors_name().and_then(|name| {
        let name: value::StrDeserializer<'_, value::Error> = name.into_deserializer();
        Dtype::deserialize(name).ok()
    });
    named.ok_or_else(|| {
        Fault::misuse(
            Kind::Type,
            format!("safetensors files have no name for {dtype}; write npy, or view it as real"),
        )
    })
}

/// The header to be written: in order, so that equal input gives equal bytes.
struct Written<'a> {
    metadata: &'a BTreeMap<String, String>,
    tensors: &'a [(&'a str, TensorInfo)],
}

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        if !self.metadata.is_empty() {
            map.serialize_entry(METADATA, self.metadata)?;
        }
        for (name, info) in self.tensors {
            map.serialize_entry(name, info)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, data: usize) -> Result<Header, String> {
        let mut file = (text.len() as u64).to_le_bytes().to_vec();
        file.extend(text.as_bytes());
        let length = (file.len() + data) as u64;
        Header::read(&mut file.as_slice(), length)
            .map_err(|fault| fault.at("safetensors::open", "x").to_string())
    }

    #[test]
    fn every_dtype_has_its_name() {
        for &dtype in DType::ALL {
            let name = stored_dtype(dtype).ok().map(|stored| stored.to_string());
            assert_eq!(name.as_deref(), dtype.safetensors_name(), "{dtype}");
        }
    }

    #[test]
    fn entries_come_in_order_of_bytes() {
        let text = r#"{"__metadata__":{"k":"v"},
            "b":{"dtype":"F32","shape":[2],"data_offsets":[2,10]},
            "none":{"dtype":"I64","shape":[0,9],"data_offsets":[2,2]},
            "a":{"dtype":"BOOL","shape":[2,1],"data_offsets":[0,2]}}"#;
        let header = read(text, 10).unwrap();
        let names: Vec<_> = header.entries.iter().map(|e| e.name.as_str()).collect();
        assert_eq!(names, ["a", "none", "b"]);
        assert_eq!(header.entries[2].bytes, 2..10);
        assert_eq!(header.entries[1].shape, [0, 9]);
        assert_eq!(header.metadata["k"], "v");
        assert_eq!(header.data_start, text.len() + 8);
    }

    #[test]
    fn refused() {
        let one = |dtype: &str, shape: &str, offsets: &str| {
            format!(r#"{{"a":{{"dtype":{dtype},"shape":{shape},"data_offsets":{offsets}}}}}"#)
        };
        let max = usize::MAX;
        for (text, data, word) in [
            (one("\"F32\"", "[2]", "[0,8]"), 7, "\"a\""),
            (one("\"F32\"", "[2]", "[0,8]"), 9, "9 bytes"),
            (one("\"F32\"", "[3]", "[0,8]"), 8, "does not fit"),
            (one("\"F32\"", "[2]", "[1,9]"), 9, "do not follow"),
            (one("\"F32\"", "[2]", "[8,0]"), 8, "do not follow"),
            (one("\"U8\"", &format!("[{max}]"), &format!("[0,{max}]")), 8, "\"a\""),
            (one("\"U8\"", "[4294967296,4294967296]", "[0,0]"), 0, "does not fit"),
            (one("\"F4\"", "[3]", "[0,1]"), 1, "does not fit"),
            (one("\"F31\"", "[2]", "[0,8]"), 8, "F31"),
            (one("\"F32\"", "[-2]", "[0,8]"), 8, "\"a\""),
            (one("\"F32\"", "[2.0]", "[0,8]"), 8, "\"a\""),
            (one("\"F32\"", "[2]", "[0,8,9]"), 8, "\"a\""),
            (one("7", "[2]", "[0,8]"), 8, "\"a\""),
            (one("\"U8\"", &format!("{:?}", [1; 65]), "[0,1]"), 1, "dimensions"),
            (r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#.into(), 1, "twice"),
            (r#"{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}"#.into(), 3, "\"b\""),
            (r#"{"__metadata__":{"k":1}}"#.into(), 0, "malformed"),
            ("[]".into(), 0, "malformed"),
            ("".into(), 0, "malformed"),
            ("{} x".into(), 0, "malformed"),
            ("[".repeat(100_000), 0, "malformed"),
        ] {
            let error = read(&text, data).err().unwrap_or_else(|| panic!("accepted: {text}"));
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn the_length_of_the_header_is_checked_against_the_file() {
        for size in [u64::MAX, u64::MAX - 7, 1 << 40, 9] {
            let file = [&size.to_le_bytes()[..], b"{}"].concat();
            assert!(Header::read(&mut file.as_slice(), file.len() as u64).is_err(), "{size}");
        }
        assert!(Header::read(&mut [1u8, 2, 3].as_slice(), 3).is_err());
        let invalid = [&2u64.to_le_bytes()[..], b"\xff\xfe"].concat();
        assert!(Header::read(&mut invalid.as_slice(), 10).is_err());
    }
}
