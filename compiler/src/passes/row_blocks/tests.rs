//! Blocks at small sizes: what becomes of a function, that it means the same, and where it is left alone.

use super::{Terms, blocked};
use crate::interp::{Array, Precision, eval};
use crate::ir::Func;
use crate::ir::literal::encode_f64;
use crate::ir::parse::parse;
use crate::ir::types::{Elem, Type};
use crate::ir::verify::verify;

/// Every block pays that saves anything.
const EAGER: Terms = Terms {
    much: 1,
    share: f64::INFINITY,
    ..Terms::OF_CPU
};

fn values(func: &Func) -> Vec<Vec<f64>> {
    let sample = |ty: Type| {
        let value = |i: usize| match ty.elem {
            e if e.is_int() => (i % 5) as f64,
            Elem::Bool => (i % 2) as f64,
            _ => ((i + 1) as f64 * 0.37).sin(),
        };
        let bits = (0..ty.numel()).map(|i| encode_f64(ty.elem, value(i)));
        Array::from_bits(ty.clone(), bits.collect())
    };
    let inputs: Vec<Array> = func.input_types().into_iter().map(sample).collect();
    let results = eval(func, &inputs, Precision::Element).expect("evaluates");
    results.iter().map(Array::to_f64).collect()
}

/// What becomes of a function, which has to mean the same.
fn cut(text: &str) -> (Func, Func) {
    let before = parse(text).expect(text);
    verify(&before).expect(text);
    let after = blocked(&before, EAGER);
    if let Err(e) = verify(&after) {
        panic!("{e}\n{after}");
    }
    for (old, new) in values(&before).iter().zip(values(&after)) {
        assert_eq!(old.len(), new.len());
        for (a, b) in old.iter().zip(new) {
            assert!((a - b).abs() <= 1e-4 * a.abs().max(1.0), "{a} {b}\n{after}");
        }
    }
    (before, after)
}

const STEP: &str = "func step(%x: f32[70000, 3], %y: f32[70000], %w: f32[3]) -> (f32[3], f32) {
  %z = dot_general[contract = [1] x [0]] %x, %w : f32[70000]
  %p = logistic %z : f32[70000]
  %r = sub %p, %y : f32[70000]
  %g = dot_general[contract = [0] x [0]] %r, %x : f32[3]
  %s = mul %r, %r : f32[70000]
  %l = reduce_sum[axes = [0]] %s : f32
  return %g, %l
}";

#[test]
fn a_gradient_reads_its_data_once() {
    let (before, after) = cut(STEP);
    insta::assert_snapshot!(format!("{before}-- row_blocks -->\n{after}"));
}

#[test]
fn rows_left_over_and_rows_given_out() {
    // 70001 is the product of two primes, neither near the size of a block.
    let (_, after) = cut(&STEP
        .replace("70000", "70001")
        .replace("(f32[3], f32)", "(f32[3], f32, f32[70001])")
        .replace("return %g, %l", "return %g, %l, %p"));
    let text = after.to_string();
    assert!(text.contains("scan") && text.contains("concat"), "{text}");
}

#[test]
fn rows_along_other_axes_and_rows_that_are_alike() {
    let (_, after) = cut(
        "func f(%x: f32[3, 70000], %w: f32[3, 5], %b: f32[5]) -> (f32[5], f32[5]) {
      %one = constant 1.0 : f32[70000, 5]
      %t = transpose[perm = [1, 0]] %x : f32[70000, 3]
      %z = dot_general[contract = [0] x [0]] %x, %w : f32[70000, 5]
      %c = broadcast[dims = [1]] %b : f32[70000, 5]
      %k = iota[axis = 1] : i32[70000, 5]
      %f = convert %k : f32[70000, 5]
      %a = add %z, %c : f32[70000, 5]
      %d = mul %a, %f : f32[70000, 5]
      %e = sub %d, %one : f32[70000, 5]
      %q = dot_general[contract = [1] x [0]] %t, %w : f32[70000, 5]
      %m = mul %q, %e : f32[70000, 5]
      %r = dot_general[contract = [0] x [0]] %m, %z : f32[5, 5]
      %s = reduce_sum[axes = [0]] %m : f32[5]
      %u = reduce_sum[axes = [0]] %r : f32[5]
      return %s, %u
    }",
    );
    assert!(after.to_string().contains("scan"), "{after}");
}

