//! Constants of narrow floats: what a rule makes of two has to fit in the type, and a weight that rounds to 1 is none.

use super::{func, run};
use crate::interp::{Array, Precision, eval};
use crate::ir::types::{Elem, Type};
use crate::opt::Level;

/// What a function of vectors of two makes of these, as written and at `--opt 2`.
fn both(text: &str, elem: Elem, inputs: &[[f64; 2]]) -> [Vec<f64>; 2] {
    let (after, report) = run(text, Level::Aggressive);
    assert_eq!(report.rejected, None);
    let inputs: Vec<Array> = inputs
        .iter()
        .map(|x| Array::of(Type::new(elem, [2]), x))
        .collect();
    [func(text), after]
        .map(|f| eval(&f, &inputs, Precision::Element).expect("the program runs")[0].to_f64())
}

fn chain(elem: &str, first: &str, second: &str, [c, d]: [&str; 2]) -> String {
    format!(
        "
func chain(%x: {elem}[2]) -> ({elem}[2]) {{
  %c = constant {c} : {elem}[2]
  %d = constant {d} : {elem}[2]
  %y = {first} %x, %c : {elem}[2]
  %z = {second} %y, %d : {elem}[2]
  return %z
}}
"
    )
}

#[test]
fn constants_are_not_brought_together_where_their_type_cannot_hold_it() {
    let cases = [
        ("f16", Elem::F16, "mul", "mul", ["300.0", "300.0"], 0.125),
        ("f16", Elem::F16, "div", "div", ["300.0", "300.0"], 1000.0),
        (
            "f16",
            Elem::F16,
            "mul",
            "div",
            ["0.001", "40000.0"],
            60000.0,
        ),
        (
            "f16",
            Elem::F16,
            "add",
            "add",
            ["60000.0", "60000.0"],
            -60000.0,
        ),
        ("f32", Elem::F32, "mul", "mul", ["1e-25", "1e-25"], 1e30),
        ("f64", Elem::F64, "mul", "mul", ["1e-200", "1e-200"], 1e300),
    ];
    for (name, elem, first, second, constants, x) in cases {
        let text = chain(name, first, second, constants);
        let [plain, found] = both(&text, elem, &[[x, 0.95 * x]]);
        for (a, b) in found.iter().zip(&plain) {
            assert!(
                b.is_finite() && *b != 0.0,
                "{b}: the case tells nothing\n{text}"
            );
            assert!((a - b).abs() <= 0.002 * b.abs(), "{a}, not {b}\n{text}");
        }
    }
}

fn mean(elem: &str, weights: [&str; 2]) -> String {
    format!(
        "
func mean(%v: {elem}[2], %g: {elem}[2]) -> ({elem}[2]) {{
  %a = constant {} : {elem}[2]
  %b = constant {} : {elem}[2]
  %x = mul %v, %a : {elem}[2]
  %y = mul %g, %b : {elem}[2]
  %m = add %x, %y : {elem}[2]
  return %m
}}
",
        weights[0], weights[1]
    )
}

#[test]
fn a_running_mean_goes_on_in_bf16_where_the_old_weighs_1() {
    let text = mean("bf16", ["1.0", "0.001"]);
    let [plain, found] = both(&text, Elem::BF16, &[[0.0, 1.0], [4.0, 100.0]]);
    assert_eq!(found, plain);
    assert!(found[0] > 0.0);
}

#[test]
fn a_running_mean_takes_the_smaller_of_its_weights() {
    for weights in [["0.999", "0.001"], ["0.001", "0.999"]] {
        let (after, report) = run(&mean("f32", weights), Level::Aggressive);
        assert_eq!(report.decisive.get("lerp"), Some(&1), "{report}");
        let text = after.to_string();
        assert!(text.contains("0.001") && !text.contains("0.999"), "{text}");
    }
}
