//! Builtins that move elements about, and those that make tensors of a shape.

use super::Call;
use super::attrs::{Arg, wrap};
use super::reduce::accumulator;
use crate::ir::num::Num;
use crate::ir::{BinaryOp, Builder, CompareOp, Elem, Literal, Op, Type, Value};

/// The result type has the shape: `reshape`, `flatten`, `expand_dims`, `squeeze`.
pub(super) fn reshape(b: &mut Builder, c: &Call) -> Value {
    b.reshape(c.args[0], &c.out().shape)
}

pub(super) fn broadcast_to(b: &mut Builder, c: &Call) -> Value {
    b.broadcast_to(c.args[0], &c.out().shape)
}

pub(super) fn filled(b: &mut Builder, c: &Call, value: f64) -> Value {
    b.op(Op::Constant(Literal::splat_f64(c.out(), value)), &[])
}

/// `full(shape, v)`.
pub(super) fn full(b: &mut Builder, c: &Call) -> Value {
    b.broadcast_to(c.args[0], &c.out().shape)
}

/// `stack((a, b), axis=0)`: all operands along a new axis.
pub(super) fn stack_axis(b: &mut Builder, c: &Call) -> Value {
    let axis = c.attrs.axis(c.out().rank(), 0);
    stack(b, c, axis)
}

pub(super) fn stack(b: &mut Builder, c: &Call, axis: usize) -> Value {
    let parts: Vec<Value> = c
        .args
        .iter()
        .map(|&v| {
            let mut shape = b.shape_of(v);
            shape.insert(axis, 1);
            b.reshape(v, &shape)
        })
        .collect();
    b.concat(&parts, axis)
}

/// The rank that brackets and axes speak of: a key array has its words on one more dimension.
fn rank(b: &Builder, c: &Call, x: Value) -> usize {
    b.ty(x).rank() - usize::from(c.is_key())
}

pub(super) fn concat(b: &mut Builder, c: &Call) -> Value {
    let axis = c.attrs.axis(rank(b, c, c.args[0]), 0);
    b.concat(&c.args, axis)
}

/// `transpose(x)`, `transpose(x, (1, 0, 2))`.
pub(super) fn transpose(b: &mut Builder, c: &Call) -> Value {
    let x = c.args[0];
    let rank = rank(b, c, x);
    let mut perm: Vec<usize> = match c.attrs.ints("axes") {
        Some(axes) => axes.into_iter().map(|a| wrap(a, rank)).collect(),
        None => (0..rank).rev().collect(),
    };
    perm.extend(rank..b.ty(x).rank());
    b.transpose(x, &perm)
}

pub(super) fn swap_axes(b: &mut Builder, c: &Call) -> Value {
    let x = c.args[0];
    let rank = rank(b, c, x);
    let mut perm: Vec<usize> = (0..b.ty(x).rank()).collect();
    let at = |name| wrap(c.attrs.int(name).unwrap_or(0), rank);
    perm.swap(at("axis1"), at("axis2"));
    b.transpose(x, &perm)
}

pub(super) fn move_axis(b: &mut Builder, c: &Call) -> Value {
    let x = c.args[0];
    let rank = rank(b, c, x);
    let axes = |name| {
        c.attrs
            .ints(name)
            .unwrap_or_default()
            .into_iter()
            .map(|a| wrap(a, rank))
            .collect::<Vec<_>>()
    };
    let (source, destination) = (axes("source"), axes("destination"));
    let mut perm: Vec<usize> = (0..b.ty(x).rank())
        .filter(|d| !source.contains(d))
        .collect();
    let mut moves: Vec<(usize, usize)> = destination.into_iter().zip(source).collect();
    moves.sort_unstable();
    for (to, from) in moves {
        perm.insert(to, from);
    }
    b.transpose(x, &perm)
}

