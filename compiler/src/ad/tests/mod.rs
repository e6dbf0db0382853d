//! Tests of the derivatives: snapshots of the emitted code; values in the files beside.

mod check;
mod control;
mod primitives;
mod programs;
mod random;
mod reference;
mod snapshots;
