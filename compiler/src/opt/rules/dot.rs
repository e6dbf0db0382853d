//! Contractions: transposes folded into their dimension numbers, scalings and signs moved out, chains re-associated,
//! products with a common operand merged.

use super::vector::product;
use crate::ir::op::{BinaryOp, DotDims, Op, ReduceOp};
use crate::opt::rewrite::{Class::*, Rule, Rw};
use egg::Id;

#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    Rule::build("dot-transposed-left",    Exact,    "dot.d(transpose.p(x), y)",        "dot(x, y), its result transposed",       transposed_left),
    Rule::build("dot-transposed-right",   Exact,    "dot.d(x, transpose.p(y))",        "dot(x, y), its result transposed",       transposed_right),
    Rule::build("transposed-dot",         Exact,    "transpose.p(dot.d(x, y))",        "dot(y, x), if p swaps their axes",       transposed_dot),
    Rule::build("dot-ones-left",          Exact,    "dot.d(reshape.r(x), y)",          "dot(x, y), without free axes of length 1", ones_left),
    Rule::build("dot-ones-right",         Exact,    "dot.d(x, reshape.r(y))",          "dot(x, y), without free axes of length 1", ones_right),
    Rule::new("dot-neg-left",             Harmless, "dot.d(neg(x), y)",                "neg(dot.d(x, y))"),
    Rule::new("dot-neg-right",            Harmless, "dot.d(x, neg(y))",                "neg(dot.d(x, y))"),
    Rule::new("dot-scaled-left",          Fast,     "dot.d(mul(x, C), y)",             "mul(dot.d(x, y), C)").when("float x"),
    Rule::new("dot-scaled-right",         Fast,     "dot.d(x, mul(y, C))",             "mul(dot.d(x, y), C)").when("float x"),
    Rule::build("scaled-dot-left",        Fast,     "mul(dot.d(x, y), C)",             "dot(x * C, y), if x is smaller",         scaled_left).when("float x"),
    Rule::build("scaled-dot-right",       Fast,     "mul(dot.d(x, y), C)",             "dot(x, y * C), if y is smaller",         scaled_right).when("float x"),
    Rule::build("dot-chain-right",        Fast,     "dot.d(dot.e(x, y), z)",           "dot(x, dot(y, z))",                      chain_right).when("float x"),
    Rule::build("dot-chain-left",         Fast,     "dot.d(x, dot.e(y, z))",           "dot(dot(x, y), z)",                      chain_left).when("float x"),
    Rule::new("dots-of-one-left",         Fast,     "add(dot.d(x, y), dot.d(x, z))",   "dot.d(x, add(y, z))").when("float x"),
    Rule::new("dots-of-one-right",        Fast,     "add(dot.d(x, z), dot.d(y, z))",   "dot.d(add(x, y), z)").when("float x"),
    Rule::new("dots-of-one-left-sub",     Fast,     "sub(dot.d(x, y), dot.d(x, z))",   "dot.d(x, sub(y, z))").when("float x"),
    Rule::new("dots-of-one-right-sub",    Fast,     "sub(dot.d(x, z), dot.d(y, z))",   "dot.d(sub(x, y), z)").when("float x"),
    Rule::build("dot-rows-scaled-left",   Fast,     "dot.d(mul(x, broadcast.b(y)), z)", "dot(x, z) * broadcast(y), along kept axes", rows_scaled_left).when("float x"),
    Rule::build("dot-rows-scaled-right",  Fast,     "dot.d(z, mul(x, broadcast.b(y)))", "dot(z, x) * broadcast(y), along kept axes", rows_scaled_right).when("float x"),
    Rule::build("dot-of-const-right",     Fast,     "dot.d(x, C)",                     "reduce_sum(x) * C, spread",              of_const_right).when("float x"),
    Rule::build("dot-of-const-left",      Fast,     "dot.d(C, x)",                     "reduce_sum(x) * C, spread",              of_const_left).when("float x"),
    Rule::build("dots-beside-right",      Exact,    "concat.c(dot.d(x, y), dot.d(x, z))", "dot(x, concat(y, z)), along an axis of y", beside_right),
    Rule::build("dots-beside-left",       Exact,    "concat.c(dot.d(x, z), dot.d(y, z))", "dot(concat(x, y), z), along an axis of x", beside_left),
    Rule::build("dot-of-spread-left",     Exact,    "dot.d(broadcast.b(x), y)",        "dot(x, y), spread, where rows are alike", of_spread_left),
    Rule::build("dot-of-spread-right",    Exact,    "dot.d(y, broadcast.b(x))",        "dot(y, x), spread, where columns are alike", of_spread_right),
    Rule::build("outer-product",          Harmless, "dot.d(x, y)",                     "broadcast(x) * broadcast(y), over axes of length 1", outer),
];

