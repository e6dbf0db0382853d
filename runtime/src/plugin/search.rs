//! Where plugins are looked for, in order.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::name::Device;
use crate::error::{Error, PluginError};
use crate::surroundings::Surroundings;

/// Folders that plugins are installed to by other means.
const STANDARD: [&str; 7] = [
    "/usr/local/lib/tpuc/plugins",
    "/usr/lib/tpuc/plugins",
    "/usr/local/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib",
    "/lib",
];

/// A place where a plugin may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Why it is looked at, such as "site-packages of the active Python".
    pub reason: &'static str,
    pub path: PathBuf,
    pub exists: bool,
}

/// What was looked for where, for one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub device: Device,
    /// All places in order; the first that exists is used.
    pub places: Vec<Place>,
}

impl Found {
    /// The plugin that would be used.
    pub fn plugin(&self) -> Option<&Path> {
        self.places
            .iter()
            .find(|place| place.exists)
            .map(|place| place.path.as_path())
    }
}

/// Looks for a device's plugin. Errors when it is nowhere: a named file that is missing and a
/// device without any plugin are different errors.
pub fn find(device: &Device, around: &Surroundings) -> Result<PathBuf, Error> {
    let found = look(device, around);
    if let Some(path) = found.plugin() {
        return Ok(path.to_path_buf());
    }
    Err(match device {
        Device::Path(path) => no_file(path),
        Device::Cpu { .. } | Device::Tpu | Device::Cuda | Device::Rocm => {
            Error::Plugin(PluginError::NotFound {
                device: device.to_string(),
                looked: found.places.into_iter().map(|place| place.path).collect(),
            })
        }
    })
}

/// Why there is no file at a path.
fn no_file(path: &Path) -> Error {
    let unloadable = |reason: String| {
        Error::Plugin(PluginError::Unloadable {
            path: path.to_path_buf(),
            reason,
        })
    };
    match path.metadata() {
        Ok(found) if found.is_dir() => unloadable("it is a folder".to_owned()),
        Ok(_) => unloadable("it is no ordinary file".to_owned()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Error::Plugin(PluginError::FileMissing {
                path: path.to_path_buf(),
            })
        }
        Err(error) => unloadable(error.to_string()),
    }
}

/// Looks for the plugins of all named devices, and for that at the path that the environment names: what `tpuc devices`
/// reports.
pub fn survey(around: &Surroundings) -> Vec<Found> {
    let mut devices = vec![
        Device::Cpu { count: 1 },
        Device::Tpu,
        Device::Cuda,
        Device::Rocm,
    ];
    if let Ok(own @ Device::Path(_)) = Device::choose(None, around) {
        devices.push(own);
    }
    let found = devices.iter().map(|device| look(device, around));
    found.collect()
}

/// Paths a folder a line, as a shell understands them: `/usr/lib/{a.so,b.so}`.
pub fn by_folder(paths: &[PathBuf]) -> Vec<String> {
    let mut folders: Vec<(&Path, Vec<String>)> = Vec::new();
    for path in paths {
        let folder = path.parent().unwrap_or(Path::new(""));
        let name = path.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        match folders.iter_mut().find(|(known, _)| *known == folder) {
            Some((_, names)) => names.push(name),
            None => folders.push((folder, vec![name])),
        }
    }
    let line = |(folder, names): (&Path, Vec<String>)| match names.as_slice() {
        [name] => folder.join(name).display().to_string(),
        many => format!("{}/{{{}}}", folder.display(), many.join(",")),
    };
    folders.into_iter().map(line).collect()
}

fn look(device: &Device, around: &Surroundings) -> Found {
    let mut places = Vec::new();
    let mut add = |reason, path: PathBuf| {
        if !places.iter().any(|place: &Place| place.path == path) {
            let exists = path.is_file();
            places.push(Place {
                reason,
                path,
                exists,
            });
        }
    };
    if let Device::Path(path) = device {
        add("named", path.clone());
    } else {
        let (names, packages) = files(device);
        for folder in around.deps("plugins") {
            // Folders without a `.deps` would drown the report, and have nothing to find.
            if folder.is_dir() {
                names
                    .iter()
                    .for_each(|name| add(".deps", folder.join(name)));
            }
        }
        if let Some(folder) = around.installed("plugins") {
            names
                .iter()
                .for_each(|name| add("install folder", folder.join(name)));
        }
        if let Some(folder) = around.data() {
            let folder = folder.join("plugins");
            names
                .iter()
                .for_each(|name| add("fetched", folder.join(name)));
        }
        for folder in site_packages(around) {
            packages
                .iter()
                .for_each(|package| add("active Python", folder.join(package)));
        }
        for folder in STANDARD {
            names
                .iter()
                .for_each(|name| add("standard path", Path::new(folder).join(name)));
        }
    }
    Found {
        device: device.clone(),
        places,
    }
}

