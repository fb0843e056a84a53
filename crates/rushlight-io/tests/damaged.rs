//! Files cut short and files with wrong bytes: an error or a tensor, but no panic and no huge
//! allocation.

mod common;

use common::{Folder, counting, golden, logical_bytes};
use rushlight_core::{DType, Kind, Layout, Result, Tensor};
use rushlight_io::{npy, npz, pt, safetensors};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Damaged files per format, besides those cut at every length.
const DAMAGES: usize = 3000;
/// The files have less than 3 KB; the table of contents and a thousandfold inflation fit in this.
const FAIR: u64 = 64 << 20;

/// The largest address space this process ever had, allocated though untouched memory included.
fn peak_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kb| kb << 10)
}

/// A small generator of numbers (xorshift), seeded so that a failure repeats.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

/// One to four changes that files suffer, or that someone makes on purpose.
fn damage(dice: &mut Dice, sound: &[u8]) -> Vec<u8> {
    let mut bytes = sound.to_vec();
    for _ in 0..=dice.below(4) {
        let at = dice.below(bytes.len());
        match dice.below(7) {
            0 => bytes[at] ^= 1 << dice.below(8),
            1 => bytes[at] = dice.below(256) as u8,
            2 => bytes[at] = [0, 255, b'9', b'-', b'"', b'{', b','][dice.below(7)],
            3 => {
                let end = (at + [2, 4, 8][dice.below(3)]).min(bytes.len());
                bytes[at..end].fill([0, 255, 127][dice.below(3)]);
            }
            4 => drop(bytes.drain(at..(at + 1 + dice.below(9)).min(bytes.len()))),
            5 => bytes.insert(at, [b'9', b'0', b' ', 200][dice.below(4)]),
            _ => {
                let end = (at + 1 + dice.below(40)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                let to = dice.below(bytes.len());
                bytes.splice(to..to, piece);
            }
        }
        if bytes.is_empty() {
            return bytes;
        }
    }
    bytes
}

/// Reads every cut of `sound` and many damaged forms of it; gives how many of them were refused.
fn survive(folder: &Folder, sound: &[u8], read: impl Fn(&Path) -> Result<Vec<Tensor>>) -> usize {
    let path = folder.path("damaged");
    let try_one = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let before = peak_bytes();
        let result = read(&path);
        if let (Some(before), Some(after)) = (before, peak_bytes()) {
            assert!(after - before < FAIR, "{} bytes were asked for by {bytes:?}", after - before);
        }
        match result {
            // Whatever was accepted is all there.
            Ok(tensors) => {
                tensors.iter().for_each(|t| assert_eq!(logical_bytes(t).len(), t.nbytes()));
                false
            }
            Err(error) => {
                assert_eq!(error.kind(), Kind::Io, "{error}");
                assert!(error.text().contains("damaged"), "names the file: {error}");
                true
            }
        }
    };
    assert!(!try_one(sound));
    for cut in 0..sound.len() {
        assert!(try_one(&sound[..cut]), "a file cut to {cut} of {} bytes was accepted", sound.len());
    }
    let mut dice = Dice(0x5eed);
    (0..DAMAGES).filter(|_| try_one(&damage(&mut dice, sound))).count()
}

fn names_and_tensors() -> Vec<(&'static str, Tensor)> {
    let tensor = |dtype, shape: &[usize]| counting(dtype, Layout::contiguous(shape).unwrap());
    vec![
        ("weight", tensor(DType::F32, &[3, 4])),
        ("mask", tensor(DType::Bool, &[5])),
        ("none", tensor(DType::I64, &[0, 2])),
        ("wave", tensor(DType::C64, &[])),
    ]
}