pub(super) fn dims(rw: &Rw, name: char) -> Option<DotDims> {
    match rw.op(name)? {
        Op::Dot(dims) => Some(dims),
        _ => None,
    }
}

/// Dimensions that are neither shared nor contracted, in order.
pub(super) fn free(rank: usize, batch: &[usize], contract: &[usize]) -> Vec<usize> {
    (0..rank)
        .filter(|d| !batch.contains(d) && !contract.contains(d))
        .collect()
}

/// How a result is reordered when one operand's free axes come in another order: `given` are those of the new operand
/// by the dimension they have in the old one, in their new order.
fn restored(before: usize, given: &[usize], after: usize) -> Vec<usize> {
    let mut wanted = given.to_vec();
    wanted.sort_unstable();
    let mut order: Vec<usize> = (0..before).collect();
    order.extend(
        wanted
            .iter()
            .filter_map(|w| given.iter().position(|g| g == w))
            .map(|i| before + i),
    );
    order.extend((0..after).map(|i| before + given.len() + i));
    order
}

fn transposed_left(rw: &mut Rw) -> Option<Id> {
    let (x, y, d) = (rw.var('x'), rw.var('y'), dims(rw, 'd')?);
    let p = super::shape::perm(rw, 'p')?;
    let back = super::shape::inverse(&p);
    let through = |list: &[usize]| list.iter().map(|&i| p[i]).collect::<Vec<_>>();
    let new = DotDims {
        lhs_batch: through(&d.lhs_batch),
        lhs_contract: through(&d.lhs_contract),
        ..d.clone()
    };
    let given: Vec<usize> = free(p.len(), &new.lhs_batch, &new.lhs_contract)
        .iter()
        .map(|&i| back[i])
        .collect();
    let rank = rw.shape(y).len();
    let after = free(rank, &d.rhs_batch, &d.rhs_contract).len();
    let order = restored(d.lhs_batch.len(), &given, after);
    let product = rw.add(Op::Dot(new), &[x, y])?;
    rw.transpose(product, order)
}

fn transposed_right(rw: &mut Rw) -> Option<Id> {
    let (x, y, d) = (rw.var('x'), rw.var('y'), dims(rw, 'd')?);
    let p = super::shape::perm(rw, 'p')?;
    let back = super::shape::inverse(&p);
    let through = |list: &[usize]| list.iter().map(|&i| p[i]).collect::<Vec<_>>();
    let new = DotDims {
        rhs_batch: through(&d.rhs_batch),
        rhs_contract: through(&d.rhs_contract),
        ..d.clone()
    };
    let given: Vec<usize> = free(p.len(), &new.rhs_batch, &new.rhs_contract)
        .iter()
        .map(|&i| back[i])
        .collect();
    let rank = rw.shape(x).len();
    let left = free(rank, &d.lhs_batch, &d.lhs_contract).len();
    let order = restored(d.lhs_batch.len() + left, &given, 0);
    let product = rw.add(Op::Dot(new), &[x, y])?;
    rw.transpose(product, order)
}

