//! What can be wrong with plugins, and with the devices that they drive.

use std::path::PathBuf;

use thiserror::Error;

use super::{hex, indented};
use crate::ffi::Failure;
use crate::plugin::Wheel;
use crate::plugin::search::by_folder;

#[derive(Clone, Debug, PartialEq, Error)]
pub enum PluginError {
    // Finding and loading one.
    #[error("\"{found}\" names no device")]
    DeviceName { found: String },
    #[error("no PJRT plugin for \"{device}\" was found")]
    NotFound {
        device: String,
        looked: Vec<PathBuf>,
    },
    #[error("there is no file {path}")]
    FileMissing { path: PathBuf },
    #[error("{path} is not a plugin: a shared library starts with 7f 45 4c 46, and this file with {}", hex(.found))]
    NotElf { path: PathBuf, found: Vec<u8> },
    #[error("{path} is for another machine: it is built for {found}, and this is {expected}")]
    Architecture {
        path: PathBuf,
        expected: &'static str,
        found: String,
    },
    #[error("{path} is cut short: its header announces {expected} bytes, and there are {found}")]
    Truncated {
        path: PathBuf,
        expected: u64,
        found: u64,
    },
    #[error("{path} needs the library {library}, which is not on this machine")]
    LibraryMissing { path: PathBuf, library: String },
    #[error("{path} needs the function {symbol}, which none of its libraries has")]
    SymbolMissing { path: PathBuf, symbol: String },
    #[error("{path} cannot be loaded: {reason}")]
    Unloadable { path: PathBuf, reason: String },
    #[error("{path} is a shared library, but no PJRT plugin: it has no GetPjrtApi")]
    NoEntry { path: PathBuf },
    #[error("{path} is too old: it has PJRT API {}.{}, and 0.54 is the oldest that works", .version.0, .version.1)]
    TooOld { path: PathBuf, version: (i32, i32) },
    #[error("{path} is too new: it has PJRT API {}.{}, and only 0.x is known", .version.0, .version.1)]
    TooNew { path: PathBuf, version: (i32, i32) },
    #[error("{path} is too new: a call has grown beyond what is known here ({message})")]
    Structs { path: PathBuf, message: String },

    // Its devices.
    #[error("{path} found no device that it can drive: {message}")]
    DeviceMissing { path: PathBuf, message: String },
    #[error("the device of {path} is in use by another process: {message}")]
    DeviceBusy { path: PathBuf, message: String },
    #[error("{path} did not start: {failure}")]
    ClientFailed { path: PathBuf, failure: Failure },
    #[error("{path} drives \"{found}\", and \"{wanted}\" was asked for")]
    PlatformMismatch {
        path: PathBuf,
        wanted: String,
        found: String,
    },
    #[error("a call of the plugin failed: {failure}")]
    Call { failure: Failure },
    #[error("the plugin knows no devices `{found}`: {}", .message.trim_end())]
    TargetUnknown { found: String, message: String },

    // Fetching one, or anything else that is published.
    #[error("{package} could not be downloaded: {}", .reason.trim_end())]
    FetchFailed { package: String, reason: String },
    #[error(
        "what came for {package} is another file: SHA-256 is {found}, and should be {expected}"
    )]
    FetchedOther {
        package: String,
        expected: String,
        found: String,
    },
}

