//! Tensors of a shape: filled with one value, or with a range.

use super::Call;
use super::attrs::Arg;
use super::reduce::accumulator;
use crate::ir::num::Num;
use crate::ir::{BinaryOp, Builder, Elem, Literal, Op, Type, Value};

pub(super) fn filled(b: &mut Builder, c: &Call, value: f64) -> Value {
    b.op(Op::Constant(Literal::splat_f64(c.out(), value)), &[])
}

/// `full(shape, v)`.
pub(super) fn full(b: &mut Builder, c: &Call) -> Value {
    b.broadcast_to(c.args[0], &c.out().shape)
}

/// `arange(start, stop, step)` with whole numbers.
pub(super) fn arange(b: &mut Builder, c: &Call) -> Value {
    let out = c.out();
    if let (Some(Arg::Float(start)), Some(Arg::Float(step))) =
        (c.attrs.get("start"), c.attrs.get("step"))
    {
        return float_range(b, &out, *start, *step);
    }
    let count = b.iota(out.elem, &out.shape, 0);
    let (start, step) = (
        c.attrs.float("start").unwrap_or(0.0),
        c.attrs.float("step").unwrap_or(1.0),
    );
    let mut y = count;
    if step != 1.0 {
        let step = b.like(y, step);
        y = b.binary(BinaryOp::Mul, y, step);
    }
    if start != 0.0 {
        let start = b.like(y, start);
        y = b.binary(BinaryOp::Add, y, start);
    }
    y
}

/// As NumPy fills it: the difference of the first two elements, rounded, times the position, and the first element.
fn float_range(b: &mut Builder, out: &Type, start: f64, step: f64) -> Value {
    let wide = accumulator(out.elem);
    let step = match wide {
        Elem::F32 => f64::from((start + step) as f32 - start as f32),
        _ => (start + step) - start,
    };
    let count = b.iota(wide, &out.shape, 0);
    let (first, step) = (b.like(count, start), b.like(count, step));
    let way = b.binary(BinaryOp::Mul, count, step);
    let sum = b.binary(BinaryOp::Add, way, first);
    b.convert(sum, out.elem)
}

/// `linspace(a, b, n)`: a·(1 − t) + b·t, the last element exactly b, as NumPy and JAX have it.
pub(super) fn linspace(b: &mut Builder, c: &Call) -> Value {
    let out = c.out();
    let (start, stop) = (c.args[0], c.args[1]);
    // 16-bit floats have too few numbers to count in.
    let wide = accumulator(out.elem);
    let (start, stop) = (b.convert(start, wide), b.convert(stop, wide));
    let y = linspace_between(b, c, &out.with_elem(wide), start, stop);
    b.convert(y, out.elem)
}

fn linspace_between(b: &mut Builder, c: &Call, out: &Type, start: Value, stop: Value) -> Value {
    let n = out.shape[0];
    let endpoint = c.attrs.get("endpoint").is_none() || c.attrs.flag("endpoint");
    let steps = if endpoint { n.saturating_sub(1) } else { n };
    if n == 0 || steps == 0 {
        return b.broadcast_to(start, &out.shape);
    }
    let i = b.iota(out.elem, &out.shape, 0);
    let div = b.like(i, steps as f64);
    let t = b.binary(BinaryOp::Div, i, div);
    let one = b.like(t, 1.0);
    let rest = b.binary(BinaryOp::Sub, one, t);
    let (from, to) = (
        b.binary(BinaryOp::Mul, start, rest),
        b.binary(BinaryOp::Mul, stop, t),
    );
    let y = b.binary(BinaryOp::Add, from, to);
    if !endpoint {
        return y;
    }
    let body = b.slice_axis(y, 0, 0, n - 1);
    let last = b.reshape(stop, &[1]);
    b.concat(&[body, last], 0)
}
