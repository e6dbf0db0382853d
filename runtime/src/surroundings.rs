//! Where the process runs: the folders and variables from which plugins and data are found.
//!
//! Read once and passed around, so that searches are functions of it and tests can make their own.

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;

/// The variables that searches look at. Others are not read.
const VARIABLES: [&str; 11] = [
    "TPUC_PLUGIN",
    "TPUC_DATA",
    "TPUC_DATASETS",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYENV_VERSION",
    "PATH",
    "HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "LD_LIBRARY_PATH",
];

/// The folders and variables of a process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    variables: BTreeMap<String, String>,
    /// The current folder; `None` where it was removed.
    current: Option<PathBuf>,
    /// The running program's file; `None` where the system does not say.
    program: Option<PathBuf>,
}

impl Surroundings {
    /// Those of this process.
    pub fn of_process() -> Surroundings {
        let variables = VARIABLES
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), env::var(name).ok()?)))
            .collect();
        Surroundings {
            variables,
            current: env::current_dir().ok(),
            program: env::current_exe()
                .and_then(|program| program.canonicalize())
                .ok(),
        }
    }

    pub fn new(
        variables: impl IntoIterator<Item = (String, String)>,
        current: Option<PathBuf>,
        program: Option<PathBuf>,
    ) -> Surroundings {
        Surroundings {
            variables: variables.into_iter().collect(),
            current,
            program,
        }
    }

    #[cfg(test)]
    pub(crate) fn for_tests(variables: &[(&str, &str)]) -> Surroundings {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Surroundings::new(variables.iter().map(owned), None, None)
    }

    /// A variable's value; `None` when unset or empty.
    pub fn variable(&self, name: &str) -> Option<String> {
        self.variables
            .get(name)
            .filter(|value| !value.is_empty())
            .cloned()
    }

    /// `.deps/PART` in each folder above the program, nearest first, then in the current folder and
    /// each above it, without repeats.
    pub(crate) fn deps(&self, part: &str) -> Vec<PathBuf> {
        let above_program = self.program.iter().flat_map(|p| p.ancestors().skip(1));
        let above_current = self.current.iter().flat_map(|p| p.ancestors());
        let mut folders: Vec<PathBuf> = Vec::new();
        for folder in above_program.chain(above_current) {
            let folder = folder.join(".deps").join(part);
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders
    }

    /// `../lib/tpuc/PART` beside the folder of an installed program.
    pub(crate) fn installed(&self, part: &str) -> Option<PathBuf> {
        let prefix = self.program.as_deref()?.parent()?.parent()?;
        Some(prefix.join("lib/tpuc").join(part))
    }

    /// The user's cache folder for this program.
    pub(crate) fn cache(&self) -> Option<PathBuf> {
        self.users("XDG_CACHE_HOME", ".cache")
    }

    /// The user's folder for what this program has fetched.
    pub(crate) fn data(&self) -> Option<PathBuf> {
        self.users("XDG_DATA_HOME", ".local/share")
    }

    /// This program's folder in one that a variable names, or else in one of the home folder. A relative one counts as
    /// none, as the XDG specification wants it: it would be another folder wherever the program is started.
    fn users(&self, variable: &str, at_home: &str) -> Option<PathBuf> {
        let absolute = |name: &str| {
            let folder = self.variable(name).map(PathBuf::from);
            folder.filter(|folder| folder.is_absolute())
        };
        let home = || Some(absolute("HOME")?.join(at_home));
        Some(absolute(variable).or_else(home)?.join("tpuc"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn deps_are_looked_for_upwards_from_the_program_then_from_the_current_folder() {
        let around = Surroundings::new(
            [],
            Some("/home/me/work".into()),
            Some("/home/me/tpuc/target/release/tpuc".into()),
        );
        let folders = around.deps("data");
        assert_eq!(
            folders[0],
            Path::new("/home/me/tpuc/target/release/.deps/data")
        );
        assert_eq!(folders[2], Path::new("/home/me/tpuc/.deps/data"));
        assert_eq!(
            folders.last().unwrap(),
            Path::new("/home/me/work/.deps/data")
        );
        assert_eq!(folders.len(), 7);
        let installed = around.installed("plugins").unwrap();
        assert_eq!(
            installed,
            Path::new("/home/me/tpuc/target/lib/tpuc/plugins")
        );
    }

    #[test]
    fn the_cache_follows_xdg() {
        let home = Surroundings::for_tests(&[("HOME", "/h")]);
        assert_eq!(home.cache().unwrap(), Path::new("/h/.cache/tpuc"));
        let xdg = Surroundings::for_tests(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/x")]);
        assert_eq!(xdg.cache().unwrap(), Path::new("/x/tpuc"));
        let relative = Surroundings::for_tests(&[("HOME", "/h"), ("XDG_CACHE_HOME", "x")]);
        assert_eq!(relative.cache().unwrap(), Path::new("/h/.cache/tpuc"));
        for home in [&[][..], &[("HOME", "h")], &[("HOME", "")]] {
            assert_eq!(Surroundings::for_tests(home).cache(), None);
        }
    }
}
