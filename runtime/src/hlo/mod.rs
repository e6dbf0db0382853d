//! What a plugin's compiler made of a program, read off its HLO text: the kernels with their work and their traffic,
//! the buffers, and what passes between devices.
//!
//! The text is a compiler's debugging output, without a promised form. What is not understood counts as no work, and
//! nothing here can fail but the parsing of the whole.

pub mod buffers;
mod collectives;
mod fused;
pub mod kernels;
mod module;
mod shape;
mod work;

pub use collectives::{Collective, collectives};
pub use kernels::{Kernel, kernels};
pub use module::{Computation, Instruction, Module, Operand, Place};
pub use shape::{ArrayShape, Shape};
pub use work::{Product, Work};