fn swapped(d: DotDims) -> DotDims {
    DotDims {
        lhs_batch: d.rhs_batch,
        rhs_batch: d.lhs_batch,
        lhs_contract: d.rhs_contract,
        rhs_contract: d.lhs_contract,
    }
}

fn transposed_dot(rw: &mut Rw) -> Option<Id> {
    let (x, y, d) = (rw.var('x'), rw.var('y'), dims(rw, 'd')?);
    let p = super::shape::perm(rw, 'p')?;
    let batch = d.lhs_batch.len();
    let left = free(rw.shape(x).len(), &d.lhs_batch, &d.lhs_contract).len();
    let swap: Vec<usize> = (0..batch)
        .chain(batch + left..p.len())
        .chain(batch..batch + left)
        .collect();
    if p != swap {
        return None;
    }
    rw.add(Op::Dot(swapped(d)), &[y, x])
}

/// Drops the free axes of length 1 that a reshape put into an operand, and puts them into the result instead.
fn without_ones(rw: &mut Rw, left: bool) -> Option<Id> {
    let (x, y, d) = (rw.var('x'), rw.var('y'), dims(rw, 'd')?);
    let inner = if left { x } else { y };
    let Op::Reshape { shape } = rw.op('r')? else {
        return None;
    };
    let (batch, contract) = if left {
        (&d.lhs_batch, &d.lhs_contract)
    } else {
        (&d.rhs_batch, &d.rhs_contract)
    };
    let dropped: Vec<usize> = free(shape.len(), batch, contract)
        .into_iter()
        .filter(|&i| shape[i] == 1)
        .collect();
    let kept: Vec<usize> = (0..shape.len()).filter(|i| !dropped.contains(i)).collect();
    let small: Vec<usize> = kept.iter().map(|&i| shape[i]).collect();
    if dropped.is_empty() || rw.shape(inner) != small {
        return None;
    }
    let moved = |list: &[usize]| -> Vec<usize> {
        list.iter()
            .filter_map(|i| kept.iter().position(|k| k == i))
            .collect()
    };
    let (batch, contract) = (moved(batch), moved(contract));
    let new = if left {
        DotDims {
            lhs_batch: batch,
            lhs_contract: contract,
            ..d
        }
    } else {
        DotDims {
            rhs_batch: batch,
            rhs_contract: contract,
            ..d
        }
    };
    let product = rw.add(Op::Dot(new), &[x, y])?;
    let to = rw.shape(rw.root());
    rw.reshape(product, to)
}

fn ones_left(rw: &mut Rw) -> Option<Id> {
    without_ones(rw, true)
}

fn ones_right(rw: &mut Rw) -> Option<Id> {
    without_ones(rw, false)
}

pub(super) fn numel(rw: &Rw, id: Id) -> usize {
    rw.shape(id).iter().product()
}

fn scaled(rw: &mut Rw, left: bool) -> Option<Id> {
    let (x, y, c) = (rw.var('x'), rw.var('y'), rw.var('C'));
    let small = if left { x } else { y };
    if numel(rw, small) >= numel(rw, rw.root()) {
        return None;
    }
    let shape = rw.shape(small);
    let c = rw.respread(c, &shape)?;
    let scaled = rw.binary(BinaryOp::Mul, small, c)?;
    let args = if left { [scaled, y] } else { [x, scaled] };
    rw.add(rw.op('d')?, &args)
}

fn scaled_left(rw: &mut Rw) -> Option<Id> {
    scaled(rw, true)
}

fn scaled_right(rw: &mut Rw) -> Option<Id> {
    scaled(rw, false)
}

fn unbatched(d: &DotDims) -> bool {
    d.lhs_batch.is_empty()
}

