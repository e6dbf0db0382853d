//! Reductions over sliding windows, running reductions included.

use super::emit::{Emit, Tensor};
use super::structural;
use crate::ir::op::{ReduceOp, Window};
use crate::ir::types::{Elem, Type};
use melior::ir::Attribute;

pub fn reduce<'c>(
    e: &Emit<'_, 'c>,
    x: &Tensor<'c>,
    op: ReduceOp,
    window: &Window,
    ty: &Type,
) -> Tensor<'c> {
    let start = e.identity(op, x.ty.elem);
    let scalar = Type::scalar(x.ty.elem);
    let body = e.region(&[scalar.clone(), scalar], |e, pair| {
        vec![e.combine(op, &pair[0], &pair[1])]
    });
    e.op_with(
        "stablehlo.reduce_window",
        &[x, &start],
        &attributes(e, window),
        std::slice::from_ref(ty),
        vec![body],
    )
    .remove(0)
}

/// A running reduction is a window as long as the axis, of which the part before the array (or behind it) is
/// padding. XLA computes such windows in linear time.
pub fn cumulate<'c>(
    e: &Emit<'_, 'c>,
    x: &Tensor<'c>,
    op: ReduceOp,
    axis: usize,
    reverse: bool,
) -> Tensor<'c> {
    let length = x.ty.shape[axis];
    if x.ty.numel() == 0 {
        return x.clone();
    }
    let before = length as i64 - 1;
    let rank = x.ty.rank();
    let mut window = Window {
        size: vec![1; rank],
        stride: vec![1; rank],
        padding: vec![(0, 0); rank],
        base_dilation: vec![1; rank],
        window_dilation: vec![1; rank],
    };
    window.size[axis] = length;
    window.padding[axis] = if reverse { (0, before) } else { (before, 0) };
    reduce(e, x, op, &window, &x.ty)
}

/// Operands (x, t): a reduction of pairs that keeps the `t` of the first best `x`.
pub fn gather<'c>(
    e: &Emit<'_, 'c>,
    args: &[Tensor<'c>],
    max: bool,
    window: &Window,
    ty: &Type,
) -> Tensor<'c> {
    let (x, t) = (&args[0], &args[1]);
    let zero = e.splat(&Type::scalar(t.ty.elem), 0.0);
    pick(e, x, t, &zero, max, window, &ty.shape)
}

/// Operands (x, s). The op that StableHLO has for this knows neither dilation nor negative padding; with those, the
/// best place of each window is found first, and `s` is added there.
pub fn scatter<'c>(
    e: &Emit<'_, 'c>,
    args: &[Tensor<'c>],
    max: bool,
    window: &Window,
) -> Tensor<'c> {
    let plain = window
        .base_dilation
        .iter()
        .chain(&window.window_dilation)
        .all(|&d| d == 1)
        && window
            .padding
            .iter()
            .all(|&(low, high)| low >= 0 && high >= 0);
    let (x, s) = (&args[0], &args[1]);
    if !plain {
        scatter_to_places(e, x, s, max, window)
    } else if window.padding.iter().any(|&pair| pair != (0, 0)) {
        select_and_scatter_padded(e, x, s, max, window)
    } else {
        select_and_scatter(e, x, s, max, window)
    }
}

/// XLA's CPU compiler does not always find the first of equal elements where the op itself pads.
fn select_and_scatter_padded<'c>(
    e: &Emit<'_, 'c>,
    x: &Tensor<'c>,
    s: &Tensor<'c>,
    max: bool,
    window: &Window,
) -> Tensor<'c> {
    let rank = x.ty.rank();
    let (low, high): (Vec<i64>, Vec<i64>) = window.padding.iter().copied().unzip();
    let start: Vec<usize> = low.iter().map(|&n| n as usize).collect();
    let limit: Vec<usize> = start.iter().zip(&*x.ty.shape).map(|(l, n)| l + n).collect();
    let shape: Vec<usize> = limit
        .iter()
        .zip(&high)
        .map(|(l, &h)| l + h as usize)
        .collect();
    let worst = e.identity(best_of(max), x.ty.elem);
    let ty = x.ty.with_shape(shape);
    let padded = structural::pad(e, &[x.clone(), worst], &low, &high, &vec![0; rank], &ty);
    let dense = Window {
        padding: vec![(0, 0); rank],
        ..window.clone()
    };
    let sums = select_and_scatter(e, &padded, s, max, &dense);
    structural::slice(e, &sums, &start, &limit, &vec![1; rank])
}

