//! Products of matrices, factors and solves.

use super::Call;
use super::attrs::wrap;
use super::diagonal::{diagonal_mask, triangle};
use super::reduce::accumulator;
use crate::ir::num::Num;
use crate::ir::op::DotDims;
use crate::ir::{BinaryOp, Builder, CompareOp, Op, ReduceOp, Value};

pub(super) fn matmul(b: &mut Builder, c: &Call) -> Value {
    b.matmul(c.args[0], c.args[1])
}

/// `dot(a, b)`: the last dimension of `a` with the last but one of `b` (its only one, for a vector); a scalar scales.
pub(super) fn dot(b: &mut Builder, c: &Call) -> Value {
    let (x, y) = (c.args[0], c.args[1]);
    let (rx, ry) = (b.ty(x).rank(), b.ty(y).rank());
    if rx == 0 || ry == 0 {
        return b.binary(BinaryOp::Mul, x, y);
    }
    let dims = DotDims {
        lhs_batch: vec![],
        rhs_batch: vec![],
        lhs_contract: vec![rx - 1],
        rhs_contract: vec![ry.saturating_sub(2)],
    };
    b.op(Op::Dot(dims), &[x, y])
}

pub(super) fn outer(b: &mut Builder, c: &Call) -> Value {
    let out = c.out().shape;
    let (x, y) = (
        b.reshape(c.args[0], &[out[0], 1]),
        b.reshape(c.args[1], &[1, out[1]]),
    );
    b.binary(BinaryOp::Mul, x, y)
}

/// The sum of the `k`-th diagonal of two axes. Integers that are narrow have been widened.
pub(super) fn trace(b: &mut Builder, c: &Call) -> Value {
    let x = b.convert(c.args[0], accumulator(c.out().elem));
    let shape = b.shape_of(x);
    let axis = |name, default| c.attrs.int(name).map_or(default, |a| wrap(a, shape.len()));
    let (rows, columns) = (axis("axis1", 0), axis("axis2", 1));
    let plane = [shape[rows], shape[columns]];
    let mask = diagonal_mask(b, &plane, c.attrs.int("k").unwrap_or(0), CompareOp::Eq);
    // The operand's axes may stand in either order; those of a broadcast ascend.
    let mask = if rows < columns {
        mask
    } else {
        b.transpose(mask, &[1, 0])
    };
    let axes = [rows.min(columns), rows.max(columns)];
    let mask = b.broadcast_in(mask, &shape, &axes);
    let zero = b.like(x, 0.0);
    let kept = b.select(mask, x, zero);
    let total = b.reduce(ReduceOp::Sum, kept, &axes);
    b.convert(total, c.out().elem)
}

/// The lower factor, or with `upper` its transpose. The input is made symmetric first, as JAX does, so that its
/// derivative is.
pub(super) fn cholesky(b: &mut Builder, c: &Call) -> Value {
    let mut x = c.args[0];
    if c.attrs.flag("symmetrize_input") {
        let flipped = flip_last(b, x);
        let total = b.binary(BinaryOp::Add, x, flipped);
        let two = b.like(total, 2.0);
        x = b.binary(BinaryOp::Div, total, two);
    }
    let lower = b.op(Op::Cholesky, &[x]);
    if c.attrs.flag("upper") {
        flip_last(b, lower)
    } else {
        lower
    }
}

/// The last two dimensions changed about.
fn flip_last(b: &mut Builder, x: Value) -> Value {
    let rank = b.ty(x).rank();
    let mut perm: Vec<usize> = (0..rank).collect();
    perm.swap(rank - 2, rank - 1);
    b.transpose(x, &perm)
}

/// `triangular_solve(a, b)`, options as in `jax.lax.linalg`.
pub(super) fn triangular_solve(b: &mut Builder, c: &Call) -> Value {
    let op = Op::TriangularSolve {
        left: c.attrs.flag("left_side"),
        lower: c.attrs.flag("lower"),
        transpose: c.attrs.flag("transpose_a"),
        unit_diagonal: c.attrs.flag("unit_diagonal"),
    };
    let (matrix, rhs) = (c.args[0], c.args[1]);
    let shape = b.ty(rhs).shape.clone();
    if shape.len() == b.ty(matrix).rank() {
        return b.op(op, &[matrix, rhs]);
    }
    let mut wide = shape.clone();
    let side = wide.len() - usize::from(!c.attrs.flag("left_side"));
    wide.insert(side, 1);
    let rhs = b.reshape(rhs, &wide);
    let solved = b.op(op, &[matrix, rhs]);
    b.reshape(solved, &shape)
}

pub(super) fn tril(b: &mut Builder, c: &Call) -> Value {
    triangle(b, c, CompareOp::Ge)
}

pub(super) fn triu(b: &mut Builder, c: &Call) -> Value {
    triangle(b, c, CompareOp::Le)
}