#[test]
fn damaged_files_of_each_format() -> Result<()> {
    let folder = Folder::new("damaged");
    let path = folder.path("sound");
    let tensors = names_and_tensors();

    npy::write(&path, &tensors[0].1)?;
    let sound = fs::read(&path).unwrap();
    let refused = survive(&folder, &sound, |path| Ok(vec![npy::read(path)?]));
    assert!(refused > DAMAGES / 4, "npy: {refused}");
    let refused = survive(&folder, &sound, |path| {
        // A reader of unknown length has no name, so the file's is put in its place.
        let bytes = fs::read(path).unwrap();
        let named =
            |e: rushlight_core::Error| rushlight_core::Error::new(e.kind(), e.op(), format!("damaged: {e}"));
        Ok(vec![npy::read_from(bytes.as_slice()).map_err(named)?])
    });
    assert!(refused > DAMAGES / 4, "npy from a reader: {refused}");

    let values = |pairs: Vec<(String, Tensor)>| pairs.into_iter().map(|(_, tensor)| tensor).collect();
    npz::write(&path, &tensors)?;
    let refused = survive(&folder, &fs::read(&path).unwrap(), |path| npz::read(path).map(values));
    assert!(refused > DAMAGES / 2, "npz: {refused}");
    npz::write_compressed(&path, &tensors)?;
    let refused = survive(&folder, &fs::read(&path).unwrap(), |path| npz::read(path).map(values));
    assert!(refused > DAMAGES / 2, "npz, deflated: {refused}");

    pt::write(&path, &tensors)?;
    let refused = survive(&folder, &fs::read(&path).unwrap(), |path| pt::read(path).map(values));
    assert!(refused > DAMAGES / 2, "pt: {refused}");
    let mapped = |path: &Path| pt::Archive::open(path, true)?.tensors().map(values);
    let refused = survive(&folder, &fs::read(&path).unwrap(), mapped);
    assert!(refused > DAMAGES / 3, "pt, mapped: {refused}");

    let metadata = BTreeMap::from([("format".to_string(), "pt".to_string())]);
    safetensors::save(&path, &tensors, &metadata)?;
    let refused = survive(&folder, &fs::read(&path).unwrap(), |path| safetensors::load(path).map(values));
    assert!(refused > DAMAGES / 2, "safetensors: {refused}");
    Ok(())
}

/// Damage inside the pickle, which no checksum sees: each form is packed anew.
#[test]
fn damaged_pickles() -> Result<()> {
    let folder = Folder::new("pickles");
    let path = folder.path("damaged");
    let bytes = fs::read(golden("zip.pt")).unwrap();
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
    let mut sound = Vec::new();
    std::io::Read::read_to_end(&mut zip.by_name("zip/data.pkl").unwrap(), &mut sound).unwrap();
    let storages: Vec<_> = (0..4)
        .map(|k| {
            (k.to_string(), counting(DType::U8, Layout::contiguous(&[96][..]).unwrap()).storage().clone())
        })
        .collect();
    let mut dice = Dice(0x9e11);
    let mut refused = 0;
    for round in 0..6 * DAMAGES {
        let pickle = damage(&mut dice, &sound);
        pt::pack(Some(&path), &pickle, &storages)?;
        let before = peak_bytes();
        let result = pt::read(&path);
        if let (Some(before), Some(after)) = (before, peak_bytes()) {
            assert!(after - before < FAIR, "round {round}: {} bytes were asked for", after - before);
        }
        match result {
            Ok(tensors) => tensors.iter().for_each(|(_, t)| assert_eq!(logical_bytes(t).len(), t.nbytes())),
            Err(error) => {
                assert!(error.kind() == Kind::Io && error.text().contains("damaged"), "{error:?}");
                refused += 1;
            }
        }
    }
    assert!(refused > 3 * DAMAGES, "{refused}");
    Ok(())
}

