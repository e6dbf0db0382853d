//! Plugins: the good one, and files that are none, each with its own error.

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{ADD, add_signature, cpu_plugin};
use tempfile::TempDir;
use tpuc_runtime::client::{Client, ClientOptions, CompileOptions};
use tpuc_runtime::error::{PluginError, ProgramError};
use tpuc_runtime::plugin::{Device, Plugin, Wheel};
use tpuc_runtime::{Error, Surroundings};

fn open(path: &Path) -> Result<Plugin, Error> {
    Plugin::open(&Device::Path(path.into()), &Surroundings::of_process())
}

fn refused(path: &Path) -> Error {
    open(path).map(|_| ()).unwrap_err()
}

fn write(folder: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    // Errors name the file by its full path, without links.
    let path = folder.path().canonicalize().unwrap().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// A small shared library that this process has loaded.
fn loaded_library(name: &str) -> PathBuf {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let paths = maps
        .lines()
        .filter_map(|line| line.split_whitespace().nth(5));
    let path = paths.into_iter().find(|path| path.contains(name));
    PathBuf::from(path.unwrap_or_else(|| panic!("{name} is not loaded")))
}

fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = bytes.to_vec();
    let mut count = 0;
    for i in 0..bytes.len() - from.len() {
        if bytes[i..].starts_with(from) {
            bytes[i..i + to.len()].copy_from_slice(to);
            count += 1;
        }
    }
    assert!(count > 0, "nothing to replace");
    bytes
}

#[test]
fn the_cpu_plugin_says_what_it_is() {
    let plugin = cpu_plugin();
    let (major, minor) = plugin.api_version();
    assert!(major == 0 && minor >= 54, "{major}.{minor}");
    assert!(plugin.stablehlo_version().unwrap() >= plugin.stablehlo_minimum_version().unwrap());
    let client = Client::new(&plugin, ClientOptions::default()).unwrap();
    assert_eq!(client.platform(), "cpu");
    assert_eq!(client.plugin_path(), plugin.path());
    let devices = client.devices().unwrap();
    assert_eq!(devices.len(), 1);
    assert_eq!(devices[0].kind, "cpu");
}

#[test]
fn the_cpu_plays_as_many_devices_as_asked_for() {
    let plugin = cpu_plugin();
    for cpu_devices in [1, 3] {
        let client = Client::new(
            &plugin,
            ClientOptions {
                cpu_devices,
                ..Default::default()
            },
        )
        .unwrap();
        assert_eq!(client.device_count(), cpu_devices);
    }
    // A plugin that is named by its path turns out to be the CPU's.
    let named = open(plugin.path()).unwrap();
    let client = Client::new(&named, ClientOptions::default()).unwrap();
    assert_eq!(client.device_count(), 1);
}

#[test]
fn files_that_are_no_library() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(&folder, "text.so", b"GROUP ( /lib/libc.so.6 )");
    let found = b"GROUP ( ".to_vec();
    assert_eq!(
        refused(&path),
        Error::Plugin(PluginError::NotElf { path, found })
    );
    let path = write(&folder, "empty.so", b"");
    let found = Vec::new();
    assert_eq!(
        refused(&path),
        Error::Plugin(PluginError::NotElf { path, found })
    );
    let path = folder.path().join("none.so");
    assert_eq!(
        refused(&path),
        Error::Plugin(PluginError::FileMissing { path })
    );
    let round = folder.path().join("round.so");
    symlink("round.so", &round).unwrap();
    for (path, reason) in [
        (folder.path().to_path_buf(), "it is a folder"),
        ("/dev/null".into(), "it is no ordinary file"),
        (round, "Too many levels of symbolic links (os error 40)"),
    ] {
        let reason = reason.to_owned();
        assert_eq!(
            refused(&path),
            Error::Plugin(PluginError::Unloadable { path, reason })
        );
    }
}

#[test]
fn libraries_that_are_cut_short() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = fs::read(cpu_plugin().path()).unwrap();
    for keep in [4, 63, 64, 1000, 1 << 20, plugin.len() - 1] {
        let path = write(&folder, "cut.so", &plugin[..keep]);
        let error = refused(&path);
        assert!(
            matches!(error, Error::Plugin(PluginError::Truncated { .. })),
            "{keep}: {error:?}"
        );
    }
}

