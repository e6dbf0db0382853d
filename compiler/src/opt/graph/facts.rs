//! What is known of every element of a value without computing it. Facts only ever say what holds for all inputs,
//! so a rule that needs one stays `exact`.

use super::lang::{Head, Node};
use crate::ir::literal::{Literal, decode_f64};
use crate::ir::op::{BinaryOp, Op, ReduceOp, UnaryOp};
use crate::ir::types::{Elem, Type};

/// A set of facts, each about every element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Facts(u8);

impl Facts {
    pub const NONE: Facts = Facts(0);
    /// Not NaN.
    pub const NO_NAN: Facts = Facts(1);
    /// Neither NaN nor infinite; holds [`Facts::NO_NAN`] too.
    pub const FINITE: Facts = Facts(1 | 2);
    /// NaN, or numerically at least 0 (−0 counts as 0).
    pub const NONNEG: Facts = Facts(4);
    /// Not −0.
    pub const NOT_NEG_ZERO: Facts = Facts(8);

    const ALL: Facts = Facts(15);
    const INTEGER: Facts = Facts(1 | 2 | 8);

    pub fn has(self, all: Facts) -> bool {
        self.0 & all.0 == all.0
    }

    pub fn and(self, other: Facts) -> Facts {
        Facts(self.0 & other.0)
    }

    pub fn or(self, other: Facts) -> Facts {
        Facts(self.0 | other.0)
    }

    fn when(self, condition: bool) -> Facts {
        if condition { self } else { Facts::NONE }
    }

    fn keep(self, only: Facts) -> Facts {
        self.and(only)
    }

    /// The facts of given data.
    pub fn of_literal(literal: &Literal) -> Facts {
        let elem = literal.ty().elem;
        let one = |bits: u64| {
            let x = decode_f64(elem, bits);
            Facts::NO_NAN
                .when(!x.is_nan())
                .or(Facts::FINITE.when(x.is_finite()))
                .or(Facts::NONNEG.when(x.is_nan() || x >= 0.0))
                .or(Facts::NOT_NEG_ZERO.when(!(x == 0.0 && x.is_sign_negative())))
        };
        match literal.splat() {
            Some(bits) => one(bits),
            None => literal
                .iter_bits()
                .fold(Facts::ALL, |facts, bits| facts.and(one(bits))),
        }
    }

    /// What the element type alone says.
    pub fn of_elem(elem: Elem) -> Facts {
        if elem.is_float() {
            Facts::NONE
        } else if elem.is_signed_int() {
            Facts::INTEGER
        } else {
            Facts::ALL
        }
    }
}

/// The facts of a single-result node from those of its children.
pub fn infer(head: &Head, node: &Node, child: &[(Facts, &Type)], result: &Type) -> Facts {
    let known = match head {
        Head::Op(op) => of_op(op, node, child, result),
        Head::Input(_) | Head::Proj(_) | Head::Tuple | Head::Block(_) => Facts::NONE,
    };
    known.or(Facts::of_elem(result.elem))
}

fn of_op(op: &Op, node: &Node, child: &[(Facts, &Type)], result: &Type) -> Facts {
    let f = |i: usize| child[i].0;
    let float = result.elem.is_float();
    match op {
        Op::Constant(literal) => Facts::of_literal(literal),
        Op::Iota { .. } => Facts::ALL.when(matches!(result.elem, Elem::F32 | Elem::F64) || !float),
        Op::Unary(u) => of_unary(*u, f(0), float),
        Op::Binary(b) => {
            let same = node.children[0] == node.children[1];
            if float {
                of_float_binary(*b, f(0), f(1), same)
            } else {
                of_int_binary(*b, f(0), f(1))
            }
        }
        Op::Select => f(1).and(f(2)),
        Op::Clamp => Facts::NO_NAN
            .when(f(0).and(f(1)).and(f(2)).has(Facts::NO_NAN))
            .or(Facts::FINITE.when(f(0).and(f(2)).has(Facts::FINITE) && f(1).has(Facts::NO_NAN)))
            .or(Facts::NONNEG.when(f(0).or(f(1)).has(Facts::NONNEG) && f(2).has(Facts::NONNEG)))
            .or(Facts::NOT_NEG_ZERO.when(f(0).and(f(1)).and(f(2)).has(Facts::NOT_NEG_ZERO))),
        Op::Convert(_) => of_convert(f(0), child[0].1.elem, result.elem),
        Op::Broadcast { .. }
        | Op::Reshape { .. }
        | Op::Transpose { .. }
        | Op::Slice { .. }
        | Op::Reverse { .. }
        | Op::DynamicSlice { .. }
        | Op::Gather(_)
        | Op::StopGradient
        | Op::Shard { .. } => f(0),
        Op::Pad { .. } | Op::DynamicUpdateSlice => f(0).and(f(1)),
        Op::Concat { .. } => child.iter().fold(Facts::ALL, |all, c| all.and(c.0)),
        Op::Reduce { op, axes } => {
            let empty = axes.iter().any(|&a| child[0].1.shape[a] == 0);
            of_reduce(*op, f(0), empty)
        }
        Op::Cumulate { op, .. } => of_reduce(*op, f(0), false),
        Op::Dot(_) => Facts::NONNEG.when(float && f(0).and(f(1)).has(Facts::NONNEG)),
        Op::Compare(_)
        | Op::Bitcast(_)
        | Op::Threefry
        | Op::Scatter { .. }
        | Op::ArgReduce { .. }
        | Op::ReduceWindow { .. }
        | Op::WindowGather { .. }
        | Op::WindowScatter { .. }
        | Op::Conv(_)
        | Op::Cholesky
        | Op::TriangularSolve { .. }
        | Op::Sort { .. }
        | Op::Scan { .. }
        | Op::While
        | Op::If
        | Op::CustomVjp
        | Op::Remat
        | Op::Barrier
        | Op::Host(_)
        | Op::Effect(..) => Facts::NONE,
    }
}

