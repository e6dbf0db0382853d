//! Why a function could not be lowered. Verified IR of a pure function always can be: such an error is a bug of the
//! compiler, or an effect that has not been split off.

use std::fmt;

/// What went wrong, and at which place of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LowerError {
    pub message: String,
    /// `mnist.tl:34:18`, in MLIR's notation; absent where nothing is known.
    pub place: Option<String>,
}

impl fmt::Display for LowerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{place}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for LowerError {}
