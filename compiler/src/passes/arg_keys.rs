//! Finds where the largest or the smallest elements are by a reduction of integers that hold an element and its place; XLA's CPU
//! compiler computes many of these at a time, but pairs of an element and a place one by one.
//!
//! ```text
//! %1 = argmax[axis = 1] %x : i32[n]                 %x : f32[n, 64]
//! →
//! %2 = … : i32[n, 64]                               in the order of the elements, the largest for NaN
//! %3 = … : i64[n, 64]                               %2 · 2³² + 63 − place
//! %4 = reduce_max[axes = [1]] %3 : i64[n]
//! %1 = … : i32[n]                                   63 − the lower half
//! ```

use super::copy::{Copier, Rewrite, rewrite};
use super::sort_keys::Keys;
use crate::ir::func::{Func, Inst, Value};
use crate::ir::literal::Literal;
use crate::ir::num::Num;
use crate::ir::op::{BinaryOp, CompareOp, Op, ReduceOp};
use crate::ir::types::{Elem, Type};

/// Along shorter axes, and of fewer elements, pairs are as fast.
const SHORTEST: usize = 32;
const FEWEST_ELEMENTS: usize = 1 << 12;

pub fn run(func: &Func) -> Func {
    rewrite(func, &mut ArgKeys)
}

struct ArgKeys;

impl Rewrite for ArgKeys {
    fn inst(&mut self, c: &mut Copier, inst: &Inst) {
        match inst.op {
            Op::ArgReduce { max, axis } if concerned(c.from.ty(inst.args[0]), axis) => {
                let x = c.value(inst.args[0]);
                c.at(inst.results.first());
                let place = by_keys(c, x, max, axis);
                c.set(inst.results[0], place);
            }
            _ => c.keep(self, inst),
        }
    }
}

fn concerned(x: &Type, axis: usize) -> bool {
    matches!(x.elem, Elem::F32 | Elem::I32)
        && x.shape[axis] >= SHORTEST
        && x.numel() >= FEWEST_ELEMENTS
}

fn by_keys(c: &mut Copier, x: Value, max: bool, axis: usize) -> Value {
    let wide = Type::new(Elem::I64, c.b.ty(x).shape.clone());
    let last = wide.shape[axis] as i64 - 1;
    let keys = keys(c, x, max);
    let keys = c.b.op(Op::Convert(Elem::I64), &[keys]);
    let upper = c.b.constant(Literal::splat_i64(wide.clone(), 1 << 32));
    let keys = c.b.op(Op::Binary(BinaryOp::Mul), &[keys, upper]);
    let place = c.b.op(Op::Iota { ty: wide, axis }, &[]);
    // Of equal elements the first is wanted: the largest goes with the largest number of those behind it.
    let number = from_last(c, place, last, max);
    let keys = c.b.op(Op::Binary(BinaryOp::Add), &[keys, number]);
    let op = if max { ReduceOp::Max } else { ReduceOp::Min };
    let axes = vec![axis];
    let best = c.b.op(Op::Reduce { op, axes }, &[keys]);
    let lower = Literal::splat_i64(c.b.ty(best).clone(), i64::from(u32::MAX));
    let lower = c.b.constant(lower);
    let number = c.b.op(Op::Binary(BinaryOp::And), &[best, lower]);
    let place = from_last(c, number, last, max);
    c.b.op(Op::Convert(Elem::I32), &[place])
}

/// Integers in the order of the elements, NaN at the end that is looked for.
fn keys(c: &mut Copier, x: Value, max: bool) -> Value {
    if c.b.ty(x).elem == Elem::I32 {
        return x;
    }
    let keys = Keys::of_each(Elem::I32).of(c, x);
    if max {
        return keys;
    }
    let is_nan = c.b.op(Op::Compare(CompareOp::Ne), &[x, x]);
    let least = Literal::splat_i64(c.b.ty(keys).clone(), i64::from(i32::MIN));
    let least = c.b.constant(least);
    c.b.op(Op::Select, &[is_nan, least, keys])
}

/// The places counted from the last, if `back`.
fn from_last(c: &mut Copier, place: Value, last: i64, back: bool) -> Value {
    if !back {
        return place;
    }
    let last = Literal::splat_i64(c.b.ty(place).clone(), last);
    let last = c.b.constant(last);
    c.b.op(Op::Binary(BinaryOp::Sub), &[last, place])
}
