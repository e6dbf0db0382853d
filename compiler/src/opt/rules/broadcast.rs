//! Broadcasts: sunk below elementwise primitives, so that these work on as little as they can, and folded into each
//! other.

use crate::ir::op::Op;
use crate::ir::types::Shape;
use crate::opt::rewrite::{Class::*, Rule, Rw};
use egg::Id;

#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    Rule::build("broadcast-same",           Exact, "broadcast.b(x)",                             "x, of its own shape",                   same_shape),
    Rule::build("broadcast-broadcast",      Exact, "broadcast.b(broadcast.c(x))",                "broadcast(x)",                          broadcast_broadcast),
    Rule::build("broadcast-ones",           Exact, "broadcast.b(x)",                             "broadcast(x without axes of length 1)", broadcast_ones),
    Rule::build("broadcast-adds-ones",      Exact, "broadcast.b(x)",                             "reshape(x), if only 1s are new",        broadcast_adds_ones),
    Rule::build("reshape-broadcast",        Exact, "reshape.r(broadcast.b(x))",                  "broadcast(x), if only 1s differ",       reshape_broadcast),
    Rule::build("transpose-broadcast",      Exact, "transpose.p(broadcast.b(x))",                "broadcast(transpose(x))",               transpose_broadcast),
    Rule::build("slice-broadcast",          Exact, "slice.s(broadcast.b(x))",                    "broadcast(slice(x))",                   slice_broadcast),
    Rule::build("reverse-broadcast",        Exact, "reverse.r(broadcast.b(x))",                  "broadcast(reverse(x))",                 reverse_broadcast),
    Rule::build("broadcast-iota",           Exact, "broadcast.b(iota.i())",                      "iota, along b of its axis",             broadcast_iota),
    Rule::build("reshape-iota",             Exact, "reshape.r(iota.i())",                        "iota, if only 1s differ",               reshape_iota),

    Rule::new("broadcast-out-of-unary",     Exact, "unary.f(broadcast.b(x))",                    "broadcast.b(unary.f(x))"),
    Rule::new("broadcast-out-of-convert",   Exact, "convert.c(broadcast.b(x))",                  "broadcast.b(convert.c(x))"),
    Rule::build("broadcast-out-of-binary",  Exact, "binary.f(broadcast.b(x), broadcast.c(y))",   "broadcast(binary.f(x, y))",             out_of_two),
    Rule::build("broadcast-out-of-compare", Exact, "compare.f(broadcast.b(x), broadcast.c(y))",  "broadcast(compare.f(x, y))",            out_of_two),
    Rule::build("broadcast-past-right",     Exact, "binary.f(broadcast.b(x), C)",                "broadcast.b(binary.f(x, C))",           past_right),
    Rule::build("broadcast-past-left",      Exact, "binary.f(C, broadcast.b(x))",                "broadcast.b(binary.f(C, x))",           past_left),
    Rule::build("broadcast-past-compare",   Exact, "compare.f(broadcast.b(x), C)",               "broadcast.b(compare.f(x, C))",          past_right),
    Rule::build("broadcast-past-compare-left", Exact, "compare.f(C, broadcast.b(x))",            "broadcast.b(compare.f(C, x))",          past_left),
    Rule::new("broadcast-out-of-select",    Exact, "select(broadcast.b(c), broadcast.b(x), broadcast.b(y))", "broadcast.b(select(c, x, y))"),
    Rule::build("broadcast-out-of-choice",  Exact, "select(broadcast.b(c), C, D)",               "broadcast.b(select(c, C, D))",          out_of_choice),
    Rule::build("broadcast-out-of-then",    Exact, "select(broadcast.b(c), broadcast.b(x), D)",  "broadcast.b(select(c, x, D))",          out_of_then),
    Rule::build("broadcast-out-of-else",    Exact, "select(broadcast.b(c), D, broadcast.b(x))",  "broadcast.b(select(c, D, x))",          out_of_else),
];

