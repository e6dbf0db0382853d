//! `tpuc fmt`.

use crate::cli::FmtArgs;
use crate::failure::Failure;
use crate::pipeline;
use std::io::Read;
use std::path::Path;
use tpuc_lang::source::Sources;

pub fn fmt(args: &FmtArgs) -> Result<(), Failure> {
    let mut all_well = true;
    for file in &args.files {
        let from_stdin = file.as_os_str() == "-";
        let text = if from_stdin {
            stdin()?
        } else {
            pipeline::read(file)?
        };
        let shown = if from_stdin {
            "<stdin>".to_string()
        } else {
            file.display().to_string()
        };
        let formatted = match tpuc_lang::fmt::format(&text) {
            Ok(formatted) => formatted,
            Err(diagnostics) => {
                let mut sources = Sources::default();
                sources.add(shown, text);
                pipeline::print_diagnostics(&diagnostics, &sources);
                all_well = false;
                continue;
            }
        };
        if args.check {
            if formatted != text {
                println!("{shown} is not formatted");
                all_well = false;
            }
        } else if from_stdin {
            print!("{formatted}");
        } else if formatted != text {
            write(file, &formatted)?;
        }
    }
    if all_well {
        Ok(())
    } else {
        Err(Failure::Program)
    }
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