fn chain_right(rw: &mut Rw) -> Option<Id> {
    let (d, e) = (dims(rw, 'd')?, dims(rw, 'e')?);
    right_first(rw, ['x', 'y', 'z'].map(|name| rw.var(name)), d, e)
}

/// `(x · y) · z` where `z` meets only axes of `y`.
pub(super) fn right_first(rw: &mut Rw, [x, y, z]: [Id; 3], d: DotDims, e: DotDims) -> Option<Id> {
    if !unbatched(&d) || !unbatched(&e) {
        return None;
    }
    let x_free = free(rw.shape(x).len(), &[], &e.lhs_contract).len();
    let y_rank = rw.shape(y).len();
    let y_free = free(y_rank, &[], &e.rhs_contract);
    let met: Option<Vec<usize>> = d
        .lhs_contract
        .iter()
        .map(|&i| i.checked_sub(x_free).and_then(|i| y_free.get(i).copied()))
        .collect();
    let inner = DotDims {
        lhs_batch: vec![],
        rhs_batch: vec![],
        lhs_contract: met?,
        rhs_contract: d.rhs_contract,
    };
    let left = free(y_rank, &[], &inner.lhs_contract);
    let places: Option<Vec<usize>> = e
        .rhs_contract
        .iter()
        .map(|i| left.iter().position(|l| l == i))
        .collect();
    let outer = DotDims {
        lhs_batch: vec![],
        rhs_batch: vec![],
        lhs_contract: e.lhs_contract,
        rhs_contract: places?,
    };
    let made = product(rw, inner, y, z)?;
    product(rw, outer, x, made)
}

fn chain_left(rw: &mut Rw) -> Option<Id> {
    let (d, e) = (dims(rw, 'd')?, dims(rw, 'e')?);
    left_first(rw, ['x', 'y', 'z'].map(|name| rw.var(name)), d, e)
}

/// `x · (y · z)` where `x` meets only axes of `y`.
pub(super) fn left_first(rw: &mut Rw, [x, y, z]: [Id; 3], d: DotDims, e: DotDims) -> Option<Id> {
    if !unbatched(&d) || !unbatched(&e) {
        return None;
    }
    let y_rank = rw.shape(y).len();
    let y_free = free(y_rank, &[], &e.lhs_contract);
    let met: Option<Vec<usize>> = d
        .rhs_contract
        .iter()
        .map(|&i| y_free.get(i).copied())
        .collect();
    let inner = DotDims {
        lhs_batch: vec![],
        rhs_batch: vec![],
        lhs_contract: d.lhs_contract,
        rhs_contract: met?,
    };
    let x_free = free(rw.shape(x).len(), &[], &inner.lhs_contract).len();
    let left = free(y_rank, &[], &inner.rhs_contract);
    let places: Option<Vec<usize>> = e
        .lhs_contract
        .iter()
        .map(|i| left.iter().position(|l| l == i).map(|i| x_free + i))
        .collect();
    let outer = DotDims {
        lhs_batch: vec![],
        rhs_batch: vec![],
        lhs_contract: places?,
        rhs_contract: e.rhs_contract,
    };
    let made = product(rw, inner, x, y)?;
    product(rw, outer, made, z)
}

