//! Elementwise primitives. What StableHLO has no op for is in [`super::special`].

use super::emit::{Emit, Tensor};
use super::special;
use crate::ir::literal::Literal;
use crate::ir::op::{BinaryOp, CompareOp, ReduceOp, UnaryOp};
use crate::ir::types::Elem;

pub fn unary<'c>(e: &Emit<'_, 'c>, op: UnaryOp, x: &Tensor<'c>) -> Tensor<'c> {
    let name = match op {
        UnaryOp::Neg => "stablehlo.negate",
        UnaryOp::Not => "stablehlo.not",
        UnaryOp::Abs => "stablehlo.abs",
        UnaryOp::Sign => "stablehlo.sign",
        UnaryOp::Floor => "stablehlo.floor",
        UnaryOp::Ceil => "stablehlo.ceil",
        UnaryOp::Round => "stablehlo.round_nearest_even",
        UnaryOp::Exp => "stablehlo.exponential",
        UnaryOp::Expm1 => "stablehlo.exponential_minus_one",
        UnaryOp::Log => "stablehlo.log",
        UnaryOp::Log1p => "stablehlo.log_plus_one",
        UnaryOp::Sqrt => "stablehlo.sqrt",
        UnaryOp::Rsqrt => "stablehlo.rsqrt",
        UnaryOp::Cbrt => "stablehlo.cbrt",
        UnaryOp::Sin => "stablehlo.sine",
        UnaryOp::Cos => "stablehlo.cosine",
        UnaryOp::Tan => "stablehlo.tan",
        UnaryOp::Tanh => "stablehlo.tanh",
        UnaryOp::Logistic => "stablehlo.logistic",
        UnaryOp::IsFinite => {
            return e.op(
                "stablehlo.is_finite",
                &[x],
                &[],
                &x.ty.with_elem(Elem::Bool),
            );
        }
        UnaryOp::Erf => return special::erf(e, x),
        UnaryOp::Erfc => return special::erfc(e, x),
        UnaryOp::ErfInv => return special::erf_inv(e, x),
        UnaryOp::Lgamma => return special::lgamma(e, x),
        UnaryOp::Polygamma(0) => return special::digamma(e, x),
        UnaryOp::Polygamma(n) => return special::polygamma(e, n, x),
    };
    e.op(name, &[x], &[], &x.ty)
}

pub fn binary<'c>(e: &Emit<'_, 'c>, op: BinaryOp, x: &Tensor<'c>, y: &Tensor<'c>) -> Tensor<'c> {
    let name = match op {
        BinaryOp::Add => "stablehlo.add",
        BinaryOp::Sub => "stablehlo.subtract",
        BinaryOp::Mul => "stablehlo.multiply",
        BinaryOp::Div => "stablehlo.divide",
        BinaryOp::Rem => "stablehlo.remainder",
        BinaryOp::Pow if x.ty.elem.is_int() => return special::int_pow(e, x, y),
        BinaryOp::Pow => "stablehlo.power",
        BinaryOp::Max => return e.combine(ReduceOp::Max, x, y),
        BinaryOp::Min => return e.combine(ReduceOp::Min, x, y),
        BinaryOp::Atan2 => "stablehlo.atan2",
        BinaryOp::And => "stablehlo.and",
        BinaryOp::Or => "stablehlo.or",
        BinaryOp::Xor => "stablehlo.xor",
        BinaryOp::Shl => "stablehlo.shift_left",
        BinaryOp::ShrArith => "stablehlo.shift_right_arithmetic",
        BinaryOp::ShrLogical => "stablehlo.shift_right_logical",
    };
    e.binary(name, x, y)
}

/// `atan2(x, 1)` as `atan2(2x, 2)`, which is as exact: of the former the CPU plugin's compiler makes a vectorised arc
/// tangent that gives the results of other elements.
pub fn atan<'c>(e: &Emit<'_, 'c>, x: &Tensor<'c>) -> Tensor<'c> {
    let two = e.constant(&Literal::splat_f64(x.ty.clone(), 2.0));
    let twice = e.binary("stablehlo.add", x, x);
    e.binary("stablehlo.atan2", &twice, &two)
}

pub fn compare<'c>(e: &Emit<'_, 'c>, op: CompareOp, x: &Tensor<'c>, y: &Tensor<'c>) -> Tensor<'c> {
    let direction = match op {
        CompareOp::Eq => "EQ",
        CompareOp::Ne => "NE",
        CompareOp::Lt => "LT",
        CompareOp::Le => "LE",
        CompareOp::Gt => "GT",
        CompareOp::Ge => "GE",
    };
    e.compare(direction, x, y)
}

/// Operands as in the IR: lowest, value, highest.
pub fn clamp<'c>(e: &Emit<'_, 'c>, args: &[Tensor<'c>]) -> Tensor<'c> {
    e.op(
        "stablehlo.clamp",
        &[&args[0], &args[1], &args[2]],
        &[],
        &args[1].ty,
    )
}

pub fn convert<'c>(e: &Emit<'_, 'c>, x: &Tensor<'c>, to: Elem) -> Tensor<'c> {
    e.convert(x, to)
}

pub fn bitcast<'c>(e: &Emit<'_, 'c>, x: &Tensor<'c>, to: Elem) -> Tensor<'c> {
    if x.ty.elem == to {
        return x.clone();
    }
    e.op("stablehlo.bitcast_convert", &[x], &[], &x.ty.with_elem(to))
}
