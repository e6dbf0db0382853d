//! Datasets by name: the four IDX files of MNIST and of those made in its image.

use std::path::PathBuf;

use super::idx;
use super::source::Source;
use crate::error::Error;
use crate::host::{HostArray, TensorSpec};
use crate::surroundings::Surroundings;

/// The datasets that [`Dataset::find`] knows.
const NAMES: [&str; 2] = ["mnist", "fashion_mnist"];

/// An array of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    XTrain,
    YTrain,
    XTest,
    YTest,
}

impl Field {
    pub const ALL: [Field; 4] = [Field::XTrain, Field::YTrain, Field::XTest, Field::YTest];

    /// The field's name in a program.
    pub fn name(self) -> &'static str {
        match self {
            Field::XTrain => "x_train",
            Field::YTrain => "y_train",
            Field::XTest => "x_test",
            Field::YTest => "y_test",
        }
    }

    pub fn from_name(name: &str) -> Option<Field> {
        Field::ALL.into_iter().find(|field| field.name() == name)
    }

    /// The file's names, as published and as some archives unpack it.
    fn files(self) -> [&'static str; 2] {
        match self {
            Field::XTrain => ["train-images-idx3-ubyte", "train-images.idx3-ubyte"],
            Field::YTrain => ["train-labels-idx1-ubyte", "train-labels.idx1-ubyte"],
            Field::XTest => ["t10k-images-idx3-ubyte", "t10k-images.idx3-ubyte"],
            Field::YTest => ["t10k-labels-idx1-ubyte", "t10k-labels.idx1-ubyte"],
        }
    }

    /// Unsigned bytes; images of rank 3, labels of rank 1.
    fn magic(self) -> [u8; 4] {
        match self {
            Field::XTrain | Field::XTest => [0, 0, 8, 3],
            Field::YTrain | Field::YTest => [0, 0, 8, 1],
        }
    }
}

/// A dataset's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dataset {
    folder: PathBuf,
}

impl Dataset {
    /// Looks for the folder NAME in `$TPUC_DATA`, in `.deps/data` above the program and above the current
    /// folder, in the install folder, and in the user's cache.
    pub fn find(name: &str, around: &Surroundings) -> Result<Dataset, Error> {
        if !NAMES.contains(&name) {
            return Err(Error::DatasetUnknown {
                name: name.to_owned(),
                known: NAMES.to_vec(),
            });
        }
        let mut folders: Vec<PathBuf> = around
            .variable("TPUC_DATA")
            .map(PathBuf::from)
            .into_iter()
            .collect();
        folders.extend(around.deps("data"));
        folders.extend(around.installed("data"));
        folders.extend(around.cache());
        let folders: Vec<PathBuf> = folders.iter().map(|folder| folder.join(name)).collect();
        match folders.iter().find(|folder| folder.is_dir()) {
            Some(folder) => Ok(Dataset {
                folder: folder.clone(),
            }),
            None => Err(Error::DatasetMissing {
                name: name.to_owned(),
                looked: folders,
            }),
        }
    }

    /// The types of all fields, from the files' headers.
    pub fn describe(&self) -> Result<Vec<(Field, TensorSpec)>, Error> {
        Field::ALL
            .into_iter()
            .map(|field| {
                let spec = idx::describe_as(Source::open(&self.file(field))?, field.magic())?;
                Ok((field, spec))
            })
            .collect()
    }

    /// One field's array.
    pub fn read(&self, field: Field) -> Result<HostArray, Error> {
        idx::read_as(Source::open(&self.file(field))?, Some(field.magic()))
    }

    /// The file that exists, plain before gzip'd; the published name where none does.
    fn file(&self, field: Field) -> PathBuf {
        let names = field.files();
        let plain = names.iter().map(|name| self.folder.join(name));
        let gzipped = names
            .iter()
            .map(|name| self.folder.join(format!("{name}.gz")));
        plain
            .chain(gzipped)
            .find(|path| path.is_file())
            .unwrap_or_else(|| self.folder.join(names[0]))
    }
}
