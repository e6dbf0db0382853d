//! The PJRT C API, and files mapped into memory, made safe. The only module of the crate with `unsafe` in it.
//!
//! What it is: one thin owned type per PJRT object ([`Event`], [`Client`], [`Buffer`],
//! [`Executable`], [`Program`], [`Topology`], [`Profiler`]), each destroyed exactly once when dropped, each call behind one safe function.
//! What it is not: it has no policy. Argument checks, error prose and defaults live in
//! [`crate::client`] and [`crate::plugin`], which never see a raw pointer.
//!
//! The `pjrt-sys` bindings describe API 0.54. Plugins of today have grown some argument structs;
//! those are written out in [`structs`] with the sizes that current plugins ask for. A plugin takes any
//! `struct_size` that is at least the one it was built with, so the largest known size is right
//! for all of them.

mod api;
mod buffer;
mod client;
mod event;
mod executable;
mod library;
mod map;
mod memory;
mod options;
mod process;
mod profiler;
mod program;
mod store;
mod structs;
mod topology;

pub use api::{Api, Failure, Status};
pub use buffer::Buffer;
pub use client::{Client, DeviceMemory, HostData};
pub use executable::Executable;
pub use library::{LoadFailure, load};
pub use map::Mapped;
pub use memory::{forget_code, map_large_blocks, trim_heap};
pub use options::{NamedValue, OptionValue};
pub use process::{default_env, take_env};
pub use profiler::Profiler;
pub use program::CompiledMemory;
pub use store::KeyValueStore;
pub use topology::Topology;
