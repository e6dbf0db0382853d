//! What becomes of each axis of an operand: the table by which rows are followed through a program.

use crate::ir::op::{GatherDims, Op, ReduceOp};
use crate::ir::types::{Elem, Type};

/// What an instruction does with an axis of one of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Entry `i` of the operand is only read for entry `i` along this axis of every result.
    Kept(usize),
    /// The results are sums over it.
    Summed,
    /// Entries are read for others.
    Mixed,
}

/// The fate of `axis` of operand `operand`, where the instruction's operands and first result have these types.
pub fn fate(op: &Op, types: &[&Type], result: &Type, operand: usize, axis: usize) -> Fate {
    let kept = |to: Option<usize>| to.map_or(Fate::Mixed, Fate::Kept);
    match op {
        Op::Unary(_)
        | Op::Binary(_)
        | Op::Compare(_)
        | Op::Select
        | Op::Clamp
        | Op::Convert(_)
        | Op::Bitcast(_)
        | Op::Threefry => Fate::Kept(axis),
        Op::Broadcast { dims, .. } => {
            let to = dims[axis];
            kept((result.shape[to] == types[0].shape[axis]).then_some(to))
        }
        Op::Reshape { .. } => kept(same_rows(&types[0].shape, &result.shape, axis)),
        Op::Transpose { perm } => kept(perm.iter().position(|&p| p == axis)),
        Op::Slice { .. } | Op::Pad { .. } | Op::DynamicSlice { .. } => {
            let untouched = operand == 0 && result.shape[axis] == types[0].shape[axis];
            let moved = match op {
                Op::Pad { low, interior, .. } => low[axis] != 0 || interior[axis] != 0,
                _ => false,
            };
            kept((untouched && !moved).then_some(axis))
        }
        Op::Concat { axis: joined } => kept((axis != *joined).then_some(axis)),
        Op::Reverse { axes } => kept((!axes.contains(&axis)).then_some(axis)),
        Op::Gather(dims) => kept(gathered(dims, result.rank(), operand, axis)),
        Op::Reduce {
            op: ReduceOp::Sum,
            axes,
        } if axes.contains(&axis) => sum_of(result.elem),
        Op::Reduce { axes, .. } => kept(without(axes, axis)),
        Op::ArgReduce { axis: searched, .. } => kept(without(&[*searched], axis)),
        Op::Cumulate { axis: along, .. } | Op::Sort { axis: along, .. } => {
            kept((axis != *along).then_some(axis))
        }
        Op::Dot(dims) => {
            let (batch, contract) = match operand {
                0 => (&dims.lhs_batch, &dims.lhs_contract),
                _ => (&dims.rhs_batch, &dims.rhs_contract),
            };
            if contract.contains(&axis) {
                return sum_of(result.elem);
            }
            if let Some(at) = batch.iter().position(|&b| b == axis) {
                return Fate::Kept(at);
            }
            let before = |d: &usize| !batch.contains(d) && !contract.contains(d);
            let free = (0..axis).filter(before).count();
            let left = types[0].rank() - batch.len() - contract.len();
            Fate::Kept(batch.len() + free + if operand == 0 { 0 } else { left })
        }
        _ => Fate::Mixed,
    }
}

/// Sums of narrow floats are rounded too often when they are taken block by block.
fn sum_of(elem: Elem) -> Fate {
    match elem {
        Elem::BF16 | Elem::F16 => Fate::Mixed,
        _ => Fate::Summed,
    }
}

/// Where `axis` stands when others are dropped; none if it is one of them.
fn without(dropped: &[usize], axis: usize) -> Option<usize> {
    let before = dropped.iter().filter(|&&d| d < axis).count();
    (!dropped.contains(&axis)).then_some(axis - before)
}

/// The axis of the new shape that counts the same rows as `axis` of the old one.
fn same_rows(old: &[usize], new: &[usize], axis: usize) -> Option<usize> {
    let count: usize = old[..axis].iter().product();
    let starts_alike = |&to: &usize| new[..to].iter().product::<usize>() == count;
    (0..new.len())
        .filter(starts_alike)
        .find(|&to| new[to] == old[axis])
}

/// Rows of the indices are rows of the result.
fn gathered(dims: &GatherDims, rank: usize, operand: usize, axis: usize) -> Option<usize> {
    let plain = dims.start_indices_batching_dims.is_empty();
    if operand != 1 || axis == dims.index_vector_dim || !plain {
        return None;
    }
    let place = if axis < dims.index_vector_dim {
        axis
    } else {
        axis - 1
    };
    (0..rank)
        .filter(|d| !dims.offset_dims.contains(d))
        .nth(place)
}

/// The same instruction where `axis` of its results has `rows` entries.
pub fn resized(op: &Op, axis: Option<usize>, rows: usize) -> Op {
    let Some(axis) = axis else {
        return op.clone();
    };
    let mut op = op.clone();
    match &mut op {
        Op::Constant(literal) => {
            let mut shape = literal.ty().shape.clone();
            shape[axis] = rows;
            *literal = literal.with_shape(shape);
        }
        Op::Iota { ty, .. } => ty.shape[axis] = rows,
        Op::Broadcast { shape, .. } | Op::Reshape { shape } | Op::DynamicSlice { sizes: shape } => {
            shape[axis] = rows;
        }
        Op::Slice { limit, .. } => limit[axis] = rows,
        _ => {}
    }
    op
}

/// Whether rows along `axis` of the result may come of nothing: they are all alike, or do not know their number.
pub fn starts_rows(op: &Op, axis: usize) -> bool {
    match op {
        Op::Constant(literal) => literal.splat().is_some(),
        Op::Iota { axis: counted, .. } => *counted != axis,
        Op::Broadcast { .. } => true,
        _ => false,
    }
}
