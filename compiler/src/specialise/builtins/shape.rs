//! Builtins that move elements about.

use super::Call;
use super::attrs::wrap;
use crate::ir::num::Num;
use crate::ir::{BinaryOp, Builder, Elem, Op, Value};

/// The result type has the shape: `reshape`, `flatten`, `expand_dims`, `squeeze`.
pub(super) fn reshape(b: &mut Builder, c: &Call) -> Value {
    b.reshape(c.args[0], &c.out().shape)
}

pub(super) fn broadcast_to(b: &mut Builder, c: &Call) -> Value {
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
