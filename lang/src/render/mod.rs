//! Diagnostics as text: for people, with the source and with or without colour, and as JSON lines for editors.

mod json;
mod lines;

pub use json::json_lines;

use crate::diag::{Diagnostic, Severity};
use crate::source::Sources;
use crate::span::{FileId, Span};
use codespan_reporting::diagnostic as codespan;
use codespan_reporting::term::{self, termcolor};
use lines::Lines;

/// All diagnostics, in the order of their places, and a closing line that counts them. Empty if there are none.
pub fn render(sources: &Sources, diagnostics: &[Diagnostic], colour: bool) -> String {
    let lines = Lines::new(sources);
    let config = term::Config::default();
    let mut writer = if colour {
        Writer::Colour(termcolor::Ansi::new(Vec::new()))
    } else {
        Writer::Plain(termcolor::NoColor::new(Vec::new()))
    };
    for diagnostic in sorted(diagnostics) {
        let mut shown = convert(&lines, diagnostic);
        if lines.longest(&shown.labels) > LONGEST_LINE {
            without_source(&lines, diagnostic, &mut shown);
        }
        // Writing to memory cannot fail, and the spans were clamped to their files.
        let _ = match &mut writer {
            Writer::Colour(w) => term::emit_to_write_style(w, &config, &lines, &shown),
            Writer::Plain(w) => term::emit_to_write_style(w, &config, &lines, &shown),
        };
    }
    let bytes = match writer {
        Writer::Colour(w) => w.into_inner(),
        Writer::Plain(w) => w.into_inner(),
    };
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if !colour {
        text = trim_lines(&text);
    }
    if let Some(line) = closing_line(diagnostics, colour) {
        text.push_str(&line);
    }
    text
}

/// A longer line is not shown: it would fill the terminal, and a file that is one line would be shown for each error.
const LONGEST_LINE: usize = 2000;

/// Turns the labels into notes.
fn without_source(lines: &Lines, d: &Diagnostic, shown: &mut codespan::Diagnostic<FileId>) {
    let place = |span: Span| {
        let (line, column) = lines.position(span.file, lines.clamp(span).start);
        format!("{}:{line}:{column}", lines.name(span.file))
    };
    let labels = std::iter::once(&d.primary).chain(&d.secondary);
    let places = labels.map(|l| format!("at {}: {}", place(l.span), l.text));
    shown.notes = places.chain(std::mem::take(&mut shown.notes)).collect();
    shown.labels.clear();
}

enum Writer {
    Colour(termcolor::Ansi<Vec<u8>>),
    Plain(termcolor::NoColor<Vec<u8>>),
}

/// Without the spaces that the layout of labels leaves at the ends of lines.
fn trim_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// By file, then by place, errors before warnings.
fn sorted(diagnostics: &[Diagnostic]) -> Vec<&Diagnostic> {
    let mut all: Vec<&Diagnostic> = diagnostics.iter().collect();
    all.sort_by_key(|d| {
        let span = d.primary.span;
        (span.file, span.start, span.end, d.severity)
    });
    all
}

fn convert(lines: &Lines, d: &Diagnostic) -> codespan::Diagnostic<FileId> {
    let severity = match d.severity {
        Severity::Error => codespan::Severity::Error,
        Severity::Warning => codespan::Severity::Warning,
    };
    let range = |span: Span| lines.clamp(span);
    let primary = codespan::Label::primary(d.primary.span.file, range(d.primary.span))
        .with_message(&d.primary.text);
    let secondary = d
        .secondary
        .iter()
        .map(|l| codespan::Label::secondary(l.span.file, range(l.span)).with_message(&l.text));
    let notes = d.notes.iter().map(|n| hang("note: ", n));
    let help = d.help.iter().map(|h| hang("help: ", h));
    codespan::Diagnostic::new(severity)
        .with_code(d.code.0)
        .with_message(&d.message)
        .with_labels(std::iter::once(primary).chain(secondary).collect())
        .with_notes(notes.chain(help).collect())
}

/// Later lines stand below the first, behind the word.
fn hang(word: &str, text: &str) -> String {
    let indent = format!("\n{}", " ".repeat(word.len()));
    format!("{word}{}", text.replace('\n', &indent))
}

/// `error: aborting, 3 errors, 1 warning`
fn closing_line(diagnostics: &[Diagnostic], colour: bool) -> Option<String> {
    let count = |severity| {
        diagnostics
            .iter()
            .filter(|d| d.severity == severity)
            .count()
    };
    let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let (word, style, text) = match (errors, warnings) {
        (0, 0) => return None,
        (0, w) => ("warning", "33", plural(w, "warning")),
        (e, 0) => ("error", "31", format!("aborting, {}", plural(e, "error"))),
        (e, w) => {
            let counts = format!("{}, {}", plural(e, "error"), plural(w, "warning"));
            ("error", "31", format!("aborting, {counts}"))
        }
    };
    Some(if colour {
        format!("\x1b[1;{style}m{word}\x1b[0m: {text}\n")
    } else {
        format!("{word}: {text}\n")
    })
}