#[test]
fn libraries_for_another_machine() {
    let folder = tempfile::tempdir().unwrap();
    let mut library = fs::read(loaded_library("libgcc_s.so")).unwrap();
    let other: u16 = if cfg!(target_arch = "aarch64") {
        62
    } else {
        183
    };
    library[18..20].copy_from_slice(&other.to_le_bytes());
    let error = refused(&write(&folder, "other.so", &library));
    assert!(
        matches!(error, Error::Plugin(PluginError::Architecture { .. })),
        "{error:?}"
    );
    // 32 bits.
    library[4] = 1;
    let error = refused(&write(&folder, "narrow.so", &library));
    assert!(
        matches!(error, Error::Plugin(PluginError::Architecture { .. })),
        "{error:?}"
    );
}

#[test]
fn libraries_that_are_no_plugin() {
    let path = loaded_library("libgcc_s.so").canonicalize().unwrap();
    assert_eq!(refused(&path), Error::Plugin(PluginError::NoEntry { path }));
}

#[test]
fn libraries_that_need_what_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let library = fs::read(loaded_library("libgcc_s.so")).unwrap();
    let path = write(
        &folder,
        "a.so",
        &replace(&library, b"\0libc.so.6\0", b"\0libq.so.6\0"),
    );
    let library_name = "libq.so.6".to_owned();
    assert_eq!(
        refused(&path),
        Error::Plugin(PluginError::LibraryMissing {
            path,
            library: library_name
        })
    );
    let path = write(
        &folder,
        "b.so",
        &replace(&library, b"\0abort\0", b"\0abqrt\0"),
    );
    let symbol = "abqrt".to_owned();
    assert_eq!(
        refused(&path),
        Error::Plugin(PluginError::SymbolMissing { path, symbol })
    );
}

/// A library whose `GetPjrtApi` gives a table of that size and version, or nothing. (A Rust tool chain links
/// with `cc`, so that is there.)
fn fake_plugin(folder: &TempDir, name: &str, table: &str) -> PathBuf {
    let source = write(
        folder,
        &format!("{name}.c"),
        format!(
            "struct version {{ unsigned long size; void *extensions; int major, minor; }};
             struct table {{ unsigned long size; void *extensions; struct version version; void *rest[200]; }};
             static struct table table = {table};
             const void *GetPjrtApi(void) {{ return table.size ? &table : 0; }}"
        )
        .as_bytes(),
    );
    let library = source.with_extension("so");
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status()
        .expect("cc runs");
    assert!(status.success());
    library
}

#[test]
fn plugins_of_another_age() {
    let folder = tempfile::tempdir().unwrap();
    let path = fake_plugin(&folder, "old", "{ 500, 0, { 24, 0, 0, 40 } }");
    let version = (0, 40);
    assert_eq!(
        refused(&path),
        Error::Plugin(PluginError::TooOld { path, version })
    );
    let path = fake_plugin(&folder, "new", "{ 2000, 0, { 24, 0, 1, 2 } }");
    let version = (1, 2);
    assert_eq!(
        refused(&path),
        Error::Plugin(PluginError::TooNew { path, version })
    );
    let path = fake_plugin(&folder, "null", "{ 0 }");
    assert!(matches!(
        refused(&path),
        Error::Plugin(PluginError::Unloadable { .. })
    ));
    // A table of the right size without functions in it.
    let path = fake_plugin(&folder, "hollow", "{ 1144, 0, { 24, 0, 0, 115 } }");
    assert!(matches!(
        refused(&path),
        Error::Plugin(PluginError::ClientFailed { .. })
    ));
}

#[test]
fn a_plugin_of_another_platform_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("lib/python3.12/site-packages/libtpu");
    fs::create_dir_all(&site).unwrap();
    std::os::unix::fs::symlink(cpu_plugin().path(), site.join("libtpu.so")).unwrap();
    let venv = folder.path().display().to_string();
    let around = Surroundings::new([("VIRTUAL_ENV".to_owned(), venv)], None, None);
    let plugin = Plugin::open(&Device::Tpu, &around).unwrap();
    let error = Client::new(&plugin, ClientOptions::default())
        .map(|_| ())
        .unwrap_err();
    assert!(
        matches!(&error, Error::Plugin(PluginError::PlatformMismatch { wanted, found, .. }) if wanted == "tpu" && found == "cpu"),
        "{error:?}"
    );
}

