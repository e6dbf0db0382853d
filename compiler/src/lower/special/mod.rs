//! What StableHLO has no op for, as private functions of the module: special functions by the approximations that
//! XLA's own expansions use, and Threefry.

// The constants are kept as they were published, with more digits than an f64 holds.
#![allow(clippy::excessive_precision)]

mod erf;
mod erf_inv;
mod expr;
mod gamma;
mod int_pow;
mod lgamma_single;
mod polygamma;
mod threefry;

pub use erf::{erf, erfc};
pub use erf_inv::erf_inv;
pub use gamma::{digamma, lgamma};
pub use int_pow::int_pow;
pub use polygamma::polygamma;
pub use threefry::threefry;
