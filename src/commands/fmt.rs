//! `tpuc fmt`.

use crate::cli::FmtArgs;
use crate::failure::Failure;
use crate::program_file;
use std::io::Read;
use std::path::Path;
use tpuc_lang::source::Sources;

pub fn fmt(args: &FmtArgs) -> Result<(), Failure> {
    let mut worst = 0;
    for file in &args.files {
        // The other files are formatted none the less.
        if let Err(failure) = format(file, args.check) {
            eprint!("{failure}");
            worst = worst.max(failure.exit_code());
        }
    }
    match worst {
        0 => Ok(()),
        1 => Err(Failure::Program),
        _ => Err(Failure::Said),
    }
}

fn format(file: &Path, check: bool) -> Result<(), Failure> {
    let from_stdin = file.as_os_str() == "-";
    let (text, shown) = match from_stdin {
        true => (stdin()?, "<stdin>".to_string()),
        false => (program_file::read(file)?, file.display().to_string()),
    };
    let formatted = match tpuc_lang::fmt::format(&text) {
        Ok(formatted) => formatted,
        Err(diagnostics) => {
            let mut sources = Sources::default();
            sources.add(shown, text);
            program_file::print_diagnostics(&diagnostics, &sources);
            return Err(Failure::Program);
        }
    };
    let changed = formatted != text;
    if check && changed {
        println!("{shown} is not formatted");
        return Err(Failure::Program);
    }
    match check {
        false if from_stdin => print!("{formatted}"),
        false if changed => write(file, &formatted)?,
        _ => {}
    }
    Ok(())
}

fn stdin() -> Result<String, Failure> {
    let mut text = String::new();
    match std::io::stdin().read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(e) => Err(Failure::runtime(
            "E0901",
            format!("cannot read the standard input: {e}"),
            None,
        )),
    }
}

/// Beside and renamed, so that an interruption leaves the old text.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    tpuc_runtime::save::write_text(path, text).map_err(Failure::from)
}