/// Set where a test runs itself in another process.
const AGAIN: &str = "TPUC_TEST_AGAIN";

/// XLA ends the process for a flag that it does not know; here that is an error of the compilation.
/// The variable is read once in a process, so the test runs itself in another one.
#[test]
fn a_misspelt_flag_in_the_environment_is_an_error() {
    const NAME: &str = "a_misspelt_flag_in_the_environment_is_an_error";
    if std::env::var_os(AGAIN).is_some() {
        let client = common::cpu();
        let options = CompileOptions::default();
        let error = client
            .compile("add", ADD.as_bytes(), add_signature(), &options)
            .map(|_| ())
            .unwrap_err();
        let Error::Program(ProgramError::CompileFailed { failure, .. }) = &error else {
            panic!("{error:?}");
        };
        assert!(failure.message.contains("xla_no_such_flag"), "{error}");
        return;
    }
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", NAME])
        .env(AGAIN, "")
        .env("XLA_FLAGS", "--xla_no_such_flag=1")
        .status()
        .unwrap();
    assert!(status.success());
}

const LOOP: &str = r#"
module @loop {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<4xf32>
    cond {
      %n = stablehlo.constant dense<100> : tensor<i32>
      %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      %s = stablehlo.sine %y : tensor<4xf32>
      stablehlo.return %next, %s : tensor<i32>, tensor<4xf32>
    }
    return %r#1 : tensor<4xf32>
  }
}
"#;

/// The CPU's compiler is told to make one function of it, unless the user says otherwise; that is said where the plugin
/// is loaded, once in a process, so the test runs itself in another one.
#[test]
fn a_small_loop_is_one_function() {
    const NAME: &str = "a_small_loop_is_one_function";
    let asked = std::env::var_os(AGAIN).is_some();
    let client = common::cpu();
    let signature = common::signature(&[common::f32s([4])], &[common::f32s([4])], &[]);
    let options = CompileOptions::default();
    let hlo = client.optimized_hlo("loop", LOOP.as_bytes(), &signature, &options);
    let hlo = hlo.unwrap();
    assert_eq!(hlo.contains("xla_cpu_small_call"), !asked, "{hlo}");
    let text = client.options_text(&options);
    assert_eq!(text.contains("byte_threshold=0"), asked, "{text}");
    if asked {
        return;
    }
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", NAME])
        .env(AGAIN, "")
        .env(
            "XLA_FLAGS",
            "--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=0",
        )
        .status()
        .unwrap();
    assert!(status.success());
}

/// Without a TPU there is nothing to see, but the calls are made, and what comes back is a profile.
#[test]
fn the_tpus_library_profiles_and_the_cpus_does_not() {
    let folder = tempfile::tempdir().unwrap();
    assert!(cpu_plugin().start_profile().unwrap().is_none());
    let around = Surroundings::of_process();
    let wheel = Wheel::of("tpu").expect("it is known");
    wheel
        .fetch(&around)
        .expect("it is there, or can be fetched");
    let plugin = Plugin::open(&Device::Tpu, &around).unwrap();
    let profile = plugin.start_profile().unwrap().expect("it has a profiler");
    let path = profile.write(folder.path()).unwrap();
    let inside = path.strip_prefix(folder.path()).unwrap();
    let inside = inside.display().to_string();
    assert!(inside.starts_with("plugins/profile/run_"), "{inside}");
    assert!(inside.ends_with(".xplane.pb"), "{inside}");
    // An XSpace, of which each field is a message or a text: tag and length, tag and length, to the end.
    let bytes = fs::read(&path).unwrap();
    assert!(bytes.len() > 100, "what the host's threads did is there");
    let mut rest = bytes.as_slice();
    while let [tag, after @ ..] = rest {
        assert_eq!(tag & 7, 2, "at {}", bytes.len() - rest.len());
        let end = after.iter().position(|byte| byte & 128 == 0).unwrap();
        let len = after[..=end].iter().rev();
        let len = len.fold(0, |n, byte| n << 7 | usize::from(byte & 127));
        rest = &after[end + 1..][len..];
    }
}
