//! Checked `.tl` program → IR → transforms → e-graph optimiser → StableHLO.
//!
//! Pure: no IO. Everything but the lowering builds without MLIR.

pub mod ad;
pub mod batch;
pub mod ir;
pub mod plan;
pub mod transform;
