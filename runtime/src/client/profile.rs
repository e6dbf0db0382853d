//! The plugin's own profile of what its devices do, in the form that TensorBoard and XProf read.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use prost::Message;
use prost::encoding::decode_varint;

use super::{Client, call_error};
use crate::error::Error;
use crate::ffi::Profiler;
use crate::plugin::Plugin;
use crate::save;

/// The part of `ProfileOptions` that differs from nothing.
#[derive(Clone, PartialEq, Message)]
struct Options {
    /// 1: zeros are meant.
    #[prost(uint32, tag = "5")]
    version: u32,
    #[prost(uint32, tag = "2")]
    host_tracer_level: u32,
    #[prost(uint32, tag = "3")]
    device_tracer_level: u32,
    #[prost(bool, tag = "7")]
    enable_hlo_proto: bool,
    #[prost(uint64, tag = "8")]
    start_timestamp_ns: u64,
}

/// A profile being taken.
pub struct DeviceProfile {
    profiler: Profiler,
    start: SystemTime,
}

impl Client {
    /// Starts a profile; `None` where the plugin offers none (the CPU's does not).
    pub fn start_profile(&self) -> Result<Option<DeviceProfile>, Error> {
        DeviceProfile::start(self.raw.api())
    }
}

impl Plugin {
    /// As [`Client::start_profile`], before there is a client.
    pub fn start_profile(&self) -> Result<Option<DeviceProfile>, Error> {
        DeviceProfile::start(self.api())
    }
}

impl DeviceProfile {
    fn start(api: crate::ffi::Api) -> Result<Option<DeviceProfile>, Error> {
        let start = SystemTime::now();
        let options = Options {
            version: 1,
            host_tracer_level: 2,
            device_tracer_level: 1,
            enable_hlo_proto: true,
            start_timestamp_ns: since_epoch(start).as_nanos() as u64,
        };
        let profiler = Profiler::start(api, &options.encode_to_vec()).transpose();
        let profiler = profiler.map_err(call_error)?;
        Ok(profiler.map(|profiler| DeviceProfile { profiler, start }))
    }

    /// Ends the profile, and writes it where TensorBoard looks for it below `folder`; says where.
    pub fn write(self, folder: &Path) -> Result<PathBuf, Error> {
        let seconds = since_epoch(self.start).as_secs();
        let bytes = self.profiler.stop().map_err(call_error)?;
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let host = match name.trim() {
            "" => "localhost",
            name => name,
        };
        let run = folder
            .join("plugins/profile")
            .join(format!("run_{seconds}"));
        let path = run.join(format!("{host}.xplane.pb"));
        save::make_folder(&run)?;
        save::write_bytes(&path, &bytes[..fields_end(&bytes)])?;
        Ok(path)
    }
}

/// Where the fields of a message end, each a tag, a length and so many bytes: a plugin may give a byte more than there is.
fn fields_end(bytes: &[u8]) -> usize {
    let mut end = 0;
    let mut rest = bytes;
    while let Ok(tag) = decode_varint(&mut rest)
        && tag & 7 == 2
        && let Ok(len) = decode_varint(&mut rest)
        && let Some((_, after)) = usize::try_from(len)
            .ok()
            .and_then(|n| rest.split_at_checked(n))
    {
        rest = after;
        end = bytes.len() - rest.len();
    }
    end
}

fn since_epoch(time: SystemTime) -> std::time::Duration {
    time.duration_since(UNIX_EPOCH).unwrap_or_default()
}
