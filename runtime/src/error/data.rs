//! What can be wrong with data files and datasets.

use std::path::{Path, PathBuf};

use thiserror::Error as ThisError;

use super::{Error, hex, indented};

#[derive(Clone, Debug, PartialEq, ThisError)]
pub enum DataError {
    #[error("cannot read {path}: {reason}")]
    FileUnreadable { path: PathBuf, reason: String },
    #[error("the dataset \"{name}\" is not on this machine{}", .reason.as_ref().map_or(String::new(), |why| format!(", and {why}")))]
    DatasetMissing {
        name: String,
        looked: Vec<PathBuf>,
        /// Why it could not be fetched, where that was tried.
        reason: Option<String>,
    },
    #[error("there is no dataset \"{name}\"")]
    DatasetUnknown {
        name: String,
        known: Vec<&'static str>,
    },
    #[error("{path} does not start as it should: expected {expected}, found {}", hex(.found))]
    WrongMagic {
        path: PathBuf,
        expected: String,
        found: Vec<u8>,
    },
    #[error("{path} is cut short: its header announces {expected} bytes, and there are {found}")]
    Truncated {
        path: PathBuf,
        expected: u64,
        found: u64,
    },
    #[error("{path} is not a good {format} file: {reason}")]
    Malformed {
        path: PathBuf,
        format: &'static str,
        reason: String,
    },
    #[error("{path} has elements of type {found}, which the language does not have")]
    UnsupportedElement { path: PathBuf, found: String },
    #[error("{path} has a name of no known data format")]
    UnknownFormat { path: PathBuf },
    #[error("{path}, line {line}, column {column}: expected a number, found {found:?}")]
    CsvCell {
        path: PathBuf,
        line: u64,
        column: usize,
        found: String,
    },
    #[error("no data files {pattern}: {reason}")]
    NoFiles { pattern: PathBuf, reason: String },
    #[error("{first} and {other} cannot follow each other: {reason}")]
    FilesDiffer {
        first: PathBuf,
        other: PathBuf,
        reason: String,
    },
    #[error("the data of {name} has changed since the program was compiled: {reason}")]
    DataChanged { name: PathBuf, reason: String },
}

impl DataError {
    pub(crate) fn malformed(path: &Path, format: &'static str, reason: impl ToString) -> Error {
        Error::Data(DataError::Malformed {
            path: path.to_path_buf(),
            format,
            reason: reason.to_string(),
        })
    }

    pub(crate) fn wrong_magic(path: &Path, expected: &str, found: &[u8]) -> Error {
        Error::Data(DataError::WrongMagic {
            path: path.to_path_buf(),
            expected: expected.to_owned(),
            found: found.to_vec(),
        })
    }

    pub(super) fn code(&self) -> &'static str {
        match self {
            DataError::FileUnreadable { .. } => "E0701",
            DataError::DatasetMissing { .. } => "E0702",
            DataError::DatasetUnknown { .. } => "E0703",
            DataError::WrongMagic { .. } => "E0704",
            DataError::Truncated { .. } => "E0705",
            DataError::Malformed { .. } => "E0706",
            DataError::UnsupportedElement { .. } => "E0707",
            DataError::NoFiles { .. } => "E0708",
            DataError::FilesDiffer { .. } => "E0709",
            DataError::DataChanged { .. } => "E0710",
            DataError::UnknownFormat { .. } => "E0716",
            DataError::CsvCell { .. } => "E0717",
        }
    }

    pub(super) fn help(&self) -> Option<String> {
        match self {
            DataError::DatasetMissing { looked, .. } => {
                let looked: Vec<String> = looked.iter().map(|p| p.display().to_string()).collect();
                Some(format!(
                    "put its files, as they are published, into a folder of that name under $TPUC_DATA; looked in\n{}",
                    indented(&looked)
                ))
            }
            DataError::DatasetUnknown { known, .. } => {
                Some(format!("known are {}", known.join(", ")))
            }
            DataError::WrongMagic { .. } | DataError::Truncated { .. } => {
                Some("fetch the file again; the download may have been cut off".to_owned())
            }
            DataError::UnsupportedElement { .. } => Some(
                "write the file with numbers in their place, or without them".to_owned(),
            ),
            DataError::UnknownFormat { .. } => Some(
                "the name should end in .npy, .npz, .safetensors, .csv, .parquet, .png, .jpg, .idx or -ubyte; npy and IDX files may have .gz after it"
                    .to_owned(),
            ),
            DataError::FilesDiffer { .. } => Some(
                "files that follow each other have the same arrays, which differ in nothing but the number of rows"
                    .to_owned(),
            ),
            DataError::CsvCell { found, .. } if found.is_empty() => {
                Some("a missing value is written as a number, such as `nan`".to_owned())
            }
            DataError::CsvCell { found, .. } if found.contains([';', '\t']) => {
                Some("cells are separated by commas".to_owned())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// One of each.
    pub fn samples() -> Vec<DataError> {
        let path = || PathBuf::from("/data/x.npy");
        let text = |text: &str| text.to_owned();
        vec![
            DataError::FileUnreadable {
                path: path(),
                reason: text("there is no such file"),
            },
            DataError::DatasetMissing {
                name: text("mnist"),
                looked: vec!["/a/mnist".into(), "/b/mnist".into()],
                reason: Some(text("fetching it failed: curl: (6) Could not resolve host")),
            },
            DataError::DatasetUnknown {
                name: text("mnits"),
                known: vec!["mnist", "fashion_mnist", "cifar10"],
            },
            DataError::WrongMagic {
                path: path(),
                expected: text("93 4e 55 4d 50 59"),
                found: b"<html>".to_vec(),
            },
            DataError::Truncated {
                path: path(),
                expected: 47040016,
                found: 1000,
            },
            DataError::Malformed {
                path: path(),
                format: "npy",
                reason: text("a dimension is too large"),
            },
            DataError::UnsupportedElement {
                path: path(),
                found: text("'<c16'"),
            },
            DataError::UnknownFormat {
                path: "/data/x.txt".into(),
            },
            DataError::CsvCell {
                path: "/data/x.csv".into(),
                line: 3,
                column: 2,
                found: text("four"),
            },
            DataError::NoFiles {
                pattern: "/data/*.npz".into(),
                reason: text("no file matches it"),
            },
            DataError::FilesDiffer {
                first: "/data/a.npy".into(),
                other: "/data/b.npy".into(),
                reason: text("`x` is f32[3, 4] in the one and f32[3, 5] in the other"),
            },
            DataError::DataChanged {
                name: "/data/*.npz".into(),
                reason: text("there are fewer rows"),
            },
        ]
    }
}
