//! Tests of the derivatives: snapshots of the emitted code; values in the files beside.

mod programs;
mod snapshots;
