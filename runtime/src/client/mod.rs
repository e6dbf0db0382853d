//! Devices: a client of a plugin, arrays on its devices, and programs that run there.
//!
//! Everything is asynchronous: uploads and executions return at once, and an error of either shows
//! when a [`Buffer`] that depends on it is awaited or fetched. Everything that makes plugins abort the
//! process or compute garbage in silence (argument count, element type, shape, device, deleted buffers,
//! sizes that overflow, empty options) is checked here, before the call. That a donated buffer is used
//! again cannot be written down: [`Input::Donate`] takes it.
//!
//! Not here: finding and loading plugins ([`crate::plugin`]), and what programs mean.

mod buffer;
mod compile;
mod dump;
mod executable;
mod gather;
mod machine;
mod memory;
mod profile;
mod signature;
mod topology;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use crate::ffi::{CompiledMemory, DeviceMemory};
pub use buffer::{Buffer, Upload};
pub use compile::{CompileOptions, OverrideValue};
pub use executable::{Executable, Input};
pub use memory::{give_back, show_bytes};
pub use profile::DeviceProfile;
pub use signature::{Placed, Signature};
pub use topology::{Compiled, DeviceFacts, Topology};

use crate::error::{Error, HostsError, PluginError, ProgramError};
use crate::ffi::{self, Failure, KeyValueStore, NamedValue, OptionValue, Status};
use crate::hosts::Member;
use crate::plugin::{Device, Plugin};
use gather::Gathers;

/// How a client is made.
#[derive(Clone)]
pub struct ClientOptions {
    /// How many devices the CPU plays; ignored by plugins of real devices, which have what they have.
    pub cpu_devices: usize,
    /// This process among those that make the client together, where there are several.
    pub member: Option<Arc<Member>>,
}

impl Default for ClientOptions {
    /// One device: the CPU plugin's own default of 4 would only split the work.
    fn default() -> ClientOptions {
        ClientOptions {
            cpu_devices: 1,
            member: None,
        }
    }
}

/// A device of a client, for people.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceInfo {
    pub id: i32,
    /// Such as `cpu` or `TPU v6 lite`.
    pub kind: String,
    /// Such as `cpu:0`.
    pub name: String,
    /// `None` where the plugin does not count.
    pub memory: Option<DeviceMemory>,
}

/// A plugin's client. Cheap to clone; buffers and executables keep it alive.
#[derive(Clone)]
pub struct Client {
    raw: Arc<ffi::Client>,
    platform: Arc<str>,
    plugin: Arc<PathBuf>,
    flags: Arc<Vec<(String, OverrideValue)>>,
    extra_options: Arc<str>,
    gathers: Gathers,
}

impl Client {
    /// Starts the plugin's runtime. Errors when it has no device to drive, when its device is held by
    /// another process, or when it drives another kind of device than the plugin was found for.
    pub fn new(plugin: &Plugin, options: ClientOptions) -> Result<Client, Error> {
        ffi::map_large_blocks();
        let path = plugin.path();
        let int = |name: &str, value: usize| NamedValue {
            name: name.to_owned(),
            value: OptionValue::Int(value as i64),
        };
        // A TPU's library finds the hosts of its slice by itself, and knows no such options.
        let member = options.member.as_ref();
        let told = member.filter(|_| plugin.device() != &Device::Tpu && !plugin.is_libtpu());
        let hosts = told.map(|m| [int("num_nodes", m.count()), int("node_id", m.index())]);
        let create = |own: &[NamedValue]| {
            let all: Vec<NamedValue> = own.iter().chain(hosts.iter().flatten()).cloned().collect();
            let store = member.map(|m| Arc::clone(m) as Arc<dyn KeyValueStore>);
            ffi::Client::create(plugin.api(), &all, store)
                .map_err(|failure| creation_error(path.to_path_buf(), failure))
        };
        let cpu_options = [int("cpu_device_count", options.cpu_devices.max(1))];
        // Only CPU plugins know the option, and others may refuse it, so it is passed to those that are
        // known to be one; a plugin named by its path may turn out to be one.
        let looks_like_cpu = matches!(plugin.device(), Device::Cpu { .. });
        let mut raw = create(if looks_like_cpu { &cpu_options } else { &[] })?;
        let platform = raw.platform_name().map_err(call_error)?;
        if platform == "cpu" && raw.device_count() != options.cpu_devices.max(1) {
            raw = create(&cpu_options)?;
        }
        if let Some(wanted) = plugin.device().platform()
            && wanted != platform
        {
            return Err(Error::Plugin(PluginError::PlatformMismatch {
                path: path.to_path_buf(),
                wanted: wanted.to_owned(),
                found: platform,
            }));
        }
        if raw.device_count() == 0 {
            return Err(Error::Plugin(PluginError::DeviceMissing {
                path: path.to_path_buf(),
                message: "its list of devices is empty".to_owned(),
            }));
        }
        if let Some(member) = member
            && raw.process_index().map_err(call_error)? != member.index()
        {
            return Err(Error::Hosts(HostsError::Unsupported {
                path: path.to_path_buf(),
                message: "it numbers the hosts in another way".to_owned(),
            }));
        }
        let mut flags = plugin.flags().to_vec();
        // A CPU plugin of API 0.81 multiplies by the old weights when new ones are at the same address, as
        // donated ones are. One of 0.106 does not; of those between nothing is known.
        if platform == "cpu" && (81..106).contains(&plugin.api_version().1) {
            flags.push(("xla_cpu_use_xnnpack".to_owned(), OverrideValue::Bool(false)));
        }
        Ok(Client {
            raw,
            platform: platform.into(),
            plugin: Arc::new(path.to_path_buf()),
            flags: Arc::new(flags),
            extra_options: plugin.extra_options().into(),
            gathers: Gathers::default(),
        })
    }