fn of_unary(op: UnaryOp, x: Facts, float: bool) -> Facts {
    if !float {
        // Negation and absolute value of the smallest integer overflow, so integers keep only what their type says.
        return match op {
            UnaryOp::Sign => x.keep(Facts::NONNEG),
            _ => Facts::NONE,
        };
    }
    let positive = x.has(Facts::NONNEG) && x.has(Facts::NOT_NEG_ZERO);
    let nonneg = x.has(Facts::NONNEG);
    let no_nan = x.has(Facts::NO_NAN);
    match op {
        UnaryOp::Neg => x.keep(Facts::FINITE),
        UnaryOp::Abs => x
            .keep(Facts::FINITE)
            .or(Facts::NONNEG)
            .or(Facts::NOT_NEG_ZERO),
        UnaryOp::Sign => x
            .keep(Facts::NONNEG.or(Facts::NOT_NEG_ZERO))
            .or(Facts::FINITE.when(no_nan)),
        UnaryOp::Floor => x,
        UnaryOp::Ceil | UnaryOp::Round => x
            .keep(Facts::FINITE.or(Facts::NONNEG))
            .or(Facts::NOT_NEG_ZERO.when(positive)),
        UnaryOp::Exp => x
            .keep(Facts::NO_NAN)
            .or(Facts::NONNEG)
            .or(Facts::NOT_NEG_ZERO),
        UnaryOp::Expm1 => x.keep(Facts::NO_NAN.or(Facts::NONNEG)),
        UnaryOp::Log => Facts::NO_NAN.when(nonneg && no_nan),
        UnaryOp::Log1p => x
            .keep(Facts::NONNEG)
            .or(Facts::NO_NAN.when(nonneg && no_nan)),
        UnaryOp::Sqrt => x
            .keep(Facts::NONNEG.or(Facts::NOT_NEG_ZERO))
            .or(x.keep(Facts::FINITE).when(nonneg)),
        UnaryOp::Rsqrt => Facts::NONNEG
            .when(positive)
            .or(x.keep(Facts::NO_NAN).when(nonneg)),
        UnaryOp::Cbrt => x.keep(Facts::FINITE.or(Facts::NONNEG)),
        UnaryOp::Sin | UnaryOp::Cos => Facts::FINITE.when(x.has(Facts::FINITE)),
        UnaryOp::Tanh | UnaryOp::Erf => x.keep(Facts::NONNEG).or(Facts::FINITE.when(no_nan)),
        UnaryOp::Logistic => Facts::NONNEG
            .or(Facts::NOT_NEG_ZERO)
            .or(Facts::FINITE.when(no_nan)),
        UnaryOp::Erfc => Facts::FINITE.when(no_nan),
        UnaryOp::Not
        | UnaryOp::Tan
        | UnaryOp::IsFinite
        | UnaryOp::ErfInv
        | UnaryOp::Lgamma
        | UnaryOp::Polygamma(_) => Facts::NONE,
    }
}

