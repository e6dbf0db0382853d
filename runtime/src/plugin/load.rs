//! Loading a plugin.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::name::Device;
use super::{elf, search};
use crate::client::OverrideValue;
use crate::error::{DataError, Error, PluginError};
use crate::ffi::{self, Api, Failure, LoadFailure, NamedValue, OptionValue};
use crate::surroundings::Surroundings;

/// A loaded plugin. It stays loaded until the process ends.
pub struct Plugin {
    device: Device,
    path: PathBuf,
    api: Api,
    attributes: Vec<NamedValue>,
}

/// XLA's own environment variable, taken out before any plugin is loaded: a misspelt flag in it would
/// end the process. Its flags go with each compilation instead, where a misspelt one is an error.
static FLAGS: OnceLock<Flags> = OnceLock::new();

struct Flags {
    each: Vec<(String, OverrideValue)>,
    /// What [`EXTRA`] asked for, which compilations do not take.
    extra: Vec<String>,
}

/// The flag with the options of single backends, none of which a plugin refuses.
const EXTRA: &str = "xla_backend_extra_options";

/// A loop whose turn moves fewer bytes than this becomes one function, run by one thread. XLA's CPU compiler would make kernels
/// of it, and starting one takes a microsecond.
const SMALL_LOOPS: &str = "xla_cpu_small_while_loop_byte_threshold=1048576";

impl Plugin {
    /// Finds and loads the plugin of a device. Each way in which that fails is an error of its own.
    pub fn open(device: &Device, around: &Surroundings) -> Result<Plugin, Error> {
        let path = search::find(device, around)?;
        // One name for one file, so that a plugin is initialised once.
        let path = path
            .canonicalize()
            .map_err(|error| DataError::FileUnreadable {
                path: path.clone(),
                reason: error.to_string(),
            })?;
        if cfg!(target_os = "linux") {
            elf::check(&path)?;
        }
        if is_libtpu(&path) && std::env::current_dir().is_err() {
            return Err(Error::Plugin(PluginError::Unloadable {
                path,
                reason: "the current folder has been removed, and this library would end the process for it"
                    .to_owned(),
            }));
        }
        let api = ffi::load(&path, || prepare(&path)).map_err(|failure| explain(&path, failure))?;
        // The attributes are news, not a condition: a plugin without them still runs.
        let attributes = api.attributes().unwrap_or_default();
        Ok(Plugin {
            device: device.clone(),
            path,
            api,
            attributes,
        })
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is the library of TPUs.
    pub(crate) fn is_libtpu(&self) -> bool {
        is_libtpu(&self.path)
    }

    /// (major, minor) of its PJRT API.
    pub fn api_version(&self) -> (i32, i32) {
        self.api.version()
    }

    /// The newest StableHLO that it reads, such as `[1, 20, 0]`; `None` where it does not say.
    pub fn stablehlo_version(&self) -> Option<[i64; 3]> {
        self.version_attribute("stablehlo_current_version")
    }

    /// The oldest StableHLO that it reads.
    pub fn stablehlo_minimum_version(&self) -> Option<[i64; 3]> {
        self.version_attribute("stablehlo_minimum_version")
    }

    fn version_attribute(&self, name: &str) -> Option<[i64; 3]> {
        let attribute = self.attributes.iter().find(|value| value.name == name)?;
        match &attribute.value {
            OptionValue::Ints(parts) => parts.as_slice().try_into().ok(),
            _ => None,
        }
    }

    pub(crate) fn api(&self) -> Api {
        self.api
    }

    /// What `XLA_FLAGS` asked of every compilation.
    pub(crate) fn flags(&self) -> &'static [(String, OverrideValue)] {
        FLAGS.get().map_or(&[], |flags| &flags.each)
    }

    /// The options of its backend, for every compilation.
    pub(crate) fn extra_options(&self) -> String {
        extra_options(&self.path)
    }
}

fn is_libtpu(path: &Path) -> bool {
    is_called(path, "libtpu")
}

fn is_called(path: &Path, part: &str) -> bool {
    let name = path.file_name();
    name.is_some_and(|name| name.to_string_lossy().contains(part))
}

