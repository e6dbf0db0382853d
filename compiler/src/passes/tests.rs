//! Each pass on a small function: what it makes of it, and that the results stay the same, bit for bit.

mod for_devices;
mod windows;

use super::{REGISTRY, Stage, run, run_one};
use crate::interp::{Array, Precision, eval};
use crate::ir::Func;
use crate::ir::literal::encode_f64;
use crate::ir::parse::parse;
use crate::ir::types::{Elem, Type};
use crate::ir::verify::verify;

/// The source and what the named pass makes of it, after checking that it means the same.
fn shown(pass: &str, text: &str) -> String {
    let before = parse(text).expect(text);
    verify(&before).expect(text);
    let after = applied(pass, &before);
    same_results(&before, &after);
    format!("{before}-- {pass} -->\n{after}")
}

fn applied(pass: &str, func: &Func) -> Func {
    let pass = REGISTRY.iter().find(|p| p.name == pass).expect("a pass");
    run_one(pass, func)
}

fn same_results(before: &Func, after: &Func) {
    let inputs: Vec<Array> = before.input_types().into_iter().map(sample).collect();
    let bits = |f: &Func| -> Vec<Vec<u64>> {
        let results = eval(f, &inputs, Precision::Element).expect("evaluates");
        results.iter().map(Array::to_bits).collect()
    };
    assert_eq!(bits(before), bits(after), "{before}{after}");
}

/// As [`same_results`], on whole numbers, whose sums are exact in any order; −0 is 0.
fn same_sums(before: &Func, after: &Func) {
    let whole = |ty: Type| {
        let values: Vec<f64> = (0..ty.numel()).map(|i| (i % 7) as f64 - 2.0).collect();
        Array::of(ty, &values)
    };
    let inputs: Vec<Array> = before.input_types().into_iter().map(whole).collect();
    let values = |f: &Func| -> Vec<Vec<f64>> {
        let results = eval(f, &inputs, Precision::Element).expect("evaluates");
        results.iter().map(Array::to_f64).collect()
    };
    assert_eq!(values(before), values(after), "{before}{after}");
}

fn sample(ty: Type) -> Array {
    let value = |i: usize| match ty.elem {
        Elem::Bool => 1.0,
        e if e.is_int() => (i % 7) as f64,
        _ => ((i + 1) as f64 * 0.37).sin(),
    };
    let bits = (0..ty.numel())
        .map(|i| encode_f64(ty.elem, value(i)))
        .collect();
    Array::from_bits(ty, bits)
}

#[test]
fn names_are_distinct_and_stages_in_order() {
    let mut names: Vec<&str> = REGISTRY.iter().map(|p| p.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), REGISTRY.len());
    let first_after = REGISTRY
        .iter()
        .position(|p| p.stage == Stage::AfterDerivatives);
    let last_before = REGISTRY
        .iter()
        .rposition(|p| p.stage == Stage::BeforeDerivatives);
    assert!(last_before < first_after);
}

#[test]
fn every_pass_keeps_every_primitive_valid() {
    let func = parse(include_str!("../ir/primitives.ir")).expect("parses");
    for pass in &REGISTRY {
        let once = run_one(pass, &func);
        let twice = run_one(pass, &func);
        assert_eq!(once.to_string(), twice.to_string(), "{}", pass.name);
    }
}

#[test]
fn dce_drops_dead_carries_and_slices() {
    let text = shown(
        "dce",
        "func f(%x: f32, %xs: f32[4, 2]) -> (f32) {
           %dead = exp %x : f32
           %a, %b, %ys = scan[length = 4, carry = 2] %x, %dead, %xs : f32, f32, f32[4]
             body(%i: i32, %p: f32, %q: f32, %row: f32[2]) {
             %p2 = add %p, %p : f32
             %s = reduce_sum[axes = [0]] %row : f32
             %q2 = mul %q, %s : f32
             yield %p2, %q2, %q
           }
           %c = constant true : bool
           %r, %unused = if %c : f32, f32 then {
             %e = exp %a : f32
             yield %a, %e
           } else {
             yield %x, %x
           }
           return %r
         }",
    );
    insta::assert_snapshot!(text);
}

