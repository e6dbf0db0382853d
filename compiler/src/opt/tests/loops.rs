//! Powers by the turn of a loop: carried where that pays, left alone where the exponent is another.

use super::{func, run};
use crate::opt::Level;
use crate::opt::rewrite::rule::Compiled;
use crate::opt::rules::induction;
use crate::opt::soundness::apply;

/// A sum of `%0 ** turn`, of one number or many.
fn powers(ty: &str, spread: &str) -> String {
    format!(
        "
func powers(%0: {ty}, %1: {ty}) -> ({ty}) {{
  %2 = scan[length = 20, carry = 1] %1 : {ty} body(%3: i32, %4: {ty}) {{
    %5 = convert %3 : f32
    {spread}
    %7 = pow %0, %6 : {ty}
    %8 = add %4, %7 : {ty}
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

#[test]
fn another_exponent_than_the_turn_is_left_alone() {
    let [rule] = induction::RULES else {
        panic!("one rule is tested here");
    };
    let rule = Compiled::new(rule).expect("the rule is well formed");
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
            "convert %3 : f32\n    %9 = mul %5, %5 : f32",
        ),
        // A type that ends within the turns.
        ("convert %3 : f32", "convert %3 : bf16"),
        // One turn only.
        ("length = 20", "length = 1"),
    ] {
        assert!(plain.contains(from), "{from}");
        let mut text = plain.replacen(from, to, 1);
        if to.contains("%9") {
            text = text.replacen("dims = []] %5", "dims = []] %9", 1);
        }
        if to.contains("bf16") {
            let wider = "broadcast[dims = []] %5 : bf16[4]\n    %9 = convert %6 : f32[4]";
            text = text.replacen("broadcast[dims = []] %5 : f32[4]", wider, 1);
            text = text.replacen("pow %0, %6", "pow %0, %9", 1);
        }
        let source = func(&text);
        assert!(apply(&rule, &source).is_empty(), "{source}");
    }
}
