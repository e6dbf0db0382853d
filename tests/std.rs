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

fn agrees(name: &str) {
    let run = tpuc(&["run", &format!("tests/std/{name}.tl")]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let file = format!("{}/tests/std/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let expected = std::fs::read_to_string(&file).expect("the reference is in the repository");
    assert_eq!(expected.lines().count(), run.stdout.lines().count());
    for (want, have) in expected.lines().zip(run.stdout.lines()) {
        let label = want.split('[').next().unwrap_or_default();
        assert!(
            close_text(want, have, 1e-5, 1e-7),
            "{label}\nshould be {want}\nis        {have}"
        );
    }
}

#[test]
fn optim_passes_its_own_tests() {
    own_tests_pass("std/optim.tl");
}

#[test]
fn metrics_passes_its_own_tests() {
    own_tests_pass("std/metrics.tl");
}

#[test]
fn optimisers_take_the_paths_of_optax() {
    agrees("optim");
}

#[test]
fn schedules_are_those_of_optax() {
    agrees("schedules");
}
