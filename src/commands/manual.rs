//! `tpuc completions` and `tpuc man`: made from the command line's own description.

use crate::cli::Cli;
use crate::failure::Failure;
use clap::CommandFactory;
use clap_complete::Shell;

pub fn completions(shell: Shell) -> Result<(), Failure> {
    clap_complete::generate(shell, &mut Cli::command(), "tpuc", &mut std::io::stdout());
    Ok(())
}

/// The page of `tpuc`, then one for each subcommand, in the format of `man`.
pub fn man() -> Result<(), Failure> {
    let mut command = Cli::command();
    command.build();
    let mut out = std::io::stdout();
    for page in std::iter::once(&command).chain(command.get_subcommands()) {
        // A reader that has gone away ends the output.
        let _ = clap_mangen::Man::new(page.clone()).render(&mut out);
    }
    Ok(())
}
