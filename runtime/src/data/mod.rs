//! Data files: IDX, npy, npz, safetensors, csv, parquet and images, each described cheaply and read whole.
//!
//! A description gives the names, element types and shapes that the compiler needs, from the file's header
//! (of a csv, which has none, from its rows). Reading gives the arrays. The format is that of the name's
//! ending. Nothing is converted but byte order and the order of axes. A name may be a pattern of several files
//! ([`files`]), and what does not fit into memory is read in shuffled batches ([`batches`], [`rows`]).

mod batches;
mod cifar;
mod csv;
mod dataset;
mod download;
mod files;
mod idx;
mod images;
mod npy;
mod npz;
mod parquet;
mod rows;
mod safetensors;
mod source;

use std::path::{Path, PathBuf};

pub use batches::{Batches, POOL_BYTES, Request};
pub use dataset::{Dataset, Field};
pub use download::Download;

use crate::error::{DataError, Error};
use crate::host::{HostArray, TensorSpec};
use images::Classes;
use source::Source;

/// What a file holds: one array without a name, or arrays by name in the file's order.
#[derive(Clone, Debug, PartialEq)]
pub enum Contents<T> {
    One(T),
    Named(Named<T>),
}

type Named<T> = Vec<(String, T)>;

/// The kinds of file, by the ending of the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Npy,
    Npz,
    Safetensors,
    Csv,
    Idx,
    Parquet,
    Image,
}

/// Element types and shapes of the arrays of a file, or of all files of a pattern together.
pub fn describe(name: &Path) -> Result<Contents<TensorSpec>, Error> {
    let (files, classes) = files_of(name)?;
    let parts = files.into_iter().map(|path| {
        let contents = describe_file(&path, classes.as_ref())?;
        Ok((path, contents))
    });
    files::join_specs(parts.collect::<Result<_, Error>>()?)
}

/// The arrays of a file, or of all files of a pattern together.
pub fn read(name: &Path) -> Result<Contents<HostArray>, Error> {
    let (files, classes) = files_of(name)?;
    let parts = files.into_iter().map(|path| {
        let contents = read_file(&path, classes.as_ref())?;
        Ok((path, contents))
    });
    files::join_arrays(parts.collect::<Result<_, Error>>()?)
}

/// The files of a name, and where it is a pattern, the classes of their folders.
fn files_of(name: &Path) -> Result<(Vec<PathBuf>, Option<Classes>), Error> {
    let files = files::expand(name)?;
    let classes = files::is_pattern(name).then(|| Classes::of(&files));
    Ok((files, classes))
}

fn describe_file(path: &Path, classes: Option<&Classes>) -> Result<Contents<TensorSpec>, Error> {
    match format_of(path)? {
        Format::Npy => npy::describe(Source::open(path)?).map(Contents::One),
        Format::Npz => npz::describe(path).map(Contents::Named),
        Format::Safetensors => safetensors::describe(path).map(Contents::Named),
        Format::Csv => csv::describe(path),
        Format::Parquet => parquet::describe(path).map(Contents::Named),
        Format::Idx => idx::describe(Source::open(path)?).map(Contents::One),
        Format::Image => images::describe(path, classes),
    }
}

fn read_file(path: &Path, classes: Option<&Classes>) -> Result<Contents<HostArray>, Error> {
    match format_of(path)? {
        Format::Npy => npy::read(Source::open(path)?).map(Contents::One),
        Format::Npz => npz::read(path).map(Contents::Named),
        Format::Safetensors => safetensors::read(path).map(Contents::Named),
        Format::Csv => csv::read(path),
        Format::Parquet => parquet::read(path).map(Contents::Named),
        Format::Idx => idx::read(Source::open(path)?).map(Contents::One),
        Format::Image => images::read(path, classes),
    }
}

/// The arrays of a safetensors file, whatever its name.
pub(crate) fn safetensors(path: &Path) -> Result<Named<HostArray>, Error> {
    safetensors::read(path)
}

fn format_of(path: &Path) -> Result<Format, Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_ascii_lowercase();
    let plain = name.strip_suffix(".gz");
    let (ending, is_gzip) = (plain.unwrap_or(&name), plain.is_some());
    let has = |ends: &[&str]| ends.iter().any(|end| ending.ends_with(end));
    if has(&[".idx", "-ubyte", ".idx1", ".idx3"]) {
        return Ok(Format::Idx);
    }
    match ending.rsplit_once('.') {
        Some((_, "npy")) => Ok(Format::Npy),
        Some((_, "npz")) if !is_gzip => Ok(Format::Npz),
        Some((_, "safetensors")) if !is_gzip => Ok(Format::Safetensors),
        Some((_, "csv")) if !is_gzip => Ok(Format::Csv),
        Some((_, "parquet")) if !is_gzip => Ok(Format::Parquet),
        Some((_, "png" | "jpg" | "jpeg")) if !is_gzip => Ok(Format::Image),
        _ => Err(Error::Data(DataError::UnknownFormat {
            path: path.to_path_buf(),
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_gives_the_format() {
        let format = |name: &str| format_of(Path::new(name)).ok();
        assert_eq!(format("a/b.npy"), Some(Format::Npy));
        assert_eq!(format("B.NPZ"), Some(Format::Npz));
        assert_eq!(format("x.npy.gz"), Some(Format::Npy));
        assert_eq!(format("train-images-idx3-ubyte"), Some(Format::Idx));
        assert_eq!(format("train-images-idx3-ubyte.gz"), Some(Format::Idx));
        assert_eq!(format("t.idx"), Some(Format::Idx));
        assert_eq!(format("a/b.JPG"), Some(Format::Image));
        for name in ["x", "x.txt", "x.csv.gz", "x.png.gz", "npy", ".."] {
            assert_eq!(format(name), None, "{name}");
        }
    }
}
