//! Loops, branches, own derivatives and recomputation: both modes, order 2, batched; and what is kept for the backward
//! pass.

use super::check::{Case, Order, check, check_batching, run};
use super::primitives::{R, text_case};
use super::programs::{checked, func};
use crate::ad::AdErrorKind;
use crate::interp::Array;
use crate::ir::{Elem, Func, Op, Type};
use crate::transform;

/// A recurrent network: weights captured, inputs read slice by slice, states given out.
const RNN: &str = "func rnn(%w: f32[3, 3], %u: f32[2, 3], %h: f32[3], %x: f32[5, 2]) -> (f32[3], f32[5, 3]) {
  %last, %all = scan[length = 5, carry = 1] %h, %x : f32[3], f32[5, 3] body(%i: i32, %c: f32[3], %row: f32[2]) {
    %a = dot_general[contract = [0] x [0]] %c, %w : f32[3]
    %b = dot_general[contract = [0] x [0]] %row, %u : f32[3]
    %s = add %a, %b : f32[3]
    %t = tanh %s : f32[3]
    yield %t, %t
  }
  return %last, %all }";

/// A loop whose body looks its row up, with a total carried along and an integer that has no tangent.
const LOOKUP: &str = "func lookup(%x: f32[6, 2], %w: f32[2]) -> (f32, i32) {
  %zero = constant 0.0 : f32
  %none = constant 0 : i32
  %total, %count = scan[length = 6, carry = 2] %zero, %none : f32, i32 body(%i: i32, %t: f32, %n: i32) {
    %o = constant 0 : i32
    %row = dynamic_slice[sizes = [1, 2]] %x, %i, %o : f32[1, 2]
    %r = reshape %row : f32[2]
    %p = mul %r, %w : f32[2]
    %e = exp %p : f32[2]
    %s = reduce_sum[axes = [0]] %e : f32
    %t2 = add %t, %s : f32
    %one = constant 1 : i32
    %n2 = add %n, %one : i32
    yield %t2, %n2
  }
  return %total, %count }";

/// One loop inside another, with a carry that only becomes active in the second iteration.
const NESTED: &str = "func nested(%x: f32[3], %a: f32) -> (f32, f32[4]) {
  %zero = constant 0.5 : f32
  %one = constant 1.0 : f32
  %p, %q, %ys = scan[length = 4, reverse, carry = 2] %zero, %one : f32, f32, f32[4] body(%i: i32, %u: f32, %v: f32) {
    %inner = scan[length = 3, carry = 1] %u, %x : f32 body(%j: i32, %c: f32, %xj: f32) {
      %m = mul %c, %xj : f32
      %n = mul %m, %v : f32
      %s = sin %n : f32
      %k = add %s, %a : f32
      yield %k
    }
    %w = mul %v, %u : f32
    yield %inner, %w, %w
  }
  %r = add %p, %q : f32
  return %r, %ys }";

const BRANCH: &str = "func branch(%x: f32[3], %y: f32[3], %k: i32) -> (f32[3], f32) {
  %one = constant 1 : i32
  %p = lt %k, %one : bool
  %r, %n = if %p : f32[3], f32 then {
    %e = exp %x : f32[3]
    %m = mul %e, %y : f32[3]
    %s = reduce_sum[axes = [0]] %m : f32
    yield %m, %s
  } else {
    %c = constant 2.0 : f32
    yield %x, %c
  }
  return %r, %n }";

/// A branch inside a loop, whose condition depends on the iteration.
const SWITCHING: &str = "func switching(%x: f32[4], %w: f32) -> (f32) {
  %zero = constant 0.3 : f32
  %r = scan[length = 4, carry = 1] %zero, %x : f32 body(%i: i32, %c: f32, %xi: f32) {
    %two = constant 2 : i32
    %odd = rem %i, %two : i32
    %one = constant 1 : i32
    %p = eq %odd, %one : bool
    %n = if %p : f32 then {
      %m = mul %c, %xi : f32
      %s = sin %m : f32
      yield %s
    } else {
      %a = mul %c, %w : f32
      %b = mul %a, %a : f32
      %d = add %b, %xi : f32
      yield %d
    }
    yield %n
  }
  return %r }";

