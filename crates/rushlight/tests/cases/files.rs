//! Files that are crafted, and files that another order of memory wrote.

use super::same;
use rushlight::DType::F64;
use rushlight::{Result, io};

fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    let padded = format!("{header:<117}\n");
    bytes.extend((padded.len() as u16).to_le_bytes());
    bytes.extend(padded.as_bytes());
    bytes.extend(data);
    bytes
}

#[test]
fn a_header_that_promises_a_terabyte() -> Result<()> {
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }";
    let path = std::env::temp_dir().join(format!("rushlight-crafted-{}.npy", std::process::id()));
    let bytes = npy(header, &[0; 16]);
    std::fs::write(&path, &bytes).unwrap_or_else(|e| panic!("{e}"));
    rushlight::mem::reset_peak();
    let before = rushlight::mem::memory_stats().peak;
    let result = io::npy::read(&path).map(|_| ());
    std::fs::remove_file(&path).unwrap_or_else(|e| panic!("{e}"));
    let e = result.unwrap_err();
    assert!(e.to_string().contains("8796093022208") && e.to_string().contains("16"), "{e}");
    // A reader does not know its length; it fails where the bytes end.
    assert!(io::npy::read_from(&bytes[..]).is_err());
    // Other tests allocate meanwhile, but far less than what the header asks for.
    assert!(rushlight::mem::memory_stats().peak - before < 1 << 30);
    Ok(())
}

#[test]
fn columns_first() -> Result<()> {
    let header = "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }";
    let data: Vec<u8> = [0f64, 3., 1., 4., 2., 5.].iter().flat_map(|x| x.to_le_bytes()).collect();
    let x = io::npy::read_from(&npy(header, &data)[..])?;
    same(&x, F64, &[2, 3], &[0., 1., 2., 3., 4., 5.])
}
