//! Products of matrices, factors and solves.

use super::Call;
use super::num::Num;
use super::shape::{diagonal_mask, triangle};
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

/// Over the first two dimensions.
pub(super) fn trace(b: &mut Builder, c: &Call) -> Value {
    let x = b.convert(c.args[0], c.out().elem);
    let shape = b.shape_of(x);
    let mask = diagonal_mask(b, &shape[..2], c.attrs.int("k").unwrap_or(0), CompareOp::Eq);
    let mask = b.broadcast_in(mask, &shape, &[0, 1]);
    let zero = b.like(x, 0.0);
    let kept = b.select(mask, x, zero);
    b.reduce(ReduceOp::Sum, kept, &[0, 1])
}

/// The lower factor; the input is made symmetric first, as JAX does, so that its derivative is.
pub(super) fn cholesky(b: &mut Builder, c: &Call) -> Value {
    let x = c.args[0];
    let rank = b.ty(x).rank();
    let mut perm: Vec<usize> = (0..rank).collect();
    perm.swap(rank - 2, rank - 1);
    let flipped = b.transpose(x, &perm);
    let total = b.binary(BinaryOp::Add, x, flipped);
    let two = b.like(total, 2.0);
    let symmetric = b.binary(BinaryOp::Div, total, two);
    b.op(Op::Cholesky, &[symmetric])
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
