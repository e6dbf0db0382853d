//! Where the lines of each file start, and the files as codespan-reporting asks for them.

use crate::source::Sources;
use crate::span::{FileId, Span};
use codespan_reporting::diagnostic::Label;
use codespan_reporting::files::{self, Error, Files};
use std::ops::Range;

pub struct Lines<'a> {
    sources: &'a Sources,
    /// Of each file, the first byte of each line.
    starts: Vec<Vec<usize>>,
    /// Of each file, whether its characters are its bytes.
    ascii: Vec<bool>,
}

impl<'a> Lines<'a> {
    pub fn new(sources: &'a Sources) -> Self {
        let starts = sources
            .iter()
            .map(|(_, file)| files::line_starts(&file.text).collect())
            .collect();
        let ascii = sources.iter().map(|(_, f)| f.text.is_ascii()).collect();
        Lines {
            sources,
            starts,
            ascii,
        }
    }

    /// The span as a range of its file's text that starts and ends between characters.
    pub fn clamp(&self, span: Span) -> Range<usize> {
        let text = &self.sources.get(span.file).text;
        let start = floor(text, span.start as usize);
        let end = floor(text, span.end as usize);
        start..end.max(start)
    }

    /// One-based line and column, in characters.
    pub fn position(&self, file: FileId, byte: usize) -> (usize, usize) {
        let line = self.line(file, byte);
        let text = &self.sources.get(file).text;
        let start = self.starts[file.0 as usize][line];
        let column = match self.ascii[file.0 as usize] {
            true => byte - start,
            false => text[start..byte].chars().count(),
        };
        (line + 1, column + 1)
    }

    /// The length, in bytes, of the longest line that a label starts or ends on.
    pub fn longest(&self, labels: &[Label<FileId>]) -> usize {
        let ends = labels
            .iter()
            .flat_map(|l| [(l.file_id, l.range.start), (l.file_id, l.range.end)]);
        let length = |(file, byte): (FileId, usize)| {
            let starts = &self.starts[file.0 as usize];
            let line = self.line(file, byte);
            let len = self.sources.get(file).text.len();
            starts.get(line + 1).copied().unwrap_or(len) - starts[line]
        };
        ends.map(length).max().unwrap_or(0)
    }

    pub fn name(&self, file: FileId) -> &'a str {
        &self.sources.get(file).name
    }

    fn line(&self, file: FileId, byte: usize) -> usize {
        let starts = &self.starts[file.0 as usize];
        starts.partition_point(|s| *s <= byte).saturating_sub(1)
    }
}

fn floor(text: &str, byte: usize) -> usize {
    let mut byte = byte.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    byte
}

impl<'a> Files<'a> for Lines<'_> {
    type FileId = FileId;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: FileId) -> Result<&'a str, Error> {
        Ok(&self.sources.get(id).name)
    }

    fn source(&'a self, id: FileId) -> Result<&'a str, Error> {
        Ok(&self.sources.get(id).text)
    }

    fn line_index(&'a self, id: FileId, byte: usize) -> Result<usize, Error> {
        Ok(self.line(id, byte))
    }

    fn line_range(&'a self, id: FileId, line: usize) -> Result<Range<usize>, Error> {
        let starts = &self.starts[id.0 as usize];
        let len = self.sources.get(id).text.len();
        match starts.get(line) {
            Some(start) => Ok(*start..starts.get(line + 1).copied().unwrap_or(len)),
            None => Err(Error::LineTooLarge {
                given: line,
                max: starts.len().saturating_sub(1),
            }),
        }
    }
}
