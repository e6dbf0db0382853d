//! Outer products: products of values that are spread over different axes. They are never made where a sum over them, or
//! their norm, is what is wanted: the gradients of single examples are such products, and private training wants nothing else of them.

use super::broadcast::spread;
use super::reduce::{over, remaining};
use crate::ir::op::{BinaryOp, Op};
use crate::opt::rewrite::{Class::*, Rule, Rw};
use egg::Id;

#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    Rule::build("square-of-outer", Fast, "mul(mul(broadcast.b(x), broadcast.c(y)), mul(broadcast.d(x), broadcast.e(y)))", "mul(broadcast(x * x), broadcast(y * y))", square_of_outer).when("float x"),
    Rule::build("scaled-outer",    Fast, "mul(mul(broadcast.b(x), broadcast.c(y)), broadcast.d(z))", "mul(broadcast(x), broadcast(y * z))", scaled_outer).when("float x"),
    Rule::build("divided-outer",   Fast, "div(mul(broadcast.b(x), broadcast.c(y)), broadcast.d(z))", "mul(broadcast(x), broadcast(y / z))", divided_outer).when("float x"),
    Rule::build("sum-of-outer-sides", Fast, "reduce_sum.r(mul(broadcast.b(x), broadcast.c(y)))", "of the sums of x and y over the axes that only one has", sum_of_sides).when("float x"),
];

/// A factor: a value, and the axes of the product along which it lies.
type Factor = (Id, Vec<usize>);

/// The factor of that name, spread as `b` says without being stretched.
fn factor(rw: &Rw, x: char, b: char) -> Option<Factor> {
    let (x, (shape, places)) = (rw.var(x), spread(rw, b)?);
    let full = rw
        .shape(x)
        .iter()
        .zip(&places)
        .all(|(&size, &d)| size == shape[d]);
    full.then_some((x, places))
}

/// Whether each has axes that the other lacks: otherwise nothing is gained.
fn is_outer(x: &Factor, y: &Factor) -> bool {
    let lacks = |p: &Factor, q: &Factor| p.1.iter().any(|d| !q.1.contains(d));
    lacks(x, y) && lacks(y, x)
}

fn product(rw: &mut Rw, x: Factor, y: Factor) -> Option<Id> {
    let shape = rw.shape(rw.root());
    let x = rw.broadcast(x.0, shape.clone(), x.1)?;
    let y = rw.broadcast(y.0, shape, y.1)?;
    rw.binary(BinaryOp::Mul, x, y)
}

fn square_of_outer(rw: &mut Rw) -> Option<Id> {
    let (mut x, mut y) = (factor(rw, 'x', 'b')?, factor(rw, 'y', 'c')?);
    let again = (factor(rw, 'x', 'd')?, factor(rw, 'y', 'e')?);
    if (&again.0, &again.1) != (&x, &y) || !is_outer(&x, &y) {
        return None;
    }
    x.0 = rw.binary(BinaryOp::Mul, x.0, x.0)?;
    y.0 = rw.binary(BinaryOp::Mul, y.0, y.0)?;
    product(rw, x, y)
}

fn scaled_outer(rw: &mut Rw) -> Option<Id> {
    scaled(rw, BinaryOp::Mul)
}

fn divided_outer(rw: &mut Rw) -> Option<Id> {
    scaled(rw, BinaryOp::Div)
}

/// The smaller factor that has all axes of the scale takes it.
fn scaled(rw: &mut Rw, op: BinaryOp) -> Option<Id> {
    let (x, y, z) = (
        factor(rw, 'x', 'b')?,
        factor(rw, 'y', 'c')?,
        factor(rw, 'z', 'd')?,
    );
    if !is_outer(&x, &y) {
        return None;
    }
    let size = |rw: &Rw, f: &Factor| rw.shape(f.0).iter().product::<usize>();
    let (mut small, large) = match size(rw, &x) < size(rw, &y) {
        true => (x, y),
        false => (y, x),
    };
    let place = |d: &usize| small.1.iter().position(|s| s == d);
    let places = z.1.iter().map(place).collect::<Option<Vec<usize>>>()?;
    let shape = rw.shape(small.0);
    let scale = rw.broadcast(z.0, shape, places)?;
    small.0 = rw.binary(op, small.0, scale)?;
    product(rw, small, large)
}

/// What only one factor has is summed before the product.
fn sum_of_sides(rw: &mut Rw) -> Option<Id> {
    let (x, y, (op, axes)) = (factor(rw, 'x', 'b')?, factor(rw, 'y', 'c')?, over(rw, 'r')?);
    let (shape, _) = spread(rw, 'b')?;
    let is_summed = |d: &usize| axes.contains(d);
    let alone = |p: &Factor, q: &Factor| -> Vec<usize> {
        p.1.iter()
            .copied()
            .filter(|d| is_summed(d) && !q.1.contains(d))
            .collect()
    };
    let (of_x, of_y) = (alone(&x, &y), alone(&y, &x));
    let covered = |d: &usize| x.1.contains(d) || y.1.contains(d);
    if of_x.is_empty() && of_y.is_empty() || !axes.iter().all(covered) {
        return None;
    }
    let gone: Vec<usize> = of_x.iter().chain(&of_y).copied().collect();
    let kept = remaining(shape.len(), &gone);
    let new_shape: Vec<usize> = kept.iter().map(|&d| shape[d]).collect();
    let place = |d: &usize| kept.iter().position(|k| k == d);
    let mut side = |p: Factor, own: &[usize]| {
        let axes: Vec<usize> = (0..p.1.len()).filter(|&i| own.contains(&p.1[i])).collect();
        let sum = match axes.is_empty() {
            true => p.0,
            false => rw.add(Op::Reduce { op, axes }, &[p.0])?,
        };
        let places = p.1.iter().filter_map(place).collect();
        rw.broadcast(sum, new_shape.clone(), places)
    };
    let (x, y) = (side(x, &of_x)?, side(y, &of_y)?);
    let multiplied = rw.binary(BinaryOp::Mul, x, y)?;
    let rest: Vec<usize> = axes.iter().filter_map(place).collect();
    match rest.is_empty() {
        true => Some(multiplied),
        false => rw.add(Op::Reduce { op, axes: rest }, &[multiplied]),
    }
}
