//! Everything that can go wrong outside the compiler, a file for each kind: the facts with the prose about them, the
//! codes, and the help where a fix is known.
//!
//! Codes: `E070x` and `E071x` data files, values and writing (some of these numbers are the command's own),
//! `E072x` arguments of a program, `E073x` compiling and running one, `E074x`
//! checkpoints, `E08xx` plugins and the environment.

mod checkpoint;
mod data;
mod hosts;
mod plugin;
mod program;
mod value;

pub use checkpoint::CheckpointError;
pub use data::DataError;
pub use hosts::HostsError;
pub use plugin::PluginError;
pub use program::{MEMORY_HELP, ProgramError};
pub use value::ValueError;

use std::fmt;

use crate::ffi::Failure;

/// A failure, with what is needed to say what happened and what to do about it. It shows itself as the message, without
/// the code and without the help; there may be several lines: those of a plugin are passed on as they are.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Value(#[from] ValueError),
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error(transparent)]
    Plugin(#[from] PluginError),
    #[error(transparent)]
    Hosts(#[from] HostsError),
}

impl Error {
    /// The code under which `tpuc explain` knows it.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Data(error) => error.code(),
            Error::Value(error) => error.code(),
            Error::Program(error) => error.code(),
            Error::Checkpoint(error) => error.code(),
            Error::Plugin(error) => error.code(),
            Error::Hosts(error) => error.code(),
        }
    }

    /// What to do about it, where that is known.
    pub fn help(&self) -> Option<String> {
        match self {
            Error::Data(error) => error.help(),
            Error::Value(error) => error.help(),
            Error::Program(error) => error.help(),
            Error::Checkpoint(error) => error.help(),
            Error::Plugin(error) => error.help(),
            Error::Hosts(error) => error.help(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.message.is_empty() {
            write!(f, "{:?}", self.status)
        } else {
            f.write_str(self.message.trim_end())
        }
    }
}

/// The lines of a list inside of a help.
fn indented(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}

/// The first bytes of a file, as people compare them.
fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "nothing".to_owned();
    }
    let parts: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of each kind, by code.
    fn samples() -> Vec<Error> {
        let data = data::tests::samples().into_iter().map(Error::Data);
        let values = value::tests::samples().into_iter().map(Error::Value);
        let programs = program::tests::samples().into_iter().map(Error::Program);
        let checkpoints = checkpoint::tests::samples().into_iter();
        let plugins = plugin::tests::samples().into_iter().map(Error::Plugin);
        let hosts = hosts::tests::samples().into_iter().map(Error::Hosts);
        let mut all: Vec<Error> = data.chain(values).chain(programs).collect();
        all.extend(checkpoints.map(Error::Checkpoint));
        all.extend(plugins.chain(hosts));
        all.sort_by_key(Error::code);
        all
    }

    #[test]
    fn every_code_has_its_text() {
        let texts: Vec<String> = samples()
            .iter()
            .map(|error| {
                let help = error.help().map(|help| format!("\n  = help: {help}"));
                format!("{}: {error}{}", error.code(), help.unwrap_or_default())
            })
            .collect();
        insta::assert_snapshot!(texts.join("\n\n"));
    }

    /// The codes that stand in the files of the kinds, each of which a sample must have.
    #[test]
    fn every_code_has_a_sample() {
        let files = [
            include_str!("checkpoint.rs"),
            include_str!("data.rs"),
            include_str!("hosts.rs"),
            include_str!("plugin.rs"),
            include_str!("program.rs"),
            include_str!("value.rs"),
        ];
        let codes = files.iter().flat_map(|text| text.split("=> \"E").skip(1));
        let mut codes: Vec<String> = codes.map(|rest| format!("E{}", &rest[..4])).collect();
        codes.sort();
        let found: Vec<&str> = samples().iter().map(Error::code).collect();
        assert_eq!(found, codes);
    }
}