#[test]
fn pickles_of_bad_intent() -> Result<()> {
    let folder = Folder::new("intent");
    let path = folder.path("file.pt");
    let refuse = |pickle: &[u8], word: &str| {
        pt::pack(Some(&path), pickle, &[]).unwrap();
        let error = pt::read(&path).err().unwrap_or_else(|| panic!("accepted {word}"));
        assert!(error.kind() == Kind::Io && error.text().contains(word), "{word}: {error}");
    };
    refuse(b"\x80\x02cposix\nsystem\nX\x02\0\0\0ls\x85R.", "posix.system");
    refuse(b"\x80\x02cbuiltins\neval\n.", "builtins.eval");
    refuse(b"\x80\x04\x8c\x02os\x8c\x06system\x93.", "os.system");
    refuse(b"\x80\x02(cos\nsystem\no.", "os.system");
    refuse(b"(S'ls'\nios\nsystem\n.", "opcode");
    refuse(b"\x80\x02\x82\x01.", "opcode");
    refuse(b"\x80\x02Kn", "ends");
    refuse(b"\x80\x02.", "value");
    refuse(b"\x80\x02K\x01R.", "value");
    refuse(b"\x80\x02(K\x010.", "value");
    refuse(b"\x80\x02h\x05.", "note 5");
    refuse(b"\x80\x02X\xff\xff\xff\x7f.", "ends");
    refuse(b"\x80\x02\x8e\xff\xff\xff\xff\xff\xff\xff\x7f.", "ends");
    // Notes are numbered as they like, at no cost.
    pt::pack(Some(&path), b"\x80\x02]r\xff\xff\xff\xffj\xff\xff\xff\xff.", &[])?;
    assert!(pt::read(&path)?.is_empty());
    // Tuples in tuples, and lists twice in lists: those who walk them would never return.
    let deep = [&b"\x80\x02)"[..], &vec![0x85; 100_000], b"."].concat();
    refuse(&deep, "deeper");
    let mut twice = b"\x80\x02]q\x00".to_vec();
    for k in 0..100u8 {
        twice.extend_from_slice(&[b']', b'q', k + 1, b'(', b'h', k, b'h', k, b'e']);
    }
    twice.push(b'.');
    refuse(&twice, "more names");
    // A long list, copied by each of many calls.
    let mut copies = b"\x80\x02cbuiltins\nlist\nq\x00](".to_vec();
    copies.extend(vec![b'N'; 10_000]);
    copies.extend(b"eq\x01(");
    copies.extend(b"h\x00h\x01\x85R".repeat(10_000));
    copies.extend(b"l.");
    refuse(&copies, "more often");
    // A tensor that reaches beyond its memory, and one without any.
    let reach = |size: &[u8]| {
        let mut p =
            b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\nFloatStorage\n".to_vec();
        p.extend(b"X\x01\0\0\x000X\x03\0\0\0cpuK\x04tQK\x00");
        p.extend(size);
        p.extend(b"K\x01\x85\x89)tR.");
        p
    };
    refuse(&reach(b"K\x04\x85"), "data/0");
    let storage = counting(DType::F32, Layout::contiguous(&[4][..])?).storage().clone();
    let pack = |pickle: &[u8]| pt::pack(Some(&path), pickle, &[("0".into(), storage.clone())]).map(drop);
    pack(&reach(b"K\x04\x85"))?;
    assert_eq!(pt::read(&path)?[0].1.shape(), [4]);
    for size in [&b"K\x05\x85"[..], b"J\xff\xff\xff\x7f\x85", b"J\xff\xff\xff\xff\x85", b"(K\x02K\x02t"] {
        pack(&reach(size))?;
        assert_eq!(pt::read(&path).err().map(|e| e.kind()), Some(Kind::Io), "{size:?}");
    }
    Ok(())
}

/// Replaces every `old` by as many bytes `new`.
fn replaced(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    assert_eq!(old.len(), new.len());
    let mut out = bytes.to_vec();
    let mut found = 0;
    for at in 0..=bytes.len() - old.len() {
        if &bytes[at..at + old.len()] == old {
            out[at..at + old.len()].copy_from_slice(new);
            found += 1;
        }
    }
    assert!(found > 0);
    out
}

/// Runs `read`, which must fail without asking for much memory.
#[track_caller]
fn refused_cheaply(read: impl FnOnce() -> Result<()>) {
    let before = peak_bytes();
    let error = read().err().unwrap();
    if let (Some(before), Some(after)) = (before, peak_bytes()) {
        assert!(after - before < FAIR, "{} bytes were asked for before this: {error}", after - before);
    }
}

