//! The header of an npy file: magic, version, length, and a Python dict that says what follows.

use super::literal::{self, Fields};
use crate::MAX_RANK;
use crate::fault::{Fault, Parsed, refuse};
use rushlight_core::{DType, Kind};
use std::fmt::Write as _;
use std::io::Read;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Magic, version and the 16-bit length of version 1.
const PREFIX: usize = MAGIC.len() + 4;
/// Data starts at a multiple of this, so that a mapped file is aligned for any SIMD.
const ALIGN: usize = 64;
/// Far more than 64 dimensions take; what is longer describes records.
const MAX_LENGTH: usize = 1 << 16;

/// What a file says about its array.
#[derive(Debug, PartialEq)]
pub(crate) struct Header {
    pub(crate) dtype: DType,
    pub(crate) big_endian: bool,
    pub(crate) fortran: bool,
    pub(crate) shape: Vec<usize>,
    /// Bytes up to the data.
    pub(crate) length: u64,
}

impl Header {
    /// Reads up to the first byte of data.
    pub(crate) fn read(reader: &mut impl Read) -> Parsed<Header> {
        let mut prefix = [0; PREFIX];
        reader.read_exact(&mut prefix[..MAGIC.len() + 2])?;
        if !prefix.starts_with(MAGIC) {
            refuse!("is no npy file: it does not start with the bytes \\x93NUMPY");
        }
        let (major, minor) = (prefix[MAGIC.len()], prefix[MAGIC.len() + 1]);
        let mut size = [0; 4];
        let size_bytes = match (major, minor) {
            (1, 0) => 2,
            (2 | 3, 0) => 4,
            _ => refuse!("has npy version {major}.{minor}; versions 1.0, 2.0 and 3.0 can be read"),
        };
        reader.read_exact(&mut size[..size_bytes])?;
        let size = u32::from_le_bytes(size) as usize;
        if size > MAX_LENGTH {
            refuse!("has a header of {size} bytes; no array needs more than {MAX_LENGTH}");
        }
        let mut text = vec![0; size];
        reader.read_exact(&mut text)?;
        let Ok(text) = std::str::from_utf8(&text) else {
            refuse!("has a header that is not UTF-8 text");
        };
        let Fields { descr, fortran, shape } = literal::parse(text)?;
        if shape.len() > MAX_RANK {
            refuse!("has {} dimensions; {MAX_RANK} are possible", shape.len());
        }
        let (dtype, big_endian) = dtype(&descr)?;
        let length = (MAGIC.len() + 2 + size_bytes + size) as u64;
        Ok(Header { dtype, big_endian, fortran, shape, length })
    }
}

/// The bytes up to the data: version 1.0.
pub(crate) fn format(dtype: DType, fortran: bool, shape: &[usize]) -> Parsed<Vec<u8>> {
    let Some(descr) = dtype.npy_name() else {
        return Err(Fault::misuse(
            Kind::Type,
            format!(
                "npy files have no name for {dtype}; convert the tensor to float32, or write safetensors"
            ),
        ));
    };
    let mut text =
        format!("{{'descr': '{descr}', 'fortran_order': {}, 'shape': (", ["False", "True"][fortran as usize]);
    for (i, size) in shape.iter().enumerate() {
        // Python needs the comma where there is one size.
        let separator = if i > 0 { " " } else { "" };
        let comma = if i + 1 < shape.len() || shape.len() == 1 { "," } else { "" };
        let _ = write!(text, "{separator}{size}{comma}");
    }
    text.push_str("), }");
    let total = (PREFIX + text.len() + 1).next_multiple_of(ALIGN);
    let padding = total - PREFIX - text.len() - 1;
    text.extend(std::iter::repeat_n(' ', padding));
    text.push('\n');
    let Ok(size) = u16::try_from(text.len()) else {
        return Err(Fault::misuse(
            Kind::Value,
            format!("{} dimensions are more than npy can hold", shape.len()),
        ));
    };
    Ok([MAGIC.as_slice(), &[1, 0], &size.to_le_bytes(), text.as_bytes()].concat())
}

