//! Reductions, and what is made of them.

use super::Call;
use crate::ir::num::Num;
use crate::ir::{BinaryOp, Builder, CompareOp, Elem, Op, ReduceOp, UnaryOp, Value};

/// The operand, the axes to reduce, ascending.
fn operand(b: &Builder, c: &Call) -> (Value, Vec<usize>) {
    let x = c.args[0];
    (x, c.attrs.axes(b.ty(x).rank()))
}

/// With `keepdims` the reduced axes stay, of size 1; the result type knows.
fn finish(b: &mut Builder, c: &Call, reduced: Value) -> Value {
    let out = c.out();
    let converted = b.convert(reduced, out.elem);
    b.reshape(converted, &out.shape)
}

/// The element type sums and products are accumulated in: 16-bit floats in f32, as JAX does.
pub(super) fn accumulator(elem: Elem) -> Elem {
    match elem {
        Elem::BF16 | Elem::F16 => Elem::F32,
        other => other,
    }
}

/// A sum within a builtin; 16-bit floats are added in f32, in which a long row does not overflow.
pub(super) fn sum_over(b: &mut Builder, x: Value, axes: &[usize]) -> Value {
    let elem = b.elem_of(x);
    let wide = b.convert(x, accumulator(elem));
    let total = b.reduce(ReduceOp::Sum, wide, axes);
    b.convert(total, elem)
}

pub(super) fn sum(b: &mut Builder, c: &Call) -> Value {
    accumulate(b, c, ReduceOp::Sum)
}

pub(super) fn prod(b: &mut Builder, c: &Call) -> Value {
    accumulate(b, c, ReduceOp::Prod)
}

fn accumulate(b: &mut Builder, c: &Call, op: ReduceOp) -> Value {
    let (x, axes) = operand(b, c);
    let x = b.convert(x, accumulator(c.out().elem));
    let reduced = b.reduce(op, x, &axes);
    finish(b, c, reduced)
}

pub(super) fn mean(b: &mut Builder, c: &Call) -> Value {
    let (x, axes) = operand(b, c);
    let x = b.convert(x, accumulator(c.out().elem));
    let mean = mean_over(b, x, &axes);
    finish(b, c, mean)
}

fn mean_over(b: &mut Builder, x: Value, axes: &[usize]) -> Value {
    let count = count(b, x, axes);
    let total = b.reduce(ReduceOp::Sum, x, axes);
    let n = b.like(total, count);
    b.binary(BinaryOp::Div, total, n)
}

fn count(b: &Builder, x: Value, axes: &[usize]) -> f64 {
    axes.iter().map(|&a| b.ty(x).shape[a] as f64).product()
}

/// Minimum, maximum; on bool, all and any.
pub(super) fn extreme(b: &mut Builder, c: &Call, op: ReduceOp) -> Value {
    let (x, axes) = operand(b, c);
    let x = if c.out().elem == Elem::Bool && b.elem_of(x) != Elem::Bool {
        b.convert(x, Elem::Bool)
    } else {
        x
    };
    let reduced = b.reduce(op, x, &axes);
    finish(b, c, reduced)
}

pub(super) fn var(b: &mut Builder, c: &Call) -> Value {
    let v = variance(b, c);
    finish(b, c, v)
}

pub(super) fn std(b: &mut Builder, c: &Call) -> Value {
    let v = variance(b, c);
    let root = b.unary(UnaryOp::Sqrt, v);
    finish(b, c, root)
}

/// The mean squared distance from the mean, over count − ddof.
fn variance(b: &mut Builder, c: &Call) -> Value {
    let (x, axes) = operand(b, c);
    let x = b.convert(x, accumulator(c.out().elem));
    let shape = b.shape_of(x);
    let mean = mean_over(b, x, &axes);
    let mean = b.spread_back(mean, &axes, &shape);
    let centred = b.binary(BinaryOp::Sub, x, mean);
    let squared = b.binary(BinaryOp::Mul, centred, centred);
    let total = b.reduce(ReduceOp::Sum, squared, &axes);
    let n = count(b, x, &axes) - c.attrs.float("ddof").unwrap_or(0.0);
    // No degree of freedom is left: NaN, as in JAX.
    let n = if n > 0.0 { n } else { f64::NAN };
    let n = b.like(total, n);
    b.binary(BinaryOp::Div, total, n)
}

/// The position of the extreme. Over several axes it counts along them as if they were one, in order.
pub(super) fn arg(b: &mut Builder, c: &Call, max: bool) -> Value {
    let (x, axes) = operand(b, c);
    let shape = b.shape_of(x);
    let (kept, last): (Vec<usize>, Vec<usize>) = (0..shape.len()).partition(|d| !axes.contains(d));
    let (x, axis) = match last.as_slice() {
        [one] => (x, *one),
        many => {
            let moved = b.transpose(x, &[kept.as_slice(), many].concat());
            let mut flat: Vec<usize> = kept.iter().map(|&d| shape[d]).collect();
            flat.push(many.iter().map(|&d| shape[d]).product());
            (b.reshape(moved, &flat), kept.len())
        }
    };
    let position = extreme_position(b, x, axis, max);
    finish(b, c, position)
}

/// Where the extreme of an axis is. The checker refuses to look for one of nothing, as JAX does, but for dimensions that
/// `..S` stands for: there it is at 0.
pub(super) fn extreme_position(b: &mut Builder, x: Value, axis: usize, max: bool) -> Value {
    let mut shape = b.shape_of(x);
    if shape.remove(axis) == 0 {
        return b.full(Elem::I32, &shape, 0.0);
    }
    b.op(Op::ArgReduce { max, axis }, &[x])
}

