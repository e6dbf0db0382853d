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

/// What the arrays of a file are: each by its name, or what keeps the language from having it.
type Found<T> = Named<Result<T, Error>>;

/// What a file is said to hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    pub contents: Contents<TensorSpec>,
    /// Arrays beside them that the language cannot have, such as texts, with the error of using one.
    pub left_out: Vec<(String, Error)>,
}

/// Which arrays of a file are to be read.
pub type Wanted<'a> = &'a dyn Fn(&str) -> bool;

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
pub fn describe(name: &Path) -> Result<Description, Error> {
    let (files, classes) = files_of(name)?;
    let mut left_out: Vec<(String, Error)> = Vec::new();
    let mut parts = Vec::with_capacity(files.len());
    for path in files {
        let part = describe_file(&path, classes.as_ref())?;
        for (name, error) in part.left_out {
            if left_out.iter().all(|(known, _)| *known != name) {
                left_out.push((name, error));
            }
        }
        parts.push((path, part.contents));
    }
    let contents = files::join_specs(parts)?;
    Ok(Description { contents, left_out })
}

/// The arrays of a file, or of all files of a pattern together: those that are wanted, or the only one where it has no
/// name.
pub fn read(name: &Path, wanted: Wanted<'_>) -> Result<Contents<HostArray>, Error> {
    let (files, classes) = files_of(name)?;
    let parts = files.into_iter().map(|path| {
        let contents = read_file(&path, classes.as_ref(), wanted)?;
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

fn describe_file(path: &Path, classes: Option<&Classes>) -> Result<Description, Error> {
    let alone = |contents| Description {
        contents,
        left_out: Vec::new(),
    };
    match format_of(path)? {
        Format::Npy => npy::describe(Source::open(path)?).map(|spec| alone(Contents::One(spec))),
        Format::Npz => described(npz::describe(path)?),
        Format::Safetensors => described(safetensors::describe(path)?),
        Format::Csv => csv::describe(path),
        Format::Parquet => described(parquet::describe(path)?),
        Format::Idx => idx::describe(Source::open(path)?).map(|spec| alone(Contents::One(spec))),
        Format::Image => images::describe(path, classes).map(alone),
    }
}

fn read_file(
    path: &Path,
    classes: Option<&Classes>,
    wanted: Wanted<'_>,
) -> Result<Contents<HostArray>, Error> {
    match format_of(path)? {
        Format::Npy => npy::read(Source::open(path)?).map(Contents::One),
        Format::Npz => had(npz::read(path, wanted)?),
        Format::Safetensors => had(safetensors::read(path, wanted)?),
        Format::Csv => csv::read(path, wanted),
        Format::Parquet => had(parquet::read(path, wanted)?),
        Format::Idx => idx::read(Source::open(path)?).map(Contents::One),
        Format::Image => images::read(path, classes),
    }
}

/// The arrays that the language has, and those that it lacks. Errors where it has none of several.
fn described(found: Found<TensorSpec>) -> Result<Description, Error> {
    let (specs, left_out) = sorted(found)?;
    Ok(Description {
        contents: Contents::Named(specs),
        left_out,
    })
}

/// The arrays that the language has. Errors where it has none of several.
fn had(found: Found<HostArray>) -> Result<Contents<HostArray>, Error> {
    Ok(Contents::Named(sorted(found)?.0))
}

fn sorted<T>(found: Found<T>) -> Result<(Named<T>, Named<Error>), Error> {
    let (mut had, mut lacked) = (Vec::new(), Vec::new());
    for (name, array) in found {
        match array {
            Ok(array) => had.push((name, array)),
            Err(error) => lacked.push((name, error)),
        }
    }
    match lacked.first() {
        Some((_, error)) if had.is_empty() => Err(error.clone()),
        _ => Ok((had, lacked)),
    }
}

/// An array; or, inside, the error of having one with elements that the language lacks.
fn if_had<T>(array: Result<T, Error>) -> Result<Result<T, Error>, Error> {
    match array {
        Err(error @ Error::Data(DataError::UnsupportedElement { .. })) => Ok(Err(error)),
        other => other.map(Ok),
    }
}

/// The arrays of a safetensors file, whatever its name.
pub(crate) fn safetensors(path: &Path) -> Result<Named<HostArray>, Error> {
    let found = safetensors::read(path, &|_| true)?;
    let all = found.into_iter();
    all.map(|(name, array)| Ok((name, array?))).collect()
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
        _ if path.is_dir() => Err(Error::Data(DataError::FileUnreadable {
            path: path.to_path_buf(),
            reason: format!(
                "it is a folder, and the files in it are named by a pattern, such as `{}`",
                path.join("*.png").display()
            ),
        })),
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
        let folder = format_of(Path::new("..")).unwrap_err();
        assert!(
            folder.to_string().contains("such as `../*.png`"),
            "{folder}"
        );
    }
}
