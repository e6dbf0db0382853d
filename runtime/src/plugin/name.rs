//! The names of devices on the command line.

use std::path::{Path, PathBuf};

use crate::error::{Error, PluginError};
use crate::surroundings::Surroundings;

/// Names the device where there is no `--device`: the same words, or a plugin's path.
pub const PLUGIN_VARIABLE: &str = "TPUC_PLUGIN";

/// A device, or a plugin by its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Device {
    /// The CPU, playing that many devices.
    Cpu {
        count: usize,
    },
    Tpu,
    Cuda,
    Rocm,
    Path(PathBuf),
}

impl Device {
    /// What `--device` says, or else [`PLUGIN_VARIABLE`], or else one CPU device.
    pub fn choose(flag: Option<&str>, around: &Surroundings) -> Result<Device, Error> {
        let variable = around.variable(PLUGIN_VARIABLE);
        match flag.map(str::to_owned).or(variable) {
            Some(text) => Device::parse(&text),
            None => Ok(Device::Cpu { count: 1 }),
        }
    }

    /// `cpu`, `cpu:N` (N from 1 to 1024), `tpu`, `cuda`, `rocm`, or a path: anything with a slash in it
    /// or with the ending of a shared library.
    pub fn parse(text: &str) -> Result<Device, Error> {
        let unknown = || {
            Error::Plugin(PluginError::DeviceName {
                found: text.to_owned(),
            })
        };
        match text {
            "cpu" => return Ok(Device::Cpu { count: 1 }),
            "tpu" => return Ok(Device::Tpu),
            "cuda" => return Ok(Device::Cuda),
            "rocm" => return Ok(Device::Rocm),
            _ => {}
        }
        if let Some(count) = text.strip_prefix("cpu:") {
            let count = count.parse().map_err(|_| unknown())?;
            return match count {
                1..=1024 => Ok(Device::Cpu { count }),
                _ => Err(unknown()),
            };
        }
        let is_library = Path::new(text)
            .extension()
            .is_some_and(|ending| ending == "so" || ending == "dylib");
        if text.contains('/') || is_library {
            return Ok(Device::Path(PathBuf::from(text)));
        }
        Err(unknown())
    }

    /// The platform that its plugin must drive; `None` where a path leaves it open.
    pub fn platform(&self) -> Option<&'static str> {
        match self {
            Device::Cpu { .. } => Some("cpu"),
            Device::Tpu => Some("tpu"),
            Device::Cuda => Some("cuda"),
            Device::Rocm => Some("rocm"),
            Device::Path(_) => None,
        }
    }

    /// How many devices the CPU is to play.
    pub fn cpu_devices(&self) -> usize {
        match self {
            Device::Cpu { count } => *count,
            Device::Tpu | Device::Cuda | Device::Rocm | Device::Path(_) => 1,
        }
    }
}

impl std::fmt::Display for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Device::Cpu { count: 1 } => f.write_str("cpu"),
            Device::Cpu { count } => write!(f, "cpu:{count}"),
            Device::Tpu => f.write_str("tpu"),
            Device::Cuda => f.write_str("cuda"),
            Device::Rocm => f.write_str("rocm"),
            Device::Path(path) => write!(f, "{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_and_print() {
        for text in [
            "cpu",
            "cpu:4",
            "tpu",
            "cuda",
            "rocm",
            "/a/b.so",
            "./x",
            "libtpu.so",
        ] {
            assert_eq!(Device::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Device::parse("cpu:1").unwrap(), Device::Cpu { count: 1 });
        for text in [
            "", "gpu", "cpu:", "cpu:0", "cpu:x", "cpu:-1", "cpu:1025", "tpu:4",
        ] {
            let error = Device::parse(text).unwrap_err();
            assert_eq!(
                error,
                Error::Plugin(PluginError::DeviceName {
                    found: text.to_owned()
                })
            );
        }
    }

    #[test]
    fn numbers_of_devices_have_a_word_of_their_own() {
        let help = |text: &str| Device::parse(text).unwrap_err().help().unwrap();
        assert!(help("cpu:0").contains("from 1 to 1024"));
        assert!(help("tpu:4").contains("only the CPU plays several"));
        assert!(help("gpu").starts_with("use cpu"));
    }

    #[test]
    fn the_flag_wins_over_the_variable_and_the_cpu_is_the_default() {
        let around = Surroundings::for_tests(&[(PLUGIN_VARIABLE, "/plug/in.so")]);
        let chosen = |flag| Device::choose(flag, &around).unwrap();
        assert_eq!(chosen(Some("tpu")), Device::Tpu);
        assert_eq!(chosen(None), Device::Path("/plug/in.so".into()));
        let bare = Surroundings::for_tests(&[]);
        assert_eq!(
            Device::choose(None, &bare).unwrap(),
            Device::Cpu { count: 1 }
        );
        let empty = Surroundings::for_tests(&[(PLUGIN_VARIABLE, "")]);
        assert_eq!(
            Device::choose(None, &empty).unwrap(),
            Device::Cpu { count: 1 }
        );
    }
}
