//! What surrounds a `main`: where its data comes from and its effects go.

use super::Array;
use crate::ir::op::{Effect, HostSource};

pub trait Outside {
    /// The arrays of a source, of the types that it names.
    fn host(&mut self, source: &HostSource) -> Result<Vec<Array>, String>;

    fn effect(&mut self, effect: &Effect, args: &[Array]) -> Result<(), String>;
}

/// The outside of a pure function: there is none.
pub struct NoOutside;

impl Outside for NoOutside {
    fn host(&mut self, _: &HostSource) -> Result<Vec<Array>, String> {
        Err("a pure function reads nothing from the host".into())
    }

    fn effect(&mut self, _: &Effect, _: &[Array]) -> Result<(), String> {
        Err("a pure function has no effects".into())
    }
}