const WHILE: &str = "func halve(%x: f32[2], %n: i32) -> (f32[2], i32) {
  %zero = constant 0 : i32
  %y, %k = while %x, %zero : f32[2], i32 cond(%c: f32[2], %i: i32) {
    %t = lt %i, %n : bool
    yield %t
  } body(%b: f32[2], %l: i32) {
    %s = sin %b : f32[2]
    %p = mul %s, %b : f32[2]
    %one = constant 1 : i32
    %j = add %l, %one : i32
    yield %p, %j
  }
  return %y, %k }";

/// `x · y` with its own derivative, which happens to be right.
const CUSTOM: &str = "func f(%x: f32[3], %y: f32[3]) -> (f32[3]) {
  %a = exp %x : f32[3]
  %r = custom_vjp %a, %y : f32[3] function(%p: f32[3], %q: f32[3]) {
    %m = mul %p, %q : f32[3]
    yield %m
  } derivative(%g: f32[3], %h: f32[3], %l: f32[3], %ct: f32[3]) {
    %u = mul %ct, %h : f32[3]
    %v = mul %g, %ct : f32[3]
    yield %u, %v
  }
  %s = sin %r : f32[3]
  return %s }";

/// The identity, with its cotangent clipped.
const CLIPPED: &str = "func f(%x: f32[3]) -> (f32[3]) {
  %r = custom_vjp %x : f32[3] function(%p: f32[3]) {
    yield %p
  } derivative(%g: f32[3], %m: f32[3], %ct: f32[3]) {
    %lo = constant -0.1 : f32[3]
    %hi = constant 0.1 : f32[3]
    %c = clamp %lo, %ct, %hi : f32[3]
    yield %c
  }
  %two = constant 2.0 : f32[3]
  %s = mul %r, %two : f32[3]
  return %s }";

const REMAT: &str = "func f(%x: f32[3], %w: f32[3]) -> (f32) {
  %h = remat %x, %w : f32[3] body(%p: f32[3], %q: f32[3]) {
    %a = mul %p, %q : f32[3]
    %b = sin %a : f32[3]
    %c = exp %b : f32[3]
    yield %c
  }
  %s = reduce_sum[axes = [0]] %h : f32
  return %s }";

/// A `while` that nothing differentiable goes through.
const BESIDE_WHILE: &str = "func f(%x: f32, %n: i32) -> (f32) {
      %k = while %n : i32 cond(%i: i32) {
        %ten = constant 10 : i32
        %t = lt %i, %ten : bool
        yield %t
      } body(%l: i32) {
        %j = add %l, %l : i32
        yield %j
      }
      %y = convert %k : f32
      %r = mul %x, %y : f32
      return %r }";

/// A loop, a branch, and so on; the `while` is checked apart, as it has no reverse mode.
pub fn cases() -> Vec<Case> {
    vec![
        text_case("rnn", RNN, &[R, R, R, R]),
        text_case("lookup", LOOKUP, &[R, R]),
        text_case("nested", NESTED, &[R, R]),
        text_case("switching", SWITCHING, &[R, R]),
        text_case("then", BRANCH, &[R, R, (0.0, 0.9)]),
        text_case("else", BRANCH, &[R, R, (1.0, 1.9)]),
        text_case("custom", CUSTOM, &[R, R]),
        text_case("remat", REMAT, &[R, R]),
        text_case("beside a while", BESIDE_WHILE, &[R, (1.0, 3.0)]),
    ]
}

#[test]
fn regions() {
    for case in cases() {
        check(&case, Order::Second);
    }
}

