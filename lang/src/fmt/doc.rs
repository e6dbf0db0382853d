//! A document: text with the places where lines may be broken.

/// One level of indentation.
pub const INDENT: usize = 4;

#[derive(Clone, Debug)]
pub enum Doc {
    Text(String),
    /// A line break if the group around it is broken; else this text.
    Line(&'static str),
    /// A line break, always.
    Hard,
    /// An empty line, always.
    Blank,
    /// This text if the group around it is broken; else nothing.
    IfBroken(&'static str),
    /// Indents the lines that start inside.
    Nest(Box<Doc>),
    /// On one line if it fits.
    Group {
        content: Box<Doc>,
        /// Whether something in it must be broken.
        broken: bool,
    },
    Concat(Vec<Doc>),
    /// A comment at the end of a line; whatever comes next starts a new one.
    Trailing(Trailing),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trailing {
    pub text: String,
    /// Its column in the source.
    pub column: usize,
    /// How far it is from the indentation of its line there.
    pub offset: usize,
}

impl Doc {
    pub fn text(text: impl Into<String>) -> Doc {
        Doc::Text(text.into())
    }

    pub fn nil() -> Doc {
        Doc::Concat(Vec::new())
    }

    pub fn nest(self) -> Doc {
        Doc::Nest(Box::new(self))
    }

    pub fn group(self) -> Doc {
        let broken = self.is_broken();
        Doc::Group {
            content: Box::new(self),
            broken,
        }
    }

    /// A group that is not laid out on one line.
    pub fn broken(self) -> Doc {
        match self {
            Doc::Group { content, .. } => Doc::Group {
                content,
                broken: true,
            },
            other => other,
        }
    }

    /// Whether it has a line break that is not a matter of width. Looks into groups no further than their mark.
    pub fn is_broken(&self) -> bool {
        match self {
            Doc::Text(_) | Doc::Line(_) | Doc::IfBroken(_) => false,
            Doc::Hard | Doc::Blank | Doc::Trailing(_) => true,
            Doc::Nest(d) => d.is_broken(),
            Doc::Group { broken, .. } => *broken,
            Doc::Concat(docs) => docs.iter().any(Doc::is_broken),
        }
    }

    /// It on one line, whatever the width; only for what is not broken.
    pub fn flat(&self) -> String {
        let mut out = String::new();
        self.write_flat(&mut out);
        out
    }

    fn write_flat(&self, out: &mut String) {
        match self {
            Doc::Text(text) => out.push_str(text),
            Doc::Line(flat) => out.push_str(flat),
            Doc::IfBroken(_) | Doc::Hard | Doc::Blank | Doc::Trailing(_) => {}
            Doc::Nest(d) => d.write_flat(out),
            Doc::Group { content, .. } => content.write_flat(out),
            Doc::Concat(docs) => docs.iter().for_each(|d| d.write_flat(out)),
        }
    }
}
