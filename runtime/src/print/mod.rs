//! How values are shown: nested lists with shortest round-trip numbers, and Python's format specs.
//!
//! This makes text and prints nothing.

mod digits;
mod format;
mod nested;

mod spec;

pub use digits::format_scalar;
pub use nested::nested;

pub use spec::FormatSpec;