/// A scaling along axes that a product keeps is as well done on its result.
fn rows_scaled(rw: &mut Rw, left: bool) -> Option<Id> {
    let (x, y, z, d) = (rw.var('x'), rw.var('y'), rw.var('z'), dims(rw, 'd')?);
    let (shape, b) = super::broadcast::spread(rw, 'b')?;
    let (batch, contract) = if left {
        (&d.lhs_batch, &d.lhs_contract)
    } else {
        (&d.rhs_batch, &d.rhs_contract)
    };
    if b.iter().any(|i| contract.contains(i)) {
        return None;
    }
    let own = free(shape.len(), batch, contract);
    let before = if left {
        0
    } else {
        free(rw.shape(z).len(), &d.lhs_batch, &d.lhs_contract).len()
    };
    let place = |i: &usize| -> Option<usize> {
        let shared = batch.iter().position(|s| s == i);
        let after = || {
            own.iter()
                .position(|o| o == i)
                .map(|o| batch.len() + before + o)
        };
        shared.or_else(after)
    };
    let places: Option<Vec<usize>> = b.iter().map(place).collect();
    let places = places?;
    // Shared axes may come in another order, which a broadcast cannot express.
    if places.windows(2).any(|w| w[0] >= w[1]) {
        return None;
    }
    let args = if left { [x, z] } else { [z, x] };
    let product = rw.add(Op::Dot(d.clone()), &args)?;
    let to = rw.shape(product);
    let factor = rw.broadcast(y, to, places)?;
    rw.binary(BinaryOp::Mul, product, factor)
}

fn rows_scaled_left(rw: &mut Rw) -> Option<Id> {
    rows_scaled(rw, true)
}

fn rows_scaled_right(rw: &mut Rw) -> Option<Id> {
    rows_scaled(rw, false)
}

/// With nothing to add up, a contraction is a product of spread values.
fn outer(rw: &mut Rw) -> Option<Id> {
    let (x, y, d) = (rw.var('x'), rw.var('y'), dims(rw, 'd')?);
    let (xs, ys) = (rw.shape(x), rw.shape(y));
    if d.lhs_contract.iter().any(|&i| xs[i] != 1) {
        return None;
    }
    let x_free = free(xs.len(), &d.lhs_batch, &d.lhs_contract);
    let y_free = free(ys.len(), &d.rhs_batch, &d.rhs_contract);
    let ascending = |list: &[usize], free: &[usize]| {
        let order: Vec<usize> = list.iter().chain(free).copied().collect();
        order.windows(2).all(|w| w[0] < w[1])
    };
    if !ascending(&d.lhs_batch, &x_free) || !ascending(&d.rhs_batch, &y_free) {
        return None;
    }
    let batch = d.lhs_batch.len();
    let to = rw.shape(rw.root());
    let kept = |shape: &[usize], batch: &[usize], free: &[usize]| -> Vec<usize> {
        batch.iter().chain(free).map(|&i| shape[i]).collect()
    };
    let left = rw.reshape(x, kept(&xs, &d.lhs_batch, &x_free))?;
    let right = rw.reshape(y, kept(&ys, &d.rhs_batch, &y_free))?;
    let left = rw.broadcast(left, to.clone(), (0..batch + x_free.len()).collect())?;
    let right_dims = (0..batch).chain(batch + x_free.len()..to.len()).collect();
    let right = rw.broadcast(right, to, right_dims)?;
    rw.binary(BinaryOp::Mul, left, right)
}

/// Every element contracted with one number: a sum, times that.
fn of_const(rw: &mut Rw, left: bool) -> Option<Id> {
    let (x, c, d) = (rw.var('x'), rw.var('C'), dims(rw, 'd')?);
    let (batch, contract) = if left {
        (&d.rhs_batch, &d.rhs_contract)
    } else {
        (&d.lhs_batch, &d.lhs_contract)
    };
    let rank = rw.shape(x).len();
    let mut axes = contract.clone();
    axes.sort_unstable();
    if axes.is_empty() {
        return None;
    }
    let sum = rw.add(
        Op::Reduce {
            op: ReduceOp::Sum,
            axes: axes.clone(),
        },
        &[x],
    )?;
    let kept: Vec<usize> = (0..rank).filter(|a| !axes.contains(a)).collect();
    let own = free(rank, batch, contract);
    let order: Vec<usize> = batch
        .iter()
        .chain(&own)
        .filter_map(|a| kept.iter().position(|k| k == a))
        .collect();
    let sum = rw.transpose(sum, order)?;
    let shape = rw.shape(sum);
    let c = rw.respread(c, &shape)?;
    let scaled = rw.binary(BinaryOp::Mul, sum, c)?;
    let to = rw.shape(rw.root());
    let first = if left {
        to.len() - own.len()
    } else {
        batch.len()
    };
    let places = (0..batch.len()).chain(first..first + own.len()).collect();
    rw.broadcast(scaled, to, places)
}