fn select_and_scatter<'c>(
    e: &Emit<'_, 'c>,
    x: &Tensor<'c>,
    s: &Tensor<'c>,
    max: bool,
    window: &Window,
) -> Tensor<'c> {
    let scalar = Type::scalar(x.ty.elem);
    let zero = e.splat(&scalar, 0.0);
    let pair = [scalar.clone(), scalar];
    let select = e.region(&pair, |e, args| {
        vec![e.compare(no_worse(max), &args[0], &args[1])]
    });
    let add = e.region(&pair, |e, args| {
        vec![e.combine(ReduceOp::Sum, &args[0], &args[1])]
    });
    e.op_with(
        "stablehlo.select_and_scatter",
        &[x, s, &zero],
        &[
            ("window_dimensions", e.session.i64s(&window.size)),
            ("window_strides", e.session.i64s(&window.stride)),
            ("padding", e.session.padding(&window.padding)),
        ],
        std::slice::from_ref(&x.ty),
        vec![select, add],
    )
    .remove(0)
}

fn scatter_to_places<'c>(
    e: &Emit<'_, 'c>,
    x: &Tensor<'c>,
    s: &Tensor<'c>,
    max: bool,
    window: &Window,
) -> Tensor<'c> {
    use crate::ir::op::{ScatterDims, ScatterOp};
    // Places are row-major positions; a window of padding alone has the place behind the last, which is dropped.
    let count = x.ty.numel();
    let flat = e.iota(&Type::new(Elem::I32, [count]), 0);
    let places = e.reshape(&flat, &x.ty.shape);
    let nowhere = e.index(count);
    let best = pick(e, x, &places, &nowhere, max, window, &s.ty.shape);
    let windows = s.ty.numel();
    let best = e.reshape(&best, &[windows, 1]);
    let updates = e.reshape(s, &[windows]);
    let zeros = e.splat(&x.ty.with_shape([count]), 0.0);
    let dims = ScatterDims {
        update_window_dims: vec![],
        inserted_window_dims: vec![0],
        input_batching_dims: vec![],
        scatter_indices_batching_dims: vec![],
        scatter_dims_to_operand_dims: vec![0],
        index_vector_dim: 1,
    };
    let sum = super::indexing::scatter(e, &[zeros, best, updates], ScatterOp::Add, &dims);
    e.reshape(&sum, &x.ty.shape)
}

/// In each window, the `t` that stands where `x` is first the best; `start` where there is only padding.
fn pick<'c>(
    e: &Emit<'_, 'c>,
    x: &Tensor<'c>,
    t: &Tensor<'c>,
    start: &Tensor<'c>,
    max: bool,
    window: &Window,
    shape: &[usize],
) -> Tensor<'c> {
    let worst = e.identity(best_of(max), x.ty.elem);
    let (key, value) = (Type::scalar(x.ty.elem), Type::scalar(t.ty.elem));
    let body = e.region(&[key.clone(), value.clone(), key, value], |e, args| {
        let keep = e.compare(no_worse(max), &args[0], &args[2]);
        vec![
            e.select(&keep, &args[0], &args[2]),
            e.select(&keep, &args[1], &args[3]),
        ]
    });
    e.op_with(
        "stablehlo.reduce_window",
        &[x, t, &worst, start],
        &attributes(e, window),
        &[x.ty.with_shape(shape), t.ty.with_shape(shape)],
        vec![body],
    )
    .remove(1)
}

fn best_of(max: bool) -> ReduceOp {
    if max { ReduceOp::Max } else { ReduceOp::Min }
}

fn no_worse(max: bool) -> &'static str {
    if max { "GE" } else { "LE" }
}

/// Those of a window that differ from the op's defaults.
fn attributes<'c>(e: &Emit<'_, 'c>, window: &Window) -> Vec<(&'static str, Attribute<'c>)> {
    let mut list = vec![("window_dimensions", e.session.i64s(&window.size))];
    for (name, values) in [
        ("window_strides", &window.stride),
        ("base_dilations", &window.base_dilation),
        ("window_dilations", &window.window_dilation),
    ] {
        if values.iter().any(|&v| v != 1) {
            list.push((name, e.session.i64s(values)));
        }
    }
    if window.padding.iter().any(|&pair| pair != (0, 0)) {
        list.push(("padding", e.session.padding(&window.padding)));
    }
    list
}
