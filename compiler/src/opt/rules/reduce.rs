//! Reductions: of what is spread, of reductions, of scaled values.
//!
//! The order in which a reduction adds is nobody's promise, so rules that only change it are `harmless`.

use crate::ir::Type;
use crate::ir::literal::{decode_f64, encode_i64};
use crate::ir::op::{BinaryOp, DotDims, Op, ReduceOp, UnaryOp};
use crate::opt::rewrite::{Class::*, Rule, Rw};
use egg::Id;

#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    Rule::build("max-over-nothing",      Exact,    "reduce_max.r(x)",                      "x, over no axes",                        reduce_nothing),
    Rule::build("min-over-nothing",      Exact,    "reduce_min.r(x)",                      "x, over no axes",                        reduce_nothing),
    Rule::build("prod-over-nothing",     Exact,    "reduce_prod.r(x)",                     "x, over no axes",                        reduce_nothing),
    Rule::build("sum-over-nothing-int",  Exact,    "reduce_sum.r(x)",                      "x, over no axes",                        reduce_nothing).when("int x"),
    Rule::build("sum-over-nothing",      Harmless, "reduce_sum.r(x)",                      "x, over no axes",                        reduce_nothing).when("float x"),
    Rule::build("reduce-max-ones",       Exact,    "reduce_max.r(x)",                      "over axes longer than 1",                reduce_ones),
    Rule::build("reduce-min-ones",       Exact,    "reduce_min.r(x)",                      "over axes longer than 1",                reduce_ones),
    Rule::build("reduce-prod-ones",      Exact,    "reduce_prod.r(x)",                     "over axes longer than 1",                reduce_ones),
    Rule::build("reduce-sum-ones-int",   Exact,    "reduce_sum.r(x)",                      "over axes longer than 1",                reduce_ones).when("int x"),
    Rule::build("reduce-sum-ones",       Harmless, "reduce_sum.r(x)",                      "over axes longer than 1",                reduce_ones).when("float x"),
    Rule::build("max-of-max",            Exact,    "reduce_max.r(reduce_max.s(x))",        "over the axes of both",                  reduce_reduce),
    Rule::build("min-of-min",            Exact,    "reduce_min.r(reduce_min.s(x))",        "over the axes of both",                  reduce_reduce),
    Rule::build("sum-of-sum-int",        Exact,    "reduce_sum.r(reduce_sum.s(x))",        "over the axes of both",                  reduce_reduce).when("int x"),
    Rule::build("sum-of-sum",            Harmless, "reduce_sum.r(reduce_sum.s(x))",        "over the axes of both",                  reduce_reduce).when("float x"),
    Rule::build("max-of-broadcast",      Exact,    "reduce_max.r(broadcast.b(x))",         "broadcast(reduce_max(x))",               reduce_broadcast),
    Rule::build("min-of-broadcast",      Exact,    "reduce_min.r(broadcast.b(x))",         "broadcast(reduce_min(x))",               reduce_broadcast),
    Rule::build("sum-of-broadcast-int",  Exact,    "reduce_sum.r(broadcast.b(x))",         "broadcast(reduce_sum(x)) * n",           reduce_broadcast).when("int x"),
    Rule::build("sum-of-broadcast",      Harmless, "reduce_sum.r(broadcast.b(x))",         "broadcast(reduce_sum(x)) * n",           reduce_broadcast).when("float x"),
    Rule::build("sum-of-const",          Harmless, "reduce_sum.r(C)",                      "C * n",                                  sum_of_const).when("float C"),
    Rule::build("max-of-transpose",      Exact,    "reduce_max.r(transpose.p(x))",         "transpose(reduce_max(x))",               reduce_transpose),
    Rule::build("min-of-transpose",      Exact,    "reduce_min.r(transpose.p(x))",         "transpose(reduce_min(x))",               reduce_transpose),
    Rule::build("sum-of-transpose-int",  Exact,    "reduce_sum.r(transpose.p(x))",         "transpose(reduce_sum(x))",               reduce_transpose).when("int x"),
    Rule::build("sum-of-transpose",      Harmless, "reduce_sum.r(transpose.p(x))",         "transpose(reduce_sum(x))",               reduce_transpose).when("float x"),
    Rule::build("reduce-of-reshape",     Exact,    "reduce.r(reshape.s(x))",               "reduce(x), over everything",             reduce_reshape),
    Rule::new("sum-of-neg",              Harmless, "reduce_sum.r(neg(x))",                 "neg(reduce_sum.r(x))"),
    Rule::build("max-of-neg",            Exact,    "reduce_max.r(neg(x))",                 "neg(reduce_min(x))",                     extreme_of_neg).when("float x"),
    Rule::build("min-of-neg",            Exact,    "reduce_min.r(neg(x))",                 "neg(reduce_max(x))",                     extreme_of_neg).when("float x"),
    Rule::new("sum-of-scaled",           Fast,     "reduce_sum.r(mul(x, C))",              "mul(reduce_sum.r(x), C)").when("float x"),
    Rule::new("sum-of-scaled-int",       Exact,    "reduce_sum.r(mul(x, C))",              "mul(reduce_sum.r(x), C)").when("int x"),
    Rule::build("sum-of-scaled-rows",    Fast,     "reduce_sum.r(mul(x, broadcast.b(y)))", "mul(reduce_sum(x), broadcast(y))",       sum_of_scaled).when("float x"),
    Rule::build("sum-of-divided-rows",   Fast,     "reduce_sum.r(div(x, broadcast.b(y)))", "div(reduce_sum(x), broadcast(y))",       sum_of_divided).when("float x"),
    Rule::build("max-of-floor-const",    Exact,    "reduce_max.r(max(x, C))",              "max(reduce_max(x), C)",                  extreme_of_bounded),
    Rule::build("min-of-ceil-const",     Exact,    "reduce_min.r(min(x, C))",              "min(reduce_min(x), C)",                  extreme_of_bounded),
    Rule::build("max-of-shifted",        Exact,    "reduce_max.r(add(x, C))",              "reduce_max(x) + C",                      extreme_of_shifted).when("float x, finite C"),
    Rule::build("min-of-shifted",        Exact,    "reduce_min.r(add(x, C))",              "reduce_min(x) + C",                      extreme_of_shifted).when("float x, finite C"),
    Rule::build("max-of-scaled",         Exact,    "reduce_max.r(mul(x, C))",              "reduce_max(x) * C",                      extreme_of_scaled).when("float x, finite C, positive C"),
    Rule::build("min-of-scaled",         Exact,    "reduce_min.r(mul(x, C))",              "reduce_min(x) * C",                      extreme_of_scaled).when("float x, finite C, positive C"),
    Rule::build("window-max-of-floor",   Exact,    "reduce_window_max.w(max(x, C))",       "max(reduce_window_max(x), C), without padding", window_of_bounded),
    Rule::build("sum-of-outer",          Reassoc,  "reduce_sum.r(mul(broadcast.b(x), broadcast.c(y)))", "dot(x, y)",                 sum_of_outer).when("float x"),
    Rule::build("sum-of-padded",         Harmless, "reduce_sum.r(pad.p(x, 0))",            "reduce_sum(x), if every padded axis is summed", sum_of_padded),
    Rule::build("sum-of-reversed",       Harmless, "reduce_sum.r(reverse.s(x))",           "reverse(reduce_sum(x))",                 reduce_reverse),
    Rule::build("max-of-reversed",       Exact,    "reduce_max.r(reverse.s(x))",           "reverse(reduce_max(x))",                 reduce_reverse),
];

