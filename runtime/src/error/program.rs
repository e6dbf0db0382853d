//! What can be wrong with a program of the device: its arguments, compiling it, running it.

use thiserror::Error;

use crate::ffi::Failure;
use crate::host::TensorSpec;

/// What to do where memory is lacking.
pub const MEMORY_HELP: &str = "use a smaller batch, a narrower type, or `checkpoint`";

#[derive(Clone, Debug, PartialEq, Error)]
pub enum ProgramError {
    // Its arguments.
    #[error("program `{program}` takes {expected} arguments, and {found} were given")]
    ArgumentCount {
        program: String,
        expected: usize,
        found: usize,
    },
    #[error("program `{program}`: argument {index} is {expected}, and {found} was given")]
    ArgumentType {
        program: String,
        index: usize,
        expected: TensorSpec,
        found: TensorSpec,
    },
    #[error("program `{program}`: argument {index} was deleted or donated before")]
    ArgumentDeleted { program: String, index: usize },
    #[error("program `{program}`: argument {index} is on another device than the program")]
    ArgumentElsewhere { program: String, index: usize },
    #[error("the buffer was deleted or donated before")]
    BufferDeleted,

    // Compiling and running it.
    #[error("program `{program}` is not what its signature says: {reason}")]
    SignatureMismatch { program: String, reason: String },
    #[error("the device's compiler refused program `{program}`: {failure}")]
    CompileFailed { program: String, failure: Failure },
    #[error("out of memory in program `{program}`: {message}")]
    OutOfMemory { program: String, message: String },
    #[error("program `{program}` failed on the device: {failure}")]
    ExecutionFailed { program: String, failure: Failure },
    #[error("the device was lost while program `{program}` ran: {}", .message.trim_end())]
    DeviceLost { program: String, message: String },
    #[error("program `{program}` did not end in the time that the device gives it: {}", .message.trim_end())]
    DeviceTimeout { program: String, message: String },
    #[error("moving {spec} to or from the device failed: {failure}")]
    TransferFailed { spec: TensorSpec, failure: Failure },
    #[error("the plugin's compiler wrote no optimised program for `{program}`")]
    DumpMissing { program: String },
}

impl ProgramError {
    pub(super) fn code(&self) -> &'static str {
        match self {
            ProgramError::ArgumentCount { .. } => "E0720",
            ProgramError::ArgumentType { .. } => "E0721",
            ProgramError::ArgumentDeleted { .. } => "E0722",
            ProgramError::ArgumentElsewhere { .. } => "E0723",
            ProgramError::BufferDeleted => "E0724",
            ProgramError::SignatureMismatch { .. } => "E0730",
            ProgramError::CompileFailed { .. } => "E0731",
            ProgramError::OutOfMemory { .. } => "E0732",
            ProgramError::ExecutionFailed { .. } => "E0733",
            ProgramError::TransferFailed { .. } => "E0734",
            ProgramError::DumpMissing { .. } => "E0735",
            ProgramError::DeviceLost { .. } => "E0736",
            ProgramError::DeviceTimeout { .. } => "E0737",
        }
    }

    pub(super) fn help(&self) -> Option<String> {
        match self {
            ProgramError::OutOfMemory { .. } => Some(MEMORY_HELP.to_owned()),
            ProgramError::DeviceLost { .. } | ProgramError::DeviceTimeout { .. } => Some(
                "with `--checkpoint DIR --resume` the same command goes on from the last checkpoint"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::ffi::Status;
    use crate::host::DType;

    /// One of each.
    pub fn samples() -> Vec<ProgramError> {
        let text = |text: &str| text.to_owned();
        let program = || "step".to_owned();
        let spec = || TensorSpec::new(DType::F32, [128, 784]);
        let failure = || Failure {
            status: Status::Internal,
            message: "something broke\n".to_owned(),
        };
        vec![
            ProgramError::ArgumentCount {
                program: program(),
                expected: 3,
                found: 2,
            },
            ProgramError::ArgumentType {
                program: program(),
                index: 1,
                expected: spec(),
                found: TensorSpec::new(DType::I32, []),
            },
            ProgramError::ArgumentDeleted {
                program: program(),
                index: 0,
            },
            ProgramError::ArgumentElsewhere {
                program: program(),
                index: 0,
            },
            ProgramError::BufferDeleted,
            ProgramError::SignatureMismatch {
                program: program(),
                reason: text("it gives 2 results, not 3"),
            },
            ProgramError::CompileFailed {
                program: program(),
                failure: failure(),
            },
            ProgramError::OutOfMemory {
                program: program(),
                message: text("Out of memory allocating 99 bytes."),
            },
            ProgramError::ExecutionFailed {
                program: program(),
                failure: failure(),
            },
            ProgramError::TransferFailed {
                spec: spec(),
                failure: failure(),
            },
            ProgramError::DumpMissing { program: program() },
            ProgramError::DeviceLost {
                program: program(),
                message: text("The TPU worker has stopped."),
            },
            ProgramError::DeviceTimeout {
                program: program(),
                message: text("Timed out waiting for an all-reduce."),
            },
        ]
    }
}
