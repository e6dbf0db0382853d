//! The table: each primitive of the IR in StableHLO, in the order of [`crate::ir::op`].
//!
//! Most primitives are one op. What StableHLO lacks is written out in the files by subject: special functions and
//! Threefry as private functions that are called, `Scan` as a counted `while`.

use super::emit::{Emit, Tensor};
use super::func::Scope;
use super::{control, elementwise, indexing, linalg, mesh, reduce, sort, structural, window};
use crate::ir::func::Inst;
use crate::ir::op::{BinaryOp, Op};
use crate::ir::types::Type;

/// Appends a primitive; its results in order.
pub fn lower<'f, 'c>(
    e: &Emit<'_, 'c>,
    scope: &mut Scope<'f, '_, 'c>,
    inst: &'f Inst,
    args: &[Tensor<'c>],
) -> Vec<Tensor<'c>> {
    let types: Vec<Type> = inst
        .results
        .iter()
        .map(|&v| scope.func.ty(v).clone())
        .collect();
    let one = |t: Tensor<'c>| vec![t];
    match &inst.op {
        Op::Constant(literal) => one(e.constant(literal)),
        Op::Iota { ty, axis } => one(e.iota(ty, *axis)),

        Op::Unary(op) => one(elementwise::unary(e, *op, &args[0])),
        Op::Binary(BinaryOp::Atan2) if scope.is_one(inst.args[1]) => {
            one(elementwise::atan(e, &args[0]))
        }
        Op::Binary(op) => one(elementwise::binary(e, *op, &args[0], &args[1])),
        Op::Compare(op) => one(elementwise::compare(e, *op, &args[0], &args[1])),
        Op::Select => one(e.select(&args[0], &args[1], &args[2])),
        Op::Clamp => one(elementwise::clamp(e, args)),
        Op::Convert(elem) => one(elementwise::convert(e, &args[0], *elem)),
        Op::Bitcast(elem) => one(elementwise::bitcast(e, &args[0], *elem)),
        Op::Threefry => super::special::threefry(e, args),

        Op::Broadcast { shape, dims } => one(structural::broadcast(e, &args[0], shape, dims)),
        Op::Reshape { shape } => one(e.reshape(&args[0], shape)),
        Op::Transpose { perm } => one(structural::transpose(e, &args[0], perm)),
        Op::Slice {
            start,
            limit,
            stride,
        } => one(structural::slice(e, &args[0], start, limit, stride)),
        Op::Pad {
            low,
            high,
            interior,
        } => one(structural::pad(e, args, low, high, interior, &types[0])),
        Op::Concat { axis } => one(structural::concat(e, args, *axis, &types[0])),
        Op::Reverse { axes } => one(structural::reverse(e, &args[0], axes)),
        Op::DynamicSlice { sizes } => one(indexing::dynamic_slice(e, args, sizes)),
        Op::DynamicUpdateSlice => one(indexing::dynamic_update_slice(e, args)),
        Op::Gather(dims) => one(indexing::gather(e, args, dims, &types[0])),
        Op::Scatter { op, dims } => one(indexing::scatter(e, args, *op, dims)),

        Op::Reduce { op, axes } => one(reduce::reduce(e, &args[0], *op, axes, &types[0])),
        Op::ArgReduce { max, axis } => one(reduce::arg_reduce(e, &args[0], *max, *axis, &types[0])),
        Op::Cumulate { op, axis, reverse } => {
            one(window::cumulate(e, &args[0], *op, *axis, *reverse))
        }
        Op::ReduceWindow { op, window } => one(window::reduce(e, &args[0], *op, window, &types[0])),
        Op::WindowGather { max, window } => one(window::gather(e, args, *max, window, &types[0])),
        Op::WindowScatter { max, window } => one(window::scatter(e, args, *max, window)),

        Op::Dot(dims) => one(linalg::dot(e, args, dims, &types[0])),
        Op::Conv(dims) => one(linalg::conv(e, args, dims, &types[0])),
        Op::Cholesky => one(linalg::cholesky(e, &args[0])),
        Op::TriangularSolve {
            left,
            lower,
            transpose,
            unit_diagonal,
        } => one(linalg::triangular_solve(
            e,
            args,
            *left,
            *lower,
            *transpose,
            *unit_diagonal,
        )),

        Op::Sort {
            axis,
            keys,
            descending,
            total,
        } => {
            let order = sort::Order {
                descending: *descending,
                total: *total,
            };
            sort::sort(e, args, *axis, *keys, order)
        }

        Op::Scan {
            length,
            reverse,
            carry,
        } => {
            let form = control::ScanForm {
                length: *length,
                reverse: *reverse,
                carry: *carry,
            };
            control::scan(e, scope, inst, args, &types, form)
        }
        Op::While => control::while_loop(e, scope, inst, args, &types),
        Op::If => control::branch(e, scope, inst, args, &types),
        Op::CustomVjp | Op::Remat => scope.enter(e, &inst.regions[0], args.to_vec()),

        Op::StopGradient => args.to_vec(),
        Op::Barrier => e.op_with(
            "stablehlo.optimization_barrier",
            &args.iter().collect::<Vec<_>>(),
            &[],
            &types,
            Vec::new(),
        ),
        Op::Shard { axes } => one(mesh::constrain(e, &args[0], axes)),

        Op::Host(_) => e.refuse("host data cannot be read inside a device program", &types),
        Op::Effect(..) => e.refuse("an effect cannot happen inside a device program", &types),
    }
}