pub(super) fn over(rw: &Rw, name: char) -> Option<(ReduceOp, Vec<usize>)> {
    match rw.op(name)? {
        Op::Reduce { op, axes } => Some((op, axes)),
        _ => None,
    }
}

pub(super) fn reduce(rw: &mut Rw, op: ReduceOp, axes: Vec<usize>, x: Id) -> Option<Id> {
    if axes.is_empty() {
        return Some(x);
    }
    rw.add(Op::Reduce { op, axes }, &[x])
}

fn reduce_nothing(rw: &mut Rw) -> Option<Id> {
    let (_, axes) = over(rw, 'r')?;
    axes.is_empty().then(|| rw.var('x'))
}

fn reduce_ones(rw: &mut Rw) -> Option<Id> {
    let (x, (op, axes)) = (rw.var('x'), over(rw, 'r')?);
    let shape = rw.shape(x);
    if !axes.iter().any(|&a| shape[a] == 1) {
        return None;
    }
    let ones = |d: &usize| axes.contains(d) && shape[*d] == 1;
    let kept: Vec<usize> = (0..shape.len()).filter(|d| !ones(d)).collect();
    let squeezed = rw.reshape(x, kept.iter().map(|&d| shape[d]).collect())?;
    let axes = (0..kept.len())
        .filter(|&i| axes.contains(&kept[i]))
        .collect();
    reduce(rw, op, axes, squeezed)
}

