//! What the checker asks of the outside, answered from disk.

use crate::convert;
use std::path::{Path, PathBuf};
use tpuc_lang::source::{LoadError, Loader};
use tpuc_lang::typed::Ty;
use tpuc_runtime::data::{self, Contents, Dataset};
use tpuc_runtime::host::TensorSpec;
use tpuc_runtime::{Error, Surroundings};

/// Imports are found beside the file that imports them; data where the runtime looks for it.
pub struct DiskLoader<'a> {
    root: PathBuf,
    around: &'a Surroundings,
}

impl<'a> DiskLoader<'a> {
    pub fn new(file: &Path, around: &'a Surroundings) -> Self {
        DiskLoader {
            root: file.to_path_buf(),
            around,
        }
    }
}

impl Loader for DiskLoader<'_> {
    fn import(&self, from: &str, path: &str) -> Result<(String, String), String> {
        let from = if from.is_empty() {
            self.root.as_path()
        } else {
            Path::new(from)
        };
        let found = from.parent().unwrap_or(Path::new("")).join(path);
        match std::fs::read_to_string(&found) {
            Ok(text) => Ok((found.display().to_string(), text)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                Err(format!("there is no file `{}`", found.display()))
            }
            Err(e) => Err(format!("cannot read `{}`: {e}", found.display())),
        }
    }

    fn dataset(&self, name: &str) -> Result<Ty, LoadError> {
        let say = |what: &str| eprintln!("note: {what}");
        let fields = Dataset::find_or_fetch(name, self.around, &say)
            .and_then(|d| d.describe())
            .map_err(load_error)?;
        Ok(record(
            fields.iter().map(|(field, spec)| (field.name(), spec)),
        ))
    }

    fn load(&self, path: &str) -> Result<Ty, LoadError> {
        Ok(match data::describe(Path::new(path)).map_err(load_error)? {
            Contents::One(spec) => convert::tensor_ty(&spec),
            Contents::Named(many) => record(many.iter().map(|(name, spec)| (name.as_str(), spec))),
        })
    }
}

fn record<'s>(fields: impl Iterator<Item = (&'s str, &'s TensorSpec)>) -> Ty {
    Ty::Record(
        fields
            .map(|(name, spec)| (name.into(), convert::tensor_ty(spec)))
            .collect(),
    )
}

fn load_error(e: Error) -> LoadError {
    LoadError {
        code: e.code(),
        message: e.to_string(),
        help: e.help(),
    }
}
