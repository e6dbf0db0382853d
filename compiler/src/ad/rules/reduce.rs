//! Forward rules of reductions, running and windowed ones included.

use super::elementwise;
use super::shape::{concat, pad_axis, slice_axis};
use crate::ad::cx::{Cx, Dual};
use crate::ad::tape::Operand;
use crate::ir::op::Window;
use crate::ir::{BinaryOp, CompareOp, Op, ReduceOp, Value};

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
    let count = cx.e.sum(ones, axes);
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
    let x = if reverse { flip(cx, axis, x) } else { x };
    let scanned = associative_scan(cx, combine, axis, x);
    let scanned = if reverse {
        flip(cx, axis, scanned)
    } else {
        scanned
    };
    Dual::new(y, scanned.tangent)
}

fn flip(cx: &mut Cx, axis: usize, x: Dual) -> Dual {
    Dual {
        primal: cx.e.reverse(x.primal, &[axis]),
        tangent: x
            .tangent
            .map(|t| cx.lin1(Op::Reverse { axes: vec![axis] }, t)),
    }
}

/// All running combinations in logarithmic depth and linear work: pairs are combined, scanned, and the places between
/// filled in. JAX differentiates its running products and extrema through the same tree, so ties fall alike.
fn associative_scan(cx: &mut Cx, op: BinaryOp, axis: usize, x: Dual) -> Dual {
    let n = cx.e.shape(x.primal)[axis];
    if n < 2 {
        return x;
    }
    let left = slice_axis(cx, x, axis, (0, n - 1, 2));
    let right = slice_axis(cx, x, axis, (1, n, 2));
    let pairs = elementwise::binary(cx, op, left, right);
    let odd = associative_scan(cx, op, axis, pairs);
    let first = slice_axis(cx, x, axis, (0, 1, 1));
    let even = if n == 2 {
        first
    } else {
        let rest = slice_axis(cx, x, axis, (2, n, 2));
        let count = (n - 1) / 2;
        let before = slice_axis(cx, odd, axis, (0, count, 1));
        let rest = elementwise::binary(cx, op, before, rest);
        concat(cx, axis, &[first, rest])
    };
    let (evens, odds) = (n.div_ceil(2) as i64, (n / 2) as i64);
    let n = n as i64;
    let even = pad_axis(cx, even, 0.0, axis, (0, n - (2 * evens - 1), 1));
    let odd = pad_axis(cx, odd, 0.0, axis, (1, n - 2 * odds, 1));
    elementwise::binary(cx, BinaryOp::Add, even, odd)
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
