//! Files as memory: pages are read when they are looked at, and given up again when memory is short.

use std::fs::File;
use std::io;
use std::ops::Deref;

use memmap2::Mmap;

/// A file's bytes. A program that cuts the file short while it is mapped ends this process; one that replaces it, as
/// everything that `tpuc` writes is replaced, does not.
pub struct Mapped(Mmap);

impl Mapped {
    pub fn new(file: &File) -> io::Result<Mapped> {
        // SAFETY: the bytes are only read. That another process may write them meanwhile is what every reader of a file
        // has to live with: they are numbers, of which no bit pattern is invalid.
        unsafe { Mmap::map(file) }.map(Mapped)
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}
