//! The `tpuc` command: argument parsing and dispatch.

#[macro_use]
mod say;

mod ahead;
mod cli;
mod commands;
mod convert;
mod costs;
mod execute;
mod failure;
mod hosts;
mod job;
mod loader;
mod parallel;
mod pipeline;
mod program_file;
mod progress;
mod target;

use clap::Parser;
use cli::{Cli, Command};
use failure::Failure;
use signal_hook::consts::SIGXFSZ;
use std::process::ExitCode;
use std::sync::Arc;

/// What nests within the limits of the checker needs more stack than a main thread has. Only what is used is real memory.
const STACK: usize = 512 << 20;

fn main() -> ExitCode {
    // A file that may not grow any more is an error of the write then, like a full disk, and not the end of the process.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(run);
    match worker {
        Ok(worker) => worker.join().unwrap_or(ExitCode::from(2)),
        Err(_) => run(),
    }
}

fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            let usage = e.use_stderr();
            let printed = e.print();
            if usage {
                return ExitCode::from(64);
            }
            say::note(printed);
            return ended(say::finish());
        }
    };
    // A bug in the compiler is said as one, with the exit code of the environment.
    let result = std::panic::catch_unwind(|| dispatch(cli).and_then(|()| say::finish()));
    match result {
        Ok(result) => ended(result),
        Err(_) => {
            eprintln!("error[E0900]: this is a bug in tpuc; the message above says where");
            ExitCode::from(2)
        }
    }
}

fn ended(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprint!("{failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

fn dispatch(cli: Cli) -> Result<(), Failure> {
    if cli.version {
        return commands::version::version();
    }
    match cli.command {
        None => Err(Failure::Usage(
            "no command; `tpuc --help` lists them".into(),
        )),
        Some(Command::Run(args)) => commands::run::run(&args),
        Some(Command::Check(args)) => commands::check::check(&args),
        Some(Command::DumpHlo(args)) => commands::dump::dump(&args),
        Some(Command::Compile(args)) => commands::compile::compile(&args),
        Some(Command::Setup { device }) => commands::setup::setup(&device),
        Some(Command::Diff(args)) => commands::diff::diff(&args),
        Some(Command::Calibrate) => commands::calibrate::calibrate(),
        Some(Command::Devices(args)) => commands::devices::devices(&args),
        Some(Command::Test(args)) => commands::test::test(&args),
        Some(Command::Fmt(args)) => commands::fmt::fmt(&args),
        Some(Command::GradCheck(args)) => commands::grad_check::grad_check(&args),
        Some(Command::Doc(args)) => commands::doc::doc(&args.what),
        Some(Command::Cache { action }) => commands::cache::cache(action.as_deref()),
        Some(Command::Completions { shell }) => commands::manual::completions(shell),
        Some(Command::Man) => commands::manual::man(),
        Some(Command::Explain { code }) => commands::explain::explain(&code),
    }
}
