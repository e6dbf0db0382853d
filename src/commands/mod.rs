//! One command a file.

pub mod cache;
pub mod calibrate;
pub mod check;
pub mod compile;
pub mod devices;
pub mod diff;
pub mod doc;
pub mod dump;
pub mod explain;
pub mod fmt;
pub mod grad_check;
pub mod manual;
pub mod run;
pub mod setup;
pub mod test;
pub mod version;