/// The file names of a device's plugins, and their paths inside a site-packages folder.
fn files(device: &Device) -> (&'static [&'static str], &'static [&'static str]) {
    match device {
        Device::Cpu { .. } => (
            &["pjrt_c_api_cpu_plugin.so", "libpjrt_cpu.so"],
            &["lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so"],
        ),
        Device::Tpu => (&["libtpu.so"], &["libtpu/libtpu.so"]),
        Device::Cuda => (
            &["xla_cuda_plugin.so", "pjrt_c_api_gpu_plugin.so"],
            &[
                "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
                "jax_plugins/xla_cuda12/xla_cuda_plugin.so",
            ],
        ),
        Device::Rocm => (
            &["xla_rocm_plugin.so"],
            &[
                "jax_plugins/xla_rocm7/xla_rocm_plugin.so",
                "jax_plugins/xla_rocm60/xla_rocm_plugin.so",
            ],
        ),
        Device::Path(_) => (&[], &[]),
    }
}

/// Where the active environment's Python is installed, and where that puts a user's own packages: `VIRTUAL_ENV`,
/// `CONDA_PREFIX`, and the first `python3` in `PATH`, which may be a link, or a script of pyenv that starts another one.
fn python_prefixes(around: &Surroundings) -> Vec<PathBuf> {
    let variable = |name: &str| around.variable(name).map(PathBuf::from);
    let mut prefixes: Vec<PathBuf> = ["VIRTUAL_ENV", "CONDA_PREFIX"]
        .into_iter()
        .filter_map(variable)
        .collect();
    let path = around.variable("PATH").unwrap_or_default();
    let folder = std::env::split_paths(&path).find(|folder| folder.join("python3").is_file());
    if let Some(folder) = folder
        && let Some(prefix) = folder.parent()
    {
        if folder.ends_with("shims") {
            let chosen = fs::read_to_string(prefix.join("version")).unwrap_or_default();
            let chosen = around.variable("PYENV_VERSION").unwrap_or(chosen);
            let versions = chosen.split([':', '\n']).filter(|name| !name.is_empty());
            prefixes.extend(versions.map(|name| prefix.join("versions").join(name.trim())));
        }
        let own = folder.join("python3").canonicalize().ok();
        let own = own.as_deref().and_then(Path::parent).and_then(Path::parent);
        prefixes.push(prefix.to_path_buf());
        prefixes.extend(own.map(Path::to_path_buf));
    }
    prefixes.extend(variable("HOME").map(|home| home.join(".local")));
    prefixes
}

/// The site-packages folders of the active environment.
fn site_packages(around: &Surroundings) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for prefix in python_prefixes(around) {
        for version in sorted(&prefix.join("lib")) {
            let name = version.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with("python3") {
                folders.push(version.join("site-packages"));
                folders.push(version.join("dist-packages"));
            }
        }
    }
    // The same one may be reached in two ways; it is shown once, where it comes first.
    let mut known = Vec::new();
    folders.retain(|folder: &PathBuf| {
        let new = folder.is_dir() && !known.contains(folder);
        known.push(folder.clone());
        new
    });
    folders
}

