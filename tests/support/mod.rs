//! What the whole-program tests share.

#![allow(dead_code)] // Each test file uses its part.

pub mod composite;
pub mod generate;
pub mod pjrt;
pub mod program;
pub mod safetensors;
pub mod values;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// What a run of the command gave.
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// A folder that is the same one in every run of the tests, and this test's own. What is compiled knows the path of its
/// program, so that only programs in such a folder are found in the cache again.
pub fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("a folder among what is built");
    folder
}

/// Runs the command in the root of the repository.
pub fn tpuc<S: AsRef<std::ffi::OsStr>>(args: &[S]) -> Run {
    tpuc_with(args, &[])
}

/// As [`tpuc`], with environment variables.
pub fn tpuc_with<S: AsRef<std::ffi::OsStr>>(args: &[S], env: &[(&str, &str)]) -> Run {
    run(Path::new(env!("CARGO_MANIFEST_DIR")), args, env)
}

/// As [`tpuc`], in another folder.
pub fn tpuc_in<S: AsRef<std::ffi::OsStr>>(folder: &Path, args: &[S]) -> Run {
    run(folder, args, &[])
}

fn run<S: AsRef<std::ffi::OsStr>>(folder: &Path, args: &[S], env: &[(&str, &str)]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tpuc"));
    command
        .args(args)
        .current_dir(folder)
        .env_remove("TPUC_PLUGIN")
        .env("XDG_CACHE_HOME", scratch("cache"))
        .envs(env.iter().copied());
    let output = command
        .output()
        .expect("the command that cargo has just built starts");
    Run {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

pub fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder can be made")
}

/// A program file in a folder of its own.
pub fn program(text: &str) -> (TempDir, String) {
    let dir = folder();
    let path = dir.path().join("p.tl");
    fs::write(&path, text).expect("the temporary folder can be written");
    (dir, path.display().to_string())
}

pub fn expect(run: &Run, code: i32, texts: &[&str]) {
    assert_eq!(
        run.code, code,
        "stdout: {}\nstderr: {}",
        run.stdout, run.stderr
    );
    for text in texts {
        assert!(
            run.stderr.contains(text),
            "the standard error lacks `{text}`:\n{}",
            run.stderr
        );
    }
}

/// Whether two texts are equal but for the last digits of the decimal numbers in them.
pub fn close_text(expected: &str, actual: &str, relative: f64, absolute: f64) -> bool {
    let (e, a) = (pieces(expected), pieces(actual));
    e.len() == a.len()
        && e.iter().zip(&a).all(|(e, a)| {
            if e == a {
                return true;
            }
            match (e.parse::<f64>(), a.parse::<f64>()) {
                (Ok(x), Ok(y)) if is_decimal(e) && is_decimal(a) => {
                    (x - y).abs() <= absolute + relative * x.abs()
                }
                _ => false,
            }
        })
}

fn is_decimal(text: &str) -> bool {
    text.contains('.') || text.contains('e')
}

/// Numbers and what stands between them.
fn pieces(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut numeric = false;
    for c in text.chars() {
        let part = c.is_ascii_digit()
            || c == '.'
            || (numeric && "eE-+".contains(c))
            || (!numeric && c == '-');
        match out.last_mut() {
            Some(last) if part == numeric => last.push(c),
            _ => out.push(c.to_string()),
        }
        numeric = part;
    }
    out
}
