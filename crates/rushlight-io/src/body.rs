//! The bytes of tensors on their way in.

use crate::fault::{Parsed, refuse};
use rushlight_core::Device;
use rushlight_core::mem::{Block, Storage};
use std::io::Read;

/// What a reader of unknown length is believed without proof.
const FIRST: usize = 1 << 20;

/// Reads exactly `bytes` bytes into 64-byte aligned memory.
///
/// `there` is how many bytes are known to follow, if that is known. If not, memory grows with what
/// arrives, so that a wrong `bytes` costs no more than twice what the reader really gives.
pub(crate) fn read_block(reader: &mut impl Read, bytes: usize, there: Option<u64>) -> Parsed<Block> {
    let mut block = match there {
        Some(there) if there < bytes as u64 => {
            refuse!("its header asks for {bytes} bytes of data and only {there} are there")
        }
        Some(_) => Block::new(bytes)?,
        None => Block::new(bytes.min(FIRST))?,
    };
    let mut filled = 0;
    loop {
        reader.read_exact(&mut block.as_mut_slice()[filled..])?;
        filled = block.len();
        if filled == bytes {
            return Ok(block);
        }
        let mut larger = Block::new(filled.saturating_mul(2).min(bytes))?;
        larger.as_mut_slice()[..filled].copy_from_slice(block.as_slice());
        block = larger;
    }
}

/// Turns big-endian numbers of `width` bytes into little-endian ones, or back.
pub(crate) fn swap_bytes(bytes: &mut [u8], width: usize) {
    if width > 1 {
        bytes.chunks_exact_mut(width).for_each(<[u8]>::reverse);
    }
}

/// The block as a storage in host memory.
pub(crate) fn storage(block: Block) -> Parsed<Storage> {
    Ok(Storage::from_block(block, Device::CPU)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_over_several_blocks_and_stops_at_the_end() {
        let data: Vec<u8> = (0..3 * FIRST + 17).map(|i| (i % 251) as u8).collect();
        for there in [None, Some(data.len() as u64)] {
            let block = read_block(&mut data.as_slice(), data.len(), there).unwrap();
            assert_eq!(block.as_slice(), data);
            let mut reader = data.as_slice();
            assert_eq!(read_block(&mut reader, 5, there).unwrap().as_slice(), &data[..5]);
            assert_eq!(reader.len(), data.len() - 5);
        }
    }

    #[test]
    fn a_lie_about_the_size_asks_for_little_memory() {
        let huge = usize::MAX >> 2;
        let data = [0u8; 100];
        assert!(read_block(&mut data.as_slice(), huge, None).is_err());
        assert!(read_block(&mut data.as_slice(), huge, Some(100)).is_err());
    }

    #[test]
    fn swaps_each_number() {
        let mut bytes = [1, 2, 3, 4];
        swap_bytes(&mut bytes, 2);
        assert_eq!(bytes, [2, 1, 4, 3]);
        swap_bytes(&mut bytes, 1);
        assert_eq!(bytes, [2, 1, 4, 3]);
    }
}
