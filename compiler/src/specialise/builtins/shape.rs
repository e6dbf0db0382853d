//! Builtins that move elements about.

use super::Call;
use super::num::Num;
use crate::ir::{Builder, Literal, Op, Value};

/// The result type has the shape: `reshape`, `flatten`, `expand_dims`, `squeeze`.
pub(super) fn reshape(b: &mut Builder, c: &Call) -> Value {
    b.reshape(c.args[0], &c.out().shape)
}

pub(super) fn broadcast_to(b: &mut Builder, c: &Call) -> Value {
    b.broadcast_to(c.args[0], &c.out().shape)
}

pub(super) fn filled(b: &mut Builder, c: &Call, value: f64) -> Value {
    b.op(Op::Constant(Literal::splat_f64(c.out(), value)), &[])
}

/// All operands along a new axis.
pub(super) fn stack(b: &mut Builder, c: &Call, axis: usize) -> Value {
    let parts: Vec<Value> = c
        .args
        .iter()
        .map(|&v| {
            let mut shape = b.shape_of(v);
            shape.insert(axis, 1);
            b.reshape(v, &shape)
        })
        .collect();
    b.concat(&parts, axis)
}
