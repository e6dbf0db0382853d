//! `tpuc completions` and `tpuc man`: made from the command line's own description.

use crate::cli::Cli;
use crate::failure::Failure;
use clap::CommandFactory;
use clap_complete::Shell;

pub fn completions(shell: Shell) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "tpuc", &mut text);
    print!("{}", String::from_utf8_lossy(&text));
    Ok(())
}

/// The page of `tpuc`, then one for each subcommand, in the format of `man`.
pub fn man() -> Result<(), Failure> {
    let mut command = Cli::command();
    command.build();
    let mut text = Vec::new();
    for page in std::iter::once(&command).chain(command.get_subcommands()) {
        // Writing to memory does not fail.
        let _ = clap_mangen::Man::new(page.clone()).render(&mut text);
    }
    print!("{}", String::from_utf8_lossy(&text));
    Ok(())
}
