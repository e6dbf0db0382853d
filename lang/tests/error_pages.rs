//! The pages of the syntax errors in `docs/errors/`: the program under "Fails" gives the error of the page, the one under
//! "Works" gives none. `tests/errors.rs` of the command looks at the pages of all codes.

mod common;

use common::{errors, root};
use std::path::PathBuf;
use tpuc_lang::diag::{Diagnostic, Severity};
use tpuc_lang::parse;
use tpuc_lang::span::FileId;

struct Page {
    code: String,
    fails: String,
    works: String,
}

/// Everything that is found in a program.
fn diagnostics(text: &str) -> Vec<Diagnostic> {
    parse(FileId(0), text).diagnostics
}

/// Whether parsing alone finds errors of this code.
fn is_covered(code: &str) -> bool {
    code.starts_with("E01")
}

fn paths() -> Vec<PathBuf> {
    let folder = root().join("docs/errors");
    let entries = std::fs::read_dir(folder).expect("docs/errors is there");
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "md"));
    paths.sort();
    assert!(!paths.is_empty(), "there are no pages");
    paths
}

/// Takes a page apart, or says what is wrong with its form.
fn page(path: &PathBuf) -> Result<Page, String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let code = path
        .file_stem()
        .map_or(String::new(), |s| s.to_string_lossy().to_string());
    let title = text.lines().next().unwrap_or("");
    let title = title.strip_prefix(&format!("# {code}: "));
    if title.is_none_or(|t| t.is_empty()) {
        return Err(format!("the first line is not `# {code}: title`"));
    }
    let (head, fails) = text
        .split_once("\n## Fails\n")
        .ok_or("no section `## Fails`")?;
    let (fails, works) = fails
        .split_once("\n## Works\n")
        .ok_or("no section `## Works`")?;
    if head.lines().skip(1).all(|l| l.trim().is_empty()) {
        return Err("no text says what the error means".to_string());
    }
    Ok(Page {
        code,
        fails: fenced(fails, "```tl,fails\n").ok_or("no block ```tl,fails under `## Fails`")?,
        works: fenced(works, "```tl\n").ok_or("no block ```tl under `## Works`")?,
    })
}

/// The text of the first block with this fence.
fn fenced(text: &str, fence: &str) -> Option<String> {
    let (_, rest) = text.split_once(fence)?;
    let (block, _) = rest.split_once("\n```")?;
    Some(format!("{block}\n"))
}

#[test]
fn every_page_shows_its_error_and_the_repair() {
    let mut faults = Vec::new();
    let covered = |path: &PathBuf| {
        path.file_stem()
            .is_some_and(|s| is_covered(&s.to_string_lossy()))
    };
    for path in paths().into_iter().filter(covered) {
        let page = match page(&path) {
            Ok(page) => page,
            Err(fault) => {
                faults.push(format!("{}: {fault}", path.display()));
                continue;
            }
        };
        let found = diagnostics(&page.fails);
        if !found.iter().any(|d| d.code.0 == page.code) {
            faults.push(format!(
                "{}: not reported:\n{}",
                page.code,
                errors(&page.fails)
            ));
        }
        if found
            .iter()
            .any(|d| d.code.0 != page.code && d.severity == Severity::Error)
        {
            faults.push(format!(
                "{}: other errors:\n{}",
                page.code,
                errors(&page.fails)
            ));
        }
        let left = diagnostics(&page.works);
        if left.iter().any(|d| d.severity == Severity::Error) {
            faults.push(format!(
                "{}: not repaired:\n{}",
                page.code,
                errors(&page.works)
            ));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