/// The dtype that a descriptor such as `<f4` names, and whether it is big-endian.
fn dtype(descr: &str) -> Parsed<(DType, bool)> {
    let (order, name) = match descr.as_bytes().first() {
        Some(b'<' | b'>' | b'|' | b'=') => descr.split_at(1),
        _ => ("=", descr),
    };
    let named = |dtype: &&DType| dtype.npy_name().is_some_and(|n| n[1..] == *name);
    match DType::ALL.iter().find(named) {
        // Without a mark of its own a number has the order of the machine: little-endian.
        Some(dtype) if dtype.size() == 1 || order != "|" => Ok((*dtype, order == ">")),
        _ => refuse!("holds {}, which no tensor can", meaning(name, descr)),
    }
}

fn meaning(name: &str, descr: &str) -> String {
    let sort = match name.as_bytes().first() {
        Some(b'O') => "Python objects",
        Some(b'U' | b'S' | b'a') => "strings",
        Some(b'M' | b'm') => "dates or durations",
        Some(b'V') => "raw bytes or a dtype that NumPy cannot name",
        Some(b'f') => "floats of an unusual size",
        Some(b'c') => "complex numbers of an unusual size",
        _ => "elements of an unknown sort",
    };
    format!("{sort} (dtype {descr:?})")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, text: &str) -> Vec<u8> {
        let size = (text.len() as u32).to_le_bytes();
        let size = if version == 1 { &size[..2] } else { &size };
        [MAGIC.as_slice(), &[version, 0], size, text.as_bytes()].concat()
    }

    #[test]
    fn what_is_written_is_read_again_and_aligned() {
        for &dtype in DType::ALL.iter().filter(|d| d.npy_name().is_some()) {
            for shape in [&[][..], &[3], &[2, 3], &[0, 5], &[1; 64], &[usize::MAX >> 1]] {
                for fortran in [false, true] {
                    let bytes = format(dtype, fortran, shape).unwrap();
                    assert_eq!(bytes.len() % ALIGN, 0);
                    assert_eq!(bytes.last(), Some(&b'\n'));
                    let length = bytes.len() as u64;
                    let expected =
                        Header { dtype, big_endian: false, fortran, shape: shape.to_vec(), length };
                    assert_eq!(Header::read(&mut bytes.as_slice()).unwrap(), expected);
                }
            }
        }
    }

    #[test]
    fn versions_two_and_three_have_a_longer_length() {
        let text = "{'descr': '>i2', 'fortran_order': True, 'shape': (4, 1), }\n";
        for version in [1, 2, 3] {
            let bytes = file(version, text);
            let header = Header::read(&mut bytes.as_slice()).unwrap();
            assert_eq!((header.dtype, header.big_endian, header.fortran), (DType::I16, true, true));
            assert_eq!(header.shape, [4, 1]);
            assert_eq!(header.length, bytes.len() as u64);
        }
    }

    #[test]
    fn descriptors() {
        for (descr, expected) in [
            ("|b1", (DType::Bool, false)),
            ("<b1", (DType::Bool, false)),
            ("|u1", (DType::U8, false)),
            ("=f8", (DType::F64, false)),
            ("f8", (DType::F64, false)),
            (">c16", (DType::C128, true)),
        ] {
            assert_eq!(dtype(descr).unwrap(), expected, "{descr}");
        }
        for descr in ["|O", "<U3", "|S2", "<M8[ns]", "|V2", "<f16", "<c32", "|f4", "", "<", "é", "<f4 ", "f"]
        {
            assert!(dtype(descr).is_err(), "{descr}");
        }
    }

    #[test]
    fn refused() {
        let good = "{'descr': '<f4', 'fortran_order': False, 'shape': (), }";
        let mut other_version = file(1, good);
        other_version[7] = 1;
        let many = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}", "1, ".repeat(65));
        let long = [MAGIC.as_slice(), &[2, 0], &u32::MAX.to_le_bytes(), good.as_bytes()].concat();
        for (bytes, word) in [
            (b"PK\x03\x04 and more".to_vec(), "npy"),
            (other_version, "version"),
            (file(4, good), "version"),
            (file(1, &many), "dimensions"),
            (long, "header"),
            (file(1, "\u{0}"), "header"),
            (file(1, good)[..20].to_vec(), "ends"),
        ] {
            let text = Header::read(&mut bytes.as_slice()).unwrap_err().at("npy::read", "x").to_string();
            assert!(text.contains(word), "{text}");
        }
        assert!(format(DType::BF16, false, &[1]).is_err());
    }
}
