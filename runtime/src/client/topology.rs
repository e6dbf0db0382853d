//! Compiling for devices that are not here: a program's code, memory and optimised form, ahead of time.

use super::compile::compile_error;
use super::dump::Dump;
use super::{CompileOptions, OverrideValue, Signature, call_error};
use crate::error::{Error, PluginError, ProgramError};
use crate::ffi::{self, CompiledMemory, NamedValue, OptionValue};
use crate::plugin::Plugin;

/// Devices by description, such as four chips of a TPU v6e in a square.
pub struct Topology {
    raw: ffi::Topology,
    name: String,
    flags: &'static [(String, OverrideValue)],
    /// Of one of its devices, which are all alike.
    device: DeviceFacts,
    devices: usize,
}

/// What a plugin says of the devices of a topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFacts {
    /// Such as `TPU v6 lite`.
    pub kind: String,
    /// Of one device, in bytes; `None` where the plugin does not say.
    pub memory: Option<u64>,
}

/// A program compiled ahead of time.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// On each device.
    pub memory: CompiledMemory,
    /// What [`super::Client::load`] of the same plugin takes on such devices.
    pub bytes: Vec<u8>,
    /// The optimised program as HLO text.
    pub hlo: String,
    /// The compiler's report on its buffers; empty where it makes none.
    pub buffers: String,
    /// What the compiler expects one run to take, in seconds; loops count once. `None` where it does not know.
    pub seconds: Option<f64>,
    /// The bytes that it counts for one run, those moved in and out of a chip's own memory too; loops count once.
    pub bytes_accessed: Option<f64>,
}

impl Topology {
    /// `name`: the family and the chips of each side, such as `v6e:2x2`. Errors when the plugin knows no such devices.
    pub fn open(plugin: &Plugin, name: &str) -> Result<Topology, Error> {
        let unknown = |message: &str| {
            Error::Plugin(PluginError::TargetUnknown {
                found: name.to_owned(),
                message: message.to_owned(),
            })
        };
        check_form(name).map_err(unknown)?;
        let raw = ffi::Topology::create(plugin.api(), name);
        let raw = raw.map_err(|failure| unknown(&failure.message))?;
        let chips = raw.devices().map_err(call_error)?;
        let first = chips.first().ok_or_else(|| unknown("it has no devices"))?;
        Ok(Topology {
            name: name.to_owned(),
            flags: plugin.flags(),
            device: DeviceFacts {
                kind: first.kind.clone(),
                memory: memory(&first.attributes),
            },
            devices: chips.len(),
            raw,
        })
    }

    /// Such as `v6e:2x2`.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn device(&self) -> &DeviceFacts {
        &self.device
    }

    pub fn device_count(&self) -> usize {
        self.devices
    }

    /// Compiles `code` as [`super::Client::compile`] does. Errors also when the program takes more memory than a
    /// device has.
    pub fn compile(
        &self,
        name: &str,
        code: &[u8],
        signature: &Signature,
        options: &CompileOptions,
    ) -> Result<Compiled, Error> {
        signature.check(name)?;
        let wanted = signature.devices();
        if wanted > self.devices {
            return Err(Error::Program(ProgramError::SignatureMismatch {
                program: name.to_owned(),
                reason: format!(
                    "it is for {wanted} devices, and {} has {}",
                    self.name, self.devices
                ),
            }));
        }
        let dump = Dump::new()?;
        let options = dump.options(options).encode(self.flags, wanted, &[]);
        let program = self
            .raw
            .compile(code, &options)
            .map_err(|failure| compile_error(name, failure))?;
        let cost = program.cost().unwrap_or_default();
        Ok(Compiled {
            memory: program.memory().map_err(call_error)?,
            bytes: program.serialize().map_err(call_error)?,
            hlo: dump.hlo(name)?,
            buffers: dump.buffers()?,
            seconds: figure(&cost, "optimal_seconds"),
            bytes_accessed: figure(&cost, "bytes accessed"),
        })
    }
}

/// What libtpu takes for a name and cannot bear, such as a side without chips, ends the process.
fn check_form(name: &str) -> Result<(), &'static str> {
    let (family, sides) = name
        .split_once(':')
        .ok_or("there is no colon between a family and its chips")?;
    if family.is_empty() || !family.chars().all(|c| c.is_ascii_alphanumeric()) {
        return Err("a family is of letters and digits");
    }
    let number = |side: &str| side.parse::<u32>().is_ok_and(|chips| chips > 0);
    match sides.split('x').all(number) {
        true => Ok(()),
        false => Err("each side has a number of chips, at least 1"),
    }
}

fn memory(attributes: &[NamedValue]) -> Option<u64> {
    let limit = attributes
        .iter()
        .find(|a| a.name == "device_memory_bytes_limit")?;
    match limit.value {
        OptionValue::Int(bytes) => u64::try_from(bytes).ok().filter(|&bytes| bytes > 0),
        _ => None,
    }
}

/// A single operation of unknown cost takes one from a sum, so that the sum says nothing.
fn figure(cost: &[NamedValue], name: &str) -> Option<f64> {
    match cost.iter().find(|c| c.name == name)?.value {
        OptionValue::Float(sum) if sum > 0.0 => Some(f64::from(sum)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_chips_reach_the_plugin() {
        for name in ["v6e:1x1", "v5p:2x2x1", "tpu7x:4x4x4", "V6E:16x16", "v4:8"] {
            assert_eq!(check_form(name), Ok(()), "{name}");
        }
        for name in [
            "",
            "v6e",
            "v6e-4",
            "v6e:",
            ":1x1",
            "v6e:0x0",
            "v6e:1x0",
            "v6e:1x",
            "v6e:x1",
            "v6e:-1x1",
            "v6e:4294967296x1",
            "v6e:1 x1",
            "v6e=1x1",
            "v6e:1x1\n",
            "é:1x1",
            "v6e:1x1_twisted",
        ] {
            assert!(check_form(name).is_err(), "{name}");
        }
    }
}