/// `pad(x, widths)` with a constant, or with elements of its own that the mode picks.
pub(super) fn pad(b: &mut Builder, c: &Call) -> Value {
    let x = c.args[0];
    let widths = c.attrs.ints("widths").unwrap_or_default();
    let sides: Vec<(i64, i64)> = widths.chunks_exact(2).map(|w| (w[0], w[1])).collect();
    let shape = b.shape_of(x);
    match c.attrs.str("mode") {
        // Where there is nothing to pick from, the constant stands.
        Some(mode) if mode != "constant" && !shape.contains(&0) => {
            let mut y = x;
            for (axis, &(low, high)) in sides.iter().enumerate() {
                let n = shape[axis] as i64;
                let mut parts = picked(b, y, axis, (-low..0).map(|p| source(mode, p, n)));
                parts.push(y);
                parts.extend(picked(
                    b,
                    y,
                    axis,
                    (n..n + high).map(|p| source(mode, p, n)),
                ));
                y = b.concat(&parts, axis);
            }
            y
        }
        _ => {
            let (low, high) = sides.into_iter().unzip();
            let interior = vec![0; shape.len()];
            let op = Op::Pad {
                low,
                high,
                interior,
            };
            b.op(op, &[x, c.args[1]])
        }
    }
}

/// The elements at positions of an axis, one after the other, as slices: what goes down is turned, what stays is stretched.
fn picked(b: &mut Builder, x: Value, axis: usize, at: impl Iterator<Item = i64>) -> Vec<Value> {
    let positions: Vec<i64> = at.collect();
    let mut parts = Vec::new();
    let mut rest = &positions[..];
    while let [first, after @ ..] = rest {
        let step = after.first().map(|next| next - first);
        let step = step.filter(|s| s.abs() == 1).unwrap_or(0);
        let count = 1 + rest.windows(2).take_while(|w| w[1] - w[0] == step).count();
        let last = rest[count - 1];
        let (low, high) = (*first.min(&last) as usize, *first.max(&last) as usize);
        let mut part = b.slice_axis(x, axis, low, high + 1);
        if step < 0 {
            part = b.op(Op::Reverse { axes: vec![axis] }, &[part]);
        }
        if step == 0 && count > 1 {
            let mut shape = b.shape_of(part);
            shape[axis] = count;
            let dims: Vec<usize> = (0..shape.len()).collect();
            part = b.broadcast_in(part, &shape, &dims);
        }
        parts.push(part);
        rest = &rest[count..];
    }
    parts
}

/// Which of `n` elements stands at position `p` of a padded axis, where those of the array begin at 0.
fn source(mode: &str, p: i64, n: i64) -> i64 {
    let mirrored = |period: i64, turn: i64| {
        let q = p.rem_euclid(period);
        if q < n { q } else { turn - q }
    };
    match mode {
        "wrap" => p.rem_euclid(n),
        "symmetric" => mirrored(2 * n, 2 * n - 1),
        "reflect" if n > 1 => mirrored(2 * n - 2, 2 * n - 2),
        _ => p.clamp(0, n - 1),
    }
}

pub(super) fn flip(b: &mut Builder, c: &Call) -> Value {
    let x = c.args[0];
    let axes = c.attrs.axes(rank(b, c, x));
    if axes.is_empty() {
        x
    } else {
        b.op(Op::Reverse { axes }, &[x])
    }
}

/// `roll(x, shift, axis)`; without an axis over the flattened array. One shift, or one axis, stands for all of the other.
pub(super) fn roll(b: &mut Builder, c: &Call) -> Value {
    let x = c.args[0];
    let rank = rank(b, c, x);
    let shape = b.shape_of(x);
    let shifts: Vec<Shift> = match c.attrs.ints("shift") {
        Some(known) => known.into_iter().map(Shift::Known).collect(),
        None => {
            let found = scalars(b, &c.args[1..]);
            found.into_iter().map(Shift::Found).collect()
        }
    };
    let axes = match c.attrs.ints("axis") {
        Some(axes) => axes.into_iter().map(|a| wrap(a, rank)).collect(),
        None => vec![0],
    };
    let mut y = x;
    if c.attrs.get("axis").is_none() {
        y = b.reshape(x, &flat_shape(&shape, rank));
    }
    for i in 0..shifts.len().max(axes.len()) {
        let axis = axes[if axes.len() == 1 { 0 } else { i }];
        y = match shifts[if shifts.len() == 1 { 0 } else { i }] {
            Shift::Known(by) => roll_axis(b, y, axis, by),
            Shift::Found(by) => roll_axis_by(b, y, axis, by),
        };
    }
    b.reshape(y, &shape)
}

