//! Primitives on single elements, as bit patterns. Floats are computed in f64 and rounded once more, which for
//! sums, products, quotients and square roots of narrower types gives the correctly rounded result.

use crate::ir::literal::{decode_f64, decode_i64, encode_f64, encode_i64};
use crate::ir::op::{BinaryOp, CompareOp, UnaryOp};
use crate::ir::types::Elem;

pub fn unary(op: UnaryOp, elem: Elem, bits: u64) -> Option<u64> {
    if !elem.is_float() {
        return int_unary(op, elem, bits);
    }
    let x = decode_f64(elem, bits);
    let value = match op {
        UnaryOp::Neg => -x,
        UnaryOp::Abs => x.abs(),
        UnaryOp::Sign if x.is_nan() || x == 0.0 => x,
        UnaryOp::Sign => x.signum(),
        UnaryOp::Floor => x.floor(),
        UnaryOp::Ceil => x.ceil(),
        UnaryOp::Round => x.round_ties_even(),
        UnaryOp::Sqrt => x.sqrt(),
        UnaryOp::IsFinite => return Some(u64::from(x.is_finite())),
        UnaryOp::Not
        | UnaryOp::Exp
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
        | UnaryOp::Polygamma(_) => return None,
    };
    Some(encode_f64(elem, value))
}

fn int_unary(op: UnaryOp, elem: Elem, bits: u64) -> Option<u64> {
    let x = decode_i64(elem, bits);
    let value = match op {
        UnaryOp::Not if elem == Elem::Bool => i64::from(x == 0),
        UnaryOp::Not => !x,
        UnaryOp::Neg => x.wrapping_neg(),
        UnaryOp::Abs if elem.is_signed_int() => x.wrapping_abs(),
        UnaryOp::Sign if elem.is_signed_int() => x.signum(),
        _ => return None,
    };
    Some(encode_i64(elem, value))
}

pub fn binary(op: BinaryOp, elem: Elem, a: u64, b: u64) -> Option<u64> {
    match op {
        BinaryOp::Max => return Some(max(elem, a, b)),
        BinaryOp::Min => return Some(min(elem, a, b)),
        _ => {}
    }
    if !elem.is_float() {
        return int_binary(op, elem, a, b);
    }
    let (x, y) = (decode_f64(elem, a), decode_f64(elem, b));
    let value = match op {
        BinaryOp::Add => x + y,
        BinaryOp::Sub => x - y,
        BinaryOp::Mul => x * y,
        BinaryOp::Div => x / y,
        BinaryOp::Rem => x % y,
        _ => return None,
    };
    Some(encode_f64(elem, value))
}

fn int_binary(op: BinaryOp, elem: Elem, a: u64, b: u64) -> Option<u64> {
    let (x, y) = (decode_i64(elem, a), decode_i64(elem, b));
    let signed = elem.is_signed_int();
    let wide = |v: i64| if signed { i128::from(v) } else { i128::from(v as u64) };
    let width = elem.bits() as u32;
    let value = match op {
        BinaryOp::And => x & y,
        BinaryOp::Or => x | y,
        BinaryOp::Xor => x ^ y,
        _ if elem == Elem::Bool => return None,
        BinaryOp::Add => x.wrapping_add(y),
        BinaryOp::Sub => x.wrapping_sub(y),
        BinaryOp::Mul => x.wrapping_mul(y),
        BinaryOp::Div if y == 0 => -1,
        BinaryOp::Rem if y == 0 => x,
        BinaryOp::Div => (wide(x) / wide(y)) as i64,
        BinaryOp::Rem => (wide(x) % wide(y)) as i64,
        BinaryOp::Shl | BinaryOp::ShrArith | BinaryOp::ShrLogical => {
            let by = wide(y);
            let over = by < 0 || by >= i128::from(width);
            let by = by as u32;
            match op {
                BinaryOp::ShrArith => signed_pattern(elem, a) >> if over { width - 1 } else { by },
                _ if over => 0,
                BinaryOp::Shl => x << by,
                _ => (a >> by) as i64,
            }
        }
        _ => return None,
    };
    Some(encode_i64(elem, value))
}

/// The pattern read as a signed number of its width, also of unsigned elements.
fn signed_pattern(elem: Elem, bits: u64) -> i64 {
    let unused = 64 - elem.bits() as u32;
    ((bits << unused) as i64) >> unused
}

pub fn compare(op: CompareOp, elem: Elem, a: u64, b: u64) -> u64 {
    let order = if elem.is_float() {
        decode_f64(elem, a).partial_cmp(&decode_f64(elem, b))
    } else {
        Some(int_order(elem, a, b))
    };
    let holds = match op {
        CompareOp::Eq => order.is_some_and(|o| o.is_eq()),
        CompareOp::Ne => !order.is_some_and(|o| o.is_eq()),
        CompareOp::Lt => order.is_some_and(|o| o.is_lt()),
        CompareOp::Le => order.is_some_and(|o| o.is_le()),
        CompareOp::Gt => order.is_some_and(|o| o.is_gt()),
        CompareOp::Ge => order.is_some_and(|o| o.is_ge()),
    };
    u64::from(holds)
}

fn int_order(elem: Elem, a: u64, b: u64) -> std::cmp::Ordering {
    if elem.is_signed_int() {
        decode_i64(elem, a).cmp(&decode_i64(elem, b))
    } else {
        a.cmp(&b)
    }
}

/// NaN if either is; −0 is below +0.
pub fn max(elem: Elem, a: u64, b: u64) -> u64 {
    if larger(elem, a, b) { a } else { b }
}

pub fn min(elem: Elem, a: u64, b: u64) -> u64 {
    let nan = elem.is_float() && decode_f64(elem, a).is_nan();
    if nan || !larger(elem, a, b) && !is_nan(elem, b) {
        a
    } else {
        b
    }
}

fn is_nan(elem: Elem, bits: u64) -> bool {
    elem.is_float() && decode_f64(elem, bits).is_nan()
}

/// Whether the first is NaN or above the second, which is not NaN.
fn larger(elem: Elem, a: u64, b: u64) -> bool {
    if !elem.is_float() {
        return int_order(elem, a, b).is_gt();
    }
    let (x, y) = (decode_f64(elem, a), decode_f64(elem, b));
    let above = x > y || (x == y && !x.is_sign_negative() && y.is_sign_negative());
    x.is_nan() || (above && !y.is_nan())
}

pub fn convert(from: Elem, to: Elem, bits: u64) -> u64 {
    if from.is_float() {
        let x = decode_f64(from, bits);
        return match to {
            Elem::Bool => u64::from(x != 0.0),
            Elem::I8 => u64::from(x as i8 as u8),
            Elem::I16 => u64::from(x as i16 as u16),
            Elem::I32 => u64::from(x as i32 as u32),
            Elem::I64 => x as i64 as u64,
            Elem::U8 => u64::from(x as u8),
            Elem::U16 => u64::from(x as u16),
            Elem::U32 => u64::from(x as u32),
            Elem::U64 => x as u64,
            Elem::F32 | Elem::F64 | Elem::BF16 | Elem::F16 => encode_f64(to, x),
        };
    }
    match to {
        Elem::F32 if from == Elem::U64 => u64::from((bits as f32).to_bits()),
        Elem::F64 if from == Elem::U64 => (bits as f64).to_bits(),
        _ => encode_i64(to, decode_i64(from, bits)),
    }
}
