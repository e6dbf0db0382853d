//! A program that meets a limit: still right, still not dearer, and said.

use super::func;
use crate::interp::{Array, Precision, eval};
use crate::opt::cost::device::CPU;
use crate::opt::rewrite::saturate::{NODE_LIMIT, NODES_PER_INSTRUCTION, Stop};
use crate::opt::soundness::random::{Random, Values};
use crate::opt::{Level, optimise};
use std::fmt::Write;

/// A chain of products, which can be bracketed in more ways than fit.
pub(super) fn chain(count: usize) -> String {
    let params: Vec<String> = (0..count).map(|i| format!("%{i}: f64[2, 2]")).collect();
    let mut text = format!("func chain({}) -> (f64[2, 2]) {{\n", params.join(", "));
    for i in 1..count {
        let (made, before) = (count + i - 1, count + i - 2);
        let left = if i == 1 { 0 } else { before };
        let _ = writeln!(
            text,
            "  %{made} = dot_general[contract = [1] x [0]] %{left}, %{i} : f64[2, 2]"
        );
    }
    let _ = writeln!(text, "  return %{}\n}}", 2 * count - 2);
    text
}

#[test]
fn a_program_that_meets_a_limit_is_right_and_says_so() {
    let source = func(&chain(48));
    let size = source.body.insts.len() + source.body.params.len();
    let (after, report) = optimise(&source, Level::Aggressive, &CPU);
    assert_ne!(report.stop, Stop::Saturated, "{report}");
    assert!(report.to_string().contains("limit"), "{report}");
    assert_eq!(report.rejected, None);
    assert!(report.after <= report.before);
    // One rule may overshoot by what it builds.
    assert!(
        report.nodes <= NODE_LIMIT + NODES_PER_INSTRUCTION * size + 100,
        "{report}"
    );
    let mut random = Random::named("limits");
    let inputs: Vec<Array> = source
        .input_types()
        .iter()
        .map(|ty| random.array(ty, Values::Finite))
        .collect();
    let run = |f| eval(f, &inputs, Precision::Element).expect("the program runs")[0].to_f64();
    let (before, after_it) = (run(&source), run(&after));
    let largest = before.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    for (a, b) in before.iter().zip(after_it) {
        assert!((a - b).abs() <= 1e-9 * largest, "{a} {b}");
    }
    let (again, _) = optimise(&source, Level::Aggressive, &CPU);
    assert_eq!(after.to_string(), again.to_string());
}
