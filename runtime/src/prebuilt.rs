//! Executables compiled ahead of time, in a folder: a file for each, found by the program it was compiled from.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::cache::{hex, seal, unseal};
use crate::error::Error;
use crate::save;

/// The folder.
#[derive(Clone, Debug)]
pub struct Prebuilt {
    folder: PathBuf,
}

impl Prebuilt {
    pub fn at(folder: &Path) -> Prebuilt {
        Prebuilt {
            folder: folder.to_path_buf(),
        }
    }

    /// Writes the executable of a program. `code`: the StableHLO that it was compiled from.
    pub fn put(&self, name: &str, code: &[u8], executable: &[u8]) -> Result<(), Error> {
        save::make_folder(&self.folder)?;
        save::write_bytes(&self.path(name, code), &seal(executable))
    }

    /// The executable of a program, if it is there and whole.
    pub fn get(&self, name: &str, code: &[u8]) -> Option<Vec<u8>> {
        unseal(&fs::read(self.path(name, code)).ok()?)
    }

    fn path(&self, name: &str, code: &[u8]) -> PathBuf {
        let digest = hex(&Sha256::digest(code));
        self.folder.join(format!("{name}-{}.tpuexe", &digest[..16]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_executable_is_found_by_its_program() {
        let folder = tempfile::tempdir().unwrap();
        let prebuilt = Prebuilt::at(&folder.path().join("new"));
        assert_eq!(prebuilt.get("step", b"code"), None);
        prebuilt.put("step", b"code", b"executable").unwrap();
        assert_eq!(
            prebuilt.get("step", b"code").as_deref(),
            Some(&b"executable"[..])
        );
        assert_eq!(prebuilt.get("step", b"other"), None);
        assert_eq!(prebuilt.get("eval", b"code"), None);
    }
}
