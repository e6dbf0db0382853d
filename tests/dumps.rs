//! What the command shows of a program: its stages, what differs between two, and what the optimiser did.

mod support;

use std::fs;
use support::{expect, program, tpuc};

#[test]
fn a_program_is_printed_as_a_pass_leaves_it() {
    let (_dir, path) = program(
        "fn f(x: f32) -> f32 { sum(sin(x) * [1.0, 2.0]) }
main {
    let (k1, k2) = split(key(0));
    print(\"{sum(normal(k1, [3, 4]))} {sum(normal(k2, [5]))} {grad(f)(1.0)}\");
}
",
    );
    let after = |pass: &str, more: &[&str]| {
        let mut args = vec!["dump-hlo", &path, "--after", pass];
        args.extend(more);
        tpuc(&args)
    };
    let count = |text: &str, part: &str| text.matches(part).count();
    // The function that is differentiated, and not yet its derivative.
    let early = after("order_before", &[]);
    assert!(
        early.stdout.starts_with("func f(%0: f32) -> (f32)"),
        "{}",
        early.stdout
    );
    // The whole script, with effects.
    let script = after("dce", &[]);
    assert_eq!(count(&script.stdout, "= erf_inv"), 2, "{}", script.stdout);
    assert!(script.stdout.contains("print"), "{}", script.stdout);
    let loops = after("draw_blocks", &[]);
    assert_eq!(count(&loops.stdout, "= erf_inv"), 1, "{}", loops.stdout);
    assert!(after("spread_pool", &[]).stdout.contains("func main_0"));

    let nowhere = "no program comes by the pass `draw_blocks` here";
    expect(&after("draw_blocks", &["--opt", "0"]), 64, &[nowhere]);
    expect(&after("nothing", &[]), 64, &["row_blocks"]);
}

#[test]
fn dumps_are_compared_and_updated() {
    let (dir, path) =
        program("fn f(x: f32[3]) -> f32[3] { x + x }\nmain { print(f([1.0, 2.0, 3.0])); }");
    let stored = dir.path().join("f.mlir").display().to_string();
    expect(
        &tpuc(&["dump-hlo", &path, "--fn", "f", "-o", &stored]),
        0,
        &[],
    );
    expect(
        &tpuc(&["dump-hlo", &path, "--fn", "f", "--check", &stored]),
        0,
        &[],
    );
    fs::write(
        &path,
        "fn f(x: f32[3]) -> f32[3] { x * x }\nmain { print(f([1.0, 2.0, 3.0])); }",
    )
    .expect("writable");
    let changed = tpuc(&["dump-hlo", &path, "--fn", "f", "--check", &stored]);
    assert_eq!(changed.code, 1);
    assert!(
        changed.stdout.contains("-    %0 = stablehlo.add")
            && changed.stdout.contains("+    %0 = stablehlo.multiply"),
        "{}",
        changed.stdout
    );
    expect(
        &tpuc(&[
            "dump-hlo", &path, "--fn", "f", "--check", &stored, "--update",
        ]),
        0,
        &[],
    );
    expect(
        &tpuc(&["dump-hlo", &path, "--fn", "f", "--check", &stored]),
        0,
        &[],
    );
}

#[test]
fn every_stage_of_mnist_prints_and_prints_again_the_same() {
    for stage in ["tokens", "ast", "typed", "ir", "grad", "opt", "stablehlo"] {
        let args = ["dump-hlo", "examples/mnist.tl", "--stage", stage];
        let first = tpuc(&args);
        assert_eq!(first.code, 0, "{stage}: {}", first.stderr);
        assert!(!first.stdout.is_empty(), "{stage}");
        assert_eq!(first.stdout, tpuc(&args).stdout, "{stage}");
    }
}

const SCALED: &str = "fn f(x: f32[4]) -> f32[4] { tanh(x * 2.0) + x / 4.0 }
main { print(f([1.0, 2.0, 3.0, 4.0])); }
";

#[test]
fn diff_shows_what_differs_between_two_programs() {
    let (_old, old) = program(SCALED);
    let (_same, same) = program(&SCALED.replace("x", "value"));
    let (_new, new) = program(&SCALED.replace("x * 2.0", "x * 3.0"));
    let run = tpuc(&["diff", &old, &same, "--fn", "f"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{}", run.stderr);
    let run = tpuc(&["diff", &old, &new, "--fn", "f"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    for text in [
        &format!("--- {old} --opt 1\n+++ {new} --opt 1\n"),
        "5 values the same, 1 changed, 0 removed, 0 added\n",
        "- %1 = constant 2.0 : f32[4]\n+ %1 = constant 3.0 : f32[4]\n",
    ] {
        assert!(run.stdout.contains(text), "{text}\n{}", run.stdout);
    }
}

#[test]
fn diff_shows_what_a_setting_changes() {
    let (_dir, path) = program(SCALED);
    let run = tpuc(&["diff", &path, "--old-opt", "0", "--fn", "f"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stdout.contains("--opt 0") && run.stdout.contains("--opt 1"));
    // Division by a power of two is multiplication.
    let (minus, plus): (Vec<&str>, Vec<&str>) =
        run.stdout.lines().skip(3).partition(|l| l.starts_with('-'));
    assert!(minus.iter().any(|l| l.contains("= div ")), "{}", run.stdout);
    assert!(plus.iter().any(|l| l.contains("= mul ")), "{}", run.stdout);
    expect(&tpuc(&["diff", &path]), 64, &["nothing to compare"]);
    let (_dir, sized) = program("const N = 2\nmain { print(sum(ones([N]))); }");
    let run = tpuc(&["diff", &sized, "--old-set", "N=2"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let run = tpuc(&["diff", &sized, "--old-set", "N=3"]);
    assert!(
        run.code == 1 && run.stdout.contains("--set N=3"),
        "{}",
        run.stdout
    );
}

#[test]
fn only_what_runs_more_than_once_takes_longer_to_compile() {
    for (source, sorted) in [
        ("print(sort(sin(f32(arange(4096))))[0]);", "f32[4096]"),
        (
            "for i in 0..3 { print(sort(sin(f32(arange(4096)) + f32(i)))[0]); }",
            "i32[4096]",
        ),
    ] {
        let (_dir, path) = program(&format!("main {{ {source} }}"));
        let run = tpuc(&["dump-hlo", &path, "--stage", "opt"]);
        let sort = run.stdout.lines().find(|line| line.contains(" = sort["));
        assert!(sort.is_some_and(|line| line.ends_with(sorted)), "{sort:?}");
    }
}

#[test]
fn the_optimiser_says_what_it_did_and_why() {
    let (_dir, path) = program(SCALED);
    let args = [
        "dump-hlo",
        &path,
        "--fn",
        "f",
        "--stage",
        "opt",
        "--explain-opt",
    ];
    let run = tpuc(&args);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for text in [
        "f: ",
        " rules, ",
        " iterations: saturated\n",
        "\nbefore  ",
        "\nafter   ",
        " kernels, ",
        "decisive: div-pow2 1\n",
        &format!("{path}:1:45 `x / 4.0`\n"),
        "→ mul(%0, constant 0.25), by div-pow2\n",
    ] {
        assert!(run.stderr.contains(text), "`{text}` in\n{}", run.stderr);
    }
    assert_eq!(run.stdout, tpuc(&args[..6]).stdout);
}

#[test]
fn names_that_are_not_there_are_taken_for_those_that_are_near() {
    let (_dir, path) = program("fn forward(x: f32[4]) -> f32 { sum(x) }\nfn one() -> f32 { 1.0 }");
    let said = ["no function `foward`; did you mean `forward`?"];
    for command in ["dump-hlo", "grad-check"] {
        expect(&tpuc(&[command, &path, "--fn", "foward"]), 64, &said);
    }
    let far = tpuc(&["dump-hlo", &path, "--fn", "backpropagate"]);
    expect(&far, 64, &["no function `backpropagate`\n"]);
    expect(
        &tpuc(&["doc", "optim.adan"]),
        64,
        &["did you mean `optim.adam`?"],
    );
    expect(
        &tpuc(&["grad-check", &path, "--fn", "one"]),
        64,
        &["`one` takes nothing"],
    );
}
