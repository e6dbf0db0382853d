//! Constant folding: what a primitive gives on constants, where that is the same on every implementation.
//!
//! Folded are integers and logic, comparisons, conversions, the float operations that IEEE 754 rounds correctly, and
//! the moving about of equal elements. Exponentials and the like are not: implementations differ in the last bit.

mod scalar;

use crate::ir::Literal;
use crate::ir::op::Op;
use crate::ir::types::{Elem, Type};

/// Literals with more elements than this are not folded unless all elements are equal.
pub const FOLD_ELEMENTS: usize = 64;

/// The value of `op` on constants, if it is folded.
pub fn fold(op: &Op, args: &[&Literal], result: &Type) -> Option<Literal> {
    match op {
        Op::Constant(literal) => Some(literal.clone()),
        Op::Unary(u) => each(args, result, |x| scalar::unary(*u, elem(args, 0)?, x[0])),
        Op::Binary(b) => each(args, result, |x| {
            scalar::binary(*b, elem(args, 0)?, x[0], x[1])
        }),
        Op::Compare(c) => each(args, result, |x| {
            Some(scalar::compare(*c, elem(args, 0)?, x[0], x[1]))
        }),
        Op::Select => each(args, result, |x| Some(if x[0] != 0 { x[1] } else { x[2] })),
        Op::Clamp => each(args, result, |x| {
            let elem = elem(args, 0)?;
            let low = scalar::max(elem, x[1], x[0]);
            Some(scalar::min(elem, low, x[2]))
        }),
        Op::Convert(to) => each(args, result, |x| {
            Some(scalar::convert(elem(args, 0)?, *to, x[0]))
        }),
        Op::Bitcast(_) => each(args, result, |x| Some(x[0])),

        Op::Reshape { shape } => match args[0].splat() {
            Some(bits) => Some(Literal::splat_bits(result.clone(), bits)),
            None => Some(args[0].with_shape(shape.clone())),
        },
        Op::Broadcast { .. }
        | Op::Transpose { .. }
        | Op::Slice { .. }
        | Op::Reverse { .. }
        | Op::DynamicSlice { .. }
        | Op::Gather(_) => {
            let bits = args[0].splat()?;
            (args[0].ty().numel() > 0).then(|| Literal::splat_bits(result.clone(), bits))
        }
        Op::Pad { .. } | Op::DynamicUpdateSlice | Op::Concat { .. } => {
            let values = match op {
                Op::DynamicUpdateSlice => &args[..2],
                _ => args,
            };
            let bits = values.first()?.splat()?;
            values
                .iter()
                .all(|v| v.splat() == Some(bits))
                .then(|| Literal::splat_bits(result.clone(), bits))
        }

        Op::Iota { .. }
        | Op::Threefry
        | Op::Scatter { .. }
        | Op::Reduce { .. }
        | Op::ArgReduce { .. }
        | Op::Cumulate { .. }
        | Op::ReduceWindow { .. }
        | Op::WindowGather { .. }
        | Op::WindowScatter { .. }
        | Op::Dot(_)
        | Op::Conv(_)
        | Op::Cholesky
        | Op::TriangularSolve { .. }
        | Op::Sort { .. }
        | Op::Scan { .. }
        | Op::While
        | Op::If
        | Op::CustomVjp
        | Op::Remat
        | Op::StopGradient
        | Op::Barrier
        | Op::Shard { .. }
        | Op::Host(_)
        | Op::Effect(_) => None,
    }
}

fn elem(args: &[&Literal], i: usize) -> Option<Elem> {
    Some(args.get(i)?.ty().elem)
}

/// Element by element; once where all operands are splats.
fn each(
    args: &[&Literal],
    result: &Type,
    f: impl Fn(&[u64]) -> Option<u64>,
) -> Option<Literal> {
    let splats: Option<Vec<u64>> = args.iter().map(|a| a.splat()).collect();
    if let Some(bits) = splats {
        return Some(Literal::splat_bits(result.clone(), f(&bits)?));
    }
    if result.numel() > FOLD_ELEMENTS {
        return None;
    }
    let bits: Option<Vec<u64>> = (0..result.numel())
        .map(|i| f(&args.iter().map(|a| a.bit(i)).collect::<Vec<_>>()))
        .collect();
    Some(Literal::dense_bits(result.clone(), bits?))
}

