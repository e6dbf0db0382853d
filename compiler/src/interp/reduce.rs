//! Reductions over axes: whole, running, and to positions.

use super::array::{Array, wrap_int, wrap_uint};
use super::index::{axis_last, inverse, transposed};
use super::{Data, Precision};
use crate::ir::op::ReduceOp;
use crate::ir::types::{Elem, Type};

pub fn reduce(op: ReduceOp, axes: &[usize], x: &Array, p: Precision) -> Array {
    let kept: Vec<usize> = (0..x.ty.rank()).filter(|i| !axes.contains(i)).collect();
    let perm: Vec<usize> = kept.iter().chain(axes).copied().collect();
    let rows = transposed(x, &perm);
    let shape: Vec<usize> = kept.iter().map(|&i| x.ty.shape[i]).collect();
    let count: usize = axes.iter().map(|&i| x.ty.shape[i]).product();
    let ty = x.ty.with_shape(shape);
    let n = ty.numel();
    let elem = ty.elem;
    let part = |i: usize| i * count..(i + 1) * count;
    match &rows.data {
        Data::Float(v) => {
            let sum = |i| p.round(elem, fold_floats(op, v[part(i)].iter().copied()));
            Array::floats(ty, (0..n).map(sum).collect())
        }
        Data::Int(v) => {
            let sum = |i| fold_ints(op, elem, v[part(i)].iter().copied());
            Array::ints(ty, (0..n).map(sum).collect())
        }
        Data::Uint(v) => {
            let sum = |i| fold_uints(op, elem, v[part(i)].iter().copied());
            Array::uints(ty, (0..n).map(sum).collect())
        }
        Data::Bool(v) => {
            let any = |i| fold_bools(op, v[part(i)].iter().copied());
            Array::bools(ty, (0..n).map(any).collect())
        }
    }
}

/// Not rounded.
pub fn fold_floats(op: ReduceOp, values: impl Iterator<Item = f64>) -> f64 {
    values.fold(float_identity(op), |a, x| combine_floats(op, a, x))
}

pub fn fold_ints(op: ReduceOp, elem: Elem, values: impl Iterator<Item = i64>) -> i64 {
    values.fold(int_identity(op, elem), |a, x| combine_ints(op, elem, a, x))
}

pub fn fold_uints(op: ReduceOp, elem: Elem, values: impl Iterator<Item = u64>) -> u64 {
    values.fold(uint_identity(op, elem), |a, x| {
        combine_uints(op, elem, a, x)
    })
}

pub fn fold_bools(op: ReduceOp, values: impl Iterator<Item = bool>) -> bool {
    values.fold(bool_identity(op), |a, x| combine_bools(op, a, x))
}

pub fn cumulate(op: ReduceOp, axis: usize, reverse: bool, x: &Array, p: Precision) -> Array {
    let perm = axis_last(x.ty.rank(), axis);
    let rows = transposed(x, &perm);
    let length = x.ty.shape[axis];
    let elem = x.ty.elem;
    let ty = rows.ty.clone();
    let running = match &rows.data {
        Data::Float(v) => {
            let sums = running(v, length, reverse, float_identity(op), |a, x| {
                combine_floats(op, a, x)
            });
            let rounded = sums.iter().map(|&s| p.round(elem, s)).collect();
            Array::floats(ty, rounded)
        }
        Data::Int(v) => {
            let start = int_identity(op, elem);
            let sums = running(v, length, reverse, start, |a, x| {
                combine_ints(op, elem, a, x)
            });
            Array::ints(ty, sums)
        }
        Data::Uint(v) => {
            let start = uint_identity(op, elem);
            let sums = running(v, length, reverse, start, |a, x| {
                combine_uints(op, elem, a, x)
            });
            Array::uints(ty, sums)
        }
        Data::Bool(v) => {
            let sums = running(v, length, reverse, bool_identity(op), |a, x| {
                combine_bools(op, a, x)
            });
            Array::bools(ty, sums)
        }
    };
    transposed(&running, &inverse(&perm))
}

/// The running combination of each row of `length` elements.
fn running<T: Copy>(
    rows: &[T],
    length: usize,
    reverse: bool,
    start: T,
    combine: impl Fn(T, T) -> T,
) -> Vec<T> {
    let mut out = rows.to_vec();
    for row in out.chunks_mut(length.max(1)) {
        let mut so_far = start;
        let mut step = |x: &mut T| {
            so_far = combine(so_far, *x);
            *x = so_far;
        };
        if reverse {
            row.iter_mut().rev().for_each(&mut step);
        } else {
            row.iter_mut().for_each(&mut step);
        }
    }
    out
}

