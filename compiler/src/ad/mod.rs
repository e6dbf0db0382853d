//! Differentiation: forward rules, linearisation, transposition.
//!
//! Forward mode walks a function and emits, beside each primitive, the operations on tangents that the table
//! [`forward`] gives. Linearisation is the same walk with those operations on a [`tape`]. Reverse mode
//! linearises, then reads the tape backwards with the table [`transpose`]. So one set of derivative rules serves both
//! modes and all orders. `docs/ad.md` tells how, and has the conventions at kinks.
//!
//! Nothing here optimises the function that was given; the code that is added is lean from the start ([`emit`]), and
//! what turns out dead or double is removed ([`tidy`]).

pub mod activity;
pub mod control;
pub mod cx;
pub mod dce;
pub mod emit;
pub mod error;
pub mod forward;
pub mod rules;
pub mod tape;
pub mod transpose;

#[cfg(test)]
mod tests;

pub use error::{AdError, AdErrorKind};

use crate::ir::Func;
use crate::passes::cse;

/// What every transform ends with: what is computed twice is computed once, and what nothing needs goes.
pub fn tidy(f: Func) -> Func {
    dce::eliminate(&cse::run(&f))
}