#[test]
fn scan_without_iterations() {
    let text = "func f(%c: f32, %x: f32[0]) -> (f32, f32[0]) {
      %r, %ys = scan[length = 0, carry = 1] %c, %x : f32, f32[0] body(%i: i32, %p: f32, %q: f32) {
        %m = mul %p, %q : f32
        %n = mul %m, %m : f32
        yield %n, %m
      }
      return %r, %ys }";
    check(&text_case("empty loop", text, &[R, R]), Order::Second);
}

#[test]
fn forward_through_while() {
    let case = text_case("while", WHILE, &[(0.5, 1.5), (3.0, 3.9)]);
    check_batching(&case.name, &case.func, &case.inputs);
    let active = [true, false];
    let error = transform::vjp(&case.func, &active).expect_err("no reverse mode");
    assert_eq!(error.kind, AdErrorKind::WhileReverse);
    assert!(error.diagnostic().help[0].contains("`for`"));

    // Three iterations of c ↦ c·sin c, one by one.
    let unrolled = "func f(%a: f32[2]) -> (f32[2]) {
      %s = sin %a : f32[2]
      %b = mul %s, %a : f32[2]
      %t = sin %b : f32[2]
      %c = mul %t, %b : f32[2]
      %u = sin %c : f32[2]
      %d = mul %u, %c : f32[2]
      return %d }";
    let expected = checked(transform::jvp(&func(unrolled), &[true]).expect("forward mode"));
    let found = checked(transform::jvp(&case.func, &active).expect("forward mode"));
    let tangent = Array::floats(Type::new(Elem::F32, [2]), vec![0.3, -0.7]);
    let a = run(
        &found,
        &[
            case.inputs[0].clone(),
            case.inputs[1].clone(),
            tangent.clone(),
        ],
    );
    let b = run(&expected, &[case.inputs[0].clone(), tangent]);
    assert_eq!((&a[0], &a[2]), (&b[0], &b[1]));
}

#[test]
fn batched_while_stops_each_element_alone() {
    let f = func(WHILE);
    let g = checked(transform::vmap(&f, &[Some(0), Some(0)], 3).expect("batched"));
    let x = Array::floats(
        Type::new(Elem::F32, [3, 2]),
        vec![0.5, 1.0, 1.5, 2.0, 2.5, 3.0],
    );
    let n = Array::ints(Type::new(Elem::I32, [3]), vec![0, 2, 5]);
    let found = run(&g, &[x.clone(), n.clone()]);
    for k in 0..3 {
        let row = Array::floats(
            Type::new(Elem::F32, [2]),
            x.to_f64()[2 * k..2 * k + 2].to_vec(),
        );
        let count = Array::ints(Type::scalar(Elem::I32), vec![[0, 2, 5][k]]);
        let expected = run(&f, &[row, count]);
        assert_eq!(found[0].to_f64()[2 * k..2 * k + 2], expected[0].to_f64());
        assert_eq!(found[1].to_f64()[k], expected[1].to_f64()[0]);
    }
}

