//! Products with a vector. They read their matrix once, however they are written; as a multiplication and a sum, what
//! feeds the vector and what follows can be part of one kernel, and no code is made for a vector laid out as a matrix.

use super::dot::{dims, free, left_first, numel, right_first};
use crate::ir::op::{BinaryOp, DotDims, Op, ReduceOp};
use crate::ir::types::Elem;
use crate::opt::rewrite::{Class::*, Rule, Rw};
use egg::Id;

#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    Rule::build("sum-of-dot",        Fast, "reduce_sum.r(dot.d(x, y))", "dot of the sums of x and y over their own axes", sum_of_dot).when("float x"),
    Rule::build("sum-of-scaled-dot", Fast, "reduce_sum.r(mul(dot.d(x, y), broadcast.b(z)))", "sum(x * sum(y * z)), or sum(y * sum(x * z))", sum_of_scaled_dot).when("float x"),
];

/// A contraction; with a vector that is used up, a multiplication and a sum. Halves are added up in f32 only inside
/// of a contraction.
pub(super) fn product(rw: &mut Rw, d: DotDims, x: Id, y: Id) -> Option<Id> {
    let (left, right) = (rw.shape(x).len(), rw.shape(y).len());
    let is_vector = |rank: usize, contract: &[usize]| rank > 0 && contract.len() == rank;
    let multiplied = match (
        is_vector(left, &d.lhs_contract),
        is_vector(right, &d.rhs_contract),
    ) {
        (false, true) => multiply_and_sum(rw, x, y, (&d.lhs_contract, &d.rhs_contract), &[]),
        (true, false) => multiply_and_sum(rw, y, x, (&d.rhs_contract, &d.lhs_contract), &[]),
        _ => None,
    };
    match multiplied {
        Some(made) => Some(made),
        None => rw.add(Op::Dot(d), &[x, y]),
    }
}

/// `sum(x * spread(v))` over the axes of `x` that those of `v` meet, and some more.
fn multiply_and_sum(
    rw: &mut Rw,
    x: Id,
    v: Id,
    (met, own): (&[usize], &[usize]),
    more: &[usize],
) -> Option<Id> {
    if !matches!(rw.ty(x).elem, Elem::F32 | Elem::F64) {
        return None;
    }
    let place = |axis: usize| own.iter().position(|&o| o == axis).map(|i| met[i]);
    let places: Vec<usize> = (0..own.len()).map(place).collect::<Option<_>>()?;
    // A spread value keeps the order of its axes.
    if places.windows(2).any(|w| w[0] >= w[1]) {
        return None;
    }
    let to = rw.shape(x);
    let spread = rw.broadcast(v, to, places)?;
    let multiplied = rw.binary(BinaryOp::Mul, x, spread)?;
    sum(rw, multiplied, &[met, more].concat())
}

fn sum(rw: &mut Rw, x: Id, axes: &[usize]) -> Option<Id> {
    let mut axes = axes.to_vec();
    axes.sort_unstable();
    match axes.is_empty() {
        true => Some(x),
        false => {
            let op = ReduceOp::Sum;
            rw.add(Op::Reduce { op, axes }, &[x])
        }
    }
}

/// A product of matrices that is scaled by a vector and summed along it.
fn sum_of_scaled_dot(rw: &mut Rw) -> Option<Id> {
    let [x, y, z] = ['x', 'y', 'z'].map(|name| rw.var(name));
    let e = dims(rw, 'd')?;
    let (_, axes) = super::reduce::over(rw, 'r')?;
    let (shape, places) = super::broadcast::spread(rw, 'b')?;
    let whole: Vec<usize> = places.iter().map(|&p| shape[p]).collect();
    if axes.is_empty() || axes != places || rw.shape(z) != whole {
        return None;
    }
    let own: Vec<usize> = (0..places.len()).collect();
    let with = |lhs_contract: &[usize], rhs_contract: &[usize]| DotDims {
        lhs_batch: vec![],
        rhs_batch: vec![],
        lhs_contract: lhs_contract.to_vec(),
        rhs_contract: rhs_contract.to_vec(),
    };
    right_first(rw, [x, y, z], with(&places, &own), e.clone())
        .or_else(|| left_first(rw, [z, x, y], with(&own, &places), e))
}

/// Summing over axes that only one operand has is as well done before the product.
fn sum_of_dot(rw: &mut Rw) -> Option<Id> {
    let (x, y, d) = (rw.var('x'), rw.var('y'), dims(rw, 'd')?);
    let (_, axes) = super::reduce::over(rw, 'r')?;
    let batch = d.lhs_batch.len();
    let left = free(rw.shape(x).len(), &d.lhs_batch, &d.lhs_contract);
    let right = free(rw.shape(y).len(), &d.rhs_batch, &d.rhs_contract);
    let (mut of_x, mut of_y, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for a in axes {
        match a {
            _ if a < batch => rest.push(a),
            _ if a < batch + left.len() => of_x.push(left[a - batch]),
            _ => of_y.push(right[a - batch - left.len()]),
        }
    }
    if of_x.is_empty() && of_y.is_empty() {
        return None;
    }
    // What is left of an operand that is summed over all its own axes is a vector.
    if batch == 0 {
        let meeting = (&d.lhs_contract[..], &d.rhs_contract[..]);
        let ends = [of_x.len() == left.len(), of_y.len() == right.len()];
        let made = match ends {
            [_, true] if !ends[0] || numel(rw, x) >= numel(rw, y) => {
                vector_of(rw, (y, meeting.1, &of_y), (x, meeting.0, &of_x))
            }
            [true, _] => vector_of(rw, (x, meeting.0, &of_x), (y, meeting.1, &of_y)),
            _ => None,
        };
        if made.is_some() {
            return made;
        }
    }
    let (x, y) = (sum(rw, x, &of_x)?, sum(rw, y, &of_y)?);
    let moved = |list: &[usize], gone: &[usize]| -> Vec<usize> {
        let before = |i: usize| gone.iter().filter(|&&g| g < i).count();
        list.iter().map(|&i| i - before(i)).collect()
    };
    let new = DotDims {
        lhs_batch: moved(&d.lhs_batch, &of_x),
        rhs_batch: moved(&d.rhs_batch, &of_y),
        lhs_contract: moved(&d.lhs_contract, &of_x),
        rhs_contract: moved(&d.rhs_contract, &of_y),
    };
    let product = rw.add(Op::Dot(new), &[x, y])?;
    sum(rw, product, &rest)
}

/// `y` summed to a vector over its `of_y`, and `x` times that summed over `of_x` too.
fn vector_of(
    rw: &mut Rw,
    (y, meets_x, of_y): (Id, &[usize], &[usize]),
    (x, meets_y, of_x): (Id, &[usize], &[usize]),
) -> Option<Id> {
    let mut kept = meets_x.to_vec();
    kept.sort_unstable();
    let own: Vec<usize> = meets_x
        .iter()
        .filter_map(|m| kept.iter().position(|k| k == m))
        .collect();
    let vector = sum(rw, y, of_y)?;
    multiply_and_sum(rw, x, vector, (meets_y, &own), of_x)
}
