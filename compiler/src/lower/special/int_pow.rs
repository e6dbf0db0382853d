//! Powers of integers, by repeated squaring: XLA's own `power` is wrong for large exponents.

use crate::ir::literal::Literal;
use crate::ir::op::ReduceOp;
use crate::ir::types::{Elem, Type};
use crate::lower::emit::{Emit, Tensor};
use crate::lower::reduce;

/// Wraps, like a product. With a negative exponent what truncating 1 / xⁿ gives: 0 but for x = ±1.
pub fn int_pow<'c>(e: &Emit<'_, 'c>, x: &Tensor<'c>, n: &Tensor<'c>) -> Tensor<'c> {
    let ty = x.ty.clone();
    let result = std::slice::from_ref(&x.ty);
    e.call("int_pow", &[x, n], result, |e, args| {
        let number = |e: &Emit<'_, 'c>, value| e.constant(&Literal::splat_i64(ty.clone(), value));
        let (x, n) = (&args[0], &args[1]);
        let power = squarings(e, x, n);
        if !ty.elem.is_signed_int() {
            return vec![power];
        }
        let (zero, one, minus_one) = (number(e, 0), number(e, 1), number(e, -1));
        let unit = e.compare("EQ", &e.op("stablehlo.abs", &[x], &[], &ty), &one);
        // A power of ±1 depends on nothing but whether the exponent is odd, which its sign bit does not change.
        let inverse = e.select(&unit, &power, &zero);
        let negative = e.compare("LE", n, &minus_one);
        vec![e.select(&negative, &inverse, &power)]
    })
    .remove(0)
}

/// While an exponent has bits left: the square for its lowest bit is multiplied in, and the next square made.
fn squarings<'c>(e: &Emit<'_, 'c>, x: &Tensor<'c>, n: &Tensor<'c>) -> Tensor<'c> {
    let ty = &x.ty;
    let number = |e: &Emit<'_, 'c>, value| e.constant(&Literal::splat_i64(ty.clone(), value));
    let state = vec![ty.clone(); 3];
    let condition = e.region(&state, |e, state| {
        let left = e.compare("NE", &state[1], &number(e, 0));
        let axes: Vec<usize> = (0..ty.rank()).collect();
        let any = Type::scalar(Elem::Bool);
        vec![reduce::reduce(e, &left, ReduceOp::Max, &axes, &any)]
    });
    let body = e.region(&state, |e, state| {
        let [square, n, power] = [&state[0], &state[1], &state[2]];
        let one = number(e, 1);
        let odd = e.compare("EQ", &e.binary("stablehlo.and", n, &one), &one);
        let multiplied = e.binary("stablehlo.multiply", power, square);
        vec![
            e.binary("stablehlo.multiply", square, square),
            e.binary("stablehlo.shift_right_logical", n, &one),
            e.select(&odd, &multiplied, power),
        ]
    });
    let operands = [x, n, &number(e, 1)];
    e.op_with(
        "stablehlo.while",
        &operands,
        &[],
        &state,
        vec![condition, body],
    )
    .remove(2)
}
