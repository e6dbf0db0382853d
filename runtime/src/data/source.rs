//! An open data file, plain or gzip'd, that knows where it is for its errors.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::error::{DataError, Error};
use crate::ffi::Mapped;
use crate::host::{Bytes, HostArray, TensorSpec};

/// A data file from which a format is read, front to back.
pub struct Source<'a> {
    path: PathBuf,
    reader: Box<dyn Read + Send + 'a>,
    /// How many bytes there are in all; `None` where only reading tells.
    len: Option<u64>,
    taken: u64,
    /// Whether the bytes are those of the file at the path, as they are.
    is_file: bool,
}

const GZIP: &[u8] = &[0x1f, 0x8b];

/// From this many bytes on the elements of a file are mapped, not read.
const MAP_FROM: usize = 1 << 20;

impl<'a> Source<'a> {
    /// Opens a file, through gzip where its name ends in `.gz`.
    pub fn open(path: &Path) -> Result<Source<'a>, Error> {
        let (file, len) = open_file(path)?;
        let is_gzip = path.extension().is_some_and(|ending| ending == "gz");
        let mut buffered = BufReader::with_capacity(1 << 16, file);
        Ok(if is_gzip {
            let start = buffered
                .fill_buf()
                .map_err(|error| unreadable(path, &error))?;
            if !start.starts_with(GZIP) {
                let start = &start[..start.len().min(4)];
                return Err(DataError::wrong_magic(path, "1f 8b", start));
            }
            Source::new(path, MultiGzDecoder::new(buffered), None)
        } else {
            Source {
                is_file: true,
                ..Source::new(path, buffered, Some(len))
            }
        })
    }

    /// A source of `len` bytes inside the file at `path`.
    pub fn new(path: &Path, reader: impl Read + Send + 'a, len: Option<u64>) -> Source<'a> {
        Source {
            path: path.to_path_buf(),
            reader: Box::new(reader),
            len,
            taken: 0,
            is_file: false,
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many bytes there are in all, where that is known beforehand.
    pub fn len(&self) -> Option<u64> {
        self.len
    }

    /// How many bytes have been read.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// The next `len` bytes, fewer at the end.
    pub fn take(&mut self, len: usize) -> Result<Bytes, Error> {
        let bytes = Bytes::read_from(Forgiving(&mut self.reader), len)
            .map_err(|error| unreadable(&self.path, &error))?;
        self.taken += bytes.as_slice().len() as u64;
        Ok(bytes)
    }

    /// The elements of a dense array, which are all that is left. Large ones stay in their file until they are looked at.
    pub fn array_bytes(&mut self, spec: &TensorSpec) -> Result<Bytes, Error> {
        let wanted = spec.checked_len()?;
        let header = self.taken;
        let expected = header + wanted as u64;
        self.check_len(expected)?;
        if self.is_file
            && wanted >= MAP_FROM
            && self.len == Some(expected)
            && let Some(bytes) = self.mapped(header, wanted)
        {
            return Ok(bytes);
        }
        let bytes = self.take(wanted)?;
        let found = bytes.as_slice().len();
        if found < wanted {
            return Err(self.truncated(expected, header + found as u64));
        }
        // At its end a compressed stream is compared with its checksum, if that is there.
        let more = self.reader.read(&mut [0]);
        match more.map_err(|error| unreadable(&self.path, &error))? {
            0 => Ok(bytes),
            _ => Err(self.too_long()),
        }
    }

    /// A part of the file; `None` where the file system maps no files, so that it has to be read.
    fn mapped(&self, start: u64, len: usize) -> Option<Bytes> {
        let (file, _) = open_file(&self.path).ok()?;
        let file = Mapped::new(&file).ok()?;
        Bytes::of_file(file, usize::try_from(start).ok()?, len)
    }

    /// Compares the length that a header announces with the file's, where that is known.
    pub fn check_len(&self, expected: u64) -> Result<(), Error> {
        match self.len {
            Some(len) if len < expected => Err(self.truncated(expected, len)),
            _ => Ok(()),
        }
    }

    /// As [`Source::check_len`], for an array that follows what was read so far, and is all that follows.
    pub fn check_array(&self, spec: &TensorSpec) -> Result<(), Error> {
        let expected = self.taken + spec.checked_len()? as u64;
        self.check_len(expected)?;
        match self.len {
            Some(len) if len > expected => Err(self.too_long()),
            _ => Ok(()),
        }
    }

    fn too_long(&self) -> Error {
        self.malformed("data", "there are more bytes than its header announces")
    }

    /// Passes over the next `len` bytes, fewer at the end.
    pub fn skip(&mut self, len: u64) -> Result<(), Error> {
        let passed = io::copy(&mut Forgiving(&mut self.reader).take(len), &mut io::sink());
        self.taken += passed.map_err(|error| unreadable(&self.path, &error))?;
        Ok(())
    }

    pub fn truncated(&self, expected: u64, found: u64) -> Error {
        Error::Data(DataError::Truncated {
            path: self.path.clone(),
            expected,
            found,
        })
    }

    pub fn malformed(&self, format: &'static str, reason: impl ToString) -> Error {
        DataError::malformed(&self.path, format, reason)
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.taken += read as u64;
        Ok(read)
    }
}

/// Takes a compressed stream that breaks off as one that ends there: the caller knows how long it should be.
struct Forgiving<R>(R);

impl<R: Read> Read for Forgiving<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
            other => other,
        }
    }
}

/// An open file and its length. A folder is an error here, not at the first read; and so is what gives its bytes only
/// once, such as a pipe: the types of data are read before the data.
pub fn open_file(path: &Path) -> Result<(File, u64), Error> {
    let open = || {
        let metadata = path.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        if !metadata.is_file() {
            return Err(io::Error::other("it is no ordinary file"));
        }
        Ok((File::open(path)?, metadata.len()))
    };
    open().map_err(|error| unreadable(path, &error))
}

/// A stretch of a plain file, to be read by itself.
pub fn section(path: &Path, start: u64, len: u64) -> Result<impl Read + Send + use<>, Error> {
    let (mut file, _) = open_file(path)?;
    let sought = file.seek(SeekFrom::Start(start));
    sought.map_err(|error| unreadable(path, &error))?;
    Ok(BufReader::with_capacity(1 << 16, file.take(len)))
}

pub fn unreadable(path: &Path, error: &io::Error) -> Error {
    Error::Data(DataError::FileUnreadable {
        path: path.to_path_buf(),
        reason: match error.kind() {
            io::ErrorKind::NotFound => "there is no such file".to_owned(),
            io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
            io::ErrorKind::OutOfMemory => "it does not fit into memory".to_owned(),
            io::ErrorKind::UnexpectedEof => {
                "its compressed data breaks off before its end".to_owned()
            }
            _ => error.to_string(),
        },
    })
}

/// Reverses the bytes of each element: big-endian files, little-endian arrays.
pub fn swap_bytes(bytes: &mut Bytes, element_size: usize) {
    if element_size > 1 {
        for element in bytes.as_mut_slice().chunks_exact_mut(element_size) {
            element.reverse();
        }
    }
}

/// An array of a file. Its bytes are as many as its type says, which reading has made sure of.
pub fn array(spec: TensorSpec, bytes: Bytes) -> Result<HostArray, Error> {
    HostArray::new(spec.dtype, spec.shape, bytes)
}
