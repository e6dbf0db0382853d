//! Writes a reduction over small windows, such as pooling, as operations on slices, one for each place in the window; XLA's CPU
//! compiler makes a loop of the primitive for each result.
//!
//! ```text
//! %1 = reduce_window_max[size = [2], stride = [2], …] %x : f32[n]           %x : f32[2 · n]
//! →
//! %2 = slice[start = [0], limit = [2 · n − 1], stride = [2]] %x : f32[n]
//! %3 = slice[start = [1], limit = [2 · n], stride = [2]] %x : f32[n]
//! %1 = max %2, %3 : f32[n]
//! ```
//!
//! The elements are taken in the order in which the primitive takes them. A sum of −0 alone is −0, not +0.

use super::copy::{Copier, Rewrite, rewrite};
use super::places::places;
use crate::ir::func::{Func, Inst, Value};
use crate::ir::op::{Op, ReduceOp, Window};
use crate::ir::types::{Elem, Type};

/// Places in a window, at most.
const LARGEST_WINDOW: usize = 16;

/// With fewer results the loop takes a few microseconds.
const FEWEST_RESULTS: usize = 1 << 11;

pub fn run(func: &Func) -> Func {
    rewrite(func, &mut SmallWindows)
}

struct SmallWindows;

impl Rewrite for SmallWindows {
    fn inst(&mut self, c: &mut Copier, inst: &Inst) {
        match &inst.op {
            Op::ReduceWindow { op, window } if is_small(window, c.from.ty(inst.results[0])) => {
                let x = c.value(inst.args[0]);
                let shape = c.from.ty(inst.results[0]).shape.to_vec();
                c.at(inst.results.first());
                let result = in_turn(c, *op, window, x, &shape);
                c.set(inst.results[0], result);
            }
            _ => c.keep(self, inst),
        }
    }
}

/// Narrow ones are left alone: a reduction may keep its sum in a wider type.
fn is_small(window: &Window, result: &Type) -> bool {
    let places: usize = window.size.iter().product();
    (2..=LARGEST_WINDOW).contains(&places)
        && window.base_dilation.iter().all(|&d| d == 1)
        && result.numel() >= FEWEST_RESULTS
        && result.elem.bits() >= 32
        && result.elem != Elem::Bool
}

fn in_turn(c: &mut Copier, op: ReduceOp, window: &Window, x: Value, shape: &[usize]) -> Value {
    let mut x = padded(c, op, window, x);
    // Where windows overlap, each slice would compute anew what it is made of.
    if window
        .size
        .iter()
        .zip(&window.stride)
        .any(|(size, stride)| size > stride)
    {
        x = c.b.op(Op::Barrier, &[x]);
    }
    let slices = places(&window.size).into_iter().map(|place| {
        let start = place
            .iter()
            .zip(&window.window_dilation)
            .map(|(p, d)| p * d);
        let start: Vec<usize> = start.collect();
        let last = |d: usize| start[d] + (shape[d] - 1) * window.stride[d] + 1;
        let slice = Op::Slice {
            limit: (0..shape.len()).map(last).collect(),
            stride: window.stride.clone(),
            start: start.clone(),
        };
        c.b.op(slice, &[x])
    });
    let slices: Vec<Value> = slices.collect();
    let result = slices
        .into_iter()
        .reduce(|before, next| c.b.op(Op::Binary(op.combination()), &[before, next]));
    result.unwrap_or(x)
}

fn padded(c: &mut Copier, op: ReduceOp, window: &Window, x: Value) -> Value {
    if window.padding.iter().all(|&pair| pair == (0, 0)) {
        return x;
    }
    let identity = op.identity(c.b.ty(x).elem);
    let identity = c.b.op(Op::Constant(identity), &[]);
    let (low, high) = window.padding.iter().copied().unzip();
    let pad = Op::Pad {
        low,
        high,
        interior: vec![0; window.padding.len()],
    };
    c.b.op(pad, &[x, identity])
}
