//! What several tests share.

use proptest::test_runner::{Config, RngSeed};
use std::path::{Path, PathBuf};
use tpuc_lang::render::render;
use tpuc_lang::source::Sources;

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The diagnostics of a program as a terminal shows them; empty if there are none.
#[allow(dead_code)]
pub fn errors(text: &str) -> String {
    let mut sources = Sources::default();
    let file = sources.add("a.tl", text);
    render(&sources, &tpuc_lang::parse(file, text).diagnostics, false)
}

/// Source and result, for a snapshot that can be read by itself.
#[allow(dead_code)]
pub fn side_by_side(source: &str, result: &str) -> String {
    format!(
        "{}\n\n---- gives\n\n{}\n",
        source.trim_end(),
        result.trim_end()
    )
}

/// Every `.tl` file of the repository that is tracked there, with its text, in order.
#[allow(dead_code)]
pub fn programs() -> Vec<(String, String)> {
    let mut files = Vec::new();
    for folder in ["examples", "std", "tests", "lang/tests", "bench"] {
        collect(&root().join(folder), &mut files);
    }
    files.sort();
    assert!(!files.is_empty(), "there are no programs");
    files
}

fn collect(folder: &Path, files: &mut Vec<(String, String)>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if path.is_dir() && !hidden {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "tl")
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            files.push((path.display().to_string(), text));
        }
    }
}

/// The same cases on every run.
#[allow(dead_code)]
pub fn cases(count: u32) -> Config {
    Config {
        cases: count,
        rng_seed: RngSeed::Fixed(0),
        failure_persistence: None,
        ..Config::default()
    }
}