pub(super) fn spread(rw: &Rw, name: char) -> Option<(Shape, Vec<usize>)> {
    match rw.op(name)? {
        Op::Broadcast { shape, dims } => Some((shape, dims)),
        _ => None,
    }
}

fn same_shape(rw: &mut Rw) -> Option<Id> {
    let x = rw.var('x');
    let same = rw.ty(x) == rw.ty(rw.root());
    same.then_some(x)
}

fn broadcast_broadcast(rw: &mut Rw) -> Option<Id> {
    let ((shape, b), (_, c)) = (spread(rw, 'b')?, spread(rw, 'c')?);
    let dims = c.iter().map(|&d| b[d]).collect();
    rw.broadcast(rw.var('x'), shape, dims)
}

fn broadcast_ones(rw: &mut Rw) -> Option<Id> {
    let (x, (shape, b)) = (rw.var('x'), spread(rw, 'b')?);
    let from = rw.shape(x);
    if !from.contains(&1) {
        return None;
    }
    let long = (0..from.len()).filter(|&d| from[d] != 1);
    let squeezed = rw.reshape(x, long.clone().map(|d| from[d]).collect())?;
    rw.broadcast(squeezed, shape, long.map(|d| b[d]).collect())
}

fn broadcast_adds_ones(rw: &mut Rw) -> Option<Id> {
    let (x, (shape, _)) = (rw.var('x'), spread(rw, 'b')?);
    let same = rw.shape(x).iter().product::<usize>() == shape.iter().product::<usize>();
    // Equal counts of elements mean that nothing was stretched, unless there are none.
    (same && !shape.contains(&0)).then(|| rw.reshape(x, shape))?
}

/// Where each dimension longer than 1 of `from` stands in `to`, if those of both are the same in order.
fn matching(from: &[usize], to: &[usize]) -> Option<Vec<Option<usize>>> {
    let mut places = vec![None; from.len()];
    let mut next = 0;
    for (d, &size) in from.iter().enumerate() {
        if size == 1 {
            continue;
        }
        while to.get(next) == Some(&1) {
            next += 1;
        }
        if to.get(next) != Some(&size) {
            return None;
        }
        places[d] = Some(next);
        next += 1;
    }
    to[next..].iter().all(|&n| n == 1).then_some(places)
}

fn reshape_broadcast(rw: &mut Rw) -> Option<Id> {
    let (x, (shape, b)) = (rw.var('x'), spread(rw, 'b')?);
    let to = rw.shape(rw.root());
    let places = matching(&shape, &to)?;
    let dims: Option<Vec<usize>> = b.iter().map(|&d| places[d]).collect();
    rw.broadcast(x, to, dims?)
}

fn transpose_broadcast(rw: &mut Rw) -> Option<Id> {
    let (x, (_, b)) = (rw.var('x'), spread(rw, 'b')?);
    let place = super::shape::inverse(&super::shape::perm(rw, 'p')?);
    let mut order: Vec<usize> = (0..b.len()).collect();
    order.sort_by_key(|&i| place[b[i]]);
    let dims = order.iter().map(|&i| place[b[i]]).collect();
    let shape = rw.shape(rw.root());
    let turned = rw.transpose(x, order)?;
    rw.broadcast(turned, shape, dims)
}

fn slice_broadcast(rw: &mut Rw) -> Option<Id> {
    let (x, (shape, b)) = (rw.var('x'), spread(rw, 'b')?);
    let ranges = super::shape::ranges(rw, 's')?;
    let from = rw.shape(x);
    let inner: Vec<_> = b
        .iter()
        .enumerate()
        .map(|(i, &d)| {
            if from[i] == shape[d] {
                ranges[d]
            } else {
                (0, 1, 1)
            }
        })
        .collect();
    let sliced = super::shape::slice(rw, x, &inner)?;
    let to = rw.shape(rw.root());
    rw.broadcast(sliced, to, b)
}