pub fn arg_reduce(max: bool, axis: usize, x: &Array) -> Array {
    let rows = transposed(x, &axis_last(x.ty.rank(), axis));
    let length = x.ty.shape[axis];
    let mut shape = x.ty.shape.clone();
    shape.remove(axis);
    let ty = Type::new(Elem::I32, shape);
    let positions = (0..ty.numel())
        .map(|row| first_extreme(max, &rows, (0..length).map(|i| row * length + i)) as i64)
        .collect();
    Array::ints(ty, positions)
}

/// Which of the given elements, counted from 0, is the extreme: a NaN if there is one, the first of equals.
pub fn first_extreme(max: bool, x: &Array, places: impl Iterator<Item = usize>) -> usize {
    match &x.data {
        Data::Float(v) => best(places, |a, b| {
            let (a, b) = (v[a], v[b]);
            !a.is_nan() && (b.is_nan() || if max { b > a } else { b < a })
        }),
        Data::Int(v) => best(places, |a, b| if max { v[b] > v[a] } else { v[b] < v[a] }),
        Data::Uint(v) => best(places, |a, b| if max { v[b] > v[a] } else { v[b] < v[a] }),
        Data::Bool(v) => best(places, |a, b| if max { v[b] & !v[a] } else { !v[b] & v[a] }),
    }
}

fn best(places: impl Iterator<Item = usize>, beats: impl Fn(usize, usize) -> bool) -> usize {
    let mut best: Option<(usize, usize)> = None;
    for (count, at) in places.enumerate() {
        if best.is_none_or(|(_, old)| beats(old, at)) {
            best = Some((count, at));
        }
    }
    best.map_or(0, |(count, _)| count)
}

pub fn float_identity(op: ReduceOp) -> f64 {
    match op {
        ReduceOp::Sum => 0.0,
        ReduceOp::Prod => 1.0,
        ReduceOp::Max => f64::NEG_INFINITY,
        ReduceOp::Min => f64::INFINITY,
    }
}

fn combine_floats(op: ReduceOp, a: f64, x: f64) -> f64 {
    match op {
        ReduceOp::Sum => a + x,
        ReduceOp::Prod => a * x,
        ReduceOp::Max => maximum(a, x),
        ReduceOp::Min => minimum(a, x),
    }
}

/// NaN if either is; +0 above −0.
pub fn maximum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else if a == b {
        if a.is_sign_negative() { b } else { a }
    } else if a > b {
        a
    } else {
        b
    }
}

pub fn minimum(a: f64, b: f64) -> f64 {
    -maximum(-a, -b)
}

fn int_identity(op: ReduceOp, elem: Elem) -> i64 {
    match op {
        ReduceOp::Sum => 0,
        ReduceOp::Prod => 1,
        ReduceOp::Max => least_int(elem),
        ReduceOp::Min => !least_int(elem),
    }
}

fn combine_ints(op: ReduceOp, elem: Elem, a: i64, x: i64) -> i64 {
    match op {
        ReduceOp::Sum => wrap_int(elem, a.wrapping_add(x)),
        ReduceOp::Prod => wrap_int(elem, a.wrapping_mul(x)),
        ReduceOp::Max => a.max(x),
        ReduceOp::Min => a.min(x),
    }
}

/// The least value of a signed element type; its complement is the greatest.
pub fn least_int(elem: Elem) -> i64 {
    i64::MIN >> (64 - elem.bits())
}

fn uint_identity(op: ReduceOp, elem: Elem) -> u64 {
    match op {
        ReduceOp::Sum | ReduceOp::Max => 0,
        ReduceOp::Prod => 1,
        ReduceOp::Min => greatest_uint(elem),
    }
}

fn combine_uints(op: ReduceOp, elem: Elem, a: u64, x: u64) -> u64 {
    match op {
        ReduceOp::Sum => wrap_uint(elem, a.wrapping_add(x)),
        ReduceOp::Prod => wrap_uint(elem, a.wrapping_mul(x)),
        ReduceOp::Max => a.max(x),
        ReduceOp::Min => a.min(x),
    }
}

pub fn greatest_uint(elem: Elem) -> u64 {
    u64::MAX >> (64 - elem.bits())
}

/// On bool, sums are not defined; `Max` is or, `Min` is and.
fn bool_identity(op: ReduceOp) -> bool {
    match op {
        ReduceOp::Max => false,
        ReduceOp::Min => true,
        ReduceOp::Sum | ReduceOp::Prod => unreachable!("the shape rule wants numbers"),
    }
}

fn combine_bools(op: ReduceOp, a: bool, x: bool) -> bool {
    match op {
        ReduceOp::Max => a | x,
        ReduceOp::Min => a & x,
        ReduceOp::Sum | ReduceOp::Prod => unreachable!("the shape rule wants numbers"),
    }
}
