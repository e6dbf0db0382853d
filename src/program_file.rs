//! A program's file: read, checked, and what is said of it.

use crate::cli::ProgramArgs;
use crate::failure::Failure;
use crate::loader::DiskLoader;
use crate::say;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use tpuc_lang::check::{self, Checked, Options};
use tpuc_lang::diag::{Code, Diagnostic, Severity};
use tpuc_lang::render;
use tpuc_lang::source::Sources;
use tpuc_lang::span::Span;
use tpuc_lang::typed::Program;
use tpuc_runtime::Surroundings;
use tpuc_runtime::client::show_bytes;

/// What is longer is no text that somebody wrote or keeps to compare with, and may have no end.
const LONGEST_TEXT: u64 = 1 << 28;

/// Codes of data for names that no data could have: an unknown dataset, an unknown ending.
const NAMES_OF_DATA: [&str; 2] = ["E0703", "E0716"];

/// A file that has been read and checked, errors included.
pub fn check_file(
    path: &Path,
    args: &ProgramArgs,
    around: &Surroundings,
) -> Result<Checked, Failure> {
    let text = read(path)?;
    let options = Options {
        consts: args.set.clone(),
        mesh: args.mesh.clone(),
    };
    let loader = DiskLoader::new(path, around);
    Ok(check::check(
        &path.display().to_string(),
        &text,
        &loader,
        &options,
    ))
}

/// The text of a program file, or of a stored dump.
pub fn read(path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    let unreadable = |message: String| Failure::runtime("E0901", message, None);
    let mut bytes = Vec::new();
    let file = File::open(path);
    let read = file.and_then(|file| file.take(LONGEST_TEXT + 1).read_to_end(&mut bytes));
    read.map_err(|e| match e.kind() {
        ErrorKind::NotFound => unreadable(format!("there is no file `{shown}`")),
        ErrorKind::IsADirectory => unreadable(format!("`{shown}` is a folder")),
        _ => unreadable(format!("cannot read `{shown}`: {e}")),
    })?;
    if bytes.len() as u64 > LONGEST_TEXT {
        return Err(unreadable(format!(
            "`{shown}` is longer than any program: over {}",
            show_bytes(LONGEST_TEXT)
        )));
    }
    String::from_utf8(bytes).map_err(|_| unreadable(format!("`{shown}` is not UTF-8 text")))
}

/// The checked program; its diagnostics are printed, and errors among them end the command.
pub fn load(
    path: &Path,
    args: &ProgramArgs,
    around: &Surroundings,
) -> Result<(Program, Sources), Failure> {
    let checked = check_file(path, args, around)?;
    print_diagnostics(&checked.diagnostics, &checked.sources);
    match checked.program {
        Some(program) => Ok((program, checked.sources)),
        None => Err(failure(&checked.diagnostics)),
    }
}

/// What a command with these diagnostics ends as, once they are printed: data that is missing or broken is no error of
/// the program that names it.
pub fn failure(diagnostics: &[Diagnostic]) -> Failure {
    let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error);
    let is_data = |d: &Diagnostic| {
        let Code(code) = d.code;
        code.starts_with("E07") && !NAMES_OF_DATA.contains(&code)
    };
    let mut errors = errors.peekable();
    match errors.peek().is_some() && errors.all(is_data) {
        true => Failure::Said,
        false => Failure::Program,
    }
}

pub fn print_diagnostics(diagnostics: &[Diagnostic], sources: &Sources) {
    if !diagnostics.is_empty() {
        eprint!("{}", render::render(sources, diagnostics, say::in_colour()));
    }
}

/// `file:line` of a span.
pub fn place_of(sources: &Sources, span: Span) -> String {
    let (line, _) = sources.line_col(span);
    format!("{}:{line}", sources.get(span.file).name)
}

/// Reports a problem that only concrete sizes show.
pub fn report(diagnostic: Diagnostic, sources: &Sources) -> Failure {
    debug_assert_eq!(diagnostic.severity, Severity::Error);
    print_diagnostics(&[diagnostic], sources);
    Failure::Program
}
