//! Diagnostics for editors: one JSON object a line.
//!
//! `{"code","severity","message","file","span","label","labels":[{"file","span","text"}],"help":[…],"notes":[…]}`, where
//! a span is `{"start","end","line","column","end_line","end_column"}`: bytes from 0, lines and columns from 1, columns
//! in characters, the end exclusive.

use super::lines::Lines;
use super::sorted;
use crate::diag::{Diagnostic, Label, Severity};
use crate::source::Sources;
use crate::span::Span;
use std::fmt::Write;

/// In the order of their places, like the text for people. Every line ends with a newline.
pub fn json_lines(sources: &Sources, diagnostics: &[Diagnostic]) -> String {
    let lines = Lines::new(sources);
    let mut out = String::new();
    for d in sorted(diagnostics) {
        object(&mut out, &lines, d);
        out.push('\n');
    }
    out
}

fn object(out: &mut String, lines: &Lines, d: &Diagnostic) {
    let severity = match d.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    out.push_str("{\"code\":");
    string(out, d.code.0);
    out.push_str(",\"severity\":");
    string(out, severity);
    out.push_str(",\"message\":");
    string(out, &d.message);
    out.push(',');
    place(out, lines, d.primary.span);
    out.push_str(",\"label\":");
    string(out, &d.primary.text);
    out.push_str(",\"labels\":[");
    list(out, &d.secondary, |out, label: &Label| {
        out.push('{');
        place(out, lines, label.span);
        out.push_str(",\"text\":");
        string(out, &label.text);
        out.push('}');
    });
    out.push_str("],\"help\":[");
    list(out, &d.help, |out, text| string(out, text));
    out.push_str("],\"notes\":[");
    list(out, &d.notes, |out, text| string(out, text));
    out.push_str("]}");
}

fn place(out: &mut String, lines: &Lines, span: Span) {
    let range = lines.clamp(span);
    let (line, column) = lines.position(span.file, range.start);
    let (end_line, end_column) = lines.position(span.file, range.end);
    out.push_str("\"file\":");
    string(out, lines.name(span.file));
    let _ = write!(
        out,
        ",\"span\":{{\"start\":{},\"end\":{},\"line\":{line},\"column\":{column},\
         \"end_line\":{end_line},\"end_column\":{end_column}}}",
        range.start, range.end
    );
}

fn list<T>(out: &mut String, items: &[T], mut each: impl FnMut(&mut String, &T)) {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        each(out, item);
    }
}

fn string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
