//! Forward rules that take more than a line, by subject. The table that uses them is [`super::forward`].

pub mod elementwise;
pub mod index;
pub mod linalg;
pub mod reduce;
pub mod shape;
