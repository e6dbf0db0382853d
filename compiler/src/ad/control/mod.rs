//! Differentiation of the primitives with regions: forward, and the transposition of their linear halves.

pub mod branch;
pub mod custom;
pub mod remat;
pub mod residual;
pub mod scan;
pub mod while_loop;
