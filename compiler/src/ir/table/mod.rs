//! How a primitive is written in the text form: a name, and its static attributes as data.
//!
//! An attribute that the result types state already (the value type of a constant, the shape of a broadcast, the target of a
//! conversion) is not written twice: [`read`] takes it from them. Nothing here knows of values, operands or regions.

mod attr;
mod literal;
mod names;
mod read;
mod write;

pub use attr::{Attr, Attrs, write_name};
pub use literal::{read_literal, write_literal};
pub use names::NAMES;
pub use read::read;
pub use write::write;