#[test]
fn own_derivatives() {
    // In a loop, batched, and recomputed.
    let looped = CUSTOM.replace("func f(%x: f32[3], %y: f32[3]) -> (f32[3]) {", "func f(%x0: f32[3], %ys: f32[4, 3]) -> (f32[3]) {\n  %out = scan[length = 4, carry = 1] %x0, %ys : f32[3] body(%i: i32, %x: f32[3], %y: f32[3]) {");
    let looped = looped.replace("  return %s }", "  yield %s }\n return %out }");
    check(
        &text_case("custom in a loop", &looped, &[R, R]),
        Order::Second,
    );

    let f = func(CLIPPED);
    let x = Array::floats(Type::new(Elem::F32, [3]), vec![1.0, 2.0, 3.0]);
    let ct = Array::floats(Type::new(Elem::F32, [3]), vec![1.0, -0.01, -2.0]);
    let g = checked(transform::vjp(&f, &[true]).expect("reverse mode"));
    let clipped = run(&g, &[x.clone(), ct.clone()])[1].to_f64();
    let low = f64::from(0.1_f32);
    assert_eq!(clipped, [low, -0.02, -low]);
    let error = transform::jvp(&f, &[true]).expect_err("not linear");
    assert_eq!(error.kind, AdErrorKind::BlockNotLinear);
    // The derivative of the clipped gradient, with respect to its cotangent, is that of the clip.
    let again = checked(transform::vjp(&g, &[false, true]).expect("reverse mode"));
    let ones = Array::floats(x.ty.clone(), vec![1.0; 3]);
    let found = run(&again, &[x.clone(), ct.clone(), ones.clone(), ones]);
    assert_eq!(found[2].to_f64(), [0.0, 2.0, 0.0]);

    // Batched, then differentiated: as for each alone.
    let v = checked(transform::vmap(&f, &[Some(0)], 2).expect("batched"));
    let h = checked(transform::vjp(&v, &[true]).expect("reverse mode"));
    let twice = |a: &Array| {
        let ty = a.ty.with_shape([2, 3]);
        Array::floats(ty, [a.to_f64(), a.to_f64()].concat())
    };
    let found = run(&h, &[twice(&x), twice(&ct)])[1].to_f64();
    assert_eq!(found, [clipped.clone(), clipped].concat());
}

#[test]
fn batched_own_derivative_of_a_shared_argument_is_summed() {
    let f = func(CUSTOM);
    let v = checked(transform::vmap(&f, &[Some(0), None], 2).expect("batched"));
    let case = Case {
        name: "custom, one argument shared".into(),
        func: v,
        inputs: vec![
            Array::floats(
                Type::new(Elem::F32, [2, 3]),
                vec![0.1, 0.2, 0.3, -0.4, 0.5, 0.6],
            ),
            Array::floats(Type::new(Elem::F32, [3]), vec![0.7, -0.8, 0.9]),
        ],
    };
    check(&case, Order::Second);
}

#[test]
fn recomputation() {
    let g = checked(transform::value_and_grad(&func(REMAT), &[true, true]).expect("reverse mode"));
    insta::assert_snapshot!(format!("{}\n{g}", func(REMAT)));
}

#[test]
fn backward_loop_keeps_only_what_it_needs() {
    let f = func(RNN);
    let g = checked(transform::vjp(&f, &[true, true, true, false]).expect("reverse mode"));
    insta::assert_snapshot!(format!("{f}\n{g}"));
    assert_eq!(
        stacks(&g),
        [Type::new(Elem::F32, [5, 3]), Type::new(Elem::F32, [5, 3])]
    );
}

#[test]
fn rows_looked_up_are_added_to_in_place() {
    let f = func(LOOKUP);
    let g = checked(transform::value_and_grad(&f, &[true, true]).expect("reverse mode"));
    insta::assert_snapshot!(format!("{f}\n{g}"));
}

/// Types of what the first loop gives out stacked.
fn stacks(f: &Func) -> Vec<Type> {
    let scan = f
        .body
        .insts
        .iter()
        .find(|i| matches!(i.op, Op::Scan { .. }));
    let inst = scan.expect("a loop");
    let Op::Scan { carry, .. } = inst.op else {
        unreachable!()
    };
    inst.results[carry..]
        .iter()
        .map(|&v| f.ty(v).clone())
        .collect()
}

#[test]
fn only_floats_are_differentiated() {
    let error = transform::jvp(&func(LOOKUP), &[true, false]).map(|_| ());
    assert_eq!(error, Ok(()));
    let f = func(BRANCH);
    let error = transform::vjp(&f, &[true, true, true]).expect_err("an integer");
    assert_eq!(
        error.kind,
        AdErrorKind::NotDifferentiable {
            input: 2,
            elem: Elem::I32
        }
    );
    let error = transform::value_and_grad(&f, &[true, false, false]).expect_err("not a scalar");
    assert_eq!(error.code().0, "E0501");
    let error = transform::vmap(&f, &[Some(2), None, None], 3).expect_err("no such axis");
    assert_eq!(error.code().0, "E0512");
}
