//! Bytes at a 64-byte boundary, which plugins can use in place instead of copying; or in a file, wherever they are there.

use std::fmt;
use std::io::{self, Read};

use crate::ffi::Mapped;

/// The alignment that CPU plugins ask of host memory to use it without a copy.
const ALIGNMENT: usize = 64;

/// A block of bytes.
pub struct Bytes {
    storage: Storage,
    start: usize,
    len: usize,
}

enum Storage {
    /// A little longer than needed; the block starts at the first aligned byte.
    Own(Vec<u8>),
    /// The block is a part of a file. NumPy puts its elements at a 64-byte boundary.
    File(Mapped),
}

impl Bytes {
    pub fn zeroed(len: usize) -> Bytes {
        let storage = vec![0; len + ALIGNMENT];
        let start = padding(&storage);
        Bytes {
            storage: Storage::Own(storage),
            start,
            len,
        }
    }

    /// A part of a file; `None` where it has no such part.
    pub fn of_file(file: Mapped, start: usize, len: usize) -> Option<Bytes> {
        let end = start.checked_add(len)?;
        (end <= file.len()).then_some(Bytes {
            storage: Storage::File(file),
            start,
            len,
        })
    }

    /// So many times the same few bytes; `None` where memory does not hold them. Zeros take none until they are read.
    pub fn repeated(unit: &[u8], count: usize) -> Option<Bytes> {
        let len = unit.len().checked_mul(count)?;
        let mut room: Vec<u8> = Vec::new();
        room.try_reserve_exact(len.checked_add(ALIGNMENT)?).ok()?;
        drop(room);
        let mut block = Bytes::zeroed(len);
        if unit.iter().any(|&b| b != 0) {
            for chunk in block.as_mut_slice().chunks_exact_mut(unit.len()) {
                chunk.copy_from_slice(unit);
            }
        }
        Some(block)
    }

    pub fn from_slice(bytes: &[u8]) -> Bytes {
        let mut block = Bytes::zeroed(bytes.len());
        block.as_mut_slice().copy_from_slice(bytes);
        block
    }

    /// Reads up to `len` bytes; the block is shorter where the reader ends earlier.
    /// A `len` that memory does not hold is an error, not an abort.
    pub fn read_from(reader: impl Read, len: usize) -> io::Result<Bytes> {
        let mut storage = Vec::new();
        storage
            .try_reserve_exact(len.saturating_add(ALIGNMENT))
            .map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let start = padding(&storage);
        storage.resize(start, 0);
        let len = reader.take(len as u64).read_to_end(&mut storage)?;
        Ok(Bytes {
            storage: Storage::Own(storage),
            start,
            len,
        })
    }

    pub fn as_slice(&self) -> &[u8] {
        let storage = match &self.storage {
            Storage::Own(storage) => storage,
            Storage::File(file) => &**file,
        };
        &storage[self.start..self.start + self.len]
    }

    /// What is in a file is copied first.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        if let Storage::File(_) = &self.storage {
            *self = Bytes::from_slice(self.as_slice());
        }
        match &mut self.storage {
            Storage::Own(storage) => &mut storage[self.start..self.start + self.len],
            Storage::File(_) => unreachable!("it was copied just now"),
        }
    }
}

/// Bytes from the start of the storage to the first aligned one.
fn padding(storage: &[u8]) -> usize {
    let address = storage.as_ptr().addr();
    address.next_multiple_of(ALIGNMENT) - address
}

impl Clone for Bytes {
    fn clone(&self) -> Bytes {
        Bytes::from_slice(self.as_slice())
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Bytes) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({})", self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_make_them_is_aligned() {
        for len in [0, 1, 63, 64, 1000, 1 << 20] {
            let source: Vec<u8> = (0..len).map(|i| i as u8).collect();
            let read = Bytes::read_from(source.as_slice(), len).unwrap();
            let copied = Bytes::from_slice(&source);
            for bytes in [&read, &copied, &copied.clone()] {
                assert_eq!(bytes.as_slice(), source);
                assert_eq!(bytes.as_slice().as_ptr().addr() % ALIGNMENT, 0);
            }
        }
    }

    #[test]
    fn a_short_reader_gives_a_short_block() {
        let bytes = Bytes::read_from([1u8, 2, 3].as_slice(), 10).unwrap();
        assert_eq!(bytes.as_slice(), [1, 2, 3]);
    }

    #[test]
    fn an_impossible_length_is_an_error() {
        let result = Bytes::read_from([1u8].as_slice(), usize::MAX - 100);
        assert_eq!(result.unwrap_err().kind(), io::ErrorKind::OutOfMemory);
    }
}
