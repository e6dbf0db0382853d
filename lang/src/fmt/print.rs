//! Lays a document out in lines of at most [`WIDTH`] characters, where that is possible, and places the comments at
//! their ends.

use super::doc::{Doc, INDENT, Trailing};

pub const WIDTH: usize = 100;

/// The text, with a newline at the end of every line.
pub fn print(doc: &Doc) -> String {
    let mut printer = Printer {
        lines: vec![Line::default()],
        column: 0,
    };
    printer.run(doc);
    align_comments(&mut printer.lines);
    let mut out = String::new();
    for line in &printer.lines {
        let mut text = line.text.clone();
        if let Some((comment, column)) = &line.comment {
            let width = text.chars().count();
            text.push_str(&" ".repeat(column.saturating_sub(width)));
            text.push_str(&comment.text);
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
    let end = out.trim_end().len();
    out.truncate(end);
    let start = out.len() - out.trim_start_matches('\n').len();
    out.drain(..start);
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

#[derive(Default)]
struct Line {
    text: String,
    indent: usize,
    /// With the column it goes to.
    comment: Option<(Trailing, usize)>,
}

struct Printer {
    lines: Vec<Line>,
    /// Width of the last line.
    column: usize,
}

#[derive(Clone, Copy)]
struct Command<'d> {
    indent: usize,
    flat: bool,
    doc: &'d Doc,
}

/// Where something stands, seen from a document that may go on one line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Inside,
    Behind,
    /// In a group behind it, of which nothing is decided yet.
    GroupBehind,
}

impl Printer {
    fn run(&mut self, doc: &Doc) {
        let mut todo = vec![Command {
            indent: 0,
            flat: false,
            doc,
        }];
        while let Some(Command { indent, flat, doc }) = todo.pop() {
            match doc {
                Doc::Text(text) => self.text(text, indent),
                Doc::Line(text) if flat => self.text(text, indent),
                Doc::Line(_) => self.newline(indent),
                Doc::Hard => self.newline(indent),
                Doc::Blank => {
                    self.newline(indent);
                    self.newline(indent);
                }
                Doc::IfBroken(text) => {
                    if !flat {
                        self.text(text, indent);
                    }
                }
                Doc::Nest(doc) => todo.push(Command {
                    indent: indent + INDENT,
                    flat,
                    doc,
                }),
                Doc::Group { content, broken } => {
                    let flat = flat || !broken && self.fits(content, &todo);
                    todo.push(Command {
                        indent,
                        flat,
                        doc: content,
                    });
                }
                Doc::Concat(docs) => {
                    todo.extend(docs.iter().rev().map(|doc| Command { indent, flat, doc }));
                }
                Doc::Trailing(comment) => self.comment(comment, indent),
            }
        }
    }

    fn last(&mut self) -> &mut Line {
        let last = self.lines.len() - 1;
        &mut self.lines[last]
    }

    fn text(&mut self, text: &str, indent: usize) {
        if text.is_empty() {
            return;
        }
        if self.last().comment.is_some() {
            self.newline(indent + INDENT);
        }
        // A space that would stand at the start of a line is left out.
        let line = match self.column {
            0 if text.trim_start().is_empty() => return,
            0 => format!("{}{}", " ".repeat(self.last().indent), text.trim_start()),
            _ => text.to_string(),
        };
        self.column += line.chars().count();
        self.last().text.push_str(&line);
    }

    fn newline(&mut self, indent: usize) {
        self.lines.push(Line {
            indent,
            ..Line::default()
        });
        self.column = 0;
    }

    fn comment(&mut self, comment: &Trailing, indent: usize) {
        if self.last().comment.is_some() {
            self.newline(indent);
        }
        if self.column == 0 {
            self.text(&comment.text, indent);
            return;
        }
        let column = (self.column + 2).max(self.last().indent + comment.offset);
        self.last().comment = Some((comment.clone(), column));
    }

    /// Whether the document, and what follows up to the next place where a line may be broken, fits on the line.
    fn fits(&self, doc: &Doc, rest: &[Command]) -> bool {
        // At the start of a line its indentation is still to come.
        let column = match self.column {
            0 => self.lines.last().map_or(0, |line| line.indent),
            column => column,
        };
        let Some(mut room) = WIDTH.checked_sub(column) else {
            return false;
        };
        let mut todo = vec![(Part::Inside, doc)];
        let mut rest = rest.iter().rev();
        loop {
            let (part, doc) = match todo.pop() {
                Some(next) => next,
                None => match rest.next() {
                    Some(command) => (Part::Behind, command.doc),
                    None => return true,
                },
            };
            let text = match doc {
                Doc::Line(_) if part != Part::Inside => return true,
                Doc::Hard | Doc::Blank | Doc::Trailing(_) => return true,
                Doc::Text(text) => text.as_str(),
                Doc::Line(text) => text,
                // What is around the document is broken.
                Doc::IfBroken(text) if part == Part::Behind => text,
                Doc::IfBroken(_) => "",
                Doc::Nest(doc) => {
                    todo.push((part, doc));
                    continue;
                }
                Doc::Group { content, .. } => {
                    let part = match part {
                        Part::Inside => Part::Inside,
                        Part::Behind | Part::GroupBehind => Part::GroupBehind,
                    };
                    todo.push((part, content));
                    continue;
                }
                Doc::Concat(docs) => {
                    todo.extend(docs.iter().rev().map(|doc| (part, doc)));
                    continue;
                }
            };
            match room.checked_sub(text.chars().count()) {
                Some(left) => room = left,
                None => return false,
            }
        }
    }
}

/// Comments of neighbouring lines that stood in one column still do.
fn align_comments(lines: &mut [Line]) {
    let source = |line: &Line| line.comment.as_ref().map(|(c, _)| c.column);
    let mut start = 0;
    while start < lines.len() {
        let column = source(&lines[start]);
        let len = lines[start..]
            .iter()
            .take_while(|l| column.is_some() && source(l) == column)
            .count()
            .max(1);
        let run = &mut lines[start..start + len];
        let target = run
            .iter()
            .filter_map(|l| l.comment.as_ref().map(|(_, column)| *column))
            .max();
        for line in run {
            if let (Some((_, column)), Some(target)) = (&mut line.comment, target) {
                *column = target;
            }
        }
        start += len;
    }
}