fn of_float_binary(op: BinaryOp, a: Facts, b: Facts, same: bool) -> Facts {
    let both = a.and(b);
    let either = a.or(b);
    let finite = both.has(Facts::FINITE);
    match op {
        // A rounded sum is −0 only when both terms are.
        BinaryOp::Add => both
            .keep(Facts::NONNEG)
            .or(either.keep(Facts::NOT_NEG_ZERO))
            .or(Facts::NO_NAN.when(finite || both.has(Facts::NO_NAN.or(Facts::NONNEG)))),
        BinaryOp::Sub => a.keep(Facts::NOT_NEG_ZERO).or(Facts::NO_NAN.when(finite)),
        BinaryOp::Mul => {
            let square = Facts::NONNEG.or(Facts::NOT_NEG_ZERO);
            both.keep(Facts::NONNEG)
                .or(square.when(same || both.has(square)))
                .or(Facts::NO_NAN.when(finite))
        }
        BinaryOp::Div => Facts::NONNEG.when(both.has(Facts::NONNEG) && b.has(Facts::NOT_NEG_ZERO)),
        BinaryOp::Max => both
            .keep(Facts::FINITE.or(Facts::NOT_NEG_ZERO))
            .or(either.keep(Facts::NONNEG)),
        BinaryOp::Min => both,
        BinaryOp::Pow => Facts::NONNEG.when(a.has(Facts::NONNEG) && a.has(Facts::NOT_NEG_ZERO)),
        BinaryOp::Rem
        | BinaryOp::Atan2
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Shl
        | BinaryOp::ShrArith
        | BinaryOp::ShrLogical => Facts::NONE,
    }
}

fn of_int_binary(op: BinaryOp, a: Facts, b: Facts) -> Facts {
    match op {
        BinaryOp::And | BinaryOp::Max => a.or(b).keep(Facts::NONNEG),
        BinaryOp::Min | BinaryOp::Or | BinaryOp::Xor => a.and(b).keep(Facts::NONNEG),
        BinaryOp::Rem | BinaryOp::ShrArith | BinaryOp::ShrLogical => a.keep(Facts::NONNEG),
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Pow
        | BinaryOp::Atan2
        | BinaryOp::Shl => Facts::NONE,
    }
}

fn of_convert(x: Facts, from: Elem, to: Elem) -> Facts {
    if !to.is_float() {
        // From float, NaN becomes 0 and saturation keeps the sign; between integers, narrowing wraps.
        let keeps_sign = from.is_float() || precision(from) <= precision(to);
        return x.keep(Facts::NONNEG).when(keeps_sign);
    }
    if !from.is_float() {
        return x
            .keep(Facts::NONNEG)
            .or(Facts::NO_NAN)
            .or(Facts::NOT_NEG_ZERO)
            .or(Facts::FINITE.when(to != Elem::F16));
    }
    if widens(from, to) {
        x
    } else {
        x.keep(Facts::NO_NAN.or(Facts::NONNEG))
            .or(x.keep(Facts::NOT_NEG_ZERO).when(x.has(Facts::NONNEG)))
    }
}

/// Whether every value of `from` is one of `to`.
pub fn widens(from: Elem, to: Elem) -> bool {
    let (mantissa, exponent) = (precision(from), range(from));
    if to.is_float() {
        mantissa <= precision(to) && exponent <= range(to)
    } else if from.is_float() {
        false
    } else {
        let unsigned = |e: Elem| e.is_unsigned_int() || e == Elem::Bool;
        match (unsigned(from), unsigned(to)) {
            (true, true) => mantissa <= precision(to),
            (true, false) | (false, false) => mantissa <= precision(to),
            (false, true) => false,
        }
    }
}

/// Bits of magnitude that are held exactly.
fn precision(e: Elem) -> u32 {
    match e {
        Elem::F64 => 53,
        Elem::F32 => 24,
        Elem::F16 => 11,
        Elem::BF16 => 8,
        Elem::I8 => 7,
        Elem::I16 => 15,
        Elem::I32 => 31,
        Elem::I64 => 63,
        Elem::U8 => 8,
        Elem::U16 => 16,
        Elem::U32 => 32,
        Elem::U64 => 64,
        Elem::Bool => 1,
    }
}

/// The largest power of two that fits, and for floats the smallest as well.
fn range(e: Elem) -> u32 {
    match e {
        Elem::F64 => 1023,
        Elem::F32 | Elem::BF16 => 127,
        Elem::F16 => 15,
        _ => precision(e),
    }
}

fn of_reduce(op: ReduceOp, x: Facts, empty: bool) -> Facts {
    match op {
        ReduceOp::Sum => x
            .keep(Facts::NONNEG)
            .or(Facts::NO_NAN.when(x.has(Facts::NO_NAN.or(Facts::NONNEG)))),
        ReduceOp::Prod => Facts::NONE,
        ReduceOp::Max | ReduceOp::Min => x.when(!empty),
    }
}