fn of_const_right(rw: &mut Rw) -> Option<Id> {
    of_const(rw, false)
}

fn of_const_left(rw: &mut Rw) -> Option<Id> {
    of_const(rw, true)
}

/// Products with a common operand side by side are one product.
fn beside(rw: &mut Rw, left: bool) -> Option<Id> {
    let (x, y, z, d) = (rw.var('x'), rw.var('y'), rw.var('z'), dims(rw, 'd')?);
    let Op::Concat { axis } = rw.op('c')? else {
        return None;
    };
    let batch = d.lhs_batch.len();
    let lhs_free = free(rw.shape(x).len(), &d.lhs_batch, &d.lhs_contract);
    // The axis of the operands that the results are put together along.
    let inner = if left {
        *lhs_free.get(axis.checked_sub(batch)?)?
    } else {
        let rhs_free = free(rw.shape(y).len(), &d.rhs_batch, &d.rhs_contract);
        *rhs_free.get(axis.checked_sub(batch + lhs_free.len())?)?
    };
    let parts = if left { [x, y] } else { [y, z] };
    let whole = super::shape::concat(rw, &parts, inner)?;
    let args = if left { [whole, z] } else { [x, whole] };
    rw.add(Op::Dot(d), &args)
}

fn beside_right(rw: &mut Rw) -> Option<Id> {
    beside(rw, false)
}

fn beside_left(rw: &mut Rw) -> Option<Id> {
    beside(rw, true)
}

/// A product with a matrix whose rows or columns are alike is computed for one of them.
fn of_spread(rw: &mut Rw, left: bool) -> Option<Id> {
    let (x, y, d) = (rw.var('x'), rw.var('y'), dims(rw, 'd')?);
    let Op::Broadcast { shape, dims } = rw.op('b')? else {
        return None;
    };
    if dims.iter().zip(rw.shape(x)).any(|(&to, n)| shape[to] != n) {
        return None;
    }
    let (batch, contract) = match left {
        true => (&d.lhs_batch, &d.lhs_contract),
        false => (&d.rhs_batch, &d.rhs_contract),
    };
    let at = |axes: &[usize]| -> Option<Vec<usize>> {
        axes.iter()
            .map(|a| dims.iter().position(|d| d == a))
            .collect()
    };
    let (own_batch, own_contract) = (at(batch)?, at(contract)?);
    let own_free = free(shape.len(), batch, contract);
    if own_free.iter().all(|a| dims.contains(a)) {
        return None;
    }
    let result = rw.shape(rw.root());
    let others = result.len() - batch.len() - own_free.len();
    let first = batch.len() + if left { 0 } else { others };
    let dropped = |axis: &usize| {
        let own = axis.checked_sub(first).and_then(|i| own_free.get(i));
        own.is_some_and(|a| !dims.contains(a))
    };
    let kept = (0..result.len()).filter(|axis| !dropped(axis)).collect();
    let (op, args) = match left {
        true => (
            DotDims {
                lhs_batch: own_batch,
                lhs_contract: own_contract,
                ..d
            },
            [x, y],
        ),
        false => (
            DotDims {
                rhs_batch: own_batch,
                rhs_contract: own_contract,
                ..d
            },
            [y, x],
        ),
    };
    let one = rw.add(Op::Dot(op), &args)?;
    rw.broadcast(one, result, kept)
}

fn of_spread_left(rw: &mut Rw) -> Option<Id> {
    of_spread(rw, true)
}

fn of_spread_right(rw: &mut Rw) -> Option<Id> {
    of_spread(rw, false)
}
