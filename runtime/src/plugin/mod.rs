//! Plugins: which device is wanted, where its plugin is, whether the file is one, and loading it;
//! and fetching one that is not there.
//!
//! There is no fall-back: a plugin that is asked for and does not work is an error, never another device.

mod elf;
mod fetch;
mod load;
mod name;
pub mod search;

pub use fetch::{Fetched, Wheel};
pub use load::Plugin;
pub use name::{Device, PLUGIN_VARIABLE};
pub use search::{Found, Place};
