//! Forward rules of reductions, running and windowed ones included.

use super::elementwise;
use super::shape::{concat, pad_axis, reshape, slice_axis};
use crate::ad::cx::{Cx, Dual};
use crate::ad::tape::Operand;
use crate::ir::op::Window;
use crate::ir::{BinaryOp, CompareOp, Elem, Op, ReduceOp, Value};

pub fn reduce(cx: &mut Cx, op: ReduceOp, axes: &[usize], x: Dual) -> Dual {
    let y = cx.e.op(
        Op::Reduce {
            op,
            axes: axes.to_vec(),
        },
        &[x.primal],
    );
    let t = match (op, x.tangent) {
        (_, None) => None,
        (_, Some(t)) if axes.is_empty() => Some(t),
        (ReduceOp::Sum, Some(t)) => Some(cx.lin_sum(t, axes)),
        (ReduceOp::Max | ReduceOp::Min, Some(t)) => Some(extremum(cx, axes, x.primal, y, t)),
        (ReduceOp::Prod, Some(_)) => product(cx, axes, x).tangent,
    };
    Dual::new(y, t)
}

/// Each of `k` ties has 1/k.
fn extremum(cx: &mut Cx, axes: &[usize], x: Value, y: Value, t: Value) -> Value {
    let shape = cx.e.shape(x).to_vec();
    let elem = cx.e.elem(x);
    let wide = cx.e.expand(y, &shape, axes);
    let mask = cx.e.compare(CompareOp::Eq, x, wide);
    let ones = cx.e.convert(mask, elem);
    // Counted in integers, which all have their place: bf16 has none for 257.
    let whole = cx.e.convert(mask, Elem::I32);
    let count = cx.e.sum(whole, axes);
    let count = cx.e.convert(count, elem);
    // A product, so that where there is no winner (NaN) both modes give NaN.
    let chosen = cx.scale(t, ones);
    let sum = cx.lin_sum(chosen, axes);
    cx.lin_div(sum, count)
}

/// A product by halves: right where elements are 0, at every order.
fn product(cx: &mut Cx, axes: &[usize], x: Dual) -> Dual {
    let shape = cx.e.shape(x.primal).to_vec();
    let others: Vec<usize> = (0..shape.len()).filter(|d| !axes.contains(d)).collect();
    let perm: Vec<usize> = axes.iter().chain(&others).copied().collect();
    let mut n: usize = axes.iter().map(|&d| shape[d]).product();
    let rest: Vec<usize> = others.iter().map(|&d| shape[d]).collect();
    let mut flat = vec![n];
    flat.extend(&rest);

    let primal = cx.e.transpose(x.primal, &perm);
    let primal = cx.e.reshape(primal, &flat);
    let tangent = x.tangent.map(|t| {
        let t = cx.lin_transpose(t, &perm);
        cx.lin_reshape(t, &flat)
    });
    let mut x = Dual { primal, tangent };
    if n == 0 {
        // An empty product is constant.
        let ty = cx.e.type_of(x.primal).with_shape(rest);
        return Dual::constant(cx.e.splat(&ty, 1.0));
    }
    while n > 1 {
        let half = n.div_ceil(2);
        let left = slice_axis(cx, x, 0, (0, half, 1));
        let right = slice_axis(cx, x, 0, (half, n, 1));
        let missing = (2 * half - n) as i64;
        let right = pad_axis(cx, right, 1.0, 0, (0, missing, 0));
        x = elementwise::binary(cx, BinaryOp::Mul, left, right);
        n = half;
    }
    Dual {
        primal: cx.e.reshape(x.primal, &rest),
        tangent: x.tangent.map(|t| cx.lin_reshape(t, &rest)),
    }
}

pub fn cumulate(cx: &mut Cx, op: ReduceOp, axis: usize, reverse: bool, x: Dual) -> Dual {
    let whole = Op::Cumulate { op, axis, reverse };
    let y = cx.e.op(whole.clone(), &[x.primal]);
    let combine = match (op, x.tangent) {
        (_, None) => return Dual::constant(y),
        (ReduceOp::Sum, Some(t)) => return Dual::new(y, Some(cx.lin1(whole, t))),
        (ReduceOp::Prod, Some(_)) => BinaryOp::Mul,
        (ReduceOp::Max, Some(_)) => BinaryOp::Max,
        (ReduceOp::Min, Some(_)) => BinaryOp::Min,
    };
    if !reverse {
        return Dual::new(y, running(cx, combine, axis, x, y));
    }
    let flipped = cx.e.reverse(y, &[axis]);
    let x = flip(cx, axis, x);
    let t = running(cx, combine, axis, x, flipped);
    Dual::new(y, flip(cx, axis, Dual::new(flipped, t)).tangent)
}

fn flip(cx: &mut Cx, axis: usize, x: Dual) -> Dual {
    Dual {
        primal: cx.e.reverse(x.primal, &[axis]),
        tangent: x
            .tangent
            .map(|t| cx.lin1(Op::Reverse { axes: vec![axis] }, t)),
    }
}

