//! Convolution, pooling, dropout.

use super::Call;
use super::num::Num;
use super::random::bernoulli_mask;
use crate::ir::op::{ConvDims, Window};
use crate::ir::{BinaryOp, Builder, Op, ReduceOp, Value};

/// Low and high padding of a dimension so that the output has ⌈n / stride⌉ elements; the odd one goes last.
fn same(n: usize, k: usize, stride: usize, dilation: usize) -> (i64, i64) {
    let out = n.div_ceil(stride);
    let reach = (k.saturating_sub(1)) * dilation + 1;
    let total = ((out.saturating_sub(1)) * stride + reach).saturating_sub(n) as i64;
    (total / 2, total - total / 2)
}

fn padding(
    c: &Call,
    sizes: &[usize],
    window: &[usize],
    stride: &[usize],
    dilation: &[usize],
) -> Vec<(i64, i64)> {
    if let Some(flat) = c.attrs.ints("padding") {
        return flat.chunks_exact(2).map(|p| (p[0], p[1])).collect();
    }
    let is_same = c
        .attrs
        .str("padding")
        .is_some_and(|p| p.eq_ignore_ascii_case("same"));
    (0..sizes.len())
        .map(|d| {
            if is_same {
                same(sizes[d], window[d], stride[d], dilation[d])
            } else {
                (0, 0)
            }
        })
        .collect()
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
    let (xs, ws) = (b.shape_of(x), b.shape_of(w));
    let n = xs.len() - 2;
    let (stride, dilation) = (
        per_dimension(c, "stride", n, 1),
        per_dimension(c, "dilation", n, 1),
    );
    let spatial: Vec<usize> = (1..=n).collect();
    let dims = ConvDims {
        padding: padding_or_same(c, &xs[1..=n], &ws[..n], &stride, &dilation),
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

/// `padding="same"` is the convolution's default.
fn padding_or_same(
    c: &Call,
    n: &[usize],
    k: &[usize],
    stride: &[usize],
    dilation: &[usize],
) -> Vec<(i64, i64)> {
    if c.attrs.get("padding").is_some() {
        return padding(c, n, k, stride, dilation);
    }
    (0..n.len())
        .map(|d| same(n[d], k[d], stride[d], dilation[d]))
        .collect()
}

/// The window over the spatial dimensions of NHWC.
fn window(b: &Builder, c: &Call, x: Value) -> Window {
    let shape = b.shape_of(x);
    let n = shape.len() - 2;
    let size = per_dimension(c, "window", n, 1);
    let stride = per_dimension(c, "stride", n, 1);
    let ones = vec![1; n];
    let pads = padding(c, &shape[1..=n], &size, &stride, &ones);
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
    let x = c.args[0];
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
    b.binary(BinaryOp::Div, total, n)
}

/// `dropout(k, x, rate)`: zero with probability `rate`, the rest scaled up.
pub(super) fn dropout(b: &mut Builder, c: &Call) -> Value {
    let (key, x, rate) = (c.args[0], c.args[1], c.args[2]);
    let one = b.like(rate, 1.0);
    let keep = b.binary(BinaryOp::Sub, one, rate);
    let shape = b.shape_of(x);
    let mask = bernoulli_mask(b, key, keep, &shape);
    let scaled = b.binary(BinaryOp::Div, x, keep);
    let zero = b.like(x, 0.0);
    b.select(mask, scaled, zero)
}