fn extra_options(path: &Path) -> String {
    let own = is_called(path, "cpu").then(|| SMALL_LOOPS.to_owned());
    let asked = FLAGS.get().into_iter().flat_map(|flags| &flags.extra);
    let all: Vec<String> = own.into_iter().chain(asked.cloned()).collect();
    all.join(",")
}

/// Sets up the environment that plugins read while they load.
fn prepare(path: &Path) {
    FLAGS.get_or_init(|| {
        let text = ffi::take_env("XLA_FLAGS").unwrap_or_default();
        let all = parse_flags(&text.to_string_lossy());
        let (extra, each) = all.into_iter().partition(|(name, _)| name == EXTRA);
        let extra: Vec<(String, OverrideValue)> = extra;
        let extra = extra.into_iter().filter_map(|(_, value)| match value {
            OverrideValue::Text(text) => Some(text),
            _ => None,
        });
        Flags {
            each,
            extra: extra.collect(),
        }
    });
    let extra = extra_options(path);
    if !extra.is_empty() {
        ffi::default_env("XLA_FLAGS", &format!("--{EXTRA}={extra}"));
    }
    // Plugins log what they are doing to the terminal, from this level down only what is wrong.
    ffi::default_env("TF_CPP_MIN_LOG_LEVEL", "2");
    if is_libtpu(path) && !has_tpu(Path::new("/sys/bus/pci/devices")) {
        // Without a TPU the library asks the cloud's metadata server who it is, for minutes, unless
        // it is told. On a machine with one it has to ask.
        ffi::default_env("TPU_SKIP_MDS_QUERY", "1");
        ffi::default_env("TPU_ACCELERATOR_TYPE", "v6e-1");
        ffi::default_env("TPU_WORKER_HOSTNAMES", "localhost");
        // Without a TPU there is nothing that two processes could not share.
        ffi::default_env("ALLOW_MULTIPLE_LIBTPU_LOAD", "1");
        // It would complain of how the system mapped it.
        ffi::default_env("LIBTPU_INIT_ARGS", "--hugepage_text=false");
        // It would leave log files in the temporary folder for each run; only what ends the process makes one then.
        ffi::default_env("TPU_MIN_LOG_LEVEL", "3");
    }
}

/// `--a=b --c` as options: `a` is the text "b", which XLA parses to the option's type, and `c` is true. Of booleans
/// XLA reads no text, so those words become values here.
fn parse_flags(text: &str) -> Vec<(String, OverrideValue)> {
    text.split_whitespace()
        .map(|flag| {
            let flag = flag.trim_start_matches('-');
            match flag.split_once('=') {
                Some((name, value)) => {
                    let value = value.trim_matches(['"', '\'']);
                    let value = match value {
                        "true" => OverrideValue::Bool(true),
                        "false" => OverrideValue::Bool(false),
                        text => OverrideValue::Text(text.to_owned()),
                    };
                    (name.to_owned(), value)
                }
                None => (flag.to_owned(), OverrideValue::Bool(true)),
            }
        })
        .collect()
}

/// Whether a PCI device of this machine is a TPU (v2 to v7).
fn has_tpu(devices: &Path) -> bool {
    const GOOGLE: &str = "0x1ae0";
    const TPUS: [&str; 7] = [
        "0x0027", "0x0056", "0x005e", "0x0062", "0x0063", "0x006f", "0x0076",
    ];
    let read = |path: PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    std::fs::read_dir(devices)
        .into_iter()
        .flatten()
        .flatten()
        .any(|device| {
            read(device.path().join("vendor")).trim() == GOOGLE
                && TPUS.contains(&read(device.path().join("device")).trim())
        })
}

fn explain(path: &Path, failure: LoadFailure) -> Error {
    let path = path.to_path_buf();
    match failure {
        LoadFailure::Open(reason) => explain_open(path, reason),
        LoadFailure::NoEntryPoint => Error::Plugin(PluginError::NoEntry { path }),
        LoadFailure::NullTable => Error::Plugin(PluginError::Unloadable {
            path,
            reason: "its GetPjrtApi returns nothing".to_owned(),
        }),
        LoadFailure::TooOld { version } => Error::Plugin(PluginError::TooOld { path, version }),
        LoadFailure::TooNew { version } => Error::Plugin(PluginError::TooNew { path, version }),
        LoadFailure::Initialize(failure) => initialize_error(path, failure),
    }
}

