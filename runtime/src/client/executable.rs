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
        let arguments = self.arguments(&inputs)?;
        let await_here = self.signature.outputs.is_empty();
        let started = self
            .raw
            .execute(&arguments, &kept, await_here)
            .map_err(|failure| run_error(&self.name, failure))?;
        for event in &started.done {
            event
                .wait()
                .map_err(|failure| run_error(&self.name, failure))?;
        }
        Ok(self.collect(started.results))
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
            if !same(buffer.spec(), expected) {
                return Err(Error::Program(ProgramError::ArgumentType {
                    program: self.name.to_string(),
                    index,
                    expected: expected.clone(),
                    found: buffer.spec().clone(),
                }));
            }
            let placed = match &self.signature.placed {
                None => buffer.placement().is_of_one_device(),
                Some(placed) => *buffer.placement() == placed.inputs[index],
            };
            if !placed {
                return Err(Error::Program(ProgramError::ArgumentElsewhere {
                    program: self.name.to_string(),
                    index,
                }));
            }
            if buffer.is_deleted() {
                return Err(Error::Program(ProgramError::ArgumentDeleted {
                    program: self.name.to_string(),
                    index,
                }));
            }
        }
        Ok(())
    }

    /// The arguments of each device, one device after another, in the order in which the program has them.
    fn arguments<'a>(&self, inputs: &'a [Input<'_>]) -> Result<Vec<&'a ffi::Buffer>, Error> {
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
        let devices = self.raw.devices();
        let mut arguments = Vec::with_capacity(devices.len() * inputs.len());
        for &device in devices {
            for (index, input) in inputs.iter().enumerate() {
                arguments.push(shard_on(device, index, input)?);
            }
        }
        Ok(arguments)
    }

    /// Puts the parts of each result on the several devices together, which come one device after another.
    fn collect(&self, results: Vec<ffi::Buffer>) -> Vec<Buffer> {
        let devices = self.raw.devices();
        let outputs = self.signature.outputs.iter().enumerate();
        let mut buffers: Vec<Buffer> = outputs
            .map(|(i, spec)| {
                let placement = self.signature.output_placement(i);
                let shards = Vec::with_capacity(devices.len());
                Buffer::new(spec.clone(), placement, shards, Arc::clone(&self.name))
            })
            .collect();
        let mut results = results.into_iter();
        for &device in devices {
            for (buffer, raw) in buffers.iter_mut().zip(&mut results) {
                buffer.add(Shard { device, raw });
            }
        }
        buffers
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

/// Whether two types are the same. Shapes are short, and comparing them number by number takes less than the call that
/// compares slices.
fn same(a: &TensorSpec, b: &TensorSpec) -> bool {
    a.dtype == b.dtype
        && a.shape.len() == b.shape.len()
        && a.shape.iter().zip(&b.shape).all(|(a, b)| a == b)
}
