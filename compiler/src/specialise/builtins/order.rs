//! Sorting and searching.

use super::Call;
use super::index::{along_axis, position};
use crate::ir::num::Num;
use crate::ir::{BinaryOp, Builder, CompareOp, Elem, Op, ReduceOp, Type, Value};

fn sorted(
    b: &mut Builder,
    operands: Vec<Value>,
    axis: usize,
    descending: bool,
    total: bool,
) -> Vec<Value> {
    let op = Op::Sort {
        axis,
        keys: 1,
        descending,
        total,
    };
    b.push(op, operands, vec![])
}

/// Descending is the reverse of ascending, zeros of both signs included.
pub(super) fn sort(b: &mut Builder, c: &Call) -> Value {
    let x = c.args[0];
    let axis = c.attrs.axis(b.ty(x).rank(), -1);
    let ascending = sorted(b, vec![x], axis, false, false)[0];
    if c.attrs.flag("descending") {
        b.op(Op::Reverse { axes: vec![axis] }, &[ascending])
    } else {
        ascending
    }
}

pub(super) fn arg_sort(b: &mut Builder, c: &Call) -> Value {
    let x = c.args[0];
    let axis = c.attrs.axis(b.ty(x).rank(), -1);
    let shape = b.shape_of(x);
    let count = b.iota(Elem::I32, &shape, axis);
    sorted(b, vec![x, count], axis, c.attrs.flag("descending"), false)[1]
}

/// The `k` largest of an axis, largest first, and where they are. XLA knows the floats' by their order and the slices.
pub(super) fn top_k(b: &mut Builder, c: &Call) -> Vec<Value> {
    let x = c.args[0];
    let axis = c.attrs.axis(b.ty(x).rank(), -1);
    let k = usize::try_from(c.attrs.int("k").unwrap_or(1)).unwrap_or(0);
    let shape = b.shape_of(x);
    let count = b.iota(Elem::I32, &shape, axis);
    let floats = b.elem_of(x).is_float();
    let sorted = sorted(b, vec![x, count], axis, true, floats);
    sorted
        .into_iter()
        .map(|v| b.slice_axis(v, axis, 0, k))
        .collect()
}

/// a < b in sorting order: NaN comes last.
fn before(b: &mut Builder, x: Value, y: Value) -> Value {
    let less = b.compare(CompareOp::Lt, x, y);
    if !b.elem_of(x).is_float() {
        return less;
    }
    let nan_y = b.compare(CompareOp::Ne, y, y);
    let number_x = b.compare(CompareOp::Eq, x, x);
    let last = b.binary(BinaryOp::And, nan_y, number_x);
    b.binary(BinaryOp::Or, less, last)
}

/// Among fewer, all are compared: that is faster than halving.
const FEWEST_TO_HALVE: usize = 16;

/// `searchsorted(a, v)`: how many of `a` stand before each `v` (with `side="right"`: or equal it).
pub(super) fn search_sorted(b: &mut Builder, c: &Call) -> Value {
    let (a, v) = (c.args[0], c.args[1]);
    let right = c.attrs.str("side") == Some("right");
    if b.ty(a).numel() >= FEWEST_TO_HALVE {
        return halved(b, a, v, right);
    }
    let mut shape = b.shape_of(v);
    let axis = shape.len();
    shape.push(b.ty(a).numel());
    let dims: Vec<usize> = (0..axis).collect();
    let v = b.broadcast_in(v, &shape, &dims);
    let a = b.broadcast_in(a, &shape, &[axis]);
    let counted = stands_before(b, a, v, right);
    let counted = b.convert(counted, Elem::I32);
    b.reduce(ReduceOp::Sum, counted, &[axis])
}

/// Whether elements of the sorted array stand before these, or `right` equal them.
fn stands_before(b: &mut Builder, a: Value, v: Value, right: bool) -> Value {
    if !right {
        return before(b, a, v);
    }
    let after = before(b, v, a);
    b.unary(crate::ir::UnaryOp::Not, after)
}

