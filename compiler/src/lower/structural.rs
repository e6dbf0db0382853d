//! Primitives that place elements anew by static attributes: one StableHLO op each.

use super::emit::{Emit, Tensor};
use crate::ir::types::Type;

pub fn broadcast<'c>(
    e: &Emit<'_, 'c>,
    x: &Tensor<'c>,
    shape: &[usize],
    dims: &[usize],
) -> Tensor<'c> {
    e.op(
        "stablehlo.broadcast_in_dim",
        &[x],
        &[("broadcast_dimensions", e.session.i64s(dims))],
        &x.ty.with_shape(shape),
    )
}

pub fn transpose<'c>(e: &Emit<'_, 'c>, x: &Tensor<'c>, perm: &[usize]) -> Tensor<'c> {
    let shape: Vec<usize> = perm.iter().map(|&p| x.ty.shape[p]).collect();
    e.op(
        "stablehlo.transpose",
        &[x],
        &[("permutation", e.session.i64s(perm))],
        &x.ty.with_shape(shape),
    )
}

pub fn slice<'c>(
    e: &Emit<'_, 'c>,
    x: &Tensor<'c>,
    start: &[usize],
    limit: &[usize],
    stride: &[usize],
) -> Tensor<'c> {
    let shape: Vec<usize> = (0..start.len())
        .map(|i| (limit[i] - start[i]).div_ceil(stride[i]))
        .collect();
    e.op(
        "stablehlo.slice",
        &[x],
        &[
            ("start_indices", e.session.i64s(start)),
            ("limit_indices", e.session.i64s(limit)),
            ("strides", e.session.i64s(stride)),
        ],
        &x.ty.with_shape(shape),
    )
}

/// Operands: the array and the scalar that fills.
pub fn pad<'c>(
    e: &Emit<'_, 'c>,
    args: &[Tensor<'c>],
    low: &[i64],
    high: &[i64],
    interior: &[usize],
    ty: &Type,
) -> Tensor<'c> {
    e.op(
        "stablehlo.pad",
        &[&args[0], &args[1]],
        &[
            ("edge_padding_low", e.session.signed_i64s(low)),
            ("edge_padding_high", e.session.signed_i64s(high)),
            ("interior_padding", e.session.i64s(interior)),
        ],
        ty,
    )
}

pub fn concat<'c>(e: &Emit<'_, 'c>, args: &[Tensor<'c>], axis: usize, ty: &Type) -> Tensor<'c> {
    e.op(
        "stablehlo.concatenate",
        &args.iter().collect::<Vec<_>>(),
        &[("dimension", e.session.i64(axis))],
        ty,
    )
}

pub fn reverse<'c>(e: &Emit<'_, 'c>, x: &Tensor<'c>, axes: &[usize]) -> Tensor<'c> {
    e.op(
        "stablehlo.reverse",
        &[x],
        &[("dimensions", e.session.i64s(axes))],
        &x.ty,
    )
}
