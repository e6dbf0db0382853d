//! Sorting, by a comparator in the order that users of NumPy expect.

use super::emit::{Emit, Tensor};
use crate::ir::types::Type;
use melior::ir::attribute::BoolAttribute;

#[derive(Clone, Copy)]
pub struct Order {
    pub descending: bool,
    pub total: bool,
}

/// Sorts all operands by the first `keys` of them, the first key first.
pub fn sort<'c>(
    e: &Emit<'_, 'c>,
    args: &[Tensor<'c>],
    axis: usize,
    keys: usize,
    order: Order,
) -> Vec<Tensor<'c>> {
    let types: Vec<Type> = args.iter().map(|t| t.ty.clone()).collect();
    let pairs: Vec<Type> = types
        .iter()
        .flat_map(|t| [Type::scalar(t.elem), Type::scalar(t.elem)])
        .collect();
    let comparator = e.region(&pairs, |e, args| {
        let keys: Vec<(&Tensor, &Tensor)> = args
            .chunks_exact(2)
            .take(keys)
            .map(|pair| (&pair[0], &pair[1]))
            .collect();
        vec![before(e, order, &keys)]
    });
    let stable = BoolAttribute::new(e.session.context, true).into();
    e.op_with(
        "stablehlo.sort",
        &args.iter().collect::<Vec<_>>(),
        &[("dimension", e.session.i64(axis)), ("is_stable", stable)],
        &types,
        vec![comparator],
    )
}

/// Lexicographic: before by the first key, or equal by it and before by the others.
fn before<'c>(e: &Emit<'_, 'c>, order: Order, keys: &[(&Tensor<'c>, &Tensor<'c>)]) -> Tensor<'c> {
    let (x, y) = keys[0];
    let first = match (order.total, order.descending) {
        (true, false) => e.compare_total("LT", x, y),
        // So written XLA finds the largest few without sorting.
        (true, true) => e.compare_total("GT", x, y),
        (false, false) => less(e, x, y),
        (false, true) => less(e, y, x),
    };
    if keys.len() == 1 {
        return first;
    }
    let equal = match order.total {
        true => e.compare_total("EQ", x, y),
        false => equal(e, x, y),
    };
    let rest = before(e, order, &keys[1..]);
    let rest = e.binary("stablehlo.and", &equal, &rest);
    e.binary("stablehlo.or", &first, &rest)
}

/// `x < y`, where NaN is larger than all else and −0 is 0.
fn less<'c>(e: &Emit<'_, 'c>, x: &Tensor<'c>, y: &Tensor<'c>) -> Tensor<'c> {
    let less = e.compare("LT", x, y);
    if !x.ty.elem.is_float() {
        return less;
    }
    let number = e.compare("EQ", x, x);
    let nan = e.compare("NE", y, y);
    let last = e.binary("stablehlo.and", &number, &nan);
    e.binary("stablehlo.or", &less, &last)
}

/// `x = y`, where all NaN are equal.
fn equal<'c>(e: &Emit<'_, 'c>, x: &Tensor<'c>, y: &Tensor<'c>) -> Tensor<'c> {
    let equal = e.compare("EQ", x, y);
    if !x.ty.elem.is_float() {
        return equal;
    }
    let (nan_x, nan_y) = (e.compare("NE", x, x), e.compare("NE", y, y));
    let both = e.binary("stablehlo.and", &nan_x, &nan_y);
    e.binary("stablehlo.or", &equal, &both)
}
