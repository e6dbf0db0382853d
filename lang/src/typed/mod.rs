//! The checked program: names resolved, types known, still generic. What the compiler specialises.

pub mod builtin;
pub mod dim;
pub mod expr;
pub mod ty;

pub use builtin::{Attr, Builtin, IndexItem, Static};
pub use dim::{Atom, Dim, GenericId};
pub use expr::*;
mod glance;
pub use glance::Glance;
pub use ty::{Elem, ElemTy, Fields, GenericArg, Shape, ShapeItem, Ty, elements};