#[test]
fn dce_keeps_effects() {
    let text = "func main(%x: f32) -> () {
        %y = exp %x : f32
        %r = scan[length = 4, carry = 1] %x : f32 body(%i: i32, %p: f32) {
          print[pieces = [_]] %y
          yield %p
        }
        return
      }";
    let func = parse(text).expect(text);
    let after = applied("dce", &func).to_string();
    assert!(after.contains("print") && after.contains("exp"), "{after}");
}

#[test]
fn erase_inlines_what_derivatives_needed() {
    let text = shown(
        "erase",
        "func f(%x: f32) -> (f32) {
           %a = custom_vjp %x : f32 function(%p: f32) {
             %q = exp %p : f32
             yield %q
           } derivative(%p1: f32, %q1: f32, %ct: f32) {
             yield %ct
           }
           %b = remat %a : f32 body(%r: f32) {
             %s = mul %r, %r : f32
             %t = barrier %s : f32
             yield %t
           }
           %c = stop_gradient %b : f32
           return %c
         }",
    );
    insta::assert_snapshot!(text);
}

#[test]
fn fold_computes_what_is_known() {
    let text = shown(
        "fold",
        "func f(%x: f32[2]) -> (f32[2], f32, bool, i32[2]) {
           %a = constant 2.0 : f32
           %b = constant 8.0 : f32
           %c = div %a, %b : f32
           %d = sqrt %c : f32
           %e = broadcast[dims = []] %d : f32[2]
           %g = mul %x, %e : f32[2]
           %h = exp %a : f32
           %i = lt %a, %b : bool
           %j = iota[axis = 0] : i32[2]
           return %g, %h, %i, %j
         }",
    );
    insta::assert_snapshot!(text);
}

#[test]
fn simplify_regions_decides_branches_and_short_loops() {
    let text = shown(
        "simplify_regions",
        "func f(%x: f32, %xs: f32[1, 2], %none: f32[0, 2]) -> (f32, f32, f32[1], f32, f32[0], f32) {
           %no = constant false : bool
           %a = if %no : f32 then {
             yield %x
           } else {
             %e = exp %x : f32
             yield %e
           }
           %b, %ys = scan[length = 1, carry = 1] %a, %xs : f32, f32[1] body(%i: i32, %p: f32, %row: f32[2]) {
             %s = reduce_sum[axes = [0]] %row : f32
             %n = convert %i : f32
             %m = add %n, %s : f32
             %q = add %p, %m : f32
             yield %q, %m
           }
           %c, %zs = scan[length = 0, carry = 1] %x, %none : f32, f32[0] body(%j: i32, %r: f32, %row2: f32[2]) {
             %t = reduce_sum[axes = [0]] %row2 : f32
             %u = exp %r : f32
             yield %u, %t
           }
           %d = while %x : f32 cond(%v: f32) {
             %never = constant false : bool
             yield %never
           } body(%w: f32) {
             %k = exp %w : f32
             yield %k
           }
           return %a, %b, %ys, %c, %zs, %d
         }"
    );
    insta::assert_snapshot!(text);
}

#[test]
fn cse_sorts_along_once_what_is_equal() {
    let text = shown(
        "cse",
        "func f(%x: f32[6], %y: f32[6]) -> (f32[6], i32[6], f32[6], i32[6]) {
           %i = iota[axis = 0] : i32[6]
           %j = iota[axis = 0] : i32[6]
           %a, %b, %c, %d, %e = sort[axis = 0, keys = 3] %x, %x, %y, %i, %j : f32[6], f32[6], f32[6], i32[6], i32[6]
           return %b, %d, %c, %e
         }",
    );
    insta::assert_snapshot!(text);
}

#[test]
fn cse_merges_regions_and_constants() {
    let text = shown(
        "cse",
        "func f(%x: f32, %c: bool) -> (f32, f32, f32, f32) {
           %one = constant 1.0 : f32
           %uno = constant 1.0 : f32
           %minus = constant -0.0 : f32
           %a = add %x, %one : f32
           %b = add %x, %uno : f32
           %p = if %c : f32 then {
             %e = exp %a : f32
             yield %e
           } else {
             %inner = constant 1.0 : f32
             yield %inner
           }
           %q = if %c : f32 then {
             %e2 = exp %b : f32
             yield %e2
           } else {
             yield %one
           }
           %r = remat %x : f32 body(%y: f32) {
             %own = constant 1.0 : f32
             %z = add %y, %own : f32
             yield %z
           }
           %k1 = barrier %a : f32
           %k2 = barrier %b : f32
           %k = add %k1, %k2 : f32
           %m = mul %minus, %r : f32
           return %p, %q, %m, %k
         }",
    );
    insta::assert_snapshot!(text);
}

