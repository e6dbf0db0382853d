//! Bad input: the exact text of each message, and the pages of `docs/errors` that stand behind the codes.
//!
//! What goes wrong outside the program (files, plugins, paths) is in `commands.rs`.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use support::{Run, tpuc};

/// The source and everything that `tpuc check` says about it.
fn snapshot(name: &str, source: &str, run: &Run) {
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_eq!(run.stdout, "");
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_path("snapshots/errors");
    let text = format!("{source}\n========\n\n{}", run.stderr);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// Checks a program that stands in a file of this name, so that the messages name it; gives the codes, in order.
fn check(name: &str, source: &str) -> Vec<String> {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let file = format!("{name}.tl");
    fs::write(dir.path().join(&file), source).expect("the temporary folder can be written");
    let run = support::tpuc_in(dir.path(), &["check", &file]);
    snapshot(name, source, &run);
    codes(&run.stderr)
}

/// The codes of the messages, in the order in which they are printed.
fn codes(text: &str) -> Vec<String> {
    let starts = text.lines().filter_map(|line| {
        let rest = line
            .strip_prefix("error[")
            .or(line.strip_prefix("warning["))?;
        rest.split_once("]:").map(|(code, _)| code.to_string())
    });
    starts.collect()
}

#[test]
fn a_program_that_ends_too_soon() {
    let found = check("end_of_file", "fn f(x: f32[4]) -> f32 {\n    sum(x) +");
    assert_eq!(found, ["E0105", "E0101"]);
}

#[test]
fn an_unknown_name_with_a_near_one() {
    let source = "fn f(weights: f32[4]) -> f32 {\n    sum(wieghts * 2.0)\n}\n";
    assert_eq!(check("near_name", source), ["E0201"]);
}

#[test]
fn a_wrong_number_of_arguments() {
    let source = "fn line(x: f32, a: f32, b: f32) -> f32 { a * x + b }\n\n\
                  fn f(x: f32) -> f32 { line(x, 2.0) }\n\n\
                  fn g(x: f32) -> f32 { line(x, 2.0, 1.0, 0.0) }\n";
    assert_eq!(check("argument_count", source), ["E0305", "E0305"]);
}

#[test]
fn the_wrong_matrix_in_the_mnist_program() {
    let source = fs::read_to_string("examples/mnist.tl").expect("the example is committed");
    let changed = source.replace("x @ p.w1", "x @ p.w2");
    assert_ne!(source, changed);
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    fs::write(dir.path().join("mnist.tl"), changed).expect("the temporary folder can be written");
    let run = support::tpuc_in(dir.path(), &["check", "mnist.tl"]);
    snapshot("mnist_wrong_matrix", "let h = relu(x @ p.w2 + p.b1);", &run);
    assert_eq!(codes(&run.stderr), ["E0302"]);
    for text in ["f32[B, 784]", "f32[HID=256, 10]", "`p.w1`", "did you mean"] {
        assert!(run.stderr.contains(text), "{text}: {}", run.stderr);
    }
}

#[test]
fn a_loop_variable_that_changes_its_shape() {
    let source = "fn f(x: f32[4]) -> f32[4] {\n    let mut y = x;\n    for _i in 0..3 {\n        y = concat((y, x));\n    }\n    y\n}\n";
    assert_eq!(check("loop_variable", source), ["E0317"]);
}

#[test]
fn the_gradient_of_what_is_not_a_scalar() {
    let source =
        "fn f(x: f32[4]) -> f32[4] { x * x }\n\nfn g(x: f32[4]) -> f32[4] { grad(f)(x) }\n";
    assert_eq!(check("gradient_of_vector", source), ["E0501"]);
}

#[test]
fn the_gradient_with_respect_to_an_integer() {
    let source = "fn f(n: i32, x: f32) -> f32 { f32(n) * x }\n\nfn g(n: i32, x: f32) -> f32 { grad(f)(n, x) }\n";
    assert_eq!(check("gradient_of_integer", source), ["E0502"]);
}

#[test]
fn a_key_that_is_used_twice() {
    let source = "fn f(k: key) -> f32[8] {\n    let a = uniform(k, [8]);\n    a + normal(k, [8])\n}\n\n\
                  fn g(k: key) -> f32[8] {\n    let mut x = zeros([8]);\n    for _i in 0..3 {\n        x = x + normal(k, [8]);\n    }\n    x\n}\n";
    assert_eq!(check("key_reuse", source), ["E0401", "E0401"]);
}

#[test]
fn a_program_without_main() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let source = "fn f(x: f32) -> f32 { x }\n";
    fs::write(dir.path().join("no_main.tl"), source).expect("the temporary folder can be written");
    let run = support::tpuc_in(dir.path(), &["run", "no_main.tl"]);
    snapshot("no_main", source, &run);
    assert_eq!(codes(&run.stderr), ["E0601"]);
    let dump = support::tpuc_in(dir.path(), &["dump-hlo", "no_main.tl"]);
    assert_eq!(
        (dump.code, codes(&dump.stderr)),
        (1, vec!["E0601".to_string()])
    );
}

