//! A diagnostic: a code, where, what was expected and found, and a help line.
//!
//! Errors are found as data (each stage has its own enum of problems), turned into a [`Diagnostic`] in one
//! place per stage, and rendered for a terminal or as JSON in [`crate::render`].

use crate::span::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    Error,
    Warning,
}

/// Stable code, such as `E0302` or `W0101`; each has a page in `docs/errors/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub &'static str);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub span: Span,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub code: Code,
    /// One line, no full stop.
    pub message: String,
    /// The place the error is reported at.
    pub primary: Label,
    pub secondary: Vec<Label>,
    pub help: Vec<String>,
    pub notes: Vec<String>,
}

impl Diagnostic {
    pub fn error(
        code: Code,
        message: impl Into<String>,
        span: Span,
        label: impl Into<String>,
    ) -> Self {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            primary: Label {
                span,
                text: label.into(),
            },
            secondary: Vec::new(),
            help: Vec::new(),
            notes: Vec::new(),
        }
    }

    pub fn warning(
        code: Code,
        message: impl Into<String>,
        span: Span,
        label: impl Into<String>,
    ) -> Self {
        Diagnostic {
            severity: Severity::Warning,
            ..Self::error(code, message, span, label)
        }
    }

    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label {
            span,
            text: text.into(),
        });
        self
    }

    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }
}
