//! What can be wrong with the form of a program, as data. The prose is in [`super::message`].

use crate::span::Span;

#[derive(Clone, Debug, PartialEq)]
pub enum SyntaxError {
    Unexpected {
        at: Span,
        found: Found,
        expected: Expected,
    },
    UnclosedString {
        open: Span,
    },
    StrayCharacter {
        at: Span,
    },
    MalformedNumber {
        at: Span,
        fault: NumberFault,
    },
    /// A bracket that nothing closes; `before` is where it must have been closed at the latest.
    Unclosed {
        open: Span,
        bracket: &'static str,
        before: Span,
        /// Whether `before` is the end of the file.
        at_end: bool,
        /// A pair of braces further in whose indentation differs: the likelier culprit.
        suspect: Option<(Span, Span)>,
    },
    Unopened {
        at: Span,
        bracket: &'static str,
    },
    MissingSemicolon {
        /// The last token of the statement.
        after: Span,
    },
    /// An `if` or block that is a statement, and whose value is lost, though what follows looks like the rest of it.
    LostValue {
        /// The first token of the rest.
        at: Span,
        value: Span,
    },
    Reserved {
        at: Span,
        word: &'static str,
    },
    TooDeep {
        at: Span,
    },
    /// A chain of operators that no tree can hold.
    TooLong {
        at: Span,
    },
    ChainedComparison {
        first: Span,
        second: Span,
    },
    BadEscape {
        at: Span,
    },
    /// A brace in a string without its partner.
    LoneBrace {
        at: Span,
    },
    BadFormatSpec {
        at: Span,
    },
    FieldWithoutValue {
        at: Span,
        /// Fields of the same record that have none either.
        others: Vec<Span>,
    },
    NotAssignable {
        at: Span,
        target: BadTarget,
    },
    PositionalAfterNamed {
        at: Span,
        named: Span,
    },
    ItemInBlock {
        at: Span,
        word: &'static str,
    },
    StatementOutside {
        at: Span,
    },
    Foreign {
        at: Span,
        form: Foreign,
    },
    RecordAsBody {
        at: Span,
    },
    UnknownKind {
        at: Span,
    },
}

/// What stood where something else was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// As written.
    Token(String),
    Str,
    EndOfFile,
}

/// What the grammar would have taken, in the user's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    Statement,
    Expression,
    Pattern,
    Type,
    /// In the brackets of a type.
    TypeArgument,
    Dimension,
    /// The name or number after a dot.
    Field,
    /// In the brackets of a generic function or type.
    Parameter,
    Name,
    /// The name of a module or the quoted path of a file.
    ImportPath,
    QuotedName,
    Item,
    /// The item is complete, and something else follows it.
    NextItem,
    /// One of these, as written; never empty.
    Tokens(Vec<String>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberFault {
    /// Letters follow the digits.
    Letters,
    /// `1.` or `.5`
    Point,
    TooLarge,
}

/// What cannot stand to the left of `=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadTarget {
    Element,
    Tuple,
    Other,
}

/// Forms of other languages that have a counterpart here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    SlashComment,
    FloorDivision,
    OpAssign,
    FatArrow,
    Ampersand,
    Caret,
    SingleQuotes,
}

impl SyntaxError {
    /// Where it is reported.
    pub fn span(&self) -> Span {
        match *self {
            SyntaxError::UnclosedString { open } | SyntaxError::Unclosed { open, .. } => open,
            SyntaxError::MissingSemicolon { after } => after,
            SyntaxError::ChainedComparison { second, .. } => second,
            SyntaxError::Unexpected { at, .. }
            | SyntaxError::StrayCharacter { at }
            | SyntaxError::MalformedNumber { at, .. }
            | SyntaxError::Unopened { at, .. }
            | SyntaxError::Reserved { at, .. }
            | SyntaxError::LostValue { at, .. }
            | SyntaxError::TooDeep { at }
            | SyntaxError::TooLong { at }
            | SyntaxError::BadEscape { at }
            | SyntaxError::LoneBrace { at }
            | SyntaxError::BadFormatSpec { at }
            | SyntaxError::FieldWithoutValue { at, .. }
            | SyntaxError::NotAssignable { at, .. }
            | SyntaxError::PositionalAfterNamed { at, .. }
            | SyntaxError::ItemInBlock { at, .. }
            | SyntaxError::StatementOutside { at }
            | SyntaxError::Foreign { at, .. }
            | SyntaxError::RecordAsBody { at }
            | SyntaxError::UnknownKind { at } => at,
        }
    }
}
