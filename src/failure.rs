//! How a command can fail, and with which exit code.

use std::fmt;
use tpuc_lang::diag::Diagnostic;
use tpuc_runtime::Error;
use tpuc_runtime::error::ProgramError;

/// Why a command did not succeed. Diagnostics of the program have been printed where they were found.
#[derive(Debug)]
pub enum Failure {
    /// The program has errors (or a comparison asked for did not hold); already said.
    Program,
    /// A run-time failure with a place in the source of its own.
    Placed(Box<Diagnostic>),
    /// The same, already said.
    Said,
    /// The program, as a whole: no place in it is to blame.
    Source {
        code: &'static str,
        message: String,
        help: String,
    },
    /// The environment or the device: code, message, help.
    Runtime {
        code: String,
        message: String,
        help: Option<String>,
    },
    /// A program failed on the device, or does not fit it: as [`Failure::Runtime`], with the name of the program.
    Device {
        code: &'static str,
        program: String,
        message: String,
        help: Option<String>,
    },
    /// The user or the system stopped the run, by this signal.
    Interrupted { signal: u8, help: String },
    /// The command was used wrongly.
    Usage(String),
}

impl Failure {
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Program | Failure::Source { .. } => 1,
            Failure::Runtime { .. }
            | Failure::Device { .. }
            | Failure::Placed(_)
            | Failure::Said => 2,
            Failure::Usage(_) => 64,
            // As a shell says of a process that a signal ended.
            Failure::Interrupted { signal, .. } => 128 + signal,
        }
    }

    pub fn runtime(code: &str, message: impl Into<String>, help: Option<String>) -> Failure {
        Failure::Runtime {
            code: code.into(),
            message: message.into(),
            help,
        }
    }
}

impl From<tpuc_runtime::Error> for Failure {
    fn from(e: tpuc_runtime::Error) -> Failure {
        let (code, message, help) = (e.code(), e.to_string(), e.help());
        match e {
            Error::Program(
                ProgramError::CompileFailed { program, .. }
                | ProgramError::OutOfMemory { program, .. }
                | ProgramError::ExecutionFailed { program, .. }
                | ProgramError::DeviceLost { program, .. }
                | ProgramError::DeviceTimeout { program, .. },
            ) => Failure::Device {
                code,
                program,
                message,
                help,
            },
            _ => Failure::runtime(code, message, help),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Program | Failure::Said => Ok(()),
            Failure::Placed(d) => writeln!(f, "error[{}]: {}", d.code.0, d.message),
            Failure::Source {
                code,
                message,
                help,
            } => {
                writeln!(f, "error[{code}]: {message}\n  = help: {help}")
            }
            Failure::Device {
                code,
                message,
                help,
                ..
            } => {
                let failure = Failure::runtime(code, message.clone(), help.clone());
                write!(f, "{failure}")
            }
            Failure::Interrupted { help, .. } => writeln!(f, "interrupted\n  = help: {help}"),
            Failure::Usage(message) => writeln!(f, "error: {message}"),
            Failure::Runtime {
                code,
                message,
                help,
            } => {
                writeln!(f, "error[{code}]: {message}")?;
                match help {
                    Some(help) => writeln!(f, "  = help: {help}"),
                    None => Ok(()),
                }
            }
        }
    }
}
