//! Checked `.tl` program → IR → transforms → e-graph optimiser → StableHLO.
//!
//! Pure: no IO. Everything but the lowering builds without MLIR.

pub mod ad;
pub mod batch;
pub mod finite;
pub mod interp;
pub mod ir;
#[cfg(feature = "mlir")]
pub mod lower;
pub mod opt;
pub mod passes;
pub mod plan;
pub mod specialise;
pub mod transform;
