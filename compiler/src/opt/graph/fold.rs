//! Constant folding, with the interpreter's arithmetic: what a primitive gives on constants, where that is the same on
//! every implementation.
//!
//! Folded are integers and logic, comparisons, conversions, the float operations that IEEE 754 rounds correctly, and
//! the moving about of elements. Exponentials and the like are not: implementations differ in the last bit. Nor are
//! float sums: implementations differ in the order.

use crate::interp::{Array, Precision, apply};
use crate::ir::Literal;
use crate::ir::op::{BinaryOp, Op, UnaryOp};
use crate::ir::types::{Elem, Type};

/// Literals with more elements than this are not folded, unless all elements are equal.
pub const FOLD_ELEMENTS: usize = 64;

/// The results of `op` on constants, if it is folded.
pub fn fold(op: &Op, args: &[&Literal], results: &[Type]) -> Option<Vec<Literal>> {
    let how = how(op, args, results)?;
    let splats: Option<Vec<u64>> = args.iter().map(|a| a.splat()).collect();
    match (how, splats) {
        // One element stands for all.
        (How::Each, Some(bits)) if results.iter().all(|t| t.numel() > 0) => {
            let scalars: Vec<Array> = args
                .iter()
                .zip(bits)
                .map(|(a, b)| Array::splat_bits(Type::scalar(a.ty().elem), b))
                .collect();
            let values = apply(op, &scalars, Precision::Element).ok()?;
            let spread = values.iter().zip(results).map(|(v, ty)| {
                let bits = v.to_literal().splat()?;
                Some(Literal::splat_bits(ty.clone(), bits))
            });
            spread.collect()
        }
        (How::Move, Some(bits)) if same(&bits) && args[0].ty().numel() > 0 => {
            let spread = results
                .iter()
                .map(|ty| Literal::splat_bits(ty.clone(), bits[0]));
            Some(spread.collect())
        }
        _ => {
            let small = |t: &Type| t.numel() <= FOLD_ELEMENTS;
            if !args.iter().all(|a| small(a.ty())) || !results.iter().all(small) {
                return None;
            }
            let arrays: Vec<Array> = args.iter().map(|a| Array::from_literal(a)).collect();
            let values = apply(op, &arrays, Precision::Element).ok()?;
            Some(values.iter().map(Array::to_literal).collect())
        }
    }
}

/// The data of a short iota.
pub fn count(op: &Op) -> Option<Literal> {
    match op {
        Op::Iota { ty, .. } if ty.numel() <= FOLD_ELEMENTS => {
            let values = apply(op, &[], Precision::Element).ok()?;
            values.first().map(Array::to_literal)
        }
        _ => None,
    }
}

#[derive(Clone, Copy, PartialEq)]
enum How {
    /// Element by element.
    Each,
    /// Elements move but do not change: all equal stays all equal.
    Move,
    /// As a whole.
    Whole,
}

fn how(op: &Op, args: &[&Literal], results: &[Type]) -> Option<How> {
    match op {
        Op::Unary(u) => unary(*u, results[0].elem).then_some(How::Each),
        Op::Binary(b) => binary(*b, results[0].elem).then_some(How::Each),
        Op::Compare(_)
        | Op::Select
        | Op::Clamp
        | Op::Convert(_)
        | Op::Bitcast(_)
        | Op::Threefry => Some(How::Each),
        Op::Reshape { .. }
        | Op::Broadcast { .. }
        | Op::Transpose { .. }
        | Op::Slice { .. }
        | Op::Reverse { .. }
        | Op::Concat { .. }
        | Op::Pad { .. } => Some(How::Move),
        Op::DynamicSlice { .. } | Op::DynamicUpdateSlice | Op::Gather(_) => Some(How::Whole),
        Op::Reduce { .. } | Op::ArgReduce { .. } | Op::Cumulate { .. } => {
            let exact = !args[0].ty().elem.is_float();
            exact.then_some(How::Whole)
        }

        // A literal would be longer than the primitive.
        Op::Constant(_) | Op::Iota { .. } => None,
        Op::Scatter { .. }
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
        | Op::Effect(..) => None,
    }
}

fn unary(op: UnaryOp, elem: Elem) -> bool {
    match op {
        UnaryOp::Neg
        | UnaryOp::Not
        | UnaryOp::Abs
        | UnaryOp::Sign
        | UnaryOp::Floor
        | UnaryOp::Ceil
        | UnaryOp::Round
        | UnaryOp::Sqrt
        | UnaryOp::IsFinite => true,
        UnaryOp::Exp
        | UnaryOp::Expm1
        | UnaryOp::Log
        | UnaryOp::Log1p
        | UnaryOp::Rsqrt
        | UnaryOp::Cbrt
        | UnaryOp::Sin
        | UnaryOp::Cos
        | UnaryOp::Tan
        | UnaryOp::Tanh
        | UnaryOp::Logistic
        | UnaryOp::Erf
        | UnaryOp::Erfc
        | UnaryOp::ErfInv
        | UnaryOp::Lgamma
        | UnaryOp::Polygamma(_) => !elem.is_float(),
    }
}

fn binary(op: BinaryOp, elem: Elem) -> bool {
    match op {
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::Max
        | BinaryOp::Min
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Shl
        | BinaryOp::ShrArith
        | BinaryOp::ShrLogical => true,
        BinaryOp::Pow | BinaryOp::Atan2 => !elem.is_float(),
    }
}

fn same(bits: &[u64]) -> bool {
    bits.windows(2).all(|w| w[0] == w[1])
}
