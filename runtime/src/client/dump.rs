//! What a plugin's compiler made of a program, as text. The C API has no call for it: the compiler writes it to a
//! folder when an option asks it to.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::{Client, CompileOptions, OverrideValue, Signature};
use crate::error::{DataError, Error, ProgramError, ValueError};

/// A folder for the compiler's own files of one compilation.
pub(super) struct Dump(TempDir);

impl Dump {
    pub fn new() -> Result<Dump, Error> {
        let folder = tempfile::tempdir().map_err(|error| ValueError::WriteFailed {
            path: std::env::temp_dir(),
            reason: error.to_string(),
        })?;
        Ok(Dump(folder))
    }

    /// The options with the dump switched on.
    pub fn options(&self, options: &CompileOptions) -> CompileOptions {
        let mut options = options.clone();
        options.overrides.extend([
            (
                "xla_dump_to".to_owned(),
                OverrideValue::Text(self.0.path().display().to_string()),
            ),
            ("xla_dump_hlo_as_text".to_owned(), OverrideValue::Bool(true)),
        ]);
        options
    }

    /// The optimised program. `program`: what errors call it.
    pub fn hlo(&self, program: &str) -> Result<String, Error> {
        let text = self.file("after_optimizations.txt")?;
        text.ok_or_else(|| {
            Error::Program(ProgramError::DumpMissing {
                program: program.to_owned(),
            })
        })
    }

    /// The report on the buffers.
    pub fn buffers(&self) -> Result<String, Error> {
        let report = self.file("after_optimizations-buffer-assignment.txt")?;
        Ok(report.unwrap_or_default())
    }

    /// The first file whose name ends so.
    fn file(&self, ending: &str) -> Result<Option<String>, Error> {
        let unreadable = |error: std::io::Error| {
            Error::Data(DataError::FileUnreadable {
                path: self.0.path().to_path_buf(),
                reason: error.to_string(),
            })
        };
        let mut found: Vec<PathBuf> = Vec::new();
        for entry in fs::read_dir(self.0.path()).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
        found.sort();
        let first = found.first();
        first
            .map(fs::read_to_string)
            .transpose()
            .map_err(unreadable)
    }
}

impl Client {
    /// What the plugin's compiler makes of a program, and its report on the buffers, both as text; the second is empty
    /// where it writes none. The program is compiled once more for them.
    pub fn optimized_with_buffers(
        &self,
        name: &str,
        code: &[u8],
        signature: &Signature,
        options: &CompileOptions,
    ) -> Result<(String, String), Error> {
        let dump = Dump::new()?;
        self.compile(name, code, signature.clone(), &dump.options(options))?;
        Ok((dump.hlo(name)?, dump.buffers()?))
    }

    /// What the plugin's compiler makes of a program, as HLO text. The program is compiled once more for it.
    pub fn optimized_hlo(
        &self,
        name: &str,
        code: &[u8],
        signature: &Signature,
        options: &CompileOptions,
    ) -> Result<String, Error> {
        let dump = Dump::new()?;
        self.compile(name, code, signature.clone(), &dump.options(options))?;
        dump.hlo(name)
    }
}
