//! Sorting, by a comparator in the order that users of NumPy expect.

use super::emit::{Emit, Tensor};
use crate::ir::types::Type;
use melior::ir::attribute::BoolAttribute;

/// Sorts all operands by the first `keys` of them, the first key first.
pub fn sort<'c>(
    e: &Emit<'_, 'c>,
    args: &[Tensor<'c>],
    axis: usize,
    keys: usize,
    descending: bool,
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
            .map(|pair| match descending {
                false => (&pair[0], &pair[1]),
                true => (&pair[1], &pair[0]),
            })
            .collect();
        vec![before(e, &keys)]
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

/// Lexicographic: less by the first key, or equal by it and less by the others.
fn before<'c>(e: &Emit<'_, 'c>, keys: &[(&Tensor<'c>, &Tensor<'c>)]) -> Tensor<'c> {
    let (x, y) = keys[0];
    let less = less(e, x, y);
    if keys.len() == 1 {
        return less;
    }
    let equal = equal(e, x, y);
    let rest = before(e, &keys[1..]);
    let rest = e.binary("stablehlo.and", &equal, &rest);
    e.binary("stablehlo.or", &less, &rest)
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
