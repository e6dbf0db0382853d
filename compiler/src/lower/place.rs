//! Spans of the source as MLIR locations, file, line and column, each made once.

use melior::Context;
use melior::ir::Location;
use std::cell::RefCell;
use std::collections::HashMap;
use tpuc_lang::source::Sources;
use tpuc_lang::span::{FileId, Span};

pub struct Places<'c, 's> {
    context: &'c Context,
    sources: Option<&'s Sources>,
    made: RefCell<HashMap<(FileId, u32), Location<'c>>>,
    line_starts: RefCell<HashMap<FileId, Vec<usize>>>,
}

impl<'c, 's> Places<'c, 's> {
    /// Without sources every location is unknown.
    pub fn new(context: &'c Context, sources: Option<&'s Sources>) -> Self {
        Places {
            context,
            sources,
            made: RefCell::default(),
            line_starts: RefCell::default(),
        }
    }

    /// The place where a span begins; unknown for the default span, which stands for no source.
    pub fn location(&self, span: Span) -> Location<'c> {
        let Some(sources) = self.sources.filter(|_| span != Span::default()) else {
            return Location::unknown(self.context);
        };
        *self
            .made
            .borrow_mut()
            .entry((span.file, span.start))
            .or_insert_with(|| {
                let file = sources.get(span.file);
                let (line, column) = self.line_column(span.file, &file.text, span.start as usize);
                Location::new(self.context, &file.name, line, column)
            })
    }

    /// The same as [`Sources::line_col`], without reading the file from its beginning each time.
    fn line_column(&self, id: FileId, text: &str, offset: usize) -> (usize, usize) {
        let mut files = self.line_starts.borrow_mut();
        let starts = files.entry(id).or_insert_with(|| {
            let breaks = text.match_indices('\n').map(|(i, _)| i + 1);
            std::iter::once(0).chain(breaks).collect()
        });
        let line = starts.partition_point(|&start| start <= offset);
        let column = text[starts[line - 1]..offset].chars().count() + 1;
        (line, column)
    }
}