#[test]
fn licm_moves_invariants_out() {
    let text = shown(
        "licm",
        "func f(%x: f32, %w: f32[2, 3], %n: i32) -> (f32[2, 3], f32[2, 3]) {
           %r = scan[length = 4, carry = 1] %w : f32[2, 3] body(%i: i32, %c: f32[2, 3]) {
             %one = constant 1.0 : f32
             %wide = broadcast[dims = []] %one : f32[2, 3]
             %e = exp %w : f32[2, 3]
             %f = add %e, %wide : f32[2, 3]
             %inner = scan[length = 2, carry = 1] %c : f32[2, 3] body(%j: i32, %d: f32[2, 3]) {
               %g = log %f : f32[2, 3]
               %h = add %d, %g : f32[2, 3]
               %k = add %h, %wide : f32[2, 3]
               yield %k
             }
             %xw = broadcast[dims = []] %x : f32[2, 3]
             %out = mul %inner, %xw : f32[2, 3]
             yield %out
           }
           %m, %t = while %n, %w : i32, f32[2, 3] cond(%a: i32, %u: f32[2, 3]) {
             %limit = constant 5 : i32
             %more = lt %a, %limit : bool
             yield %more
           } body(%b: i32, %v: f32[2, 3]) {
             %step = constant 1 : i32
             %b2 = add %b, %step : i32
             %ew = exp %w : f32[2, 3]
             %v2 = add %v, %ew : f32[2, 3]
             %held = barrier %w : f32[2, 3]
             %v3 = add %v2, %held : f32[2, 3]
             yield %b2, %v3
           }
           return %r, %t
         }",
    );
    insta::assert_snapshot!(text);
}

#[test]
fn licm_does_not_start_loops_that_may_not_end() {
    let text = "func f(%n: i32, %x: f32) -> (i32, f32) {
        %never = constant 10 : i32
        %m, %z = while %n, %x : i32, f32 cond(%a: i32, %p: f32) {
          %more = lt %a, %never : bool
          yield %more
        } body(%b: i32, %q: f32) {
          %forever = while %x : f32 cond(%u: f32) {
            %yes = lt %u, %x : bool
            yield %yes
          } body(%w: f32) {
            yield %w
          }
          %b2 = add %b, %never : i32
          yield %b2, %forever
        }
        return %m, %z
      }";
    let func = parse(text).expect(text);
    assert_eq!(applied("licm", &func), func);
}

#[test]
fn scan_xs_turns_picks_into_inputs() {
    let text = shown(
        "scan_xs",
        "func f(%x: f32[6, 3], %m: f32[4, 3], %c: f32[3]) -> (f32[3], f32[4, 3]) {
           %zero = constant 0 : i32
           %one = constant 1 : i32
           %r, %ys = scan[length = 4, carry = 1] %c : f32[3], f32[4, 3] body(%i: i32, %s: f32[3]) {
             %row = gather[offset_dims = [0], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 0, slice_sizes = [1, 3]] %m, %i : f32[3]
             %t = add %i, %one : i32
             %next = dynamic_slice[sizes = [1, 3]] %x, %t, %zero : f32[1, 3]
             %next_row = reshape %next : f32[3]
             %at = reshape %t : i32[1]
             %again = gather[offset_dims = [0], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 0, slice_sizes = [1, 3]] %x, %at : f32[3]
             %before = sub %i, %one : i32
             %clamped = dynamic_slice[sizes = [1, 3]] %x, %before, %zero : f32[1, 3]
             %clamped_row = reshape %clamped : f32[3]
             %a = add %row, %next_row : f32[3]
             %b = mul %a, %again : f32[3]
             %d = add %b, %clamped_row : f32[3]
             %e = add %s, %d : f32[3]
             yield %e, %b
           }
           return %r, %ys
         }"
    );
    insta::assert_snapshot!(text);
}