/// How far to roll: known when the program is compiled, or an integer scalar.
#[derive(Clone, Copy)]
enum Shift {
    Known(i64),
    Found(Value),
}

/// The first `rank` dimensions as one; behind them are those of the words of keys.
fn flat_shape(shape: &[usize], rank: usize) -> Vec<usize> {
    let mut flat = vec![shape[..rank].iter().product()];
    flat.extend(&shape[rank..]);
    flat
}

fn roll_axis(b: &mut Builder, x: Value, axis: usize, shift: i64) -> Value {
    let n = b.ty(x).shape[axis];
    if n == 0 {
        return x;
    }
    let cut = n - shift.rem_euclid(n as i64) as usize;
    if cut == n {
        return x;
    }
    let (tail, head) = (b.slice_axis(x, axis, cut, n), b.slice_axis(x, axis, 0, cut));
    b.concat(&[tail, head], axis)
}

/// A window on two copies of the array, one behind the other.
fn roll_axis_by(b: &mut Builder, x: Value, axis: usize, shift: Value) -> Value {
    let shape = b.shape_of(x);
    let n = b.int(Elem::I32, shape[axis] as i64);
    if shape[axis] == 0 {
        return x;
    }
    let shift = super::index::position(b, shift);
    let rest = b.binary(BinaryOp::Rem, shift, n);
    let start = b.binary(BinaryOp::Sub, n, rest);
    // A shift to the left begins in the first copy.
    let again = b.binary(BinaryOp::Rem, start, n);
    let zero = b.int(Elem::I32, 0);
    let mut operands = vec![b.concat(&[x, x], axis)];
    operands.extend((0..shape.len()).map(|d| if d == axis { again } else { zero }));
    b.op(Op::DynamicSlice { sizes: shape }, &operands)
}

/// Integer scalars as they are; a single array of them taken apart.
pub(super) fn scalars(b: &mut Builder, values: &[Value]) -> Vec<Value> {
    let one = match values {
        [one] if b.ty(*one).rank() == 1 => *one,
        many => return many.to_vec(),
    };
    let each = 0..b.ty(one).numel();
    each.map(|i| {
        let scalar = b.slice_axis(one, 0, i, i + 1);
        b.reshape(scalar, &[])
    })
    .collect()
}

/// `repeat(x, n, axis)`: each element `n` times in a row.
pub(super) fn repeat(b: &mut Builder, c: &Call) -> Value {
    let n = usize::try_from(c.attrs.int("repeats").unwrap_or(1)).unwrap_or(0);
    let mut x = c.args[0];
    let axis = match c.attrs.int("axis") {
        Some(_) => c.attrs.axis(rank(b, c, x), 0),
        None => {
            let count = b.ty(x).numel();
            x = b.reshape(x, &[count]);
            0
        }
    };
    let mut shape = b.shape_of(x);
    let dims: Vec<usize> = (0..shape.len())
        .map(|d| if d <= axis { d } else { d + 1 })
        .collect();
    shape.insert(axis + 1, n);
    let wide = b.broadcast_in(x, &shape, &dims);
    b.reshape(wide, &c.out().shape)
}

/// `tile(x, reps)`: the whole array repeated.
pub(super) fn tile(b: &mut Builder, c: &Call) -> Value {
    let out = c.out().shape;
    let reps = c.attrs.ints("reps").unwrap_or_default();
    let x = c.args[0];
    let rank = out.len();
    let mut shape = vec![1; rank - b.ty(x).rank()];
    shape.extend(b.shape_of(x));
    let mut wide = Vec::new();
    for (d, &size) in shape.iter().enumerate() {
        let rep = (d + reps.len()).checked_sub(rank).map_or(1, |i| reps[i]);
        wide.extend([usize::try_from(rep).unwrap_or(0), size]);
    }
    let x = b.reshape(x, &shape);
    let dims: Vec<usize> = (0..rank).map(|d| 2 * d + 1).collect();
    let x = b.broadcast_in(x, &wide, &dims);
    b.reshape(x, &out)
}