/// Without `axis=` the operand is flattened.
fn flat_or_axis(b: &mut Builder, c: &Call, x: Value) -> (Value, usize) {
    let ty = b.ty(x).clone();
    match c.attrs.int("axis") {
        Some(_) => (x, c.attrs.axis(ty.rank(), 0)),
        None => (b.reshape(x, &[ty.numel()]), 0),
    }
}

pub(super) fn cumulate(b: &mut Builder, c: &Call, op: ReduceOp) -> Value {
    let x = b.convert(c.args[0], c.out().elem);
    let (x, axis) = flat_or_axis(b, c, x);
    b.op(
        Op::Cumulate {
            op,
            axis,
            reverse: c.attrs.flag("reverse"),
        },
        &[x],
    )
}

/// The vector norm of order `ord` (2) over the axes; its gradient at 0 is 0.
pub(super) fn norm(b: &mut Builder, c: &Call) -> Value {
    let (x, axes) = operand(b, c);
    let x = b.convert(x, accumulator(c.out().elem));
    let ord = c.attrs.float("ord").unwrap_or(2.0);
    let out = if ord == 2.0 {
        let squared = b.binary(BinaryOp::Mul, x, x);
        let total = b.reduce(ReduceOp::Sum, squared, &axes);
        guarded(b, total, |b, safe| b.unary(UnaryOp::Sqrt, safe))
    } else {
        let size = b.unary(UnaryOp::Abs, x);
        if ord == 0.0 {
            // How many are not zero.
            let zero = b.like(x, 0.0);
            let counted = b.compare(CompareOp::Ne, x, zero);
            let elem = b.elem_of(x);
            let counted = b.convert(counted, elem);
            b.reduce(ReduceOp::Sum, counted, &axes)
        } else if ord == f64::INFINITY {
            b.reduce(ReduceOp::Max, size, &axes)
        } else if ord == f64::NEG_INFINITY {
            b.reduce(ReduceOp::Min, size, &axes)
        } else if ord == 1.0 {
            b.reduce(ReduceOp::Sum, size, &axes)
        } else {
            let p = b.like(size, ord);
            let powers = b.binary(BinaryOp::Pow, size, p);
            let total = b.reduce(ReduceOp::Sum, powers, &axes);
            guarded(b, total, |b, safe| {
                let root = b.like(safe, 1.0 / ord);
                b.binary(BinaryOp::Pow, safe, root)
            })
        }
    };
    finish(b, c, out)
}

/// `f(x)`, but 0 with derivative 0 where `x` is 0.
fn guarded(b: &mut Builder, x: Value, f: impl FnOnce(&mut Builder, Value) -> Value) -> Value {
    let zero = b.like(x, 0.0);
    let one = b.like(x, 1.0);
    let is_zero = b.compare(CompareOp::Eq, x, zero);
    let safe = b.select(is_zero, one, x);
    let y = f(b, safe);
    b.select(is_zero, zero, y)
}

pub(super) fn logsumexp(b: &mut Builder, c: &Call) -> Value {
    let (x, axes) = operand(b, c);
    let shape = b.shape_of(x);
    let top = b.reduce(ReduceOp::Max, x, &axes);
    // An infinite maximum would make the difference NaN.
    let finite = b.unary(UnaryOp::IsFinite, top);
    let zero = b.like(top, 0.0);
    let top = b.select(finite, top, zero);
    let top = b.op(Op::StopGradient, &[top]);
    let spread = b.spread_back(top, &axes, &shape);
    let shifted = b.binary(BinaryOp::Sub, x, spread);
    let powers = b.unary(UnaryOp::Exp, shifted);
    let total = sum_over(b, powers, &axes);
    let log = b.unary(UnaryOp::Log, total);
    let out = b.binary(BinaryOp::Add, log, top);
    finish(b, c, out)
}

/// `x` less its maximum over the axes, which carries no gradient.
pub(super) fn shifted(b: &mut Builder, x: Value, axes: &[usize]) -> Value {
    let shape = b.shape_of(x);
    let top = b.reduce(ReduceOp::Max, x, axes);
    let top = b.op(Op::StopGradient, &[top]);
    let spread = b.spread_back(top, axes, &shape);
    b.binary(BinaryOp::Sub, x, spread)
}

pub(super) fn softmax(b: &mut Builder, c: &Call) -> Value {
    let x = c.args[0];
    let axes = last_axis(b, c, x);
    let shifted = shifted(b, x, &axes);
    let powers = b.unary(UnaryOp::Exp, shifted);
    let total = sum_over(b, powers, &axes);
    let shape = b.shape_of(x);
    let total = b.spread_back(total, &axes, &shape);
    b.binary(BinaryOp::Div, powers, total)
}

pub(super) fn log_softmax(b: &mut Builder, c: &Call) -> Value {
    let x = c.args[0];
    let axes = last_axis(b, c, x);
    log_softmax_over(b, x, &axes)
}

pub(super) fn log_softmax_over(b: &mut Builder, x: Value, axes: &[usize]) -> Value {
    let shifted = shifted(b, x, axes);
    let powers = b.unary(UnaryOp::Exp, shifted);
    let total = sum_over(b, powers, axes);
    let log = b.unary(UnaryOp::Log, total);
    let shape = b.shape_of(x);
    let log = b.spread_back(log, axes, &shape);
    b.binary(BinaryOp::Sub, shifted, log)
}

/// `axis=`, by default the last.
fn last_axis(b: &Builder, c: &Call, x: Value) -> Vec<usize> {
    let rank = b.ty(x).rank();
    match c.attrs.ints("axis") {
        Some(_) => c.attrs.axes(rank),
        None => vec![rank - 1],
    }
}
