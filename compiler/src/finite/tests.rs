use super::{look, watch};
use crate::interp::{Array, Precision, eval};
use crate::ir::parse::parse;
use crate::ir::types::{Elem, Type};
use crate::ir::verify::verify;

fn f32s(shape: &[usize], values: &[f32]) -> Array {
    let values: Vec<f64> = values.iter().map(|&v| f64::from(v)).collect();
    Array::of(Type::new(Elem::F32, shape.to_vec()), &values)
}

/// The number of the site that the watched function names, and what the site saw, printed.
fn found(text: &str, inputs: &[Array]) -> (u64, String) {
    let func = parse(text).expect(text);
    let (watched, sites) = watch(&func);
    verify(&watched).unwrap_or_else(|e| panic!("{e}\n{watched}"));
    let outputs = eval(&watched, inputs, Precision::Element).expect("runs");
    let number = outputs[outputs.len() - 1].to_literal().bit(0);
    let Some(site) = (number as usize).checked_sub(1).map(|i| &sites[i]) else {
        return (0, String::new());
    };
    let looked = look(&func, number as usize, site);
    verify(&looked).unwrap_or_else(|e| panic!("{e}\n{looked}"));
    let seen = eval(&looked, inputs, Precision::Element).expect("runs");
    let seen: Vec<String> = seen.iter().map(|a| format!("{:?}", a.to_f64())).collect();
    (number, format!("{}: {}", site.op, seen.join(" ")))
}

#[test]
fn the_first_that_makes_one_is_found() {
    let text = "func f(%x: f32[3]) -> (f32) {
        %y = sqrt %x : f32[3]
        %z = log %y : f32[3]
        %s = reduce_sum[axes = [0]] %z : f32
        return %s
      }";
    assert_eq!(
        found(text, &[f32s(&[3], &[1.0, 4.0, 9.0])]),
        (0, String::new())
    );
    let (number, seen) = found(text, &[f32s(&[3], &[1.0, 0.0, 1.0])]);
    assert_eq!(
        (number, seen.as_str()),
        (2, "log: [1.0, 0.0, 1.0] [0.0, -inf, 0.0]")
    );
    let (number, seen) = found(text, &[f32s(&[3], &[1.0, -1.0, 1.0])]);
    assert_eq!(
        (number, seen.as_str()),
        (1, "sqrt: [1.0, -1.0, 1.0] [1.0, NaN, 1.0]")
    );
}

#[test]
fn what_was_there_before_is_nobodys_fault() {
    let text = "func f(%x: f32[2]) -> (f32[2]) {
        %y = exp %x : f32[2]
        %z = sub %y, %y : f32[2]
        return %z
      }";
    // The infinity comes from outside; the NaN is made of it.
    let (number, seen) = found(text, &[f32s(&[2], &[f32::INFINITY, 0.0])]);
    assert_eq!(
        (number, seen.as_str()),
        (2, "sub: [inf, 1.0] [inf, 1.0] [NaN, 0.0]")
    );
}

#[test]
fn loops_and_branches_say_in_which_turn() {
    let text = "func f(%x: f32, %xs: f32[4]) -> (f32, f32[4]) {
        %a, %b = scan[length = 4, carry = 1] %x, %xs : f32, f32[4]
          body(%i: i32, %p: f32, %row: f32) {
          %zero = constant 0.0 : f32
          %c = gt %row, %zero : bool
          %r = if %c : f32 then {
            %q = div %p, %row : f32
            yield %q
          } else {
            %m = sub %p, %row : f32
            %l = log %m : f32
            yield %l
          }
          yield %r, %p
        }
        return %a, %b
      }";
    let inputs = [f32s(&[], &[1.0]), f32s(&[4], &[1.0, 1.0, -3.0, -1.0])];
    assert_eq!(found(text, &inputs).0, 0);
    let inputs = [f32s(&[], &[0.0]), f32s(&[4], &[1.0, 1.0, 0.0, 1.0])];
    assert_eq!(
        found(text, &inputs),
        (3, "log: [0.0] [-inf] [2.0]".to_string())
    );
}

/// What looking costs to compile: a device's compiler makes code for each reduction, and again for all that a reduction
/// reads and that is not held.
#[test]
fn each_array_is_looked_through_once_and_held() {
    let text = "func f(%x: f32[3]) -> (f32[3]) {
        %a = exp %x : f32[3]
        %b = add %a, %x : f32[3]
        %c = mul %b, %a : f32[3]
        return %c
      }";
    let (watched, sites) = watch(&parse(text).expect("parses"));
    let count = |name: &str| watched.to_string().matches(name).count();
    assert_eq!(
        (sites.len(), count(" = reduce_"), count(" = barrier")),
        (3, 4, 3)
    );
}