#[test]
fn scan_xs_leaves_what_the_loop_changes() {
    let text = "func f(%x: f32[4, 3]) -> (f32[4, 3]) {
        %zero = constant 0 : i32
        %r = scan[length = 4, carry = 1] %x : f32[4, 3] body(%i: i32, %s: f32[4, 3]) {
          %row = dynamic_slice[sizes = [1, 3]] %s, %i, %zero : f32[1, 3]
          %e = exp %row : f32[1, 3]
          %t = dynamic_update_slice %s, %e, %i, %zero : f32[4, 3]
          yield %t
        }
        return %r
      }";
    let func = parse(text).expect(text);
    assert_eq!(applied("scan_xs", &func), func);
}

#[test]
fn the_stages_together_keep_a_gradient() {
    use crate::transform::vjp;
    let text = "func f(%x: f32[4, 3], %c: f32[3]) -> (f32) {
        %r = scan[length = 4, carry = 1] %c : f32[3] body(%i: i32, %s: f32[3]) {
          %row = gather[offset_dims = [0], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 0, slice_sizes = [1, 3]] %x, %i : f32[3]
          %p = mul %row, %s : f32[3]
          %q = tanh %p : f32[3]
          yield %q
        }
        %l = reduce_sum[axes = [0]] %r : f32
        return %l
      }";
    let func = parse(text).expect(text);
    let plain = vjp(&func, &[true, true]).expect("differentiates");
    let early = run(Stage::BeforeDerivatives, &func);
    same_results(&func, &early);
    let lean = run(
        Stage::AfterDerivatives,
        &vjp(&early, &[true, true]).expect("differentiates"),
    );
    same_results(&plain, &lean);
    let text = lean.to_string();
    assert!(
        !text.contains("dynamic_update_slice") && !text.contains("scatter"),
        "{text}"
    );
}

/// As [`shown`], for a pass that adds up in another order.
fn shown_nearly(pass: &str, text: &str) -> String {
    let before = parse(text).expect(text);
    verify(&before).expect(text);
    let after = applied(pass, &before);
    verify(&after).expect("the result verifies");
    nearly_same_results(&before, &after);
    format!("{before}-- {pass} -->\n{after}")
}

fn nearly_same_results(before: &Func, after: &Func) {
    let inputs: Vec<Array> = before.input_types().into_iter().map(sample).collect();
    let values = |f: &Func| -> Vec<Vec<f64>> {
        let results = eval(f, &inputs, Precision::Element).expect("evaluates");
        results.iter().map(Array::to_f64).collect()
    };
    for (old, new) in values(before).iter().zip(values(after)) {
        assert_eq!(old.len(), new.len());
        for (a, b) in old.iter().zip(new) {
            assert!((a - b).abs() <= 1e-5 * a.abs().max(1.0), "{a} {b}\n{after}");
        }
    }
}

#[test]
fn distribute_takes_products_and_sums_out_of_a_loop() {
    let text = shown_nearly(
        "distribute",
        "func f(%h: f32[3], %w: f32[3, 3], %v: f32[3, 2], %xs: f32[8, 4], %u: f32[4, 3], %ids: i32[8, 1, 1], %start: f32) -> (f32[3], f32, f32[3, 2], f32[5, 2], f32[8, 3], i32) {
           %none = constant 0.0 : f32[3, 2]
           %table = constant 1.0 : f32[5, 2]
           %zero = constant 0 : i32
           %end, %sum, %grad, %rows, %n, %seen = scan[length = 8, carry = 5, reverse] %h, %start, %none, %table, %zero, %xs, %ids : f32[3], f32, f32[3, 2], f32[5, 2], i32, f32[8, 3]
             body(%i: i32, %s: f32[3], %t: f32, %g: f32[3, 2], %r: f32[5, 2], %c: i32, %x: f32[4], %id: i32[1, 1]) {
             %in = dot_general[contract = [0] x [0]] %x, %u : f32[3]
             %rec = dot_general[contract = [0] x [0]] %s, %w : f32[3]
             %z = add %in, %rec : f32[3]
             %next = tanh %z : f32[3]
             %out = dot_general[contract = [0] x [0]] %next, %v : f32[2]
             %e = exp %out : f32[2]
             %loss = reduce_sum[axes = [0]] %e : f32
             %t2 = add %t, %loss : f32
             %outer = dot_general[contract = [] x []] %s, %e : f32[3, 2]
             %g2 = add %outer, %g : f32[3, 2]
             %row = reshape %e : f32[1, 2]
             %r2 = scatter_add[update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1] %r, %id, %row : f32[5, 2]
             %c2 = add %c, %i : i32
             yield %next, %t2, %g2, %r2, %c2, %z
           }
           return %end, %sum, %grad, %rows, %seen, %n
         }",
    );
    insta::assert_snapshot!(text);
}

