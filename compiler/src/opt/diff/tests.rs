//! What counts as a difference, and how it is said.

use super::{Diff, diff};
use crate::ir::Func;
use crate::ir::parse;

fn func(text: &str) -> Func {
    parse::parse(text).unwrap_or_else(|e| panic!("{e:?}"))
}

fn between(old: &str, new: &str) -> Diff {
    diff(&func(old), &func(new))
}

const BASE: &str = "
func f(%0: f32[4], %1: f32[4]) -> (f32[4]) {
  %2 = sin %0 : f32[4]
  %3 = cos %1 : f32[4]
  %4 = mul %2, %3 : f32[4]
  return %4
}
";

#[test]
fn numbers_and_places_are_no_difference() {
    let moved = "
func f(%0: f32[4], %1: f32[4]) -> (f32[4]) {
  %2 = cos %1 : f32[4]
  %3 = sin %0 : f32[4]
  %4 = mul %2, %3 : f32[4]
  return %4
}
";
    let found = between(BASE, moved);
    assert_eq!((found.same, found.text.as_str()), (3, ""));
}

#[test]
fn what_is_put_between_is_one_line() {
    let longer = "
func f(%0: f32[4], %1: f32[4]) -> (f32[4]) {
  %2 = sin %0 : f32[4]
  %3 = exp %2 : f32[4]
  %4 = cos %1 : f32[4]
  %5 = mul %3, %4 : f32[4]
  return %5
}
";
    let found = between(BASE, longer);
    let text = "+ %3 = exp %2 : f32[4]\n- %5 = mul %2, %4 : f32[4]\n+ %5 = mul %3, %4 : f32[4]\n";
    assert_eq!(found.text, text);
    assert_eq!(
        (found.same, found.changed, found.removed, found.added),
        (2, 1, 0, 1)
    );
    let back = between(longer, BASE);
    let text = "- %3' = exp %2 : f32[4]\n- %4 = mul %3', %3 : f32[4]\n+ %4 = mul %2, %3 : f32[4]\n";
    assert_eq!(back.text, text);
}

#[test]
fn another_constant_changes_only_itself() {
    let with = |c: &str| {
        format!(
            "func f(%0: f32[4]) -> (f32[4]) {{
  %1 = constant {c} : f32[4]
  %2 = add %0, %1 : f32[4]
  %3 = tanh %2 : f32[4]
  return %3
}}"
        )
    };
    let found = between(&with("0.5"), &with("0.25"));
    let text = "- %1 = constant 0.5 : f32[4]\n+ %1 = constant 0.25 : f32[4]\n";
    assert_eq!(found.text, text);
    assert_eq!((found.same, found.changed), (2, 1));
}

#[test]
fn inside_a_loop_only_what_differs_is_shown() {
    let with = |op: &str| {
        format!(
            "func f(%0: f32, %1: f32) -> (f32) {{
  %2 = scan[length = 3, carry = 1] %0 : f32 body(%3: i32, %4: f32) {{
    %5 = mul %4, %1 : f32
    %6 = {op} %5 : f32
    yield %6
  }}
  return %2
}}"
        )
    };
    assert!(between(&with("sin"), &with("sin")).is_empty());
    let found = between(&with("sin"), &with("cos"));
    let text = "  %2 = scan[length = 3, carry = 1] %0 : f32 body\n-   %6' = sin %5 : f32\n+   %6 = cos %5 : f32\n-   yield %6'\n+   yield %6\n";
    assert_eq!(found.text, text);
}

#[test]
fn results_that_change_places_are_said() {
    let swapped = |a: &str, b: &str| {
        format!(
            "func f(%0: f32, %1: f32) -> (f32, f32) {{
  %2 = sin %0 : f32
  %3 = sin %1 : f32
  return {a}, {b}
}}"
        )
    };
    let found = between(&swapped("%2", "%3"), &swapped("%3", "%2"));
    assert_eq!(found.text, "- return %2, %3\n+ return %3, %2\n");
}
