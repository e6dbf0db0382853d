//! Memory of the process that nothing needs any more.

use std::ffi::{c_int, c_void};
use std::ops::Range;

const MADV_DONTNEED: c_int = 4;
#[cfg(target_env = "gnu")]
const M_TRIM_THRESHOLD: c_int = -1;
#[cfg(target_env = "gnu")]
const M_MMAP_THRESHOLD: c_int = -3;

/// Bytes from which on a block is mapped on its own.
#[cfg(target_env = "gnu")]
const OWN_MAPPING: c_int = 4 << 20;

unsafe extern "C" {
    #[cfg(target_env = "gnu")]
    fn malloc_trim(pad: usize) -> c_int;
    #[cfg(target_env = "gnu")]
    fn mallopt(parameter: c_int, value: c_int) -> c_int;
    fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
}

/// Large blocks go back to the system when they are freed. By itself, the allocator begins to keep those of a size once one is
/// freed, up to 32 MiB, and arrays leave holes of it in its heaps.
pub fn map_large_blocks() {
    // SAFETY: the function takes numbers, and is called with parameters that it knows.
    #[cfg(target_env = "gnu")]
    unsafe {
        mallopt(M_MMAP_THRESHOLD, OWN_MAPPING);
        // It would stay at its least once the other is set, and heaps be cut and grown again in each run.
        mallopt(M_TRIM_THRESHOLD, 2 * OWN_MAPPING);
    }
}

/// Gives back to the system what the allocator keeps of freed memory, in the heaps of all threads.
pub fn trim_heap() {
    // SAFETY: the function takes no pointer, and locks the heaps itself.
    #[cfg(target_env = "gnu")]
    unsafe {
        malloc_trim(0);
    }
}

/// Takes the code of all shared libraries out of what is resident. What is called again comes back from the system's cache of files.
pub fn forget_code() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    for range in maps.lines().filter_map(code_of_library) {
        // SAFETY: the pages are mapped from a file, privately and not writable, and code is not written while a library is
        // loaded either: they are read again, as they are, when they are touched again.
        unsafe { madvise(range.start as *mut c_void, range.len(), MADV_DONTNEED) };
    }
}

/// The addresses of a line of `/proc/self/maps` that tells of a library's code.
fn code_of_library(line: &str) -> Option<Range<usize>> {
    let mut words = line.split_whitespace();
    let (addresses, permissions, path) = (words.next()?, words.next()?, words.nth(3)?);
    if permissions != "r-xp" || !(path.starts_with('/') && path.contains(".so")) {
        return None;
    }
    let (start, end) = addresses.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    Some(number(start)?..number(end)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_of_libraries_is_forgotten() {
        let line = |permissions, path| format!("7f00-7fff {permissions} 00001000 fe:00 42  {path}");
        let found = |permissions, path| code_of_library(&line(permissions, path));
        assert_eq!(found("r-xp", "/usr/lib/libc.so.6"), Some(0x7f00..0x7fff));
        assert_eq!(found("r--p", "/usr/lib/libc.so.6"), None);
        assert_eq!(found("rwxp", "/usr/lib/libc.so.6"), None);
        assert_eq!(found("r-xp", ""), None);
        assert_eq!(found("r-xp", "[vdso]"), None);
    }

    #[test]
    fn what_was_forgotten_still_runs() {
        trim_heap();
        forget_code();
        assert_eq!("7".parse::<f64>().map(f64::sin), Ok(7f64.sin()));
    }
}
