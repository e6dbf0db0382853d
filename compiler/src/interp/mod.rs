//! The reference interpreter: what the IR means, and the oracle of the tests. Plain and slow, it shares no code with the lowering.
//!
//! Floats are held as f64. Each primitive computes in f64 and rounds its result once to the element type, or not at all
//! under [`Precision::F64`]; sums, products, contractions and factorisations too round only their results. Integers wrap.
//! Transcendental functions come from `libm`, so that results are the same on every machine.
//! Where StableHLO leaves a choice, this is the choice:
//!
//! - `max`, `min`: NaN if either is; `+0` is above `−0`. `clamp` is built of the two.
//! - integer division by zero gives all bits set, the remainder by zero the dividend; `MIN / −1` is `MIN`.
//! - integer `pow` wraps; a negative exponent gives what truncating `1 / x` would, and 0 for a base of 0.
//! - float to integer truncates and saturates, NaN gives 0; to bool, `!= 0`; a wider integer wraps into a narrower.
//! - `argmax`, `argmin` and the window selections: a NaN counts as the extreme, and the first of equals wins.
//! - a window (of a selection) that sees nothing but padding selects 0.
//! - a scatter drops every update window that does not lie inside; a gather moves its window inside.
//! - the Cholesky factor of a matrix that has none is NaN in its whole lower triangle.
//! - `digamma` and its derivatives at their poles: see `special`.

mod array;
mod convert;
mod elementwise;
mod index;
mod indexing;
mod linalg;
mod machine;
mod outside;
mod reduce;
mod sort;
mod special;
mod structural;
mod window;

#[cfg(test)]
pub(crate) mod tests;

pub use array::{Array, Data};
pub use machine::{apply, eval, eval_main};
pub use outside::{NoOutside, Outside};

use std::fmt;
use tpuc_lang::span::Span;

/// Whether floats are rounded to their element type or all kept in f64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    Element,
    F64,
}

/// Why a function has no value: invalid IR, inputs that do not fit, or a failure outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterpError {
    /// Of the instruction at fault.
    pub span: Span,
    pub message: String,
}

impl fmt::Display for InterpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for InterpError {}
