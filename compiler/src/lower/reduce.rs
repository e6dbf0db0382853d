//! Reductions over whole axes.

use super::emit::{Emit, Tensor};
use crate::ir::op::ReduceOp;
use crate::ir::types::{Elem, Type};

pub fn reduce<'c>(
    e: &Emit<'_, 'c>,
    x: &Tensor<'c>,
    op: ReduceOp,
    axes: &[usize],
    ty: &Type,
) -> Tensor<'c> {
    if axes.is_empty() {
        return x.clone();
    }
    let start = e.identity(op, x.ty.elem);
    let scalar = Type::scalar(x.ty.elem);
    let body = e.region(&[scalar.clone(), scalar], |e, pair| {
        vec![e.combine(op, &pair[0], &pair[1])]
    });
    e.op_with(
        "stablehlo.reduce",
        &[x, &start],
        &[("dimensions", e.session.i64s(axes))],
        std::slice::from_ref(ty),
        vec![body],
    )
    .remove(0)
}

/// Reduces pairs of value and position. The left of two wins if it is better or NaN; of equal ones the smaller
/// position does.
pub fn arg_reduce<'c>(
    e: &Emit<'_, 'c>,
    x: &Tensor<'c>,
    max: bool,
    axis: usize,
    ty: &Type,
) -> Tensor<'c> {
    let (op, better) = if max {
        (ReduceOp::Max, "GT")
    } else {
        (ReduceOp::Min, "LT")
    };
    let elem = x.ty.elem;
    let positions = e.iota(&x.ty.with_elem(Elem::I32), axis);
    let start = e.identity(op, elem);
    let zero = e.index(0);
    let (value, position) = (Type::scalar(elem), Type::scalar(Elem::I32));
    let body = e.region(
        &[value.clone(), position.clone(), value, position],
        |e, args| {
            let [x, i, y, j] = [&args[0], &args[1], &args[2], &args[3]];
            let mut wins = e.compare(better, x, y);
            if elem.is_float() {
                let nan = e.compare("NE", x, x);
                wins = e.binary("stablehlo.or", &wins, &nan);
            }
            let tie = e.compare("EQ", x, y);
            let earlier = e.compare("LT", i, j);
            let tie = e.binary("stablehlo.and", &tie, &earlier);
            let first = e.binary("stablehlo.or", &wins, &tie);
            vec![e.select(&wins, x, y), e.select(&first, i, j)]
        },
    );
    e.op_with(
        "stablehlo.reduce",
        &[x, &positions, &start, &zero],
        &[("dimensions", e.session.i64s(&[axis]))],
        &[ty.with_elem(elem), ty.clone()],
        vec![body],
    )
    .remove(1)
}
