//! Printing that never panics: these macros stand in the place of the standard library's in all of the command.
//!
//! A reader that has gone away (`tpuc … | head`) ends the output and not the work. Any other failure of the standard
//! output, such as a full disk, is an error, which [`finish`] gives at the end.

use crate::failure::Failure;
use std::env;
use std::fmt::Arguments;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

macro_rules! print {
    ($($text:tt)*) => { $crate::say::out(format_args!($($text)*)) };
}

macro_rules! println {
    ($($text:tt)*) => { $crate::say::out(format_args!("{}\n", format_args!($($text)*))) };
}

macro_rules! eprint {
    ($($text:tt)*) => { $crate::say::error(format_args!($($text)*)) };
}

macro_rules! eprintln {
    ($($text:tt)*) => { $crate::say::error(format_args!("{}\n", format_args!($($text)*))) };
}

/// Why the standard output took no more.
static FAILED: OnceLock<String> = OnceLock::new();

pub fn out(text: Arguments<'_>) {
    note(io::stdout().lock().write_fmt(text));
}

/// The error stream has nowhere to say that it failed.
pub fn error(text: Arguments<'_>) {
    let _ = io::stderr().lock().write_fmt(text);
}

/// Whether the error stream is a terminal on which lines can be drawn over.
pub fn on_screen() -> bool {
    io::stderr().is_terminal() && env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Whether it shows colours, and the user wants them (no-color.org).
pub fn in_colour() -> bool {
    on_screen() && env::var_os("NO_COLOR").is_none_or(|no| no.is_empty())
}

/// Remembers a failure of the standard output.
pub fn note(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
    {
        let _ = FAILED.set(error.to_string());
    }
}

/// Whether all that was printed has gone out.
pub fn finish() -> Result<(), Failure> {
    note(io::stdout().lock().flush());
    match FAILED.get() {
        None => Ok(()),
        Some(reason) => Err(Failure::runtime(
            "E0714",
            format!("writing to the standard output failed: {reason}"),
            None,
        )),
    }
}
