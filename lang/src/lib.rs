//! The `.tl` language: source text → tokens → syntax tree → checked, generic program.
//!
//! Pure: no IO (imports and data types come through a loader), no MLIR, no devices.

pub mod ast;
pub mod check;
pub mod diag;
pub mod dump;
pub mod fmt;
pub mod lexer;
pub mod parser;
pub mod render;
pub mod source;
pub mod span;
pub mod std;
pub mod typed;

pub use parser::{Parsed, parse};
