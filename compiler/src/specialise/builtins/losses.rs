//! Losses.

use super::Call;
use super::index::position;
use super::reduce::{log_softmax_over, shifted, sum_over};
use crate::ir::num::Num;
use crate::ir::{BinaryOp, Builder, CompareOp, Elem, Op, ReduceOp, UnaryOp, Value};

/// Per row over the last axis. Integer labels pick their logit by comparing with a count along the row, not by a
/// gather: the product with a one-hot row fuses, and so does its transpose.
pub(super) fn softmax_cross_entropy(b: &mut Builder, c: &Call) -> Value {
    let (logits, labels) = (c.args[0], c.args[1]);
    let shape = b.shape_of(logits);
    let last = [shape.len() - 1];
    if b.elem_of(labels).is_float() {
        let log_p = log_softmax_over(b, logits, &last);
        let weighted = b.binary(BinaryOp::Mul, labels, log_p);
        let total = sum_over(b, weighted, &last);
        return b.unary(UnaryOp::Neg, total);
    }
    let shifted = shifted(b, logits, &last);
    let powers = b.unary(UnaryOp::Exp, shifted);
    let total = sum_over(b, powers, &last);
    let log_total = b.unary(UnaryOp::Log, total);
    // Narrow labels could not count the classes.
    let labels = position(b, labels);
    let labels = b.spread_back(labels, &last, &shape);
    let class = b.iota(Elem::I32, &shape, last[0]);
    let hit = b.compare(CompareOp::Eq, labels, class);
    let zero = b.like(shifted, 0.0);
    let picked = b.select(hit, shifted, zero);
    let picked = b.reduce(ReduceOp::Sum, picked, &last);
    b.binary(BinaryOp::Sub, log_total, picked)
}

/// Per element: −y·log σ(x) − (1 − y)·log σ(−x), written without the logarithm of a rounded σ.
pub(super) fn sigmoid_binary_cross_entropy(b: &mut Builder, c: &Call) -> Value {
    let xy = b.together(&c.args);
    let (x, y) = (xy[0], xy[1]);
    let one = b.like(x, 1.0);
    let log_p = log_sigmoid(b, x);
    let minus_x = b.unary(UnaryOp::Neg, x);
    let log_q = log_sigmoid(b, minus_x);
    let hit = b.binary(BinaryOp::Mul, y, log_p);
    let rest = b.binary(BinaryOp::Sub, one, y);
    let miss = b.binary(BinaryOp::Mul, rest, log_q);
    let total = b.binary(BinaryOp::Add, hit, miss);
    b.unary(UnaryOp::Neg, total)
}

/// min(x, 0) − log1p(exp(−|x|)), whose derivative is σ(−x): the kinks at 0 are none of the whole, in no derivative.
fn log_sigmoid(b: &mut Builder, x: Value) -> Value {
    let ty = b.ty(x).clone();
    b.open_region();
    let p = b.param(ty.clone());
    let size = b.unary(UnaryOp::Abs, p);
    let size = b.unary(UnaryOp::Neg, size);
    let power = b.unary(UnaryOp::Exp, size);
    let log = b.unary(UnaryOp::Log1p, power);
    let zero = b.like(p, 0.0);
    let low = b.binary(BinaryOp::Min, p, zero);
    let y = b.binary(BinaryOp::Sub, low, log);
    let function = b.close_region(vec![y]);
    b.open_region();
    let (p, _, ct) = (b.param(ty.clone()), b.param(ty.clone()), b.param(ty));
    let minus = b.unary(UnaryOp::Neg, p);
    let slope = b.unary(UnaryOp::Logistic, minus);
    let ct = b.binary(BinaryOp::Mul, ct, slope);
    let derivative = b.close_region(vec![ct]);
    b.push(Op::CustomVjp, vec![x], vec![function, derivative])[0]
}

/// ½(p − t)², or ½p² without targets.
pub(super) fn l2_loss(b: &mut Builder, c: &Call) -> Value {
    let error = match c.args.as_slice() {
        [p, t] => b.binary(BinaryOp::Sub, *p, *t),
        _ => c.args[0],
    };
    let squared = b.binary(BinaryOp::Mul, error, error);
    let half = b.like(squared, 0.5);
    b.binary(BinaryOp::Mul, half, squared)
}

/// Quadratic up to `delta`, linear beyond.
pub(super) fn huber_loss(b: &mut Builder, c: &Call) -> Value {
    let error = match c.args.as_slice() {
        [p, t, ..] => b.binary(BinaryOp::Sub, *p, *t),
        _ => c.args[0],
    };
    let size = b.unary(UnaryOp::Abs, error);
    let delta = b.like(size, c.attrs.float("delta").unwrap_or(1.0));
    // Not the size itself: its derivative at 0 would be lost in the second derivative.
    let is_near = b.compare(CompareOp::Le, size, delta);
    let sign = b.unary(UnaryOp::Sign, error);
    let edge = b.binary(BinaryOp::Mul, sign, delta);
    let quadratic = b.select(is_near, error, edge);
    let part = b.unary(UnaryOp::Abs, quadratic);
    let linear = b.binary(BinaryOp::Sub, size, part);
    let squared = b.binary(BinaryOp::Mul, quadratic, quadratic);
    let half = b.like(squared, 0.5);
    let near = b.binary(BinaryOp::Mul, half, squared);
    let far = b.binary(BinaryOp::Mul, delta, linear);
    b.binary(BinaryOp::Add, near, far)
}
