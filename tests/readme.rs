//! What the documents show is run: the programs and the command lines of the README and of those documents of `docs` that have a
//! test here.
//!
//! | fence | what is done |
//! |---|---|
//! | `tl` | a program with `main` runs, with exit code 0; one with `test` blocks is tested; any other is checked |
//! | `output` | is what the program just above it prints |
//! | `tl,E0302` | is a program in which `tpuc check` finds errors of this code and no others; `W…` likewise |
//! | `console` | the lines `$ tpuc …` run, and what is shown below them is printed; `…` stands for lines left out |
//!
//! Command lines that train for minutes are left out, by name.

mod support;

use std::fs;
use std::path::Path;
use support::{close_text, tpuc_in};
use tempfile::TempDir;

struct Block {
    fence: String,
    line: usize,
    text: String,
}

fn blocks(document: &str) -> Vec<Block> {
    let text = fs::read_to_string(document).expect("the document is committed");
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    for (i, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(_), Some(block)) => found.push(block),
            (Some(fence), None) => {
                open = Some(Block {
                    fence: fence.to_string(),
                    line: i + 1,
                    text: String::new(),
                })
            }
            (None, Some(mut block)) => {
                block.text.push_str(line);
                block.text.push('\n');
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "{document}: a block is not closed");
    found
}

/// A folder in which the examples are found under the names that the documents give them.
fn folder() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    fs::create_dir(dir.path().join("examples")).expect("the temporary folder can be written");
    for entry in fs::read_dir("examples")
        .expect("the examples are committed")
        .flatten()
    {
        if entry.path().is_dir() {
            continue;
        }
        let to = dir.path().join("examples").join(entry.file_name());
        fs::copy(entry.path(), to).expect("the temporary folder can be written");
    }
    dir
}

/// The codes of the messages.
fn codes(text: &str) -> Vec<&str> {
    let codes = text.lines().filter_map(|line| {
        let rest = line
            .strip_prefix("error[")
            .or(line.strip_prefix("warning["))?;
        rest.split_once("]:").map(|(code, _)| code)
    });
    codes.collect()
}

/// Runs a program as its parts ask for; gives what it prints.
fn program(dir: &Path, text: &str) -> Result<String, String> {
    fs::write(dir.join("program.tl"), text).map_err(|e| e.to_string())?;
    let has = |word: &str| text.lines().any(|line| line.starts_with(word));
    let mut printed = String::new();
    for (word, command) in [("main {", "run"), ("test \"", "test"), ("", "check")] {
        if has(word) {
            let run = tpuc_in(dir, &[command, "program.tl"]);
            if run.code != 0 || run.stderr.contains("error[") {
                return Err(format!(
                    "{command}: exit code {}\n{}{}",
                    run.code, run.stdout, run.stderr
                ));
            }
            if command == "run" {
                printed = run.stdout;
            }
        }
    }
    Ok(printed)
}

fn refused(dir: &Path, text: &str, code: &str) -> Result<(), String> {
    fs::write(dir.join("program.tl"), text).map_err(|e| e.to_string())?;
    let run = tpuc_in(dir, &["check", "program.tl"]);
    let found = codes(&run.stderr);
    match !found.is_empty() && found.iter().all(|c| *c == code) {
        true => Ok(()),
        false => Err(format!("expected {code}, got\n{}", run.stderr)),
    }
}

/// Takes minutes, or changes the machine.
fn is_left_out(args: &[&str]) -> bool {
    args.starts_with(&["run", "examples/mnist.tl"]) || args.first() == Some(&"setup")
}

/// The command lines of a block, each with what is shown below it.
fn console(dir: &Path, text: &str) -> Result<(), String> {
    for part in format!("\n{text}").split("\n$ ").skip(1) {
        let (line, shown) = part.split_once('\n').unwrap_or((part, ""));
        let line = line.split(" #").next().unwrap_or(line);
        let args: Vec<&str> = line.split_whitespace().collect();
        let Some(("tpuc", args)) = args.split_first().map(|(first, rest)| (*first, rest)) else {
            continue;
        };
        if is_left_out(args) {
            continue;
        }
        let run = tpuc_in(dir, args);
        let said = format!("{}{}", run.stdout, run.stderr);
        if run.code > 1 || (run.code == 1 && shown.trim().is_empty()) {
            return Err(format!("`{line}`: exit code {}\n{said}", run.code));
        }
        let mut lines = said.lines();
        for wanted in shown
            .lines()
            .filter(|l| !l.trim().is_empty() && l.trim() != "…")
        {
            if !lines.any(|l| close_text(wanted.trim_end(), l.trim_end(), 1e-5, 1e-6)) {
                return Err(format!("`{line}` does not print `{wanted}` there:\n{said}"));
            }
        }
    }
    Ok(())
}

fn run(document: &str) {
    let dir = folder();
    let mut faults = Vec::new();
    let mut printed = String::new();
    let (mut programs, blocks) = (0, blocks(document));
    for block in &blocks {
        let result = match block.fence.as_str() {
            "tl" => {
                programs += 1;
                program(dir.path(), &block.text).map(|out| printed = out)
            }
            "output" if close_text(&block.text, &printed, 1e-5, 1e-6) => Ok(()),
            "output" => Err(format!("the program prints\n{printed}")),
            "console" => console(dir.path(), &block.text),
            fence => match fence.strip_prefix("tl,") {
                Some(code) => refused(dir.path(), &block.text, code),
                None => Ok(()),
            },
        };
        if let Err(fault) = result {
            faults.push(format!("{document}:{}: {fault}", block.line));
        }
    }
    assert!(
        programs > 0 || blocks.iter().any(|b| b.fence == "console"),
        "{document} shows nothing"
    );
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The targets of the links of a document that lead to other files.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|t| t.split(')').next());
    targets.filter(|t| !t.contains("://") && !t.starts_with('#'))
}

#[test]
fn links_lead_somewhere() {
    let mut documents = vec!["README.md".to_string()];
    for folder in ["docs", "docs/how-to"] {
        for entry in fs::read_dir(folder)
            .expect("the documents are committed")
            .flatten()
        {
            let path = entry.path();
            if path.extension().is_some_and(|e| e == "md") {
                documents.push(path.display().to_string());
            }
        }
    }
    assert!(documents.len() > 8, "{documents:?}");
    for document in documents {
        let text = fs::read_to_string(&document).expect("a document can be read");
        let folder = Path::new(&document).parent().unwrap_or(Path::new(""));
        // Code may look like a link: `grad(f)[i](x)`.
        let prose: String = text.split("```").step_by(2).collect();
        let prose: String = prose.split('`').step_by(2).collect();
        for target in links(&prose) {
            let file = target.split('#').next().unwrap_or(target);
            assert!(folder.join(file).exists(), "{document}: {target}");
        }
    }
}

#[test]
fn the_readme() {
    run("README.md");
}

#[test]
fn the_language() {
    run("docs/language.md");
}

#[test]
fn testing() {
    run("docs/testing.md");
}

#[test]
fn data() {
    run("docs/data.md");
}

#[test]
fn long_runs() {
    run("docs/long-runs.md");
}
