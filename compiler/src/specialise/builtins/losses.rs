//! Losses.

use super::Call;
use super::num::Num;
use super::reduce::{log_softmax_over, shifted};
use crate::ir::{BinaryOp, Builder, CompareOp, ReduceOp, UnaryOp, Value};

/// Per row over the last axis. Integer labels pick their logit by comparing with a count along the row, not by a
/// gather: the product with a one-hot row fuses, and so does its transpose.
pub(super) fn softmax_cross_entropy(b: &mut Builder, c: &Call) -> Value {
    let (logits, labels) = (c.args[0], c.args[1]);
    let shape = b.shape_of(logits);
    let last = [shape.len() - 1];
    if b.elem_of(labels).is_float() {
        let log_p = log_softmax_over(b, logits, &last);
        let weighted = b.binary(BinaryOp::Mul, labels, log_p);
        let total = b.reduce(ReduceOp::Sum, weighted, &last);
        return b.unary(UnaryOp::Neg, total);
    }
    let shifted = shifted(b, logits, &last);
    let powers = b.unary(UnaryOp::Exp, shifted);
    let total = b.reduce(ReduceOp::Sum, powers, &last);
    let log_total = b.unary(UnaryOp::Log, total);
    let labels = b.spread_back(labels, &last, &shape);
    let class = b.iota(b.elem_of(labels), &shape, last[0]);
    let hit = b.compare(CompareOp::Eq, labels, class);
    let zero = b.like(shifted, 0.0);
    let picked = b.select(hit, shifted, zero);
    let picked = b.reduce(ReduceOp::Sum, picked, &last);
    b.binary(BinaryOp::Sub, log_total, picked)
}