/// The tangent of all running combinations `y` of `x`, in logarithmic depth and linear work: neighbours are combined, these
/// pairs scanned, and the places between filled in. JAX differentiates its running products and extrema through the same
/// tree, so ties fall alike.
fn running(cx: &mut Cx, op: BinaryOp, axis: usize, x: Dual, y: Value) -> Option<Value> {
    let n = cx.e.shape(x.primal)[axis];
    if n < 2 {
        return x.tangent;
    }
    // The even and the odd places; of an odd number of them the last stands alone.
    let half = n / 2;
    let paired = slice_axis(cx, x, axis, (0, 2 * half, 1));
    let alone = slice_axis(cx, x, axis, (2 * half, n, 1));
    let mut shape = cx.e.shape(x.primal).to_vec();
    shape[axis] = half;
    let mut pairs = shape.clone();
    pairs.insert(axis + 1, 2);
    let paired = reshape(cx, paired, &pairs);
    let [left, right] = [0, 1].map(|i| {
        let one = slice_axis(cx, paired, axis + 1, (i, i + 1, 1));
        reshape(cx, one, &shape)
    });
    let combined = elementwise::binary(cx, op, left, right);
    let odd_y = cx.e.slice_axis(y, axis, 1, n, 2);
    let odd = Dual::new(odd_y, running(cx, op, axis, combined, odd_y));
    // Every even place but the first is the odd one before it, and what stands there itself.
    let mut rest = slice_axis(cx, left, axis, (1, half, 1));
    if n > 2 * half {
        rest = concat(cx, axis, &[rest, alone]);
    }
    let count = n.div_ceil(2) - 1;
    let before = slice_axis(cx, odd, axis, (0, count, 1));
    let rest_y = cx.e.slice_axis(y, axis, 2, n, 2);
    let t = elementwise::tangent(cx, op, before, rest, rest_y);
    let first = slice_axis(cx, left, axis, (0, 1, 1));
    let even = concat(cx, axis, &[first, Dual::new(rest_y, t)]);

    let ends = slice_axis(cx, even, axis, (0, half, 1));
    shape.insert(axis + 1, 1);
    let both = [ends, odd].map(|d| reshape(cx, d, &shape));
    let both = concat(cx, axis + 1, &both);
    shape.remove(axis + 1);
    shape[axis] = 2 * half;
    let both = reshape(cx, both, &shape);
    let last = slice_axis(cx, even, axis, (half, n - half, 1));
    match n > 2 * half {
        true => concat(cx, axis, &[both, last]).tangent,
        false => both.tangent,
    }
}

pub fn reduce_window(cx: &mut Cx, op: ReduceOp, window: &Window, x: Dual) -> Dual {
    let whole = Op::ReduceWindow {
        op,
        window: window.clone(),
    };
    let y = cx.e.op(whole.clone(), &[x.primal]);
    let Some(t) = x.tangent else {
        return Dual::constant(y);
    };
    let pick = |max| Op::WindowGather {
        max,
        window: window.clone(),
    };
    let t = match op {
        ReduceOp::Sum => Some(cx.lin1(whole, t)),
        // The first of equal ones.
        ReduceOp::Max => Some(cx.lin(pick(true), vec![Operand::Coef(x.primal), Operand::Lin(t)])),
        ReduceOp::Min => Some(cx.lin(pick(false), vec![Operand::Coef(x.primal), Operand::Lin(t)])),
        ReduceOp::Prod => window_product(cx, window, x, y),
    };
    Dual::new(y, t)
}

/// The product over a window as a product of shifted arrays, one for each place in the window, taken by halves.
fn window_product(cx: &mut Cx, window: &Window, x: Dual, y: Value) -> Option<Value> {
    let out = cx.e.shape(y).to_vec();
    if out.contains(&0) {
        return None;
    }
    let mut padded = x;
    for axis in 0..out.len() {
        let (low, high) = window.padding[axis];
        let interior = window.base_dilation[axis] - 1;
        padded = pad_axis(cx, padded, 1.0, axis, (low, high, interior));
    }
    let places: usize = window.size.iter().product();
    let mut terms: Vec<Dual> = (0..places)
        .map(|place| {
            let mut rest = place;
            let mut term = padded;
            for axis in (0..out.len()).rev() {
                let from = rest % window.size[axis] * window.window_dilation[axis];
                rest /= window.size[axis];
                let stride = window.stride[axis];
                let to = from + (out[axis] - 1) * stride + 1;
                term = slice_axis(cx, term, axis, (from, to, stride));
            }
            term
        })
        .collect();
    while terms.len() > 1 {
        let mut halves = Vec::with_capacity(terms.len().div_ceil(2));
        for pair in terms.chunks(2) {
            halves.push(match *pair {
                [a, b] => elementwise::binary(cx, BinaryOp::Mul, a, b),
                _ => pair[0],
            });
        }
        terms = halves;
    }
    terms.first().and_then(|t| t.tangent)
}
