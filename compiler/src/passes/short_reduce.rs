//! Writes a reduction that takes few elements for each of many results as operations on slices, which XLA's CPU compiler
//! computes many at a time; of the primitive it makes a loop for each result.
//!
//! ```text
//! %1 = reduce_sum[axes = [1]] %x : f32[n]           %x : f32[n, 2]
//! →
//! %2 = slice[0:n, 0:1] %x : f32[n, 1]
//! %3 = reshape %2 : f32[n]
//! %4 = slice[0:n, 1:2] %x : f32[n, 1]
//! %5 = reshape %4 : f32[n]
//! %6 = add %3, %5 : f32[n]
//! %1 = barrier %6 : f32[n]
//! ```
//!
//! The result is held, for where another reduction takes it, XLA gives both to a library, with each slice as an array of its own.
//! The elements are taken in the order in which the primitive takes them. A sum of −0 alone is −0, not +0.

use super::copy::{Copier, Rewrite, rewrite};
use super::places::places;
use crate::ir::func::{Func, Inst, Value};
use crate::ir::op::{Op, ReduceOp};
use crate::ir::types::{Elem, Type};

/// Elements of a result, at most. With more the loop is the faster.
const MOST_ELEMENTS: usize = 8;

/// A result of the loop takes 5 ns, and the compiler a twentieth of a second longer: with fewer results than these, too many
/// runs would have to make up for it.
const FEWEST_RESULTS: usize = 1 << 14;

pub fn run(func: &Func) -> Func {
    rewrite(func, &mut ShortReduce)
}

struct ShortReduce;

impl Rewrite for ShortReduce {
    fn inst(&mut self, c: &mut Copier, inst: &Inst) {
        match &inst.op {
            Op::Reduce { op, axes } if is_short(c.from.ty(inst.args[0]), axes) => {
                let x = c.value(inst.args[0]);
                c.at(inst.results.first());
                let result = in_turn(c, *op, axes, x);
                let held = c.b.op(Op::Barrier, &[result]);
                c.set(inst.results[0], held);
            }
            _ => c.keep(self, inst),
        }
    }
}

/// Whether each of many results has few elements. Narrow ones are left alone: a reduction may keep its sum in a wider type.
fn is_short(x: &Type, axes: &[usize]) -> bool {
    let elements: usize = axes.iter().map(|&a| x.shape[a]).product();
    (2..=MOST_ELEMENTS).contains(&elements)
        && x.numel() / elements >= FEWEST_RESULTS
        && x.elem.bits() >= 32
        && x.elem != Elem::Bool
}

fn in_turn(c: &mut Copier, op: ReduceOp, axes: &[usize], x: Value) -> Value {
    let shape = c.b.ty(x).shape.clone();
    let kept: Vec<usize> = (0..shape.len()).filter(|d| !axes.contains(d)).collect();
    let to: Vec<usize> = kept.iter().map(|&d| shape[d]).collect();
    let reduced: Vec<usize> = axes.iter().map(|&a| shape[a]).collect();
    let elements = places(&reduced).into_iter().map(|place| {
        let mut start = vec![0; shape.len()];
        let mut limit = shape.to_vec();
        for (&axis, at) in axes.iter().zip(place) {
            (start[axis], limit[axis]) = (at, at + 1);
        }
        let stride = vec![1; shape.len()];
        let slice = Op::Slice {
            start,
            limit,
            stride,
        };
        let slice = c.b.op(slice, &[x]);
        c.b.op(Op::Reshape { shape: to.clone() }, &[slice])
    });
    let elements: Vec<Value> = elements.collect();
    let result = elements
        .into_iter()
        .reduce(|before, next| c.b.op(Op::Binary(op.combination()), &[before, next]));
    result.unwrap_or(x)
}