/// The dimensions of a value of this rank that stay when `axes` go.
pub(super) fn remaining(rank: usize, axes: &[usize]) -> Vec<usize> {
    (0..rank).filter(|d| !axes.contains(d)).collect()
}

fn reduce_reduce(rw: &mut Rw) -> Option<Id> {
    let (x, (op, outer), (_, inner)) = (rw.var('x'), over(rw, 'r')?, over(rw, 's')?);
    let kept = remaining(rw.shape(x).len(), &inner);
    let mut axes = inner;
    axes.extend(outer.iter().map(|&a| kept[a]));
    axes.sort_unstable();
    reduce(rw, op, axes, x)
}

fn reduce_broadcast(rw: &mut Rw) -> Option<Id> {
    let (x, (op, axes)) = (rw.var('x'), over(rw, 'r')?);
    let (shape, b) = super::broadcast::spread(rw, 'b')?;
    let from = rw.shape(x);
    let new = |d: &usize| {
        b.iter()
            .zip(&from)
            .all(|(e, size)| e != d || *size != shape[*d])
    };
    let count: usize = axes.iter().filter(|d| new(d)).map(|&d| shape[d]).product();
    let spread_axes = axes.iter().any(new);
    // An empty reduction is the identity, which an operand that is not empty does not give.
    if !spread_axes || (count == 0 && op != ReduceOp::Sum) {
        return None;
    }
    let own: Vec<usize> = (0..b.len()).filter(|&i| axes.contains(&b[i])).collect();
    let reduced = reduce(rw, op, own.clone(), x)?;
    let kept = remaining(shape.len(), &axes);
    let dims = remaining(b.len(), &own)
        .iter()
        .filter_map(|&i| kept.iter().position(|&k| k == b[i]))
        .collect();
    let reduced = if op == ReduceOp::Sum {
        let times = counted(rw, count, rw.ty(reduced))?;
        rw.binary(BinaryOp::Mul, reduced, times)?
    } else {
        reduced
    };
    let to = rw.shape(rw.root());
    rw.broadcast(reduced, to, dims)
}

fn sum_of_const(rw: &mut Rw) -> Option<Id> {
    let (c, (_, axes)) = (rw.var('C'), over(rw, 'r')?);
    let shape = rw.shape(c);
    let count: usize = axes.iter().map(|&a| shape[a]).product();
    let ty = rw.ty(rw.root());
    let c = rw.respread(c, &ty.shape)?;
    let count = counted(rw, count, ty)?;
    rw.binary(BinaryOp::Mul, c, count)
}

/// A count as a constant, where the type holds it: f16 ends at 65504. Integers wrap, as their sums do. A float times
/// a count of 0 need not be 0.
fn counted(rw: &mut Rw, count: usize, ty: Type) -> Option<Id> {
    if count == 0 && ty.elem.is_float() {
        return None;
    }
    let bits = encode_i64(ty.elem, count as i64);
    let held = !ty.elem.is_float() || decode_f64(ty.elem, bits) == count as f64;
    held.then(|| rw.splat_bits(ty, bits))?
}

