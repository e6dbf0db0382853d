//! The formatter: one style, over the tokens of a correct program.
//!
//! Four spaces, at most 100 characters a line, one space around operators. It keeps the user's words, comments, single
//! empty lines, and parentheses. A list or block that is broken behind its opening bracket stays broken, with the
//! elements that shared a line still sharing it; everything else goes on one line if it fits. Columns that were
//! aligned, of list elements or of comments at the ends of lines, are aligned in the result.
//!
//! [`tokens`] prepares, [`layout`] and [`lists`] make a [`doc`], [`print`] sets it in lines.

mod doc;
mod layout;
mod lists;
mod print;
mod spacing;
mod tokens;

use crate::diag::Diagnostic;
use crate::span::FileId;
use crate::{lexer, parser};

/// The program in the one style; formatting the result again changes nothing. Fails, with the syntax errors, if the
/// text is not a program.
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    let parsed = parser::parse(FileId(0), text);
    if !parsed.diagnostics.is_empty() {
        return Err(parsed.diagnostics);
    }
    let lexed = lexer::lex(FileId(0), text);
    let pieces = tokens::prepare(text, &lexed, &parsed.statements);
    let items: Vec<usize> = parsed
        .module
        .items
        .iter()
        .map(|item| item.span.start as usize)
        .collect();
    let layout = layout::Layout {
        text,
        comments: &lexed.comments,
        pieces: &pieces,
    };
    Ok(print::print(&layout.file(&items)))
}
