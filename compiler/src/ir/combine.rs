//! What a reduction begins with, and what it combines elements with.

use super::literal::Literal;
use super::op::{BinaryOp, ReduceOp};
use super::types::{Elem, Type};

impl ReduceOp {
    /// The scalar that a reduction leaves as it is; for `Max` and `Min` of floats the infinities.
    pub fn identity(self, elem: Elem) -> Literal {
        let ty = Type::scalar(elem);
        if !elem.is_float() {
            return Literal::splat_bits(ty, self.integer_identity(elem));
        }
        let value = match self {
            ReduceOp::Sum => 0.0,
            ReduceOp::Prod => 1.0,
            ReduceOp::Max => f64::NEG_INFINITY,
            ReduceOp::Min => f64::INFINITY,
        };
        Literal::splat_f64(ty, value)
    }

    fn integer_identity(self, elem: Elem) -> u64 {
        let bits = if elem == Elem::Bool { 1 } else { elem.bits() };
        let all = u64::MAX >> (64 - bits);
        let sign = 1 << (bits - 1);
        let signed = elem.is_signed_int();
        match self {
            ReduceOp::Sum => 0,
            ReduceOp::Prod => 1,
            ReduceOp::Max if signed => sign,
            ReduceOp::Max => 0,
            ReduceOp::Min if signed => all ^ sign,
            ReduceOp::Min => all,
        }
    }

    /// The combination of two elements, element by element; not of bools.
    pub fn combination(self) -> BinaryOp {
        match self {
            ReduceOp::Sum => BinaryOp::Add,
            ReduceOp::Prod => BinaryOp::Mul,
            ReduceOp::Max => BinaryOp::Max,
            ReduceOp::Min => BinaryOp::Min,
        }
    }
}
