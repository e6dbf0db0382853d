//! Matrices with zeros beside their diagonal or on one side of it, and diagonals of products.

use super::dot::dims;
use super::reduce::{over, reduce};
use crate::ir::Type;
use crate::ir::op::{BinaryOp, Op, ReduceOp};
use crate::opt::rewrite::{Class::*, Rule, Rw};
use egg::Id;

#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    Rule::build("identity-dot-left",   Fast,    "dot.d(convert.c(eq(iota.i(), iota.j())), x)", "x, its contracted axis first", identity_left),
    Rule::build("identity-dot-right",  Fast,    "dot.d(x, convert.c(eq(iota.i(), iota.j())))", "x, its contracted axis last",  identity_right),
    Rule::build("diagonal-dot-left",   Fast,    "dot.d(select(eq(iota.i(), iota.j()), broadcast.b(v), 0), x)", "x * broadcast(v), its contracted axis first", diagonal_left),
    Rule::build("diagonal-dot-right",  Fast,    "dot.d(x, select(eq(iota.i(), iota.j()), broadcast.b(v), 0))", "x * broadcast(v), its contracted axis last",  diagonal_right),
    Rule::build("triangle-dot-left",   Fast,    "dot.d(convert.c(le(iota.i(), iota.j())), x)", "cumulate_sum(x), along its contracted axis", triangle_left),
    Rule::build("triangle-dot-right",  Fast,    "dot.d(x, convert.c(le(iota.i(), iota.j())))", "cumulate_sum(x), along its contracted axis", triangle_right),
    Rule::build("trace-of-dot",        Reassoc, "reduce_sum.r(select(eq(iota.i(), iota.j()), dot.d(x, y), 0))", "reduce_sum(x * transpose(y)), of the diagonal only", trace_of_dot),
    Rule::build("diagonal-of-dot",     Reassoc, "slice.s(reshape.r(dot.d(x, y)))", "reduce_sum(x * transpose(y)), where only the diagonal is kept", diagonal_of_dot).when("float x"),
];

/// Whether a matrix is as long as it is wide, and its positions are counted without a gap along two different axes.
fn on_the_diagonal(rw: &Rw) -> Option<Type> {
    let (Op::Iota { ty, axis: i }, Op::Iota { axis: j, .. }) = (rw.op('i')?, rw.op('j')?) else {
        return None;
    };
    let square = ty.shape.len() == 2 && ty.shape[0] == ty.shape[1] && i != j;
    let counted = super::convert::counts_to(ty.elem) >= *ty.shape.first()? as u64;
    (square && counted).then_some(ty)
}

/// `x` as its product with an identity matrix is, and the axis of that which is contracted.
fn times_identity(rw: &mut Rw, left: bool) -> Option<(Id, usize)> {
    on_the_diagonal(rw)?;
    let d = dims(rw, 'd')?;
    let axis = *if left {
        &d.rhs_contract
    } else {
        &d.lhs_contract
    }
    .first()?;
    if !d.lhs_batch.is_empty() || d.lhs_contract.len() != 1 {
        return None;
    }
    let x = rw.var('x');
    let rest = (0..rw.shape(x).len()).filter(|&a| a != axis);
    let once = std::iter::once(axis);
    let (order, at) = match left {
        true => (once.chain(rest).collect(), 0),
        false => (rest.chain(once).collect(), rw.shape(x).len() - 1),
    };
    Some((rw.transpose(x, order)?, at))
}

fn identity_left(rw: &mut Rw) -> Option<Id> {
    times_identity(rw, true).map(|(x, _)| x)
}

fn identity_right(rw: &mut Rw) -> Option<Id> {
    times_identity(rw, false).map(|(x, _)| x)
}

/// Each row is multiplied by the number on the diagonal that meets it.
fn times_diagonal(rw: &mut Rw, left: bool) -> Option<Id> {
    let v = rw.var('v');
    let size = on_the_diagonal(rw)?.shape[0];
    let (x, at) = times_identity(rw, left)?;
    // The same numbers along either axis, or one number for all.
    let dims = match rw.shape(v)[..] {
        [] => vec![],
        [n] if n == size => vec![at],
        _ => return None,
    };
    let spread = rw.broadcast(v, rw.shape(x), dims)?;
    rw.binary(BinaryOp::Mul, x, spread)
}

fn diagonal_left(rw: &mut Rw) -> Option<Id> {
    times_diagonal(rw, true)
}

fn diagonal_right(rw: &mut Rw) -> Option<Id> {
    times_diagonal(rw, false)
}

/// A triangle of ones adds up all that stands before, or all that stands after.
fn times_triangle(rw: &mut Rw, left: bool) -> Option<Id> {
    let (x, axis) = times_identity(rw, left)?;
    let (d, Op::Iota { axis: smaller, .. }) = (dims(rw, 'd')?, rw.op('i')?) else {
        return None;
    };
    let met = *if left {
        &d.lhs_contract
    } else {
        &d.rhs_contract
    }
    .first()?;
    let sums = Op::Cumulate {
        op: ReduceOp::Sum,
        axis,
        reverse: met != smaller,
    };
    rw.add(sums, &[x])
}

fn triangle_left(rw: &mut Rw) -> Option<Id> {
    times_triangle(rw, true)
}

fn triangle_right(rw: &mut Rw) -> Option<Id> {
    times_triangle(rw, false)
}

/// Two matrices multiplied element by element so that the sums along an axis, which is given too, are the diagonal of
/// their product.
fn rows_met(rw: &mut Rw) -> Option<(Id, usize)> {
    let (x, y, d) = (rw.var('x'), rw.var('y'), dims(rw, 'd')?);
    let plain = d.lhs_batch.is_empty() && d.lhs_contract.len() == 1;
    let (left, right) = (rw.shape(x), rw.shape(y));
    if !plain || left.len() != 2 || right.len() != 2 {
        return None;
    }
    // The axis of `y` that meets each axis of `x`: the contracted one, and the one with the same place on the diagonal.
    let (inner, met) = (d.lhs_contract[0], d.rhs_contract[0]);
    if left[1 - inner] != right[1 - met] {
        return None;
    }
    let perm = if inner == 1 {
        vec![1 - met, met]
    } else {
        vec![met, 1 - met]
    };
    let turned = rw.transpose(y, perm)?;
    Some((rw.binary(BinaryOp::Mul, x, turned)?, inner))
}

/// Of a product of which only the diagonal is summed, the rest need not be computed.
fn trace_of_dot(rw: &mut Rw) -> Option<Id> {
    let (op, axes) = over(rw, 'r')?;
    on_the_diagonal(rw)?;
    if axes.is_empty() {
        return None;
    }
    let (product, inner) = rows_met(rw)?;
    let axes = if axes.len() == 2 { axes } else { vec![inner] };
    reduce(rw, op, axes, product)
}

/// The diagonal is every element that stands one further in its row than the one before.
fn diagonal_of_dot(rw: &mut Rw) -> Option<Id> {
    let Op::Slice {
        start,
        limit,
        stride,
    } = rw.op('s')?
    else {
        return None;
    };
    let (product, inner) = rows_met(rw)?;
    let n = rw.shape(product)[1 - inner];
    let last = n.checked_sub(1)? * (n + 1);
    let diagonal = start == [0] && stride == [n + 1] && limit[0] > last;
    if !diagonal || rw.shape(rw.root()) != [n] {
        return None;
    }
    reduce(rw, ReduceOp::Sum, vec![inner], product)
}
