//! What a program takes and gives.

use crate::error::Error;
use crate::host::TensorSpec;

/// The types of a program's arguments and results, and which arguments it may overwrite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    pub inputs: Vec<TensorSpec>,
    pub outputs: Vec<TensorSpec>,
    /// Indices of the arguments that the program's module marks as donated.
    pub donated: Vec<usize>,
}

impl Signature {
    /// Whether each tensor has a size that plugins can count (they abort on others), and each donated
    /// index is an argument.
    pub(super) fn check(&self, program: &str) -> Result<(), Error> {
        if let Some(spec) = self
            .inputs
            .iter()
            .chain(&self.outputs)
            .find(|spec| spec.byte_len().is_none())
        {
            return Err(Error::TensorTooLarge { spec: spec.clone() });
        }
        if let Some(index) = self.donated.iter().find(|&&i| i >= self.inputs.len()) {
            return Err(Error::SignatureMismatch {
                program: program.to_owned(),
                reason: format!(
                    "argument {index} is donated, and there are {} arguments",
                    self.inputs.len()
                ),
            });
        }
        Ok(())
    }
}
