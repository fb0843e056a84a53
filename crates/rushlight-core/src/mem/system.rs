//! Memory from the operating system, and how much of it there is.

use super::size_class::ALIGN;
use std::alloc::Layout;
use std::ptr::NonNull;
use std::sync::OnceLock;

/// From this size on, blocks are mappings of their own, in huge pages where the system has them.
pub(super) const HUGE: usize = 2 << 20;

/// A zeroed block of `size` bytes (a class size), aligned to [`ALIGN`]; none when there is no memory.
pub(super) fn take(size: usize) -> Option<NonNull<u8>> {
    debug_assert!(size > 0 && size.is_multiple_of(ALIGN));
    #[cfg(target_os = "linux")]
    if size >= HUGE {
        return map(size);
    }
    let layout = Layout::from_size_align(size, ALIGN).ok()?;
    // SAFETY: the size is not zero, as the classes begin at 64 bytes.
    NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) })
}

/// Gives a block back.
///
/// # Safety
/// `ptr` came from [`take`] with this very `size`, and nothing uses it any more.
pub(super) unsafe fn give(ptr: NonNull<u8>, size: usize) {
    #[cfg(target_os = "linux")]
    if size >= HUGE {
        // SAFETY: by contract this is exactly the range that `map` left mapped.
        unsafe { libc::munmap(ptr.as_ptr().cast(), size) };
        return;
    }
    // SAFETY: by contract `take` made it with this layout, which was valid there.
    unsafe { std::alloc::dealloc(ptr.as_ptr(), Layout::from_size_align_unchecked(size, ALIGN)) };
}

/// Maps zeroed pages that begin on a huge page, so that the block needs as few of them as can be.
#[cfg(target_os = "linux")]
fn map(size: usize) -> Option<NonNull<u8>> {
    let total = size.checked_add(HUGE)?;
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a fresh anonymous mapping at an address of the kernel's choice touches nothing of ours.
    let raw = unsafe { libc::mmap(std::ptr::null_mut(), total, protection, flags, -1, 0) };
    if raw == libc::MAP_FAILED {
        return None;
    }
    let raw = raw.cast::<u8>();
    let head = raw.addr().next_multiple_of(HUGE) - raw.addr();
    let ptr = raw.wrapping_add(head);
    // SAFETY: head < HUGE = total - size, so both ends lie in the mapping, outside the block kept;
    // they are whole pages, because mappings begin on one and class sizes from HUGE on are multiples.
    unsafe {
        if head > 0 {
            libc::munmap(raw.cast(), head);
        }
        if head < HUGE {
            libc::munmap(ptr.wrapping_add(size).cast(), HUGE - head);
        }
        // Advice only: where it is refused the block works with small pages.
        libc::madvise(ptr.cast(), size, libc::MADV_HUGEPAGE);
    }
    NonNull::new(ptr)
}

/// Bytes this process can have at most, physical memory and swap; none where that cannot be read.
pub(super) fn total_memory() -> Option<usize> {
    static TOTAL: OnceLock<Option<usize>> = OnceLock::new();
    *TOTAL.get_or_init(|| match (physical(), group_limit()) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    })
}

/// Room for `n` more values in a vector; an error where growing it would abort the process.
///
/// The system lends more than there is and ends the process on use, so its word is not enough.
pub(crate) fn reserve<T>(op: &'static str, list: &mut Vec<T>, n: usize) -> crate::Result<()> {
    let bytes = n.checked_mul(size_of::<T>()).filter(|b| total_memory().is_none_or(|all| *b <= all));
    crate::ensure!(
        bytes.is_some() && list.try_reserve_exact(n).is_ok(),
        Runtime,
        op,
        "cannot allocate {n} elements of {} bytes; memory holds fewer",
        size_of::<T>()
    );
    Ok(())
}

#[cfg(target_os = "linux")]
fn physical() -> Option<usize> {
    // SAFETY: `sysinfo` is plain numbers, for which zeros are valid, and the call only fills it.
    let info = unsafe {
        let mut info: libc::sysinfo = std::mem::zeroed();
        (libc::sysinfo(&raw mut info) == 0).then_some(info)
    }?;
    let units = usize::try_from(info.totalram).ok()?.checked_add(usize::try_from(info.totalswap).ok()?)?;
    units.checked_mul(usize::try_from(info.mem_unit).ok()?.max(1))
}

#[cfg(all(unix, not(target_os = "linux")))]
fn physical() -> Option<usize> {
    // SAFETY: sysconf only reads.
    let (pages, size) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    usize::try_from(pages).ok()?.checked_mul(usize::try_from(size).ok()?)
}

#[cfg(not(unix))]
fn physical() -> Option<usize> {
    None
}

/// The limit of the container, where there is one.
fn group_limit() -> Option<usize> {
    let read =
        |name: &str| std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse().ok();
    let memory: usize = read("memory.max")?;
    memory.checked_add(read("memory.swap.max").unwrap_or(0))
}
