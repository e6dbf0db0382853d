//! The pages of `docs/errors/` that the checker's codes have: the program under "Fails" gives the diagnostic of the page
//! and no error beside it, the one under "Works" gives nothing at all.

mod checking;

use checking::{Table, checked_with, root, shown};
use std::collections::BTreeSet;
use tpuc_lang::check::Checked;

struct Page {
    code: String,
    fails: String,
    works: String,
    /// ` --set NAME=VALUE` named in the section "Fails".
    set: Option<(String, String)>,
    /// Other files, given in blocks of their own.
    table: Table,
}

/// The codes that the checker can give; those of the syntax, of a run and of a device have tests elsewhere.
fn codes_of_checker() -> BTreeSet<&'static str> {
    include_str!("../src/check/problem/code.rs")
        .split('"')
        .filter(|t| t.len() == 5 && t[1..].chars().all(|c| c.is_ascii_digit()))
        .collect()
}

fn pages() -> Vec<Page> {
    let folder = root().join("docs/errors");
    let known = codes_of_checker();
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("docs/errors is there")
        .flatten()
        .filter_map(|e| e.file_name().into_string().ok())
        .filter(|name| {
            name.strip_suffix(".md")
                .is_some_and(|code| known.contains(code))
        })
        .collect();
    names.sort();
    names.iter().map(|name| page(name)).collect()
}

fn page(name: &str) -> Page {
    let path = root().join("docs/errors").join(name);
    let text = std::fs::read_to_string(path).expect("a page can be read");
    let (head, rest) = text
        .split_once("\n## Fails\n")
        .unwrap_or_else(|| panic!("{name} has no section `## Fails`"));
    let (fails, works) = rest
        .split_once("\n## Works\n")
        .unwrap_or_else(|| panic!("{name} has no section `## Works`"));
    let set = fails.split_once("`--set ").map(|(_, rest)| {
        let (name, value) = rest.split_once('=').expect("a name and a value");
        let (value, _) = value.split_once('`').expect("an end of the option");
        (name.to_string(), value.to_string())
    });
    let mut table = Table::default();
    for block in head.split("```tl,file=").skip(1) {
        let (file, rest) = block.split_once('\n').expect("a file name");
        let (text, _) = rest.split_once("```").expect("an end of the block");
        table.files.push((file.to_string(), text.to_string()));
    }
    Page {
        code: name.trim_end_matches(".md").to_string(),
        fails: fenced(fails, "```tl,fails\n"),
        works: fenced(works, "```tl\n"),
        set,
        table,
    }
}

fn fenced(text: &str, fence: &str) -> String {
    let (_, rest) = text.split_once(fence).expect("a block of code");
    let (block, _) = rest.split_once("```").expect("an end of the block");
    block.to_string()
}

fn codes(checked: &Checked) -> BTreeSet<&'static str> {
    checked.diagnostics.iter().map(|d| d.code.0).collect()
}

#[test]
fn every_page_shows_its_diagnostic_and_the_repair() {
    let mut faults = Vec::new();
    for page in pages() {
        let set: Vec<(&str, &str)> = page
            .set
            .iter()
            .map(|(n, v)| (n.as_str(), v.as_str()))
            .collect();
        let fails = checked_with("page.tl", &page.fails, &set, &page.table);
        if codes(&fails) != BTreeSet::from([page.code.as_str()]) {
            faults.push(format!("{}: under Fails\n{}", page.code, shown(&fails)));
        }
        let works = checked_with("page.tl", &page.works, &[], &page.table);
        if !works.diagnostics.is_empty() {
            faults.push(format!("{}: under Works\n{}", page.code, shown(&works)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Every code in the table of the checker has a page.
#[test]
fn every_code_has_a_page() {
    let codes = codes_of_checker();
    assert!(codes.len() > 50);
    let pages: BTreeSet<String> = pages().into_iter().map(|p| p.code).collect();
    let missing: Vec<&&str> = codes.iter().filter(|c| !pages.contains(**c)).collect();
    assert!(missing.is_empty(), "no page for {missing:?}");
}
