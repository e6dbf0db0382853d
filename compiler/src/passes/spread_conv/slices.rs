//! What the operations of a convolution are made of.

use crate::ir::func::Value;
use crate::ir::op::Op;
use crate::passes::copy::Copier;

/// The products of pairs.
pub fn times(x: &[usize], y: &[usize]) -> Vec<usize> {
    x.iter().zip(y).map(|(x, y)| x * y).collect()
}

/// So many elements from `starts` on in steps, of all dimensions but the first and the last.
pub fn inner_slice(
    c: &mut Copier,
    x: Value,
    starts: &[usize],
    counts: &[usize],
    steps: &[usize],
) -> Value {
    let mut limit = c.b.ty(x).shape.to_vec();
    let (mut start, mut stride) = (vec![0; limit.len()], vec![1; limit.len()]);
    for i in 0..starts.len() {
        start[i + 1] = starts[i];
        stride[i + 1] = steps[i];
        limit[i + 1] = starts[i] + (counts[i] - 1) * steps[i] + 1;
    }
    let slice = Op::Slice {
        start,
        limit,
        stride,
    };
    c.b.op(slice, &[x])
}

/// What has one element last, so often.
pub fn for_each_feature(c: &mut Copier, x: Value, features: usize) -> Value {
    let mut shape = c.b.ty(x).shape.to_vec();
    if shape.pop() == Some(features) {
        return x;
    }
    let rank = shape.len();
    let x = c.b.op(
        Op::Reshape {
            shape: shape.clone(),
        },
        &[x],
    );
    shape.push(features);
    broadcast(c, x, shape, (0..rank).collect())
}

/// The `i`-th row of a matrix.
pub fn row(c: &mut Copier, matrix: Value, i: usize) -> Value {
    let columns = c.b.ty(matrix).shape[1];
    let slice = Op::Slice {
        start: vec![i, 0],
        limit: vec![i + 1, columns],
        stride: vec![1, 1],
    };
    let row = c.b.op(slice, &[matrix]);
    let shape = vec![columns];
    c.b.op(Op::Reshape { shape }, &[row])
}

pub fn broadcast(c: &mut Copier, x: Value, shape: Vec<usize>, dims: Vec<usize>) -> Value {
    c.b.op(Op::Broadcast { shape, dims }, &[x])
}
