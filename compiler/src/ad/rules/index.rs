//! Forward rule of sorting, and the gather it needs.

use crate::ad::cx::{Cx, Dual};
use crate::ad::tape::Operand;
use crate::ir::op::GatherDims;
use crate::ir::{Elem, Op, Type, Value};

/// Positions are sorted along; tangents are gathered from where their element came.
pub fn sort(cx: &mut Cx, op: &Op, axis: usize, args: &[Dual]) -> Vec<Dual> {
    let shape = cx.e.shape(args[0].primal).to_vec();
    let positions = cx.e.iota(Type::new(Elem::I32, shape.clone()), axis);
    let mut operands: Vec<Value> = args.iter().map(|a| a.primal).collect();
    operands.push(positions);
    let mut results = cx.e.push(op.clone(), operands, Vec::new());
    let Some(order) = results.pop() else {
        return Vec::new();
    };
    // Without elements there is nothing to gather.
    if shape.contains(&0) {
        let duals = results.into_iter().zip(args);
        return duals.map(|(y, a)| Dual::new(y, a.tangent)).collect();
    }
    let dims = along_axis(shape.len(), axis);
    let mut column = shape;
    column.push(1);
    let indices = cx.e.reshape(order, &column);
    results
        .into_iter()
        .zip(args)
        .map(|(y, a)| {
            let t = a.tangent.map(|t| {
                cx.lin(
                    Op::Gather(dims.clone()),
                    vec![Operand::Lin(t), Operand::Coef(indices)],
                )
            });
            Dual::new(y, t)
        })
        .collect()
}

/// Dimension numbers that take, at each place, the element at an index along one axis: operand `S`, indices `S × 1`,
/// result `S` of the same rank.
fn along_axis(rank: usize, axis: usize) -> GatherDims {
    let others: Vec<usize> = (0..rank).filter(|&d| d != axis).collect();
    GatherDims {
        offset_dims: Vec::new(),
        collapsed_slice_dims: vec![axis],
        operand_batching_dims: others.clone(),
        start_indices_batching_dims: others,
        start_index_map: vec![axis],
        index_vector_dim: rank,
        slice_sizes: vec![1; rank],
    }
}
