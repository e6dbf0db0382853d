//! What can be wrong with a run over several hosts.

use std::path::PathBuf;

use thiserror::Error;

#[derive(Clone, Debug, PartialEq, Error)]
pub enum HostsError {
    #[error("host 0 cannot listen on {address}: {reason}")]
    CoordinatorAddress { address: String, reason: String },
    #[error("the coordinator at {address} cannot be reached: {reason}")]
    CoordinatorUnreachable { address: String, reason: String },
    #[error("host {host} was told of {said} hosts, and host 0 of {expected}")]
    Count { host: u64, said: u64, expected: u64 },
    #[error("there are two hosts with the number {host}")]
    Twice { host: u64 },
    #[error("host {host} has another program than host 0, or other options")]
    Program { host: u64 },
    #[error("{} did not come within {seconds} seconds", named(.hosts))]
    Missing { hosts: Vec<u64>, seconds: u64 },
    #[error("host {host} is lost: it has ended, or is silent")]
    Lost { host: u64 },
    #[error("{path} cannot run a program on several hosts: {}", .message.trim_end())]
    Unsupported { path: PathBuf, message: String },
    #[error("host {host} finds another checkpoint than host 0")]
    Checkpoint { host: u64 },
}

fn named(hosts: &[u64]) -> String {
    let which: Vec<String> = hosts.iter().map(ToString::to_string).collect();
    let s = if hosts.len() == 1 { "" } else { "s" };
    format!("host{s} {}", which.join(", "))
}

impl HostsError {
    pub(super) fn code(&self) -> &'static str {
        match self {
            HostsError::CoordinatorAddress { .. } => "E0822",
            HostsError::CoordinatorUnreachable { .. } => "E0823",
            HostsError::Count { .. } => "E0824",
            HostsError::Twice { .. } => "E0825",
            HostsError::Program { .. } => "E0826",
            HostsError::Missing { .. } => "E0827",
            HostsError::Lost { .. } => "E0828",
            HostsError::Unsupported { .. } => "E0829",
            HostsError::Checkpoint { .. } => "E0830",
        }
    }

    pub(super) fn help(&self) -> Option<String> {
        let help = match self {
            HostsError::CoordinatorAddress { .. } => {
                "name an address of host 0 itself, and a port that nothing else uses"
            }
            HostsError::CoordinatorUnreachable { .. } => {
                "is host 0 running, and is this its address as the other hosts see it? `--join-timeout` waits longer"
            }
            HostsError::Count { .. } => "give every host the same `--hosts`",
            HostsError::Twice { .. } => "give every host its own `--host`, from 0",
            HostsError::Program { .. } => {
                "give every host the same files and options, but for `--host`"
            }
            HostsError::Missing { .. } => {
                "their own messages say why; `--join-timeout` waits longer"
            }
            HostsError::Lost { .. } => {
                "its own message says why; with `--checkpoint DIR --resume` the same command goes on from the last checkpoint"
            }
            HostsError::Unsupported { .. } => {
                "the plugins of CUDA, ROCm and TPUs can; the CPU plays several devices on one host with `--device cpu:N`"
            }
            HostsError::Checkpoint { .. } => {
                "every host needs the same checkpoint folder, on a disk that all of them see"
            }
        };
        Some(help.to_owned())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// One of each.
    pub fn samples() -> Vec<HostsError> {
        let path = || PathBuf::from("/plugins/libtpu.so");
        let text = |text: &str| text.to_owned();
        vec![
            HostsError::CoordinatorAddress {
                address: text("10.0.0.1:8476"),
                reason: text("Address already in use"),
            },
            HostsError::CoordinatorUnreachable {
                address: text("10.0.0.1:8476"),
                reason: text("Connection refused"),
            },
            HostsError::Count {
                host: 1,
                said: 3,
                expected: 2,
            },
            HostsError::Twice { host: 1 },
            HostsError::Program { host: 1 },
            HostsError::Missing {
                hosts: vec![1, 3],
                seconds: 300,
            },
            HostsError::Lost { host: 1 },
            HostsError::Unsupported {
                path: path(),
                message: text("Unexpected option name passed to PJRT_Client_Create: num_nodes"),
            },
            HostsError::Checkpoint { host: 1 },
        ]
    }
}
