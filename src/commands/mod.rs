//! One command a file.

pub mod check;
pub mod devices;
pub mod dump;
pub mod explain;
pub mod fmt;
pub mod run;
pub mod test;
pub mod version;
