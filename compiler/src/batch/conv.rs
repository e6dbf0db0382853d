//! Batching of convolutions: the batch goes into a dimension that a convolution maps over already. The input's goes
//! into its batch dimension, the kernel's into its output features, that of both into groups.

use super::{Batcher, Lane};
use crate::ir::op::ConvDims;
use crate::ir::{Op, Value};

pub fn conv(bx: &mut Batcher, dims: &ConvDims, input: Lane, kernel: Lane) -> Lane {
    if bx.size == 0 {
        return empty(bx, dims, input, kernel);
    }
    match (input, kernel) {
        (Lane::Mapped(x), Lane::Mapped(w)) => both(bx, dims, x, w),
        (Lane::Mapped(x), Lane::Shared(w)) => {
            let x = merge(bx, x, dims.input_batch, dims.batch_groups);
            let y = bx.e.op(Op::Conv(dims.clone()), &[x, w]);
            split(bx, y, dims.output_batch, 1)
        }
        (_, kernel) => {
            let groups = dims.feature_groups * dims.batch_groups;
            let w = merge(bx, kernel.value(), dims.kernel_output, groups);
            let y = bx.e.op(Op::Conv(dims.clone()), &[input.value(), w]);
            split(bx, y, dims.output_feature, groups)
        }
    }
}

fn both(bx: &mut Batcher, dims: &ConvDims, x: Value, w: Value) -> Lane {
    let mut dims = dims.clone();
    // Groups of features and of the batch do not go together.
    let place = if dims.batch_groups > 1 {
        dims.batch_groups *= bx.size;
        dims.input_batch
    } else {
        dims.feature_groups *= bx.size;
        dims.input_feature
    };
    let x = merge(bx, x, place, 1);
    let w = merge(bx, w, dims.kernel_output, 1);
    let feature = dims.output_feature;
    let y = bx.e.op(Op::Conv(dims), &[x, w]);
    split(bx, y, feature, 1)
}

/// Merges the batch axis into dimension `place` (counted without it), inside each of that dimension's groups.
fn merge(bx: &mut Batcher, x: Value, place: usize, groups: usize) -> Value {
    let mut shape = bx.e.shape(x)[1..].to_vec();
    let size = shape[place];
    let mut grouped = bx.e.shape(x).to_vec();
    grouped[place + 1] = size / groups;
    grouped.insert(place + 1, groups);
    let x = bx.e.reshape(x, &grouped);
    let x = bx.e.move_axis(x, 0, place + 1);
    shape[place] = size * bx.size;
    bx.e.reshape(x, &shape)
}

/// The inverse, on the result.
fn split(bx: &mut Batcher, y: Value, place: usize, groups: usize) -> Lane {
    let shape = bx.e.shape(y).to_vec();
    let size = shape[place] / bx.size;
    let mut grouped = shape.clone();
    grouped[place] = size / groups;
    grouped.insert(place, bx.size);
    grouped.insert(place, groups);
    let y = bx.e.reshape(y, &grouped);
    let y = bx.e.move_axis(y, place + 1, 0);
    let mut merged = bx.batched_shape(&shape);
    merged[place + 1] = size;
    Lane::Mapped(bx.e.reshape(y, &merged))
}

/// The result for no element at all; its sizes cannot be read off a merged dimension.
fn empty(bx: &mut Batcher, dims: &ConvDims, input: Lane, kernel: Lane) -> Lane {
    let single = |lane: Lane| {
        let ty = bx.e.ty(lane.value());
        ty.with_shape(&ty.shape[usize::from(lane.is_mapped())..])
    };
    let types = [single(input), single(kernel)];
    let args: Vec<Value> = types.map(|ty| bx.e.fresh(ty)).to_vec();
    let result = bx.e.detached(&Op::Conv(dims.clone()), &args)[0];
    let ty = bx.e.type_of(result);
    let shape = bx.batched_shape(&ty.shape);
    Lane::Mapped(bx.e.zeros(&ty.with_shape(shape)))
}
