//! What the tests of data files share: the reference files, and reading one in both ways.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;
use tpuc_runtime::Error;
use tpuc_runtime::data::Contents;
use tpuc_runtime::host::{Element, HostArray, TensorSpec};

use super::{describe, read, unpack};

/// A folder with the files of the reference tables.
pub fn reference() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    unpack(include_str!("../reference/numpy_files.txt"), folder.path());
    unpack(
        include_str!("../reference/parquet_files.txt"),
        folder.path(),
    );
    folder
}

pub fn write(folder: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The array of a file that has one; its description says the same.
pub fn one(path: &Path) -> HostArray {
    match (describe(path).unwrap(), read(path).unwrap()) {
        (Contents::One(spec), Contents::One(array)) => {
            assert_eq!(&spec, array.spec());
            array
        }
        other => panic!("not one array: {other:?}"),
    }
}

/// The arrays of a file that names them; their description says the same.
pub fn named(path: &Path) -> Vec<(String, HostArray)> {
    match (describe(path).unwrap(), read(path).unwrap()) {
        (Contents::Named(specs), Contents::Named(arrays)) => {
            let found: Vec<(String, TensorSpec)> = arrays
                .iter()
                .map(|(name, array)| (name.clone(), array.spec().clone()))
                .collect();
            assert_eq!(specs, found);
            arrays
        }
        other => panic!("not named: {other:?}"),
    }
}

/// The error of reading and of describing, which must be the same.
pub fn refused(path: &Path) -> Error {
    let error = read(path).unwrap_err();
    assert_eq!(describe(path).unwrap_err(), error);
    error
}

pub fn array<T: Element>(shape: &[usize], elements: &[T]) -> HostArray {
    HostArray::from_elements(shape, elements).unwrap()
}
