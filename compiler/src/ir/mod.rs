//! The intermediate representation: the centre of the compiler. `docs/ir.md` is its reference.
//!
//! A [`Func`] is a closed function in A-normal SSA: a [`Region`] of instructions over an arena of values, each with
//! an element type and a static shape. Loops and branches hold nested regions, which may use the values around them.

pub mod builder;
mod combine;
mod equal;
pub mod flops;
pub mod func;
pub mod literal;
pub mod num;
pub mod op;
pub mod parse;
pub mod print;
pub mod shape;
pub mod table;
pub mod threefry;
pub mod types;
pub mod verify;

pub use builder::Builder;
pub use func::{Func, Inst, Region, Value};
pub use literal::Literal;
pub use op::{BinaryOp, CompareOp, Op, ReduceOp, UnaryOp};
pub use types::{Elem, Type};
