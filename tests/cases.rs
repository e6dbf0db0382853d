//! The corpus in `tests/cases`: whole programs, each saying at its head what must come out. One test a file.
//!
//! The head is the lines that begin with `#!`:
//!
//! ```text
//! #! run --set N=3          the command and its options (run, check or test); the file is put in
//! #! exit 1                 the exit code, 0 if not said
//! #! out 3.5                the lines of the standard output, in order and complete
//! #! err error[E0302]       each must occur in the standard error
//! ```
//! Numbers of the output may differ in their last digits: relative 1e-5, absolute 1e-6.

mod support;

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use support::{close_text, tpuc};

fn main() {
    let args = Arguments::from_args();
    let mut files = Vec::new();
    collect(Path::new("tests/cases"), &mut files);
    files.sort();
    let trials = files.into_iter().map(|file| {
        let name = file
            .strip_prefix("tests/cases")
            .unwrap_or(&file)
            .display()
            .to_string();
        Trial::test(name, move || run(&file))
    });
    libtest_mimic::run(&args, trials.collect()).exit();
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "tl") && head(&path).is_some() {
            files.push(path);
        }
    }
}

/// What a case wants; `None` for a file without a head, which others import.
struct Head {
    command: Vec<String>,
    exit: i32,
    out: Vec<String>,
    err: Vec<String>,
}

fn head(file: &Path) -> Option<Head> {
    let text = std::fs::read_to_string(file).ok()?;
    let mut lines = text
        .lines()
        .map_while(|l| l.strip_prefix("#!"))
        .map(str::trim_start);
    let command: Vec<String> = lines.next()?.split_whitespace().map(String::from).collect();
    let mut head = Head {
        command,
        exit: 0,
        out: Vec::new(),
        err: Vec::new(),
    };
    for line in lines {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        match key {
            "exit" => head.exit = value.trim().parse().expect("an exit code after `#! exit`"),
            "out" => head.out.push(value.to_string()),
            "err" => head.err.push(value.to_string()),
            other => panic!("{}: `#! {other}` is not a line of a head", file.display()),
        }
    }
    Some(head)
}

fn run(file: &Path) -> Result<(), Failed> {
    let head = head(file).ok_or("no head")?;
    let mut args = vec![head.command[0].clone(), file.display().to_string()];
    args.extend(head.command[1..].iter().cloned());
    let result = tpuc(&args);
    let said = || {
        format!(
            "\n--- stdout\n{}--- stderr\n{}",
            result.stdout, result.stderr
        )
    };
    if result.code != head.exit {
        return Err(format!(
            "exit code {} instead of {}{}",
            result.code,
            head.exit,
            said()
        )
        .into());
    }
    for text in &head.err {
        if !result.stderr.contains(text.as_str()) {
            return Err(format!("the standard error lacks `{text}`{}", said()).into());
        }
    }
    let out: Vec<&str> = result.stdout.lines().collect();
    let same = out.len() == head.out.len()
        && head
            .out
            .iter()
            .zip(&out)
            .all(|(e, a)| close_text(e, a, 1e-5, 1e-6));
    // A case that only looks at the errors says nothing of the output.
    let speaks_of_output = !head.out.is_empty() || head.err.is_empty();
    if speaks_of_output && !same {
        return Err(format!("the output should be\n{}{}", head.out.join("\n"), said()).into());
    }
    Ok(())
}