#[test]
fn shapes_of_gigabytes_in_small_files_cost_nothing() -> Result<()> {
    // Sizes that the machine has: the memory could be had.
    let folder = Folder::new("gigabytes");
    let (path, liar) = (folder.path("sound"), folder.path("liar"));
    let tensor = counting(DType::F32, Layout::contiguous(&[3, 4][..])?);
    let lie = |sound: &[u8], shape: &[u8], room: &[u8]| {
        let lie = replaced(sound, shape, room);
        fs::write(&liar, &lie).unwrap();
        lie
    };

    npy::write(&path, &tensor)?;
    let npy_file = lie(&fs::read(&path).unwrap(), b"(3, 4), }      ", b"(3, 99999999),}");
    refused_cheaply(|| npy::read(&liar).map(drop));
    refused_cheaply(|| npy::read_from(npy_file.as_slice()).map(drop));
    npz::write(&path, &[("x", &tensor)])?;
    lie(&fs::read(&path).unwrap(), b"(3, 4), }      ", b"(3, 99999999),}");
    refused_cheaply(|| npz::read(&liar).map(drop));
    safetensors::save(&path, &[("x", &tensor)], &BTreeMap::new())?;
    let sound = fs::read(&path).unwrap();
    lie(&sound, br#"[3,4],"data_offsets":[0,48]}}      "#, br#"[3,9999999],"data_offsets":[0,48]}}"#);
    refused_cheaply(|| safetensors::load(&liar).map(drop));
    // A header within the format's limit, and beyond the file.
    fs::write(&liar, [&(90u64 << 20).to_le_bytes(), &sound[8..]].concat()).unwrap();
    refused_cheaply(|| safetensors::load(&liar).map(drop));
    Ok(())
}

/// Reads `bytes` as an npz file, expecting a refusal that contains `word`.
#[track_caller]
fn refused(folder: &Folder, bytes: &[u8], word: &str) {
    let path = folder.path("liar.npz");
    fs::write(&path, bytes).unwrap();
    let error = npz::read(&path).err().unwrap();
    assert_eq!(error.kind(), Kind::Io);
    assert!(error.text().contains("liar.npz") && error.text().contains(word), "{error}");
}

#[test]
fn archives_that_lie() -> Result<()> {
    let folder = Folder::new("lies");
    let path = folder.path("sound.npz");
    let tensor = |n: usize| counting(DType::U8, Layout::contiguous(&[n][..]).unwrap());
    npz::write(&path, &[("a", &tensor(5)), ("b", &tensor(777)), ("ä", &tensor(3))])?;
    let sound = fs::read(&path).unwrap();

    refused(&folder, &replaced(&sound, b"b.npy", b"a.npy"), "one name");
    // The checksum of the data, and of the header.
    refused(&folder, &replaced(&sound, &[0, 1, 2, 3, 4, b'P'], &[0, 1, 9, 3, 4, b'P']), "checksum");
    refused(&folder, &replaced(&sound, b"|u1", b"|i1"), "checksum");
    // A shape that needs less than is there, or more.
    refused(&folder, &replaced(&sound, b"(777,)", b"(776,)"), "more bytes");
    refused(&folder, &replaced(&sound, b"(777,), }  ", b"(7777777,)}"), "7777777 bytes of data");
    // Sizes in the table of contents and in the local header.
    let size = (128 + 777u32).to_le_bytes();
    refused(&folder, &replaced(&sound, &size, &[0xf0, 0xff, 0xff, 0xff]), "");

    // A name that is not UTF-8 is one of the old code page.
    fs::write(&path, replaced(&sound, "ä.npy".as_bytes(), b"\x84\x94.npy")).unwrap();
    assert_eq!(npz::Archive::open(&path)?.names(), ["a", "b", "äö"]);
    Ok(())
}

#[test]
fn a_deflated_entry_may_claim_no_more_than_deflate_can_do() -> Result<()> {
    let folder = Folder::new("bomb");
    let path = folder.path("sound.npz");
    let zeros = Tensor::from_vec(vec![0u8; 1 << 20], [1 << 20])?;
    npz::write_compressed(&path, &[("x", &zeros)])?;
    let sound = fs::read(&path).unwrap();
    assert!(sound.len() < 4096);
    assert_eq!(logical_bytes(&npz::read(&path)?[0].1), vec![0; 1 << 20]);
    let size = (128 + (1u32 << 20)).to_le_bytes();
    refused(&folder, &replaced(&sound, &size, &[0xf0, 0xff, 0xff, 0x7f]), "claims");
    Ok(())
}
