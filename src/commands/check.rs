//! `tpuc check`.

use crate::cli::CheckArgs;
use crate::failure::Failure;
use crate::pipeline;
use crate::program_file;
use tpuc_lang::diag::Severity;
use tpuc_lang::render;
use tpuc_runtime::Surroundings;

/// Checks every function generically, then `main` and the tests at their concrete sizes, so that what passes here
/// lowers.
pub fn check(args: &CheckArgs) -> Result<(), Failure> {
    let around = Surroundings::of_process();
    let mut checked = program_file::check_file(&args.file, &args.program, &around)?;
    if let Some(program) = &checked.program {
        let scripts = program.main.iter().map(|b| ("main", b));
        let scripts = scripts.chain(program.tests.iter().map(|t| (t.name.as_str(), &t.body)));
        for (name, body) in scripts {
            if let Err(d) = pipeline::script(program, name, body) {
                checked.diagnostics.push(*d);
            }
        }
    }
    if args.json {
        print!(
            "{}",
            render::json_lines(&checked.sources, &checked.diagnostics)
        );
    } else {
        program_file::print_diagnostics(&checked.diagnostics, &checked.sources);
    }
    let fails = |s| s == Severity::Error || args.deny.is_some();
    match checked.diagnostics.iter().any(|d| fails(d.severity)) {
        true => Err(program_file::failure(&checked.diagnostics)),
        false => Ok(()),
    }
}
