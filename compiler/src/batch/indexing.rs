//! Batching of slices and updates at run-time places, of gathers and of scatters. A place of its own for each element
//! makes a slice a gather, and an update a scatter.

use super::rules::{shifted, with_zero};
use super::{Batcher, Lane};
use crate::ir::op::{GatherDims, ScatterDims, ScatterOp};
use crate::ir::{Elem, Literal, Op, Type, Value};

pub fn dynamic_slice(bx: &mut Batcher, sizes: &[usize], args: &[Lane]) -> Lane {
    let (x, starts) = (args[0], &args[1..]);
    if starts.iter().all(|s| !s.is_mapped()) {
        let zero = bx.e.index(0);
        let mut operands = vec![x.value(), zero];
        operands.extend(starts.iter().map(|s| s.value()));
        let sizes = bx.batched_shape(sizes);
        return Lane::Mapped(bx.e.op(Op::DynamicSlice { sizes }, &operands));
    }
    if sizes.is_empty() {
        return x;
    }
    let all: Vec<usize> = (0..sizes.len()).collect();
    let dims = GatherDims {
        offset_dims: all.clone(),
        collapsed_slice_dims: Vec::new(),
        operand_batching_dims: Vec::new(),
        start_indices_batching_dims: Vec::new(),
        start_index_map: all,
        index_vector_dim: 0,
        slice_sizes: sizes.to_vec(),
    };
    let indices = index_vectors(bx, starts);
    gather(bx, &dims, x, Lane::Mapped(indices))
}

pub fn dynamic_update_slice(bx: &mut Batcher, args: &[Lane]) -> Lane {
    let (x, update, starts) = (args[0], args[1], &args[2..]);
    if starts.iter().all(|s| !s.is_mapped()) {
        let zero = bx.e.index(0);
        let mut operands = vec![bx.mapped(x), bx.mapped(update), zero];
        operands.extend(starts.iter().map(|s| s.value()));
        return Lane::Mapped(bx.e.op(Op::DynamicUpdateSlice, &operands));
    }
    let skip = |lane: Lane| usize::from(lane.is_mapped());
    let shape = bx.e.shape(x.value())[skip(x)..].to_vec();
    let sizes = bx.e.shape(update.value())[skip(update)..].to_vec();
    if shape.is_empty() {
        return update;
    }
    let indices = index_vectors(bx, starts);
    let limits: Vec<u64> = shape
        .iter()
        .zip(&sizes)
        .map(|(n, s)| (n - s) as u64)
        .collect();
    let indices = clamped(bx, indices, limits);
    let all: Vec<usize> = (0..shape.len()).collect();
    let dims = ScatterDims {
        update_window_dims: all.clone(),
        inserted_window_dims: Vec::new(),
        input_batching_dims: Vec::new(),
        scatter_indices_batching_dims: Vec::new(),
        scatter_dims_to_operand_dims: all,
        index_vector_dim: 0,
    };
    scatter(
        bx,
        ScatterOp::Set,
        &dims,
        [x, Lane::Mapped(indices), update],
    )
}

/// Scalars, one a dimension → an index vector for each element of the batch.
fn index_vectors(bx: &mut Batcher, starts: &[Lane]) -> Value {
    let columns: Vec<Value> = starts
        .iter()
        .map(|&s| {
            let v = bx.mapped(s);
            bx.e.reshape(v, &[bx.size, 1])
        })
        .collect();
    match columns[..] {
        [one] => one,
        _ => bx.e.op(Op::Concat { axis: 1 }, &columns),
    }
}

/// Index vectors brought inside, as an update clamps them: a scatter would drop them.
fn clamped(bx: &mut Batcher, indices: Value, limits: Vec<u64>) -> Value {
    let ty = bx.e.type_of(indices);
    let low = bx.e.constant(Literal::splat_i64(ty.clone(), 0));
    let high = Literal::dense_bits(Type::new(Elem::I32, [limits.len()]), limits);
    let high = bx.e.constant(high);
    let high = bx.e.broadcast(high, &ty.shape, &[1]);
    bx.e.op(Op::Clamp, &[low, indices, high])
}

pub fn gather(bx: &mut Batcher, dims: &GatherDims, x: Lane, indices: Lane) -> Lane {
    let mut new = dims.clone();
    match (x, indices) {
        (_, Lane::Shared(_)) => {
            // Whole batches are taken, as a first dimension of each slice.
            new.offset_dims = with_zero(&dims.offset_dims);
            new.slice_sizes.insert(0, bx.size);
            shift_operand(&mut new);
        }
        (Lane::Shared(_), Lane::Mapped(_)) => {
            new.offset_dims = shifted(&dims.offset_dims);
            shift_indices(&mut new);
        }
        (Lane::Mapped(_), Lane::Mapped(_)) => {
            new.offset_dims = shifted(&dims.offset_dims);
            new.slice_sizes.insert(0, 1);
            shift_operand(&mut new);
            shift_indices(&mut new);
            new.operand_batching_dims.insert(0, 0);
            new.start_indices_batching_dims.insert(0, 0);
        }
    }
    Lane::Mapped(bx.e.op(Op::Gather(new), &[x.value(), indices.value()]))
}

fn shift_operand(dims: &mut GatherDims) {
    dims.collapsed_slice_dims = shifted(&dims.collapsed_slice_dims);
    dims.operand_batching_dims = shifted(&dims.operand_batching_dims);
    dims.start_index_map = shifted(&dims.start_index_map);
}

fn shift_indices(dims: &mut GatherDims) {
    dims.start_indices_batching_dims = shifted(&dims.start_indices_batching_dims);
    dims.index_vector_dim += 1;
}

/// `args`: the array, the indices, the updates.
pub fn scatter(bx: &mut Batcher, op: ScatterOp, dims: &ScatterDims, args: [Lane; 3]) -> Lane {
    let [x, indices, updates] = args;
    let mut new = ScatterDims {
        update_window_dims: shifted(&dims.update_window_dims),
        inserted_window_dims: shifted(&dims.inserted_window_dims),
        input_batching_dims: shifted(&dims.input_batching_dims),
        scatter_indices_batching_dims: dims.scatter_indices_batching_dims.clone(),
        scatter_dims_to_operand_dims: shifted(&dims.scatter_dims_to_operand_dims),
        index_vector_dim: dims.index_vector_dim,
    };
    if indices.is_mapped() {
        new.scatter_indices_batching_dims = shifted(&dims.scatter_indices_batching_dims);
        new.index_vector_dim += 1;
        new.input_batching_dims.insert(0, 0);
        new.scatter_indices_batching_dims.insert(0, 0);
    } else {
        new.update_window_dims.insert(0, 0);
    }
    let operands = [bx.mapped(x), indices.value(), bx.mapped(updates)];
    Lane::Mapped(bx.e.op(Op::Scatter { op, dims: new }, &operands))
}