fn extreme_of_neg(rw: &mut Rw) -> Option<Id> {
    let (op, axes) = over(rw, 'r')?;
    let other = match op {
        ReduceOp::Max => ReduceOp::Min,
        ReduceOp::Min => ReduceOp::Max,
        ReduceOp::Sum | ReduceOp::Prod => return None,
    };
    let reduced = reduce(rw, other, axes, rw.var('x'))?;
    rw.unary(UnaryOp::Neg, reduced)
}

fn reduce_transpose(rw: &mut Rw) -> Option<Id> {
    let (x, (op, axes)) = (rw.var('x'), over(rw, 'r')?);
    let p = super::shape::perm(rw, 'p')?;
    let mut inner: Vec<usize> = axes.iter().map(|&a| p[a]).collect();
    inner.sort_unstable();
    let kept = remaining(p.len(), &inner);
    let order = remaining(p.len(), &axes)
        .iter()
        .filter_map(|&d| kept.iter().position(|&k| k == p[d]))
        .collect();
    let reduced = reduce(rw, op, inner, x)?;
    rw.transpose(reduced, order)
}

fn reduce_reshape(rw: &mut Rw) -> Option<Id> {
    let (x, (op, _)) = (rw.var('x'), over(rw, 'r')?);
    // A scalar would not be added to anything, which tells −0 from +0.
    if !rw.shape(rw.root()).is_empty() || rw.shape(x).is_empty() {
        return None;
    }
    let all = (0..rw.shape(x).len()).collect();
    reduce(rw, op, all, x)
}

fn reduce_reverse(rw: &mut Rw) -> Option<Id> {
    let (x, (op, axes)) = (rw.var('x'), over(rw, 'r')?);
    let Op::Reverse { axes: reversed } = rw.op('s')? else {
        return None;
    };
    let kept = remaining(rw.shape(x).len(), &axes);
    let after: Vec<usize> = (0..kept.len())
        .filter(|&i| reversed.contains(&kept[i]))
        .collect();
    let reduced = reduce(rw, op, axes, x)?;
    if after.is_empty() {
        return Some(reduced);
    }
    rw.add(Op::Reverse { axes: after }, &[reduced])
}

/// `y` spread over what is left of the summed value, if no summed axis is one of `y`'s.
fn factor(rw: &mut Rw, axes: &[usize]) -> Option<Id> {
    let (shape, b) = super::broadcast::spread(rw, 'b')?;
    if b.iter().any(|d| axes.contains(d)) {
        return None;
    }
    let kept = remaining(shape.len(), axes);
    let dims = b
        .iter()
        .filter_map(|d| kept.iter().position(|k| k == d))
        .collect();
    let to = rw.shape(rw.root());
    rw.broadcast(rw.var('y'), to, dims)
}

fn sum_of_scaled(rw: &mut Rw) -> Option<Id> {
    let (op, axes) = over(rw, 'r')?;
    let y = factor(rw, &axes)?;
    let sum = reduce(rw, op, axes, rw.var('x'))?;
    rw.binary(BinaryOp::Mul, sum, y)
}

fn sum_of_divided(rw: &mut Rw) -> Option<Id> {
    let (op, axes) = over(rw, 'r')?;
    let y = factor(rw, &axes)?;
    let sum = reduce(rw, op, axes, rw.var('x'))?;
    rw.binary(BinaryOp::Div, sum, y)
}

