//! The standard library: its own `test` blocks, and its values against Optax's and JAX's.
//!
//! `tests/std/NAME.tl` prints what `tests/std/NAME.txt`, written by `scripts/reference`, says, but for rounding.

mod support;

use support::{close_text, tpuc};

fn own_tests_pass(file: &str) {
    let run = tpuc(&["test", file]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains(" passed, 0 failed"), "{}", run.stdout);
    assert_eq!(run.stderr, "", "{file} has warnings");
}

/// The page of the library has a place for everything that `tpuc doc` describes.
#[test]
fn the_page_names_every_function() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/std.md");
    let page = std::fs::read_to_string(page).expect("the page is in the repository");
    let words: std::collections::HashSet<&str> = page
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .collect();
    let run = tpuc(&["doc", "std"]);
    let names = run.stdout.lines().filter_map(|l| {
        let name = l.strip_prefix("  fn ")?.split(['[', '(']).next()?;
        Some(name)
    });
    let missing: Vec<&str> = names
        .filter(|n| {
            !words.contains(n) && !n.strip_suffix("_init").is_some_and(|n| words.contains(n))
        })
        .collect();
    assert!(missing.is_empty(), "docs/std.md lacks {missing:?}");
    assert!(run.stdout.contains("fn dense"), "{}", run.stdout);
}

fn agrees(name: &str, absolute: f64) {
    let run = tpuc(&["run", &format!("tests/std/{name}.tl")]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let file = format!("{}/tests/std/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let expected = std::fs::read_to_string(&file).expect("the reference is in the repository");
    assert_eq!(expected.lines().count(), run.stdout.lines().count());
    for (want, have) in expected.lines().zip(run.stdout.lines()) {
        let label = want.split('[').next().unwrap_or_default();
        assert!(
            close_text(want, have, 1e-5, absolute),
            "{label}\nshould be {want}\nis        {have}"
        );
    }
}

#[test]
fn optim_passes_its_own_tests() {
    own_tests_pass("std/optim.tl");
}

/// Its `dropout` hides the builtin, which the file as a program of its own is told.
#[test]
fn nn_passes_its_own_tests() {
    let run = tpuc(&["test", "std/nn.tl"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains(" passed, 0 failed"), "{}", run.stdout);
    let warnings: Vec<&str> = run
        .stderr
        .lines()
        .filter(|l| l.starts_with("warning["))
        .collect();
    assert_eq!(warnings.len(), 1, "{}", run.stderr);
    assert!(warnings[0].contains("W0106") && warnings[0].contains("`dropout`"));
}

#[test]
fn metrics_passes_its_own_tests() {
    own_tests_pass("std/metrics.tl");
}

#[test]
fn optimisers_take_the_paths_of_optax() {
    agrees("optim", 1e-7);
}

#[test]
fn layers_and_initialisers_are_those_of_jax() {
    agrees("nn", 1e-6);
}

#[test]
fn schedules_are_those_of_optax() {
    agrees("schedules", 1e-7);
}
