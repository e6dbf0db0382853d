//! What a program takes and gives.

use crate::error::{Error, ProgramError};
use crate::host::{Placement, TensorSpec};

/// The types of a program's arguments and results, and which arguments it may overwrite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    pub inputs: Vec<TensorSpec>,
    pub outputs: Vec<TensorSpec>,
    /// Indices of the arguments that the program's module marks as donated.
    pub donated: Vec<usize>,
    /// How arguments and results lie on several devices, in the order of [`Signature::inputs`] and
    /// [`Signature::outputs`]; without it there is one device.
    pub placed: Option<Placed>,
}

/// The devices of a program that runs on several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    pub devices: usize,
    pub inputs: Vec<Placement>,
    pub outputs: Vec<Placement>,
}

impl Signature {
    pub(super) fn devices(&self) -> usize {
        self.placed.as_ref().map_or(1, |p| p.devices)
    }

    pub(super) fn output_placement(&self, index: usize) -> Placement {
        let outputs = self.placed.as_ref().map(|p| &p.outputs[index]);
        outputs.cloned().unwrap_or_default()
    }

    /// Whether each tensor has a size that plugins can count (they abort on others), and each donated
    /// index is an argument.
    pub(super) fn check(&self, program: &str) -> Result<(), Error> {
        for spec in self.inputs.iter().chain(&self.outputs) {
            spec.checked_len()?;
        }
        if let Some(index) = self.donated.iter().find(|&&i| i >= self.inputs.len()) {
            return Err(Error::Program(ProgramError::SignatureMismatch {
                program: program.to_owned(),
                reason: format!(
                    "argument {index} is donated, and there are {} arguments",
                    self.inputs.len()
                ),
            }));
        }
        match &self.placed {
            Some(placed) => self.check_placed(program, placed),
            None => Ok(()),
        }
    }

    /// Whether each argument and result is said to lie on all the devices, in equal parts.
    fn check_placed(&self, program: &str, placed: &Placed) -> Result<(), Error> {
        let mismatch = |reason: String| {
            Error::Program(ProgramError::SignatureMismatch {
                program: program.to_owned(),
                reason,
            })
        };
        let sides = [
            (&self.inputs, &placed.inputs),
            (&self.outputs, &placed.outputs),
        ];
        for (specs, placements) in sides {
            if specs.len() != placements.len() {
                return Err(mismatch(format!(
                    "{} tensors have {} placements",
                    specs.len(),
                    placements.len()
                )));
            }
            for (spec, placement) in specs.iter().zip(placements) {
                if placement.devices() != placed.devices || placement.part_spec(spec).is_none() {
                    return Err(mismatch(format!(
                        "{spec} cannot lie on {} devices as it is said to",
                        placed.devices
                    )));
                }
            }
        }
        Ok(())
    }
}
