//! Diagonals, triangles and what is made of them.

use super::Call;
use crate::ir::num::Num;
use crate::ir::{BinaryOp, Builder, CompareOp, Elem, Op, Value};

/// Rows and columns of the last two dimensions, compared: `row + k  op  column`.
pub(super) fn diagonal_mask(b: &mut Builder, shape: &[usize], k: i64, op: CompareOp) -> Value {
    let rank = shape.len();
    let row = b.iota(Elem::I32, shape, rank - 2);
    let column = b.iota(Elem::I32, shape, rank - 1);
    let offset = b.like(row, k as f64);
    let row = if k == 0 {
        row
    } else {
        b.binary(BinaryOp::Add, row, offset)
    };
    b.compare(op, row, column)
}

/// `tril`, `triu`: the part below (`Ge`) or above (`Le`) the k-th diagonal.
pub(super) fn triangle(b: &mut Builder, c: &Call, op: CompareOp) -> Value {
    let x = c.args[0];
    let shape = b.shape_of(x);
    let mask = diagonal_mask(b, &shape, c.attrs.int("k").unwrap_or(0), op);
    let zero = b.like(x, 0.0);
    b.select(mask, x, zero)
}

pub(super) fn eye(b: &mut Builder, c: &Call) -> Value {
    let out = c.out();
    let mask = diagonal_mask(b, &out.shape, c.attrs.int("k").unwrap_or(0), CompareOp::Eq);
    b.convert(mask, out.elem)
}

/// `diag(x)`: the diagonal of a matrix, or the matrix of a diagonal.
pub(super) fn diag(b: &mut Builder, c: &Call) -> Value {
    let x = c.args[0];
    let k = c.attrs.int("k").unwrap_or(0);
    let out = c.out();
    if b.ty(x).rank() == 1 {
        let n = b.ty(x).numel();
        let (lead, side) = (usize::try_from(k).unwrap_or(0), out.shape[0]);
        let padded = b.full(out.elem, &[], 0.0);
        let low = vec![lead as i64];
        let high = vec![(side - n - lead) as i64];
        let row = b.op(
            Op::Pad {
                low,
                high,
                interior: vec![0],
            },
            &[x, padded],
        );
        let wide = b.broadcast_in(row, &out.shape, &[1]);
        let mask = diagonal_mask(b, &out.shape, k, CompareOp::Eq);
        let zero = b.like(wide, 0.0);
        return b.select(mask, wide, zero);
    }
    diagonal(b, x, k, out.shape[0])
}

/// The `n` elements of the k-th diagonal of a matrix: a flat stride.
pub(super) fn diagonal(b: &mut Builder, x: Value, k: i64, n: usize) -> Value {
    let shape = b.shape_of(x);
    let columns = shape[1];
    let flat = b.reshape(x, &[shape[0] * columns]);
    if n == 0 {
        return b.op(
            Op::Slice {
                start: vec![0],
                limit: vec![0],
                stride: vec![1],
            },
            &[flat],
        );
    }
    let first = if k >= 0 {
        k as usize
    } else {
        k.unsigned_abs() as usize * columns
    };
    let last = first + (n - 1) * (columns + 1);
    b.op(
        Op::Slice {
            start: vec![first],
            limit: vec![last + 1],
            stride: vec![columns + 1],
        },
        &[flat],
    )
}