fn reverse_broadcast(rw: &mut Rw) -> Option<Id> {
    let (x, (shape, b)) = (rw.var('x'), spread(rw, 'b')?);
    let Op::Reverse { axes } = rw.op('r')? else {
        return None;
    };
    let inner: Vec<usize> = (0..b.len()).filter(|&i| axes.contains(&b[i])).collect();
    let turned = if inner.is_empty() {
        x
    } else {
        rw.add(Op::Reverse { axes: inner }, &[x])?
    };
    rw.broadcast(turned, shape, b)
}

fn broadcast_iota(rw: &mut Rw) -> Option<Id> {
    let (shape, b) = spread(rw, 'b')?;
    let Op::Iota { ty, axis } = rw.op('i')? else {
        return None;
    };
    let to = b[axis];
    if ty.shape[axis] != shape[to] {
        return None;
    }
    let ty = ty.with_shape(shape);
    rw.add(Op::Iota { ty, axis: to }, &[])
}

fn reshape_iota(rw: &mut Rw) -> Option<Id> {
    let ty = rw.ty(rw.root());
    let Op::Iota { ty: from, axis } = rw.op('i')? else {
        return None;
    };
    let axis = matching(&from.shape, &ty.shape)?[axis]?;
    rw.add(Op::Iota { ty, axis }, &[])
}

/// Both operands spread only as far as they have to meet, and the rest of the spreading after.
fn out_of_two(rw: &mut Rw) -> Option<Id> {
    let (x, y) = (rw.var('x'), rw.var('y'));
    let ((shape, b), (_, c)) = (spread(rw, 'b')?, spread(rw, 'c')?);
    let stretched =
        |from: &[usize], dims: &[usize]| dims.iter().zip(from).any(|(&d, &size)| size != shape[d]);
    if stretched(&rw.shape(x), &b) || stretched(&rw.shape(y), &c) {
        return None;
    }
    let meet: Vec<usize> = (0..shape.len())
        .filter(|d| b.contains(d) || c.contains(d))
        .collect();
    let small: Shape = meet.iter().map(|&d| shape[d]).collect();
    if small.iter().product::<usize>() == shape.iter().product::<usize>() {
        return None;
    }
    let inside = |dims: &[usize]| {
        dims.iter()
            .filter_map(|d| meet.iter().position(|m| m == d))
            .collect()
    };
    let x = rw.broadcast(x, small.clone(), inside(&b))?;
    let y = rw.broadcast(y, small, inside(&c))?;
    let inner = rw.add(rw.op('f')?, &[x, y])?;
    rw.broadcast(inner, shape, meet)
}

/// `f` on what is spread, beside constants that are spread likewise.
fn inside(rw: &mut Rw, op: Op, like: char, args: &[char]) -> Option<Id> {
    let (shape, b) = spread(rw, 'b')?;
    let small = rw.shape(rw.var(like));
    let mut built = Vec::new();
    for &name in args {
        let id = rw.var(name);
        built.push(if name.is_ascii_uppercase() {
            rw.respread(id, &small)?
        } else {
            id
        });
    }
    let inner = rw.add(op, &built)?;
    rw.broadcast(inner, shape, b)
}

fn past_right(rw: &mut Rw) -> Option<Id> {
    inside(rw, rw.op('f')?, 'x', &['x', 'C'])
}

fn past_left(rw: &mut Rw) -> Option<Id> {
    inside(rw, rw.op('f')?, 'x', &['C', 'x'])
}

fn out_of_choice(rw: &mut Rw) -> Option<Id> {
    inside(rw, Op::Select, 'c', &['c', 'C', 'D'])
}

fn out_of_then(rw: &mut Rw) -> Option<Id> {
    inside(rw, Op::Select, 'x', &['c', 'x', 'D'])
}

fn out_of_else(rw: &mut Rw) -> Option<Id> {
    inside(rw, Op::Select, 'x', &['c', 'D', 'x'])
}
