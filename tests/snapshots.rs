//! What programs become at every stage, as a user sees it with `tpuc dump-hlo`: the MNIST step, and a dozen small
//! programs of `tests/programs`. Each snapshot shows the source and the result together.
//!
//! `INSTA_UPDATE=always cargo test --test snapshots` writes them anew; the difference is read in review.

mod support;

use std::fs;
use support::tpuc;

/// Those of `dump-hlo` that need no device, in the order of the pipeline.
const STAGES: [&str; 7] = ["tokens", "ast", "typed", "ir", "grad", "opt", "stablehlo"];

const MNIST: &str = "examples/mnist.tl";

/// One stage of a function.
fn dump(file: &str, function: &str, stage: &str) -> String {
    let run = tpuc(&["dump-hlo", file, "--fn", function, "--stage", stage]);
    assert_eq!(run.code, 0, "{file}, {stage}: {}", run.stderr);
    run.stdout
}

/// A snapshot named for the program, without the source line of the test, which says nothing.
fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// A small program, and all that becomes of its function `shown`.
fn program(name: &str) {
    let file = format!("tests/programs/{name}.tl");
    let mut text = fs::read_to_string(&file).expect("the programs of the test are committed");
    for stage in STAGES {
        // The tokens of a small program say nothing that its tree does not.
        if stage != "tokens" {
            text.push_str(&format!(
                "\n======== {stage}\n\n{}",
                dump(&file, "shown", stage)
            ));
        }
    }
    snapshot(name, &text);
}

/// The items of the MNIST program that its step is made of.
fn mnist_source() -> String {
    let text = fs::read_to_string(MNIST).expect("the example is committed");
    let items = text.split("\n\n").filter(|item| {
        ["type ", "fn forward", "fn loss", "fn step"]
            .iter()
            .any(|start| item.starts_with(start))
    });
    items.collect::<Vec<_>>().join("\n\n")
}

fn mnist(stage: &str) {
    let source = mnist_source();
    let step = dump(MNIST, "step", stage);
    // The derivative belongs to the step; before it there is the loss alone. The first stages have no functions yet.
    let text = match stage {
        "tokens" | "ast" => step,
        _ => format!("{}\n\n{step}", dump(MNIST, "loss", stage)),
    };
    snapshot(
        &format!("mnist_{stage}"),
        &format!("{source}\n\n======== {stage}\n\n{text}"),
    );
}

#[test]
fn mnist_tokens() {
    mnist("tokens");
}

#[test]
fn mnist_ast() {
    mnist("ast");
}

#[test]
fn mnist_typed() {
    mnist("typed");
}

#[test]
fn mnist_ir() {
    mnist("ir");
}

#[test]
fn mnist_grad() {
    mnist("grad");
}

#[test]
fn mnist_opt() {
    mnist("opt");
}

#[test]
fn mnist_stablehlo() {
    mnist("stablehlo");
}

#[test]
fn broadcast() {
    program("broadcast");
}

#[test]
fn branch() {
    program("branch");
}

#[test]
fn for_carry() {
    program("for_carry");
}

#[test]
fn while_loop() {
    program("while_loop");
}

#[test]
fn scan() {
    program("scan");
}

#[test]
fn gather() {
    program("gather");
}

#[test]
fn custom_vjp() {
    program("custom_vjp");
}

#[test]
fn vmap() {
    program("vmap");
}

#[test]
fn hessian() {
    program("hessian");
}

#[test]
fn dot_chain() {
    program("dot_chain");
}

#[test]
fn key_split() {
    program("key_split");
}

#[test]
fn record_trees() {
    program("record_trees");
}

#[test]
fn every_program_has_its_test() {
    let tests = include_str!("snapshots.rs");
    let programs = fs::read_dir("tests/programs").expect("the folder is committed");
    for path in programs.flatten().map(|entry| entry.path()) {
        let name = path
            .file_stem()
            .map_or_else(String::new, |s| s.to_string_lossy().into());
        assert!(tests.contains(&format!("program(\"{name}\")")), "{name}");
    }
}

/// Picking the label is a comparison with the classes, which the device does faster than a gather, and whose derivative is no scatter.
#[test]
fn the_gradient_of_the_mnist_step_has_no_gather_and_no_scatter() {
    for stage in ["grad", "opt", "stablehlo"] {
        let text = dump(MNIST, "step", stage);
        assert!(text.lines().count() > 50, "{stage} shows the whole step");
        for word in ["gather", "scatter", "dynamic_slice", "dynamic_update_slice"] {
            assert!(!text.contains(word), "{word} in {stage}:\n{text}");
        }
    }
}

/// What computes is counted, constants are counted apart; JAX emits about 290 for the same step.
#[test]
fn the_mnist_step_has_at_most_100_ops_and_25_constants() {
    let text = dump(MNIST, "step", "stablehlo");
    let is_op = |line: &&str| line.contains(" = stablehlo.");
    let (constants, ops): (Vec<&str>, Vec<&str>) = text
        .lines()
        .filter(is_op)
        .partition(|l| l.contains("= stablehlo.constant"));
    assert!(ops.len() > 40, "{text}");
    assert!(ops.len() <= 100, "{} ops:\n{text}", ops.len());
    assert!(
        constants.len() <= 25,
        "{} constants:\n{text}",
        constants.len()
    );
}
