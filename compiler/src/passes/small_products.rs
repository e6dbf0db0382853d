//! Writes a batch of products of small matrices as a sum of products with fewer terms. XLA's CPU compiler has a loop of its own for
//! each product of up to three terms, and a library for eight rows, columns or terms; what is between it gives to Eigen, once for each
//! element of the batch, which takes half a microsecond each.
//!
//! ```text
//! %1 = dot_general[batch = [0] x [0], contract = [2] x [1]] %x, %y : f32[n, 4, 4]
//! →
//! %2 = slice[0:n, 0:4, 0:2] %x : f32[n, 4, 2]
//! %3 = slice[0:n, 0:2, 0:4] %y : f32[n, 2, 4]
//! %4 = dot_general[batch = [0] x [0], contract = [2] x [1]] %2, %3 : f32[n, 4, 4]
//! %5 = slice[0:n, 0:4, 2:4] %x : f32[n, 4, 2]
//! %6 = slice[0:n, 2:4, 0:4] %y : f32[n, 2, 4]
//! %7 = dot_general[batch = [0] x [0], contract = [2] x [1]] %5, %6 : f32[n, 4, 4]
//! %1 = add %4, %7 : f32[n, 4, 4]
//! ```
//!
//! Terms are added in another order.

use super::copy::{Copier, Rewrite, rewrite};
use crate::ir::func::{Func, Inst, Value};
use crate::ir::op::{BinaryOp, DotDims, Op};
use crate::ir::types::{Elem, Type};
use std::ops::Range;

/// Terms of a product that XLA adds in a loop of its own.
const MOST_TERMS: usize = 3;

/// Rows, columns or terms from which on the library takes the whole batch.
const LIBRARY: usize = 8;

/// With fewer products than these, XLA's way takes a few microseconds at most.
const FEWEST_PRODUCTS: usize = 8;

pub fn run(func: &Func) -> Func {
    rewrite(func, &mut SmallProducts)
}

struct SmallProducts;

impl Rewrite for SmallProducts {
    fn inst(&mut self, c: &mut Copier, inst: &Inst) {
        let types = |i: usize| c.from.ty(inst.args[i]);
        match &inst.op {
            Op::Dot(dims) if inst.args.len() == 2 && concerned(dims, types(0), types(1)) => {
                let [lhs, rhs] = [0, 1].map(|i| c.value(inst.args[i]));
                c.at(inst.results.first());
                let result = in_pieces(c, dims, lhs, rhs);
                c.set(inst.results[0], result);
            }
            _ => c.keep(self, inst),
        }
    }
}

/// Narrow floats are left alone: a product keeps its sum in a wider type.
fn concerned(dims: &DotDims, lhs: &Type, rhs: &Type) -> bool {
    let [terms] = dims.lhs_contract[..] else {
        return false;
    };
    let terms = lhs.shape[terms];
    let products: usize = dims.lhs_batch.iter().map(|&d| lhs.shape[d]).product();
    let free = |ty: &Type| ty.numel() / (products * terms).max(1);
    let small = 2..LIBRARY;
    (MOST_TERMS + 1..LIBRARY).contains(&terms)
        && products >= FEWEST_PRODUCTS
        && small.contains(&free(lhs))
        && small.contains(&free(rhs))
        && lhs.elem.bits() >= 32
        && lhs.elem != Elem::Bool
}

fn in_pieces(c: &mut Copier, dims: &DotDims, lhs: Value, rhs: Value) -> Value {
    let axes = (dims.lhs_contract[0], dims.rhs_contract[0]);
    let terms = c.b.ty(lhs).shape[axes.0];
    let pieces = terms.div_ceil(MOST_TERMS);
    let bound = |piece: usize| piece * terms / pieces;
    let products: Vec<Value> = (0..pieces)
        .map(|piece| {
            let part = bound(piece)..bound(piece + 1);
            let [lhs, rhs] = [(lhs, axes.0), (rhs, axes.1)]
                .map(|(operand, axis)| slice(c, operand, axis, part.clone()));
            c.b.op(Op::Dot(dims.clone()), &[lhs, rhs])
        })
        .collect();
    let sum = products
        .into_iter()
        .reduce(|sum, product| c.b.op(Op::Binary(BinaryOp::Add), &[sum, product]));
    sum.unwrap_or(lhs)
}

fn slice(c: &mut Copier, operand: Value, axis: usize, part: Range<usize>) -> Value {
    let mut limit = c.b.ty(operand).shape.to_vec();
    let mut start = vec![0; limit.len()];
    let stride = vec![1; limit.len()];
    (start[axis], limit[axis]) = (part.start, part.end);
    let op = Op::Slice {
        start,
        limit,
        stride,
    };
    c.b.op(op, &[operand])
}
