//! Sizes blocks are rounded up to: multiples of 64 bytes, then four steps between powers of two.
//!
//! At most a fifth of a block above 256 bytes is lost to rounding, and blocks of about the same
//! size can stand in for each other.

/// Alignment of every block, a cache line; every size is a multiple of it.
pub(super) const ALIGN: usize = 64;

/// Number of classes that fit in an address space.
pub(super) const CLASSES: usize = 4 + 4 * (isize::BITS as usize - 9);

/// Blocks up to this size are kept in lists of the thread that freed them.
pub(super) const SMALL_MAX: usize = 64 << 10;

/// Number of classes up to [`SMALL_MAX`].
pub(super) const SMALL_CLASSES: usize = class_of(SMALL_MAX).index + 1;

/// A class: its place in the tables and the size of its blocks in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) index: usize,
    pub(super) size: usize,
}

impl Class {
    /// The class of a request; none for zero bytes and for more than an allocation may have.
    pub(super) fn for_bytes(bytes: usize) -> Option<Class> {
        // Rounding adds at most a quarter: beyond half the address space nothing can be met anyway.
        (bytes != 0 && bytes <= isize::MAX as usize / 2).then(|| class_of(bytes))
    }

    /// The small class at a place in the tables.
    pub(super) const fn small(index: usize) -> Class {
        let size = if index < 4 { (index + 1) * ALIGN } else { (index % 4 + 5) << (index / 4 + 5) };
        Class { index, size }
    }

    /// Whether blocks of this class are kept in the lists of a thread.
    #[inline]
    pub(super) const fn is_small(self) -> bool {
        self.index < SMALL_CLASSES
    }
}

/// `bytes` must be neither zero nor above half of `isize::MAX`.
#[inline]
const fn class_of(bytes: usize) -> Class {
    if bytes <= 4 * ALIGN {
        let index = bytes.div_ceil(ALIGN) - 1;
        return Class { index, size: (index + 1) * ALIGN };
    }
    let last = bytes - 1;
    let log = last.ilog2() as usize; // 8 or more
    let quarter = last >> (log - 2); // 4 to 7: how many quarters of 2^log are full
    Class { index: (log - 8) * 4 + quarter, size: (quarter + 1) << (log - 2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_cover_requests_tightly_and_in_order() {
        let mut sizes: Vec<usize> = (1..10_000).collect();
        for log in 13..isize::BITS as usize - 2 {
            for delta in [0usize, 1, 63, 64, 4097] {
                sizes.extend([(1 << log) - delta, (1 << log) + delta]);
            }
        }
        sizes.sort_unstable();
        let mut before = class_of(1);
        for bytes in sizes {
            let class = Class::for_bytes(bytes).unwrap();
            assert!(class.size >= bytes && class.size.is_multiple_of(ALIGN), "{bytes}: {class:?}");
            assert!(bytes <= 256 || class.size - bytes < class.size.div_ceil(5), "{bytes}: {class:?}");
            assert!(class.index < CLASSES && class.index >= before.index);
            assert_eq!(class.index == before.index, class.size == before.size);
            assert_eq!(Class::for_bytes(class.size), Some(class), "a class holds its own size");
            before = class;
        }
        for index in 0..SMALL_CLASSES {
            assert_eq!(Some(Class::small(index)), Class::for_bytes(Class::small(index).size));
        }
        assert_eq!(Class::for_bytes(0), None);
        assert_eq!(Class::for_bytes(usize::MAX), None);
    }
}
