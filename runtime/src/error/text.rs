//! The prose of [`Error`]: its message, and the help line where a fix is known.

use std::fmt;
use std::path::{Path, PathBuf};

use super::Error;
use crate::ffi::Failure;
use crate::plugin::Wheel;

/// What to do where memory is lacking.
pub const MEMORY_HELP: &str = "use a smaller batch, a narrower type, or `checkpoint`";

impl fmt::Display for Error {
    /// The message, without the code and without the help. It may have several lines: those of a
    /// plugin are passed on as they are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::FileUnreadable { path, reason } => {
                write!(f, "cannot read {}: {reason}", show(path))
            }
            Error::DatasetMissing { name, reason, .. } => {
                write!(f, "the dataset \"{name}\" is not on this machine")?;
                match reason {
                    Some(reason) => write!(f, ", and {reason}"),
                    None => Ok(()),
                }
            }
            Error::DatasetUnknown { name, .. } => write!(f, "there is no dataset \"{name}\""),
            Error::WrongMagic {
                path,
                expected,
                found,
            } => write!(
                f,
                "{} does not start as it should: expected {expected}, found {}",
                show(path),
                hex(found)
            ),
            Error::Truncated {
                path,
                expected,
                found,
            } => write!(
                f,
                "{} is cut short: its header announces {expected} bytes, and there are {found}",
                show(path)
            ),
            Error::Malformed {
                path,
                format,
                reason,
            } => write!(f, "{} is not a good {format} file: {reason}", show(path)),
            Error::UnsupportedElement { path, found } => write!(
                f,
                "{} has elements of type {found}, which the language does not have",
                show(path)
            ),
            Error::UnknownFormat { path } => {
                write!(f, "{} has a name of no known data format", show(path))
            }
            Error::CsvCell {
                path,
                line,
                column,
                found,
            } => write!(
                f,
                "{}, line {line}, column {column}: expected a number, found \"{found}\"",
                show(path)
            ),
            Error::NoFiles { pattern, reason } => {
                write!(f, "no data files {}: {reason}", show(pattern))
            }
            Error::FilesDiffer {
                first,
                other,
                reason,
            } => write!(
                f,
                "{} and {} cannot follow each other: {reason}",
                show(first),
                show(other)
            ),
            Error::DataChanged { name, reason } => write!(
                f,
                "the data of {} has changed since the program was compiled: {reason}",
                show(name)
            ),
            Error::ByteCount {
                spec,
                expected,
                found,
            } => write!(f, "{spec} takes {expected} bytes, and {found} were given"),
            Error::TensorTooLarge { spec } => {
                write!(f, "{spec} takes more bytes than a 64-bit number can count")
            }
            Error::FormatSpec { spec, reason } => {
                write!(f, "the format \":{spec}\" does not work here: {reason}")
            }
            Error::Unwritable { path, reason } => {
                write!(f, "cannot write to {}: {reason}", show(path))
            }
            Error::WriteFailed { path, reason } => {
                write!(f, "writing {} failed: {reason}", show(path))
            }
            Error::NameTwice { path, name } => write!(
                f,
                "two arrays for {} have the same name \"{name}\"",
                show(path)
            ),
            Error::ArgumentCount {
                program,
                expected,
                found,
            } => write!(
                f,
                "program `{program}` takes {expected} arguments, and {found} were given"
            ),
            Error::ArgumentType {
                program,
                index,
                expected,
                found,
            } => write!(
                f,
                "program `{program}`: argument {index} is {expected}, and {found} was given"
            ),
            Error::ArgumentDeleted { program, index } => write!(
                f,
                "program `{program}`: argument {index} was deleted or donated before"
            ),
            Error::ArgumentElsewhere { program, index } => write!(
                f,
                "program `{program}`: argument {index} is on another device than the program"
            ),
            Error::BufferDeleted => write!(f, "the buffer was deleted or donated before"),
            Error::SignatureMismatch { program, reason } => write!(
                f,
                "program `{program}` is not what its signature says: {reason}"
            ),
            Error::CompileFailed { program, failure } => write!(
                f,
                "the device's compiler refused program `{program}`: {failure}"
            ),
            Error::OutOfMemory { program, message } => {
                write!(f, "out of memory in program `{program}`: {message}")
            }
            Error::ExecutionFailed { program, failure } => {
                write!(f, "program `{program}` failed on the device: {failure}")
            }
            Error::DeviceLost { program, message } => write!(
                f,
                "the device was lost while program `{program}` ran: {}",
                message.trim_end()
            ),
            Error::DeviceTimeout { program, message } => write!(
                f,
                "program `{program}` did not end in the time that the device gives it: {}",
                message.trim_end()
            ),
            Error::TransferFailed { spec, failure } => {
                write!(f, "moving {spec} to or from the device failed: {failure}")
            }
            Error::DumpMissing { program } => write!(
                f,
                "the plugin's compiler wrote no optimised program for `{program}`"
            ),
            Error::CheckpointDamaged { path, reason } => {
                write!(f, "the checkpoint {} is damaged: {reason}", show(path))
            }
            Error::CheckpointForeign { path } => {
                write!(f, "{} is no checkpoint of tpuc", show(path))
            }
            Error::CheckpointOfOther { path } => write!(
                f,
                "the checkpoint {} is of another program, or of this one before it was changed",
                show(path)
            ),
            Error::DeviceName { found } => write!(f, "\"{found}\" names no device"),
            Error::PluginNotFound { device, .. } => {
                write!(f, "no PJRT plugin for \"{device}\" was found")
            }
            Error::PluginFileMissing { path } => write!(f, "there is no file {}", show(path)),
            Error::PluginNotElf { path, found } => write!(
                f,
                "{} is not a plugin: a shared library starts with 7f 45 4c 46, and this file with {}",
                show(path),
                hex(found)
            ),
            Error::PluginArchitecture {
                path,
                expected,
                found,
            } => write!(
                f,
                "{} is for another machine: it is built for {found}, and this is {expected}",
                show(path)
            ),
            Error::PluginTruncated {
                path,
                expected,
                found,
            } => write!(
                f,
                "{} is cut short: its header announces {expected} bytes, and there are {found}",
                show(path)
            ),
            Error::PluginLibraryMissing { path, library } => write!(
                f,
                "{} needs the library {library}, which is not on this machine",
                show(path)
            ),
            Error::PluginSymbolMissing { path, symbol } => write!(
                f,
                "{} needs the function {symbol}, which none of its libraries has",
                show(path)
            ),
            Error::PluginUnloadable { path, reason } => {
                write!(f, "{} cannot be loaded: {reason}", show(path))
            }
            Error::PluginNoEntry { path } => write!(
                f,
                "{} is a shared library, but no PJRT plugin: it has no GetPjrtApi",
                show(path)
            ),
            Error::PluginTooOld { path, version } => write!(
                f,
                "{} is too old: it has PJRT API {}.{}, and 0.54 is the oldest that works",
                show(path),
                version.0,
                version.1
            ),
            Error::PluginTooNew { path, version } => write!(
                f,
                "{} is too new: it has PJRT API {}.{}, and only 0.x is known",
                show(path),
                version.0,
                version.1
            ),
            Error::PluginStructs { path, message } => write!(
                f,
                "{} is too new: a call has grown beyond what is known here ({message})",
                show(path)
            ),
            Error::DeviceMissing { path, message } => write!(
                f,
                "{} found no device that it can drive: {message}",
                show(path)
            ),
            Error::DeviceBusy { path, message } => write!(
                f,
                "the device of {} is in use by another process: {message}",
                show(path)
            ),
            Error::ClientFailed { path, failure } => {
                write!(f, "{} did not start: {failure}", show(path))
            }
            Error::PlatformMismatch {
                path,
                wanted,
                found,
            } => write!(
                f,
                "{} drives \"{found}\", and \"{wanted}\" was asked for",
                show(path)
            ),
            Error::PluginCall { failure } => write!(f, "a call of the plugin failed: {failure}"),
            Error::FetchFailed { package, reason } => {
                write!(
                    f,
                    "{package} could not be downloaded: {}",
                    reason.trim_end()
                )
            }
            Error::FetchedOther {
                package,
                expected,
                found,
            } => write!(
                f,
                "what came for {package} is another file: SHA-256 is {found}, and should be {expected}"
            ),
            Error::CoordinatorAddress { address, reason } => {
                write!(f, "host 0 cannot listen on {address}: {reason}")
            }
            Error::CoordinatorUnreachable { address, reason } => {
                write!(
                    f,
                    "the coordinator at {address} cannot be reached: {reason}"
                )
            }
            Error::HostCount {
                host,
                said,
                expected,
            } => write!(
                f,
                "host {host} was told of {said} hosts, and host 0 of {expected}"
            ),
            Error::HostTwice { host } => write!(f, "there are two hosts with the number {host}"),
            Error::HostProgram { host } => write!(
                f,
                "host {host} has another program than host 0, or other options"
            ),
            Error::HostsMissing { hosts, seconds } => {
                let which: Vec<String> = hosts.iter().map(ToString::to_string).collect();
                let s = if hosts.len() == 1 { "" } else { "s" };
                write!(
                    f,
                    "host{s} {} did not come within {seconds} seconds",
                    which.join(", ")
                )
            }
            Error::HostLost { host } => {
                write!(f, "host {host} is lost: it has ended, or is silent")
            }
            Error::HostsUnsupported { path, message } => write!(
                f,
                "{} cannot run a program on several hosts: {}",
                show(path),
                message.trim_end()
            ),
            Error::TargetUnknown { found, message } => {
                write!(
                    f,
                    "the plugin knows no devices `{found}`: {}",
                    message.trim_end()
                )
            }
        }
    }
}

