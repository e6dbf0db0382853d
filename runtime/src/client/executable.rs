//! Running a compiled program.

use std::sync::Arc;

use super::buffer::{Buffer, Shard};
use super::{Signature, call_error, run_error};
use crate::error::{Error, ProgramError};
use crate::ffi::{self, CompiledMemory};
use crate::host::TensorSpec;

/// A compiled program with its signature.
pub struct Executable {
    name: Arc<str>,
    raw: ffi::Executable,
    signature: Signature,
    /// For each argument, whether the program takes its memory over unless told not to.
    donated: Vec<bool>,
}

/// An argument of an execution.
pub enum Input<'a> {
    /// The buffer stays usable, also where the program could have taken it over.
    Keep(&'a Buffer),
    /// The buffer is given up: its memory becomes a result's where the program says so, and is
    /// otherwise freed when the program has read it.
    Donate(Buffer),
}

impl Input<'_> {
    fn buffer(&self) -> &Buffer {
        match self {
            Input::Keep(buffer) => buffer,
            Input::Donate(buffer) => buffer,
        }
    }
}

impl Executable {
    /// Errors when the program's results are not those of the signature.
    pub(super) fn new(
        name: Arc<str>,
        raw: ffi::Executable,
        signature: Signature,
    ) -> Result<Executable, Error> {
        let mismatch = |reason: String| {
            Error::Program(ProgramError::SignatureMismatch {
                program: name.to_string(),
                reason,
            })
        };
        let found = raw.program().output_specs().map_err(call_error)?;
        let expected = &signature.outputs;
        if found.len() != expected.len() {
            return Err(mismatch(format!(
                "it gives {} results, not {}",
                found.len(),
                expected.len()
            )));
        }
        let here = (0..signature.devices()).filter(|&device| raw.client().is_own(device));
        let expected = here.count();
        if raw.devices().len() != expected {
            return Err(mismatch(format!(
                "it runs on {} devices, not {expected}",
                raw.devices().len()
            )));
        }
        let expected = &signature.outputs;
        // Results that are cut come back with the types of their parts.
        for (i, (found, whole)) in found.iter().zip(expected).enumerate() {
            let expected = signature.output_placement(i).part_spec(whole);
            if *found != expected {
                let show = |spec: &Option<TensorSpec>| {
                    spec.as_ref().map_or_else(
                        || "of an element type that the language lacks".to_owned(),
                        ToString::to_string,
                    )
                };
                return Err(mismatch(format!(
                    "result {i} is {}, not {}",
                    show(found),
                    show(&expected)
                )));
            }
        }
        let mut donated = vec![false; signature.inputs.len()];
        for &index in &signature.donated {
            donated[index] = true;
        }
        Ok(Executable {
            name,
            raw,
            signature,
            donated,
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Starts the program and returns at once. Errors when the arguments are not what the signature
    /// says, live on other devices, or are deleted; those of the running program show when a result is
    /// awaited or fetched. (A program without results is awaited here.)
    pub fn execute(&self, inputs: Vec<Input<'_>>) -> Result<Vec<Buffer>, Error> {
        self.check_inputs(&inputs)?;
        let kept: Vec<i64> = inputs
            .iter()
            .zip(&self.donated)
            .enumerate()
            .filter(|(_, (input, donated))| **donated && matches!(input, Input::Keep(_)))
            .map(|(index, _)| index as i64)
            .collect();
        let rows = self.rows(&inputs)?;
        let await_here = self.signature.outputs.is_empty();
        let started = self
            .raw
            .execute(&rows, &kept, await_here)
            .map_err(|failure| run_error(&self.name, failure))?;
        for event in &started.done {
            event
                .wait()
                .map_err(|failure| run_error(&self.name, failure))?;
        }
        Ok(self.collect(started.rows))
    }

    fn check_inputs(&self, inputs: &[Input<'_>]) -> Result<(), Error> {
        let expected = &self.signature.inputs;
        if inputs.len() != expected.len() {
            return Err(Error::Program(ProgramError::ArgumentCount {
                program: self.name.to_string(),
                expected: expected.len(),
                found: inputs.len(),
            }));
        }
        for (index, (input, expected)) in inputs.iter().zip(expected).enumerate() {
            let buffer = input.buffer();
            if buffer.spec() != expected {
                return Err(Error::Program(ProgramError::ArgumentType {
                    program: self.name.to_string(),
                    index,
                    expected: expected.clone(),
                    found: buffer.spec().clone(),
                }));
            }
            if buffer.placement() != &self.signature.input_placement(index) {
                return Err(Error::Program(ProgramError::ArgumentElsewhere {
                    program: self.name.to_string(),
                    index,
                }));
            }
            if buffer.is_deleted()? {
                return Err(Error::Program(ProgramError::ArgumentDeleted {
                    program: self.name.to_string(),
                    index,
                }));
            }
        }
        Ok(())
    }

    /// The arguments of each device, in the order in which the program has its devices.
    fn rows<'a>(&self, inputs: &'a [Input<'_>]) -> Result<Vec<Vec<&'a ffi::Buffer>>, Error> {
        let shard_on = |device: usize, index: usize, input: &'a Input<'_>| {
            input
                .buffer()
                .shards()
                .iter()
                .find(|shard| {
                    shard.device == device && Arc::ptr_eq(shard.raw.client(), self.raw.client())
                })
                .map(|shard| &shard.raw)
                .ok_or_else(|| {
                    Error::Program(ProgramError::ArgumentElsewhere {
                        program: self.name.to_string(),
                        index,
                    })
                })
        };
        self.raw
            .devices()
            .iter()
            .map(|&device| {
                inputs
                    .iter()
                    .enumerate()
                    .map(|(index, input)| shard_on(device, index, input))
                    .collect()
            })
            .collect()
    }

    /// Puts the parts of each result on the several devices together.
    fn collect(&self, rows: Vec<Vec<ffi::Buffer>>) -> Vec<Buffer> {
        let mut shards: Vec<Vec<Shard>> =
            self.signature.outputs.iter().map(|_| Vec::new()).collect();
        for (&device, row) in self.raw.devices().iter().zip(rows) {
            for (shards, raw) in shards.iter_mut().zip(row) {
                shards.push(Shard { device, raw });
            }
        }
        shards
            .into_iter()
            .zip(&self.signature.outputs)
            .enumerate()
            .map(|(i, (shards, spec))| {
                let placement = self.signature.output_placement(i);
                Buffer::new(spec.clone(), placement, shards, Arc::clone(&self.name))
            })
            .collect()
    }

    /// What the program takes on each device.
    pub fn memory(&self) -> Result<CompiledMemory, Error> {
        self.raw.program().memory().map_err(call_error)
    }

    /// The compiled program as bytes, which only the same plugin loads again.
    pub fn serialize(&self) -> Result<Vec<u8>, Error> {
        self.raw.program().serialize().map_err(call_error)
    }
}
