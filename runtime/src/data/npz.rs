//! npz, NumPy's zip of several npy files.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use zip::ZipArchive;
use zip::result::ZipError;

use super::source::{Source, open_file};
use super::{Named, npy};
use crate::error::Error;
use crate::host::{HostArray, TensorSpec};

pub fn describe(path: &Path) -> Result<Named<TensorSpec>, Error> {
    each(path, npy::describe)
}

pub fn read(path: &Path) -> Result<Named<HostArray>, Error> {
    each(path, npy::read)
}

/// Applies `visit` to each array of the archive, in its order.
fn each<T>(path: &Path, visit: impl Fn(Source<'_>) -> Result<T, Error>) -> Result<Named<T>, Error> {
    let malformed = |error: ZipError| Error::Malformed {
        path: path.to_path_buf(),
        format: "npz",
        reason: error.to_string(),
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

fn open(path: &Path) -> Result<ZipArchive<BufReader<File>>, Error> {
    let mut source = Source::open(path)?;
    let start = source.take(4)?;
    let start = start.as_slice();
    if !start.starts_with(b"PK") {
        return Err(Error::WrongMagic {
            path: path.to_path_buf(),
            expected: "50 4b".to_owned(),
            found: start.to_vec(),
        });
    }
    let (file, _) = open_file(path)?;
    ZipArchive::new(BufReader::new(file)).map_err(|error| Error::Malformed {
        path: path.to_path_buf(),
        format: "npz",
        reason: format!("{error}; it may be cut short"),
    })
}