/// A product of two spread values, summed where they meet, is a contraction.
fn sum_of_outer(rw: &mut Rw) -> Option<Id> {
    let (x, y, (_, axes)) = (rw.var('x'), rw.var('y'), over(rw, 'r')?);
    let ((shape, b), (_, c)) = (
        super::broadcast::spread(rw, 'b')?,
        super::broadcast::spread(rw, 'c')?,
    );
    let full =
        |from: &[usize], dims: &[usize]| dims.iter().zip(from).all(|(&d, &size)| size == shape[d]);
    if !full(&rw.shape(x), &b) || !full(&rw.shape(y), &c) {
        return None;
    }
    let both: Vec<usize> = b.iter().copied().filter(|d| c.contains(d)).collect();
    // Every summed axis is in both, every other in one at least; otherwise other rules come first.
    let fits = (0..shape.len()).all(|d| {
        if axes.contains(&d) {
            both.contains(&d)
        } else {
            b.contains(&d) || c.contains(&d)
        }
    });
    if !fits || axes.is_empty() {
        return None;
    }
    let places = |dims: &[usize], summed: bool| -> Vec<usize> {
        both.iter()
            .filter(|d| axes.contains(d) == summed)
            .filter_map(|d| dims.iter().position(|e| e == d))
            .collect()
    };
    let dims = DotDims {
        lhs_batch: places(&b, false),
        rhs_batch: places(&c, false),
        lhs_contract: places(&b, true),
        rhs_contract: places(&c, true),
    };
    let product = rw.add(Op::Dot(dims), &[x, y])?;
    // The product has the shared axes first, then those of `x`, then those of `y`.
    let alone = |dims: &[usize]| -> Vec<usize> {
        dims.iter().copied().filter(|d| !both.contains(d)).collect()
    };
    let mut given: Vec<usize> = both.iter().copied().filter(|d| !axes.contains(d)).collect();
    given.extend(alone(&b));
    given.extend(alone(&c));
    let order = remaining(shape.len(), &axes)
        .iter()
        .filter_map(|d| given.iter().position(|g| g == d))
        .collect();
    rw.transpose(product, order)
}

fn sum_of_padded(rw: &mut Rw) -> Option<Id> {
    let (op, axes) = over(rw, 'r')?;
    let Op::Pad { low, high, .. } = rw.op('p')? else {
        return None;
    };
    let fits = (0..low.len()).all(|d| {
        let adds = low[d] >= 0 && high[d] >= 0;
        let none = low[d] == 0 && high[d] == 0;
        if axes.contains(&d) { adds } else { none }
    });
    let Op::Pad { interior, .. } = rw.op('p')? else {
        return None;
    };
    let inner = (0..low.len()).all(|d| axes.contains(&d) || interior[d] == 0);
    (fits && inner).then(|| reduce(rw, op, axes, rw.var('x')))?
}

/// The largest of values that are at least `C`.
fn extreme_of_bounded(rw: &mut Rw) -> Option<Id> {
    let bound = match over(rw, 'r')?.0 {
        ReduceOp::Max => BinaryOp::Max,
        ReduceOp::Min => BinaryOp::Min,
        ReduceOp::Sum | ReduceOp::Prod => return None,
    };
    extreme_first(rw, bound)
}

/// Adding a number keeps the order.
fn extreme_of_shifted(rw: &mut Rw) -> Option<Id> {
    extreme_first(rw, BinaryOp::Add)
}

/// So does multiplying by a positive one.
fn extreme_of_scaled(rw: &mut Rw) -> Option<Id> {
    extreme_first(rw, BinaryOp::Mul)
}

fn extreme_first(rw: &mut Rw, then: BinaryOp) -> Option<Id> {
    let (x, (op, axes)) = (rw.var('x'), over(rw, 'r')?);
    let shape = rw.shape(x);
    // Nothing is reduced where an axis is empty: the bound would be lost, or gained.
    if axes.iter().any(|&a| shape[a] == 0) {
        return None;
    }
    let reduced = reduce(rw, op, axes, x)?;
    let shape = rw.shape(reduced);
    let c = rw.respread(rw.var('C'), &shape)?;
    rw.binary(then, reduced, c)
}

fn window_of_bounded(rw: &mut Rw) -> Option<Id> {
    let op = rw.op('w')?;
    let Op::ReduceWindow { window, .. } = &op else {
        return None;
    };
    let padded = window
        .padding
        .iter()
        .any(|&(low, high)| low > 0 || high > 0);
    let spread = window.base_dilation.iter().any(|&d| d != 1);
    if padded || spread || window.size.contains(&0) {
        return None;
    }
    let reduced = rw.add(op.clone(), &[rw.var('x')])?;
    let shape = rw.shape(reduced);
    let c = rw.respread(rw.var('C'), &shape)?;
    rw.binary(BinaryOp::Max, reduced, c)
}
