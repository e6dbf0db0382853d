//! StableHLO on devices through PJRT plugins; data files; checkpoints.
//!
//! What it is: the only crate that opens files or plugins. It takes StableHLO bytes with a signature, and
//! gives arrays. What it is not: it knows nothing of the language or of the compiler, does no arithmetic
//! of its own, and prints nothing.
//!
//! In reading order: [`host`] arrays; [`plugin`] and [`client`], which run programs on devices, [`hosts`] on several
//! machines; [`data`]
//! and [`save`], which read and write arrays; [`checkpoint`]; [`print`], which shows them; [`numpy_random`].

#![deny(unsafe_code)]

pub mod cache;
pub mod checkpoint;
pub mod client;
pub mod data;
pub mod error;
#[allow(unsafe_code)]
mod ffi;
pub mod hlo;
pub mod host;
pub mod hosts;
pub mod metrics;
pub mod numpy_random;
pub mod plugin;
pub mod prebuilt;
pub mod print;
pub mod save;
mod surroundings;

pub use error::Error;
pub use ffi::{Failure, Status};
pub use surroundings::Surroundings;