#[test]
fn three_mistakes_are_three_errors_in_order() {
    let source = "fn a(x: f32[4]) -> f32[4] { x + unknown }\n\n\
                  fn b(x: f32[4], n: i32[4]) -> f32[4] {\n    let y = x * n;\n    let z = y + 1.0;\n    z * 2.0\n}\n\n\
                  fn c(x: f32[4]) -> f32 { a(x)[7] }\n";
    assert_eq!(check("three_mistakes", source), ["E0201", "E0301", "E0332"]);
}

// The pages.

fn pages() -> Vec<(String, String)> {
    let mut pages: Vec<(String, String)> = fs::read_dir("docs/errors")
        .expect("the pages are committed")
        .flatten()
        .filter_map(|entry| {
            let path = entry.path();
            let code = path.file_stem()?.to_string_lossy().into_owned();
            Some((code, fs::read_to_string(&path).ok()?))
        })
        .collect();
    pages.sort();
    pages
}

/// The codes that stand as literals in the sources of these folders, tests left out.
fn codes_in(folders: &[&str]) -> BTreeSet<String> {
    let mut files = Vec::new();
    for folder in folders {
        sources(Path::new(folder), &mut files);
    }
    let mut found = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap_or_default();
        let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for quoted in text.split('"').filter(|t| t.len() == 5) {
            let (letter, digits) = quoted.split_at(1);
            if "EW".contains(letter) && digits.bytes().all(|b| b.is_ascii_digit()) {
                found.insert(quoted.to_string());
            }
        }
        // The command's last words stand in a format string.
        if text.contains("error[E0900]") {
            found.insert("E0900".into());
        }
    }
    found
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder)
        .expect("the folders of the crates are there")
        .flatten()
        .map(|e| e.path())
    {
        let name = path
            .file_name()
            .map_or_else(String::new, |n| n.to_string_lossy().into());
        if path.is_dir() && name != "tests" {
            sources(&path, files);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            files.push(path);
        }
    }
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let pages: BTreeSet<String> = pages().into_iter().map(|(code, _)| code).collect();
    let used = codes_in(&["src", "lang/src", "compiler/src", "runtime/src"]);
    assert!(used.len() > 100, "{used:?}");
    let missing: Vec<_> = used.difference(&pages).collect();
    assert!(missing.is_empty(), "codes without a page: {missing:?}");
    let stray: Vec<_> = pages.difference(&used).collect();
    assert!(stray.is_empty(), "pages of no code: {stray:?}");
}

/// Where texts of errors are compared: tests, cases and snapshots.
fn tested() -> String {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut folders: Vec<PathBuf> = ["tests", "runtime", "lang", "compiler"]
        .map(PathBuf::from)
        .into();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|e| e.path())
        {
            let ending = path
                .extension()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            match ending.as_str() {
                _ if path.is_dir() => folders.push(path),
                "tl" | "snap" => files.push(path),
                "rs" if path.components().any(|part| part.as_os_str() == "tests") => {
                    files.push(path)
                }
                _ => {}
            }
        }
    }
    let texts = files
        .iter()
        .map(|path| fs::read_to_string(path).unwrap_or_default());
    texts.collect::<Vec<_>>().join("\n")
}

/// A code that no test names has a text that nobody has looked at.
#[test]
fn every_code_of_a_run_is_in_a_test() {
    let used = codes_in(&["src", "runtime/src"]);
    assert!(used.len() > 70, "{used:?}");
    let tested = tested();
    let without = used.iter().filter(|code| !tested.contains(code.as_str()));
    let without: Vec<_> = without.collect();
    assert!(without.is_empty(), "codes that no test names: {without:?}");
}

/// The first block with this fence.
fn fenced<'a>(page: &'a str, fence: &str) -> Option<&'a str> {
    let (_, rest) = page.split_once(&format!("\n{fence}\n"))?;
    rest.split_once("\n```").map(|(block, _)| block)
}

/// The codes of the parser and the checker are shown to fit their pages by the tests of `lang`; here it is those of the
/// compiler, which only the whole command can show.
#[test]
fn pages_say_what_to_do_or_show_it() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let check = |text: &str| {
        fs::write(dir.path().join("p.tl"), text).expect("the temporary folder can be written");
        codes(&support::tpuc_in(dir.path(), &["check", "p.tl"]).stderr)
    };
    let of_compiler = codes_in(&["compiler/src"]);
    let mut faults = Vec::new();
    for (code, page) in pages() {
        if !page.starts_with(&format!("# {code}: ")) {
            faults.push(format!("{code}: the first line is not `# {code}: title`"));
        }
        match (fenced(&page, "```tl,fails"), fenced(&page, "```tl")) {
            (Some(fails), Some(works)) if of_compiler.contains(&code) => {
                let (mut fails, works) = (check(fails), check(works));
                fails.dedup();
                if fails != [code.clone()] || !works.is_empty() {
                    faults.push(format!("{code}: gives {fails:?}, and repaired {works:?}"));
                }
            }
            (Some(_), Some(_)) => {}
            _ if page.contains("\n## What to do\n") => {}
            _ => faults.push(format!("{code}: neither a program nor what to do")),
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn codes_are_explained() {
    let run = tpuc(&["explain", "e0302"]);
    assert_eq!(run.code, 0);
    assert!(
        run.stdout.starts_with("# E0302: matrix product"),
        "{}",
        run.stdout
    );
    let none = tpuc(&["explain", "E9999"]);
    assert_eq!(none.code, 64);
    assert!(none.stderr.contains("E9999"));
}