/// What is centred by a mean over all rows is cut behind the mean.
#[test]
fn what_needs_a_sum_over_all_rows_comes_after_it() {
    let (_, after) = cut("func f(%x: f32[70000, 2], %w: f32[2, 2]) -> (f32[2]) {
      %n = constant 70000.0 : f32[2]
      %h = dot_general[contract = [1] x [0]] %x, %w : f32[70000, 2]
      %t = reduce_sum[axes = [0]] %h : f32[2]
      %m = div %t, %n : f32[2]
      %c = broadcast[dims = [1]] %m : f32[70000, 2]
      %d = sub %h, %c : f32[70000, 2]
      %e = dot_general[contract = [1] x [0]] %d, %w : f32[70000, 2]
      %q = mul %e, %e : f32[70000, 2]
      %v = reduce_sum[axes = [0]] %q : f32[2]
      return %v
    }");
    assert!(after.to_string().contains("scan"), "{after}");
}

/// What is only scaled on the way into a product is scaled in the loop that needs it, not before.
#[test]
fn what_can_wait_waits() {
    let (_, after) = cut("func f(%x: u8[70000, 3], %w: f32[3]) -> (f32, f32[3]) {
      %n = constant 255.0 : f32[70000, 3]
      %c = convert %x : f32[70000, 3]
      %d = div %c, %n : f32[70000, 3]
      %k = scan[length = 3, carry = 1] %w : f32[3] body(%i: i32, %s: f32[3]) {
        %t = add %s, %s : f32[3]
        yield %t
      }
      %z = dot_general[contract = [1] x [0]] %d, %k : f32[70000]
      %e = exp %z : f32[70000]
      %l = reduce_sum[axes = [0]] %e : f32
      %g = dot_general[contract = [0] x [0]] %e, %d : f32[3]
      return %l, %g
    }");
    assert!(!after.to_string().contains("f32[70000"), "{after}");
}

#[test]
fn what_mixes_rows_or_saves_nothing_is_left_alone() {
    for body in [
        // Elementwise: one kernel as it is.
        "%a = mul %x, %x : f32[70000, 2]
         %r = reduce_sum[axes = [0]] %a : f32[2]",
        // Each row with each.
        "%s = slice[start = [0, 0], limit = [300, 2], stride = [1, 1]] %x : f32[300, 2]
         %a = dot_general[contract = [1] x [1]] %s, %s : f32[300, 300]
         %e = exp %a : f32[300, 300]
         %o = dot_general[contract = [1] x [0]] %e, %s : f32[300, 2]
         %r = reduce_sum[axes = [0]] %o : f32[2]",
        // Running over the rows.
        "%c = cumsum[axis = 0] %x : f32[70000, 2]
         %r = reduce_max[axes = [0]] %c : f32[2]",
    ] {
        let text = format!("func f(%x: f32[70000, 2]) -> (f32[2]) {{ {body}\n return %r }}");
        let before = parse(&text).expect(&text);
        let after = blocked(&before, EAGER);
        assert_eq!(before.to_string(), after.to_string());
    }
}

/// At the CPU's terms: a layer is packed for each block of images, which is little; gradients of a layer that come row by row
/// would each time have all of the batch packed.
#[test]
fn what_is_packed_again_for_each_block_counts() {
    for (text, is_cut) in [
        (
            "func f(%x: f32[10000, 784], %w: f32[784, 256]) -> (f32[256]) {
               %h = dot_general[contract = [1] x [0]] %x, %w : f32[10000, 256]
               %e = exp %h : f32[10000, 256]
               %q = dot_general[contract = [0] x [0]] %e, %e : f32[256, 256]
               %r = reduce_sum[axes = [0]] %q : f32[256]
               return %r
             }",
            true,
        ),
        (
            "func f(%x: f32[4096, 128], %g: f32[128, 4096], %m: f32[4096, 4096]) -> (f32[4096, 4096]) {
               %d = dot_general[contract = [1] x [0]] %x, %g : f32[4096, 4096]
               %s = mul %d, %d : f32[4096, 4096]
               %r = add %m, %s : f32[4096, 4096]
               return %r
             }",
            false,
        ),
    ] {
        let before = parse(text).expect(text);
        let after = blocked(&before, Terms::OF_CPU).to_string();
        assert_eq!(after.contains("scan"), is_cut, "{after}");
    }
}
