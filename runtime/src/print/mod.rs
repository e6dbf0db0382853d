//! How values are shown: nested lists with shortest round-trip numbers, and Python's format specs.
//!
//! This makes text and prints nothing.

mod array;
mod digits;
mod format;

mod spec;

pub use array::array;
pub use digits::format_scalar;

pub use spec::FormatSpec;
