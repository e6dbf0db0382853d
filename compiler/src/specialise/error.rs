//! What can still be wrong once sizes are known, and how it is said.

use tpuc_lang::diag::{Code, Diagnostic};
use tpuc_lang::span::Span;

/// The code of a program that grows too large.
pub const TOO_MUCH: &str = "E0340";

pub type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// A problem that only concrete sizes show.
#[derive(Clone, Debug, PartialEq)]
pub enum BuildError {
    NegativeSize {
        size: i64,
    },
    /// A division of dimensions that leaves a remainder, or a size beyond 64 bits.
    Inexact,
    IndexOutOfRange {
        index: i64,
        axis: usize,
        size: usize,
    },
    /// The tensor would have more bytes than an address has.
    TooLarge {
        what: String,
    },
    /// The program, with its calls written out, has more instructions than the compiler takes.
    TooMuchCode,
    /// Functions that call one another deeper than the compiler follows.
    TooDeep,
    /// A dimension laid on a mesh axis whose devices it does not divide among.
    Uneven {
        /// As the source calls it.
        dim: String,
        size: usize,
        axis: String,
        devices: usize,
    },
    /// Sizes that a builtin cannot work with, said by the builtin.
    Sizes {
        message: String,
        help: Option<String>,
    },
}

impl BuildError {
    /// The diagnostic for it at a place.
    pub fn at(self, span: Span) -> Box<Diagnostic> {
        Box::new(match self {
            BuildError::NegativeSize { size } => Diagnostic::error(
                Code("E0330"),
                format!("a dimension would be {size}"),
                span,
                "sizes cannot be negative",
            ),
            BuildError::Inexact => Diagnostic::error(
                Code("E0331"),
                "a dimension is not a whole number here",
                span,
                "this division leaves a remainder, or the size does not fit 64 bits",
            ),
            BuildError::IndexOutOfRange { index, axis, size } => Diagnostic::error(
                Code("E0332"),
                format!("index {index} is out of range"),
                span,
                format!("axis {axis} has {size} elements"),
            ),
            BuildError::TooLarge { what } => Diagnostic::error(
                Code("E0333"),
                "a tensor is too large to address",
                span,
                what,
            ),
            BuildError::TooMuchCode => Diagnostic::error(
                Code(TOO_MUCH),
                "the program becomes too large",
                span,
                "with all calls written out, it has more than 200,000 operations here",
            ),
            BuildError::TooDeep => Diagnostic::error(
                Code(TOO_MUCH),
                "calls nest too deeply",
                span,
                "this call is the 400th inside others",
            ),
            BuildError::Uneven {
                dim,
                size,
                axis,
                devices,
            } => Diagnostic::error(
                Code("E0345"),
                format!("{dim} does not divide over mesh axis `{axis}`"),
                span,
                format!("{size} cannot be cut into {devices} equal parts"),
            )
            .help(format!(
                "choose a multiple of {devices}, or another mesh: `--mesh {axis}=…`"
            )),
            BuildError::Sizes { message, help } => {
                let d =
                    Diagnostic::error(Code("E0334"), message, span, "with the sizes it has here");
                match help {
                    Some(help) => d.help(help),
                    None => d,
                }
            }
        })
    }
}
