//! Transposes of the primitives that only move elements, and of window sums.

use super::Transposer;
use crate::ad::tape::Operand;
use crate::ir::op::Window;
use crate::ir::{Op, ReduceOp, Value};

pub fn broadcast(tx: &mut Transposer, dims: &[usize], args: &[Operand], ct: Value) {
    let Operand::Lin(t) = args[0] else { return };
    let shape = tx.cx.e.shape(t).to_vec();
    let wide = tx.cx.e.shape(ct).to_vec();
    // New axes and stretched ones are summed; the stretched ones come back with size 1.
    let stretched = |d: &usize| {
        dims.iter()
            .position(|x| x == d)
            .is_none_or(|i| shape[i] != wide[*d])
    };
    let axes: Vec<usize> = (0..wide.len()).filter(stretched).collect();
    let ct = tx.cx.e.sum(ct, &axes);
    let ct = tx.cx.e.reshape(ct, &shape);
    tx.add(t, ct);
}

pub fn reshape(tx: &mut Transposer, args: &[Operand], ct: Value) {
    let Operand::Lin(t) = args[0] else { return };
    let shape = tx.cx.e.shape(t).to_vec();
    let ct = tx.cx.e.reshape(ct, &shape);
    tx.add(t, ct);
}

pub fn transpose(tx: &mut Transposer, perm: &[usize], args: &[Operand], ct: Value) {
    let Operand::Lin(t) = args[0] else { return };
    let mut inverse = vec![0; perm.len()];
    for (i, &p) in perm.iter().enumerate() {
        inverse[p] = i;
    }
    let ct = tx.cx.e.transpose(ct, &inverse);
    tx.add(t, ct);
}

pub fn slice(
    tx: &mut Transposer,
    (start, limit, stride): (&[usize], &[usize], &[usize]),
    args: &[Operand],
    ct: Value,
) {
    let Operand::Lin(t) = args[0] else { return };
    let shape = tx.cx.e.shape(t).to_vec();
    let taken = tx.cx.e.shape(ct).to_vec();
    if taken.contains(&0) {
        let ct = tx.or_zeros(None, t);
        return tx.add(t, ct);
    }
    let cut: Vec<usize> = (0..shape.len()).filter(|&d| taken[d] != shape[d]).collect();
    if let [axis] = cut[..]
        && stride[axis] == 1
    {
        return tx.add_slice(t, axis, start[axis], ct);
    }
    let low: Vec<i64> = start.iter().map(|&s| s as i64).collect();
    let high: Vec<i64> = (0..shape.len())
        .map(|i| {
            let covered = start[i] + (taken[i] - 1) * stride[i] + 1;
            debug_assert!(covered <= limit[i]);
            (shape[i] - covered) as i64
        })
        .collect();
    let interior: Vec<usize> = stride.iter().map(|s| s - 1).collect();
    let ct = tx.cx.e.pad(ct, 0.0, &low, &high, &interior);
    tx.add(t, ct);
}

/// The operand gets what landed inside the result, the padding value the sum of the rest.
pub fn pad(
    tx: &mut Transposer,
    (low, high, interior): (&[i64], &[i64], &[usize]),
    args: &[Operand],
    ct: Value,
) {
    let crop: Vec<i64> = low.iter().map(|p| -p.min(&0)).collect();
    let shape = match &args[0] {
        Operand::Lin(v) | Operand::Coef(v) => tx.cx.e.shape(*v).to_vec(),
        Operand::Zero(ty) => ty.shape.clone(),
    };
    let inside = inner(tx, ct, (low, high, interior), &crop, &shape);
    if let Operand::Lin(t) = args[0] {
        tx.add(t, inside);
    }
    if let Operand::Lin(t) = args[1] {
        let all: Vec<usize> = (0..shape.len()).collect();
        let total = tx.cx.e.sum(ct, &all);
        let inside = tx.cx.e.sum(inside, &all);
        let rest = tx.cx.e.sub(total, inside);
        tx.add(t, rest);
    }
}

/// The elements of `ct` that came from the operand; zero for those which negative padding cut off.
fn inner(
    tx: &mut Transposer,
    ct: Value,
    (low, high, interior): (&[i64], &[i64], &[usize]),
    crop: &[i64],
    shape: &[usize],
) -> Value {
    if shape.contains(&0) {
        let ty = tx.cx.e.type_of(ct).with_shape(shape);
        return tx.cx.e.zeros(&ty);
    }
    // Undo the cut, then take every (interior + 1)-th element behind the padding.
    let grow_high: Vec<i64> = high.iter().map(|p| -p.min(&0)).collect();
    let none = vec![0; shape.len()];
    let whole = tx.cx.e.pad(ct, 0.0, crop, &grow_high, &none);
    let start: Vec<usize> = low.iter().map(|&p| p.max(0) as usize).collect();
    let stride: Vec<usize> = interior.iter().map(|i| i + 1).collect();
    let limit: Vec<usize> = (0..shape.len())
        .map(|i| start[i] + (shape[i] - 1) * stride[i] + 1)
        .collect();
    tx.cx.e.strided(whole, &start, &limit, &stride)
}

pub fn concat(tx: &mut Transposer, axis: usize, args: &[Operand], ct: Value) {
    let mut from = 0;
    for arg in args {
        let size = match arg {
            Operand::Lin(v) | Operand::Coef(v) => tx.cx.e.shape(*v)[axis],
            Operand::Zero(ty) => ty.shape[axis],
        };
        if let Operand::Lin(t) = *arg {
            let part = tx.cx.e.slice_axis(ct, axis, from, from + size, 1);
            tx.add(t, part);
        }
        from += size;
    }
}

/// A window sum is a convolution with ones, and its transpose one with strides and dilations changed over.
pub fn window_sum(tx: &mut Transposer, window: &Window, args: &[Operand], ct: Value) {
    let Operand::Lin(t) = args[0] else { return };
    let shape = tx.cx.e.shape(t).to_vec();
    let out = tx.cx.e.shape(ct).to_vec();
    if shape.contains(&0) || out.contains(&0) {
        let ct = tx.or_zeros(None, t);
        return tx.add(t, ct);
    }
    let padding = (0..shape.len())
        .map(|d| {
            back_padding(
                shape[d],
                window.base_dilation[d],
                (window.size[d], window.window_dilation[d]),
                (out[d], window.stride[d]),
                window.padding[d].0,
            )
        })
        .collect();
    let back = Op::ReduceWindow {
        op: ReduceOp::Sum,
        window: Window {
            size: window.size.clone(),
            stride: window.base_dilation.clone(),
            padding,
            base_dilation: window.stride.clone(),
            window_dilation: window.window_dilation.clone(),
        },
    };
    let ct = tx.cx.e.op(back, &[ct]);
    tx.add(t, ct);
}

/// Padding of the window that slides back over the result, along one dimension: operand size and dilation, window
/// size and dilation, result size and stride, low padding. The sizes are not 0.
pub fn back_padding(
    size: usize,
    base_dilation: usize,
    (window, window_dilation): (usize, usize),
    (out, stride): (usize, usize),
    low: i64,
) -> (i64, i64) {
    let dilated = |n: usize, by: usize| ((n - 1) * by + 1) as i64;
    let operand = dilated(size, base_dilation);
    let window = dilated(window, window_dilation);
    let out = dilated(out, stride);
    let back_low = window - 1 - low;
    (back_low, operand - 1 + window - back_low - out)
}
