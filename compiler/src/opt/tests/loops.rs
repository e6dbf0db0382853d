//! Powers by the turn of a loop: carried where that pays, left alone where the exponent is another.

use super::{func, run};
use crate::opt::Level;
use crate::opt::rewrite::rule::Compiled;
use crate::opt::rules::induction;
use crate::opt::soundness::apply;

/// A sum of `%0 ** turn`, of one number or many, that every turn looks at.
fn powers(ty: &str, spread: &str) -> String {
    format!(
        "
func powers(%0: {ty}, %1: {ty}) -> ({ty}) {{
  %2 = scan[length = 20, carry = 1] %1 : {ty} body(%3: i32, %4: {ty}) {{
    %5 = convert %3 : f32
    {spread}
    %7 = pow %0, %6 : {ty}
    %9 = tanh %4 : {ty}
    %8 = add %9, %7 : {ty}
    yield %8
  }}
  return %2
}}
"
    )
}

#[test]
fn many_powers_are_carried_and_one_is_not_worth_it() {
    let many = powers("f32[65536]", "%6 = broadcast[dims = []] %5 : f32[65536]");
    let (after, report) = run(&many, Level::Aggressive);
    assert_eq!(report.decisive.get("scan-power"), Some(&1), "{report}");
    let body = &after.body.insts.last().expect("a loop").regions[0];
    let names: Vec<&str> = body.insts.iter().map(|inst| inst.op.name()).collect();
    assert!(!names.contains(&"pow"), "{after}");

    let one = powers("f32", "%6 = reshape %5 : f32");
    let (after, report) = run(&one, Level::Aggressive);
    assert_eq!(report.decisive.get("scan-power"), None, "{report}");
    assert!(after.to_string().contains("pow"), "{after}");
    // It moves the rounding, so not by default.
    let (after, _) = run(&many, Level::Default);
    assert!(after.to_string().contains("pow"), "{after}");
}

fn rule(name: &str) -> Compiled {
    let rule = induction::RULES.iter().find(|rule| rule.name == name);
    Compiled::new(rule.expect("the rule exists")).expect("the rule is well formed")
}

#[test]
fn another_exponent_than_the_turn_is_left_alone() {
    let rule = rule("scan-power");
    let plain = powers("f32[4]", "%6 = broadcast[dims = []] %5 : f32[4]");
    assert_eq!(apply(&rule, &func(&plain)).len(), 1);
    for (from, to) in [
        // From the last turn to the first.
        ("carry = 1]", "reverse = true, carry = 1]"),
        // A base that changes.
        ("pow %0, %6", "pow %4, %6"),
        // An exponent that does not grow by one.
        (
            "convert %3 : f32",
            "convert %3 : f32\n    %10 = mul %5, %5 : f32",
        ),
        // A type that ends within the turns.
        ("convert %3 : f32", "convert %3 : bf16"),
        // One turn only.
        ("length = 20", "length = 1"),
    ] {
        assert!(plain.contains(from), "{from}");
        let mut text = plain.replacen(from, to, 1);
        if to.contains("%10") {
            text = text.replacen("dims = []] %5", "dims = []] %10", 1);
        }
        if to.contains("bf16") {
            let wider = "broadcast[dims = []] %5 : bf16[4]\n    %10 = convert %6 : f32[4]";
            text = text.replacen("broadcast[dims = []] %5 : f32[4]", wider, 1);
            text = text.replacen("pow %0, %6", "pow %0, %10", 1);
        }
        let source = func(&text);
        assert!(apply(&rule, &source).is_empty(), "{source}");
    }
}

/// A sum of multiples of `%0 ** turn`.
const POLYNOMIAL: &str = "
func polynomial(%0: f32[4096], %1: f32[20, 4096]) -> (f32[4096]) {
  %2 = constant 0.0 : f32[4096]
  %3 = scan[length = 20, carry = 1] %2, %1 : f32[4096] body(%4: i32, %5: f32[4096], %6: f32[4096]) {
    %7 = convert %4 : f32
    %8 = broadcast[dims = []] %7 : f32[4096]
    %9 = pow %0, %8 : f32[4096]
    %10 = mul %6, %9 : f32[4096]
    %11 = add %5, %10 : f32[4096]
    yield %11
  }
  return %3
}
";

#[test]
fn a_polynomial_carries_nothing_but_its_sum() {
    let (after, report) = run(POLYNOMIAL, Level::Aggressive);
    assert!(report.fired.contains_key("scan-horner"), "{report}");
    assert!(report.after.bytes <= report.before.bytes, "{report}");
    let scan = after.body.insts.last().expect("a loop");
    assert_eq!(scan.results.len(), 1, "{after}");
    let names: Vec<&str> = scan.regions[0].insts.iter().map(|i| i.op.name()).collect();
    assert_eq!(names, ["mul", "add"], "{after}");
}

#[test]
fn what_is_no_polynomial_is_left_alone() {
    let rule = rule("scan-horner");
    assert_eq!(apply(&rule, &func(POLYNOMIAL)).len(), 1);
    for (from, to) in [
        // A coefficient that the total takes part in.
        ("mul %6, %9", "mul %5, %9"),
        // A total that is scaled on the way.
        ("add %5, %10", "sub %5, %10"),
        // A base that changes.
        ("pow %0, %8", "pow %6, %8"),
        // An exponent that does not grow by one.
        ("pow %0, %8", "pow %0, %6"),
        // A total that more than the sum looks at.
        ("yield %11", "%12 = add %11, %5 : f32[4096]\n    yield %12"),
        // One turn only.
        ("length = 20", "length = 1"),
    ] {
        assert!(POLYNOMIAL.contains(from), "{from}");
        let mut text = POLYNOMIAL.replacen(from, to, 1);
        if to == "length = 1" {
            text = text.replace("f32[20, 4096]", "f32[1, 4096]");
        }
        let source = func(&text);
        assert!(apply(&rule, &source).is_empty(), "{source}");
    }
}
