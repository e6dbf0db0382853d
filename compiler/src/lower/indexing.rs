//! Primitives whose places are known only at run time.

use super::emit::{Emit, Tensor};
use super::ffi;
use super::session::to_i64;
use crate::ir::op::{GatherDims, ReduceOp, ScatterDims, ScatterOp};
use crate::ir::types::Type;

/// Operands: the array, then a scalar start for each dimension.
pub fn dynamic_slice<'c>(e: &Emit<'_, 'c>, args: &[Tensor<'c>], sizes: &[usize]) -> Tensor<'c> {
    e.op(
        "stablehlo.dynamic_slice",
        &args.iter().collect::<Vec<_>>(),
        &[("slice_sizes", e.session.i64s(sizes))],
        &args[0].ty.with_shape(sizes),
    )
}

/// Operands: the array, the update, then a scalar start for each dimension.
pub fn dynamic_update_slice<'c>(e: &Emit<'_, 'c>, args: &[Tensor<'c>]) -> Tensor<'c> {
    e.op(
        "stablehlo.dynamic_update_slice",
        &args.iter().collect::<Vec<_>>(),
        &[],
        &args[0].ty,
    )
}

pub fn gather<'c>(
    e: &Emit<'_, 'c>,
    args: &[Tensor<'c>],
    dims: &GatherDims,
    ty: &Type,
) -> Tensor<'c> {
    let numbers = ffi::gather_dimensions(
        e.session.context,
        [
            &to_i64(&dims.offset_dims),
            &to_i64(&dims.collapsed_slice_dims),
            &to_i64(&dims.operand_batching_dims),
            &to_i64(&dims.start_indices_batching_dims),
            &to_i64(&dims.start_index_map),
        ],
        dims.index_vector_dim as i64,
    );
    e.op(
        "stablehlo.gather",
        &[&args[0], &args[1]],
        &[
            ("dimension_numbers", numbers),
            ("slice_sizes", e.session.i64s(&dims.slice_sizes)),
        ],
        ty,
    )
}

/// Operands: the array, the indices, the updates.
pub fn scatter<'c>(
    e: &Emit<'_, 'c>,
    args: &[Tensor<'c>],
    op: ScatterOp,
    dims: &ScatterDims,
) -> Tensor<'c> {
    let numbers = ffi::scatter_dimensions(
        e.session.context,
        [
            &to_i64(&dims.update_window_dims),
            &to_i64(&dims.inserted_window_dims),
            &to_i64(&dims.input_batching_dims),
            &to_i64(&dims.scatter_indices_batching_dims),
            &to_i64(&dims.scatter_dims_to_operand_dims),
        ],
        dims.index_vector_dim as i64,
    );
    let ty = &args[0].ty;
    let scalar = Type::scalar(ty.elem);
    let body = e.region(&[scalar.clone(), scalar], |e, pair| match op {
        ScatterOp::Set => vec![pair[1].clone()],
        ScatterOp::Add => vec![e.combine(ReduceOp::Sum, &pair[0], &pair[1])],
    });
    e.op_with(
        "stablehlo.scatter",
        &[&args[0], &args[1], &args[2]],
        &[("scatter_dimension_numbers", numbers)],
        std::slice::from_ref(ty),
        vec![body],
    )
    .remove(0)
}