    /// Such as `cpu`, `tpu`, `cuda`.
    pub fn platform(&self) -> &str {
        &self.platform
    }

    /// The plugin's own words on its platform's version.
    pub fn platform_version(&self) -> Result<String, Error> {
        self.raw.platform_version().map_err(call_error)
    }

    /// The file of the plugin that drives the devices.
    pub fn plugin_path(&self) -> &Path {
        &self.plugin
    }

    /// Of all hosts together.
    pub fn device_count(&self) -> usize {
        self.raw.device_count()
    }

    /// Indices of the devices of this process.
    fn own_devices(&self) -> impl Iterator<Item = usize> {
        (0..self.device_count()).filter(|&index| self.raw.is_own(index))
    }

    /// Whether other processes have some of the devices.
    pub fn is_shared(&self) -> bool {
        self.own_devices().count() < self.device_count()
    }

    /// Which of the processes that share the devices this is.
    pub fn process_index(&self) -> Result<usize, Error> {
        self.raw.process_index().map_err(call_error)
    }

    /// The devices, those of other processes included.
    pub fn devices(&self) -> Result<Vec<DeviceInfo>, Error> {
        (0..self.device_count())
            .map(|index| {
                let text = self.raw.device_text(index).map_err(call_error)?;
                Ok(DeviceInfo {
                    id: text.id,
                    kind: text.kind,
                    name: text.name,
                    memory: match self.raw.is_own(index) {
                        true => self.raw.device_memory(index).map_err(call_error)?,
                        false => None,
                    },
                })
            })
            .collect()
    }
}

/// Why a plugin did not start. Plugins have one status for several of these; the words tell them apart.
fn creation_error(path: PathBuf, failure: Failure) -> Error {
    let Failure { status, message } = failure;
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    if says(&["size: expected"]) {
        Error::Plugin(PluginError::Structs { path, message })
    } else if says(&[
        "passed to PJRT_Client_Create: num_nodes",
        "passed to PJRT_Client_Create: node_id",
    ]) {
        Error::Hosts(HostsError::Unsupported { path, message })
    } else if says(&[
        "already in use",
        "in use by process",
        "lockfile",
        "Device or resource busy",
    ]) {
        Error::Plugin(PluginError::DeviceBusy { path, message })
    } else if status == Status::NotFound
        || says(&[
            "No jellyfish device found",
            "Failed to get global TPU topology",
            "no supported devices found",
            "CUDA_ERROR_NO_DEVICE",
            "no CUDA-capable device",
            "hipErrorNoDevice",
            "No visible GPU devices",
            "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
        ])
    {
        Error::Plugin(PluginError::DeviceMissing { path, message })
    } else {
        Error::Plugin(PluginError::ClientFailed {
            path,
            failure: Failure { status, message },
        })
    }
}

/// A call that should not fail, did.
fn call_error(failure: Failure) -> Error {
    Error::Plugin(PluginError::Call { failure })
}

/// An error of a running program. Plugins report a lack of memory under several statuses.
fn run_error(program: &str, failure: Failure) -> Error {
    let program = program.to_owned();
    let Failure { status, message } = failure;
    if message.contains("Out of memory") {
        return Error::Program(ProgramError::OutOfMemory { program, message });
    }
    match status {
        Status::ResourceExhausted => Error::Program(ProgramError::OutOfMemory { program, message }),
        Status::DeadlineExceeded => {
            Error::Program(ProgramError::DeviceTimeout { program, message })
        }
        Status::Unavailable | Status::Aborted | Status::Cancelled | Status::DataLoss => {
            Error::Program(ProgramError::DeviceLost { program, message })
        }
        status => Error::Program(ProgramError::ExecutionFailed {
            program,
            failure: Failure { status, message },
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_that_does_not_start_says_why() {
        let explain = |status, message: &str| {
            let message = message.to_owned();
            creation_error("p.so".into(), Failure { status, message }).code()
        };
        let missing = "TPU initialization failed: No jellyfish device found.";
        assert_eq!(explain(Status::NotFound, missing), "E0813");
        assert_eq!(
            explain(Status::Internal, "CUDA_ERROR_NO_DEVICE: none"),
            "E0813"
        );
        let busy = "The TPU is already in use by process with pid 12. Not attempting to load";
        assert_eq!(explain(Status::Aborted, busy), "E0814");
        let grown = "Unexpected PJRT_Client_Create_Args size: expected 96, got 88.";
        assert_eq!(explain(Status::InvalidArgument, grown), "E0812");
        let alone = "Unexpected option name passed to PJRT_Client_Create: node_id";
        assert_eq!(explain(Status::InvalidArgument, alone), "E0829");
        assert_eq!(explain(Status::Internal, "something else"), "E0815");
    }

    #[test]
    fn a_run_that_fails_says_why() {
        let explain = |status, message: &str| {
            let message = message.to_owned();
            run_error("p", Failure { status, message }).code()
        };
        assert_eq!(explain(Status::ResourceExhausted, ""), "E0732");
        assert_eq!(
            explain(Status::Internal, "Compute error: Out of memory"),
            "E0732"
        );
        assert_eq!(explain(Status::Internal, "Compute error"), "E0733");
        assert_eq!(explain(Status::Unavailable, "Socket closed"), "E0736");
        assert_eq!(explain(Status::Aborted, "worker restarted"), "E0736");
        assert_eq!(explain(Status::Aborted, "Out of memory"), "E0732");
        assert_eq!(explain(Status::DeadlineExceeded, ""), "E0737");
    }
}
