//! The rows of a file's arrays, front to back, without reading the file whole.
//!
//! Formats whose elements lie row after row are read as they come, compressed ones included. A csv or parquet file, an
//! image, and an npy file in column-major order are read whole and their rows given out.

use std::path::Path;

use super::images::Classes;
use super::source::{Source, swap_bytes};
use super::{Contents, Format, Wanted, format_of, idx, npy, npz, read_file, safetensors};
use crate::error::Error;
use crate::host::{Bytes, HostArray, TensorSpec};

/// How many bytes are read at a time.
const BLOCK: usize = 1 << 18;

/// An array of which the rows are taken one after another.
pub struct Rows {
    spec: TensorSpec,
    row_len: usize,
    from: From,
    /// What has been read and not been taken yet starts at `taken`.
    block: Bytes,
    taken: usize,
    /// Rows not read yet.
    left: usize,
}

enum From {
    Source {
        source: Source<'static>,
        swapped: bool,
    },
    Array(HostArray),
}

/// The arrays of one file that are wanted, by name; a file of one array has it under no name.
/// `classes`: of the pattern that the file belongs to, if any.
pub fn open(
    path: &Path,
    classes: Option<&Classes>,
    wanted: Wanted<'_>,
) -> Result<Vec<(String, Rows)>, Error> {
    let alone = |rows: Rows| vec![(String::new(), rows)];
    let of_array = |(name, array)| Ok((name, Rows::of_array(array)?));
    match format_of(path)? {
        Format::Npy => npy::rows(Source::open(path)?).map(alone),
        Format::Idx => idx::rows(Source::open(path)?).map(alone),
        Format::Npz => npz::rows(path, wanted),
        Format::Safetensors => safetensors::rows(path, wanted),
        Format::Csv | Format::Parquet | Format::Image => match read_file(path, classes, wanted)? {
            Contents::One(array) => Rows::of_array(array).map(alone),
            Contents::Named(arrays) => arrays.into_iter().map(of_array).collect(),
        },
    }
}

impl Rows {
    /// The rows of elements that come next in a source. `swapped`: their bytes are the wrong way round.
    pub fn of_source(
        spec: TensorSpec,
        source: Source<'static>,
        swapped: bool,
    ) -> Result<Rows, Error> {
        Rows::new(spec, From::Source { source, swapped })
    }

    pub fn of_array(array: HostArray) -> Result<Rows, Error> {
        Rows::new(array.spec().clone(), From::Array(array))
    }

    fn new(spec: TensorSpec, from: From) -> Result<Rows, Error> {
        let row = TensorSpec::new(spec.dtype, spec.shape.get(1..).unwrap_or_default());
        Ok(Rows {
            left: spec.shape.first().copied().unwrap_or(0),
            row_len: row.checked_len()?,
            spec,
            from,
            block: Bytes::zeroed(0),
            taken: 0,
        })
    }

    pub fn spec(&self) -> &TensorSpec {
        &self.spec
    }

    /// Copies the next row into `target`, which is as long as a row.
    pub fn next_into(&mut self, target: &mut [u8]) -> Result<(), Error> {
        if self.row_len == 0 {
            return Ok(());
        }
        if self.taken == self.block.as_slice().len() {
            self.fill()?;
        }
        let row = &self.block.as_slice()[self.taken..self.taken + self.row_len];
        target.copy_from_slice(row);
        self.taken += self.row_len;
        Ok(())
    }

    /// Reads the next few rows.
    fn fill(&mut self) -> Result<(), Error> {
        let rows = (BLOCK / self.row_len).clamp(1, self.left.max(1));
        let wanted = rows * self.row_len;
        self.block = match &mut self.from {
            From::Source { source, swapped } => {
                let mut bytes = source.take(wanted)?;
                let found = bytes.as_slice().len();
                if found < wanted {
                    let read = (self.spec.shape[0] - self.left) * self.row_len;
                    let whole = self.spec.shape[0] * self.row_len;
                    return Err(source.truncated(whole as u64, (read + found) as u64));
                }
                if *swapped {
                    swap_bytes(&mut bytes, self.spec.dtype.size());
                }
                bytes
            }
            From::Array(array) => {
                let start = (self.spec.shape[0] - self.left) * self.row_len;
                Bytes::from_slice(&array.bytes()[start..start + wanted])
            }
        };
        self.left -= rows;
        self.taken = 0;
        Ok(())
    }
}
