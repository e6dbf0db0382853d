//! Datasets by name: the four IDX files of MNIST and of those made in its image, and CIFAR-10.

use std::path::PathBuf;

use super::download::{Download, PUBLISHED};
use super::source::Source;
use super::{cifar, idx};
use crate::error::{DataError, Error, PluginError};
use crate::host::{HostArray, TensorSpec};
use crate::surroundings::Surroundings;

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
    name: &'static str,
    folder: PathBuf,
}

impl Dataset {
    /// Looks for the folder NAME in `$TPUC_DATA`, in `.deps/data` above the program and above the current
    /// folder, in the install folder, and in the user's cache.
    pub fn find(name: &str, around: &Surroundings) -> Result<Dataset, Error> {
        let known = PUBLISHED.map(|published| published.name);
        let Some(&name) = known.iter().find(|known| **known == name) else {
            return Err(Error::Data(DataError::DatasetUnknown {
                name: name.to_owned(),
                known: known.to_vec(),
            }));
        };
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
                name,
                folder: folder.clone(),
            }),
            None => Err(Error::Data(DataError::DatasetMissing {
                name: name.to_owned(),
                looked: folders,
                reason: None,
            })),
        }
    }

    /// As [`Dataset::find`], and where it is nowhere it is fetched: into `$TPUC_DATA`, or else into the user's cache.
    /// `say` is told before that begins.
    pub fn find_or_fetch(
        name: &str,
        around: &Surroundings,
        say: &dyn Fn(&str),
    ) -> Result<Dataset, Error> {
        let missing = match Dataset::find(name, around) {
            Err(Error::Data(DataError::DatasetMissing { name, looked, .. })) => {
                move |reason: String| {
                    let (name, looked) = (name.clone(), looked.clone());
                    let reason = Some(reason);
                    Error::Data(DataError::DatasetMissing {
                        name,
                        looked,
                        reason,
                    })
                }
            }
            other => return other,
        };
        let download = Download::of(name, around).map_err(&missing)?;
        let parent = around.variable("TPUC_DATA").map(PathBuf::from);
        let parent = parent.or_else(|| around.cache());
        let parent = parent.ok_or_else(|| missing("there is no folder to put it".to_owned()))?;
        let (from, to) = (download.address(), parent.display());
        say(&format!(
            "fetching the dataset \"{name}\" from {from} into {to}"
        ));
        let fetched = download.fetch(&parent);
        let folder = fetched.map_err(|error| match error {
            Error::Plugin(PluginError::FetchFailed { reason, .. }) => {
                missing(format!("fetching it failed: {reason}"))
            }
            other => other,
        })?;
        let name = PUBLISHED.iter().find(|published| published.name == name);
        let name = name.map_or("", |published| published.name);
        Ok(Dataset { name, folder })
    }

    /// The types of all fields, from the files' headers.
    pub fn describe(&self) -> Result<Vec<(Field, TensorSpec)>, Error> {
        Field::ALL
            .into_iter()
            .map(|field| Ok((field, self.describe_field(field)?)))
            .collect()
    }

    fn describe_field(&self, field: Field) -> Result<TensorSpec, Error> {
        match self.name {
            "cifar10" => cifar::describe(&self.folder, field),
            _ => idx::describe_as(Source::open(&self.file(field))?, field.magic()),
        }
    }

    /// One field's array.
    pub fn read(&self, field: Field) -> Result<HostArray, Error> {
        if self.name == "cifar10" {
            return cifar::read(&self.folder, field);
        }
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