/// `split_at(x, (i, j), axis=0)`: the parts between the positions.
pub(super) fn split_at(b: &mut Builder, c: &Call) -> Vec<Value> {
    let x = c.args[0];
    let axis = c.attrs.axis(rank(b, c, x), 0);
    let n = b.ty(x).shape[axis] as i64;
    let at = |i: i64| usize::try_from(if i < 0 { i + n } else { i }.clamp(0, n)).unwrap_or(0);
    let mut cuts = vec![0];
    cuts.extend(
        c.attrs
            .ints("indices")
            .unwrap_or_default()
            .into_iter()
            .map(at),
    );
    cuts.push(n as usize);
    cuts.windows(2)
        .map(|w| b.slice_axis(x, axis, w[0], w[1].max(w[0])))
        .collect()
}

/// Rows and columns of the last two dimensions, compared: `row + k  op  column`.
pub(super) fn diagonal_mask(b: &mut Builder, shape: &[usize], k: i64, op: CompareOp) -> Value {
    let rank = shape.len();
    let row = b.iota(Elem::I32, shape, rank - 2);
    let column = b.iota(Elem::I32, shape, rank - 1);
    let offset = b.like(row, k as f64);
    let row = if k == 0 {
        row
    } else {
        b.binary(BinaryOp::Add, row, offset)
    };
    b.compare(op, row, column)
}

/// `tril`, `triu`: the part below (`Ge`) or above (`Le`) the k-th diagonal.
pub(super) fn triangle(b: &mut Builder, c: &Call, op: CompareOp) -> Value {
    let x = c.args[0];
    let shape = b.shape_of(x);
    let mask = diagonal_mask(b, &shape, c.attrs.int("k").unwrap_or(0), op);
    let zero = b.like(x, 0.0);
    b.select(mask, x, zero)
}

pub(super) fn eye(b: &mut Builder, c: &Call) -> Value {
    let out = c.out();
    let mask = diagonal_mask(b, &out.shape, c.attrs.int("k").unwrap_or(0), CompareOp::Eq);
    b.convert(mask, out.elem)
}

/// `diag(x)`: the diagonal of a matrix, or the matrix of a diagonal.
pub(super) fn diag(b: &mut Builder, c: &Call) -> Value {
    let x = c.args[0];
    let k = c.attrs.int("k").unwrap_or(0);
    let out = c.out();
    if b.ty(x).rank() == 1 {
        let n = b.ty(x).numel();
        let (lead, side) = (usize::try_from(k).unwrap_or(0), out.shape[0]);
        let padded = b.full(out.elem, &[], 0.0);
        let low = vec![lead as i64];
        let high = vec![(side - n - lead) as i64];
        let row = b.op(
            Op::Pad {
                low,
                high,
                interior: vec![0],
            },
            &[x, padded],
        );
        let wide = b.broadcast_in(row, &out.shape, &[1]);
        let mask = diagonal_mask(b, &out.shape, k, CompareOp::Eq);
        let zero = b.like(wide, 0.0);
        return b.select(mask, wide, zero);
    }
    diagonal(b, x, k, out.shape[0])
}

/// The `n` elements of the k-th diagonal of a matrix: a flat stride.
pub(super) fn diagonal(b: &mut Builder, x: Value, k: i64, n: usize) -> Value {
    let shape = b.shape_of(x);
    let columns = shape[1];
    let flat = b.reshape(x, &[shape[0] * columns]);
    if n == 0 {
        return b.op(
            Op::Slice {
                start: vec![0],
                limit: vec![0],
                stride: vec![1],
            },
            &[flat],
        );
    }
    let first = if k >= 0 {
        k as usize
    } else {
        k.unsigned_abs() as usize * columns
    };
    let last = first + (n - 1) * (columns + 1);
    b.op(
        Op::Slice {
            start: vec![first],
            limit: vec![last + 1],
            stride: vec![columns + 1],
        },
        &[flat],
    )
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
