//! Run-time starts, gathers along an axis, and functional updates.

use super::Call;
use super::attrs::Index;
use super::index::{self, Plan};
use crate::ir::num::Num;
use crate::ir::op::{GatherDims, ScatterDims, ScatterOp};
use crate::ir::{BinaryOp, Builder, Elem, Op, Value};
use crate::specialise::error::Result;

/// `dynamic_slice(x, starts, sizes)`, clamped inside.
pub(super) fn dynamic_slice(b: &mut Builder, c: &Call) -> Value {
    let sizes = c.out().shape;
    let operands = with_starts(b, &c.args[..1], &c.args[1..]);
    b.op(Op::DynamicSlice { sizes }, &operands)
}

/// `dynamic_update_slice(x, update, starts)`, clamped inside.
pub(super) fn dynamic_update_slice(b: &mut Builder, c: &Call) -> Value {
    let operands = with_starts(b, &c.args[..2], &c.args[2..]);
    b.op(Op::DynamicUpdateSlice, &operands)
}

/// The arrays, then one i32 start a dimension; the words of a key are taken whole.
fn with_starts(b: &mut Builder, arrays: &[Value], starts: &[Value]) -> Vec<Value> {
    let count = arrays.len() + b.ty(arrays[0]).rank();
    let mut out = arrays.to_vec();
    let starts = super::shape::scalars(b, starts);
    out.extend(starts.into_iter().map(|s| index::position(b, s)));
    while out.len() < count {
        out.push(b.int(Elem::I32, 0));
    }
    out
}

/// `take(x, idx, axis=0)`: whole slices of an axis, by position.
pub(super) fn take(b: &mut Builder, c: &Call) -> Value {
    let (x, idx) = (c.args[0], c.args[1]);
    let rank = b.ty(x).rank();
    let axis = c.attrs.axis(rank - usize::from(c.is_key()), 0);
    index::along_axis(b, x, idx, axis)
}

/// `take_along_axis(x, idx, axis)`: the other dimensions line up.
pub(super) fn take_along_axis(b: &mut Builder, c: &Call) -> Value {
    let (x, idx) = (c.args[0], index::position(b, c.args[1]));
    let rank = b.ty(x).rank();
    let axis = c.attrs.axis(rank, -1);
    let (xs, is) = (b.shape_of(x), b.shape_of(idx));
    let common = |d: usize, own: usize| match xs[d] {
        _ if d == axis => own,
        1 => is[d],
        n => n,
    };
    let x_shape: Vec<usize> = (0..rank).map(|d| common(d, xs[d])).collect();
    let i_shape: Vec<usize> = (0..rank).map(|d| common(d, is[d])).collect();
    let x = b.broadcast_to(x, &x_shape);
    let idx = b.broadcast_to(idx, &i_shape);
    let column: Vec<usize> = i_shape.iter().copied().chain([1]).collect();
    if b.ty(x).numel() == 0 {
        // Of nothing there is nothing to take.
        return b.full(b.elem_of(x), &i_shape, 0.0);
    }
    let starts = b.reshape(idx, &column);
    let others: Vec<usize> = (0..rank).filter(|&d| d != axis).collect();
    let dims = GatherDims {
        offset_dims: vec![],
        collapsed_slice_dims: vec![axis],
        operand_batching_dims: others.clone(),
        start_indices_batching_dims: others,
        start_index_map: vec![axis],
        index_vector_dim: rank,
        slice_sizes: vec![1; rank],
    };
    b.op(Op::Gather(dims), &[x, starts])
}

/// `set(x, idx, v)` and `add_at(x, idx, v)`: what `x[idx]` would read is replaced by `v`, or `v` is added to it.
/// Positions out of range are dropped; of equal ones the last sets, all add.
pub(super) fn update(b: &mut Builder, c: &Call, op: ScatterOp) -> Result<Value> {
    let (x, v) = (c.args[0], c.args[c.args.len() - 1]);
    if b.ty(x).numel() == 0 {
        return Ok(x);
    }
    let positions = &c.args[1..c.args.len() - 1];
    let items: Vec<Index> = (1..=positions.len())
        .map(|i| c.literal_int(i).map_or(Index::Tensor, Index::At))
        .collect();
    if let ([Index::Tensor], [rows]) = (items.as_slice(), positions) {
        return Ok(update_rows(b, x, *rows, v, op));
    }
    // In general: the flat positions that the index reads say where to write. Around them stands −1, which is nowhere:
    // that is what positions out of range read.
    let shape = b.shape_of(x);
    let total: usize = shape.iter().product();
    let position = b.iota(Elem::I32, &[total], 0);
    let position = b.reshape(position, &shape);
    let mut margins = vec![0; shape.len()];
    let mut tensors = Vec::new();
    for (axis, item) in items.iter().enumerate() {
        if *item == Index::Tensor {
            margins[axis] = 1;
            tensors.push(within_margins(b, positions[axis], shape[axis]));
        }
    }
    let nowhere = b.int(Elem::I32, -1);
    let margins = Op::Pad {
        low: margins.clone(),
        interior: vec![0; shape.len()],
        high: margins,
    };
    let position = b.op(margins, &[position, nowhere]);
    let plan = Plan::of(b.shape_of(position), &items, &tensors, c)?;
    let position = index::apply(b, position, plan);
    let count = b.ty(position).numel();
    let wanted = b.shape_of(position);
    let v = b.broadcast_to(v, &wanted);
    let (flat, flat_v) = (b.reshape(x, &[total]), b.reshape(v, &[count]));
    let rows = b.reshape(position, &[count]);
    let updated = update_rows(b, flat, rows, flat_v, op);
    Ok(b.reshape(updated, &shape))
}

/// Positions of an axis as those of the axis with one element more on each side, where all that are out of range go.
fn within_margins(b: &mut Builder, x: Value, size: usize) -> Value {
    let x = index::position(b, x);
    let (low, high) = (b.like(x, -1.0), b.like(x, size as f64));
    let x = b.op(Op::Clamp, &[low, x, high]);
    let one = b.like(x, 1.0);
    b.binary(BinaryOp::Add, x, one)
}

/// Scatter of whole rows of axis 0.
fn update_rows(b: &mut Builder, x: Value, rows: Value, v: Value, op: ScatterOp) -> Value {
    let rows = index::position(b, rows);
    let batch = b.shape_of(rows);
    let shape = b.shape_of(x);
    let wanted: Vec<usize> = batch.iter().chain(&shape[1..]).copied().collect();
    let v = b.broadcast_to(v, &wanted);
    let column: Vec<usize> = batch.iter().copied().chain([1]).collect();
    let starts = b.reshape(rows, &column);
    let dims = ScatterDims {
        update_window_dims: (batch.len()..wanted.len()).collect(),
        inserted_window_dims: vec![0],
        input_batching_dims: vec![],
        scatter_indices_batching_dims: vec![],
        scatter_dims_to_operand_dims: vec![0],
        index_vector_dim: batch.len(),
    };
    b.op(Op::Scatter { op, dims }, &[x, starts, v])
}

/// `bitcast(x, T)`.
pub(super) fn bitcast(b: &mut Builder, c: &Call) -> Value {
    let (x, out) = (c.args[0], c.out());
    if b.elem_of(x) == out.elem {
        x
    } else {
        b.op(Op::Bitcast(out.elem), &[x])
    }
}
