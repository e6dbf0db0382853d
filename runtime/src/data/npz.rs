//! npz, NumPy's zip of several npy files.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use flate2::read::DeflateDecoder;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::rows::Rows;
use super::source::{Source, open_file, section};
use super::{Named, npy};
use crate::error::{DataError, Error};
use crate::host::{HostArray, TensorSpec};

pub fn describe(path: &Path) -> Result<Named<TensorSpec>, Error> {
    each(path, npy::describe)
}

pub fn read(path: &Path) -> Result<Named<HostArray>, Error> {
    each(path, npy::read)
}

/// Applies `visit` to each array of the archive, in its order.
fn each<T>(path: &Path, visit: impl Fn(Source<'_>) -> Result<T, Error>) -> Result<Named<T>, Error> {
    let malformed = |error: ZipError| {
        Error::Data(DataError::Malformed {
            path: path.to_path_buf(),
            format: "npz",
            reason: error.to_string(),
        })
    };
    let mut archive = open(path)?;
    let mut arrays = Vec::with_capacity(archive.len());
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(malformed)?;
        let file = entry.name().map_err(malformed)?.into_owned();
        let Some(name) = file.strip_suffix(".npy").map(str::to_owned) else {
            continue;
        };
        // Errors name the array inside of the archive too.
        let place = path.join(&file);
        let len = entry.size();
        let source = Source::new(&place, BufReader::new(entry), Some(len));
        arrays.push((name, visit(source)?));
    }
    Ok(arrays)
}

/// The rows of each array, of which only those being taken are in memory.
///
/// The archive's own reader lends its entries out one at a time, and rows are taken of all of them side by side: each
/// gets the file anew, from the place where its bytes start.
pub fn rows(path: &Path) -> Result<Named<Rows>, Error> {
    let malformed = |reason: String| {
        Error::Data(DataError::Malformed {
            path: path.to_path_buf(),
            format: "npz",
            reason,
        })
    };
    let mut archive = open(path)?;
    let mut arrays = Vec::with_capacity(archive.len());
    for index in 0..archive.len() {
        let entry = archive
            .by_index(index)
            .map_err(|e| malformed(e.to_string()))?;
        let file = entry
            .name()
            .map_err(|e| malformed(e.to_string()))?
            .into_owned();
        let Some(name) = file.strip_suffix(".npy").map(str::to_owned) else {
            continue;
        };
        let place = path.join(&file);
        let start = entry.data_start().unwrap_or(0);
        let packed = section(path, start, entry.compressed_size())?;
        let len = Some(entry.size());
        let source = match entry.compression() {
            CompressionMethod::Stored => Source::new(&place, packed, len),
            CompressionMethod::Deflated => Source::new(&place, DeflateDecoder::new(packed), len),
            other => return Err(malformed(format!("`{name}` is compressed by {other}"))),
        };
        arrays.push((name, npy::rows(source)?));
    }
    Ok(arrays)
}

fn open(path: &Path) -> Result<ZipArchive<BufReader<File>>, Error> {
    let mut source = Source::open(path)?;
    let start = source.take(4)?;
    let start = start.as_slice();
    if !start.starts_with(b"PK") {
        return Err(Error::Data(DataError::WrongMagic {
            path: path.to_path_buf(),
            expected: "50 4b".to_owned(),
            found: start.to_vec(),
        }));
    }
    let (file, _) = open_file(path)?;
    ZipArchive::new(BufReader::new(file)).map_err(|error| {
        Error::Data(DataError::Malformed {
            path: path.to_path_buf(),
            format: "npz",
            reason: format!("{error}; it may be cut short"),
        })
    })
}