impl PluginError {
    pub(super) fn code(&self) -> &'static str {
        match self {
            PluginError::DeviceName { .. } => "E0800",
            PluginError::NotFound { .. } => "E0801",
            PluginError::FileMissing { .. } => "E0802",
            PluginError::NotElf { .. } => "E0803",
            PluginError::Architecture { .. } => "E0804",
            PluginError::Truncated { .. } => "E0805",
            PluginError::LibraryMissing { .. } => "E0806",
            PluginError::SymbolMissing { .. } => "E0807",
            PluginError::Unloadable { .. } => "E0808",
            PluginError::NoEntry { .. } => "E0809",
            PluginError::TooOld { .. } => "E0810",
            PluginError::TooNew { .. } => "E0811",
            PluginError::Structs { .. } => "E0812",
            PluginError::DeviceMissing { .. } => "E0813",
            PluginError::DeviceBusy { .. } => "E0814",
            PluginError::ClientFailed { .. } => "E0815",
            PluginError::PlatformMismatch { .. } => "E0816",
            PluginError::Call { .. } => "E0817",
            PluginError::TargetUnknown { .. } => "E0819",
            PluginError::FetchFailed { .. } => "E0820",
            PluginError::FetchedOther { .. } => "E0821",
        }
    }

    pub(super) fn help(&self) -> Option<String> {
        let help = match self {
            PluginError::DeviceName { found } if found.starts_with("cpu:") => {
                "the CPU plays from 1 to 1024 devices: `cpu:4`"
            }
            PluginError::DeviceName { found } if found.contains(':') => {
                "only the CPU plays several devices, `cpu:N`: others are all used, as many as the program's mesh takes"
            }
            PluginError::DeviceName { .. } => {
                "use cpu, cpu:N, tpu, cuda, rocm, or the path of a plugin"
            }
            PluginError::NotFound { device, looked } => {
                return Some(format!(
                    "{}, or name a plugin with `--device PATH` or $TPUC_PLUGIN; looked for\n{}",
                    match Wheel::of(device) {
                        Some(wheel) => format!("run `tpuc setup {}`", wheel.device),
                        None if device == "rocm" =>
                            "install one of AMD's Python packages".to_owned(),
                        None => "run `make setup`".to_owned(),
                    },
                    indented(&by_folder(looked))
                ));
            }
            PluginError::Truncated { .. } => {
                "fetch the file again; the download may have been cut off"
            }
            PluginError::LibraryMissing { library, .. } => {
                return Some(format!(
                    "install what provides {library}, or add its folder to LD_LIBRARY_PATH"
                ));
            }
            PluginError::DeviceMissing { .. } => {
                "`--device cpu` runs anywhere; `tpuc devices` lists what was found"
            }
            PluginError::DeviceBusy { .. } => "end the other process first",
            PluginError::TargetUnknown { .. } => {
                "write the family and the chips of each side, such as v6e:1x1, v6e:2x2, v5e:2x2 or v5p:2x2x1"
            }
            PluginError::FetchFailed { .. } => {
                "pip of python3 downloads it: is the network there, and the index and the proxy named if it takes them?"
            }
            PluginError::FetchedOther { .. } => {
                "nothing was kept; is the index, or the mirror, the one you mean?"
            }
            _ => return None,
        };
        Some(help.to_owned())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::ffi::Status;

    /// One of each.
    pub fn samples() -> Vec<PluginError> {
        let path = || PathBuf::from("/plugins/libtpu.so");
        let text = |text: &str| text.to_owned();
        let failure = || Failure {
            status: Status::Internal,
            message: "something broke\n".to_owned(),
        };
        vec![
            PluginError::DeviceName { found: text("gpu") },
            PluginError::NotFound {
                device: text("tpu"),
                looked: vec![path(), "/plugins/other.so".into(), "/lib/libtpu.so".into()],
            },
            PluginError::FileMissing { path: path() },
            PluginError::NotElf {
                path: path(),
                found: b"GROUP ( ".to_vec(),
            },
            PluginError::Architecture {
                path: path(),
                expected: "x86-64",
                found: text("AArch64"),
            },
            PluginError::Truncated {
                path: path(),
                expected: 201600336,
                found: 4096,
            },
            PluginError::LibraryMissing {
                path: path(),
                library: text("libcudart.so.13"),
            },
            PluginError::SymbolMissing {
                path: path(),
                symbol: text("cuInit"),
            },
            PluginError::Unloadable {
                path: path(),
                reason: text("cannot allocate memory in static TLS block"),
            },
            PluginError::NoEntry { path: path() },
            PluginError::TooOld {
                path: path(),
                version: (0, 40),
            },
            PluginError::TooNew {
                path: path(),
                version: (1, 2),
            },
            PluginError::Structs {
                path: path(),
                message: text("Unexpected PJRT_Client_Create_Args size: expected 96, got 88."),
            },
            PluginError::DeviceMissing {
                path: path(),
                message: text("No jellyfish device found."),
            },
            PluginError::DeviceBusy {
                path: path(),
                message: text("The TPU is already in use by process with pid 7."),
            },
            PluginError::ClientFailed {
                path: path(),
                failure: Failure {
                    status: Status::Unavailable,
                    message: String::new(),
                },
            },
            PluginError::PlatformMismatch {
                path: path(),
                wanted: text("tpu"),
                found: text("cpu"),
            },
            PluginError::Call { failure: failure() },
            PluginError::TargetUnknown {
                found: text("v9:1x1"),
                message: text("Invalid TPU external name: TPU v9"),
            },
            PluginError::FetchFailed {
                package: text("libtpu 0.0.52"),
                reason: text("ERROR: No matching distribution found for libtpu==0.0.52"),
            },
            PluginError::FetchedOther {
                package: text("libtpu 0.0.52"),
                expected: text("f76a"),
                found: text("00ff"),
            },
        ]
    }
}
