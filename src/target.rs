//! Where a program runs: the device that is asked for, opened, or the reference interpreter.

use crate::cli::BackendName;
use crate::execute::mesh;
use crate::failure::Failure;
use std::sync::Arc;
use tpuc_lang::typed::Program;
use tpuc_runtime::Surroundings;
use tpuc_runtime::client::{Client, ClientOptions};
use tpuc_runtime::hosts::Member;
use tpuc_runtime::plugin::{Device, Plugin};

/// Where a program is to run: the device, and this host among those that make the devices up.
#[derive(Clone, Copy, Default)]
pub struct At<'a> {
    pub device: Option<&'a str>,
    pub member: Option<&'a Arc<Member>>,
}

impl<'a> At<'a> {
    /// A device of this host alone.
    pub fn device(device: Option<&'a str>) -> At<'a> {
        At {
            device,
            member: None,
        }
    }
}

/// Where a program runs.
pub enum Target<'a> {
    Interpreter,
    /// Opened when it is needed, so that errors of the program come first.
    Named(At<'a>),
    /// With the version of StableHLO that it reads.
    Open(Client, String),
}

impl<'a> Target<'a> {
    /// The target asked for, and the program with the mesh that it has there. A device is opened at once where the
    /// program has a mesh, which must fit it, and where there are other hosts.
    pub fn open(
        program: &mut Program,
        backend: BackendName,
        at: At<'a>,
        around: &Surroundings,
    ) -> Result<Target<'a>, Failure> {
        match backend {
            BackendName::Interp => {
                mesh::settle(program, 1, false)?;
                Ok(Target::Interpreter)
            }
            BackendName::Pjrt if program.devices() == 1 && at.member.is_none() => {
                mesh::settle(program, 1, false)?;
                Ok(Target::Named(at))
            }
            BackendName::Pjrt => {
                let (client, version) = open(at, around)?;
                mesh::settle(program, client.device_count(), client.is_shared())?;
                Ok(Target::Open(client, version))
            }
        }
    }
}

impl Target<'_> {
    /// A client with the version of StableHLO that it reads; none for the interpreter.
    pub fn client(&self, around: &Surroundings) -> Result<Option<(Client, String)>, Failure> {
        Ok(match self {
            Target::Interpreter => None,
            Target::Named(at) => {
                let (client, version) = open(*at, around)?;
                mesh::check_alone(&client)?;
                Some((client, version))
            }
            Target::Open(client, version) => Some((client.clone(), version.clone())),
        })
    }

    /// Whether this is the process that prints and saves. Of devices that are opened later there are no other hosts.
    pub fn is_first_host(&self) -> Result<bool, Failure> {
        match self {
            Target::Open(client, _) => Ok(client.process_index()? == 0),
            Target::Interpreter | Target::Named(_) => Ok(true),
        }
    }
}

/// A client, and the version of StableHLO that it reads.
fn open(at: At<'_>, around: &Surroundings) -> Result<(Client, String), Failure> {
    let (client, plugin) = client(at, around)?;
    Ok((client, version_text(plugin.stablehlo_version())))
}

/// A client of the device asked for, and its plugin.
pub fn client(at: At<'_>, around: &Surroundings) -> Result<(Client, Plugin), Failure> {
    let device = Device::choose(at.device, around)?;
    let options = ClientOptions {
        cpu_devices: device.cpu_devices(),
        member: at.member.cloned(),
    };
    let plugin = Plugin::open(&device, around)?;
    Ok((Client::new(&plugin, options)?, plugin))
}

/// The newest StableHLO that both the plugin and we know.
pub fn version_text(plugin: Option<[i64; 3]>) -> String {
    let [a, b, c] = plugin.unwrap_or([1, 0, 0]);
    format!("{a}.{b}.{c}")
}