/// A folder's entries by name; none where it cannot be read.
fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, b"").unwrap();
    }

    #[test]
    fn deps_come_before_the_install_folder_before_python() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let deps = root.join("work/.deps/plugins/pjrt_c_api_cpu_plugin.so");
        let installed = root.join("lib/tpuc/plugins/pjrt_c_api_cpu_plugin.so");
        let python = root
            .join("venv/lib/python3.12/site-packages/lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so");
        for path in [&deps, &installed, &python] {
            touch(path);
        }
        let venv = root.join("venv").display().to_string();
        let around = Surroundings::new(
            [("VIRTUAL_ENV".to_owned(), venv)],
            Some(root.join("work/sub")),
            Some(root.join("bin/tpuc")),
        );
        let cpu = Device::Cpu { count: 1 };
        for expected in [&deps, &installed, &python] {
            assert_eq!(&find(&cpu, &around).unwrap(), expected);
            fs::remove_file(expected).unwrap();
        }
        let Err(Error::Plugin(PluginError::NotFound { device, looked })) = find(&cpu, &around)
        else {
            panic!("found a plugin where there is none");
        };
        assert_eq!(device, "cpu");
        assert!(looked.contains(&installed) && looked.contains(&python));
    }

    #[test]
    fn python_of_the_path_is_looked_at() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        touch(&root.join("bin/python3"));
        let tpu = root.join("lib/python3.13/site-packages/libtpu/libtpu.so");
        touch(&tpu);
        let path = root.join("bin").display().to_string();
        let around = Surroundings::new([("PATH".to_owned(), path)], None, None);
        assert_eq!(find(&Device::Tpu, &around).unwrap(), tpu);
        let report = survey(&around);
        assert_eq!(report[1].plugin(), Some(tpu.as_path()));
        assert_eq!(report.len(), 4);
    }

    #[test]
    fn python_is_found_behind_links_and_scripts_and_in_the_users_folder() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let plugin = |prefix: &str| {
            let path = root
                .join(prefix)
                .join("lib/python3.12/site-packages/libtpu/libtpu.so");
            touch(&path);
            path
        };
        let finds = |variables: &[(&str, PathBuf)]| {
            let owned = variables.iter();
            let owned = owned.map(|(n, v)| ((*n).to_owned(), v.display().to_string()));
            find(&Device::Tpu, &Surroundings::new(owned, None, None)).unwrap()
        };
        touch(&root.join("pyenv/shims/python3"));
        fs::write(root.join("pyenv/version"), "3.12.1\n").unwrap();
        let (first, second) = (
            plugin("pyenv/versions/3.12.1"),
            plugin("pyenv/versions/3.13.0"),
        );
        let shims = ("PATH", root.join("pyenv/shims"));
        assert_eq!(finds(std::slice::from_ref(&shims)), first);
        assert_eq!(finds(&[shims, ("PYENV_VERSION", "3.13.0".into())]), second);

        touch(&root.join("real/bin/python3.12"));
        fs::create_dir(root.join("links")).unwrap();
        let link = root.join("links/python3");
        std::os::unix::fs::symlink(root.join("real/bin/python3.12"), link).unwrap();
        let behind = plugin("real");
        assert_eq!(finds(&[("PATH", root.join("links"))]), behind);

        let users = plugin("home/.local");
        assert_eq!(finds(&[("HOME", root.join("home"))]), users);
    }

    #[test]
    fn the_plugin_that_the_environment_names_is_looked_at() {
        let around = Surroundings::for_tests(&[("TPUC_PLUGIN", "/no/such.so")]);
        let report = survey(&around);
        assert_eq!(report.len(), 5);
        assert_eq!(report[4].device, Device::Path("/no/such.so".into()));
        let around = Surroundings::for_tests(&[("TPUC_PLUGIN", "tpu")]);
        assert_eq!(survey(&around).len(), 4);
    }

    #[test]
    fn places_are_shown_a_folder_a_line() {
        let paths = ["/a/x.so", "/a/y.so", "/b/x.so", "/a/z.so", "w.so"].map(PathBuf::from);
        assert_eq!(
            by_folder(&paths),
            ["/a/{x.so,y.so,z.so}", "/b/x.so", "w.so"]
        );
    }

    #[test]
    fn a_named_file_that_is_missing_has_its_own_error() {
        let path = PathBuf::from("/no/such/plugin.so");
        let around = Surroundings::for_tests(&[]);
        let error = find(&Device::Path(path.clone()), &around).unwrap_err();
        assert_eq!(error, Error::Plugin(PluginError::FileMissing { path }));
        let folder = std::env::temp_dir();
        let error = find(&Device::Path(folder), &around).unwrap_err();
        assert_eq!(error.code(), "E0808");
    }
}
