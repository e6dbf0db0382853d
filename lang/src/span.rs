//! Where something stands in the source: a file and a half-open byte range.

/// A file of the program; index into [`crate::source::Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct FileId(pub u32);

/// Half-open byte range `start..end` in a file; of code, the place that it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
    /// Whether the code computes a derivative of what stands there.
    pub derivative: bool,
}

impl Span {
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        Span {
            file,
            start: start as u32,
            end: end as u32,
            derivative: false,
        }
    }

    /// The place of code for the derivative of what stands here.
    pub fn of_derivative(self) -> Span {
        Span {
            derivative: self != Span::default(),
            ..self
        }
    }

    /// The smallest span that covers both; they must stand in one file.
    pub fn to(self, other: Span) -> Span {
        Span {
            file: self.file,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
            derivative: self.derivative && other.derivative,
        }
    }
}

/// A node together with where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spanned<T> {
    pub node: T,
    pub span: Span,
}

impl<T> Spanned<T> {
    pub fn new(node: T, span: Span) -> Self {
        Spanned { node, span }
    }
}