/// The same as a number of halvings: the count is at least the first carried value, and at most the second.
fn halved(b: &mut Builder, a: Value, v: Value, right: bool) -> Value {
    let count = b.ty(a).numel();
    let shape = b.shape_of(v);
    let least = b.full(Elem::I32, &shape, 0.0);
    let most = b.full(Elem::I32, &shape, count as f64);
    let ty = b.ty(least).clone();
    let body = b.region(|b| {
        b.param(Type::scalar(Elem::I32));
        let (least, most) = (b.param(ty.clone()), b.param(ty));
        let two = b.like(least, 2.0);
        let sum = b.binary(BinaryOp::Add, least, most);
        let middle = b.binary(BinaryOp::Div, sum, two);
        let element = along_axis(b, a, middle, 0);
        let more = stands_before(b, element, v, right);
        let one = b.like(middle, 1.0);
        let next = b.binary(BinaryOp::Add, middle, one);
        let open = b.compare(CompareOp::Lt, least, most);
        let more = b.binary(BinaryOp::And, more, open);
        vec![b.select(more, next, least), b.select(more, most, middle)]
    });
    let scan = Op::Scan {
        length: (usize::BITS - count.leading_zeros()) as usize,
        reverse: false,
        carry: 2,
    };
    b.push(scan, vec![least, most], vec![body])[0]
}

/// `nonzero(x, size=n)`: the positions, one array a dimension; `fill_value` (0) after the last.
pub(super) fn nonzero(b: &mut Builder, c: &Call) -> Vec<Value> {
    let x = c.args[0];
    let shape = b.shape_of(x);
    let total: usize = shape.iter().product();
    let size = usize::try_from(c.attrs.int("size").unwrap_or(0)).unwrap_or(0);
    let flat = b.reshape(x, &[total]);
    let zero = b.like(flat, 0.0);
    let empty = b.compare(CompareOp::Eq, flat, zero);
    let order = b.convert(empty, Elem::I32);
    let position = b.iota(Elem::I32, &[total], 0);
    let both = sorted(b, vec![order, position], 0, false, false);
    // Where there are fewer elements than `size`, the rest counts as empty.
    let more = Op::Pad {
        low: vec![0],
        high: vec![size.saturating_sub(total) as i64],
        interior: vec![0],
    };
    let one = b.int(Elem::I32, 1);
    let order = b.slice_axis(both[0], 0, 0, size.min(total));
    let order = b.op(more.clone(), &[order, one]);
    let zero = b.int(Elem::I32, 0);
    let taken = b.slice_axis(both[1], 0, 0, size.min(total));
    let mut rest = b.op(more, &[taken, zero]);
    let filled = b.convert(order, Elem::Bool);
    let fill = b.like(rest, c.attrs.float("fill_value").unwrap_or(0.0));
    let mut columns = Vec::new();
    for &n in shape.iter().rev() {
        let n = b.like(rest, n.max(1) as f64);
        let column = b.binary(BinaryOp::Rem, rest, n);
        columns.push(b.select(filled, fill, column));
        rest = b.binary(BinaryOp::Div, rest, n);
    }
    columns.reverse();
    columns
}

/// `one_hot(x, N)`: rows of zeros with a 1 at the label; all zeros where it is out of range. The classes stand along
/// `axis` of the result, the last.
pub(super) fn one_hot(b: &mut Builder, c: &Call) -> Value {
    let out = c.out();
    let axis = c.attrs.axis(out.rank(), -1);
    let dims: Vec<usize> = (0..out.rank()).filter(|&d| d != axis).collect();
    let labels = position(b, c.args[0]);
    let labels = b.broadcast_in(labels, &out.shape, &dims);
    let class = b.iota(Elem::I32, &out.shape, axis);
    let hit = b.compare(CompareOp::Eq, labels, class);
    b.convert(hit, out.elem)
}
