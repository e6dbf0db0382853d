//! npz, NumPy's zip of several npy files.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use flate2::read::DeflateDecoder;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::rows::Rows;
use super::source::{Source, open_file, section};
use super::{Found, Named, Wanted, if_had, npy};
use crate::error::{DataError, Error};
use crate::host::{HostArray, TensorSpec};

pub fn describe(path: &Path) -> Result<Found<TensorSpec>, Error> {
    each(path, &|_| true, npy::describe)
}

pub fn read(path: &Path, wanted: Wanted<'_>) -> Result<Found<HostArray>, Error> {
    each(path, wanted, npy::read)
}

/// Applies `visit` to each array of the archive that is wanted, in its order.
fn each<T>(
    path: &Path,
    wanted: Wanted<'_>,
    visit: impl Fn(Source<'_>) -> Result<T, Error>,
) -> Result<Found<T>, Error> {
    let malformed = |error: ZipError| DataError::malformed(path, "npz", error);
    let mut archive = open(path)?;
    let mut arrays = Vec::with_capacity(archive.len());
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(malformed)?;
        let file = entry.name().map_err(malformed)?.into_owned();
        let Some(name) = array_name(&file, wanted) else {
            continue;
        };
        // Errors name the array inside of the archive too.
        let place = path.join(&file);
        let len = entry.size();
        let source = Source::new(&place, BufReader::new(entry), Some(len));
        arrays.push((name, if_had(visit(source))?));
    }
    Ok(arrays)
}

/// The rows of each array that is wanted, of which only those being taken are in memory.
///
/// The archive's own reader lends its entries out one at a time, and rows are taken of all of them side by side: each
/// gets the file anew, from the place where its bytes start.
pub fn rows(path: &Path, wanted: Wanted<'_>) -> Result<Named<Rows>, Error> {
    let malformed = |error: ZipError| DataError::malformed(path, "npz", error);
    let mut archive = open(path)?;
    let mut arrays = Vec::with_capacity(archive.len());
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(malformed)?;
        let file = entry.name().map_err(malformed)?.into_owned();
        let Some(name) = array_name(&file, wanted) else {
            continue;
        };
        let place = path.join(&file);
        let start = entry.data_start().unwrap_or(0);
        let packed = section(path, start, entry.compressed_size())?;
        let len = Some(entry.size());
        let source = match entry.compression() {
            CompressionMethod::Stored => Source::new(&place, packed, len),
            CompressionMethod::Deflated => Source::new(&place, DeflateDecoder::new(packed), len),
            other => {
                let reason = format!("`{name}` is compressed by {other}");
                return Err(DataError::malformed(path, "npz", reason));
            }
        };
        arrays.push((name, npy::rows(source)?));
    }
    Ok(arrays)
}

/// The name of an array that is wanted; other files may be in the archive too.
fn array_name(file: &str, wanted: Wanted<'_>) -> Option<String> {
    let name = file.strip_suffix(".npy")?;
    wanted(name).then(|| name.to_owned())
}

fn open(path: &Path) -> Result<ZipArchive<BufReader<File>>, Error> {
    let mut source = Source::open(path)?;
    let start = source.take(4)?;
    let start = start.as_slice();
    if !start.starts_with(b"PK") {
        return Err(DataError::wrong_magic(path, "50 4b", start));
    }
    let (file, _) = open_file(path)?;
    ZipArchive::new(BufReader::new(file))
        .map_err(|error| DataError::malformed(path, "npz", format!("{error}; it may be cut short")))
}
