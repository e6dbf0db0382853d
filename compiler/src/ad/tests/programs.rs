//! Functions to differentiate, as IR text.

use crate::ir::Func;
use crate::ir::parse::parse;
use crate::ir::verify::verify_pure;

/// Parses and verifies.
pub fn func(text: &str) -> Func {
    let f = parse(text).unwrap_or_else(|e| panic!("{e}\nin {text}"));
    checked(f)
}

/// The function again, if it is well formed.
pub fn checked(f: Func) -> Func {
    if let Err(e) = verify_pure(&f) {
        panic!("{e}\nin {f}");
    }
    f
}

/// The loss of a small MLP classifier: parameters, images, labels.
pub const MLP_LOSS: &str = "
func loss(%w1: f32[784, 256], %b1: f32[256], %w2: f32[256, 10], %b2: f32[10], %x: f32[128, 784], %y: i32[128]) -> (f32) {
  %p1 = dot_general[contract = [1] x [0]] %x, %w1 : f32[128, 256]
  %c1 = broadcast[dims = [1]] %b1 : f32[128, 256]
  %a1 = add %p1, %c1 : f32[128, 256]
  %zero = constant 0.0 : f32[128, 256]
  %pos = gt %a1, %zero : bool[128, 256]
  %h = select %pos, %a1, %zero : f32[128, 256]
  %p2 = dot_general[contract = [1] x [0]] %h, %w2 : f32[128, 10]
  %c2 = broadcast[dims = [1]] %b2 : f32[128, 10]
  %logits = add %p2, %c2 : f32[128, 10]
  %max = reduce_max[axes = [1]] %logits : f32[128]
  %stop = stop_gradient %max : f32[128]
  %bmax = broadcast[dims = [0]] %stop : f32[128, 10]
  %shift = sub %logits, %bmax : f32[128, 10]
  %exp = exp %shift : f32[128, 10]
  %sum = reduce_sum[axes = [1]] %exp : f32[128]
  %lse = log %sum : f32[128]
  %place = iota[axis = 1] : i32[128, 10]
  %label = broadcast[dims = [0]] %y : i32[128, 10]
  %hot = eq %place, %label : bool[128, 10]
  %none = constant 0.0 : f32[128, 10]
  %picked = select %hot, %shift, %none : f32[128, 10]
  %pick = reduce_sum[axes = [1]] %picked : f32[128]
  %rows = sub %lse, %pick : f32[128]
  %total = reduce_sum[axes = [0]] %rows : f32
  %count = constant 128.0 : f32
  %mean = div %total, %count : f32
  return %mean
}";