fn initialize_error(path: PathBuf, failure: Failure) -> Error {
    if failure.message.contains("size: expected") {
        return Error::Plugin(PluginError::Structs {
            path,
            message: failure.message,
        });
    }
    let message = &failure.message;
    if message.contains("lockfile") || message.contains("already in use") {
        let message = failure.message;
        return Error::Plugin(PluginError::DeviceBusy { path, message });
    }
    Error::Plugin(PluginError::ClientFailed { path, failure })
}

/// The dynamic loader says `libx.so.1: cannot open shared object file: …` for a library that the
/// plugin needs, and `…: undefined symbol: f` for a function.
fn explain_open(path: PathBuf, reason: String) -> Error {
    let own = path.display().to_string();
    if let Some((library, _)) = reason.split_once(": cannot open shared object file")
        && library != own
    {
        let library = library.rsplit(' ').next().unwrap_or(library).to_owned();
        return Error::Plugin(PluginError::LibraryMissing { path, library });
    }
    if let Some((_, symbol)) = reason.split_once("undefined symbol: ") {
        let symbol = symbol.split([' ', ',']).next().unwrap_or(symbol).to_owned();
        return Error::Plugin(PluginError::SymbolMissing { path, symbol });
    }
    let reason = reason.strip_prefix(&format!("{own}: ")).unwrap_or(&reason);
    Error::Plugin(PluginError::Unloadable {
        reason: reason.to_owned(),
        path,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_become_options() {
        let text = |text: &str| OverrideValue::Text(text.to_owned());
        assert_eq!(
            parse_flags(" --xla_a=3  --xla_b --xla_c=\"x=y\" --xla_d=false"),
            [
                ("xla_a".to_owned(), text("3")),
                ("xla_b".to_owned(), OverrideValue::Bool(true)),
                ("xla_c".to_owned(), text("x=y")),
                ("xla_d".to_owned(), OverrideValue::Bool(false)),
            ]
        );
        assert_eq!(parse_flags(""), []);
    }

    #[test]
    fn the_loaders_words_are_understood() {
        let path = || PathBuf::from("/p/plugin.so");
        assert_eq!(
            explain_open(
                path(),
                "libcudart.so.13: cannot open shared object file: No such file or directory"
                    .to_owned()
            ),
            Error::Plugin(PluginError::LibraryMissing {
                path: path(),
                library: "libcudart.so.13".to_owned()
            })
        );
        assert_eq!(
            explain_open(
                path(),
                "/p/plugin.so: undefined symbol: foo, version X".to_owned()
            ),
            Error::Plugin(PluginError::SymbolMissing {
                path: path(),
                symbol: "foo".to_owned()
            })
        );
        assert_eq!(
            explain_open(path(), "/p/plugin.so: invalid ELF header".to_owned()),
            Error::Plugin(PluginError::Unloadable {
                path: path(),
                reason: "invalid ELF header".to_owned()
            })
        );
    }

    #[test]
    fn a_tpu_that_another_process_holds_is_busy() {
        let failure = |message: &str| Failure {
            status: crate::ffi::Status::Aborted,
            message: message.to_owned(),
        };
        let held = "Internal error when accessing libtpu multi-process lockfile.";
        let code = |message| initialize_error("libtpu.so".into(), failure(message)).code();
        assert_eq!(code(held), "E0814");
        assert_eq!(code("something else"), "E0815");
    }

    #[test]
    fn a_tpu_is_seen_by_its_pci_numbers() {
        let root = tempfile::tempdir().unwrap();
        let device = |name: &str, vendor: &str, number: &str| {
            let folder = root.path().join(name);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("vendor"), vendor).unwrap();
            std::fs::write(folder.join("device"), number).unwrap();
        };
        assert!(!has_tpu(root.path()));
        // Google's network card is no TPU.
        device("0000:00:04.0", "0x1ae0\n", "0x0042\n");
        assert!(!has_tpu(root.path()));
        device("0000:00:05.0", "0x1ae0\n", "0x006f\n");
        assert!(has_tpu(root.path()));
    }
}
