//! One token a line: its place, what it is, and how it is written.

use crate::lexer::token::Tok;
use crate::lexer::{self, Comment};
use crate::span::FileId;
use std::fmt::Write;

/// `12:5  name      forward`, with comments where they stand.
pub fn tokens(text: &str) -> String {
    let lexed = lexer::lex(FileId(0), text);
    let mut rows: Vec<(u32, u32, &str)> = lexed
        .tokens
        .iter()
        .map(|t| (t.start, t.end, kind(&t.tok)))
        .collect();
    rows.extend(lexed.comments.iter().map(comment_row));
    rows.sort_by_key(|row| row.0);
    let mut out = String::new();
    let (mut line, mut column, mut seen) = (1, 1, 0);
    for (start, end, kind) in rows {
        let gap = &text[seen..start as usize];
        line += gap.matches('\n').count();
        column = match gap.rsplit_once('\n') {
            Some((_, last)) => last.chars().count() + 1,
            None => column + gap.chars().count(),
        };
        seen = start as usize;
        let place = format!("{line}:{column}");
        let written = &text[start as usize..end as usize];
        let row = format!("{place:<8}{kind:<10}{written}");
        let _ = writeln!(out, "{}", row.trim_end());
    }
    out
}

fn comment_row(comment: &Comment) -> (u32, u32, &'static str) {
    let kind = if comment.doc { "doc" } else { "comment" };
    (comment.span.start, comment.span.end, kind)
}

fn kind(tok: &Tok) -> &'static str {
    match tok {
        Tok::Ident(_) | Tok::Mesh | Tok::As | Tok::Vjp => "name",
        Tok::Int(_) => "integer",
        Tok::Float(_) => "float",
        Tok::StrOpen => "string",
        Tok::StrText(_) => "text",
        Tok::InterpOpen => "insert",
        Tok::InterpSpec(_) => "format",
        Tok::InterpClose => "end",
        Tok::StrClose => "end",
        tok if tok.keyword().is_some() => "keyword",
        _ => "sign",
    }
}
