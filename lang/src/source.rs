//! The texts of a program.

use crate::span::{FileId, Span};
use crate::typed::Ty;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// As shown in messages: the path the user gave, or `<std>/optim.tl`.
    pub name: String,
    pub text: String,
}

#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.files.push(SourceFile {
            name: name.into(),
            text: text.into(),
        });
        FileId(self.files.len() as u32 - 1)
    }

    pub fn get(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    pub fn text(&self, span: Span) -> &str {
        &self.get(span.file).text[span.start as usize..span.end as usize]
    }

    pub fn iter(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files
            .iter()
            .enumerate()
            .map(|(i, f)| (FileId(i as u32), f))
    }

    /// One-based line and column (in characters) of the start of a span.
    pub fn line_col(&self, span: Span) -> (usize, usize) {
        let before = &self.get(span.file).text[..span.start as usize];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |l| l.chars().count()) + 1;
        (line, column)
    }
}

/// What the checker asks of the outside; the command answers from disk, tests from tables.
pub trait Loader {
    /// The text of an imported file, named relative to the file that imports it: a name to show and the text.
    fn import(&self, from: &str, path: &str) -> Result<(String, String), String>;
    /// The type of `dataset("name")`, a record of tensors, from the headers of its files.
    fn dataset(&self, name: &str) -> Result<Ty, LoadError>;
    /// What `load("path")` gives.
    fn load(&self, path: &str) -> Result<LoadedData, LoadError>;
}

/// Data of a file.
#[derive(Clone, Debug)]
pub struct LoadedData {
    /// A tensor, or a record of tensors.
    pub ty: Ty,
    /// What the file has beside them and no type can hold, such as texts, by name, with the error of using it.
    pub left_out: Vec<(String, LoadError)>,
}

impl From<Ty> for LoadedData {
    /// Nothing is left out.
    fn from(ty: Ty) -> LoadedData {
        LoadedData {
            ty,
            left_out: Vec::new(),
        }
    }
}

/// Why data cannot be described: a code of the data catalogue (`E07xx`), a message, and a help line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    pub code: &'static str,
    pub message: String,
    pub help: Option<String>,
}