impl Error {
    /// What to do about it, where that is known.
    pub fn help(&self) -> Option<String> {
        match self {
            Error::DatasetMissing { looked, .. } => Some(format!(
                "put its files, as they are published, into a folder of that name under $TPUC_DATA; looked in\n{}",
                list(looked)
            )),
            Error::DatasetUnknown { known, .. } => Some(format!("known are {}", known.join(", "))),
            Error::WrongMagic { .. } | Error::Truncated { .. } => {
                Some("fetch the file again; the download may have been cut off".to_owned())
            }
            Error::UnknownFormat { .. } => Some(
                "the name should end in .npy, .npz, .safetensors, .csv, .parquet, .png, .jpg, .idx or -ubyte; npy and IDX files may have .gz after it"
                    .to_owned(),
            ),
            Error::FormatSpec { .. } => Some(
                "format specs are Python's: [[fill]align][sign][0][width][,][.precision][type]"
                    .to_owned(),
            ),
            Error::OutOfMemory { .. } => Some(MEMORY_HELP.to_owned()),
            Error::CoordinatorAddress { .. } => Some(
                "name an address of host 0 itself, and a port that nothing else uses".to_owned(),
            ),
            Error::CoordinatorUnreachable { .. } => Some(
                "is host 0 running, and is this its address as the other hosts see it? `--join-timeout` waits longer"
                    .to_owned(),
            ),
            Error::HostCount { .. } => {
                Some("give every host the same `--hosts`".to_owned())
            }
            Error::HostTwice { .. } => Some("give every host its own `--host`, from 0".to_owned()),
            Error::HostProgram { .. } => Some(
                "give every host the same files and options, but for `--host`".to_owned(),
            ),
            Error::HostsMissing { .. } => Some(
                "their own messages say why; `--join-timeout` waits longer".to_owned(),
            ),
            Error::HostsUnsupported { .. } => Some(
                "the plugins of CUDA, ROCm and TPUs can; the CPU plays several devices on one host with `--device cpu:N`"
                    .to_owned(),
            ),
            Error::HostLost { .. } => Some(
                "its own message says why; with `--checkpoint DIR --resume` the same command goes on from the last checkpoint"
                    .to_owned(),
            ),
            Error::DeviceLost { .. } | Error::DeviceTimeout { .. } => Some(
                "with `--checkpoint DIR --resume` the same command goes on from the last checkpoint"
                    .to_owned(),
            ),
            Error::CheckpointDamaged { .. } => Some(
                "remove the file: `--resume` then goes on from the checkpoint before it, if there is one"
                    .to_owned(),
            ),
            Error::CheckpointForeign { .. } => {
                Some("remove the file, or name another folder".to_owned())
            }
            Error::CheckpointOfOther { .. } => Some(
                "run the program as it was, with the same options, or begin anew in another folder"
                    .to_owned(),
            ),
            Error::DeviceName { .. } => {
                Some("use cpu, cpu:N, tpu, cuda, rocm, or the path of a plugin".to_owned())
            }
            Error::PluginNotFound { device, looked } => Some(format!(
                "{}, or name a plugin with `--device PATH` or $TPUC_PLUGIN; looked for\n{}",
                match Wheel::of(device) {
                    Some(wheel) => format!("run `tpuc setup {}`", wheel.device),
                    None if device == "rocm" => "install one of AMD's Python packages".to_owned(),
                    None => "run `make setup`".to_owned(),
                },
                list(looked)
            )),
            Error::FetchFailed { .. } => Some(
                "pip of python3 downloads it: is the network there, and the index and the proxy named if it takes them?"
                    .to_owned(),
            ),
            Error::FetchedOther { .. } => {
                Some("nothing was kept; is the index, or the mirror, the one you mean?".to_owned())
            }
            Error::PluginTruncated { .. } => {
                Some("fetch the file again; the download may have been cut off".to_owned())
            }
            Error::PluginLibraryMissing { library, .. } => Some(format!(
                "install what provides {library}, or add its folder to LD_LIBRARY_PATH"
            )),
            Error::DeviceMissing { .. } => Some(
                "`--device cpu` runs anywhere; `tpuc devices` lists what was found".to_owned(),
            ),
            Error::DeviceBusy { .. } => Some("end the other process first".to_owned()),
            Error::TargetUnknown { .. } => Some(
                "write the family and the chips of each side, such as v6e:1x1, v6e:2x2, v5e:2x2 or v5p:2x2x1"
                    .to_owned(),
            ),
            _ => None,
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

fn show(path: &Path) -> String {
    path.display().to_string()
}

fn list(paths: &[PathBuf]) -> String {
    let lines: Vec<String> = paths
        .iter()
        .map(|path| format!("  {}", show(path)))
        .collect();
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