#[test]
fn distribute_leaves_what_gains_nothing() {
    let loop_of = |length: usize, body: &str| {
        format!(
            "func f(%h: f32[3, 3], %w: f32[3, 3], %xs: f32[{length}, 3]) -> (f32[3, 3], f32) {{
               %zero = constant 0.0 : f32
               %a, %b = scan[length = {length}, carry = 2] %h, %zero, %xs : f32[3, 3], f32
                 body(%i: i32, %s: f32[3, 3], %t: f32, %x: f32[3]) {{
                 {body}
               }}
               return %a, %b
             }}"
        )
    };
    let products = "%n = dot_general[contract = [1] x [0]] %s, %w : f32[3, 3]
        %o = dot_general[contract = [0] x [0]] %x, %w : f32[3]
        %l = reduce_sum[axes = [0]] %o : f32
        %u = add %t, %l : f32
        yield %n, %u";
    let no_product = "%n = dot_general[contract = [1] x [0]] %s, %w : f32[3, 3]
        %l = reduce_sum[axes = [0]] %x : f32
        %u = add %t, %l : f32
        yield %n, %u";
    // The sum is read in the loop.
    let state = "%n = dot_general[contract = [1] x [0]] %s, %w : f32[3, 3]
        %wide = broadcast[dims = []] %t : f32[3]
        %y = mul %x, %wide : f32[3]
        %o = dot_general[contract = [0] x [0]] %y, %n : f32[3]
        %l = reduce_sum[axes = [0]] %o : f32
        %u = add %t, %l : f32
        yield %n, %u";
    // Every iteration's state would have to be kept.
    let large = "%n = dot_general[contract = [1] x [0]] %s, %w : f32[3, 3]
        %o = dot_general[contract = [0] x [0]] %x, %n : f32[3]
        %p = dot_general[contract = [0] x [0]] %o, %w : f32[3]
        %l = reduce_sum[axes = [0]] %p : f32
        %u = add %t, %l : f32
        yield %n, %u";
    for (length, body, changes) in [
        (20, products, true),
        (20, large, true),
        (5_000_000, large, false),
        (4, products, false),
        (20, no_product, false),
        (20, state, false),
    ] {
        let before = parse(&loop_of(length, body)).expect("parses");
        let after = applied("distribute", &before);
        assert_eq!(before.to_string() != after.to_string(), changes, "{after}");
        if length < 100 {
            nearly_same_results(&before, &after);
        }
    }
}

/// A whole gradient, and a loop without state, of which nothing is left.
#[test]
fn distribute_empties_loops() {
    use crate::transform::vjp;
    let text = "func f(%w: f32[3, 4], %xs: f32[9, 3]) -> (f32) {
        %zero = constant 0.0 : f32
        %l = scan[length = 9, carry = 1] %zero, %xs : f32 body(%i: i32, %s: f32, %x: f32[3]) {
          %o = dot_general[contract = [0] x [0]] %x, %w : f32[4]
          %e = tanh %o : f32[4]
          %r = reduce_sum[axes = [0]] %e : f32
          %t = add %s, %r : f32
          yield %t
        }
        return %l
      }";
    let func = vjp(&parse(text).expect(text), &[true, true]).expect("differentiates");
    let lean = run(Stage::AfterDerivatives, &func);
    let after = applied("distribute", &lean);
    assert!(lean.to_string().contains("scan"), "{lean}");
    assert!(!after.to_string().contains("scan"), "{after}");
    nearly_same_results(&func, &after);
}
