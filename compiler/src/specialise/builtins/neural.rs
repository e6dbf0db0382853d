//! Convolution, pooling, dropout.

use super::Call;
use super::random::bernoulli_mask;
use super::reduce::accumulator;
use crate::ir::num::Num;
use crate::ir::op::{ConvDims, Window};
use crate::ir::{BinaryOp, Builder, CompareOp, Op, ReduceOp, Value};

/// Low and high padding of each spatial dimension, as the checker worked it out from `padding=`.
fn padding(c: &Call) -> Vec<(i64, i64)> {
    let flat = c.attrs.ints("padding").unwrap_or_default();
    flat.chunks_exact(2).map(|p| (p[0], p[1])).collect()
}

/// Positive sizes, one a spatial dimension.
fn per_dimension(c: &Call, name: &str, n: usize, default: usize) -> Vec<usize> {
    let given = c.attrs.ints(name).unwrap_or_default();
    let sizes: Vec<usize> = given
        .into_iter()
        .map(|v| usize::try_from(v).unwrap_or(0))
        .collect();
    match sizes.len() {
        0 => vec![default; n],
        1 => vec![sizes[0]; n],
        _ => sizes,
    }
}

/// `conv(x, w)`: NHWC by HWIO, in 1 to 3 spatial dimensions.
pub(super) fn conv(b: &mut Builder, c: &Call) -> Value {
    let (x, w) = (c.args[0], c.args[1]);
    let n = b.ty(x).rank() - 2;
    let (stride, dilation) = (
        per_dimension(c, "stride", n, 1),
        per_dimension(c, "dilation", n, 1),
    );
    let spatial: Vec<usize> = (1..=n).collect();
    let dims = ConvDims {
        padding: padding(c),
        stride,
        lhs_dilation: vec![1; n],
        rhs_dilation: dilation,
        reverse: vec![false; n],
        input_batch: 0,
        input_feature: n + 1,
        input_spatial: spatial.clone(),
        kernel_input: n,
        kernel_output: n + 1,
        kernel_spatial: (0..n).collect(),
        output_batch: 0,
        output_feature: n + 1,
        output_spatial: spatial,
        feature_groups: usize::try_from(c.attrs.int("groups").unwrap_or(1)).unwrap_or(1),
        batch_groups: 1,
    };
    b.op(Op::Conv(dims), &[x, w])
}

/// The window over the spatial dimensions of NHWC.
fn window(b: &Builder, c: &Call, x: Value) -> Window {
    let n = b.ty(x).rank() - 2;
    let size = per_dimension(c, "window", n, 1);
    let stride = per_dimension(c, "stride", n, 1);
    let pads = padding(c);
    let around = |inner: Vec<usize>| {
        std::iter::once(1)
            .chain(inner)
            .chain([1])
            .collect::<Vec<_>>()
    };
    Window {
        size: around(size),
        stride: around(stride),
        padding: std::iter::once((0, 0))
            .chain(pads)
            .chain([(0, 0)])
            .collect(),
        base_dilation: vec![1; n + 2],
        window_dilation: vec![1; n + 2],
    }
}

pub(super) fn max_pool(b: &mut Builder, c: &Call) -> Value {
    let x = c.args[0];
    let window = window(b, c, x);
    b.op(
        Op::ReduceWindow {
            op: ReduceOp::Max,
            window,
        },
        &[x],
    )
}

/// The mean over the window, its padding counted as zeros.
pub(super) fn avg_pool(b: &mut Builder, c: &Call) -> Value {
    let elem = b.elem_of(c.args[0]);
    let x = b.convert(c.args[0], accumulator(elem));
    let window = window(b, c, x);
    let count: usize = window.size.iter().product();
    let total = b.op(
        Op::ReduceWindow {
            op: ReduceOp::Sum,
            window,
        },
        &[x],
    );
    let n = b.like(total, count as f64);
    let mean = b.binary(BinaryOp::Div, total, n);
    b.convert(mean, elem)
}

/// `dropout(k, x, rate)`: zero with probability `rate`, the rest scaled up. The mask is drawn in f32 at least, as the
/// probability is in JAX; where nothing is kept, the division is by 1, so that gradients are 0 and not NaN.
pub(super) fn dropout(b: &mut Builder, c: &Call) -> Value {
    let (key, x, rate) = (c.args[0], c.args[1], c.args[2]);
    let rate = b.convert(rate, accumulator(b.elem_of(rate)));
    let one = b.like(rate, 1.0);
    let keep = b.binary(BinaryOp::Sub, one, rate);
    let shape = b.shape_of(x);
    let mask = bernoulli_mask(b, key, keep, &shape);
    let nothing = b.like(keep, 0.0);
    let is_nothing = b.compare(CompareOp::Eq, keep, nothing);
    let scale = b.select(is_nothing, one, keep);
    let scale = b.convert(scale, b.elem_of(x));
    let scaled = b.binary(BinaryOp::Div, x, scale);
    let zero = b.like(x, 0.0);
    b.select(mask, scaled, zero)
}
