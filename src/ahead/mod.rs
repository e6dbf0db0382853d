//! Compiling for devices that are not here, and what can be said of the result before they are rented.
//!
//! In reading order: [`chip`], the figures of the devices; [`counts`], how often `main` runs each program; [`time`],
//! what the kernels of a program take; [`report`], the data; [`analyse`], which fills it, with [`holdings`] for the memory; [`text`] and [`html`], which
//! show it.

pub mod analyse;
pub mod chip;
pub mod counts;
pub mod holdings;
pub mod html;
pub mod report;
pub mod text;
pub mod time;
